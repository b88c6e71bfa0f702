//! Reading a request's body within the store's limit, and within the memory that all bodies may take.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A body up to this size needs no room of its own.
pub(crate) const SMALL: usize = 64 * 1024;
/// What all larger bodies may take together, in units of [`SMALL`]: three of the usual limit.
const ROOM: u32 = 3 * 1024;
/// How long a large body waits for room. A caller that is told so has time for another try.
const QUEUE: Duration = Duration::from_secs(5);
/// How long a whole body may take. Callers of ours give up earlier.
const WHOLE: Duration = Duration::from_secs(120);
/// Longest silence within a body.
const SILENCE: Duration = Duration::from_secs(30);
/// How long the rest of a body that is too large is taken in, so that its sender can read the answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    Broken,
    /// Other large bodies take all the room there is.
    NoRoom,
}

/// A large request's share of the memory.
pub(crate) struct Room {
    permit: OwnedSemaphorePermit,
}

/// The memory for large bodies.
pub(crate) struct Bodies {
    room: Arc<Semaphore>,
    queue: Duration,
}

impl Bodies {
    pub(crate) fn new() -> Self {
        Self { room: Arc::new(Semaphore::new(ROOM as usize)), queue: QUEUE }
    }

    /// Waits until there is room for a body that has grown to this size. It takes room only for what has come:
    /// who announces much and sends little keeps nobody waiting. A body that is larger than all the room there is
    /// may have all of it.
    async fn grow(&self, room: &mut Option<Room>, size: usize) -> Result<(), BodyError> {
        let units = u32::try_from(size.div_ceil(SMALL)).unwrap_or(ROOM).min(ROOM);
        let more = units.saturating_sub(room.as_ref().map_or(0, |room| room.permit.num_permits() as u32));
        if size <= SMALL || more == 0 {
            return Ok(());
        }
        let permit = Arc::clone(&self.room).acquire_many_owned(more);
        let Ok(Ok(permit)) = tokio::time::timeout(self.queue, permit).await else {
            return Err(BodyError::NoRoom);
        };
        match room {
            Some(room) => room.permit.merge(permit),
            None => *room = Some(Room { permit }),
        }
        Ok(())
    }

    /// The whole body, and the room a large one takes as long as it is kept.
    pub(crate) async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
        limit: usize,
    ) -> Result<(Vec<u8>, Option<Room>), BodyError> {
        let reading = read_body(self, headers, body, limit);
        tokio::time::timeout(WHOLE, reading).await.unwrap_or(Err(BodyError::Broken))
    }
}

async fn read_body(
    bodies: &Bodies,
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
) -> Result<(Vec<u8>, Option<Room>), BodyError> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > limit) {
        // A caller that waits for permission has sent nothing yet.
        if !headers.contains_key(EXPECT) {
            discard(body).await;
        }
        return Err(BodyError::TooLarge);
    }
    let mut room = None;
    let mut bytes = Vec::with_capacity(declared.unwrap_or(0).min(SMALL));
    while let Some(chunk) = next(&mut body).await? {
        if bytes.len() + chunk.len() > limit {
            drop(bytes);
            discard(body).await;
            return Err(BodyError::TooLarge);
        }
        bodies.grow(&mut room, bytes.len() + chunk.len()).await?;
        bytes.extend_from_slice(&chunk);
    }
    Ok((bytes, room))
}

async fn next(body: &mut Body) -> Result<Option<axum::body::Bytes>, BodyError> {
    loop {
        let frame = tokio::time::timeout(SILENCE, body.frame()).await.map_err(|_| BodyError::Broken)?;
        match frame {
            None => return Ok(None),
            Some(Err(_)) => return Err(BodyError::Broken),
            // Trailers say nothing here.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

async fn discard(mut body: Body) {
    let rest = async { while let Ok(Some(_)) = next(&mut body).await {} };
    // Whoever is slower than this loses the line.
    let _ = tokio::time::timeout(PATIENCE, rest).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_by(
        bodies: &Bodies,
        length: usize,
        limit: usize,
        is_declared: bool,
    ) -> Result<(usize, Option<Room>), BodyError> {
        let mut headers = HeaderMap::new();
        if is_declared {
            headers.insert(CONTENT_LENGTH, length.into());
        }
        let body = Body::from(vec![b'x'; length]);
        bodies.read(&headers, body, limit).await.map(|(bytes, room)| (bytes.len(), room))
    }

    async fn read(length: usize, limit: usize, is_declared: bool) -> Result<usize, BodyError> {
        read_by(&Bodies::new(), length, limit, is_declared).await.map(|(length, _)| length)
    }

    #[tokio::test]
    async fn large_bodies_share_the_room_and_small_ones_need_none() {
        let bodies = Bodies { queue: Duration::from_millis(20), ..Bodies::new() };
        let large = ROOM as usize / 2 * SMALL;
        let first = read_by(&bodies, large, large, true).await.unwrap();
        let second = read_by(&bodies, large, large, false).await.unwrap();
        assert!(first.1.is_some() && second.1.is_some());
        for is_declared in [true, false] {
            assert_eq!(read_by(&bodies, SMALL + 1, large, is_declared).await.err(), Some(BodyError::NoRoom));
            assert_eq!(read_by(&bodies, SMALL, large, is_declared).await.unwrap().0, SMALL);
        }
        drop(first);
        read_by(&bodies, large, large, true).await.unwrap();
    }

    #[tokio::test]
    async fn a_body_takes_room_as_it_comes() {
        let bodies = Bodies { queue: Duration::from_millis(20), ..Bodies::new() };
        let mut room = None;
        for size in [1, SMALL, SMALL + 1, 10 * SMALL, 10 * SMALL] {
            bodies.grow(&mut room, size).await.unwrap();
        }
        assert_eq!(bodies.room.available_permits(), ROOM as usize - 10);
        bodies.grow(&mut room, 2 * ROOM as usize * SMALL).await.unwrap();
        assert_eq!(bodies.room.available_permits(), 0);
        drop(room);
        assert_eq!(bodies.room.available_permits(), ROOM as usize);
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_too_large_with_and_without_its_length() {
        for is_declared in [true, false] {
            assert_eq!(read(100, 100, is_declared).await, Ok(100));
            assert_eq!(read(101, 100, is_declared).await, Err(BodyError::TooLarge));
            assert_eq!(read(0, 100, is_declared).await, Ok(0));
        }
    }
}
