//! Plots time per point against the number of points, for sums of multiples and transforms.

use super::figure::{Figure, Picture};
use crate::page::chart::{Axis, Chart, Join, Point, Series as Line};
use crate::page::measured::{Measured, duration};
use crate::page::scale::Kind;
use crate::page::series::Style;
use cycloid_lab::record::Series;

/// A number of points, and the table that has this number.
type Size<'a> = (f64, Measured<'a>);

pub(super) fn figure(tables: &[Measured<'_>]) -> Option<Figure> {
    let mut operations: Vec<(&str, Vec<Size<'_>>)> = Vec::new();
    for of in tables {
        let Some(Series { operation, size }) = &of.table.series else { continue };
        let size = (size.get() as f64, *of);
        match operations.iter_mut().find(|(other, _)| other == operation) {
            Some((_, sizes)) => sizes.push(size),
            None => operations.push((operation, vec![size])),
        }
    }
    operations.retain(|(_, sizes)| sizes.len() > 1);
    let pictures: Vec<Picture> = operations
        .iter()
        .map(|(operation, sizes)| Picture::shown(*operation, chart(operation, sizes).svg()))
        .collect();
    (!pictures.is_empty()).then(|| Figure {
        question: "What does each point cost in a large sum?",
        reading: "The total time divided by the number of points or values.".into(),
        key: Vec::new(),
        in_pairs: false,
        pictures,
    })
}

fn chart(operation: &str, sizes: &[Size<'_>]) -> Chart {
    let mut series: Vec<Line> = Vec::new();
    for (size, of) in sizes {
        for record in &of.table.records {
            let name = of.product(record);
            let x = *size;
            let y = of.time(record) / x;
            let title = format!("{name}, {x} points: {} each", duration(y));
            let point = Point { x, y, title, ..Point::default() };
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => {
                    let style = Style::of(&name, series.len());
                    series.push(Line { name, style, join: Join::Line, points: vec![point] });
                }
            }
        }
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let described = series.iter().flat_map(|series| &series.points).map(|point| &*point.title);
    Chart {
        title: format!("Time per point against size: {operation}"),
        description: described.collect::<Vec<_>>().join("; "),
        x: Axis { label: "size →", kind: Kind::Binary, show: power },
        y: Axis { label: "time per point ↑", kind: Kind::Linear, show: duration },
        series,
    }
}

/// Formats a power of two by its exponent.
fn power(value: f64) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let exponent = format!("{:.0}", value.log2());
    let raised = exponent.chars().filter_map(|digit| RAISED.get(digit.to_digit(10)? as usize));
    std::iter::once('2').chain(raised.copied()).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn powers_are_raised() {
        assert_eq!(super::power(65536.0), "2¹⁶");
    }
}
