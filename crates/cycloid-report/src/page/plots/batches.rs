//! Plots throughput against the batch size.

use super::figure::{Figure, Picture, groups};
use crate::page::chart::{Axis, Chart, Join, Point, Series};
use crate::page::measured::{Measured, digits, rate};
use crate::page::scale::Kind;
use crate::page::series::Style;
use crate::page::table::per_second;
use cycloid_lab::record::Method;

/// Fewer batch sizes are not plotted.
const FEWEST: usize = 4;

pub(super) fn figure(tables: &[Measured<'_>]) -> Option<Figure> {
    let lines: Vec<(Measured<'_>, Vec<Point>)> = tables
        .iter()
        .map(|of| (*of, points(of)))
        .filter(|(_, points)| points.len() >= FEWEST)
        .collect();
    let measured: Vec<Measured<'_>> = lines.iter().map(|(of, _)| *of).collect();
    let groups = groups(&measured);
    let alone = groups.iter().all(|(_, tables)| tables.len() == 1);
    let series = |(i, (of, points)): (usize, &(Measured<'_>, Vec<Point>))| Series {
        name: if alone { of.group() } else { of.name() }.to_owned(),
        style: Style::nth(i),
        join: Join::Line,
        points: points.clone(),
    };
    let pictures = if alone {
        vec![Picture::shown("", chart("", lines.iter().enumerate().map(series).collect()).svg())]
    } else {
        let of_group = |(group, _): &(&str, Vec<Measured<'_>>)| {
            let lines = lines.iter().filter(|(of, _)| of.group() == *group);
            let series = lines.enumerate().map(series).collect();
            Picture::shown(*group, chart(group, series).svg())
        };
        groups.iter().map(of_group).collect()
    };
    (!lines.is_empty()).then(|| Figure {
        question: "What does a batch gain?",
        reading: "Operations per second against batch size. Eight operations run in parallel; the \
                  remainder at the end of a batch uses the fastest method."
            .into(),
        key: Vec::new(),
        in_pairs: false,
        pictures,
    })
}

/// Returns a point for each batch size, by rising size; a single operation has size one.
fn points(of: &Measured<'_>) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let ours = of.table.records.iter().filter(|record| of.is_ours(record));
    for record in ours.filter(|record| record.method != Method::Other) {
        let (x, y) = (f64::from(record.operations_per_call), record.time.operations_per_second);
        let title = format!("{} at once: {} per second", digits(x), per_second(y));
        match points.iter_mut().find(|point| point.x == x) {
            // The existing point is the single operation; a batch of one is the better comparison.
            Some(point) => *point = Point { x, y, title, ..Point::default() },
            None => points.push(Point { x, y, title, ..Point::default() }),
        }
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn chart(group: &str, series: Vec<Series>) -> Chart {
    let described = series.iter().map(|series| {
        let points: Vec<&str> = series.points.iter().map(|point| &*point.title).collect();
        format!("{}: {}", series.name, points.join(", "))
    });
    Chart {
        title: format!("Operations per second against batch size. {group}"),
        description: described.collect::<Vec<_>>().join(". "),
        x: Axis { label: "batch size →", kind: Kind::Binary, show: digits },
        y: Axis { label: "operations per second ↑", kind: Kind::Decimal, show: rate },
        series,
    }
}
