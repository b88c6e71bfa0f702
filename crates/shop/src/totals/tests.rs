//! The worked examples of the specification, its hard cases, and what must hold for any cart.

use proptest::prelude::*;

use super::*;
use crate::money::Currency;
use crate::promotion::{Action, Buyer, Conditions, Promotion};
use crate::tax::{TaxRate, TaxRounding};

fn vat(rate_ppm: i64) -> Vec<TaxRate> {
    vec![TaxRate { name: "VAT".to_owned(), rate_ppm, is_compound: false }]
}

fn basis(code: &str, display: TaxDisplay, rate_ppm: i64, lines: &[(i64, i64)]) -> Basis {
    let line = |(at, (price, quantity)): (usize, &(i64, i64))| Line {
        product_id: i64::try_from(at).unwrap() + 1,
        price: *price,
        quantity: *quantity,
        rates: vat(rate_ppm),
        ..Line::default()
    };
    Basis {
        currency: Currency::find(code).unwrap(),
        display,
        rounding: TaxRounding::Order,
        cash_step: 0,
        lines: lines.iter().enumerate().map(line).collect(),
        promotions: Vec::new(),
        buyer: Buyer::default(),
        shipping: None,
        fees: Vec::new(),
    }
}

fn promotion(id: i64, action: Action) -> Promotion {
    Promotion {
        id,
        name: format!("Promotion {id}"),
        priority: 0,
        is_exclusive: false,
        coupon: None,
        conditions: Conditions::default(),
        action,
    }
}

fn percent(rate_ppm: i64) -> Promotion {
    promotion(1, Action::Percent { rate_ppm })
}

#[test]
fn example_1_inclusive_tax_of_a_line() {
    let done = totals(&basis("EUR", TaxDisplay::Included, 200_000, &[(999, 3)])).unwrap();
    assert_eq!((done.goods, done.tax, done.total), (2997, 500, 2997));
}

#[test]
fn example_2_exclusive_tax_after_a_discount() {
    let mut basis = basis("USD", TaxDisplay::OnTop, 82_500, &[(5186, 1)]);
    basis.promotions = vec![percent(400_000)];
    let done = totals(&basis).unwrap();
    assert_eq!((done.discount, done.tax, done.total), (2074, 257, 3369));
}

#[test]
fn example_3_a_rounded_discount_is_shared_by_largest_remainders() {
    let prices = [517, 332, 125, 350, 501, 334, 599, 551].map(|price| (price, 1));
    let mut basis = basis("EUR", TaxDisplay::Included, 190_000, &prices);
    basis.promotions = vec![percent(500_000)];
    let done = totals(&basis).unwrap();
    let off: Vec<i64> = done.lines.iter().map(|line| line.discount).collect();
    assert_eq!(off, [259, 166, 62, 175, 250, 167, 300, 276]);
    assert_eq!((done.discount, done.total, done.tax), (1655, 1654, 264));
}

#[test]
fn example_4_currencies_without_and_with_three_decimals() {
    let mut yen = basis("JPY", TaxDisplay::Included, 100_000, &[(1980, 1)]);
    yen.promotions = vec![percent(50_000)];
    let done = totals(&yen).unwrap();
    assert_eq!((done.discount, done.total, done.tax), (99, 1881, 171));
    let mut dinar = basis("KWD", TaxDisplay::Included, 0, &[(18_600, 1)]);
    dinar.promotions = vec![percent(100_000)];
    assert_eq!(totals(&dinar).unwrap().total, 16_740);
}

#[test]
fn example_5_free_shipping_is_judged_after_discounts() {
    let shipping =
        Shipping { name: "Post".to_owned(), amount: 590, free_from: Some(5000), rates: vat(200_000) };
    let mut with_promotion = basis("EUR", TaxDisplay::Included, 200_000, &[(8000, 1)]);
    with_promotion.shipping = Some(shipping);
    assert_eq!(totals(&with_promotion).unwrap().total, 8000);
    with_promotion.promotions = vec![percent(500_000)];
    let done = totals(&with_promotion).unwrap();
    assert_eq!((done.shipping, done.total, done.tax), (590, 4590, 765));
    // Alike with a coupon.
    let mut with_coupon = with_promotion.clone();
    with_coupon.promotions[0].coupon = Some("HALF".to_owned());
    let coupon = totals(&with_coupon).unwrap();
    assert_eq!((coupon.shipping, coupon.total, coupon.tax), (590, 4590, 765));
    assert_eq!(coupon.adjustments[0].kind, AdjustmentKind::Coupon);
}

