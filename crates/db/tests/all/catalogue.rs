//! The catalogue: the tree and its closure, addresses, prices, lists of products, search.

use std::collections::BTreeSet;

use db::listing::{self, Facet, Query, Sort, Start};
use db::slugs::{self, Destination, Element};
use db::{Tx, categories, prices, products, rows, search, texts};
use proptest::prelude::*;

use crate::fixture::{later, now, on_both};
use crate::shop::{category, id_of, main_list, product, read, receive, set_price, variant, write};

fn closure(tx: &mut Tx) -> BTreeSet<(i64, i64, i64)> {
    let rows = tx.rows("select ancestor, descendant, depth from category_closure", &[]).unwrap();
    rows.iter()
        .map(|row| (row.get("ancestor").unwrap(), row.get("descendant").unwrap(), row.get("depth").unwrap()))
        .collect()
}

fn titles(tx: &mut Tx, query: &Query, start: &Start, size: u32) -> (Vec<i64>, Option<listing::After>) {
    let page = listing::page(tx, query, start, size).unwrap();
    (page.entries.iter().map(|entry| entry.product_id).collect(), page.next)
}

fn flush(tx: &mut Tx) {
    while listing::flush(tx, now()).unwrap() > 0 {}
}

on_both! {
    fn the_closure_is_what_the_parents_say_whatever_is_moved(db: &Db) {
        let steps = prop::collection::vec((0..3_u8, 0..12_usize, 0..13_usize), 1..40);
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(12));
        runner.run(&steps, |steps| {
            write(db, |tx| {
                tx.run("delete from category_closure", &[]).unwrap();
                tx.run("update categories set deleted = 'x', parent_id = null", &[]).unwrap();
                let mut ids: Vec<i64> = Vec::new();
                for (kind, what, whom) in steps {
                    let parent = ids.get(whom).copied();
                    match (kind, ids.get(what).copied()) {
                        (0, _) | (_, None) => ids.push(category(tx, "c", parent)),
                        (1, Some(id)) => {
                            let below = categories::subtree(tx, id).unwrap();
                            let moved = categories::move_to(tx, id, parent, 0, now()).unwrap();
                            assert_eq!(moved, parent.is_none_or(|parent| !below.contains(&parent)));
                        }
                        (_, Some(id)) => {
                            if categories::remove(tx, id, now()).unwrap() {
                                ids.retain(|other| *other != id);
                            }
                        }
                    }
                    let kept = closure(tx);
                    categories::rebuild_closure(tx).unwrap();
                    assert_eq!(kept, closure(tx));
                }
            });
            Ok(())
        }).unwrap();
    }

    fn categories_are_read_in_the_wanted_language_with_those_above(db: &Db) {
        let (top, middle, low) = write(db, |tx| {
            let top = category(tx, "Outdoor", None);
            let middle = category(tx, "Tents", Some(top));
            let low = category(tx, "Large tents", Some(middle));
            texts::set(tx, "categories", middle, "ru", "name", "Палатки", now()).unwrap();
            (top, middle, low)
        });
        let path: Vec<_> = read(db, |tx| categories::path(tx, low, "ru").unwrap()).into_iter().map(|c| c.name).collect();
        assert_eq!(path, ["Outdoor", "Палатки", "Large tents"]);
        read(db, |tx| {
            assert_eq!(categories::children(tx, None, "en").unwrap().len(), 1);
            assert_eq!(categories::children(tx, Some(top), "en").unwrap()[0].name, "Tents");
            assert_eq!(categories::subtree(tx, top).unwrap(), [top, middle, low]);
        });
        write(db, |tx| {
            assert!(!categories::move_to(tx, top, Some(low), 0, now()).unwrap());
            assert!(!categories::remove(tx, top, now()).unwrap());
        });
    }

    fn an_address_that_moved_twice_leads_to_the_current_one_in_one_step(db: &Db) {
        let (one, other) = write(db, |tx| {
            let (one, _) = product(tx, "One", None, 100, 1);
            let (other, _) = product(tx, "Other", None, 100, 1);
            for path in ["a", "b", "c"] {
                slugs::set(tx, "products", one, "en", path, now()).unwrap();
            }
            (one, other)
        });
        let element = |id| Element { entity: "products".to_owned(), id };
        let find = |path: &str| read(db, |tx| slugs::find(tx, "en", path).unwrap());
        for path in ["a", "b", "B"] {
            assert_eq!(find(path), Some(Destination::Moved(element(one), "c".to_owned())));
        }
        assert_eq!(find("C"), Some(Destination::Here(element(one))));
        assert_eq!(find("d"), None);
        // Back to a former one.
        write(db, |tx| slugs::set(tx, "products", one, "en", "a", now()).unwrap());
        assert_eq!(find("c"), Some(Destination::Moved(element(one), "a".to_owned())));
        assert!(db.write(|tx| slugs::set(tx, "products", other, "en", "A", now())).is_err());
        // What only led elsewhere can be taken over.
        write(db, |tx| slugs::set(tx, "products", other, "en", "b", now()).unwrap());
        assert_eq!(find("b"), Some(Destination::Here(element(other))));
        // A removed product leads to what replaced it, else nowhere.
        write(db, |tx| assert!(products::remove(tx, one, now()).unwrap()));
        assert_eq!(find("a"), Some(Destination::Gone(element(one), None)));
        write(db, |tx| rows::insert(tx, "product_links", &[
            ("product_id", one.into()), ("linked_id", other.into()), ("kind", "kReplacedBy".into()),
        ]).unwrap());
        assert_eq!(find("c"), Some(Destination::Gone(element(one), Some("b".to_owned()))));
    }

    fn prices_of_lists_begin_and_end_by_themselves(db: &Db) {
        write(db, |tx| {
            let (_, variant) = product(tx, "One", None, 2000, 1);
            let list = main_list(tx);
            let wholesale = rows::insert(tx, "price_lists", &[
                ("skey", "wholesale".into()), ("name", "w".into()), ("currency", "EUR".into()), ("priority", 5.into()),
                ("base_list_id", list.into()), ("change_ppm", (-150_000).into()), ("round_to", 10.into()),
            ]).unwrap();
            let sale = prices::NewPrice {
                list_id: list, variant_id: variant, min_quantity: 1, amount: 1500, compare_at: Some(2000),
                valid_from: Some(later(100)), valid_until: Some(later(200)),
            };
            prices::set(tx, &sale, None, now()).unwrap();
            let many = prices::NewPrice { min_quantity: 10, amount: 1800, compare_at: None, valid_from: None, valid_until: None, ..sale };
            prices::set(tx, &many, None, now()).unwrap();
            let all = prices::open_lists(tx, "EUR", None, now()).unwrap();
            assert_eq!(all.iter().map(|list| list.id).collect::<Vec<_>>(), [wholesale, list]);
            let found = prices::of_variants(tx, &[variant], &all).unwrap();
            let main: Vec<_> = all.iter().filter(|l| l.id == list).cloned().collect();
            let amount = |lists: &[prices::PriceList], quantity, second| {
                found.choose(variant, quantity, lists, later(second)).map(|price| (price.amount, price.compare_at))
            };
            assert_eq!(amount(&main, 1, 99), Some((2000, None)));
            assert_eq!(amount(&main, 1, 100), Some((1500, Some(2000))));
            assert_eq!(amount(&main, 1, 200), Some((2000, None)));
            assert_eq!(amount(&main, 10, 0), Some((1800, None)));
            assert_eq!(amount(&all, 1, 0), Some((1700, None)));
            assert_eq!(amount(&all, 1, 150), Some((1280, Some(1700))));
            assert_eq!(prices::open_lists(tx, "USD", None, now()).unwrap(), []);
        });
    }

    fn the_lowest_price_is_of_the_thirty_days_before_the_reduction(db: &Db) {
        const DAY: i64 = 24 * 3600;
        write(db, |tx| {
            let (_, variant) = product(tx, "One", None, 700, 1);
            let list = main_list(tx);
            let mut set = |amount, day| {
                let price = prices::NewPrice {
                    list_id: list, variant_id: variant, min_quantity: 1, amount, compare_at: None, valid_from: None, valid_until: None,
                };
                prices::set(tx, &price, None, later(day * DAY)).unwrap();
            };
            set(1000, 10);
            set(900, 50);
            set(650, 60);
            assert_eq!(prices::lowest_before(tx, list, variant, later(61 * DAY)).unwrap(), Some(900));
            // The price of day 0 to 10 is out of the 30 days before day 60.
            let mut set = |amount, day| {
                let price = prices::NewPrice {
                    list_id: list, variant_id: variant, min_quantity: 1, amount, compare_at: None, valid_from: None, valid_until: None,
                };
                prices::set(tx, &price, None, later(day * DAY)).unwrap();
            };
            set(950, 62);
            assert_eq!(prices::lowest_before(tx, list, variant, later(63 * DAY)).unwrap(), Some(650));
        });
    }

    fn lists_follow_prices_stock_states_and_the_tree(db: &Db) {
        let (list, tents, one, first) = write(db, |tx| {
            let outdoor = category(tx, "Outdoor", None);
            let tents = category(tx, "Tents", Some(outdoor));
            let (one, first) = product(tx, "One", Some(tents), 300, 0);
            product(tx, "Two", Some(outdoor), 100, 5);
            flush(tx);
            (main_list(tx), tents, one, first)
        });
        let query = |category_id| Query { list_id: list, category_id, sort: Sort::Price, ..Query::default() };
        let of = |category| read(db, |tx| titles(tx, &query(category), &Start::Offset(0), 10).0);
        assert_eq!(of(None).len(), 2);
        assert_eq!(of(Some(tents)), [one]);
        let is_available = || read(db, |tx| listing::page(tx, &query(Some(tents)), &Start::Offset(0), 1).unwrap().entries[0].available);
        assert!(!is_available());
        write(db, |tx| receive(tx, first, 1));
        assert!(is_available());
        // A second variant makes a span of prices, at once.
        write(db, |tx| {
            let second = variant(tx, one, "2", "second");
            set_price(tx, list, second, 50);
        });
        assert_eq!(of(None)[0], one);
        let entry = read(db, |tx| listing::page(tx, &query(None), &Start::Offset(0), 1).unwrap().entries.remove(0));
        assert_eq!((entry.price, entry.price_max), (50, 300));
        write(db, |tx| assert!(categories::move_to(tx, tents, None, 0, now()).unwrap()));
        write(db, flush);
        let outdoor = read(db, |tx| id_of(tx, "select id from categories where name = 'Outdoor'"));
        assert_eq!(of(Some(outdoor)).len(), 1);
        write(db, |tx| assert!(products::remove(tx, one, now()).unwrap()));
        assert!(of(Some(tents)).is_empty());
        assert_eq!(of(None).len(), 1);
    }

    fn making_lists_anew_changes_nothing_that_is_right_and_mends_the_rest(db: &Db) {
        write(db, |tx| {
            let tents = category(tx, "Tents", None);
            for n in 0..20 {
                product(tx, &format!("P{n}"), Some(tents), 100 + n, n % 3);
            }
            flush(tx);
        });
        let rows = |tx: &mut Tx| {
            let sql = "select list_id, category_id, product_id, price, available from listing order by product_id, category_id";
            tx.rows(sql, &[]).unwrap()
        };
        let before = read(db, rows);
        assert_eq!(before.len(), 40);
        let position = read(db, |tx| db::changes::position(tx).unwrap());
        let all: Vec<i64> = before.iter().map(|row| row.get("product_id").unwrap()).collect();
        write(db, |tx| listing::reindex(tx, &all, now()).unwrap());
        let told = read(db, |tx| db::changes::since(tx, &position).unwrap());
        assert!(matches!(told, db::changes::Told::Changes { changes, .. } if changes.is_empty()));
        write(db, |tx| {
            tx.run("update listing set price = 1, available = not available", &[]).unwrap();
            listing::reindex_all(tx, now()).unwrap();
        });
        assert_eq!(read(db, rows), before);
    }

    fn keyset_over_equal_values_loses_nothing(db: &Db) {
        let (list, all) = write(db, |tx| {
            let all: Vec<i64> = (0..23).map(|n| product(tx, if n % 2 == 0 { "Same" } else { "Other" }, None, 100 * (n / 8), 1).0).collect();
            (main_list(tx), all)
        });
        for sort in [Sort::Popular, Sort::New, Sort::Price, Sort::PriceDown, Sort::Name, Sort::Rating] {
            let query = Query { list_id: list, sort, ..Query::default() };
            let whole = read(db, |tx| titles(tx, &query, &Start::Offset(0), 100).0);
            assert_eq!(whole.iter().copied().collect::<BTreeSet<_>>(), all.iter().copied().collect());
            let (mut walked, mut start) = (Vec::new(), Start::Offset(0));
            loop {
                let (some, next) = read(db, |tx| titles(tx, &query, &start, 5));
                walked.extend(some);
                match next {
                    Some(after) => start = Start::After(after),
                    None => break,
                }
            }
            assert_eq!(walked, whole, "{sort:?}");
            let second = read(db, |tx| titles(tx, &query, &Start::Offset(5), 5).0);
            assert_eq!(second, whole[5..10]);
        }
    }

    fn facets_of_variants_must_meet_in_one_variant(db: &Db) {
        let (list, colour, red, blue, size, large, one, two) = write(db, |tx| {
            let attribute = |tx: &mut Tx, skey: &str| rows::insert(tx, "attributes", &[
                ("skey", skey.into()), ("name", skey.into()), ("type", "kChoice".into()), ("filter", true.into()),
            ]).unwrap();
            let choice = |tx: &mut Tx, attribute: i64, skey: &str| rows::insert(tx, "attribute_choices", &[
                ("attribute_id", attribute.into()), ("skey", skey.into()), ("name", skey.into()),
            ]).unwrap();
            let (colour, size) = (attribute(tx, "colour"), attribute(tx, "size"));
            let (red, blue, large) = (choice(tx, colour, "red"), choice(tx, colour, "blue"), choice(tx, size, "large"));
            let has = |tx: &mut Tx, product: i64, variant: Option<i64>, attribute: i64, choice: i64| {
                rows::insert(tx, "attribute_values", &[
                    ("product_id", product.into()), ("variant_id", variant.into()), ("attribute_id", attribute.into()),
                    ("choice_id", choice.into()),
                ]).unwrap();
            };
            // One has a red variant and a large one; two has one that is both, the colour as a whole.
            let (one, first) = product(tx, "One", None, 100, 1);
            let second = variant(tx, one, "2", "one-2");
            has(tx, one, Some(first), colour, red);
            has(tx, one, Some(second), colour, blue);
            has(tx, one, Some(second), size, large);
            let (two, only) = product(tx, "Two", None, 200, 1);
            has(tx, two, None, colour, red);
            has(tx, two, Some(only), size, large);
            flush(tx);
            listing::rebuild_counts(tx, None).unwrap();
            (main_list(tx), colour, red, blue, size, large, one, two)
        });
        let choose = |attribute_id, choices: &[i64]| Facet::Choices { attribute_id, choices: choices.to_vec() };
        let ask = |facets: &[Facet]| {
            let query = Query { list_id: list, facets: facets.to_vec(), sort: Sort::Price, ..Query::default() };
            read(db, |tx| {
                let found = titles(tx, &query, &Start::Offset(0), 10).0;
                assert_eq!(listing::total(tx, &query).unwrap(), found.len() as u64);
                (found, listing::counts(tx, &query).unwrap())
            })
        };
        assert_eq!(ask(&[choose(colour, &[red])]).0, [one, two]);
        assert_eq!(ask(&[choose(colour, &[red]), choose(size, &[large])]).0, [two]);
        assert_eq!(ask(&[choose(colour, &[red, blue]), choose(size, &[large])]).0, [one, two]);
        let number = |counts: &[listing::Count], choice: i64| {
            counts.iter().find(|count| count.choice_id == Some(choice)).map(|count| count.products)
        };
        let (_, unfiltered) = ask(&[]);
        assert_eq!([red, blue, large].map(|choice| number(&unfiltered, choice)), [Some(2), Some(1), Some(2)]);
        // A count ignores its own facet's choice.
        let (_, counts) = ask(&[choose(colour, &[blue])]);
        assert_eq!([red, blue, large].map(|choice| number(&counts, choice)), [Some(2), Some(1), Some(1)]);
    }

    fn a_product_is_read_whole_in_a_language(db: &Db) {
        let (id, first) = write(db, |tx| {
            let (id, first) = product(tx, "Tent", None, 100, 3);
            texts::set(tx, "products", id, "ru", "name", "Палатка", now()).unwrap();
            let option = rows::insert(tx, "product_options", &[("product_id", id.into()), ("name", "Size".into())]).unwrap();
            let value = rows::insert(tx, "product_option_values", &[("option_id", option.into()), ("name", "Large".into())]).unwrap();
            texts::set(tx, "product_option_values", value, "ru", "name", "Большой", now()).unwrap();
            rows::insert(tx, "variant_values", &[
                ("variant_id", first.into()), ("option_id", option.into()), ("value_id", value.into()),
            ]).unwrap();
            (id, first)
        });
        read(db, |tx| {
            let shown = products::shown(tx, id, "ru", now()).unwrap().unwrap();
            assert_eq!((shown.name.as_str(), shown.state.as_str()), ("Палатка", "kShown"));
            assert_eq!(products::shown(tx, id, "en", now()).unwrap().unwrap().name, "Tent");
            assert_eq!(products::variants(tx, &[id]).unwrap()[0].id, first);
            let options = products::options(tx, id, "ru").unwrap();
            assert_eq!((options[0].option_name.as_str(), options[0].value_name.as_str()), ("Size", "Большой"));
            assert_eq!(products::variant_by_code(tx, " sku-1 ").unwrap().unwrap().id, first);
            assert_eq!(products::attributes(tx, &[id], "ru").unwrap(), []);
            assert_eq!(products::files(tx, "products", &[id]).unwrap(), []);
        });
        write(db, |tx| rows::update(tx, "products", id, None, &[("shown_from", db::micros(later(60)).into())], now()).unwrap());
        read(db, |tx| {
            assert_eq!(products::shown(tx, id, "en", now()).unwrap(), None);
            assert!(products::shown(tx, id, "en", later(60)).unwrap().is_some());
        });
    }

    fn search_finds_codes_first_then_all_words(db: &Db) {
        let (tent, bag) = write(db, |tx| {
            let (tent, _) = product(tx, "Ёлочная палатка красная", None, 100, 1);
            let (bag, _) = product(tx, "Палатка", None, 100, 1);
            rows::update(tx, "products", bag, None, &[("text", "<b>red</b> bag sku-1".into())], now()).unwrap();
            flush(tx);
            (tent, bag)
        });
        let find = |typed: &str| read(db, |tx| search::find(tx, typed, 10).unwrap());
        assert_eq!(find("SKU-1"), [tent, bag]);
        assert_eq!(find("палат крас"), [tent]);
        assert_eq!(find("ЕЛОЧНАЯ"), [tent]);
        assert_eq!(find("red"), [bag]);
        assert_eq!(find("палатка").len(), 2);
        assert!(find("nothing").is_empty());
        assert!(find("%_'\" ").is_empty());
        write(db, |tx| {
            products::remove(tx, bag, now()).unwrap();
            listing::changed(tx, "products", bag, now()).unwrap();
            flush(tx);
        });
        assert!(find("red").is_empty());
    }

    fn search_finds_what_was_meant(db: &Db) {
        let (tea, pot) = write(db, |tx| {
            let (tea, _) = product(tx, "Sencha Zelёny чай", None, 100, 1);
            let (pot, _) = product(tx, "Porcelain teapot", None, 100, 1);
            flush(tx);
            (tea, pot)
        });
        let guess = |typed: &str| read(db, |tx| search::find_or_guess(tx, typed, 10).unwrap());
        let meant = |typed: &str| (guess(typed).ids, guess(typed).meant);
        let other = |id: i64, text: &str| (vec![id], Some(text.to_owned()));
        assert_eq!(meant("sencha"), (vec![tea], None));
        for typed in ["senhca", "senca", "senchaa", "zencha", "SENCJA"] {
            assert_eq!(meant(typed), other(tea, "sencha"), "{typed}");
        }
        assert_eq!(meant("porcelian taepot"), other(pot, "porcelain teapot"));
        assert_eq!(meant("porclian"), other(pot, "porcelain"));
        // The keyboard stood in the other layout.
        assert_eq!(meant("xfq"), other(tea, "чай"));
        assert_eq!(meant("ыутсрф"), other(tea, "sencha"));
        // Both at once.
        assert_eq!(meant("ыутрсф"), other(tea, "sencha"));
        // A short word is not guessed, nor one that is too far off, nor two words of different products.
        for typed in ["tia", "coffee", "saucepan", "senhca taepot", "", "%_'"] {
            assert_eq!(meant(typed), (vec![], None), "{typed}");
        }
        // A word that nothing holds any more is not meant.
        write(db, |tx| {
            products::remove(tx, pot, now()).unwrap();
            listing::changed(tx, "products", pot, now()).unwrap();
            flush(tx);
        });
        assert_eq!(meant("taepot"), (vec![], None));
        // Made anew, misspelt words still find theirs.
        write(db, |tx| db::reindex::all(tx, now()).unwrap());
        assert_eq!(meant("senhca"), other(tea, "sencha"));
    }

    fn what_is_made_from_the_rest_is_the_same_when_it_is_made_anew(db: &Db) {
        let tables = ["category_closure", "listing", "facet_counts", "search_postings"];
        let sums = || read(db, |tx| tables.map(|table| {
            let columns: Vec<_> = db::schema::table(table).unwrap().columns().map(|c| c.name)
                .filter(|name| !["id", "term_id"].contains(name)).collect();
            let sql = format!("select {} from {table} order by {}", columns.join(", "), columns.join(", "));
            tx.rows(&sql, &[]).unwrap()
        }));
        write(db, |tx| {
            let top = category(tx, "Top", None);
            let low = category(tx, "Low", Some(top));
            for n in 0..12 {
                product(tx, &format!("Thing number {n}"), Some(if n % 2 == 0 { top } else { low }), 100 + n, n);
            }
            flush(tx);
        });
        let kept = sums();
        assert!(kept[1].len() > 12 && !kept[3].is_empty());
        write(db, |tx| {
            for table in tables {
                tx.run(&format!("delete from {table}"), &[]).unwrap();
            }
            db::reindex::all(tx, now()).unwrap();
        });
        assert_eq!(sums(), kept);
    }

    fn rows_are_written_by_declared_names_only(db: &Db) {
        let id = write(db, |tx| rows::insert(tx, "tags", &[("skey", "a".into()), ("name", "A".into())]).unwrap());
        write(db, |tx| {
            assert!(rows::insert(tx, "tags", &[("skey) values ('x'); --", "a".into())]).is_err());
            assert!(rows::insert(tx, "nobody_knows", &[("skey", "a".into())]).is_err());
            assert!(rows::update(tx, "tags", id, Some(1), &[("name", "B".into())], now()).unwrap());
            assert!(!rows::update(tx, "tags", id, Some(1), &[("name", "C".into())], now()).unwrap());
            assert!(rows::remove(tx, "tags", id, now()).unwrap());
            let count = rows::load(tx, "tags", &["id", "skey", "name"], (100..300_i64).map(|n| vec![n.into(), n.to_string().into(), "t".into()])).unwrap();
            assert_eq!(count, 200);
            assert_eq!(rows::insert(tx, "tags", &[("skey", "b".into()), ("name", "B".into())]).unwrap(), 300);
        });
    }
}
