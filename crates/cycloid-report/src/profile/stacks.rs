//! Builds the tree of a profile from sampled stacks.

use std::collections::HashMap;
use std::path::PathBuf;

use cycloid_profiler::{RawProfile, Samples, mapped_files};

use super::names::{Names, is_library, without_generics};
use super::record::Node;

/// The name that stands for callers that were not found.
pub(super) const CUT_SHORT: &str = "[stack cut short]";

/// The name of the loop that calls the operations.
const LOOP: &str = "[loop of the lab]";

/// The module that has the lab run the operations.
const MEASURING: &str = "cycloid_report::profile::measured::";

/// Which frames of a stack belong to the profiled code.
pub(super) enum Base {
    /// The callees of the function with this name, without the lab's own frames between the
    /// function and the operation.
    Operation(&'static str),
    /// The callees of the function with this name.
    Function(&'static str),
    /// All frames except those that start a Rust thread.
    Thread,
}

/// Rust's marker for the end of a thread's startup frames.
const THREAD: &str = "__rust_begin_short_backtrace";

/// The names of a sample, the outermost first.
pub(super) struct Stack {
    pub(super) names: Vec<String>,
    pub(super) samples: u64,
}

/// Samples with names.
pub(super) struct Stacks {
    pub(super) stacks: Vec<Stack>,
    /// The number of samples whose base was not found.
    pub(super) cut_short: u64,
}

impl Stacks {
    /// Resolves samples of this process.
    pub(super) fn of_this_process(samples: &Samples, base: &Base) -> Self {
        let stacks: Vec<_> = samples
            .stacks
            .iter()
            .map(|(stack, samples)| {
                let stack: Vec<_> = stack.iter().map(|address| *address as u64).collect();
                (stack, *samples)
            })
            .collect();
        let addresses = stacks.iter().flat_map(|(stack, _)| stack.iter().copied());
        let names = Names::new(addresses, &mapped_files(), &[]);
        Self::new(stacks.iter().map(|(stack, samples)| (&**stack, *samples)), &names, base)
    }

    /// Resolves the samples of a profile from the files that it names; `roots` as in
    /// [`Names::new`].
    pub(super) fn of_raw(raw: &RawProfile, roots: &[PathBuf], base: &Base) -> Self {
        let addresses = raw.stacks.iter().flat_map(|stack| stack.addresses.iter().copied());
        let names = Names::new(addresses, &raw.files, roots);
        let stacks = raw.stacks.iter().map(|stack| (&*stack.addresses, stack.samples));
        Self::new(stacks, &names, base)
    }

    /// Replaces addresses by names, and removes frames outside the base.
    fn new<'a>(stacks: impl Iterator<Item = (&'a [u64], u64)>, names: &Names, base: &Base) -> Self {
        let mut together: HashMap<Vec<String>, u64> = HashMap::new();
        let mut cut_short = 0;
        for (addresses, samples) in stacks {
            let mut stack = Vec::new();
            for address in addresses {
                stack.extend_from_slice(names.of(*address));
            }
            stack.reverse();
            if !based(&mut stack, base) {
                // Samples between operations, where consumed state is renewed.
                if stack.iter().any(|name| name.starts_with(MEASURING)) {
                    continue;
                }
                cut_short += samples;
                stack.insert(0, CUT_SHORT.into());
            }
            *together.entry(stack).or_default() += samples;
        }
        let mut stacks: Vec<Stack> =
            together.into_iter().map(|(names, samples)| Stack { names, samples }).collect();
        stacks.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.names.cmp(&b.names)));
        Self { stacks, cut_short }
    }

    pub(super) fn samples(&self) -> u64 {
        self.stacks.iter().map(|stack| stack.samples).sum()
    }

    /// Builds the tree; each sample stands for this many seconds.
    pub(super) fn tree(&self, seconds: f64) -> Vec<Node> {
        let mut roots = Vec::new();
        for Stack { names, samples } in &self.stacks {
            let mut siblings: &mut Vec<Node> = &mut roots;
            for name in names {
                let place = siblings.iter().position(|node| node.name == *name);
                let place = place.unwrap_or_else(|| {
                    siblings.push(Node { name: name.clone(), ..Node::default() });
                    siblings.len() - 1
                });
                let node = &mut siblings[place];
                node.samples += samples;
                node.seconds = node.samples as f64 * seconds;
                siblings = &mut node.children;
            }
        }
        roots
    }
}

/// Removes frames outside the base and returns whether the base was found; the outermost name comes
/// first.
fn based(stack: &mut Vec<String>, base: &Base) -> bool {
    let marker = match base {
        Base::Operation(name) | Base::Function(name) => name,
        Base::Thread => THREAD,
    };
    let Some(place) = stack.iter().rposition(|name| without_generics(name).ends_with(marker))
    else {
        return false;
    };
    stack.drain(..=place);
    if let Base::Operation(_) = base {
        // A call passes through the lab's own types and closures, and through library code that
        // calls them.
        let own = |name: &String| name.starts_with("cycloid_lab::") || is_library(name);
        let first = stack.iter().position(|name| !own(name)).unwrap_or(stack.len());
        stack.drain(..first);
    }
    if stack.is_empty() {
        stack.push(LOOP.into());
    }
    true
}
