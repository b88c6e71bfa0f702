//! Promotions and coupons: when one holds, and what it does.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What must be true for a promotion to hold; what is not named is not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// The eligible goods, before this promotion, are worth at least so many minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
    /// Only these products count.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub products: BTreeSet<i64>,
    /// Only products of these categories count, and of what lies below them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub categories: BTreeSet<i64>,
    /// The customer belongs to one of these groups.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub groups: BTreeSet<i64>,
    /// The order goes to one of these zones.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub zones: BTreeSet<i64>,
    /// It is the customer's first order.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first_order: bool,
}

/// What a promotion does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// So many millionths off.
    Percent {
        /// 10 % is 100,000; never over a million.
        rate_ppm: i64,
    },
    /// So many minor units off; of a line promotion for each whole piece.
    Amount {
        /// Minor units.
        amount: i64,
    },
    /// Each eligible piece costs this.
    Price {
        /// Minor units.
        price: i64,
    },
    /// Shipping costs nothing.
    FreeShipping,
    /// A variant for nothing.
    Gift {
        /// Number of the variant.
        variant_id: i64,
    },
    /// Of each `buy + free` eligible pieces of a line `free` cost nothing.
    BuyGet {
        /// Pieces that are paid.
        buy: i64,
        /// Pieces that are free.
        free: i64,
    },
}

/// Why a row is no promotion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromotionError {
    /// The action's key is not known.
    #[error("no such action: `{0}`")]
    Action(String),
    /// The value does not fit the action.
    #[error("the value does not fit `{action}`: {why}")]
    Value {
        /// Key of the action.
        action: &'static str,
        /// What it takes.
        why: &'static str,
    },
    /// The conditions cannot be read.
    #[error("the conditions cannot be read: {0}")]
    Conditions(String),
}

impl Action {
    /// Keys of all actions, as they stand in the table.
    pub const KEYS: [&'static str; 6] =
        ["kPercent", "kAmount", "kPrice", "kFreeShipping", "kGift", "kBuyGet"];

    /// Reads an action from its key and value: a whole number, or `{"buy": 2, "free": 1}` for `kBuyGet`.
    pub fn parse(key: &str, value: &Value) -> Result<Self, PromotionError> {
        let wrong = |action, why| PromotionError::Value { action, why };
        let number = value.as_i64();
        match key {
            "kPercent" => match number {
                Some(rate_ppm @ 1..=1_000_000) => Ok(Self::Percent { rate_ppm }),
                _ => Err(wrong("kPercent", "millionths from 1 to 1000000")),
            },
            "kAmount" => match number {
                Some(amount @ 1..) => Ok(Self::Amount { amount }),
                _ => Err(wrong("kAmount", "minor units over 0")),
            },
            "kPrice" => match number {
                Some(price @ 0..) => Ok(Self::Price { price }),
                _ => Err(wrong("kPrice", "minor units, 0 or more")),
            },
            "kFreeShipping" => Ok(Self::FreeShipping),
            "kGift" => match number {
                Some(variant_id @ 1..) => Ok(Self::Gift { variant_id }),
                _ => Err(wrong("kGift", "the number of a variant")),
            },
            "kBuyGet" => {
                let field = |name| value.get(name).and_then(Value::as_i64).filter(|n| (1..=1000).contains(n));
                match (field("buy"), field("free")) {
                    (Some(buy), Some(free)) => Ok(Self::BuyGet { buy, free }),
                    _ => Err(wrong("kBuyGet", "an object with `buy` and `free`, 1 to 1000 each")),
                }
            }
            other => Err(PromotionError::Action(other.to_owned())),
        }
    }
}

/// One promotion that is in force at the moment of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promotion {
    /// Its number.
    pub id: i64,
    /// Name that the customer reads.
    pub name: String,
    /// Larger comes first.
    pub priority: i64,
    /// Holds alone: not after another one, and none after it.
    pub is_exclusive: bool,
    /// The coupon that the customer typed for it.
    pub coupon: Option<String>,
    /// When it holds.
    pub conditions: Conditions,
    /// What it does.
    pub action: Action,
}

