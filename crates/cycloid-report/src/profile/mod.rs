//! Shows where time is spent: trees of spans or of sampled stacks, in several common views.
//!
//! Time is attributed to the measured call path. A function that is cheap for one caller and
//! expensive for another appears as both; dividing its time by call counts would hide this, as
//! [`self_test`] shows.

mod call_graph;
mod difference;
mod flame_graph;
mod flat;
mod folded;
mod measured;
mod names;
mod raw;
mod record;
mod self_test;
mod speedscope;
mod stacks;
mod symbols;
#[cfg(test)]
mod tests;
mod text;
mod workload;

pub use cycloid_profiler::HERTZ;
pub use difference::{Change, Difference, Verdict, difference_text, differences};
pub use flame_graph::{flame_graph, flame_graph_of_difference};
pub use folded::folded;
pub use measured::Settings;
pub use record::{Configuration, FORMAT, Node, Overhead, Profile, Report, Sampling, Wait};
pub use self_test::{SelfTest, Share, self_test};
pub use speedscope::speedscope;
pub use text::text;
pub use workload::{Choice, list, profile};
