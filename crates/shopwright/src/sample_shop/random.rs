//! Numbers that look drawn and are the same at every run.

/// A stream of numbers that belongs to one thing: the same seed gives the same stream.
#[derive(Clone, Debug)]
pub(super) struct Stream(u64);

impl Stream {
    /// The stream of the thing of this kind and number.
    pub(super) fn of(kind: &str, number: i64) -> Self {
        let kind = kind.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(kind ^ number.unsigned_abs().wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next number (splitmix64).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `0` to below `most`, which is at least 1.
    pub(super) fn below(&mut self, most: i64) -> i64 {
        i64::try_from(self.next() % most.max(1).unsigned_abs()).unwrap_or(0)
    }

    /// One of these.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = usize::try_from(self.below(i64::try_from(from.len()).unwrap_or(1))).unwrap_or(0);
        from.get(at)
    }

    /// 32 bytes.
    pub(super) fn bytes(&mut self) -> Vec<u8> {
        (0..4).flat_map(|_| self.next().to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Stream;

    #[test]
    fn a_stream_is_its_own_and_always_the_same() {
        let draw = |kind, number| {
            let mut stream = Stream::of(kind, number);
            [stream.below(1000), stream.below(1000), stream.below(1000)]
        };
        assert_eq!(draw("product", 7), draw("product", 7));
        assert_ne!(draw("product", 7), draw("product", 8));
        assert_ne!(draw("product", 7), draw("order", 7));
        assert_eq!(Stream::of("x", 1).bytes().len(), 32);
    }
}
