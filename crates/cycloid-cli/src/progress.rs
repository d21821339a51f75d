//! The progress of a run: tables on stdout as they are finished, and a bar on stderr if it is a
//! terminal.

use std::time::{Duration, Instant};

use cycloid_lab::record::{Environment, Peer, Table};
use cycloid_lab::suite::Progress;
use cycloid_report::tables;
use indicatif::{ProgressBar, ProgressStyle};

use cycloid_command::{Stop, output};

/// The interval between redraws. Drawing takes time from the measurement, so it is rare, and no
/// other thread does it.
pub(crate) const INTERVAL: Duration = Duration::from_millis(250);

pub(crate) struct Bar {
    bar: ProgressBar,
    start: Instant,
    drawn: Option<Instant>,
    /// The width of tables that are printed as they are finished.
    width: Option<usize>,
    printed: Result<(), Stop>,
}

impl Bar {
    /// With a width, prints each table when it is finished.
    pub(crate) fn new(width: Option<usize>) -> Self {
        let bar = if console::user_attended_stderr() {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}")
                .expect("the template is well-formed");
            ProgressBar::new(0).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        Self { bar, start: Instant::now(), drawn: None, width, printed: Ok(()) }
    }

    /// Returns the error of the first table that could not be printed.
    pub(crate) fn printed(self) -> Result<(), Stop> {
        self.printed
    }

    /// Prints the versions of the peers that are not among the `known` ones.
    pub(crate) fn more_peers(&mut self, peers: &[Peer], known: &[Peer]) {
        let is_known = |peer: &&Peer| known.iter().any(|other| other.name == peer.name);
        let more: Vec<Peer> = peers.iter().filter(|peer| !is_known(peer)).cloned().collect();
        if let Some(width) = self.width {
            self.print(&tables::more_peers(&more, width));
        }
    }

    fn print(&mut self, text: &str) {
        if self.printed.is_ok() {
            self.printed = self.bar.suspend(|| output::print(text));
        }
    }
}

impl Progress for Bar {
    fn head(&mut self, environment: &Environment, effort: &str, peers: &[Peer]) {
        if let Some(width) = self.width {
            self.print(&tables::head(environment, effort, peers, width));
        }
    }

    fn finished(&mut self, table: &Table, peers: &[Peer]) {
        if let Some(text) = self.width.and_then(|width| tables::finished(table, peers, width)) {
            self.print(&text);
        }
    }

    fn begin(&mut self, whole: Duration) {
        self.start = Instant::now();
        self.bar.reset();
        self.bar.set_length(whole.as_millis() as u64);
    }

    fn at(&mut self, done: Duration, table: &str) {
        let now = Instant::now();
        if self.drawn.is_some_and(|drawn| now - drawn < INTERVAL) {
            return;
        }
        self.drawn = Some(now);
        let done = done.as_millis() as u64;
        let whole = self.bar.length().unwrap_or(0);
        self.bar.set_position(done.min(whole));
        // The rest of the plan, scaled by the ratio of real to planned time so far.
        let left = if done == 0 {
            whole as f64 / 1000.0
        } else {
            self.start.elapsed().as_secs_f64() * (whole - done.min(whole)) as f64 / done as f64
        };
        self.bar.set_message(format!("{left:.0} s left, {table}"));
    }

    fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}
