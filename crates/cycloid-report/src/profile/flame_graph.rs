//! Flame graphs as SVG: one self-contained file, with an embedded script for zoom and search.

use inferno::flamegraph::color::{BasicPalette, Palette};
use inferno::flamegraph::{self, Options};

use super::difference;
use super::folded::folded;
use super::record::Report;

/// Draws the stacks of all profiles of a report, side by side; width is time.
pub fn flame_graph(report: &Report) -> String {
    let title = format!("cycloid profile {}", report.workload);
    draw(&title, "ns", folded(&report.profiles).lines())
}

/// Draws the change per operation from one report to another: width is time in the second, red is
/// slower than in the first, and blue faster.
pub fn flame_graph_of_difference(before: &Report, after: &Report) -> String {
    let title = format!("{}: red takes longer than before, blue less", after.workload);
    let lines = difference::folded(before, after);
    draw(&title, "ps per operation", lines.iter().map(String::as_str))
}

fn draw<'a>(title: &str, unit: &str, lines: impl Iterator<Item = &'a str>) -> String {
    let mut options = Options::default();
    options.title = title.into();
    options.count_name = unit.into();
    options.colors = Palette::Basic(BasicPalette::Hot);
    options.deterministic = true;
    let mut svg = Vec::new();
    match flamegraph::from_lines(&mut options, lines, &mut svg) {
        Ok(()) => String::from_utf8(svg).expect("SVG is UTF-8"),
        // Nothing to draw; the picture says so.
        Err(_) => "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"300\" height=\"40\">\
                   <text x=\"10\" y=\"25\">nothing was sampled</text></svg>\n"
            .into(),
    }
}
