//! Plots time per point against the number of points, for sums of multiples and transforms.

use super::figure::{Figure, Picture};
use crate::page::chart::{Axis, Chart, Join, Point, Series};
use crate::page::measured::{Measured, duration};
use crate::page::scale::Kind;
use crate::page::series::Style;

pub(super) fn figure(tables: &[Measured<'_>]) -> Option<Figure> {
    let mut kinds: Vec<(String, Vec<(i32, Measured<'_>)>)> = Vec::new();
    for of in tables {
        let Some((kind, exponent)) = kind(of.name()) else { continue };
        match kinds.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, sizes)) => sizes.push((exponent, *of)),
            None => kinds.push((kind, vec![(exponent, *of)])),
        }
    }
    kinds.retain(|(_, sizes)| sizes.len() > 1);
    let pictures: Vec<Picture> = kinds
        .iter()
        .map(|(kind, sizes)| Picture::shown(kind.clone(), chart(kind, sizes).svg()))
        .collect();
    (!pictures.is_empty()).then(|| Figure {
        question: "What does each point cost in a large sum?",
        reading: "The total time divided by the number of points or values.".into(),
        key: Vec::new(),
        in_pairs: false,
        pictures,
    })
}

/// Splits a name: `G1 sum of 2^8 multiples` has the kind `G1 sum of multiples` and the exponent 8.
fn kind(name: &str) -> Option<(String, i32)> {
    let (before, after) = name.split_once("2^")?;
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let exponent: i32 = after[..end].parse().ok().filter(|exponent| (0..40).contains(exponent))?;
    let kind = format!("{}{}", before, after[end..].trim_start());
    Some((kind.trim().trim_end_matches(" of").to_owned(), exponent))
}

fn chart(kind: &str, sizes: &[(i32, Measured<'_>)]) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for (exponent, of) in sizes {
        for record in &of.table.records {
            let name = of.product(record);
            let x = 2_f64.powi(*exponent);
            let y = of.time(record) / x;
            let title = format!("{name}, {x} points: {} each", duration(y));
            let point = Point { x, y, title, ..Point::default() };
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => {
                    let style = Style::of(&name, series.len());
                    series.push(Series { name, style, join: Join::Line, points: vec![point] });
                }
            }
        }
    }
    for series in &mut series {
        series.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let described = series.iter().flat_map(|series| &series.points).map(|point| &*point.title);
    Chart {
        title: format!("Time per point against size: {kind}"),
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
    use super::kind;

    #[test]
    fn sizes_are_read_from_names() {
        assert_eq!(kind("G1 sum of 2^12 multiples"), Some(("G1 sum of multiples".into(), 12)));
        assert_eq!(kind("Fr transform of 2^8"), Some(("Fr transform".into(), 8)));
        assert_eq!(super::power(65536.0), "2¹⁶");
        assert_eq!(kind("2^99 of them"), None);
        assert_eq!(kind("pairing of 6"), None);
    }
}
