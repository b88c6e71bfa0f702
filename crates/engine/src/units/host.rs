//! What a unit can ask of the engine: every call after `shop.`, one file for each kind.

mod arguments;
mod cart;
mod catalogue;
mod checkout;
mod customer;
mod data;
mod fetch;
mod mail;
mod media;
mod page;
mod reply;
mod settings;
mod shopping;
mod staff;

use sandbox::{Host, HostError, PoolConfig, Session, Value};

use super::run::Run;
use arguments::Arguments;
use reply::is_own_address;

/// What a host call answers.
type Answer = Result<Value, HostError>;

/// Every call there is, as scripts write it after `shop.`.
const CALLS: &[&str] = &[
    "select",
    "one",
    "value",
    "execute",
    "insert",
    "render",
    "unit",
    "t",
    "money",
    "date",
    "moment",
    "config",
    "secret",
    "redirect",
    "status",
    "header",
    "cookie",
    "event",
    "mail",
    "fetch",
    "log",
    "debug",
    "categories.tree",
    "categories.get",
    "products.list",
    "products.get",
    "products.links",
    "prices.of",
    "stock.of",
    "reviews.of",
    "reviews.stars",
    "reviews.add",
    "pages.get",
    "pages.homes",
    "menus.get",
    "search",
    "file",
    "image",
    "cart.get",
    "cart.count",
    "cart.add",
    "cart.set",
    "cart.coupon",
    "cart.remove_coupon",
    "checkout.get",
    "checkout.countries",
    "checkout.contact",
    "checkout.methods",
    "checkout.place",
    "orders.get",
    "orders.list",
    "orders.cancel",
    "orders.pay",
    "orders.repeat",
    "orders.ask_return",
    "customer.get",
    "customer.addresses",
    "customer.export",
    "customer.sign_in",
    "customer.sign_up",
    "customer.sign_out",
    "customer.ask_password",
    "customer.set_password",
    "customer.change_password",
    "customer.confirm",
    "customer.save",
    "customer.add_address",
    "customer.remove_address",
    "customer.erase",
    "brands.get",
    "brands.list",
    "staff.move_order",
    "staff.ship",
    "staff.cancel_pieces",
    "staff.note",
    "staff.refund",
    "staff.review",
    "staff.add_task",
    "staff.hand_task",
    "staff.import_products",
    "staff.change_product",
    "staff.change_variant",
    "staff.remove_variant",
    "staff.set_prices",
    "staff.set_stock",
    "staff.move_stock",
    "staff.save_category",
    "staff.remove_category",
    "staff.save_brand",
    "staff.remove_brand",
    "staff.save_user",
    "staff.change_customer",
    "staff.erase_customer",
    "staff.save_registry",
];

/// Workers whose scripts have these calls.
pub(super) fn with_calls(mut workers: PoolConfig) -> PoolConfig {
    workers.facade = include_str!("facade.js").to_owned();
    workers.functions = CALLS.iter().map(|name| (*name).to_owned()).collect();
    workers
}

impl Host for Run<'_> {
    fn call(&mut self, session: &mut Session<'_>, name: &str, args: Vec<Value>) -> Answer {
        let args = Arguments::new(name, args);
        match name {
            "select" => data::select(self, &args),
            "one" => data::one(self, &args),
            "value" => data::value(self, &args),
            "execute" => data::execute(self, &args),
            "insert" => data::insert(self, &args),
            "transaction.begin" => data::begin(self),
            "transaction.end" => data::end(self, &args),
            "render" => page::render(self, session, &args),
            "unit" => page::unit(self, session, &args),
            "t" => page::translate(self, &args),
            "money" => page::money(self, &args),
            "date" => page::date(self, &args),
            "moment" => page::moment(self, &args),
            "config" => settings::config(self, &args),
            "secret" => settings::secret(self, &args),
            "redirect" => reply::redirect(self, &args),
            "status" => reply::status(self, &args),
            "header" => reply::header(self, &args),
            "cookie" => reply::cookie(self, &args),
            "event" => reply::event(self, &args),
            "mail" => mail::mail(self, &args),
            "fetch" => fetch::fetch(self, &args),
            "log" => reply::log(self, &args),
            "debug" => reply::debug(self, &args),
            "file" => media::file(self, &args),
            "image" => media::image(self, &args),
            _ => catalogue::call(self, name, &args)
                .or_else(|| cart::call(self, name, &args))
                .or_else(|| checkout::call(self, name, &args))
                .or_else(|| customer::call(self, name, &args))
                .or_else(|| staff::call(self, name, &args))
                .unwrap_or_else(|| {
                    let words = format!("there is no shop.{}()", wire::text::quoted(name, 60));
                    Err(HostError::new("NO_CALL", words))
                }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CALLS;

    const TYPES: &str = include_str!("../../../shopwright/src/store_files/units/shop.d.ts");

    #[test]
    fn every_call_has_its_types() {
        for call in CALLS {
            let (group, name) = call.split_once('.').unwrap_or(("", call));
            let place = if group.is_empty() {
                TYPES
            } else {
                TYPES.split_once(&format!("readonly {group}: ")).unwrap().1
            };
            assert!(place.contains(&format!(" {name}(")), "{call}");
        }
    }
}
