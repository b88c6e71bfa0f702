//! Promotions and coupons on the lines of an order.

use super::{Adjustment, AdjustmentKind, Basis, Line};
use crate::money::{MoneyError, Result, for_quantity, part, share, sum};
use crate::promotion::{Action, Promotion, in_order};

/// What promotions made of the lines.
#[derive(Debug, Default)]
pub(super) struct Discounts {
    /// What is left of each line, never below 0.
    pub(super) left: Vec<i64>,
    pub(super) adjustments: Vec<Adjustment>,
    pub(super) gifts: Vec<i64>,
    pub(super) is_shipping_free: bool,
    /// Promotions that took effect.
    pub(super) used: Vec<i64>,
}

/// Line promotions first, then those of the order, each by priority and number.
pub(super) fn apply(basis: &Basis, amounts: &[i64]) -> Result<Discounts> {
    let mut done = Discounts { left: amounts.to_vec(), ..Discounts::default() };
    let mut is_closed = false;
    let sorted = in_order(&basis.promotions);
    let (of_lines, of_order): (Vec<_>, Vec<_>) = sorted.into_iter().partition(|one| one.is_of_lines());
    for promotion in of_lines.into_iter().chain(of_order) {
        if is_closed {
            break;
        }
        // One that holds alone does not come after another.
        if promotion.is_exclusive && !done.used.is_empty() {
            continue;
        }
        if apply_one(basis, promotion, &mut done)? {
            done.used.push(promotion.id);
            is_closed = promotion.is_exclusive;
        }
    }
    Ok(done)
}

/// Applies one promotion; whether it took effect.
fn apply_one(basis: &Basis, promotion: &Promotion, done: &mut Discounts) -> Result<bool> {
    let conditions = &promotion.conditions;
    let eligible: Vec<bool> =
        basis.lines.iter().map(|line| conditions.covers(line.product_id, &line.categories)).collect();
    let worth = sum(done.left.iter().zip(&eligible).filter(|(_, yes)| **yes).map(|(left, _)| *left))?;
    let is_enough = conditions.total.is_none_or(|least| worth >= least);
    if !is_enough || !conditions.welcomes(basis.buyer) || !eligible.contains(&true) {
        return Ok(false);
    }
    match promotion.action {
        Action::FreeShipping => {
            done.is_shipping_free = true;
            return Ok(true);
        }
        Action::Gift { variant_id } => {
            done.gifts.push(variant_id);
            return Ok(true);
        }
        _ => {}
    }
    let parts = if promotion.is_of_lines() {
        line_parts(basis, promotion, &done.left, &eligible)?
    } else {
        order_parts(promotion, &done.left, &eligible, worth)?
    };
    take_off(promotion, &parts, done);
    Ok(parts.iter().any(|part| *part > 0))
}

/// What a line promotion takes off each line.
fn line_parts(basis: &Basis, promotion: &Promotion, left: &[i64], eligible: &[bool]) -> Result<Vec<i64>> {
    let lines = basis.lines.iter().zip(left).zip(eligible);
    lines
        .map(|((line, left), is_eligible)| {
            if !is_eligible {
                return Ok(0);
            }
            let off = match promotion.action {
                Action::Percent { rate_ppm } => part(*left, rate_ppm)?,
                Action::Amount { amount } => for_quantity(amount, line.quantity, line.decimals)?,
                Action::Price { price } => {
                    let wanted = for_quantity(price, line.quantity, line.decimals)?;
                    left.checked_sub(wanted).ok_or(MoneyError::TooLarge)?
                }
                Action::BuyGet { buy, free } => free_pieces(line, buy, free)?,
                Action::FreeShipping | Action::Gift { .. } => 0,
            };
            Ok(off.clamp(0, (*left).max(0)))
        })
        .collect()
}

/// The price of the free pieces of a line: `free` of each whole `buy + free`. Goods by weight have no pieces.
fn free_pieces(line: &Line, buy: i64, free: i64) -> Result<i64> {
    if line.decimals > 0 {
        return Ok(0);
    }
    let together = buy.checked_add(free).ok_or(MoneyError::TooLarge)?;
    let pieces = line.quantity.checked_div(together).unwrap_or(0).checked_mul(free);
    for_quantity(line.price, pieces.ok_or(MoneyError::TooLarge)?, 0)
}

/// One rounded sum of the order, shared over the eligible lines as they stand.
fn order_parts(promotion: &Promotion, left: &[i64], eligible: &[bool], worth: i64) -> Result<Vec<i64>> {
    let off = match promotion.action {
        Action::Percent { rate_ppm } => part(worth, rate_ppm)?,
        Action::Amount { amount } => amount,
        _ => 0,
    };
    let weights: Vec<i64> =
        left.iter().zip(eligible).map(|(left, yes)| if *yes { *left } else { 0 }).collect();
    if worth <= 0 {
        return Ok(vec![0; left.len()]);
    }
    share(off.clamp(0, worth), &weights)
}

fn take_off(promotion: &Promotion, parts: &[i64], done: &mut Discounts) {
    let kind = if promotion.coupon.is_some() { AdjustmentKind::Coupon } else { AdjustmentKind::Promotion };
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| **part != 0) {
        if let Some(left) = done.left.get_mut(at) {
            *left -= part;
        }
        done.adjustments.push(Adjustment {
            line: Some(at),
            kind,
            source: Some(promotion.id),
            code: promotion.coupon.clone(),
            name: promotion.name.clone(),
            amount: -part,
        });
    }
}