#[test]
fn example_6_a_discount_of_many_pieces() {
    let mut basis = basis("EUR", TaxDisplay::Included, 200_000, &[(2390, 10)]);
    basis.promotions = vec![percent(250_000)];
    let done = totals(&basis).unwrap();
    assert_eq!((done.total, done.tax), (17_925, 2988));
}

#[test]
fn a_whole_coupon_leaves_nothing_to_pay() {
    let mut basis = basis("SEK", TaxDisplay::Included, 250_000, &[(3333, 3), (1, 1)]);
    basis.promotions = vec![percent(1_000_000)];
    let done = totals(&basis).unwrap();
    assert_eq!((done.total, done.tax, done.discount), (0, 0, 10_000));
}

#[test]
fn cash_is_rounded_in_a_row_of_its_own() {
    let mut basis = basis("CHF", TaxDisplay::Included, 81_000, &[(1883, 1)]);
    basis.cash_step = 5;
    let done = totals(&basis).unwrap();
    assert_eq!((done.rounding, done.total), (2, 1885));
    assert_eq!(done.adjustments.last().unwrap().kind, AdjustmentKind::Rounding);
}

#[test]
fn line_promotions_come_before_those_of_the_order() {
    let mut basis = basis("EUR", TaxDisplay::Included, 200_000, &[(1000, 3), (2000, 1)]);
    let mut third = promotion(1, Action::BuyGet { buy: 2, free: 1 });
    third.conditions.products = [1].into();
    let order = promotion(2, Action::Amount { amount: 400 });
    basis.promotions = vec![order, third];
    let done = totals(&basis).unwrap();
    assert_eq!(done.promotions, [1, 2]);
    let off: Vec<i64> = done.lines.iter().map(|line| line.discount).collect();
    assert_eq!((off, done.total), (vec![1200, 200], 3600));
}

#[test]
fn an_exclusive_promotion_stands_alone() {
    let mut basis = basis("EUR", TaxDisplay::Included, 0, &[(1000, 1)]);
    let first = Promotion { priority: 5, is_exclusive: true, ..percent(100_000) };
    basis.promotions = vec![promotion(2, Action::Amount { amount: 300 }), first.clone()];
    assert_eq!(totals(&basis).unwrap().promotions, [1]);
    basis.promotions[1].priority = -1;
    assert_eq!(totals(&basis).unwrap().promotions, [2]);
}

#[test]
fn conditions_keep_a_promotion_out() {
    let mut basis = basis("EUR", TaxDisplay::Included, 0, &[(1000, 1), (500, 1)]);
    let mut wanted = percent(500_000);
    wanted.conditions.total = Some(1501);
    basis.promotions = vec![wanted.clone()];
    assert_eq!(totals(&basis).unwrap().discount, 0);
    basis.promotions[0].conditions.total = Some(1500);
    assert_eq!(totals(&basis).unwrap().discount, 750);
    basis.promotions[0].conditions.groups = [9].into();
    assert_eq!(totals(&basis).unwrap().discount, 0);
    basis.buyer.group_id = Some(9);
    assert_eq!(totals(&basis).unwrap().discount, 750);
}

#[test]
fn fixed_prices_gifts_and_goods_by_weight() {
    let mut basis = basis("EUR", TaxDisplay::Included, 0, &[(1990, 1500)]);
    basis.lines[0].decimals = 3;
    assert_eq!(totals(&basis).unwrap().total, 2985);
    basis.promotions =
        vec![promotion(1, Action::Price { price: 1000 }), promotion(2, Action::Gift { variant_id: 77 })];
    let done = totals(&basis).unwrap();
    assert_eq!((done.total, done.gifts), (1500, vec![77]));
}

#[test]
fn amounts_that_do_not_fit_are_an_error() {
    let basis = basis("EUR", TaxDisplay::Included, 200_000, &[(i64::MAX, 2)]);
    assert_eq!(totals(&basis), Err(MoneyError::TooLarge));
}

