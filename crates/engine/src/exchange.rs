//! Goods from files of other shops and suppliers, and to them: CSV as Shopify and WooCommerce write it, price lists.
//!
//! A file is looked through once for its encoding and layout, then read row by row
//! in one transaction: memory does not grow with the file, and nothing is half done.

mod amount;
mod apply;
mod broken;
mod csv;
mod encoding;
mod export;
mod goods;
mod import;
mod layout;
mod lookups;
mod pictures;
mod pieces;
mod price_list;
mod problem;
mod report;
mod rows;
mod shopify;
mod sniff;
mod table;
mod woocommerce;

pub use amount::Sign;
pub use encoding::Encoding;
pub use export::{ExportError, Written, export};
pub use import::{JUMP, Options, import};
pub use layout::Layout;
pub use problem::{Jump, Problem};
pub use report::{ImportError, Report};
pub(crate) use rows::{MOST_ROWS, TakeRows, TakenRows, take_rows};
