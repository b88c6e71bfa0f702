//! Tables, migrations, queries and the journal, for SQLite and PostgreSQL.
