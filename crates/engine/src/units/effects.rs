//! What a unit sets going, collected while it runs and done when its answer stands.

use db::reviews::{self, NewReview};
use db::{DbError, Tx, events};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::mail::{self, NewMail};

/// Most events of one run.
const MOST: usize = 100;
/// Most mails of one run.
const MOST_MAILS: usize = 20;

/// An event that a unit raises.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Raised {
    /// Key, of the registry's branch `event_key`.
    pub(crate) key: String,
    /// What it carries.
    pub(crate) data: Json,
    /// The person it is addressed to.
    pub(crate) to_user: Option<i64>,
    /// The group it is addressed to.
    pub(crate) to_group: Option<i64>,
}

/// A mail that a unit sends.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Letter {
    /// What happened: the same is told once.
    pub(crate) key: String,
    /// Whom it goes to.
    pub(crate) to: String,
    /// Which mail.
    pub(crate) template: String,
    /// Its language.
    pub(crate) language: String,
    /// What it shows.
    pub(crate) data: Json,
}

/// What a run sets going.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Effects {
    events: Vec<Raised>,
    reviews: Vec<NewReview>,
    mails: Vec<Letter>,
}

impl Effects {
    /// Adds an event; `false` is one too many.
    pub(crate) fn raise(&mut self, event: Raised) -> bool {
        if self.events.len() >= MOST {
            return false;
        }
        self.events.push(event);
        true
    }

    /// Adds what a visitor wrote about a product; `false` is one too many.
    pub(crate) fn review(&mut self, review: NewReview) -> bool {
        // One form is one review.
        if !self.reviews.is_empty() {
            return false;
        }
        self.reviews.push(review);
        true
    }

    /// Adds a mail; `false` is one too many.
    pub(crate) fn post(&mut self, letter: Letter) -> bool {
        if self.mails.len() >= MOST_MAILS {
            return false;
        }
        self.mails.push(letter);
        true
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.reviews.is_empty() && self.mails.is_empty()
    }

    /// Does all of it in a transaction.
    pub(crate) fn carry_out(&self, tx: &mut Tx, user_id: Option<i64>, now: Timestamp) -> Result<(), DbError> {
        for review in &self.reviews {
            let id = reviews::add(tx, review, now)?;
            let new = events::NewEvent {
                user_id,
                to_user: None,
                to_group: None,
                princ_id: None,
                key: "kReviewNew".to_owned(),
                data: json!({"review": id, "product": review.product_id, "rating": review.rating}),
                now,
            };
            events::create(tx, &new)?;
        }
        for event in &self.events {
            let new = events::NewEvent {
                user_id,
                to_user: event.to_user,
                to_group: event.to_group,
                princ_id: None,
                key: event.key.clone(),
                data: event.data.clone(),
                now,
            };
            events::create(tx, &new)?;
        }
        for letter in &self.mails {
            let new = NewMail {
                key: &letter.key,
                to: &letter.to,
                template: &letter.template,
                language: &letter.language,
                data: &letter.data,
            };
            mail::queue(tx, &new, now)?;
        }
        Ok(())
    }
}
