//! Flame graphs: nested lists drawn as stacked bars, each as wide as its share.
//!
//! Screen readers read the lists in order, and the text in bars keeps its size on any screen. Each
//! path has its own time; time is not divided by call counts.

use std::fmt::Write;

use super::markup::text;
use super::measured::duration;
use crate::profile::{self, Report};
use cycloid_lab::Failure;

/// Bars narrower than this share of the total are omitted, with all bars below them.
const LEAST: f64 = 0.002;

/// The greatest depth of bars.
const DEEPEST: usize = 64;

/// Weighted stacks.
pub(super) struct Stacks {
    title: String,
    /// The command that produced them, or their source file.
    origin: String,
    unit: Unit,
    roots: Vec<Frame>,
}

#[derive(Clone, Copy)]
enum Unit {
    Nanoseconds,
    /// Samples, or other counted events.
    Count,
}

#[derive(Default)]
struct Frame {
    name: String,
    /// Including all inner frames.
    weight: f64,
    within: Vec<Frame>,
}

impl Stacks {
    /// Returns the stacks of a profile, one graph per part.
    pub(super) fn of_report(name: &str, report: &Report) -> Vec<Self> {
        let mut command = format!("profile {}", report.workload);
        for (option, value) in &report.parameters {
            if option == "key"
                && let Some(value) = value.as_str()
            {
                let _ = write!(command, " --key {value}");
            }
        }
        let graph = |profile: &profile::Profile| Self {
            title: format!("{}: {}", report.workload, profile.title),
            origin: format!("{command} · {name}"),
            unit: Unit::Nanoseconds,
            roots: profile.roots.iter().map(|node| frame(node, 1)).collect(),
        };
        report.profiles.iter().map(graph).collect()
    }

    /// Parses folded stacks.
    pub(super) fn of_folded(name: &str, text: &str) -> Result<Self, Failure> {
        let mut root = Frame::default();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let parsed = line.trim().rsplit_once(' ').and_then(|(path, weight)| {
                let weight: f64 = weight.parse().ok()?;
                (weight.is_finite() && weight >= 0.0).then_some((path, weight))
            });
            let Some((path, weight)) = parsed else {
                return Err(Failure::new(
                    format!("line {} of {name} is not a folded stack", i + 1),
                    "a line has names separated by semicolons, a space and a number",
                ));
            };
            root.add(path.split(';').take(DEEPEST), weight);
        }
        if root.weight == 0.0 {
            return Err(Failure::new(
                format!("{name} has no stacks"),
                "write them with cycloid profile WORKLOAD --folded FILE",
            ));
        }
        let title = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".folded").to_owned();
        Ok(Self { title, origin: name.into(), unit: Unit::Count, roots: root.within })
    }

    /// Returns the graph under a heading.
    pub(super) fn html(&self) -> String {
        let whole: f64 = self.roots.iter().map(|root| root.weight).sum();
        let mut html = format!(
            r#"<figure class="wide"><h3>{}</h3><div class="scroll flames" tabindex="0" role="region" aria-label="{}"><ul class="flame">"#,
            text(&self.title),
            text(&self.title)
        );
        if whole > 0.0 {
            self.bars(&self.roots, whole, whole, &mut html);
        }
        let _ = write!(
            html,
            "</ul></div><figcaption>Total: {}. <code>{}</code></figcaption></figure>",
            self.shown(whole),
            text(&self.origin)
        );
        html
    }

    fn bars(&self, frames: &[Frame], outer: f64, whole: f64, html: &mut String) {
        let mut frames: Vec<&Frame> =
            frames.iter().filter(|frame| frame.weight / whole >= LEAST).collect();
        frames.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        for frame in frames {
            let share = frame.weight / whole * 100.0;
            let width = (frame.weight / outer * 100.0).min(100.0);
            let tint = frame.name.bytes().fold(7_u8, |sum, byte| sum.wrapping_mul(31) ^ byte) % 5;
            let _ = write!(
                html,
                r#"<li style="width:{width:.2}%"><span class="f{tint}" title="{}: {share:.1} %, {}">{} <i>{share:.1} %</i></span>"#,
                text(&frame.name),
                text(&self.shown(frame.weight)),
                text(&frame.name),
            );
            if !frame.within.is_empty() {
                html.push_str("<ul>");
                self.bars(&frame.within, frame.weight, whole, html);
                html.push_str("</ul>");
            }
            html.push_str("</li>");
        }
    }

    fn shown(&self, weight: f64) -> String {
        match self.unit {
            Unit::Nanoseconds => duration(weight),
            Unit::Count => crate::tables::number::whole(weight as u64),
        }
    }
}

fn frame(node: &profile::Node, depth: usize) -> Frame {
    let within: &[profile::Node] = if depth < DEEPEST { &node.children } else { &[] };
    let within: Vec<Frame> = within.iter().map(|node| frame(node, depth + 1)).collect();
    let weight = if node.seconds.is_finite() { node.seconds.max(0.0) * 1e9 } else { 0.0 };
    Frame { name: node.name.clone(), weight, within }
}

impl Frame {
    fn add<'a>(&mut self, path: impl Iterator<Item = &'a str>, weight: f64) {
        self.weight += weight;
        let mut at = self;
        for name in path {
            let place = at.within.iter().position(|frame| frame.name == name);
            let place = place.unwrap_or_else(|| {
                at.within.push(Self { name: name.into(), ..Self::default() });
                at.within.len() - 1
            });
            at = &mut at.within[place];
            at.weight += weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_wide_as_its_share_of_the_one_above() {
        let stacks = Stacks::of_folded("x.folded", "a;b 30\na;c 10\na;b;d 20\n<e> 40\n").unwrap();
        let html = stacks.html();
        for bar in [
            r#"<li style="width:60.00%"><span class="f"#,
            r#"title="a: 60.0 %, 60""#,
            r#"title="b: 50.0 %, 50""#,
            r#"<li style="width:83.33%"><span class="f"#,
            r#"title="d: 20.0 %, 20""#,
            "&lt;e&gt;: 40.0 %",
        ] {
            assert!(html.contains(bar), "{bar} in {html}");
        }
        assert_eq!(html.matches("<li").count(), 5);
        assert_eq!(html.matches("<ul").count(), html.matches("</ul>").count());
    }

    #[test]
    fn deep_stacks_are_truncated() {
        let path = vec!["f"; 100_000].join(";");
        let html = Stacks::of_folded("deep", &format!("{path} 1")).unwrap().html();
        assert_eq!(html.matches("<li").count(), DEEPEST);
    }
}
