//! Reading a request's body within the store's limit.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt;

/// Longest silence within a body.
const SILENCE: Duration = Duration::from_secs(30);
/// How long the rest of a body that is too large is taken in, so that its sender can read the answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyError {
    TooLarge,
    Broken,
}

/// The whole body.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
) -> Result<Vec<u8>, BodyError> {
    let declared = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > limit) {
        // A caller that waits for permission has sent nothing yet.
        if !headers.contains_key(EXPECT) {
            discard(body).await;
        }
        return Err(BodyError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(declared.unwrap_or(0).min(1 << 20));
    while let Some(chunk) = next(&mut body).await? {
        if bytes.len() + chunk.len() > limit {
            drop(bytes);
            discard(body).await;
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
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

    async fn read(length: usize, limit: usize, is_declared: bool) -> Result<usize, BodyError> {
        let mut headers = HeaderMap::new();
        if is_declared {
            headers.insert(CONTENT_LENGTH, length.into());
        }
        read_body(&headers, Body::from(vec![b'x'; length]), limit).await.map(|bytes| bytes.len())
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
