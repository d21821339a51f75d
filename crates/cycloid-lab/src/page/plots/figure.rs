//! A figure: a question, and pictures that answer it.

use std::fmt::Write;

use crate::page::markup::text;
use crate::page::measured::Measured;
use crate::page::series::{self, Style};

/// A question, and pictures that answer it.
pub(in crate::page) struct Figure {
    pub(in crate::page) question: &'static str,
    /// How to read the pictures.
    pub(in crate::page) reading: String,
    /// The legend.
    pub(in crate::page) key: Vec<(String, Style, bool)>,
    /// Whether the pictures form pairs.
    pub(in crate::page) in_pairs: bool,
    pub(in crate::page) pictures: Vec<Picture>,
}

/// A picture under a heading.
pub(in crate::page) struct Picture {
    pub(in crate::page) heading: String,
    pub(in crate::page) svg: String,
    /// Whether it is initially folded.
    pub(in crate::page) folded: bool,
}

impl Picture {
    /// Creates a picture that is not folded.
    pub(in crate::page) fn shown(heading: impl Into<String>, svg: String) -> Self {
        Self { heading: heading.into(), svg, folded: false }
    }
}

impl Figure {
    pub(in crate::page) fn html(&self) -> String {
        let mut html = format!("<figure><h3>{}</h3><p>{}</p>", self.question, text(&self.reading));
        if !self.key.is_empty() {
            html.push_str(&series::key(&self.key));
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
pub(in crate::page) fn groups<'a>(tables: &[Measured<'a>]) -> Vec<(&'a str, Vec<Measured<'a>>)> {
    let mut groups: Vec<(&str, Vec<Measured<'a>>)> = Vec::new();
    for of in tables {
        match groups.iter_mut().find(|(name, _)| *name == of.group()) {
            Some((_, members)) => members.push(*of),
            None => groups.push((of.group(), vec![*of])),
        }
    }
    groups
}
