//! Reading a request's body within the store's limit, and within the memory that all bodies may take.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use wire::Stop;

/// A body up to this size needs no room of its own.
pub(crate) const SMALL: usize = 64 * 1024;
/// What all larger bodies of people with a ticket may take together, in units of [`SMALL`]: three of the usual limit.
const ROOM: u32 = 3 * 1024;
/// What those may take together whose ticket is not seen at their beginning.
const ROOM_OF_UNKNOWN: u32 = 512;
/// How long a large body waits for room. A caller that is told so has time for another try.
const QUEUE: Duration = Duration::from_secs(20);
/// How long a whole body may take. Callers of ours give up earlier.
const WHOLE: Duration = Duration::from_secs(120);
/// Longest silence within a body.
const SILENCE: Duration = Duration::from_secs(30);
/// Bytes a second that a large body has to come at, once it has room and [`GRACE`] is over.
const RATE: u64 = 32 * 1024;
/// How long a large body may be slower than [`RATE`].
const GRACE: Duration = Duration::from_secs(10);
/// How long the rest of a body that is not wanted is taken in, so that its sender can read the answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no body.
#[derive(Debug)]
pub(crate) enum BodyError {
    TooLarge,
    /// It ended early, stopped coming or came too slowly.
    Broken,
    /// Other large bodies take all the room there is.
    NoRoom,
    /// Its beginning is enough to refuse it.
    Refused(Stop),
}

/// Who sends a large body, as far as its beginning tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// Somebody with a ticket.
    Known,
    /// Whose ticket comes later, if at all.
    Unknown,
}

/// A large request's share of the memory.
pub(crate) struct Room {
    _permit: OwnedSemaphorePermit,
}

/// How fast bodies have to come, and how long they wait.
#[derive(Clone, Copy)]
struct Pace {
    queue: Duration,
    silence: Duration,
    grace: Duration,
    rate: u64,
}

/// The memory for large bodies.
pub(crate) struct Bodies {
    room: Arc<Semaphore>,
    room_of_unknown: Arc<Semaphore>,
    pace: Pace,
}

impl Bodies {
    pub(crate) fn new() -> Self {
        Self::of(ROOM, ROOM_OF_UNKNOWN)
    }

    fn of(room: u32, room_of_unknown: u32) -> Self {
        let semaphore = |units: u32| Arc::new(Semaphore::new(units as usize));
        let pace = Pace { queue: QUEUE, silence: SILENCE, grace: GRACE, rate: RATE };
        Self { room: semaphore(room), room_of_unknown: semaphore(room_of_unknown), pace }
    }

    /// Waits for room for a whole body. All of it is taken before more is read: several that had a part each would
    /// wait for one another. A body that is larger than all the room there is may have all of it.
    async fn reserve(&self, size: usize, sender: Sender) -> Result<Room, BodyError> {
        let (room, all) = match sender {
            Sender::Known => (&self.room, ROOM),
            Sender::Unknown => (&self.room_of_unknown, ROOM_OF_UNKNOWN),
        };
        let units = u32::try_from(size.div_ceil(SMALL)).unwrap_or(all).min(all);
        let permit = Arc::clone(room).acquire_many_owned(units);
        match tokio::time::timeout(self.pace.queue, permit).await {
            Ok(Ok(permit)) => Ok(Room { _permit: permit }),
            _ => Err(BodyError::NoRoom),
        }
    }

