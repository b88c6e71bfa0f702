//! What the debugger tells of a page: its units, their statements and times.

use std::time::Duration;

use serde_json::{Value as Json, json};

/// Most statements that are told one by one.
const MOST: usize = 500;
/// Longest header with lines of the log.
const HEADER: usize = 6000;
/// Most characters of a statement.
const LONGEST: usize = 2000;

/// One statement or typed call.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    unit: String,
    text: String,
    rows: usize,
    took: Duration,
}

/// One unit of a page.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitRow {
    /// Its name.
    pub(crate) unit: String,
    /// Whether its manifest wants it kept.
    pub(crate) cache_on: bool,
    /// Whether it can be kept: nothing in it belongs to this visitor only.
    pub(crate) cache_allow: bool,
    /// Whether it came from the cache.
    pub(crate) is_hit: bool,
    /// What made the kept one stale.
    pub(crate) stale: Option<String>,
    /// What its answer was made of.
    pub(crate) depends: Vec<String>,
    /// Whether its answer differs by address and fields of the request.
    pub(crate) is_by_request: bool,
    /// Its time, with the units in it.
    pub(crate) took: Duration,
    queries: usize,
    query_time: Duration,
    error: Option<String>,
}

/// What the debugger tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    units: Vec<UnitRow>,
    queries: Vec<Query>,
    debug: Vec<Json>,
    log: Vec<Json>,
    sql_count: usize,
    sql_time: Duration,
    compile: Duration,
}

impl Report {
    /// A unit begins; answers its place in the report.
    pub(crate) fn begin(&mut self, unit: &str, cache_on: bool) -> usize {
        self.units.push(UnitRow { unit: unit.to_owned(), cache_on, ..UnitRow::default() });
        self.units.len() - 1
    }

    /// The row of a unit that began.
    pub(crate) fn unit(&mut self, at: usize) -> Option<&mut UnitRow> {
        self.units.get_mut(at)
    }

    /// A unit failed.
    pub(crate) fn fail(&mut self, at: usize, error: &str) {
        if let Some(row) = self.units.get_mut(at) {
            row.error = Some(error.to_owned());
        }
    }

    /// A statement or typed call of a unit.
    pub(crate) fn query(&mut self, at: usize, text: &str, rows: usize, took: Duration) {
        self.sql_count += 1;
        self.sql_time += took;
        let Some(row) = self.units.get_mut(at) else { return };
        row.queries += 1;
        row.query_time += took;
        if self.queries.len() < MOST {
            let text = text.chars().take(LONGEST).collect();
            self.queries.push(Query { unit: row.unit.clone(), text, rows, took });
        }
    }

    /// How many statements and typed calls there were, and how long they took.
    pub(crate) fn queries(&self) -> (usize, Duration) {
        (self.sql_count, self.sql_time)
    }

    /// Time that went into finding and compiling units.
    pub(crate) fn compiled(&mut self, took: Duration) {
        self.compile += took;
    }

    /// A value that a unit shows to the debugger.
    pub(crate) fn debug(&mut self, unit: &str, value: Json) {
        if self.debug.len() < MOST {
            self.debug.push(json!({"unit": unit, "value": value}));
        }
    }

    /// A line that a unit writes to the log.
    pub(crate) fn log(&mut self, unit: &str, level: &str, text: &str) {
        if self.log.len() < MOST {
            self.log.push(json!({"unit": unit, "level": level, "text": text}));
        }
    }

    /// The last lines that units wrote to the log, as a header carries them; none where there are none.
    pub(crate) fn log_header(&self) -> Option<String> {
        let mut lines = Vec::new();
        let mut left = HEADER;
        for line in self.log.iter().rev() {
            let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let line =
                super::path::encoded(&format!("{} {}: {}\n", word("level"), word("unit"), word("text")));
            // An address begins with a slash.
            let line = line.trim_start_matches('/').to_owned();
            let Some(rest) = usize::checked_sub(left, line.len()) else { break };
            left = rest;
            lines.push(line);
        }
        lines.reverse();
        (!lines.is_empty()).then(|| lines.concat())
    }

    /// The report as the debugger reads it. Times are in seconds.
    pub(crate) fn told(&self, template: &str, language: &str, is_cache_on: bool) -> Json {
        let units: Vec<Json> = self.units.iter().map(unit_told).collect();
        let queries: Vec<Json> = self.queries.iter().map(query_told).collect();
        json!({
            "compile": seconds(self.compile),
            "sql_count": self.sql_count,
            "sql_time": seconds(self.sql_time),
            "cache": is_cache_on,
            "template": template,
            "lang": language,
            "units": units,
            "queries": queries,
            "debug": self.debug,
            "log": self.log,
        })
    }
}

fn unit_told(row: &UnitRow) -> Json {
    let has_queries = row.queries > 0;
    json!({
        "unit": row.unit,
        "cache_on": row.cache_on,
        "cache_allow": row.cache_allow,
        "hit": row.is_hit,
        "stale": row.stale,
        "depends": row.depends,
        "by_request": row.is_by_request,
        "time": seconds(row.took),
        "queries": has_queries.then_some(row.queries),
        "query_time": has_queries.then(|| seconds(row.query_time)),
        "error": row.error,
    })
}

fn query_told(query: &Query) -> Json {
    json!({"unit": query.unit, "query": query.text, "rows": query.rows, "time": seconds(query.took)})
}

/// Seconds, to the microsecond.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_without_queries_tells_none() {
        let mut report = Report::default();
        let home = report.begin("home", true);
        let menu = report.begin("menu", false);
        report.query(home, "select 1", 1, Duration::from_millis(2));
        report.fail(menu, "Unit not found: menu");
        let told = report.told("default", "en", true);
        assert_eq!((&told["sql_count"], &told["sql_time"]), (&json!(1), &json!(0.002)));
        assert_eq!(told["units"][0]["queries"], json!(1));
        assert_eq!(
            (&told["units"][1]["queries"], &told["units"][1]["query_time"]),
            (&Json::Null, &Json::Null)
        );
        assert_eq!(told["units"][1]["error"], "Unit not found: menu");
    }
}
