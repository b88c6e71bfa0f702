//! What the tests of this folder share.

use std::sync::LazyLock;

use testkit::{Fixture, TestStore};

/// The binary under test and its sample store; on PostgreSQL where `TEST_ON=postgres`.
static BENCH: LazyLock<Fixture> = LazyLock::new(|| {
    let (binary, place) =
        (env!("CARGO_BIN_EXE_shopwright"), concat!(env!("CARGO_TARGET_TMPDIR"), "/session"));
    if std::env::var("TEST_ON").is_ok_and(|on| on == "postgres") {
        return Fixture::postgres(binary, place).expect("TEST_ON=postgres needs TEST_DATABASE_URL");
    }
    Fixture::new(binary, place)
});

/// The fixture of all tests.
pub(crate) fn fixture() -> &'static Fixture {
    &BENCH
}

/// A fresh copy of the sample store.
pub(crate) fn store() -> TestStore<'static> {
    TestStore::new(fixture()).unwrap()
}

/// Whether a text is this row of the catalogue, said as it must be.
pub(crate) fn is_row(text: &str, row: &str) -> bool {
    testkit::transcript::refusal_name(text) == Some(row)
}
