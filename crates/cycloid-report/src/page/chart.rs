//! A plot of points, lines and steps over two axes.

use std::fmt::Write;

use super::scale::{Kind, Scale};
use super::series::Style;
use super::svg::{self, LINE, Taken, WIDTH};

/// A plot.
pub(super) struct Chart {
    /// The title.
    pub(super) title: String,
    /// A text description, for screen readers.
    pub(super) description: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

/// An axis of a plot.
pub(super) struct Axis {
    /// The axis label, with the unit.
    pub(super) label: &'static str,
    pub(super) kind: Kind,
    /// Formats the value at a tick.
    pub(super) show: fn(f64) -> String,
}

/// A series of related points.
pub(super) struct Series {
    /// The name, shown at the right end of a line.
    pub(super) name: String,
    pub(super) style: Style,
    pub(super) join: Join,
    pub(super) points: Vec<Point>,
}

/// How the points of a series are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// Not joined.
    Marks,
    /// By a line, with the name at its end.
    Line,
    /// By a dashed line, with the name at its end.
    Dashes,
    /// By steps along the axes, without marks: points to the right of or above the steps are
    /// dominated.
    Steps,
    /// The same, dashed.
    DashedSteps,
}

/// A point of a series.
#[derive(Clone, Default)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// The label beside its mark; may be empty.
    pub(super) label: String,
    /// The tooltip.
    pub(super) title: String,
    /// Whether its mark is not filled.
    pub(super) hollow: bool,
}

const HEIGHT: f64 = 270.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = HEIGHT - 36.0;

impl Chart {
    /// Returns the SVG; empty if nothing can be drawn.
    pub(super) fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Scale::new(self.x.kind, points().map(|point| point.x));
        let y = Scale::new(self.y.kind, points().map(|point| point.y));
        let (Some(x), Some(y)) = (x, y) else { return String::new() };
        let widest = |words: &mut dyn Iterator<Item = String>| {
            words.map(|words| svg::width(&words)).fold(0.0, f64::max)
        };
        let left = 10.0 + widest(&mut y.marks().into_iter().map(self.y.show));
        let named = |series: &&Series| matches!(series.join, Join::Line | Join::Dashes);
        let names = widest(&mut self.series.iter().filter(named).map(|series| series.name.clone()));
        let right = WIDTH - if names > 0.0 { names + 12.0 } else { 8.0 };
        let plane = Plane { x: x.between(left, right), y: y.between(BOTTOM, TOP), left, right };

        let mut body = String::new();
        self.axes(&plane, &mut body);
        for series in &self.series {
            plane.join(series, &mut body);
        }
        let mut taken: Vec<Taken> =
            points().map(|point| plane.place(point)).map(|(x, y)| Taken::mark(x, y)).collect();
        for series in self.series.iter().filter(|series| series.join.has_marks()) {
            for point in series.points.iter().filter(|point| plane.has(point)) {
                let (x, y) = plane.place(point);
                body.push_str(&series.style.mark(x, y, point.hollow, &point.title));
            }
        }
        for point in points().filter(|point| !point.label.is_empty() && plane.has(point)) {
            let edges = (left, WIDTH);
            svg::label(&mut body, &mut taken, plane.place(point), edges, &point.label);
        }
        self.names(&plane, &mut body);
        svg::picture(HEIGHT, &self.title, &self.description, &body)
    }

    fn axes(&self, plane: &Plane, body: &mut String) {
        let Plane { x, y, left, right } = plane;
        for value in y.marks() {
            let at = y.at(value);
            svg::line(body, "g", (*left, at), (*right, at));
            svg::words(body, left - 6.0, at + 4.0, "e q", &(self.y.show)(value));
        }
        let mut end = f64::NEG_INFINITY;
        for value in x.marks() {
            let (at, shown) = (x.at(value), (self.x.show)(value));
            let half = svg::width(&shown) / 2.0;
            svg::line(body, "g", (at, BOTTOM), (at, BOTTOM + 4.0));
            if at - half > end + 4.0 {
                end = at + half;
                svg::words(body, at, BOTTOM + 16.0, "o q", &shown);
            }
        }
        svg::line(body, "a", (*left, BOTTOM), (*right, BOTTOM));
        svg::words(body, 0.0, 11.0, "q", self.y.label);
        svg::words(body, *right, HEIGHT - 5.0, "e q", self.x.label);
    }

    /// Draws the names of lines at their right ends.
    fn names(&self, plane: &Plane, body: &mut String) {
        let ends =
            self.series.iter().filter(|series| matches!(series.join, Join::Line | Join::Dashes));
        let ends = ends.filter_map(|series| {
            let last = series.points.iter().rfind(|point| plane.has(point))?;
            Some((series, plane.place(last)))
        });
        let ends: Vec<_> = ends.collect();
        let mut places: Vec<f64> = ends.iter().map(|(_, (_, y))| y + 4.0).collect();
        svg::apart(&mut places, LINE, TOP, BOTTOM + 4.0);
        for ((series, (x, _)), y) in ends.iter().zip(places) {
            let class = format!("t{}", series.style.colour);
            svg::words(body, x + 8.0, y, &class, &series.name);
        }
    }
}

