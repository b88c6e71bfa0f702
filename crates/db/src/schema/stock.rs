//! Stock.

use super::spec::{Section, TableSpec, columns};

/// Stock.
pub(super) const STOCK: Section = Section {
    title: "Stock",
    tables: &[
        TableSpec::new(
            "locations",
            "where goods lie",
            columns! {
                id;
                skey;
                name, store;
                position;
                country "country, two letters; may be empty";
                address "where it is", store;
                priority "the largest is taken from first";
                sells "whether orders are served from it";
                pickup "whether customers can come for their goods";
            },
        )
        .kept(),
        TableSpec::new(
            "stock",
            "how many of a variant lie in a location; available is `on_hand - reserved`",
            columns! {
                id;
                variant_id;
                location_id;
                on_hand "how many lie there";
                reserved "how many of them are promised";
                incoming "how many are on their way";
                low "how many are few; may be empty";
            },
        )
        .by("variant_id")
        .closed(),
        TableSpec::new(
            "reservations",
            "what is promised to whom: to a cart or to a line of an order",
            columns! {
                id;
                variant_id;
                location_id;
                quantity "how many";
                cart_id "the cart; or";
                order_line_id "the line of an order: exactly one of the two";
                until "until when; empty: until it is shipped or cancelled";
            },
        )
        .by("variant_id")
        .closed(),
        TableSpec::new(
            "stock_moves",
            "what came and went",
            columns! {
                id;
                variant_id;
                location_id;
                quantity "how many; below zero: went";
                kind "`kReceipt`, `kSale`, `kReturn`, `kCorrect`, `kTransfer`";
                source "the line and document it belongs to, unique: nothing lands twice";
                reason "why", store;
                time;
                author_id "who did it; may be empty";
            },
        )
        .closed(),
    ],
};
