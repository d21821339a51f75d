//! Drawing functions shared by all plots: the frame, text widths, label placement.

use std::fmt::{self, Write};

use super::markup::text;

/// The width of a plot, in units of one eleventh of the height of text. This is about the width of
/// a telephone's screen, so text stays legible there.
pub(super) const WIDTH: f64 = 344.0;

/// The height of a line of text.
pub(super) const LINE: f64 = 13.0;

/// A coordinate, which is written to a tenth, and without decimals if it is whole.
pub(super) struct Tenth(pub(super) f64);

impl fmt::Display for Tenth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round();
        let decimals = usize::from(tenths % 10.0 != 0.0);
        write!(f, "{:.decimals$}", tenths / 10.0)
    }
}

/// Estimates the drawn width of `words`, rounded up.
pub(super) fn width(words: &str) -> f64 {
    let narrow = |c: char| {
        if matches!(c, 'i' | 'j' | 'l' | ' ' | ',' | '.' | ':' | '-' | 't' | 'f' | '1' | 'I') {
            4.0
        } else {
            6.6
        }
    };
    words.chars().map(narrow).sum()
}

/// Shortens `words` to the available width, with an ellipsis if shortened.
pub(super) fn cut(words: &str, room: f64) -> String {
    if width(words) <= room {
        return words.to_owned();
    }
    let mut shown = String::new();
    for character in words.chars() {
        shown.push(character);
        if width(&shown) + width("…") > room {
            shown.pop();
            break;
        }
    }
    shown.trim_end_matches([' ', ',']).to_owned() + "…"
}

/// Returns an SVG of that height around `body`, with a title and a description for screen readers.
pub(super) fn picture(height: f64, title: &str, description: &str, body: &str) -> String {
    format!(
        r#"<svg viewBox="0 0 {WIDTH} {height:.0}" role="img"><title>{}</title><desc>{}</desc>{body}</svg>"#,
        text(title),
        text(description)
    )
}

/// Draws words at a position; `class` sets the anchor (`e` the right end, `o` the middle) and the
/// colour.
pub(super) fn words(body: &mut String, x: f64, y: f64, class: &str, words: &str) {
    let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
    let (x, y) = (Tenth(x), Tenth(y));
    let _ = write!(body, r#"<text{class} x="{x}" y="{y}">{}</text>"#, text(words));
}

/// Draws a straight line.
pub(super) fn line(body: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let [x, y, to_x, to_y] = [from.0, from.1, to.0, to.1].map(Tenth);
    let _ = write!(body, r#"<path class="{class}" d="M{x} {y}"#);
    let _ = match (from.0 == to.0, from.1 == to.1) {
        (true, false) => write!(body, r#"V{to_y}"/>"#),
        (false, true) => write!(body, r#"H{to_x}"/>"#),
        _ => write!(body, r#"L{to_x} {to_y}"/>"#),
    };
}

/// An occupied rectangle, by its corners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Taken {
    /// Returns the rectangle around a mark.
    pub(super) fn mark(x: f64, y: f64) -> Self {
        Self { left: x - 4.0, top: y - 4.0, right: x + 4.0, bottom: y + 4.0 }
    }

    /// Returns the rectangle around words whose left end is at a position.
    fn words(x: f64, y: f64, words: &str) -> Self {
        Self { left: x, top: y - 9.0, right: x + width(words), bottom: y + 2.0 }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Draws words beside a mark at a free place between `left` and `right`; omits them if all places
/// are occupied.
pub(super) fn label(
    body: &mut String,
    taken: &mut Vec<Taken>,
    (x, y): (f64, f64),
    (left, right): (f64, f64),
    name: &str,
) {
    let wide = width(name);
    let places = [
        (x - wide - 6.0, y + 10.0),
        (x + 7.0, y - 5.0),
        (x - wide - 6.0, y - 3.0),
        (x + 7.0, y + 11.0),
        (x - wide / 2.0, y - 8.0),
        (x - wide / 2.0, y + 17.0),
    ];
    for (x, y) in places {
        let place = Taken::words(x, y, name);
        let inside = place.left >= left && place.right <= right;
        if inside && !taken.iter().any(|other| other.meets(&place)) {
            words(body, x, y, "", name);
            taken.push(place);
            return;
        }
    }
}

/// Moves positions on a line apart until neighbours have at least `gap` between them, as little as
/// possible. Accepts any order; none ends below `low`, nor above `high` while there is room.
pub(super) fn apart(places: &mut [f64], gap: f64, low: f64, high: f64) {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
    let mut least = low;
    for i in &order {
        places[*i] = places[*i].max(least);
        least = places[*i] + gap;
    }
    let mut most = high;
    for i in order.iter().rev() {
        places[*i] = places[*i].min(most);
        most = places[*i] - gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_at_the_edge_keep_apart() {
        let mut places = [50.0, 51.0, 49.0, 99.0, 100.0];
        apart(&mut places, 12.0, 0.0, 100.0);
        assert_eq!(places, [61.0, 73.0, 49.0, 88.0, 100.0]);
    }

    #[test]
    fn labels_do_not_cover_each_other() {
        let (mut body, mut taken) = (String::new(), Vec::new());
        for _ in 0..20 {
            label(&mut body, &mut taken, (100.0, 100.0), (0.0, 200.0), "6b RM");
        }
        assert_eq!(body.matches("<text").count(), taken.len());
        assert!((2..=6).contains(&taken.len()));
        for (i, one) in taken.iter().enumerate() {
            assert!(taken[..i].iter().all(|other| !other.meets(one)));
        }
    }
}
