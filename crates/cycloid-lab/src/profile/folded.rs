//! Folded stacks: a line for each path, as flame graph programs read them.

use std::fmt::Write;

use super::record::{Node, Profile};

/// Paths with semicolons between the names, and the nanoseconds of each that are its own. The title of
/// the profile comes first, so that several profiles stand side by side.
pub fn folded(profiles: &[Profile]) -> String {
    let mut text = String::new();
    for profile in profiles {
        for root in &profile.roots {
            fold(root, &profile.title.replace(';', ","), &mut text);
        }
    }
    text
}

fn fold(node: &Node, path: &str, text: &mut String) {
    let path = format!("{path};{}", node.name.replace(';', ","));
    let own = (node.own_seconds() * 1e9).round() as u64;
    if own > 0 {
        let _ = writeln!(text, "{path} {own}");
    }
    node.children.iter().for_each(|child| fold(child, &path, text));
}
