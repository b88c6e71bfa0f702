//! Reading files under names that people and agents know.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file whole, if it is a regular one and no larger than this.
///
/// A pipe or a device under a name that people know would be waited for without end.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(without_waiting());
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// The same for a text.
pub fn read_regular_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read_regular(path, most)?;
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// The flag without which opening a pipe waits for its other end.
#[cfg(unix)]
pub fn without_waiting() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;
    use std::path::Path;

    use super::{read_regular, read_regular_text};

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let text = read_regular_text(&path, 1024 * 1024).unwrap();
        let size = text.len() as u64;
        assert_eq!(read_regular(&path, size).unwrap(), text.as_bytes());
        assert_eq!(read_regular(&path, size - 1).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_regular(Path::new("/no/such"), 1).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_regular_file_is_not_waited_for() {
        for path in ["/dev/zero", "/dev/tty", "/"] {
            assert!(read_regular(Path::new(path), 9).is_err(), "{path}");
        }
    }
}
