//! Which columns agents never read.

/// Columns that agents never read, as table and column; `*` is all of a table.
pub(crate) const SECRETS: [(&str, &str); 6] = [
    ("users", "password_hash"),
    ("tickets", "*"),
    // Answers that other people got.
    ("calls", "*"),
    // What people typed for a login may be their password.
    ("attempts", "*"),
    ("leases", "holder"),
    ("secrets", "*"),
];

/// Whether agents never read this column.
pub(crate) fn is_secret(table: &str, column: &str) -> bool {
    SECRETS.iter().any(|(secret, what)| {
        secret.eq_ignore_ascii_case(table) && (*what == "*" || what.eq_ignore_ascii_case(column))
    })
}
