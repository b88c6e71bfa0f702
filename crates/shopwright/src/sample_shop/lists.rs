//! What a shop has beside its goods: taxes, ways to pay and to send, promotions, pages, menus.

use std::collections::BTreeMap;

use anyhow::Result;
use db::Value;
use shop::promotion::{Action, Conditions, Promotion};
use shop::text::folded;

use super::plan::Plan;
use super::words::either;
use super::writer::Writer;
use super::{WAREHOUSE, WHOLESALE};

/// A thing with a key and a name in both languages.
pub(super) struct Named {
    pub(super) key: &'static str,
    pub(super) en: &'static str,
    ru: &'static str,
}

const fn named(key: &'static str, en: &'static str, ru: &'static str) -> Named {
    Named { key, en, ru }
}

impl Named {
    /// The name in a language.
    pub(super) fn name(&self, language: &str) -> &'static str {
        if language == "ru" { self.ru } else { self.en }
    }
}

/// Ways to send.
pub(super) const SHIPPING: [Named; 3] = [
    named("post", "Post", "Почта"),
    named("courier", "Courier", "Курьер"),
    named("pickup", "Pick up in the shop", "Забрать в магазине"),
];
/// Ways to pay.
pub(super) const PAYMENT: [Named; 3] = [
    named("transfer", "Bank transfer", "Банковский перевод"),
    named("cod", "Cash on delivery", "Наличными при получении"),
    named("test", "Test payment", "Пробная оплата"),
];
/// Classes of tax.
pub(super) const TAX_CLASSES: [Named; 3] = [
    named("kStandard", "Standard", "Обычный"),
    named("kFood", "Food", "Продукты"),
    named("kBooks", "Books", "Книги"),
];

/// Tax of a class, in millionths.
pub(super) fn rate(class: &str) -> i64 {
    match class {
        "kFood" => 120_000,
        "kBooks" => 50_000,
        _ => 210_000,
    }
}

/// What goods need before they can be there: classes of tax, a zone, its rates, groups of customers, a second list.
pub(super) fn before_goods(plan: &Plan, writer: &mut Writer<'_>) -> Result<()> {
    let missing: Vec<&Named> =
        TAX_CLASSES.iter().filter(|class| plan.created("tax_classes").contains(&class.key)).collect();
    writer.table("tax_classes", plan.ids("tax_classes"), |rows| {
        for (position, class) in (1_i64..).zip(missing) {
            rows.add(&[
                ("id", plan.key("tax_classes", class.key)?.into()),
                ("skey", class.key.into()),
                ("name", class.name(&plan.language).into()),
                ("position", position.into()),
            ])?;
        }
        Ok(())
    })?;
    writer.table("zones", plan.ids("zones"), |rows| {
        rows.add(&[
            ("skey", "eu".into()),
            ("name", either("European Union", "Европейский союз", &plan.language).into()),
            ("position", 1_i64.into()),
        ])?;
        Ok(())
    })?;
    writer.table("zone_places", plan.ids("zone_places"), |rows| {
        for country in ["LT", "LV", "EE", "PL", "DE", "FI", "SE"] {
            rows.add(&[("zone_id", plan.ids("zones").into()), ("country", country.into())])?;
        }
        Ok(())
    })?;
    writer.table("tax_rates", plan.ids("tax_rates"), |rows| {
        for class in &TAX_CLASSES {
            rows.add(&[
                ("zone_id", plan.ids("zones").into()),
                ("tax_class_id", plan.key("tax_classes", class.key)?.into()),
                ("name", either("VAT", "НДС", &plan.language).into()),
                ("rate_ppm", rate(class.key).into()),
                ("compound", false.into()),
                ("position", 1_i64.into()),
            ])?;
        }
        Ok(())
    })?;
    writer.table("locations", plan.ids("locations"), |rows| {
        rows.add(&[
            ("skey", WAREHOUSE.into()),
            ("name", either("Warehouse", "Склад", &plan.language).into()),
            ("position", 2_i64.into()),
            ("country", "LT".into()),
            ("address", "Kirtimų g. 47, Vilnius".into()),
            ("priority", (-10_i64).into()),
            ("sells", true.into()),
            ("pickup", false.into()),
        ])?;
        Ok(())
    })?;
    writer.table("customer_groups", plan.ids("customer_groups"), |rows| {
        rows.add(&[
            ("skey", WHOLESALE.into()),
            ("name", either("Wholesale", "Оптовики", &plan.language).into()),
            ("position", 1_i64.into()),
            ("tax_exempt", false.into()),
        ])?;
        Ok(())
    })?;
    writer.table("price_lists", plan.ids("price_lists"), |rows| {
        rows.add(&[
            ("skey", WHOLESALE.into()),
            ("name", either("Wholesale", "Опт", &plan.language).into()),
            ("position", 2_i64.into()),
            ("currency", plan.currency.code.into()),
            ("tax_included", true.into()),
            ("customer_group_id", plan.ids("customer_groups").into()),
            ("priority", 10_i64.into()),
            ("base_list_id", plan.main_list.into()),
            ("change_ppm", (-150_000_i64).into()),
            ("round_to", 10_i64.into()),
        ])?;
        Ok(())
    })
}