/// Who buys and where the goods go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buyer {
    /// The customer's group.
    pub group_id: Option<i64>,
    /// The zone of the address.
    pub zone_id: Option<i64>,
    /// Nothing was ordered before.
    pub is_first_order: bool,
}

impl Conditions {
    /// Reads the JSON of a row.
    pub fn parse(json: &str) -> Result<Self, PromotionError> {
        if json.trim().is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_str(json).map_err(|error| PromotionError::Conditions(error.to_string()))
    }

    /// Whether these goods count.
    pub fn covers(&self, product_id: i64, categories: &[i64]) -> bool {
        let by_product = self.products.contains(&product_id);
        let by_category = categories.iter().any(|category| self.categories.contains(category));
        !self.names_goods() || by_product || by_category
    }

    /// Whether it is for some goods only.
    pub fn names_goods(&self) -> bool {
        !self.products.is_empty() || !self.categories.is_empty()
    }

    /// Whether it is for this buyer.
    pub fn welcomes(&self, buyer: Buyer) -> bool {
        let one_of = |wanted: &BTreeSet<i64>, is: Option<i64>| {
            wanted.is_empty() || is.is_some_and(|id| wanted.contains(&id))
        };
        one_of(&self.groups, buyer.group_id)
            && one_of(&self.zones, buyer.zone_id)
            && (!self.first_order || buyer.is_first_order)
    }
}

impl Promotion {
    /// Whether it changes lines one by one; the others take one sum off the order.
    ///
    /// A coupon always takes one sum, whatever goods it is for.
    pub fn is_of_lines(&self) -> bool {
        match self.action {
            Action::Price { .. } | Action::BuyGet { .. } => true,
            Action::Percent { .. } | Action::Amount { .. } => {
                self.coupon.is_none() && self.conditions.names_goods()
            }
            Action::FreeShipping | Action::Gift { .. } => false,
        }
    }
}

/// Promotions in the order in which they are tried.
pub fn in_order(promotions: &[Promotion]) -> Vec<&Promotion> {
    let mut sorted: Vec<&Promotion> = promotions.iter().collect();
    sorted.sort_by_key(|promotion| (std::cmp::Reverse(promotion.priority), promotion.id));
    sorted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn actions_are_read_and_wrong_values_refused() {
        assert_eq!(Action::parse("kPercent", &json!(100_000)), Ok(Action::Percent { rate_ppm: 100_000 }));
        assert_eq!(
            Action::parse("kBuyGet", &json!({"buy": 2, "free": 1})),
            Ok(Action::BuyGet { buy: 2, free: 1 })
        );
        for (key, value) in [
            ("kPercent", json!(0)),
            ("kPercent", json!(1_000_001)),
            ("kPercent", json!(0.5)),
            ("kAmount", json!(-1)),
            ("kPrice", json!("1")),
            ("kGift", json!(null)),
            ("kBuyGet", json!({"buy": 0, "free": 1})),
            ("kNothing", json!(1)),
        ] {
            assert!(Action::parse(key, &value).is_err(), "{key} {value}");
        }
    }

    #[test]
    fn conditions_are_strict_json() {
        assert_eq!(Conditions::parse(""), Ok(Conditions::default()));
        assert_eq!(Conditions::parse("{\"total\": 5000}").unwrap().total, Some(5000));
        assert!(Conditions::parse("{\"totl\": 5000}").is_err());
        let conditions = Conditions::parse("{\"categories\": [3], \"first_order\": true}").unwrap();
        assert!(conditions.covers(7, &[1, 3]) && !conditions.covers(7, &[1]));
        assert!(!conditions.welcomes(Buyer::default()));
        assert!(conditions.welcomes(Buyer { is_first_order: true, ..Buyer::default() }));
    }
}
