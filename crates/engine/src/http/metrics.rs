//! Counts and times for those who watch the server, in Prometheus' text form.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the buckets of times, in seconds.
const BUCKETS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];

/// What was counted since the start. Names come from this build's lists only, so the table stays small.
#[derive(Default)]
pub(crate) struct Metrics {
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    outcomes: BTreeMap<(&'static str, &'static str), u64>,
    times: BTreeMap<&'static str, Times>,
    jobs: BTreeMap<(&'static str, &'static str), u64>,
    job_rows: BTreeMap<&'static str, u64>,
    books: BTreeMap<&'static str, i64>,
}

#[derive(Default)]
struct Times {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    /// Counts one request: its command, `done` or the name of its refusal, and its time.
    pub(crate) fn count(&self, command: &'static str, outcome: &'static str, took: Duration) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        *table.outcomes.entry((command, outcome)).or_default() += 1;
        let times = table.times.entry(command).or_default();
        let seconds = took.as_secs_f64();
        times.count += 1;
        times.seconds += seconds;
        for (bucket, end) in times.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= end);
        }
    }

    /// Counts what a job of the engine did.
    pub(crate) fn job(&self, job: &'static str, outcome: &'static str, rows: u64) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        *table.jobs.entry((job, outcome)).or_default() += 1;
        *table.job_rows.entry(job).or_default() += rows;
    }

    /// Notes how many rows a check of the books found wrong.
    pub(crate) fn books(&self, check: &'static str, wrong: i64) {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).books.insert(check, wrong);
    }

    /// The page.
    pub(crate) fn page(&self) -> String {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = table.write(&mut page);
        page
    }
}

impl Table {
    fn write(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page, "# HELP shopwright_requests_total Requests by command and outcome.")?;
        writeln!(page, "# TYPE shopwright_requests_total counter")?;
        for ((command, outcome), count) in &self.outcomes {
            writeln!(
                page,
                "shopwright_requests_total{{command=\"{command}\",outcome=\"{outcome}\"}} {count}"
            )?;
        }
        writeln!(page, "# HELP shopwright_request_seconds Time from request to answer.")?;
        writeln!(page, "# TYPE shopwright_request_seconds histogram")?;
        for (command, times) in &self.times {
            for (end, count) in BUCKETS.iter().zip(times.buckets) {
                writeln!(
                    page,
                    "shopwright_request_seconds_bucket{{command=\"{command}\",le=\"{end}\"}} {count}"
                )?;
            }
            let Times { count, seconds, .. } = times;
            writeln!(page, "shopwright_request_seconds_bucket{{command=\"{command}\",le=\"+Inf\"}} {count}")?;
            writeln!(page, "shopwright_request_seconds_sum{{command=\"{command}\"}} {seconds}")?;
            writeln!(page, "shopwright_request_seconds_count{{command=\"{command}\"}} {count}")?;
        }
        self.write_jobs(page)?;
        writeln!(page, "# HELP shopwright_build_info The engine's build.")?;
        writeln!(page, "# TYPE shopwright_build_info gauge")?;
        writeln!(page, "shopwright_build_info{{build=\"{}\"}} 1", wire::BUILD)
    }

    fn write_jobs(&self, page: &mut String) -> std::fmt::Result {
        writeln!(page, "# HELP shopwright_jobs_total Rounds of the engine's jobs that had something to do.")?;
        writeln!(page, "# TYPE shopwright_jobs_total counter")?;
        for ((job, outcome), count) in &self.jobs {
            writeln!(page, "shopwright_jobs_total{{job=\"{job}\",outcome=\"{outcome}\"}} {count}")?;
        }
        writeln!(page, "# HELP shopwright_job_rows_total What they did.")?;
        writeln!(page, "# TYPE shopwright_job_rows_total counter")?;
        for (job, rows) in &self.job_rows {
            writeln!(page, "shopwright_job_rows_total{{job=\"{job}\"}} {rows}")?;
        }
        writeln!(
            page,
            "# HELP shopwright_books_wrong Rows that contradict others, as this node last checked."
        )?;
        writeln!(page, "# TYPE shopwright_books_wrong gauge")?;
        for (check, wrong) in &self.books {
            writeln!(page, "shopwright_books_wrong{{check=\"{check}\"}} {wrong}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_command_and_outcome() {
        let metrics = Metrics::default();
        metrics.count("AGENT_MEMORY_LIST", "done", Duration::from_millis(2));
        metrics.count("AGENT_MEMORY_LIST", "ip_blocked", Duration::from_micros(10));
        let page = metrics.page();
        assert!(
            page.contains(
                "shopwright_requests_total{command=\"AGENT_MEMORY_LIST\",outcome=\"ip_blocked\"} 1"
            )
        );
        assert!(
            page.contains("shopwright_request_seconds_bucket{command=\"AGENT_MEMORY_LIST\",le=\"0.001\"} 1")
        );
        assert!(page.contains("shopwright_request_seconds_count{command=\"AGENT_MEMORY_LIST\"} 2"));
    }
}
