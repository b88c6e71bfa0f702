//! What visitors read and write, mail, suppliers, imports; and what is made from the rest.

use super::spec::{Section, TableSpec, columns};

const DERIVED_FROM: &str = "it is made from the other tables, and made anew by `store reindex`";

/// Reviews, pages, menus, mail.
pub(super) const CONTENT: Section = Section {
    title: "Reviews, pages, mail",
    tables: &[
        TableSpec::new(
            "reviews",
            "reviews of products",
            columns! {
                id;
                product_id;
                order_line_id "the line of the order it was bought with; empty: not known to be bought here";
                customer_id;
                name "name it is shown under", visitor;
                language;
                rating "stars, 1 to 5";
                text "the review", visitor;
                answer "the store's answer", store;
                state "`kNew`, `kShown`, `kHidden`";
            },
        )
        .by("product_id")
        .kept(),
        TableSpec::new(
            "pages",
            "pages of text",
            columns! {
                id;
                skey "key; may be empty";
                name, store;
                text "the page, HTML", store;
                state "`kDraft` or `kShown`";
            },
        )
        .kept(),
        TableSpec::new("menus", "menus", columns! { id; skey; name, store; position; }).edited(),
        TableSpec::new(
            "menu_items",
            "lines of menus",
            columns! {
                id;
                menu_id "the menu";
                parent_id "the line it lies under; empty at the top";
                position;
                name "what it says", store;
                entity "the table of the row it leads to; may be empty";
                elem_id "the row's number";
                url "the address it leads to, where that is no row; may be empty", store;
            },
        )
        .tree()
        .edited(),
        TableSpec::new(
            "mail_templates",
            "mails",
            columns! {
                id;
                skey "which mail: `placed`, `paid`, `sent`, …";
                language;
                subject "its subject", store;
                body "its text, a template", store;
            },
        )
        .edited(),
        TableSpec::new(
            "outbox",
            "mails on their way out",
            columns! {
                id;
                key "event, template and address: each is sent once";
                template "which mail";
                address "whom it goes to", visitor;
                language;
                data "what its template needs, JSON", secret;
                state "`kNew`, `kSent`, `kFailed`";
                attempts "how often it was tried";
                next_try "when it is tried next";
                error "what the mail server said", visitor;
                created;
                sent "when it was sent; may be empty";
            },
        )
        .closed()
        .not_journalled("what was sent cannot be taken back")
        .not_told("no page shows it"),
    ],
};

/// Suppliers and imports.
pub(super) const SUPPLIERS: Section = Section {
    title: "Suppliers and imports",
    tables: &[
        TableSpec::new(
            "suppliers",
            "suppliers",
            columns! {
                id;
                skey;
                name, store;
                position;
                currency "currency of their price lists; may be empty";
                text "what the store should know of them", store;
            },
        )
        .kept(),
        TableSpec::new(
            "supplier_items",
            "what suppliers offer, and which variant of ours it is",
            columns! {
                id;
                supplier_id "the supplier";
                article "their article number", supplier;
                article_folded "the number in the form in which it is compared";
                name "their name for it", supplier;
                brand "the brand", supplier;
                mpn "the manufacturer's number", supplier;
                gtin "EAN, UPC or ISBN", supplier;
                variant_id "the variant; empty: not chosen yet";
                cost "what they want for it; may be empty";
                currency "currency of the cost";
                quantity "how many they have; may be empty";
                seen "when it was in their list last";
            },
        ),
        TableSpec::new(
            "import_profiles",
            "how files of one kind are read",
            columns! {
                id;
                name, store;
                kind "`products`, `prices`, `stock`, …";
                supplier_id "the supplier; may be empty";
                settings "columns and rules, JSON", store;
            },
        )
        .edited(),
        TableSpec::new(
            "imports",
            "files that were read in",
            columns! {
                id;
                profile_id "the profile; may be empty";
                kind "what was in it";
                state "`kPreview`, `kRunning`, `kDone`, `kFailed`, `kUndone`";
                file_name "name of the file", supplier;
                sha256 "hash of its bytes";
                token "word of the preview that is to be applied; may be empty", secret;
                counts "how many rows were new, changed, missing, JSON";
                error "why it failed", supplier;
                author_id "who read it in";
                created;
                changed;
            },
        )
        .closed()
        .not_told("no page shows it"),
        TableSpec::new(
            "import_rows",
            "what there is to say of the lines of a file",
            columns! {
                id;
                import_id "the file";
                line "number of the line";
                column_name "the column", supplier;
                code "what is said";
                value "what stands there", supplier;
                entity "the table of the row it became; may be empty";
                elem_id "the row's number";
            },
        )
        .closed()
        .not_journalled("it is a report")
        .not_told("no page shows it"),
    ],
};

/// Made from the rest.
pub(super) const DERIVED: Section = Section {
    title: "Made from the rest",
    tables: &[
        TableSpec::new(
            "listing",
            "products as lists show and sort them: one row for each price list and each category with those above it",
            columns! {
                id;
                list_id "the price list";
                category_id "the category; 0: the whole shop";
                product_id;
                price "its lowest price";
                price_max "its highest price";
                popular "how much was sold of it lately";
                created "when it was added";
                name_sort "the name in the form in which names are sorted";
                rating "stars, in hundredths";
                available "whether any of it can be bought";
            },
        )
        .by("category_id")
        .closed()
        .not_journalled(DERIVED_FROM),
        TableSpec::new(
            "facet_counts",
            "how many products of a category have a value, where nothing is chosen",
            columns! {
                id;
                category_id "the category; 0: the whole shop";
                attribute_id "the attribute; 0: the brand";
                choice_id "the choice; of 0 the brand";
                int_value "the number";
                products "how many products";
            },
        )
        .by("category_id")
        .closed()
        .not_journalled(DERIVED_FROM),
        TableSpec::new("search_terms", "words that products and pages hold", columns! { id; term "the word"; })
            .closed()
            .not_journalled(DERIVED_FROM)
            .not_told("with every row that is indexed anew, `slugs` or the row itself changes"),
        TableSpec::new(
            "search_postings",
            "which rows hold a word",
            columns! {
                id;
                term_id "the word";
                entity "the table of the row";
                elem_id "the row's number";
                weight "how much it counts";
            },
        )
        .closed()
        .not_journalled(DERIVED_FROM),
        TableSpec::new(
            "search_grams",
            "three letters each of every word, to find words by",
            columns! { id; gram "three letters"; term_id "the word"; },
        )
        .closed()
        .not_journalled(DERIVED_FROM)
        .not_told("it only follows the words"),
        TableSpec::new(
            "dirty",
            "rows whose derived rows are to be made anew",
            columns! { id; entity "the table of the row"; elem_id "the row's number"; since "since when"; },
        )
        .closed()
        .not_journalled(DERIVED_FROM)
        .not_told("it only says what is still to be done"),
    ],
};
