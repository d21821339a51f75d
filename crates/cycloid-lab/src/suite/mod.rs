//! What can be measured: each suite plans tables, and `run` makes a report of them.

mod backends;
pub mod bls;
pub mod dh;
pub mod ec;
pub mod modexp;
mod prepared;
pub mod rsa;
mod subjects;
#[cfg(feature = "tls")]
pub mod tls;

use std::time::Duration;

use crate::Failure;
use crate::environment;
use crate::measure::stack;
use crate::peers::{Family, Found, Peer};
use crate::record::{FORMAT, Report, Table};

/// The library's name, and the group of its rows that are not strategies.
const LIBRARY: &str = "Cycloid";

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
    /// Measures it.
    pub measure: Measure<'a>,
}

/// Measures a table, and tells meanwhile how much of it is done, 0 to 1.
pub type Measure<'a> = Box<dyn FnOnce(&mut dyn FnMut(f64)) -> Result<Table, Failure> + 'a>;

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

/// Measures all tables of `suites` beside those of `peers` that have something to do in them.
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
        let plans: Vec<Plan<'_>> =
            suites.iter().flat_map(|suite| suite.plan(effort, &peers)).collect();
        progress.begin(plans.iter().map(|plan| plan.time).sum());
        let mut before = Duration::ZERO;
        let mut tables = Vec::new();
        for plan in plans {
            progress.at(before, &plan.title);
            let mut report = |part| progress.at(before + plan.time.mul_f64(part), &plan.title);
            tables.push((plan.measure)(&mut report)?);
            before += plan.time;
        }
        progress.end();
        Ok(Report {
            format: FORMAT,
            environment,
            effort: effort.name().into(),
            peers: peers.iter().map(Found::record).collect(),
            tables,
        })
    })
}
