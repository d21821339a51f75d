//! Where the time goes: trees of spans or of sampled stacks, and the views that people know.
//!
//! Time is attributed by path, as it was measured: a function that is cheap for one caller and dear for
//! another is both, which no division of its time by call counts would show; [`self_test`] shows it.

mod call_graph;
mod difference;
mod flame_graph;
mod flat;
mod folded;
mod measured;
mod names;
mod record;
mod sampler;
mod self_test;
mod speedscope;
mod stacks;
#[cfg(test)]
mod tests;
mod text;
mod whole_run;
mod workload;

pub use difference::{Change, Difference, Verdict, difference_text, differences};
pub use flame_graph::{flame_graph, flame_graph_of_difference};
pub use folded::folded;
pub use measured::{HERTZ, Settings};
pub use record::{Configuration, FORMAT, Node, Overhead, Profile, Report, Sampling, Wait};
pub use self_test::{SelfTest, Share, self_test};
pub use speedscope::speedscope;
pub use text::text;
pub use whole_run::WholeRun;
pub use workload::{Choice, list, profile};
