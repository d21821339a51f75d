//! A dot plot along one axis, one line per item: the ratio of each item to the reference.

use super::scale::{Kind, Scale};
use super::series::Style;
use super::svg::{self, WIDTH};

/// A dot plot of ratios.
pub(super) struct Dots {
    /// The title.
    pub(super) title: String,
    /// A text description, for screen readers.
    pub(super) description: String,
    /// The axis label.
    pub(super) label: &'static str,
    pub(super) rows: Vec<Row>,
    /// Values that the axis must include, so that several plots share it.
    pub(super) range: Vec<f64>,
}

/// A line of the plot.
pub(super) struct Row {
    pub(super) name: String,
    /// A remark at the right end of the line with the name; may be empty.
    pub(super) remark: String,
    pub(super) dots: Vec<Dot>,
}

/// A dot in a line.
pub(super) struct Dot {
    pub(super) at: f64,
    pub(super) style: Style,
    pub(super) hollow: bool,
    /// The tooltip.
    pub(super) title: String,
}

/// The height of a line with its name above it, and of one with its name beside it.
const ABOVE: f64 = 33.0;
const BESIDE: f64 = 21.0;

/// Wider names are placed above their lines.
const WIDEST: f64 = 124.0;

const TOP: f64 = 6.0;
const EDGE: f64 = 8.0;

impl Dots {
    /// Returns the SVG; empty if nothing can be drawn.
    pub(super) fn svg(&self) -> String {
        let dots = self.rows.iter().flat_map(|row| &row.dots).map(|dot| dot.at);
        let values = dots.chain(self.range.iter().copied()).chain([1.0]);
        let Some(scale) = Scale::new(Kind::Decimal, values) else { return String::new() };
        let widest = |of: fn(&Row) -> &str| {
            self.rows.iter().map(|row| svg::width(of(row))).fold(0.0, f64::max)
        };
        let (names, remarks) = (widest(|row| &row.name), widest(|row| &row.remark));
        let beside = names <= WIDEST;
        let (left, right, height) = match beside {
            true => (names + 6.0, WIDTH - remarks - 6.0, BESIDE),
            false => (0.0, WIDTH, ABOVE),
        };
        let scale = scale.between(left + EDGE, right - EDGE);
        let bottom = TOP + height * self.rows.len() as f64;

        let mut body = String::new();
        for value in scale.marks() {
            let at = scale.at(value);
            svg::line(&mut body, "g", (at, TOP), (at, bottom + 4.0));
            svg::words(&mut body, at, bottom + 16.0, "o q", &proportion(value));
        }
        let one = scale.at(1.0);
        svg::line(&mut body, "r", (one, TOP), (one, bottom + 4.0));
        for (i, row) in self.rows.iter().enumerate() {
            let top = TOP + height * i as f64;
            let (y, base) =
                if beside { (top + 10.0, top + 14.0) } else { (top + 23.0, top + 12.0) };
            let room = if beside { left } else { WIDTH - svg::width(&row.remark) - 10.0 };
            svg::words(&mut body, 0.0, base, "", &svg::cut(&row.name, room));
            svg::words(&mut body, WIDTH, base, "e q", &row.remark);
            svg::line(&mut body, "g", (left, y), (right, y));
            for dot in row.dots.iter().filter(|dot| scale.has(dot.at)) {
                body.push_str(&dot.style.mark(scale.at(dot.at), y, dot.hollow, &dot.title));
            }
        }
        svg::words(&mut body, right, bottom + 31.0, "e q", self.label);
        svg::picture(bottom + 36.0, &self.title, &self.description, &body)
    }
}

/// Formats a tick of the axis without superfluous digits.
fn proportion(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_and_every_dot_is_drawn() {
        let dot = |at| Dot { at, style: Style::nth(1), hollow: true, title: "a & b".into() };
        let row = |dots| Row { name: "<row>".into(), remark: "1/s".into(), dots };
        let dots = Dots {
            title: "t".into(),
            description: "d".into(),
            label: "l",
            rows: vec![row(vec![dot(0.5), dot(2.0), dot(f64::NAN)]), row(vec![dot(1.0)])],
            range: vec![],
        };
        let svg = dots.svg();
        assert_eq!(svg.matches("a &amp; b").count(), 3);
        assert_eq!(svg.matches("&lt;row&gt;").count(), 2);
        assert_eq!(svg.matches("class=\"r\"").count(), 1);
    }

    #[test]
    fn short_numbers() {
        assert_eq!([0.05, 0.5, 1.0, 20.0].map(proportion), ["0.05", "0.5", "1", "20"]);
    }
}
