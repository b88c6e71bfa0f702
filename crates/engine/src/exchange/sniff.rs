//! Which sign parts the cells of a file.

use std::path::Path;

use super::broken::Broken;
use super::csv::Records;
use super::encoding::Encoding;

/// Signs that part cells.
const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// The sign that parts the header row into most cells; quoted ones do not count.
pub(super) fn delimiter(path: &Path, encoding: Encoding) -> Result<char, Broken> {
    let mut best = None;
    for delimiter in DELIMITERS {
        let first = Records::open(path, encoding, delimiter)?.next();
        // With a wrong sign a quoted cell may look open; with the right one it does not.
        let count = match first {
            Ok(Some(row)) => row.cells.len(),
            Ok(None) => return Err(Broken::Empty),
            Err(Broken::OpenQuote(_)) => 0,
            Err(error) => return Err(error),
        };
        if best.is_none_or(|(most, _)| count > most) {
            best = Some((count, delimiter));
        }
    }
    Ok(best.map_or(',', |(_, delimiter)| delimiter))
}
