//! Plots operations per second compared with the peers.

use super::figure::{Figure, Picture, groups};
use crate::page::dots::{Dot, Dots, Row};
use crate::page::measured::Measured;
use crate::page::series::Style;
use crate::page::summary::{Comparison, comparisons, geometric_mean};
use crate::page::table::per_second;
use crate::tables::number::proportion;
use cycloid_lab::record::{Method, Record, Summary};

/// Larger plots are folded behind an overview.
const MOST_ROWS: usize = 40;

pub(super) fn figure(tables: &[Measured<'_>]) -> Option<Figure> {
    let compared = comparisons(tables);
    let compared: Vec<Comparison<'_>> =
        compared.into_iter().filter(|c| c.of.table.summary != Summary::Service).collect();
    let first = compared.first()?;
    let name = first.of.product(first.ours);
    let members: Vec<Measured<'_>> = compared.iter().map(|comparison| comparison.of).collect();
    let mut key: Vec<(String, Style, bool)> = Vec::new();
    let mut drawn = Vec::new();
    for (group, tables) in groups(&members) {
        let rows: Vec<Row> = tables.iter().map(|of| row(of, &mut key)).collect();
        drawn.push((group, tables, rows));
    }
    let some_vary =
        drawn.iter().flat_map(|(_, _, rows)| rows).flat_map(|row| &row.dots).any(|d| d.hollow);
    let overview = members.len() > MOST_ROWS;
    let range: Vec<f64> = drawn
        .iter()
        .flat_map(|(_, _, rows)| rows)
        .flat_map(|row| row.dots.iter().map(|dot| dot.at))
        .collect();

    // Tables that are alone in their group share a plot.
    let alone = drawn.iter().all(|(_, tables, _)| tables.len() == 1);
    let mut pictures = Vec::new();
    if overview {
        let rows = groups(&members).into_iter().map(|(group, _)| {
            let of_group = compared.iter().filter(|comparison| comparison.of.group() == group);
            (group.to_owned(), of_group.collect::<Vec<_>>())
        });
        pictures.push(Picture::shown(
            "Overview by group",
            strip(&rows.collect::<Vec<_>>(), Vec::new()),
        ));
    }
    if alone {
        let rows = drawn.into_iter().map(|(group, _, row)| (group, row));
        let rows = rows.flat_map(|(group, rows)| {
            rows.into_iter().map(move |row| Row { name: group.to_owned(), ..row })
        });
        pictures.push(Picture::shown("", dots(&name, "", rows.collect(), range)));
    } else {
        for (group, tables, rows) in drawn {
            let count = rows.len();
            let ratios = compared.iter().filter(|c| c.of.group() == group).map(Comparison::one);
            let mean = geometric_mean(ratios).map_or_else(String::new, proportion);
            let heading = if overview {
                format!("{group}: {count} operations, geometric mean {mean} of the best peer")
            } else {
                group.to_owned()
            };
            let range = if overview { Vec::new() } else { range.clone() };
            let svg = dots(&name, tables[0].group(), rows, range);
            pictures.push(Picture { heading, svg, folded: overview });
        }
    }
    let hollow = if some_vary { " An open mark is not constant-time." } else { "" };
    Some(Figure {
        question: "How many operations per second, compared with the peers?",
        reading: format!(
            "Relative to {name}, one operation at a time; its rate is at the right. Marks left of the line \
             are slower, right of it faster.{hollow}"
        ),
        key,
        in_pairs: false,
        pictures,
    })
}

fn dots(name: &str, group: &str, rows: Vec<Row>, range: Vec<f64>) -> String {
    let described = rows.iter().map(|row| {
        let dots: Vec<&str> = row.dots.iter().map(|dot| &*dot.title).collect();
        format!("{}: {}", row.name, dots.join("; "))
    });
    let description = described.collect::<Vec<_>>().join(". ");
    let title = format!("Operations per second relative to {name}. {group}");
    Dots { title, description, label: "relative operations per second →", rows, range }.svg()
}

/// Returns a table as a row: our single and parallel operations, and each peer's fastest ones.
fn row(of: &Measured<'_>, key: &mut Vec<(String, Style, bool)>) -> Row {
    let reference = of.reference();
    let rate = |record: &Record| per_second(record.time.operations_per_second);
    // A peer's batch stands beside ours, not in the place of its single operation.
    let is_peers_batch = |record: &Record| {
        !of.is_ours(record) && reference.is_some_and(|one| !one.is_comparable_with(record))
    };
    let mut chosen: Vec<(String, &Record)> = Vec::new();
    let constant_time = reference.is_some_and(|record| record.constant_time);
    for record in &of.table.records {
        if of.is_ours(record) && record.method == Method::Other {
            continue;
        }
        let mut name = of.product(record);
        if is_peers_batch(record) {
            name += &format!(" ×{}", record.operations_per_call);
        }
        // If ours is constant-time, constant-time peers rank before faster ones.
        let rank = |record: &Record| (constant_time && !record.constant_time, record.ratio.median);
        match chosen.iter_mut().find(|(other, _)| *other == name) {
            None => chosen.push((name, record)),
            Some((_, other)) if rank(record) < rank(other) => *other = record,
            Some(_) => {}
        }
    }
    let dot = |(name, record): &(String, &Record)| {
        let place = key.iter().position(|(other, ..)| other == name);
        let style = |name: &str| Style::of(name, place.unwrap_or(key.len()));
        let style = match record.method {
            Method::Batch => Style::BATCH,
            _ if is_peers_batch(record) => style(&of.product(record)).of_batch(),
            Method::Single | Method::Other => style(name),
        };
        if place.is_none() {
            key.push((name.clone(), style, false));
        }
        let at = 1.0 / record.ratio.median;
        Dot {
            at,
            style,
            hollow: constant_time && !record.constant_time,
            title: format!("{name} {} per second, {}", rate(record), proportion(at)),
        }
    };
    let dots = chosen.iter().map(dot).collect();
    let remark = reference.map_or_else(String::new, |record| format!("{} /s", rate(record)));
    let name = if of.name().is_empty() { of.group() } else { of.name() };
    Row { name: name.into(), remark, dots }
}

/// Plots, for each part, the ratios of all its operations to their best peers, and the geometric
/// mean of the ratios. The axis includes `range`, so that several plots can share it.
pub(in crate::page) fn strip(parts: &[(String, Vec<&Comparison<'_>>)], range: Vec<f64>) -> String {
    let rows = parts.iter().map(|(name, compared)| {
        let mean = geometric_mean(compared.iter().map(|comparison| comparison.one()));
        let mut dots: Vec<Dot> = compared
            .iter()
            .map(|comparison| Dot {
                at: comparison.one(),
                style: Style::nth(1),
                hollow: true,
                title: format!("{}: {}", comparison.title(), proportion(comparison.one())),
            })
            .collect();
        dots.extend(mean.map(|mean| Dot {
            at: mean,
            style: Style::nth(0),
            hollow: false,
            title: format!("geometric mean: {}", proportion(mean)),
        }));
        let remark = mean.map_or_else(String::new, |mean| format!("×{}", proportion(mean)));
        Row { name: name.clone(), remark, dots }
    });
    let described = rows.clone().map(|row| format!("{}: {}", row.name, row.remark));
    Dots {
        title: "Operations per second relative to the best peer".into(),
        description: described.collect::<Vec<_>>().join(", "),
        label: "relative to the best peer →",
        rows: rows.collect(),
        range,
    }
    .svg()
}
