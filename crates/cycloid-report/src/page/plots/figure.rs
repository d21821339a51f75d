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

/// Returns the figures of each processor, with the same questions next to each other.
pub(in crate::page) fn side_by_side<'a>(processors: &'a [(String, Vec<Figure>)]) -> String {
    let mut questions: Vec<&str> = Vec::new();
    for figure in processors.iter().flat_map(|(_, figures)| figures) {
        if !questions.contains(&figure.question) {
            questions.push(figure.question);
        }
    }
    let mut html = String::new();
    for question in questions {
        let of_question = |(processor, figures): &'a (String, Vec<Figure>)| {
            let figure = figures.iter().find(|figure| figure.question == question)?;
            Some((&**processor, figure))
        };
        let found: Vec<(&str, &Figure)> = processors.iter().filter_map(of_question).collect();
        html.push_str(&found[0].1.start());
        if processors.len() == 1 {
            html.push_str(&found[0].1.content());
        } else {
            html.push_str("<div class=\"processors\">");
            for (processor, figure) in &found {
                let _ = write!(html, "<div><h4>{}</h4>{}</div>", text(processor), figure.content());
            }
            html.push_str("</div>");
        }
        html.push_str("</figure>");
    }
    html
}

impl Figure {
    pub(in crate::page) fn html(&self) -> String {
        self.start() + &self.content() + "</figure>"
    }

    /// Returns the question.
    fn start(&self) -> String {
        format!("<figure><h3>{}</h3><p>{}</p>", self.question, text(&self.reading))
    }

    /// Returns the legend and the pictures.
    fn content(&self) -> String {
        let mut html = String::new();
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
        html
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
