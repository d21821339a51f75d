//! What all plots share: their frame, the width of words, where labels fit.

use std::fmt::Write;

use super::markup::text;

/// The width of a plot, in the units that its text has eleven of in height: about what a telephone
/// shows, so that text stays legible there.
pub(super) const WIDTH: f64 = 344.0;

/// The height of a line of text.
pub(super) const LINE: f64 = 13.0;

/// How wide `words` are drawn, a little more rather than less.
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

/// As much of `words` as there is room for, with a sign where they are cut.
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

/// A picture of that height around `body`, with what it is called and what it shows for those who do
/// not see it.
pub(super) fn picture(height: f64, title: &str, description: &str, body: &str) -> String {
    format!(
        r#"<svg viewBox="0 0 {WIDTH} {height:.0}" role="img"><title>{}</title><desc>{}</desc>{body}</svg>"#,
        text(title),
        text(description)
    )
}

/// Words at a place; `class` says which of its ends that is (`e` the right one, `o` the middle), and
/// its colour.
pub(super) fn words(body: &mut String, x: f64, y: f64, class: &str, words: &str) {
    let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
    let _ = write!(body, r#"<text{class} x="{x:.1}" y="{y:.1}">{}</text>"#, text(words));
}

/// A straight line.
pub(super) fn line(body: &mut String, class: &str, from: (f64, f64), to: (f64, f64)) {
    let _ = write!(
        body,
        r#"<path class="{class}" d="M{:.1} {:.1}L{:.1} {:.1}"/>"#,
        from.0, from.1, to.0, to.1
    );
}

/// A rectangle that is taken, by its corners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Taken {
    /// Around a mark.
    pub(super) fn mark(x: f64, y: f64) -> Self {
        Self { left: x - 4.0, top: y - 4.0, right: x + 4.0, bottom: y + 4.0 }
    }

    /// Around words whose left end is at a place.
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

/// Words beside a mark where nothing else is, between `left` and `right`; left out where all places
/// are taken.
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

/// Moves places on a line apart until none is nearer than `gap` to the next, as little as possible;
/// in any order, and none below `low`, nor above `high` while there is room.
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
