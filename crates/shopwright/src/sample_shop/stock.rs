//! What lies on the shelves.

use anyhow::Result;
use db::Value;

use super::catalogue::Catalogue;
use super::orders::Orders;
use super::random::Stream;
use super::writer::Writer;

/// Pieces of a variant that came in at the beginning; some are sold out but for what orders took.
fn received(variant_id: i64) -> i64 {
    let mut stream = Stream::of("stock", variant_id);
    if stream.below(20) == 0 { 0 } else { 4 + stream.below(120) }
}

/// Pieces of a variant in the warehouse.
fn stored(variant_id: i64) -> i64 {
    if variant_id % 3 == 0 { 20 + Stream::of("warehouse", variant_id).below(200) } else { 0 }
}

/// Fills the tables: on hand is what came in less what left, reserved is what orders wait for.
pub(super) fn write(catalogue: &Catalogue<'_>, orders: &Orders<'_>, writer: &mut Writer<'_>) -> Result<()> {
    let plan = catalogue.plan;
    let effects = orders.effects();
    let warehouse = plan.ids("locations");
    let begin = plan.days_ago(120)?;
    writer.table("stock", plan.ids("stock"), |rows| {
        catalogue.each_variant(|_, id, _| {
            let effect = effects.get(&id).copied().unwrap_or_default();
            let on_hand = received(id) + effect.reserved.max(0);
            rows.add(&[
                ("variant_id", id.into()),
                ("location_id", plan.main_location.into()),
                ("on_hand", on_hand.into()),
                ("reserved", effect.reserved.into()),
                ("incoming", 0_i64.into()),
                ("low", 5_i64.into()),
            ])?;
            Ok(())
        })?;
        // A third of the variants lies in the warehouse too.
        catalogue.each_variant(|_, id, _| match stored(id) {
            0 => Ok(()),
            on_hand => rows
                .add(&[
                    ("variant_id", id.into()),
                    ("location_id", warehouse.into()),
                    ("on_hand", on_hand.into()),
                    ("reserved", 0_i64.into()),
                    ("incoming", 0_i64.into()),
                    ("low", Value::Null),
                ])
                .map(|_| ()),
        })
    })?;
    writer.table("stock_moves", plan.ids("stock_moves"), |rows| {
        catalogue.each_variant(|_, id, _| {
            let effect = effects.get(&id).copied().unwrap_or_default();
            // Everything that is there, and everything that has left since.
            let came = received(id) + effect.reserved.max(0) + effect.left;
            for (location, quantity) in [(plan.main_location, came), (warehouse, stored(id))] {
                if quantity > 0 {
                    rows.add(&[
                        ("variant_id", id.into()),
                        ("location_id", location.into()),
                        ("quantity", quantity.into()),
                        ("kind", "kReceipt".into()),
                        ("source", format!("sample:{id}:{location}").into()),
                        ("reason", "".into()),
                        ("time", begin.clone().into()),
                    ])?;
                }
            }
            Ok(())
        })
    })
}
