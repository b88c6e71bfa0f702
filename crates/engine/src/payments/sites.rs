//! Sites of payment providers, to which the pages that lead there may send their forms on.

use std::collections::BTreeSet;

use db::{DbError, Tx, places};

use super::provider::site_of;
use super::{provider, settings};

/// Sites of the ways to pay that are offered now, in order.
pub(crate) fn offered(tx: &mut Tx) -> Result<Vec<String>, DbError> {
    let mut sites = BTreeSet::new();
    for (key, text) in places::providers(tx)? {
        let site = provider(&key).and_then(|provider| provider.site(&settings(&text)));
        sites.extend(site.and_then(|site| site_of(&site)));
    }
    Ok(sites.into_iter().collect())
}
