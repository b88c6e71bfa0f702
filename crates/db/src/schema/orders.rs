//! Customers, carts, orders and their delivery.

use super::spec::{Section, TableSpec, columns};

const OF_THE_MOMENT: &str = "carts are of the moment, and visitors'";

/// Customers.
pub(super) const CUSTOMERS: Section = Section {
    title: "Customers",
    tables: &[
        TableSpec::new(
            "customers",
            "customers with an account; guests have none",
            columns! {
                id;
                email, visitor;
                email_folded "the address in the form in which it is compared, unique", visitor;
                phone, visitor;
                name, visitor;
                password_hash "Argon2id hash of the password; may be empty", secret;
                password_version "grows with every change of the password";
                email_confirmed "when the address was confirmed; empty: not yet";
                group_id "customer group; may be empty";
                language;
                currency "currency they buy in; may be empty";
                tax_number, visitor;
                tax_checked "when the number was found to be good; may be empty";
                blocked "whether they may not sign in";
                external_id "their key in another system; may be empty", store;
            },
        )
        .kept(),
        TableSpec::new(
            "addresses",
            "addresses of customers",
            columns! {
                id;
                customer_id;
                name, visitor;
                company, visitor;
                country;
                region, visitor;
                city, visitor;
                postcode, visitor;
                line1, visitor;
                line2, visitor;
                phone, visitor;
                tax_number, visitor;
                position;
            },
        )
        .kept(),
        TableSpec::new(
            "customer_tokens",
            "words that customers hold: sessions, and links of mails; each works until it expires or the password changes",
            columns! {
                id;
                customer_id;
                kind "`kSession`, `kPassword`, `kConfirm`";
                hash "BLAKE3 hash of the word", secret;
                password_version "version of the password it was given with";
                created;
                expires "until when it works";
            },
        )
        .secret()
        .not_journalled("sessions come and go by themselves")
        .not_told("no page shows them"),
        TableSpec::new(
            "customer_groups",
            "groups of customers",
            columns! {
                id;
                skey;
                name, store;
                position;
                tax_exempt "whether they pay no tax";
            },
        )
        .edited(),
        TableSpec::new(
            "consents",
            "what people agreed to; rows are only added",
            columns! {
                id;
                customer_id;
                who "folded e-mail address", visitor;
                purpose "what for: `mail`, `review`, …";
                given "whether they agreed, or took it back";
                time;
                text_version "the version of the text they read";
            },
        ),
        TableSpec::new(
            "personal_requests",
            "who wants their data, or wants it erased",
            columns! {
                id;
                customer_id;
                email, visitor;
                kind "`kExport` or `kErase`";
                state "`kNew`, `kDone`, `kRefused`";
                created;
                changed;
                outcome "what became of it", store;
            },
        ),
    ],
};

/// Carts.
pub(super) const CARTS: Section = Section {
    title: "Carts",
    tables: &[
        TableSpec::new(
            "carts",
            "carts; prices are computed whenever one is looked at",
            columns! {
                id;
                token_hash "hash of the word in the visitor's cookie", secret;
                customer_id;
                currency;
                language;
                email, visitor;
                phone, visitor;
                state "`kOpen`, `kOrdered`, `kMerged`, `kLeft`";
                shipping_method_id "chosen way to send; may be empty";
                payment_method_id "chosen way to pay; may be empty";
                location_id "where the goods are fetched; may be empty";
                address "address of the delivery, JSON with the columns of `order_addresses`; may be empty", visitor;
                billing_address "address of the invoice, JSON; empty: the same", visitor;
                comment "what the customer adds", visitor;
                created;
                changed;
                version;
            },
        )
        .closed()
        .not_journalled(OF_THE_MOMENT),
        TableSpec::new(
            "cart_lines",
            "what lies in a cart",
            columns! {
                id;
                cart_id "the cart";
                variant_id;
                options_hash "hash of the options, so that equal lines are one";
                options "what the customer typed for it, JSON; may be empty", visitor;
                quantity "how many";
                seen_price "the price the customer saw last";
                created;
            },
        )
        .closed()
        .not_journalled(OF_THE_MOMENT),
        TableSpec::new(
            "cart_coupons",
            "coupons in a cart",
            columns! { id; cart_id "the cart"; coupon_id "the coupon"; },
        )
        .closed()
        .not_journalled(OF_THE_MOMENT),
    ],
};

