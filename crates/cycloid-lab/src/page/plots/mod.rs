//! Plots for the questions that the tables of a suite answer. The records determine which plots
//! exist; there is no list per suite.

mod batches;
mod peers;
mod service;
mod strategies;
mod sums;
mod tunnels;

use std::fmt::Write;

pub(super) use peers::strip;

use super::markup::text;
use super::measured::Measured;
use super::series::Style;

/// A question, and pictures that answer it.
pub(super) struct Figure {
    pub(super) question: &'static str,
    /// How to read the pictures.
    pub(super) reading: String,
    /// The legend.
    pub(super) key: Vec<(String, Style, bool)>,
    /// Whether the pictures form pairs.
    pub(super) in_pairs: bool,
    pub(super) pictures: Vec<Picture>,
}

/// A picture under a heading.
pub(super) struct Picture {
    pub(super) heading: String,
    pub(super) svg: String,
    /// Whether it is initially folded.
    pub(super) folded: bool,
}

impl Picture {
    /// Creates a picture that is not folded.
    pub(super) fn shown(heading: impl Into<String>, svg: String) -> Self {
        Self { heading: heading.into(), svg, folded: false }
    }
}

/// Returns all plots of a suite.
pub(super) fn of(tables: &[Measured<'_>]) -> Vec<Figure> {
    let plots = [
        strategies::figure(tables),
        peers::figure(tables),
        batches::figure(tables),
        sums::figure(tables),
        service::figure(tables),
        tunnels::figure(tables),
    ];
    let drawn = |figure: &Figure| figure.pictures.iter().any(|picture| !picture.svg.is_empty());
    plots.into_iter().flatten().filter(drawn).collect()
}

impl Figure {
    pub(super) fn html(&self) -> String {
        let mut html = format!("<figure><h3>{}</h3><p>{}</p>", self.question, text(&self.reading));
        if !self.key.is_empty() {
            html.push_str(&super::series::key(&self.key));
        }
        let drawn = || self.pictures.iter().filter(|picture| !picture.svg.is_empty());
        let class = if self.in_pairs { "pictures pairs" } else { "pictures" };
        let _ = write!(html, r#"<div class="{class}">"#);
        for Picture { heading, svg, .. } in drawn().filter(|picture| !picture.folded) {
            html.push_str(r#"<div class="picture">"#);
            if !heading.is_empty() {
                let _ = write!(html, "<h4>{}</h4>", text(heading));
            }
            html.push_str(svg);
            html.push_str("</div>");
        }
        html.push_str("</div>");
        if drawn().any(|picture| picture.folded) {
            html.push_str(r#"<div class="folds">"#);
            for Picture { heading, svg, .. } in drawn().filter(|picture| picture.folded) {
                let heading = text(heading);
                let _ = write!(
                    html,
                    r#"<details><summary>{heading}</summary><div class="picture">{svg}</div></details>"#
                );
            }
            html.push_str("</div>");
        }
        html + "</figure>"
    }
}

/// Splits `tables` by group, in the order of first occurrence.
pub(super) fn groups<'a>(tables: &[Measured<'a>]) -> Vec<(&'a str, Vec<Measured<'a>>)> {
    let mut groups: Vec<(&str, Vec<Measured<'a>>)> = Vec::new();
    for of in tables {
        match groups.iter_mut().find(|(name, _)| *name == of.group()) {
            Some((_, members)) => members.push(*of),
            None => groups.push((of.group(), vec![*of])),
        }
    }
    groups
}