/// Method, basis, least, most, amount, free from.
type RateRow = (i64, &'static str, i64, Option<i64>, i64, Option<i64>);

/// Ways to pay and to send.
pub(super) fn methods(plan: &Plan, writer: &mut Writer<'_>) -> Result<()> {
    writer.table("payment_methods", plan.ids("payment_methods"), |rows| {
        for (position, method) in (1_i64..).zip(&PAYMENT) {
            rows.add(&[
                ("skey", method.key.into()),
                ("name", method.name(&plan.language).into()),
                ("position", position.into()),
                ("text", "".into()),
                ("provider", method.key.into()),
                ("enabled", true.into()),
                ("fee", if method.key == "cod" { 250_i64 } else { 0 }.into()),
                ("fee_ppm", 0_i64.into()),
                ("settings", "{}".into()),
            ])?;
        }
        Ok(())
    })?;
    let standard = plan.key("tax_classes", "kStandard")?;
    writer.table("shipping_methods", plan.ids("shipping_methods"), |rows| {
        for (position, method) in (1_i64..).zip(&SHIPPING) {
            rows.add(&[
                ("skey", method.key.into()),
                ("name", method.name(&plan.language).into()),
                ("position", position.into()),
                ("text", "".into()),
                ("carrier", method.key.into()),
                ("enabled", true.into()),
                ("tax_class_id", standard.into()),
                ("pickup", (method.key == "pickup").into()),
                ("days_min", if method.key == "courier" { 1_i64 } else { 2 }.into()),
                ("days_max", if method.key == "courier" { 2_i64 } else { 5 }.into()),
            ])?;
        }
        Ok(())
    })?;
    writer.table("shipping_rates", plan.ids("shipping_rates"), |rows| {
        let rates: [RateRow; 4] = [
            (0, "kWeight", 0, Some(2000), 490, Some(5000)),
            (0, "kWeight", 2001, None, 890, Some(5000)),
            (1, "kFlat", 0, None, 990, Some(9000)),
            (2, "kFlat", 0, None, 0, None),
        ];
        for (method, basis, least, most, amount, free_from) in rates {
            rows.add(&[
                ("method_id", (plan.ids("shipping_methods") + method).into()),
                ("currency", plan.currency.code.into()),
                ("basis", basis.into()),
                ("least", least.into()),
                ("most", most.into()),
                ("amount", amount.into()),
                ("step", 1_i64.into()),
                ("per_step", 0_i64.into()),
                ("free_from", free_from.into()),
                ("position", 1_i64.into()),
            ])?;
        }
        Ok(())
    })
}

/// A promotion of the sample.
pub(super) struct Offer {
    en: &'static str,
    ru: &'static str,
    /// The code it needs, and how often that may be used.
    pub(super) coupon: Option<(&'static str, Option<i64>)>,
    conditions: String,
    action: &'static str,
    value: &'static str,
}

/// All of them; `first_leaf` is the first category that has no other below it.
pub(super) fn offers(first_leaf: i64) -> [Offer; 4] {
    let books = first_leaf + 18;
    [
        Offer {
            en: "Ten per cent for newcomers",
            ru: "Десять процентов новичкам",
            coupon: Some(("WELCOME10", None)),
            conditions: "{\"first_order\":true}".to_owned(),
            action: "kPercent",
            value: "100000",
        },
        Offer {
            en: "Books a fifth cheaper",
            ru: "Книги на пятую часть дешевле",
            coupon: None,
            conditions: format!("{{\"categories\":[{books}]}}"),
            action: "kPercent",
            value: "200000",
        },
        Offer {
            en: "Five off from sixty",
            ru: "Пять евро от шестидесяти",
            coupon: Some(("FIVE", Some(100))),
            conditions: "{\"total\":6000}".to_owned(),
            action: "kAmount",
            value: "500",
        },
        Offer {
            en: "Free shipping in December",
            ru: "Бесплатная доставка в декабре",
            coupon: Some(("DECEMBER", Some(5))),
            conditions: "{\"total\":2000}".to_owned(),
            action: "kFreeShipping",
            value: "0",
        },
    ]
}

impl Offer {
    /// As the rules of totals take it; `at` is its place among all.
    pub(super) fn promotion(&self, plan: &Plan, at: i64) -> Result<Promotion> {
        Ok(Promotion {
            id: plan.ids("promotions") + at,
            name: either(self.en, self.ru, &plan.language).to_owned(),
            priority: at + 1,
            is_exclusive: false,
            coupon: self.coupon.map(|(code, _)| code.to_owned()),
            conditions: Conditions::parse(&self.conditions)?,
            action: Action::parse(self.action, &serde_json::from_str(self.value)?)?,
        })
    }
}

/// The coupon of an offer.
pub(super) fn coupon_id(plan: &Plan, offers: &[Offer], at: i64) -> Option<i64> {
    let at = usize::try_from(at).ok()?;
    offers.get(at)?.coupon?;
    let before = offers.iter().take(at).filter(|offer| offer.coupon.is_some()).count();
    Some(plan.ids("coupons") + i64::try_from(before).ok()?)
}

/// Promotions and coupons; `used` tells how often each was used.
pub(super) fn promotions(
    plan: &Plan,
    offers: &[Offer],
    used: &BTreeMap<i64, i64>,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let used = |at: i64| used.get(&at).copied().unwrap_or(0);
    writer.table("promotions", plan.ids("promotions"), |rows| {
        for (at, offer) in (0_i64..).zip(offers) {
            rows.add(&[
                ("name", either(offer.en, offer.ru, &plan.language).into()),
                ("text", "".into()),
                ("enabled", true.into()),
                ("priority", (at + 1).into()),
                ("exclusive", false.into()),
                ("coupon_only", offer.coupon.is_some().into()),
                ("valid_from", plan.days_ago(60)?.into()),
                ("valid_until", plan.days_ago(-120)?.into()),
                ("used", used(at).into()),
                ("conditions", (&offer.conditions).into()),
                ("action", offer.action.into()),
                ("value", offer.value.into()),
            ])?;
        }
        Ok(())
    })?;
    writer.table("coupons", plan.ids("coupons"), |rows| {
        for (at, offer) in (0_i64..).zip(offers) {
            let Some((code, limit)) = offer.coupon else { continue };
            rows.add(&[
                ("promotion_id", (plan.ids("promotions") + at).into()),
                ("code", code.into()),
                ("code_folded", folded(code).into()),
                ("usage_limit", limit.into()),
                ("used", used(at).into()),
            ])?;
        }
        Ok(())
    })
}

/// Key, names, texts.
const PAGES: [(&str, &str, &str, &str, &str); 4] = [
    (
        "about",
        "About us",
        "О нас",
        "<p>Copper Kettle is a small tea shop in Vilnius. We buy from gardens we know, taste every lot and pack it in the week it is ordered.</p>",
        "<p>«Медный чайник» — небольшая чайная лавка в Вильнюсе. Покупаем у садов, которые знаем, пробуем каждую партию и фасуем в неделю заказа.</p>",
    ),
    (
        "delivery",
        "Delivery and payment",
        "Доставка и оплата",
        "<p>Parcels leave within two working days. Above 50 € the post costs nothing. You can pay by transfer, or in cash when it arrives.</p>",
        "<p>Посылки уходят в течение двух рабочих дней. От 50 € почта бесплатна. Оплата переводом или наличными при получении.</p>",
    ),
    (
        "returns",
        "Returns",
        "Возврат",
        "<p>Send anything unopened back within 30 days, and we return the money within five.</p>",
        "<p>Нераспечатанное можно вернуть в течение 30 дней, деньги вернём за пять.</p>",
    ),
    (
        "privacy",
        "Privacy",
        "Конфиденциальность",
        "<p>We keep what an order needs and nothing else. There is one cookie, for your cart.</p>",
        "<p>Храним только то, что нужно для заказа. Куки одна — для корзины.</p>",
    ),
];

/// Pages and the menus that lead to them.
pub(super) fn pages(plan: &Plan, roots: i64, writer: &mut Writer<'_>) -> Result<()> {
    let main = plan.language.as_str();
    let other = if main == "ru" { "en" } else { "ru" };
    writer.table("pages", plan.ids("pages"), |rows| {
        for (key, en, ru, text_en, text_ru) in PAGES {
            rows.add(&[
                ("skey", key.into()),
                ("name", either(en, ru, main).into()),
                ("text", either(text_en, text_ru, main).into()),
                ("state", "kShown".into()),
            ])?;
        }
        Ok(())
    })?;
    writer.table("texts", plan.ids("texts"), |rows| {
        for (id, (_, en, ru, text_en, text_ru)) in (plan.ids("pages")..).zip(PAGES) {
            for (field, value) in [("name", either(en, ru, other)), ("text", either(text_en, text_ru, other))]
            {
                rows.add(&[
                    ("entity", "pages".into()),
                    ("elem_id", id.into()),
                    ("language", other.into()),
                    ("field", field.into()),
                    ("value", value.into()),
                ])?;
            }
        }
        Ok(())
    })?;
    writer.table("slugs", plan.ids("slugs"), |rows| {
        for language in ["en", "ru"] {
            for (id, (key, ..)) in (plan.ids("pages")..).zip(PAGES) {
                rows.add(&[
                    ("language", language.into()),
                    ("path", key.into()),
                    ("path_folded", key.into()),
                    ("entity", "pages".into()),
                    ("elem_id", id.into()),
                    ("state", "kCurrent".into()),
                    ("created", db::micros(plan.now).into()),
                ])?;
            }
        }
        Ok(())
    })?;
    menus(plan, roots, writer)
}

fn menus(plan: &Plan, roots: i64, writer: &mut Writer<'_>) -> Result<()> {
    let main = plan.language.as_str();
    writer.table("menus", plan.ids("menus"), |rows| {
        for (position, (key, en, ru)) in
            (1_i64..).zip([("main", "Main menu", "Главное меню"), ("footer", "Footer", "Подвал")])
        {
            rows.add(&[
                ("skey", key.into()),
                ("name", either(en, ru, main).into()),
                ("position", position.into()),
            ])?;
        }
        Ok(())
    })?;
    writer.table("menu_items", plan.ids("menu_items"), |rows| {
        let menu = plan.ids("menus");
        let mut row = |menu: i64, position: i64, name: &str, entity: &str, id: i64| {
            rows.add(&[
                ("menu_id", menu.into()),
                ("parent_id", Value::Null),
                ("position", position.into()),
                ("name", name.into()),
                ("entity", entity.into()),
                ("elem_id", id.into()),
            ])
        };
        // An item without a name of its own bears the name of what it leads to.
        for at in 0..roots {
            row(menu, at + 1, "", "categories", plan.ids("categories") + at)?;
        }
        for (position, id) in (1_i64..).zip(plan.ids("pages")..).take(PAGES.len()) {
            row(menu + 1, position, "", "pages", id)?;
        }
        Ok(())
    })
}
