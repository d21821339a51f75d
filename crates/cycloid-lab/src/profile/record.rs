//! The one form of a profile: what was measured, and nothing that was made of it.

use serde::{Deserialize, Serialize};

use crate::record::{Environment, Parameters, Ratio};

/// The version of this form; a reader of a later one must not guess. Format 1 had spans only, and is read,
/// too.
pub const FORMAT: u32 = 2;

/// A run of `cycloid profile`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// Where and when.
    pub environment: Environment,
    /// What was run, by its name on the command line.
    pub workload: String,
    /// With what sizes.
    pub parameters: Parameters,
    /// What an operation is called, such as `signature`.
    pub unit: String,
    /// Ways to run it.
    pub configurations: Vec<Configuration>,
    /// Where the time went.
    pub profiles: Vec<Profile>,
    /// What the measuring itself costs; none of a service that runs, which nothing is repeated with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

/// How long an operation takes in one way to run the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Its name.
    pub name: String,
    /// Clients at once.
    pub clients: usize,
    /// Operations that were timed.
    pub operations: usize,
    /// For one operation: the median.
    pub median_seconds: f64,
    /// Its 95 % bootstrap interval.
    pub interval_seconds: [f64; 2],
    /// The median of first uses; none where there is nothing that only the first use does.
    pub first_seconds: Option<f64>,
    /// First uses that were timed.
    pub first_uses: usize,
}

/// Where the time of a run went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// What was run.
    pub title: String,
    /// How many operations.
    pub operations: u64,
    /// The outermost spans of all threads.
    pub roots: Vec<Node>,
    /// Time in which nothing was done.
    pub waits: Vec<Wait>,
    /// How it was sampled; none where the times are those of measured spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// How well the time of a profile is known that comes from samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Samples a second of processor time that the system was asked for.
    pub requested_hertz: f64,
    /// Those that came.
    pub delivered_hertz: f64,
    /// All samples. What is seen in n of them has a standard error of √n.
    pub samples: u64,
    /// Those whose callers were not found.
    pub cut_short: u64,
    /// Those that found no room.
    pub lost: u64,
    /// Seconds of processor time in which they were taken.
    pub processor_seconds: f64,
    /// Seconds that the sampling itself took of them, where it was timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_seconds: Option<f64>,
}

/// A span within another, or a function as another one called it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// How often; 0 where samples do not tell.
    pub calls: u64,
    /// In how many samples, with all within it; 0 where spans were measured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub samples: u64,
    /// How long together, with all within it.
    pub seconds: f64,
    /// What lies within it.
    pub children: Vec<Node>,
}

/// Time in which something waited.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// For what.
    pub name: String,
    /// How often.
    pub times: u64,
    /// How long together.
    pub seconds: f64,
}

/// What the measuring itself costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Nanoseconds of a span; none where there are none.
    pub span_ns: Option<f64>,
    /// Nanoseconds of a span while nothing is recorded.
    pub span_off_ns: Option<f64>,
    /// Time of an operation with recording or sampling, in proportion to that without, in turns.
    pub ratio: Ratio,
}

impl Profile {
    /// A profile of paths, each given after the one that it lies in.
    ///
    /// # Panics
    /// Where one is empty, or lies in none that was given before.
    pub fn from_paths<'a>(
        title: impl Into<String>,
        operations: u64,
        paths: impl IntoIterator<Item = (&'a [&'a str], u64, f64)>,
        waits: Vec<Wait>,
    ) -> Self {
        let mut roots = Vec::new();
        for (path, calls, seconds) in paths {
            let (name, within) = path.split_last().expect("a path has a name");
            let mut siblings = &mut roots;
            for name in within {
                let outer = siblings.iter_mut().find(|node: &&mut Node| node.name == **name);
                siblings = &mut outer.expect("what it lies in was given before").children;
            }
            siblings.push(Node { name: (*name).into(), calls, seconds, ..Node::default() });
        }
        Self { title: title.into(), operations, roots, waits, sampling: None }
    }

    /// Calls `visit` with each node, and with those that it lies in, the outermost first.
    pub(super) fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node, &[&'a Node])) {
        let mut within = Vec::new();
        self.roots.iter().for_each(|root| root.walk(&mut within, visit));
    }

    /// Seconds of all roots.
    pub fn seconds(&self) -> f64 {
        self.roots.iter().map(|root| root.seconds).sum()
    }
}

impl Node {
    /// Seconds of it that are not of anything within it.
    pub fn own_seconds(&self) -> f64 {
        let within: f64 = self.children.iter().map(|child| child.seconds).sum();
        (self.seconds - within).max(0.0)
    }

    /// Samples of it that are not of anything within it.
    pub fn own_samples(&self) -> u64 {
        let within: u64 = self.children.iter().map(|child| child.samples).sum();
        self.samples.saturating_sub(within)
    }

    fn walk<'a>(
        &'a self,
        within: &mut Vec<&'a Self>,
        visit: &mut dyn FnMut(&'a Self, &[&'a Self]),
    ) {
        visit(self, within);
        within.push(self);
        self.children.iter().for_each(|child| child.walk(within, visit));
        within.pop();
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