    /// The whole body, and the room a large one takes as long as it is kept. Of a large one `admit` sees the
    /// beginning before the rest is read.
    pub(crate) async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
        limit: usize,
        admit: impl AsyncFnOnce(&[u8]) -> Result<Sender, Stop>,
    ) -> Result<(Vec<u8>, Option<Room>), BodyError> {
        let declared =
            headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
        let coming = Coming { body, since: Instant::now(), received: 0, pace: self.pace };
        if declared.is_some_and(|length| length > limit) {
            // A caller that waits for permission has sent nothing yet.
            if !headers.contains_key(EXPECT) {
                coming.discard().await;
            }
            return Err(BodyError::TooLarge);
        }
        let reading = self.read_whole(coming, declared, limit, admit);
        tokio::time::timeout(WHOLE, reading).await.unwrap_or(Err(BodyError::Broken))
    }

    async fn read_whole(
        &self,
        mut coming: Coming,
        declared: Option<usize>,
        limit: usize,
        admit: impl AsyncFnOnce(&[u8]) -> Result<Sender, Stop>,
    ) -> Result<(Vec<u8>, Option<Room>), BodyError> {
        let mut bytes = Vec::with_capacity(declared.unwrap_or(0).min(SMALL));
        while bytes.len() <= SMALL {
            let Some(chunk) = coming.next().await? else { return Ok((bytes, None)) };
            if bytes.len() + chunk.len() > limit {
                coming.discard().await;
                return Err(BodyError::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        let sender = match admit(&bytes).await {
            Ok(sender) => sender,
            Err(stop) => {
                drop(bytes);
                coming.discard().await;
                return Err(BodyError::Refused(stop));
            }
        };
        let room = match self.reserve(declared.unwrap_or(limit), sender).await {
            Ok(room) => room,
            Err(full) => {
                drop(bytes);
                coming.discard().await;
                return Err(full);
            }
        };
        coming.is_awaited();
        while let Some(chunk) = coming.next().await? {
            if bytes.len() + chunk.len() > limit {
                drop((bytes, room));
                coming.discard().await;
                return Err(BodyError::TooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok((bytes, Some(room)))
    }
}

/// A body on its way.
struct Coming {
    body: Body,
    /// Since when it has to keep its pace, and what came since.
    since: Instant,
    received: u64,
    pace: Pace,
}

impl Coming {
    /// From now on it has to keep its pace: before, we kept it waiting.
    fn is_awaited(&mut self) {
        (self.since, self.received) = (Instant::now(), 0);
    }

    /// Until when the next bytes have to be there.
    fn until(&self) -> Instant {
        let due = self.since + self.pace.grace + Duration::from_secs(self.received / self.pace.rate.max(1));
        due.min(Instant::now() + self.pace.silence)
    }

    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let frame = tokio::time::timeout_at(self.until(), self.body.frame()).await;
            match frame.map_err(|_| BodyError::Broken)? {
                None => return Ok(None),
                Some(Err(_)) => return Err(BodyError::Broken),
                // Trailers say nothing here.
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.received += data.len() as u64;
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// Takes in what is not wanted, for a while.
    async fn discard(mut self) {
        let rest = async { while let Ok(Some(_)) = self.next().await {} };
        // Whoever is slower than this loses the connection.
        let _ = tokio::time::timeout(PATIENCE, rest).await;
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{StreamExt as _, stream};
    use wire::catalogue;

    use super::*;

    async fn read_by(
        bodies: &Bodies,
        length: usize,
        limit: usize,
        is_declared: bool,
        sender: Sender,
    ) -> Result<(usize, Option<Room>), BodyError> {
        let mut headers = HeaderMap::new();
        if is_declared {
            headers.insert(CONTENT_LENGTH, length.into());
        }
        let body = Body::from(vec![b'x'; length]);
        let read = bodies.read(&headers, body, limit, async |_: &[u8]| Ok(sender)).await;
        read.map(|(bytes, room)| (bytes.len(), room))
    }

    fn quick() -> Bodies {
        let soon = Duration::from_millis(30);
        Bodies { pace: Pace { queue: soon, silence: soon, grace: soon, rate: RATE }, ..Bodies::new() }
    }

    #[tokio::test]
    async fn large_bodies_share_the_room_and_small_ones_need_none() {
        let bodies = quick();
        let large = ROOM as usize / 2 * SMALL;
        let first = read_by(&bodies, large, large, true, Sender::Known).await.unwrap();
        let second = read_by(&bodies, large, large, false, Sender::Known).await.unwrap();
        assert!(first.1.is_some() && second.1.is_some());
        for is_declared in [true, false] {
            let refused = read_by(&bodies, SMALL + 1, large, is_declared, Sender::Known).await;
            assert!(matches!(refused, Err(BodyError::NoRoom)));
            assert_eq!(read_by(&bodies, SMALL, large, is_declared, Sender::Known).await.unwrap().0, SMALL);
        }
        drop(first);
        read_by(&bodies, large, large, true, Sender::Known).await.unwrap();
    }

    #[tokio::test]
    async fn bodies_without_a_ticket_take_nothing_from_those_with_one() {
        let bodies = quick();
        let large = 1000 * SMALL;
        let held = read_by(&bodies, large, large, true, Sender::Unknown).await.unwrap();
        let refused = read_by(&bodies, SMALL + 1, large, true, Sender::Unknown).await;
        assert!(matches!(refused, Err(BodyError::NoRoom)));
        assert_eq!(bodies.room.available_permits(), ROOM as usize);
        read_by(&bodies, large, large, true, Sender::Known).await.unwrap();
        drop(held);
        assert_eq!(bodies.room_of_unknown.available_permits(), ROOM_OF_UNKNOWN as usize);
    }

    #[tokio::test]
    async fn bodies_at_once_wait_for_whole_room_and_all_come_in() {
        // Room for six and a half of them.
        let bodies = Bodies::of(65, 1);
        let size = 10 * SMALL;
        let upload = async || {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_LENGTH, size.into());
            let chunks = stream::iter(0..10).then(|_| async {
                tokio::task::yield_now().await;
                Ok::<_, Infallible>(vec![b'x'; SMALL])
            });
            let read =
                bodies.read(&headers, Body::from_stream(chunks), size, async |_: &[u8]| Ok(Sender::Known));
            let (bytes, room) = read.await.unwrap();
            tokio::task::yield_now().await;
            (bytes.len(), room.is_some())
        };
        let all = futures_util::future::join_all((0..12).map(|_| upload())).await;
        assert_eq!(all, [(size, true); 12]);
        assert_eq!(bodies.room.available_permits(), 65);
    }

    #[tokio::test]
    async fn a_body_is_refused_by_its_beginning() {
        let bodies = quick();
        let chunks = stream::iter(0..40).map(|_| Ok::<_, Infallible>(vec![b'x'; SMALL / 4]));
        let mut seen = 0;
        let headers = HeaderMap::new();
        let read = bodies.read(&headers, Body::from_stream(chunks), usize::MAX, async |start: &[u8]| {
            seen = start.len();
            Err(catalogue::ticket_unknown().into())
        });
        assert!(matches!(read.await, Err(BodyError::Refused(_))));
        assert_eq!(seen, SMALL + SMALL / 4);
        assert_eq!(bodies.room.available_permits(), ROOM as usize);
    }

    #[tokio::test]
    async fn a_large_body_that_stops_coming_gives_its_room_back() {
        let bodies = quick();
        let start = stream::iter([Ok::<_, Infallible>(vec![b'x'; SMALL + 1])]);
        let body = Body::from_stream(start.chain(stream::pending()));
        let read = bodies.read(&HeaderMap::new(), body, 4 * SMALL, async |_: &[u8]| Ok(Sender::Known)).await;
        assert!(matches!(read, Err(BodyError::Broken)));
        assert_eq!(bodies.room.available_permits(), ROOM as usize);
    }

    #[tokio::test]
    async fn a_large_body_that_comes_too_slowly_is_given_up() {
        let read = async |rate: u64| {
            let soon = Duration::from_millis(30);
            let pace = Pace { queue: QUEUE, silence: SILENCE, grace: soon, rate };
            let bodies = Bodies { pace, ..Bodies::new() };
            let start = stream::iter([Ok::<_, Infallible>(vec![b'x'; SMALL + 1])]);
            // Never silent, and longer than the grace.
            let since = Instant::now();
            let rest = stream::unfold((), move |()| async move {
                tokio::task::yield_now().await;
                (since.elapsed() < soon * 3).then_some((Ok(vec![b'x']), ()))
            });
            let body = Body::from_stream(start.chain(rest));
            bodies.read(&HeaderMap::new(), body, usize::MAX, async |_: &[u8]| Ok(Sender::Known)).await
        };
        assert!(matches!(read(u64::MAX).await, Err(BodyError::Broken)));
        read(1).await.unwrap();
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_too_large_with_and_without_its_length() {
        let read = async |length, is_declared| {
            read_by(&Bodies::new(), length, 100, is_declared, Sender::Known).await.map(|(length, _)| length)
        };
        for is_declared in [true, false] {
            assert_eq!(read(100, is_declared).await.unwrap(), 100);
            assert!(matches!(read(101, is_declared).await, Err(BodyError::TooLarge)));
            assert_eq!(read(0, is_declared).await.unwrap(), 0);
        }
    }
}
