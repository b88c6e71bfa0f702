//! Prices, taxes, payments, promotions.

use super::spec::{Section, TableSpec, columns};

/// Prices.
pub(super) const PRICES: Section = Section {
    title: "Currencies and prices",
    tables: &[
        TableSpec::new(
            "currencies",
            "currencies, by ISO 4217",
            columns! {
                id;
                code "three letters";
                name, store;
                decimals "digits of the minor unit: all amounts are whole numbers of it";
                cash_step "sums in cash are rounded to this many minor units";
                used "whether the shop knows prices in it; its digits are fixed then";
                position;
            },
        ),
        TableSpec::new(
            "exchange_rates",
            "rates between currencies; they are only added",
            columns! {
                id;
                base "one of this currency";
                quote "in this currency";
                rate_e9 "is so many billionths";
                since "from when on";
            },
        ),
        TableSpec::new(
            "price_lists",
            "lists of prices",
            columns! {
                id;
                skey;
                name, store;
                position;
                currency;
                tax_included "whether its prices hold the tax";
                customer_group_id "the group it is open to; empty: everybody";
                priority "the largest of the open lists is asked first";
                valid_from;
                valid_until;
                base_list_id "the list its prices are made from where it has none of its own; may be empty";
                change_ppm "by how much they differ from the base, in millionths";
                round_to "made prices are multiples of this many minor units";
            },
        )
        .kept(),
        TableSpec::new(
            "prices",
            "prices of variants",
            columns! {
                id;
                list_id "the list";
                variant_id;
                min_quantity "from this quantity on";
                valid_from;
                valid_until;
                amount "price of one (of a whole measure), minor units";
                compare_at "the price it is compared with, larger; may be empty";
            },
        )
        .by("variant_id")
        .edited(),
        TableSpec::new(
            "price_history",
            "which prices held when, for the lowest price of the last 30 days",
            columns! {
                id;
                list_id "the list";
                variant_id;
                amount "the price";
                since "from when on";
                until "until when; empty: still";
            },
        )
        .by("variant_id")
        .closed()
        .not_journalled("it follows from `prices`"),
    ],
};

/// Taxes.
pub(super) const TAXES: Section = Section {
    title: "Taxes and places",
    tables: &[
        TableSpec::new(
            "tax_classes",
            "kinds of goods for taxes",
            columns! { id; skey; name, store; position; },
        )
        .edited(),
        TableSpec::new(
            "countries",
            "countries and how addresses are written there",
            columns! {
                id;
                code "two letters, ISO 3166";
                name, store;
                position;
                address_format "the lines of an address, with the names of fields in braces";
                required "fields an address must have, with commas between";
                ships "whether the shop sends there";
            },
        ),
        TableSpec::new(
            "zones",
            "parts of the world for taxes, payment and shipping",
            columns! { id; skey; name, store; position; },
        )
        .edited(),
        TableSpec::new(
            "zone_places",
            "what belongs to a zone",
            columns! {
                id;
                zone_id "the zone";
                country;
                region "region; empty: all of the country";
                postcode_from "first postcode; empty: all of them";
                postcode_to "last postcode";
            },
        ),
        TableSpec::new(
            "tax_rates",
            "rates of tax",
            columns! {
                id;
                zone_id "where the goods go";
                tax_class_id "the tax class";
                name, store;
                rate_ppm "millionths: 20 % is 200000";
                compound "whether it is taken of the sum with the taxes before it";
                business "only of businesses (true), only of others (false); empty: of everybody";
                valid_from;
                valid_until;
                position;
            },
        )
        .edited(),
    ],
};