/// Both axes, scaled to the drawing.
struct Plane {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
}

impl Plane {
    fn has(&self, point: &Point) -> bool {
        self.x.has(point.x) && self.y.has(point.y)
    }

    fn place(&self, point: &Point) -> (f64, f64) {
        (self.x.at(point.x), self.y.at(point.y))
    }

    /// Draws the line through the points of a series.
    fn join(&self, series: &Series, body: &mut String) {
        if series.join == Join::Marks {
            return;
        }
        let steps = matches!(series.join, Join::Steps | Join::DashedSteps);
        let dashes = matches!(series.join, Join::Dashes | Join::DashedSteps);
        let mut path = String::new();
        for point in series.points.iter().filter(|point| self.has(point)) {
            let (x, y) = self.place(point);
            let _ = match (path.is_empty(), steps) {
                (true, false) => write!(path, "M{x:.1} {y:.1}"),
                (true, true) => write!(path, "M{x:.1} {TOP}V{y:.1}"),
                (false, false) => write!(path, "L{x:.1} {y:.1}"),
                (false, true) => write!(path, "H{x:.1}V{y:.1}"),
            };
        }
        if steps && !path.is_empty() {
            let _ = write!(path, "H{:.1}", self.right);
        }
        let (colour, dashes) = (series.style.colour, if dashes { " d" } else { "" });
        let _ = write!(body, r#"<path class="l c{colour}{dashes}" d="{path}"/>"#);
    }
}

impl Join {
    const fn has_marks(self) -> bool {
        !matches!(self, Self::Steps | Self::DashedSteps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: &[(f64, f64)]) -> Chart {
        let points = points.iter().map(|(x, y)| Point {
            x: *x,
            y: *y,
            label: "<l>".into(),
            title: "\"t\"".into(),
            hollow: false,
        });
        let axis = |label| Axis { label, kind: Kind::Decimal, show: |value| format!("{value:.0}") };
        Chart {
            title: "</svg>".into(),
            description: String::new(),
            x: axis("x"),
            y: axis("y"),
            series: vec![Series {
                name: "n".into(),
                style: Style::nth(0),
                join: Join::Line,
                points: points.collect(),
            }],
        }
    }

    #[test]
    fn marks_lie_within_the_picture() {
        let svg = chart(&[(1.0, 10.0), (50.0, 3000.0)]).svg();
        for path in svg.split("<path class=\"m").skip(1) {
            let at = path.split("d=\"M").nth(1).unwrap().split('m').next().unwrap();
            let (x, y) = at.split_once(' ').unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            assert!((0.0..=WIDTH).contains(&x) && (0.0..=HEIGHT).contains(&y), "{at}");
        }
        assert_eq!(svg.matches("<path class=\"m").count(), 2);
    }

    #[test]
    fn hostile_names_are_escaped_and_invalid_numbers_are_omitted() {
        let svg = chart(&[(1.0, 10.0), (f64::NAN, 3.0), (-1.0, 2.0), (2.0, 1e300)]).svg();
        assert_eq!(svg.matches("<path class=\"m").count(), 1);
        assert_eq!(svg.matches("</svg>").count(), 1);
        assert!(svg.contains("&lt;l&gt;") && svg.contains("&quot;t&quot;"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(chart(&[]).svg(), "");
    }
}
