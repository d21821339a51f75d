//! A self-test where dividing time by call counts is wrong: two callers call a function equally
//! often, but it takes fifty times as long for one of them.
//!
//! gprof(1) splits a function's time among its callers in proportion to their calls, because it has
//! no stacks. The test compares its result with that of sampled stacks, and with the truth,
//! measured by spans around each call.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::call_graph;
use super::measured::{self, Settings};
use super::record::Profile;
use super::stacks::Base;
use cycloid_lab::Failure;
use cycloid_lab::measure::random::Random;
use cycloid_lab::measure::{OPERATIONS, Operation, clock, stack};

/// Iterations of the callee for the cheap caller: microseconds with optimisation of this crate, ten
/// times that without.
const CHEAP: u64 = 20_000;

/// Iterations for the expensive caller.
const DEAR: u64 = 50 * CHEAP;

/// The number of standard errors that chance does not explain.
const SURE: f64 = 6.0;

/// The relative error of the spans' own clocks.
const CLOCK: f64 = 0.001;

/// A caller's share of the callee's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The caller.
    pub caller: String,
    /// The number of calls.
    pub calls: u64,
    /// By call counts, as gprof(1) does: a share of 0 to 1.
    pub by_call_counts: f64,
    /// By sampled stacks.
    pub by_stacks: f64,
    /// The standard error at this number of samples, if the spans are correct.
    pub error: f64,
    /// By exact spans.
    pub by_spans: f64,
}

/// The result of the self-test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Samples in the callee.
    pub samples: u64,
    /// Both callers, the cheap one first.
    pub shares: [Share; 2],
}

#[inline(never)]
fn callee(rounds: u64) -> u64 {
    (0..rounds).fold(black_box(1), |sum, round| black_box(sum.wrapping_mul(5).wrapping_add(round)))
}

#[inline(never)]
fn cheap_caller(rounds: u64) -> Duration {
    let start = clock::now();
    black_box(callee(rounds));
    clock::now() - start
}

#[inline(never)]
fn dear_caller(rounds: u64) -> Duration {
    let start = clock::now();
    black_box(callee(rounds));
    clock::now() - start
}

/// Calls by both callers, with the times of the spans around them.
struct Calls {
    random: Random,
    number: u64,
    cheap: Duration,
    dear: Duration,
}

impl Calls {
    const fn new() -> Self {
        let none = Duration::ZERO;
        Self { random: Random::new(1), number: 0, cheap: none, dear: none }
    }
}

impl Operation for Calls {
    fn run(&mut self) -> Result<(), &'static str> {
        self.number += 1;
        // Operations of constant duration could stay in phase with the sampler.
        let size = 512 + self.random.below(1024) as u64;
        self.cheap += cheap_caller(CHEAP * size / 1024);
        self.dear += dear_caller(DEAR * size / 1024);
        Ok(())
    }

    fn output(&self) -> Vec<u64> {
        Vec::new()
    }

    fn heap_held(&self) -> Option<u64> {
        None
    }
}

/// Runs the self-test in this process.
///
/// # Errors
/// If sampling is not possible, or no samples are taken.
pub fn self_test(settings: Settings) -> Result<SelfTest, Failure> {
    stack::on_measuring_thread(|| {
        let mut calls = Calls::new();
        let base = Base::Function(OPERATIONS);
        let measured = measured::measure(&mut calls, Some(base), settings)?;
        let profile = Profile {
            title: String::new(),
            operations: 0,
            roots: measured.stacks.tree(1.0),
            waits: Vec::new(),
            sampling: Some(measured.sampling),
        };
        judge(&profile, &calls)
    })
}

fn judge(profile: &Profile, calls: &Calls) -> Result<SelfTest, Failure> {
    let mut callee = None;
    profile.walk(&mut |node, _| {
        if node.name.ends_with("self_test::callee") {
            callee = Some(&*node.name);
        }
    });
    let callee = callee.ok_or_else(|| {
        Failure::new("no sample names the function that uses the time", "is the program stripped?")
    })?;
    let [callers, _] = call_graph::edges(profile, callee);
    let samples: u64 = callers.iter().map(|edge| edge.samples).sum();
    let spans = (calls.cheap + calls.dear).as_secs_f64();
    let share = |caller: &str, span: Duration| {
        let of_caller = callers.iter().filter(|edge| edge.name.ends_with(caller));
        let by_stacks = of_caller.map(|edge| edge.samples).sum::<u64>() as f64 / samples as f64;
        let by_spans = span.as_secs_f64() / spans;
        Share {
            caller: caller.into(),
            calls: calls.number,
            by_call_counts: 0.5,
            by_stacks,
            // The binomial standard error.
            error: (by_spans * (1.0 - by_spans) / samples as f64).sqrt(),
            by_spans,
        }
    };
    Ok(SelfTest {
        samples,
        shares: [share("cheap_caller", calls.cheap), share("dear_caller", calls.dear)],
    })
}

impl SelfTest {
    /// Returns whether the stacks are correct within their error, and the call counts are not.
    pub fn passes(&self) -> bool {
        self.shares.iter().all(|share| {
            let most = SURE * share.error + CLOCK;
            (share.by_stacks - share.by_spans).abs() <= most
                && (share.by_call_counts - share.by_spans).abs() > most
        })
    }

    /// Formats the result as a text table.
    pub fn text(&self) -> String {
        let mut text = format!(
            "The time of `callee`, by who called it\n\n{:14} {:>8} {:>15} {:>10} {:>8} {:>15}\n",
            "caller", "calls", "by call counts", "by stacks", "error", "by exact spans"
        );
        for Share { caller, calls, by_call_counts, by_stacks, error, by_spans } in &self.shares {
            let _ = writeln!(
                text,
                "{caller:14} {calls:8} {:13.2} % {:8.2} % {:6.2} % {:13.2} %",
                100.0 * by_call_counts,
                100.0 * by_stacks,
                100.0 * error,
                100.0 * by_spans
            );
        }
        let verdict = if self.passes() {
            "the stacks are correct within their error; dividing by call counts, as gprof does, is not"
        } else {
            "the stacks are off by more than their error, or call counts are correct, too"
        };
        let _ = writeln!(text, "\n{} samples: {verdict}", self.samples);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Node;
    use super::*;

    /// Judges this many samples per caller, where the truth is 2 % to 98 %.
    fn judged(cheap: u64, dear: u64) -> SelfTest {
        let node = |name: &str, samples, children| Node {
            name: name.into(),
            samples,
            children,
            ..Node::default()
        };
        let callee = |samples| vec![node("x::self_test::callee", samples, Vec::new())];
        let roots = vec![
            node("x::self_test::cheap_caller", cheap, callee(cheap)),
            node("x::self_test::dear_caller", dear, callee(dear)),
        ];
        let profile = Profile {
            title: String::new(),
            operations: 0,
            roots,
            waits: Vec::new(),
            sampling: None,
        };
        let calls = Calls {
            number: 100,
            cheap: Duration::from_millis(20),
            dear: Duration::from_millis(980),
            ..Calls::new()
        };
        judge(&profile, &calls).unwrap()
    }

    #[test]
    fn correct_shares_pass_and_wrong_shares_fail() {
        assert!(judged(20, 980).passes());
        assert!(judged(14, 986).passes());
        assert!(!judged(500, 500).passes());
        assert!(!judged(60, 940).passes() && judged(0, 100).passes());
        // Too few samples for a conclusion.
        assert!(!judged(1, 1).passes());
        assert!(
            judged(20, 980).text().contains("cheap_caller        100         50.00 %     2.00 %")
        );
    }
}
