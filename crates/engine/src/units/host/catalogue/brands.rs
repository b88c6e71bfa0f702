//! `brands.get`, `brands.list`: who makes what is sold.

use db::filters;
use sandbox::Value;

use super::read;
use crate::units::host::Answer;
use crate::units::host::arguments::Arguments;
use crate::units::run::Run;
use crate::units::visit::map;

/// A brand with its address in each language; null where there is none.
pub(super) fn get(run: &mut Run<'_>, args: &Arguments<'_>) -> Answer {
    let id = args.int(0, "id")?;
    read(run, "brands.get", |reading| {
        reading.dependencies.row("brands", id);
        reading.element("texts", "brands", &[id]);
        let Some(brand) = filters::brand(reading.tx, id, &reading.look.language)? else {
            return Ok(Value::Null);
        };
        let url = reading.urls("brands", &[id])?.remove(&id);
        let urls = reading.all_urls("brands", id)?;
        let [seo_title, seo_description] = reading.seo("brands", id)?;
        Ok(map([
            ("id", id.into()),
            ("name", brand.name.into()),
            ("text", brand.text.into()),
            ("site", brand.site.into()),
            ("url", url.into()),
            ("urls", urls),
            seo_title,
            seo_description,
        ]))
    })
}

/// All brands that have a page, by position and name.
pub(super) fn list(run: &mut Run<'_>, _: &Arguments<'_>) -> Answer {
    read(run, "brands.list", |reading| {
        reading.dependencies.table("brands");
        let brands = filters::brands(reading.tx)?;
        let ids: Vec<i64> = brands.iter().map(|(id, _)| *id).collect();
        let urls = reading.urls("brands", &ids)?;
        let shown = brands.into_iter().filter_map(|(id, name)| {
            let url = urls.get(&id)?.as_str();
            Some(map([("id", id.into()), ("name", name.into()), ("url", url.into())]))
        });
        Ok(Value::List(shown.collect()))
    })
}
