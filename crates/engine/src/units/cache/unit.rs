//! Units inside pages, out of the cache.

use std::sync::Arc;

use sandbox::{Session, Value};

use super::super::dependencies::Dependencies;
use super::super::error::UnitError;
use super::super::run::{Run, html};
use super::{Found, Kept, Keys, Kind, Place, Proof, What};

impl<'a> Run<'a> {
    /// The HTML of a unit, kept or made now; its dependencies are added.
    pub(in crate::units) fn kept_or_made(
        &mut self,
        session: &mut Session<'_>,
        name: &str,
        vars: Value,
        dependencies: &mut Dependencies,
    ) -> Result<String, UnitError> {
        let place = match self.find(name, &vars) {
            Some(Found::Hit(kept)) => return Ok(self.take(name, &kept, dependencies)),
            Some(Found::Miss(place)) => Some(place),
            None => None,
        };
        self.stale = place.as_ref().and_then(|place| place.stale.clone());
        self.busy.extend(place.as_ref().map(Place::key));
        let made =
            self.call(session, name, "main", vec![vars], dependencies).and_then(|value| html(name, value));
        if let Some(place) = place {
            self.busy.pop();
            let is_kept = made.is_ok()
                && self.writing.is_none()
                && dependencies.can_be_kept(self.visit)
                && !dependencies.has_reply();
            let kept = made.as_ref().ok().filter(|_| is_kept).map(|html| self.kept(html, dependencies));
            place.fill(kept.flatten(), dependencies.is_by_request());
        }
        made
    }

    fn find(&self, name: &str, vars: &Value) -> Option<Found<'a>> {
        self.since?;
        // What this run itself has written and not committed yet is nobody else's.
        if self.writing.is_some() {
            return None;
        }
        let (units, visit) = (self.units, self.visit);
        let heard = units.cache.catch_up()?;
        let keys = Keys::unit(name, vars, visit);
        Some(units.cache.find(keys, Kind::Unit, &self.busy, |kept| {
            units.cache.changed(&kept.proof, heard)?;
            kept.proof.check_moment(visit.now, &visit.settings)?;
            kept.proof.check_files(units.loader.tree(), &self.group)
        }))
    }

    fn kept(&self, html: &str, dependencies: &Dependencies) -> Option<Kept> {
        let proof = Proof::new(self.since?, dependencies.clone(), &self.visit.settings, &self.group);
        Some(Kept { what: What::Html(html.to_owned()), proof })
    }

    fn take(&mut self, name: &str, kept: &Arc<Kept>, dependencies: &mut Dependencies) -> String {
        dependencies.merge(kept.proof.dependencies());
        let at = self.report.begin(name, true);
        if let Some(row) = self.report.unit(at) {
            row.cache_allow = true;
            row.is_hit = true;
            row.is_by_request = dependencies.is_by_request();
            if self.visit.is_debugged {
                row.depends = dependencies.iter().map(|one| one.to_string()).collect();
            }
        }
        match &kept.what {
            What::Html(html) => html.clone(),
            // The keys of pages are others.
            What::Page(_) => String::new(),
        }
    }
}
