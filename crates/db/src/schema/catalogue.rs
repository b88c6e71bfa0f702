//! The catalogue: categories, products, variants, attributes; files, texts and addresses of whatever there is.

use super::spec::{Section, TableSpec, columns};

/// The catalogue.
pub(super) const CATALOGUE: Section = Section {
    title: "Catalogue",
    tables: &[
        TableSpec::new(
            "measures",
            "what quantities are counted in",
            columns! {
                id;
                skey;
                name, store;
                position;
                decimals "digits behind the point: a quantity is a whole number of the smallest part";
            },
        )
        .edited(),
        TableSpec::new(
            "categories",
            "categories of products",
            columns! {
                id;
                parent_id "the category it lies in; empty at the top";
                position;
                name, store;
                text "text of its page, HTML", store;
                state "`kShown` or `kHidden`";
                sort "how its products are sorted at first: `kPopular`, `kNew`, `kPrice`, `kName`, `kRating`";
            },
        )
        .tree()
        .kept(),
        TableSpec::new(
            "category_closure",
            "every category with every one above it, and with itself",
            columns! {
                id;
                ancestor "the category above";
                descendant "the category below";
                depth "how many steps lie between; 0: the same";
            },
        )
        .closed()
        .not_journalled("it follows from `categories`"),
        TableSpec::new(
            "brands",
            "brands",
            columns! {
                id;
                name, store;
                name_folded "the name in the form in which names are compared";
                position;
                text "text of its page, HTML", store;
                site "its address in the web", store;
            },
        )
        .kept(),
        TableSpec::new(
            "products",
            "what the shop offers; what is sold are its variants",
            columns! {
                id;
                kind "`kGoods`, `kDigital` or `kService`";
                brand_id "brand; may be empty";
                tax_class_id "tax class; empty: the first one";
                measure_id "measure of quantities; empty: pieces";
                main_category_id "the category whose path its page shows";
                name, store;
                text "description, HTML", store;
                name_folded "the name in the form in which names are compared";
                name_sort "the name in the form in which names are sorted";
                state "`kDraft`, `kShown`, `kUnlisted` (has a page, is in no list), `kArchive`";
                shown_from "from when on it is shown; may be empty";
                shown_until "until when it is shown; may be empty";
                rating_sum "sum of the stars of shown reviews";
                rating_count "how many shown reviews there are";
                external_id "its key in another system; may be empty", store;
            },
        )
        .kept(),
        TableSpec::new(
            "variants",
            "what is priced, stocked and sold: every product has at least one",
            columns! {
                id;
                product_id;
                sku "article number; may be empty", store;
                sku_folded "the article number in the form in which it is compared, unique";
                gtin "EAN, UPC or ISBN; may be empty";
                mpn "the manufacturer's number; may be empty", store;
                position;
                option_key "its values of the product's options, sorted: unique in the product";
                weight "grams; may be empty";
                length "millimetres; may be empty";
                width "millimetres; may be empty";
                height "millimetres; may be empty";
                tracked "whether stock is counted";
                backorder "how many may be sold beyond the stock: 0 none, empty any number";
                min_quantity "smallest quantity of an order";
                max_quantity "largest quantity of an order; may be empty";
                step "quantities are multiples of this";
                cost "what it costs the shop; may be empty";
                cost_currency "currency of the cost";
                hs_code "customs tariff number; may be empty";
                origin "country of origin, two letters; may be empty";
                ships "whether it is sent";
            },
        )
        .by("product_id")
        .kept(),
        TableSpec::new(
            "product_options",
            "what the variants of a product differ in: size, colour",
            columns! { id; product_id; skey "key; may be empty"; name, store; position; },
        )
        .by("product_id")
        .edited(),
        TableSpec::new(
            "product_option_values",
            "the values of an option",
            columns! { id; option_id "the option"; skey "key; may be empty"; name, store; position; },
        )
        .edited(),
        TableSpec::new(
            "variant_values",
            "a variant's value of each option of its product",
            columns! { id; variant_id; option_id "the option"; value_id "its value"; },
        )
        .by("variant_id"),
        TableSpec::new(
            "attributes",
            "properties of products",
            columns! {
                id;
                skey;
                name, store;
                position;
                type "`kText`, `kInt`, `kDecimal`, `kBool`, `kDate`, `kChoice`, `kChoices`";
                decimals "of `kDecimal`: digits behind the point";
                measure "what its numbers are in", store;
                filter "whether lists can be narrowed by it";
                search "whether it is searched in";
                compare "whether it is shown where products are compared";
            },
        )
        .edited(),
        TableSpec::new(
            "attribute_choices",
            "what can be chosen of an attribute",
            columns! { id; attribute_id "the attribute"; skey; name, store; position; },
        )
        .edited(),
        TableSpec::new(
            "category_attributes",
            "attributes of the products of a category and of those below it",
            columns! { id; category_id; attribute_id "the attribute"; position; },
        ),
        TableSpec::new(
            "attribute_values",
            "what products and variants have of an attribute: exactly one of the four values",
            columns! {
                id;
                product_id;
                variant_id "the variant; empty: all of them";
                attribute_id "the attribute";
                choice_id "the choice";
                int_value "the number, in the smallest part; true is 1, false is 0";
                text_value "the text", store;
                date_value "the day, `2026-11-30`";
            },
        )
        .by("product_id"),
        TableSpec::new("tags", "words to gather products by", columns! { id; skey; name, store; position; })
            .edited(),
        TableSpec::new("product_tags", "tags of products", columns! { id; product_id; tag_id "the tag"; }),
        TableSpec::new(
            "product_categories",
            "categories of products",
            columns! { id; product_id; category_id; position "place in the category, for the owner's own order"; },
        ),
        TableSpec::new(
            "product_links",
            "products that are named beside another",
            columns! {
                id;
                product_id;
                linked_id "the other product";
                kind "`kUpsell`, `kCross`, `kAnalog`, `kSpare`, `kReplacedBy` (one at most: where the old address leads)";
                position;
            },
        )
        .by("product_id"),
    ],
};

/// What every kind of row may have.
pub(super) const SHARED: Section = Section {
    title: "Files, texts and addresses",
    tables: &[
        TableSpec::new(
            "files",
            "files of products, categories, pages and other rows",
            columns! {
                id;
                entity "the table of the row";
                elem_id "the row's number";
                kind_key "kind: `kImage`, …";
                position;
                real_name "the name it came with", store;
                stored_name "its name below `files/`";
                mime "its type";
                bytes "its size";
                sha256 "hash of its bytes";
                width "of pictures: pixels";
                height "of pictures: pixels";
                alt "of pictures: what is to be seen", store;
            },
        )
        .by_element()
        .edited(),
        TableSpec::new(
            "texts",
            "translations of names and texts, and texts that only search engines and links show",
            columns! {
                id;
                entity "the table of the row";
                elem_id "the row's number";
                language;
                field "the column that is translated, or `title`, `description`";
                value "the text", store;
            },
        )
        .by_element()
        .edited(),
        TableSpec::new(
            "slugs",
            "addresses of pages",
            columns! {
                id;
                language;
                path "the address", store;
                path_folded "the address in the form in which it is compared";
                entity "the table of the row: `products`, `categories`, `pages`";
                elem_id "the row's number";
                state "`kCurrent`, `kMoved` (leads to the current one), `kGone`";
                created;
            },
        )
        .by_element(),
    ],
};
