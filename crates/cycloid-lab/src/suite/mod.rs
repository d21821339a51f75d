//! What can be measured: each suite plans tables, and `run` makes a report of them.

mod backends;
pub mod bls;
pub mod dh;
pub mod ec;
pub mod hsm;
pub mod modexp;
mod prepared;
pub mod rsa;
pub(crate) mod subjects;
#[cfg(feature = "tls")]
pub mod tls;
#[cfg(feature = "vpn")]
pub mod vpn;

use std::time::Duration;

use crate::Failure;
use crate::environment;
use crate::interrupt;
use crate::measure::stack;
use crate::peers::{Family, Found, Peer};
use crate::record::{FORMAT, Report, Table};

use subjects::{Setting, Subject};

/// The library's name, and the group of its rows that are not strategies.
pub(crate) const LIBRARY: &str = "Cycloid";

/// How much time is given for how much certainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Well under a minute for all suites.
    Quick,
    /// Under four minutes.
    Plain,
    /// As long as it takes to see a tenth of a per cent.
    Full,
}

impl Effort {
    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Plain => "plain",
            Self::Full => "full",
        }
    }
}

/// A family of tables.
pub trait Suite: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it measures, in a line.
    fn about(&self) -> &'static str;

    /// What its peers have to do.
    fn family(&self) -> Family;

    /// The tables that it will make.
    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>>;
}

/// A table that is still to be measured.
pub struct Plan<'a> {
    /// What it will show, in a few words.
    pub title: String,
    /// How long the measuring takes, roughly.
    pub time: Duration,
    /// How it is measured.
    pub(crate) work: Work<'a>,
}

/// What there is to measure for a table.
pub(crate) enum Work<'a> {
    /// Operations side by side, each of which can be looked at alone, too.
    Subjects(Prepare<'a>),
    /// What measures itself.
    Itself(Measure<'a>),
}

/// Makes the subjects of a table.
pub(crate) type Prepare<'a> = Box<dyn FnOnce() -> Result<(Setting, Vec<Subject>), Failure> + 'a>;

/// Measures a table, and tells meanwhile how much of it is done, 0 to 1.
pub(crate) type Measure<'a> = Box<dyn FnOnce(&mut dyn FnMut(f64)) -> Result<Table, Failure> + 'a>;

/// Hears how far a run is.
pub trait Progress {
    /// How long all tables take together, roughly.
    fn begin(&mut self, whole: Duration);

    /// So much of `whole` is done, and this table is being measured.
    fn at(&mut self, done: Duration, table: &str);

    /// All is done.
    fn end(&mut self);
}

/// Every suite there is, with its usual sizes.
pub fn all(effort: Effort) -> Vec<Box<dyn Suite>> {
    vec![
        Box::new(modexp::ModExp::usual(effort)),
        Box::new(rsa::Rsa::usual(effort)),
        Box::new(dh::Dh::usual(effort)),
        Box::new(ec::Ec::usual()),
        Box::new(bls::Bls::usual(effort)),
        #[cfg(feature = "tls")]
        Box::new(tls::Tls),
    ]
}

/// Measures all tables of `suites` beside those of `peers` that have something to do in them. Where
/// [`interrupt::flag`] is set, what is finished by then, and the names of the rest.
///
/// # Errors
/// A subject that fails, or whose result is not that of the others.
pub fn run(
    suites: &[Box<dyn Suite>],
    effort: Effort,
    peers: &[Peer],
    progress: &mut (dyn Progress + Send),
) -> Result<Report, Failure> {
    let environment = environment::current();
    stack::on_measuring_thread(|| {
        let wanted = |peer: &&Peer| suites.iter().any(|suite| peer.does(suite.family()));
        let peers: Vec<Found> = peers.iter().filter(wanted).map(|peer| peer.find()).collect();
        let mut plans: Vec<(&str, Plan<'_>)> = Vec::new();
        for suite in suites {
            plans.extend(suite.plan(effort, &peers).into_iter().map(|plan| (suite.name(), plan)));
        }
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
                Ok(table) => tables.push(table),
                // Whatever fails then, children that had the signal too among it.
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
            peers: peers.iter().map(Found::record).collect(),
            tables,
            unfinished,
        })
    })
}
