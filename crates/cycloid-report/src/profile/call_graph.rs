//! The call graph: the callers and callees of each name, with the time of these calls.

use std::collections::HashMap;
use std::fmt::Write;

use super::flat::{self, Line};
use super::names::fitted;
use super::record::{Node, Profile};

/// The cost of the calls between two names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Edge<'a> {
    /// The other end of the call.
    pub(super) name: &'a str,
    pub(super) calls: u64,
    /// Samples, including those in its callees.
    pub(super) samples: u64,
    /// Time in the callee itself.
    pub(super) own: f64,
    /// Time in the callee's own callees.
    pub(super) within: f64,
}

/// The callers and callees of each name. An empty name stands for the outside.
type Edges<'a> = HashMap<&'a str, [Vec<Edge<'a>>; 2]>;

/// Adds a node's cost to the edge of that name. The time of a recursive call is counted once.
fn add<'a>(edges: &mut Vec<Edge<'a>>, name: &'a str, node: &Node, again: bool) {
    let edge = match edges.iter_mut().position(|edge| edge.name == name) {
        Some(place) => &mut edges[place],
        None => {
            edges.push(Edge { name, calls: 0, samples: 0, own: 0.0, within: 0.0 });
            edges.last_mut().expect("an edge was pushed")
        }
    };
    edge.calls += node.calls;
    if !again {
        let own = node.own_seconds();
        edge.samples += node.samples;
        edge.own += own;
        edge.within += node.seconds - own;
    }
}

/// Computes all edges, the most expensive first.
fn all(profile: &Profile) -> Edges<'_> {
    let mut edges = Edges::new();
    profile.walk(&mut |node, path| {
        let outer = path.last().map_or("", |outer| &outer.name);
        let again = path.windows(2).any(|pair| pair[0].name == outer && pair[1].name == node.name);
        let [callers, _] = edges.entry(&node.name).or_default();
        add(callers, outer, node, again);
        if !outer.is_empty() {
            let [_, callees] = edges.entry(outer).or_default();
            add(callees, &node.name, node, again);
        }
    });
    let dearer = |a: &Edge<'_>, b: &Edge<'_>| {
        (b.own + b.within).total_cmp(&(a.own + a.within)).then_with(|| a.name.cmp(b.name))
    };
    edges.values_mut().flatten().for_each(|edges| edges.sort_by(dearer));
    edges
}

/// Returns the callers of `name` (an empty name stands for the outside) and its callees, the most
/// expensive first.
pub(super) fn edges<'a>(profile: &'a Profile, name: &str) -> [Vec<Edge<'a>>; 2] {
    all(profile).remove(name).unwrap_or_default()
}

/// Names with less than this share of the samples' time are omitted.
const SMALL: f64 = 0.01;

/// Formats the graph in the layout of gprof(1); with sampling, sample counts replace call counts.
pub(super) fn text(profile: &Profile, width: usize) -> String {
    let whole = profile.seconds();
    let sampled = profile.sampling.is_some();
    let mut lines = flat::lines(profile);
    lines.sort_by(|a, b| b.total.total_cmp(&a.total).then_with(|| a.name.cmp(b.name)));
    if sampled {
        lines.retain(|line| line.total >= SMALL * whole);
    }
    let places: HashMap<&str, usize> =
        lines.iter().enumerate().map(|(place, line)| (line.name, place)).collect();
    let count = |calls: u64, samples: u64| if sampled { samples } else { calls };
    let of_line = |line: &Line<'_>| count(line.calls, line.total_samples);
    let mut edges = all(profile);
    let mut text = format!(
        "index % time    self  children    {:<10} name\n",
        if sampled { "samples" } else { "called" }
    );
    // Appends the name's index, if it has one.
    let named = |name: &str, width: usize| match places.get(name) {
        Some(place) => {
            let place = format!(" [{}]", place + 1);
            fitted(name, width.saturating_sub(place.len())) + &place
        }
        None => fitted(name, width),
    };
    let edge = |Edge { name, calls, samples, own, within }: &Edge<'_>, all: u64| {
        let count = format!("{}/{all}", count(*calls, *samples));
        let line = format!("{:14}{own:8.3} {within:8.3} {count:>13}     ", "");
        let name = named(name, width.saturating_sub(line.len()));
        line + &name + "\n"
    };
    for (place, line) in lines.iter().enumerate() {
        let [callers, callees] = edges.remove(line.name).unwrap_or_default();
        for caller in callers {
            match caller.name {
                "" => text.push_str(&format!("{:46}<spontaneous>\n", "")),
                _ => text.push_str(&edge(&caller, of_line(line))),
            }
        }
        let middle = format!(
            "{:7}{:5.1} {:9.3} {:8.3} {:>13} ",
            format!("[{}]", place + 1),
            100.0 * line.total / whole,
            line.own,
            line.total - line.own,
            of_line(line),
        );
        let name = named(line.name, width.saturating_sub(middle.len()));
        let _ = writeln!(text, "{middle}{name}");
        for callee in callees {
            let all = places.get(callee.name).map(|place| of_line(&lines[*place]));
            let small = sampled && callee.own + callee.within < SMALL * whole;
            if let (Some(all), false) = (all, small) {
                text.push_str(&edge(&callee, all));
            }
        }
        text.push_str("-----------------------------------------------\n");
    }
    text
}
