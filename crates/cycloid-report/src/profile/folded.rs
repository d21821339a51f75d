//! Writes folded stacks: one line per path, the input format of flame graph programs.

use std::fmt::Write;

use super::record::{Node, Profile};

/// Formats paths with semicolons between the names, each with its own nanoseconds. Each path starts
/// with the profile's title, so that several profiles appear side by side.
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
