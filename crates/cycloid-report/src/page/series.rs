//! The appearance of each library in all plots: a colour and a shape, so that either one suffices.

use std::fmt::Write;

use super::markup::text;
use super::svg::Tenth;

/// A colour of the page's palette (class `c0` to `c7`) and a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) colour: u8,
    pub(super) shape: Shape,
}

/// The shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Triangle,
    Nabla,
    Diamond,
    Plus,
    Cross,
    Hexagon,
}

use Shape::{Circle, Cross, Diamond, Hexagon, Nabla, Plus, Square, Triangle};

/// Names with a fixed appearance.
const KNOWN: [(&str, u8, Shape); 16] = [
    ("Cycloid", 0, Circle),
    ("OpenSSL", 1, Square),
    ("AWS-LC", 2, Triangle),
    ("ring", 3, Nabla),
    ("graviola", 4, Hexagon),
    ("dalek", 5, Plus),
    ("RustCrypto", 6, Cross),
    ("GMP", 3, Diamond),
    ("crypto-bigint", 6, Cross),
    ("blst", 1, Square),
    ("zkcrypto", 2, Triangle),
    ("arkworks", 3, Nabla),
    ("c-kzg", 4, Hexagon),
    ("SoftHSM", 1, Square),
    ("OpenVPN", 1, Square),
    ("mirage-crypto", 4, Plus),
];

/// The appearance of unknown names, by their place in a plot.
const OTHERS: [(u8, Shape); 6] =
    [(1, Square), (2, Triangle), (3, Nabla), (4, Hexagon), (5, Diamond), (6, Cross)];

impl Style {
    /// The appearance of marks without an owner.
    pub(super) const NEUTRAL: Self = Self { colour: 7, shape: Circle };

    /// The appearance of the library's batches.
    pub(super) const BATCH: Self = Self { colour: 0, shape: Diamond };

    /// Returns the appearance of the batches of an item with this one.
    pub(super) const fn of_batch(self) -> Self {
        Self { shape: Diamond, ..self }
    }

    /// Returns the appearance of a named item; `place` applies if the name is unknown.
    pub(super) fn of(name: &str, place: usize) -> Self {
        let (colour, shape) = KNOWN
            .iter()
            .find(|(known, ..)| known.eq_ignore_ascii_case(name))
            .map_or(OTHERS[place % OTHERS.len()], |(_, colour, shape)| (*colour, *shape));
        Self { colour, shape }
    }

    /// Returns the appearance of an item without a library, by its place in a plot.
    pub(super) const fn nth(place: usize) -> Self {
        let place = place % (OTHERS.len() + 1);
        if place == 0 {
            return Self { colour: 0, shape: Circle };
        }
        let (colour, shape) = OTHERS[place - 1];
        Self { colour, shape }
    }

    /// Draws its mark at a position, open if `hollow`, with a tooltip.
    pub(super) fn mark(self, x: f64, y: f64, hollow: bool, title: &str) -> String {
        let hollow = if hollow { " h" } else { "" };
        let (colour, outline) = (self.colour, self.shape.outline());
        let mut mark =
            format!(r#"<path class="m c{colour}{hollow}" d="M{} {}{outline}""#, Tenth(x), Tenth(y));
        if title.is_empty() {
            mark.push_str("/>");
        } else {
            let _ = write!(mark, "><title>{}</title></path>", text(title));
        }
        mark
    }
}

impl Shape {
    /// Returns a path around the centre, about nine units across.
    const fn outline(self) -> &'static str {
        match self {
            Self::Circle => "m-4 0a4 4 0 108 0 4 4 0 10-8 0z",
            Self::Square => "m-3.7-3.7h7.4v7.4h-7.4z",
            Self::Triangle => "m0-4.9l4.6 8h-9.2z",
            Self::Nabla => "m0 4.9l4.6-8h-9.2z",
            Self::Diamond => "m0-5.4l5.4 5.4l-5.4 5.4l-5.4-5.4z",
            Self::Plus => "m-1.4-4.6h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2v-2.8h3.2z",
            Self::Cross => {
                "m0-2l2.4-2.4l2 2l-2.4 2.4l2.4 2.4l-2 2l-2.4-2.4l-2.4 2.4l-2-2l2.4-2.4l-2.4-2.4l2-2z"
            }
            Self::Hexagon => "m-2.3-4h4.6l2.3 4l-2.3 4h-4.6l-2.3-4z",
        }
    }
}

/// Returns a legend: each mark beside its name.
pub(super) fn key(entries: &[(String, Style, bool)]) -> String {
    let mut html = String::from(r#"<ul class="key">"#);
    for (name, style, hollow) in entries {
        let mark = style.mark(6.0, 6.0, *hollow, "");
        let _ = write!(
            html,
            r#"<li><svg viewBox="0 0 12 12" aria-hidden="true">{mark}</svg> {}</li>"#,
            text(name)
        );
    }
    html + "</ul>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_in_the_same_plot_differ_in_shape() {
        let together: [&[&str]; 4] = [
            &[
                "Cycloid",
                "OpenSSL",
                "AWS-LC",
                "ring",
                "graviola",
                "dalek",
                "RustCrypto",
                "mirage-crypto",
            ],
            &["Cycloid", "OpenSSL", "AWS-LC", "GMP", "crypto-bigint", "mirage-crypto"],
            &["cycloid", "blst", "zkcrypto", "arkworks", "c-kzg"],
            &["Cycloid", "SoftHSM"],
        ];
        for names in together {
            let mut styles: Vec<Style> = names.iter().map(|name| Style::of(name, 0)).collect();
            styles.push(Style::BATCH);
            for (i, style) in styles.iter().enumerate() {
                assert!(styles[..i].iter().all(|other| other != style), "{names:?}");
            }
        }
        assert_eq!(Style::of("a library of tomorrow", 2), Style::of("another", 2));
    }
}
