//! The benchmark suites: each suite plans tables, and `run` makes a report of them.

pub mod backends;
pub mod bls;
pub mod descriptor;
pub mod dh;
pub mod ec;
pub mod hsm;
pub mod list;
pub mod modexp;
pub mod openssl;
mod plan;
pub mod prepared;
mod repeat;
pub mod rsa;
pub mod service;
pub mod subjects;
pub mod tls;
pub mod vpn;

use std::time::Duration;

use crate::Failure;
use crate::environment;
use crate::interrupt;
use crate::measure::stack;
use crate::peers::{Found, Peer};
use crate::record::{self, Environment, FORMAT, Report, Table};

pub use crate::record::LIBRARY;
pub use descriptor::{Constructors, Descriptor, Suite};
pub use plan::{Effort, Plan, Work};

/// Receives the progress of a run.
pub trait Progress {
    /// Called at the start with the estimated time of all tables.
    fn begin(&mut self, whole: Duration);

    /// Called during `table`, with the completed part of the estimated time.
    fn at(&mut self, done: Duration, table: &str);

    /// Called before the first table, with what the report's head shows.
    fn head(&mut self, _environment: &Environment, _effort: &str, _peers: &[record::Peer]) {}

    /// Called after each table.
    fn finished(&mut self, _table: &Table, _peers: &[record::Peer]) {}

    /// Called at the end.
    fn end(&mut self);
}

/// Measures all tables of `suites`, with those of `peers` that support the operations. If
/// [`interrupt::flag`] is set, returns the finished tables and the names of the others.
///
/// # Errors
/// If a subject fails, or its result differs from the others'.
pub fn run(
    suites: &[Box<dyn Suite>],
    effort: Effort,
    peers: &[Peer],
    progress: &mut (dyn Progress + Send),
) -> Result<Report, Failure> {
    let environment = environment::current();
    stack::on_measuring_thread(|| {
        let wanted = |peer: &&Peer| suites.iter().any(|suite| peer.does(suite.descriptor().family));
        let peers: Vec<Found> = peers.iter().filter(wanted).map(|peer| peer.find()).collect();
        let mut plans: Vec<(&str, Plan<'_>)> = Vec::new();
        for suite in suites {
            let name = suite.descriptor().name;
            plans.extend(suite.plan(effort, &peers).into_iter().map(|plan| (name, plan)));
        }
        let records: Vec<_> = peers.iter().map(Found::record).collect();
        progress.head(&environment, effort.name(), &records);
        progress.begin(plans.iter().map(|(_, plan)| plan.time).sum());
        let mut before = Duration::ZERO;
        let (mut tables, mut unfinished) = (Vec::new(), Vec::new());
        for (suite, plan) in plans {
            if interrupt::requested() {
                unfinished.push(format!("{suite}: {}", plan.title));
                continue;
            }
            progress.at(before, &plan.title);
            let mut report = |part| progress.at(before + plan.time.mul_f64(part), &plan.title);
            let measured = match plan.work {
                Work::Itself(measure) => measure(&mut report),
                Work::Subjects(prepare) => prepare().and_then(|(setting, subjects)| {
                    subjects::measure(setting, subjects, &mut report)
                }),
            };
            match measured {
                Ok(table) => {
                    progress.finished(&table, &records);
                    tables.push(table);
                }
                // Any failure then counts as the interruption: child processes receive the signal,
                // too.
                Err(_) if interrupt::requested() => {
                    unfinished.push(format!("{suite}: {}", plan.title));
                }
                Err(failure) => return Err(failure),
            }
            before += plan.time;
        }
        progress.end();
        Ok(Report {
            format: FORMAT,
            environment,
            effort: effort.name().into(),
            peers: records,
            tables,
            unfinished,
        })
    })
}
