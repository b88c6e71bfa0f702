//! Work that waits for the database or the disk, off the threads that serve connections.

use wire::{Fault, Stop};

/// Runs work that waits for the database or the disk. A panic in it is a fault of this request only.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Stop> + Send + 'static,
) -> Result<T, Stop> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(panic_fault(error).into()),
    }
}

fn panic_fault(error: tokio::task::JoinError) -> Fault {
    match error.try_into_panic() {
        Ok(panic) => Fault::new(format!("panic: {}", panic_message(panic.as_ref()))),
        Err(error) => error.into(),
    }
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_fault_of_one_request() {
        let stop = blocking::<()>(|| panic!("number {}", 7)).await.unwrap_err();
        assert!(matches!(stop, Stop::Broke(fault) if fault.chain() == "panic: number 7"));
        assert!(matches!(blocking(|| Ok(7)).await, Ok(7)));
    }
}