/// Orders.
pub(super) const ORDERS: Section = Section {
    title: "Orders",
    tables: &[
        TableSpec::new(
            "order_states",
            "states of orders; owners add names over a base state",
            columns! {
                id;
                skey;
                name, store;
                position;
                base "`kDraft`, `kWait`, `kNew`, `kAccept`, `kDone`, `kCancel`: what it counts as";
            },
        ),
        TableSpec::new(
            "order_transitions",
            "from which state an order gets into which",
            columns! {
                id;
                from_state "the state";
                to_state "the next one";
                condition "when";
            },
        ),
        TableSpec::new(
            "orders",
            "orders, frozen as they were placed; `total` is goods − discount + shipping + fees + rounding, and + tax where prices hold none",
            columns! {
                id;
                number "number for people; empty for drafts", store;
                token_hash "hash of the word in the address of its page", secret;
                state "state, of `order_states`";
                pay "`kNone`, `kHeld`, `kPart`, `kPaid`, `kOver`, `kPartBack`, `kBack`";
                delivery "`kNone`, `kPart`, `kSent`, `kArrived`, `kPartBack`, `kBack`";
                customer_id;
                email, visitor;
                email_folded "the address in the form in which it is compared", visitor;
                phone, visitor;
                language;
                currency;
                decimals "digits of the currency's minor unit";
                tax_included "whether prices hold the tax";
                rate_e9 "rate of the store's currency to this one, in billionths";
                goods "price times quantity of all lines";
                discount "all discounts, 0 or more";
                shipping "shipping";
                fees "fees";
                rounding "rounding of cash";
                tax "all taxes";
                total "what is to be paid";
                paid "what was paid";
                refunded "what was given back";
                shipping_method_id "way to send";
                shipping_name "its name, as it was", store;
                payment_method_id "way to pay";
                payment_name "its name, as it was", store;
                location_id "where the goods are fetched; may be empty";
                comment "what the customer adds", visitor;
                source "where it came from: `kStorefront`, `kStaff`, `kImport`";
                cart_id "the cart it was made of; may be empty";
                key "key of the attempt to place it, so that there is one order", secret;
                placed "when it was placed; empty for drafts";
                pay_until "until when it must be paid; may be empty";
                closed "when it was done or cancelled";
                reason "why it was cancelled", store;
            },
        )
        .closed()
        .edited(),
        TableSpec::new(
            "order_addresses",
            "addresses of orders",
            columns! {
                id;
                order_id;
                kind "`kShipping` or `kBilling`";
                name, visitor;
                company, visitor;
                country;
                region, visitor;
                city, visitor;
                postcode, visitor;
                line1, visitor;
                line2, visitor;
                phone, visitor;
                tax_number, visitor;
            },
        )
        .closed(),
        TableSpec::new(
            "order_lines",
            "what was ordered, as it was sold",
            columns! {
                id;
                order_id;
                position;
                variant_id "the variant; may be empty";
                product_id "the product; may be empty";
                sku "article number", store;
                gtin "EAN, UPC or ISBN";
                name, store;
                options "options in words", visitor;
                file_id "picture; may be empty";
                measure "measure of the quantity", store;
                measure_decimals "its digits behind the point";
                weight "grams of one; may be empty";
                cost "cost of one; may be empty";
                cost_currency "currency of the cost";
                quantity "how many were ordered";
                cancelled "how many of them were cancelled";
                shipped "how many were sent; with the cancelled ones never more than ordered";
                returned "how many came back; never more than sent";
                refunded "how much of the line's total was given back";
                refunded_tax "how much tax was in it";
                refunded_quantity "for how many pieces";
                list_price "price of one before promotions that set prices";
                price "price of one";
                amount "price times quantity";
                discount "discounts of the line, 0 or more";
                tax "tax of the line";
                total "amount − discount, and + tax where prices hold none";
                tax_class_id "tax class";
            },
        )
        .closed(),
        TableSpec::new(
            "order_adjustments",
            "what changed an order's sums, one by one",
            columns! {
                id;
                order_id;
                order_line_id "the line; empty: the order as a whole";
                kind "`kPromotion`, `kCoupon`, `kManual`, `kFee`, `kShipping`, `kRounding`";
                source "number of the promotion, way to send or way to pay; may be empty";
                code "code of the coupon", store;
                name, store;
                amount "by how much; below zero: less";
            },
        )
        .closed(),
        TableSpec::new(
            "order_tax_lines",
            "taxes of an order",
            columns! {
                id;
                order_id;
                order_line_id "the line; empty: shipping and fees";
                name, store;
                rate_ppm "rate in millionths";
                base "what it was taken of";
                tax "the tax";
            },
        )
        .closed(),
        TableSpec::new(
            "order_history",
            "what happened to an order",
            columns! {
                id;
                order_id;
                time;
                author_id "who did it; empty: the customer or the store itself";
                axis "`kState`, `kPay`, `kDelivery`, or `kNote`";
                old "state before";
                new "state after";
                text "what there is to say", store;
                for_customer "whether the customer sees it";
            },
        )
        .closed(),
        TableSpec::new(
            "counters",
            "next numbers of orders and documents",
            columns! { id; skey; next "the next number"; },
        )
        .closed()
        .not_journalled("numbers are never given back")
        .not_told("no page shows it"),
    ],
};

