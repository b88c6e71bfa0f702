//! Structs that are read off rows whose columns are named as their fields.

/// A struct, the list of its columns for a statement, and how it is read off a row.
macro_rules! record {
    ($(#[$about:meta])* $seen:vis struct $name:ident {
        $($(#[$field_about:meta])* $field_seen:vis $field:ident: $type:ty,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $seen struct $name { $($(#[$field_about])* $field_seen $field: $type,)* }

        impl $name {
            fn of(row: &$crate::Row) -> Result<Self, $crate::DbError> {
                Ok(Self { $($field: row.get(stringify!($field))?,)* })
            }
        }
    };
}
pub(crate) use record;