/// Payments.
pub(super) const PAYMENTS: Section = Section {
    title: "Payments",
    tables: &[
        TableSpec::new(
            "payment_methods",
            "ways to pay",
            columns! {
                id;
                skey;
                name, store;
                position;
                text "what the customer reads about it, HTML", store;
                provider "what carries it out: `cash`, `transfer`, `test`, …";
                enabled "whether it is offered";
                currency "currency of its amounts; empty: the order's";
                min_total "smallest total; may be empty";
                max_total "largest total; may be empty";
                fee "fee";
                fee_ppm "fee in millionths of the total, besides";
                settings "the provider's settings, JSON", secret;
            },
        )
        .kept(),
        TableSpec::new(
            "payment_method_zones",
            "zones where a way to pay is offered; none: everywhere",
            columns! { id; method_id "the way to pay"; zone_id "the zone"; },
        ),
        TableSpec::new(
            "payments",
            "payments of orders",
            columns! {
                id;
                order_id;
                method_id "the way to pay";
                provider "what carries it out";
                amount "what is to be paid";
                currency;
                state "`kOpen`, `kHeld`, `kPaid`, `kFailed`, `kVoid`, `kUnknown` (no answer yet: it is asked again)";
                captured "what was taken";
                refunded "what was given back, never more";
                provider_ref "the provider's number of it; may be empty";
                key "key under which the provider knows the attempt", secret;
                error "what the provider said", visitor;
                created;
                changed;
                version;
            },
        )
        .closed(),
        TableSpec::new(
            "refunds",
            "money given back",
            columns! {
                id;
                payment_id "the payment";
                amount "how much";
                state "`kOpen`, `kDone`, `kFailed`, `kUnknown`";
                reason "why", store;
                return_id "the return it is for; may be empty";
                provider_ref "the provider's number of it; may be empty";
                key "key under which the provider knows the attempt", secret;
                error "what the provider said", visitor;
                by_hand "whether people of the store send it themselves; `kOpen` until they say that they did";
                author_id "who gave it back";
                created;
                changed;
            },
        )
        .closed(),
        TableSpec::new(
            "refund_lines",
            "what a refund is for",
            columns! {
                id;
                refund_id "the refund";
                kind "`kLine`, `kShipping`, `kExtra` (beside lines and shipping)";
                order_line_id "the line; empty where it is for none";
                quantity "for how many pieces";
                amount "how much";
                tax "the tax in it";
            },
        )
        .closed(),
        TableSpec::new(
            "payment_events",
            "what providers told, each once",
            columns! {
                id;
                provider "who told it";
                event "the provider's number of the message";
                payment_id "the payment; may be empty";
                kind "what happened";
                data "the message", secret;
                time;
            },
        )
        .closed()
        .not_told("no page shows it"),
        TableSpec::new(
            "documents",
            "invoices and credit notes, as they were issued; numbers without gaps",
            columns! {
                id;
                kind "`kInvoice` or `kCredit`";
                number "number, of its kind";
                order_id;
                refund_id "the refund of a credit note";
                issued "when";
                language;
                currency;
                total "its sum";
                body "what it says, JSON", visitor;
            },
        )
        .closed(),
    ],
};

/// Promotions.
pub(super) const PROMOTIONS: Section = Section {
    title: "Promotions",
    tables: &[
        TableSpec::new(
            "promotions",
            "discounts and gifts",
            columns! {
                id;
                name, store;
                text "what customers read about it", store;
                enabled "whether it works";
                priority "the largest comes first";
                exclusive "whether none works after it";
                coupon_only "whether it needs one of its coupons";
                valid_from;
                valid_until;
                usage_limit "how often it may be used; may be empty";
                customer_limit "how often by one customer; may be empty";
                used "how often it was used";
                conditions "when it works, JSON: `total`, `products`, `categories`, `groups`, `zones`, `first_order`";
                action "`kPercent`, `kAmount`, `kPrice`, `kFreeShipping`, `kGift`, `kBuyGet`";
                value "what the action needs, JSON";
            },
        )
        .kept(),
        TableSpec::new(
            "coupons",
            "codes that let a promotion work",
            columns! {
                id;
                promotion_id "the promotion";
                code "the code", store;
                code_folded "the code in the form in which it is compared, unique";
                usage_limit "how often it may be used; may be empty";
                used "how often it was used";
                valid_until;
            },
        )
        .edited(),
        TableSpec::new(
            "promotion_uses",
            "which orders used a promotion; a cancelled order's row is removed",
            columns! {
                id;
                promotion_id "the promotion";
                coupon_id "the coupon; may be empty";
                order_id;
                customer_key "the customer: folded e-mail address", visitor;
                n "the customer's how many-th use";
            },
        )
        .closed(),
    ],
};