fn any_action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (1_i64..=1_000_000).prop_map(|rate_ppm| Action::Percent { rate_ppm }),
        (1_i64..100_000).prop_map(|amount| Action::Amount { amount }),
        (0_i64..100_000).prop_map(|price| Action::Price { price }),
        Just(Action::FreeShipping),
        (1_i64..4, 1_i64..4).prop_map(|(buy, free)| Action::BuyGet { buy, free }),
    ]
}

fn any_promotion() -> impl Strategy<Value = Promotion> {
    (1_i64..50, any_action(), any::<bool>(), any::<bool>(), prop::option::of(1_i64..5)).prop_map(
        |(id, action, has_coupon, is_exclusive, product)| Promotion {
            coupon: has_coupon.then(|| format!("CODE{id}")),
            is_exclusive,
            conditions: Conditions { products: product.into_iter().collect(), ..Conditions::default() },
            ..promotion(id, action)
        },
    )
}

fn any_basis() -> impl Strategy<Value = Basis> {
    let lines = prop::collection::vec((0_i64..5_000_000, 1_i64..50, 0_usize..3), 1..8);
    let promotions = prop::collection::vec(any_promotion(), 0..5);
    let extras = (prop::option::of(0_i64..5000), 0_i64..500, prop::sample::select(vec![0_i64, 5, 10, 100]));
    (lines, promotions, extras, any::<bool>(), any::<bool>()).prop_map(
        |(lines, promotions, (shipping, fee, cash_step), is_included, by_line)| {
            let display = if is_included { TaxDisplay::Included } else { TaxDisplay::OnTop };
            let pairs: Vec<(i64, i64)> =
                lines.iter().map(|(price, quantity, _)| (*price, *quantity)).collect();
            let mut basis = basis("EUR", display, 200_000, &pairs);
            let sets = [vat(200_000), vat(77_000), Vec::new()];
            for (line, (_, _, set)) in basis.lines.iter_mut().zip(&lines) {
                line.rates.clone_from(&sets[*set]);
            }
            basis.promotions = promotions;
            basis.rounding = if by_line { TaxRounding::Line } else { TaxRounding::Order };
            basis.cash_step = cash_step;
            basis.shipping =
                shipping.map(|amount| Shipping { amount, rates: vat(200_000), ..Shipping::default() });
            basis.fees = vec![Fee { amount: fee, rates: vat(200_000), ..Fee::default() }];
            basis
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn totals_are_the_sum_of_their_parts(basis in any_basis()) {
        let done = totals(&basis).unwrap();
        let on_top = if basis.display == TaxDisplay::OnTop { done.tax } else { 0 };
        prop_assert_eq!(done.goods, done.lines.iter().map(|line| line.amount).sum::<i64>());
        prop_assert_eq!(done.discount, done.lines.iter().map(|line| line.discount).sum::<i64>());
        prop_assert_eq!(done.tax, done.tax_lines.iter().map(|line| line.tax).sum::<i64>());
        prop_assert_eq!(
            done.total,
            done.goods - done.discount + done.shipping + done.fees + done.rounding + on_top
        );
        let rows: i64 = done.adjustments.iter().map(|row| row.amount).sum();
        prop_assert_eq!(done.goods + rows + on_top, done.total);
        for (at, line) in done.lines.iter().enumerate() {
            let off: i64 =
                done.adjustments.iter().filter(|row| row.line == Some(at)).map(|row| -row.amount).sum();
            prop_assert_eq!(line.discount, off);
            prop_assert!(line.discount >= 0 && line.discount <= line.amount);
        }
        prop_assert!(done.total >= 0);
        prop_assert!(done.rounding.abs() <= basis.cash_step / 2);
    }

    #[test]
    fn a_tax_over_the_order_is_the_rounded_tax_of_its_sum(prices in prop::collection::vec(0_i64..1_000_000, 1..9)) {
        let pairs: Vec<(i64, i64)> = prices.iter().map(|price| (*price, 1)).collect();
        let done = totals(&basis("EUR", TaxDisplay::Included, 190_000, &pairs)).unwrap();
        let whole: i64 = prices.iter().sum();
        prop_assert_eq!(done.tax, (whole * 19 * 2 + 119) / (119 * 2));
    }
}
