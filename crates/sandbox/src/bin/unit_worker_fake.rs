//! A worker that has been taken over, for the tests of this crate: greets as it should, then sends what it is told by its arguments.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match serve(&mode) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(mode: &str) -> io::Result<()> {
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    if mode == "mute" {
        return wait(&mut socket);
    }
    socket.write_all(&if mode == "other build" {
        frame(&[0, 9, 9, 9, 9])
    } else {
        sandbox::testing::hello_frame()
    })?;
    read(&mut socket)?;
    // Ready, without an error.
    socket.write_all(&frame(&[1, 0]))?;
    loop {
        read(&mut socket)?;
        send(mode, &mut socket)?;
    }
}

/// Reads a message of the engine.
fn read(socket: &mut UnixStream) -> io::Result<()> {
    let mut length = [0; 4];
    socket.read_exact(&mut length)?;
    let length = u64::from(u32::from_le_bytes(length));
    io::copy(&mut Read::take(&mut *socket, length), &mut io::sink()).map(drop)
}

/// Holds the line and says nothing.
fn wait(socket: &mut UnixStream) -> io::Result<()> {
    io::copy(socket, &mut io::sink()).map(drop)
}

fn frame(body: &[u8]) -> Vec<u8> {
    let mut frame = u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    frame.extend_from_slice(body);
    frame
}

/// Answers a call.
fn send(mode: &str, socket: &mut UnixStream) -> io::Result<()> {
    // A value of the call follows kind 6, a list is kind 7 with its count.
    match mode {
        "silent" => wait(socket),
        "gone" => Err(io::ErrorKind::BrokenPipe.into()),
        "endless" => {
            socket.write_all(&u32::MAX.to_le_bytes())?;
            loop {
                socket.write_all(&[0; 65536])?;
            }
        }
        "as long as may be" => {
            socket.write_all(&(1_u32 << 20).to_le_bytes())?;
            wait(socket)
        }
        "drip" => {
            socket.write_all(&100_u32.to_le_bytes())?;
            for _ in 0..60 {
                socket.write_all(&[6])?;
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            wait(socket)
        }
        "nulls" => {
            let mut body = vec![6, 7];
            body.extend_from_slice(&1_000_000_u32.to_le_bytes());
            body.extend(std::iter::repeat_n(0, 1_000_000));
            socket.write_all(&frame(&body))
        }
        "false count" => socket.write_all(&frame(&[6, 7, 255, 255, 255, 255, 0])),
        "deep" => {
            let mut body = vec![6];
            for _ in 0..50_000 {
                body.extend_from_slice(&[7, 1, 0, 0, 0]);
            }
            body.push(0);
            socket.write_all(&frame(&body))
        }
        "no text" => socket.write_all(&frame(&[6, 5, 2, 0, 0, 0, 0xff, 0xfe])),
        "two at once" => socket.write_all(&[frame(&[6, 0]), frame(&[6, 0])].concat()),
        "more than it says" => socket.write_all(&frame(&[6, 0, 0, 0])),
        "nothing" => socket.write_all(&frame(&[])),
        "unknown" => socket.write_all(&frame(&[200])),
        "hello again" => socket.write_all(&sandbox::testing::hello_frame()),
        "calls without end" => {
            // Asks `x()`: kind 5, a name of one letter, no arguments.
            loop {
                socket.write_all(&frame(&[5, 1, 0, 0, 0, b'x', 0, 0, 0, 0]))?;
                read(socket)?;
            }
        }
        _ => socket.write_all(&frame(&[6, 0])),
    }
}
