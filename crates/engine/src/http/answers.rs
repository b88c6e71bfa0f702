//! The memory that answers may take until they are read.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::address_shares::AddressShares;
use super::body::SMALL;

/// What all larger answers may take together, in units of [`SMALL`].
const ROOM: u32 = 3 * 1024;
/// How long a large answer waits for room. Those that wait take no more than those that have room.
const QUEUE: Duration = Duration::from_secs(5);

/// The memory for large answers. One address may have half of it.
pub(crate) struct Answers {
    units: u32,
    room: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    of_address: AddressShares,
    queue: Duration,
}

/// There is no room for an answer, as others are not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom;

/// An answer and the room it takes.
struct Held {
    bytes: Vec<u8>,
    _room: (OwnedSemaphorePermit, OwnedSemaphorePermit),
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Answers {
    pub(crate) fn new() -> Self {
        Self::of(ROOM, QUEUE)
    }

    fn of(units: u32, queue: Duration) -> Self {
        Self {
            units,
            room: Arc::new(Semaphore::new(units as usize)),
            waiting: Arc::new(Semaphore::new(units as usize)),
            of_address: AddressShares::new(units as usize / 2),
            queue,
        }
    }

    /// The answer with its room, which it gives back when the last of its bytes is taken.
    pub(crate) async fn hold(&self, bytes: Vec<u8>, address: IpAddr) -> Result<Bytes, NoRoom> {
        if bytes.len() <= SMALL {
            return Ok(Bytes::from(bytes));
        }
        // One that is larger than all a caller may have takes that.
        let units = u32::try_from(bytes.len().div_ceil(SMALL)).unwrap_or(u32::MAX).min(self.units / 2);
        let share = self.of_address.of(address);
        if let Ok(share) = Arc::clone(&share).try_acquire_many_owned(units)
            && let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(units)
        {
            return Ok(Bytes::from_owner(Held { bytes, _room: (room, share) }));
        }
        let _waiting = self.waiting.try_acquire_many(units).map_err(|_| NoRoom)?;
        let room = async {
            let share = share.acquire_many_owned(units).await.ok()?;
            Some((Arc::clone(&self.room).acquire_many_owned(units).await.ok()?, share))
        };
        match tokio::time::timeout(self.queue, room).await {
            Ok(Some(room)) => Ok(Bytes::from_owner(Held { bytes, _room: room })),
            _ => Err(NoRoom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[tokio::test]
    async fn answers_share_the_room_until_their_last_byte_is_gone() {
        let answers = Answers::of(8, Duration::from_millis(20));
        let large = |units: usize| vec![b'x'; units * SMALL];
        let first = answers.hold(large(4), address(1)).await.unwrap();
        // Its address has its half; another one has the rest.
        assert_eq!(answers.hold(large(2), address(1)).await, Err(NoRoom));
        let second = answers.hold(large(3), address(2)).await.unwrap();
        assert_eq!(answers.hold(large(2), address(3)).await, Err(NoRoom));
        answers.hold(large(1), address(3)).await.unwrap();
        answers.hold(vec![0; SMALL], address(1)).await.unwrap();
        let tail = first.slice(first.len() - 1..);
        drop((first, second));
        assert_eq!(answers.hold(large(2), address(1)).await, Err(NoRoom));
        drop(tail);
        assert_eq!(answers.hold(large(100), address(1)).await.unwrap().len(), 100 * SMALL);
        assert_eq!(answers.room.available_permits(), 8);
    }

    #[tokio::test]
    async fn an_answer_waits_for_room() {
        let answers = Answers::of(8, Duration::from_secs(60));
        let first = answers.hold(vec![b'x'; 4 * SMALL], address(1)).await.unwrap();
        let second = answers.hold(vec![b'y'; 4 * SMALL], address(1));
        let freed = async {
            tokio::task::yield_now().await;
            drop(first);
        };
        let (second, ()) = tokio::join!(second, freed);
        assert_eq!(second.unwrap()[0], b'y');
    }
}