/// Delivery.
pub(super) const DELIVERY: Section = Section {
    title: "Delivery",
    tables: &[
        TableSpec::new(
            "shipping_methods",
            "ways to send",
            columns! {
                id;
                skey;
                name, store;
                position;
                text "what the customer reads about it, HTML", store;
                carrier "who carries", store;
                enabled "whether it is offered";
                tax_class_id "tax class; empty: that of the goods";
                pickup "whether the customer comes for the goods";
                days_min "days it takes at least; may be empty";
                days_max "days it takes at most; may be empty";
            },
        )
        .kept(),
        TableSpec::new(
            "shipping_rates",
            "what a way to send costs",
            columns! {
                id;
                method_id "the way to send";
                zone_id "where to; empty: everywhere";
                currency;
                basis "what it depends on: `kFlat` nothing, `kWeight` grams, `kTotal` the goods' sum, `kPieces` how many";
                least "from this on";
                most "up to this, included; empty: without end";
                amount "what it costs";
                step "what goes beyond `least` is counted in steps of this size";
                per_step "and each costs so much more";
                free_from "from this sum of goods on it costs nothing; may be empty";
                position;
            },
        )
        .edited(),
        TableSpec::new(
            "shipments",
            "parcels",
            columns! {
                id;
                order_id;
                location_id "where they are sent from; may be empty";
                carrier "who carries", store;
                tracking "number to follow it by", store;
                state "`kReady`, `kSent`, `kArrived`, `kLost`";
                sent "when it was sent; may be empty";
                arrived "when it arrived; may be empty";
            },
        )
        .closed()
        .edited(),
        TableSpec::new(
            "shipment_lines",
            "what is in a parcel",
            columns! { id; shipment_id "the parcel"; order_line_id; quantity "how many"; },
        )
        .closed(),
        TableSpec::new(
            "returns",
            "goods that come back",
            columns! {
                id;
                order_id;
                state "`kAsked`, `kAgreed`, `kGot`, `kRefused`";
                text "what the customer says", visitor;
                answer "what the store says", store;
            },
        )
        .closed()
        .edited(),
        TableSpec::new(
            "return_lines",
            "what comes back",
            columns! {
                id;
                return_id "the return";
                order_line_id;
                quantity "how many";
                restock "whether it can be sold again";
                location_id "where it goes; may be empty";
                reason "why", visitor;
            },
        )
        .closed(),
    ],
};
