//! The format of profiles: raw measurements, nothing derived.

use serde::{Deserialize, Serialize};

use cycloid_lab::record::{Environment, Parameters, Ratio};

/// The version of this format; readers must reject later ones. Format 1 had only spans and is still
/// readable.
pub const FORMAT: u32 = 2;

/// A run of `cycloid profile`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// Machine, compiler and date.
    pub environment: Environment,
    /// The workload, by its name on the command line.
    pub workload: String,
    /// The sizes.
    pub parameters: Parameters,
    /// The name of an operation, such as `signature`.
    pub unit: String,
    /// The measured configurations.
    pub configurations: Vec<Configuration>,
    /// The profiles.
    pub profiles: Vec<Profile>,
    /// The cost of the measurement itself; `None` for a running service, which is measured only
    /// once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The time of an operation in one configuration of the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Its name.
    pub name: String,
    /// Concurrent clients.
    pub clients: usize,
    /// Timed operations.
    pub operations: usize,
    /// The median time of one operation.
    pub median_seconds: f64,
    /// Its 95 % bootstrap interval.
    pub interval_seconds: [f64; 2],
    /// The median time of first uses; `None` if first uses do no extra work.
    pub first_seconds: Option<f64>,
    /// Timed first uses.
    pub first_uses: usize,
}

/// The times of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The title.
    pub title: String,
    /// The number of operations.
    pub operations: u64,
    /// The outermost spans of all threads.
    pub roots: Vec<Node>,
    /// Times spent waiting.
    pub waits: Vec<Wait>,
    /// The sampling statistics; `None` if the times are those of measured spans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// The accuracy of a sampled profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Requested samples per second of processor time.
    pub requested_hertz: f64,
    /// Delivered samples per second of processor time.
    pub delivered_hertz: f64,
    /// All samples. A count of n has a standard error of √n.
    pub samples: u64,
    /// Samples without callers.
    pub cut_short: u64,
    /// Samples dropped because the buffer was full.
    pub lost: u64,
    /// Seconds of processor time during sampling.
    pub processor_seconds: f64,
    /// Seconds of that spent on sampling itself, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler_seconds: Option<f64>,
}

/// A span within another, or a function called by another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// The number of calls; 0 for samples.
    pub calls: u64,
    /// The number of samples, including inner ones; 0 for measured spans.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub samples: u64,
    /// Total seconds, including inner ones.
    pub seconds: f64,
    /// The inner spans or callees.
    pub children: Vec<Node>,
}

/// Time spent waiting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// The awaited event.
    pub name: String,
    /// The number of waits.
    pub times: u64,
    /// Total seconds.
    pub seconds: f64,
}

/// The cost of the measurement itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// Nanoseconds per span; `None` without spans.
    pub span_ns: Option<f64>,
    /// Nanoseconds per span while recording is off.
    pub span_off_ns: Option<f64>,
    /// Time of an operation with recording or sampling divided by the time without, in alternating
    /// turns.
    pub ratio: Ratio,
}

impl Profile {
    /// Builds a profile from paths; each path comes after the path that contains it.
    ///
    /// # Panics
    /// If a path is empty, or its containing path was not given before.
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
                siblings = &mut outer.expect("the containing path comes first").children;
            }
            siblings.push(Node { name: (*name).into(), calls, seconds, ..Node::default() });
        }
        Self { title: title.into(), operations, roots, waits, sampling: None }
    }

    /// Calls `visit` with each node and the nodes that contain it, the outermost first.
    pub(super) fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Node, &[&'a Node])) {
        let mut within = Vec::new();
        self.roots.iter().for_each(|root| root.walk(&mut within, visit));
    }

    /// Returns the total seconds of all roots.
    pub fn seconds(&self) -> f64 {
        self.roots.iter().map(|root| root.seconds).sum()
    }
}

impl Node {
    /// Returns its seconds excluding inner nodes.
    pub fn own_seconds(&self) -> f64 {
        let within: f64 = self.children.iter().map(|child| child.seconds).sum();
        (self.seconds - within).max(0.0)
    }

    /// Returns its samples excluding inner nodes.
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
