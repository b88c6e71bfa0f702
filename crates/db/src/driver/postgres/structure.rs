//! Tables that the owner made beside ours.

use super::session::PostgresSession;
use crate::DbError;
use crate::column_form::{Form, Shapes};
use crate::schema::OWNERS;

/// Columns with their keys: whether one is the primary key's, unique by itself, or the first of another key.
const COLUMNS: &str = "select c.relname::text as table_name, a.attname::text as column_name,
       format_type(a.atttypid, a.atttypmod) as kind, not a.attnotnull as is_nullable,
       exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisprimary and a.attnum = any (i.indkey)) as is_key,
       exists (select 1 from pg_index i where i.indrelid = c.oid and i.indisunique and i.indpred is null
         and i.indnkeyatts = 1 and i.indkey[0] = a.attnum) as is_unique,
       exists (select 1 from pg_index i where i.indrelid = c.oid and i.indkey[0] = a.attnum) as is_first,
       (select f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and k.conkey = array[a.attnum] limit 1) as points_to
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where n.nspname = current_schema() and c.relkind in ('r', 'p') and starts_with(lower(c.relname::text), :owners)
     order by c.relname, a.attnum";

impl PostgresSession {
    /// The owner's tables with the forms of their columns.
    pub(crate) fn owners_tables(&mut self) -> Result<Shapes, DbError> {
        let mut shapes = Shapes::new();
        for row in self.rows(COLUMNS, &[("owners", OWNERS.into())])? {
            let (is_key, is_unique) = (row.get("is_key")?, row.get("is_unique")?);
            let key = Form::key_of(is_key, is_unique, row.get("is_first")?);
            let kind: String = row.get("kind")?;
            let kind = match kind.as_str() {
                "bigint" | "integer" => "int".to_owned(),
                "boolean" => "bool".to_owned(),
                "double precision" => "real".to_owned(),
                "bytea" => "bytes".to_owned(),
                _ => kind,
            };
            let form =
                Form { kind, key, is_nullable: row.get("is_nullable")?, points_to: row.get("points_to")? };
            shapes.entry(row.get("table_name")?).or_default().push((row.get("column_name")?, form));
        }
        Ok(shapes)
    }
}
