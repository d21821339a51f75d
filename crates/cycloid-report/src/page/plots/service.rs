//! Plots a service under load: its throughput, and the latency seen by its clients.

use super::figure::{Figure, Picture, groups};
use crate::page::chart::{Axis, Chart, Join, Point, Series};
use crate::page::measured::{Measured, digits, duration, rate};
use crate::page::scale::Kind;
use crate::page::series::Style;
use crate::page::table::per_second;
use cycloid_lab::record::{Record, Service};

pub(super) fn figure(tables: &[Measured<'_>]) -> Option<Figure> {
    let served: Vec<Measured<'_>> = tables
        .iter()
        .copied()
        .filter(|of| of.table.records.iter().any(|record| record.service.is_some()))
        .collect();
    let mut key: Vec<(String, Style, bool)> = Vec::new();
    let mut pictures = Vec::new();
    // Another record with the same tables is another run; its points belong to other lines.
    let runs = served.chunk_by(|a, b| a.source == b.source).flat_map(groups);
    for (group, tables) in runs {
        if tables.len() < 2 {
            continue;
        }
        for (i, (name, _)) in lines(&tables).into_iter().enumerate() {
            if !key.iter().any(|(other, ..)| *other == name) {
                key.push((name.clone(), Style::of(&name, i), false));
            }
        }
        pictures
            .push(Picture::shown(format!("{group}: throughput"), throughput(group, &tables).svg()));
        pictures.push(Picture::shown(format!("{group}: latency"), latency(group, &tables).svg()));
    }
    (!pictures.is_empty()).then(|| Figure {
        question: "What happens under load?",
        reading: "Each client waits for a response before its next request, so more clients are more load. \
                  Throughput is the total of all clients; latency is from request to response: the solid \
                  line is the median, the dashed line the 99th percentile."
            .into(),
        key,
        in_pairs: true,
        pictures,
    })
}

/// Returns each product with its rows, by rising numbers of clients.
fn lines<'a>(tables: &[Measured<'a>]) -> Vec<(String, Vec<(Service, &'a Record)>)> {
    let mut lines: Vec<(String, Vec<(Service, &Record)>)> = Vec::new();
    for of in tables {
        for record in &of.table.records {
            let (Some(service), name) = (record.service, of.product(record)) else { continue };
            match lines.iter_mut().find(|(other, _)| *other == name) {
                Some((_, points)) => points.push((service, record)),
                None => lines.push((name, vec![(service, record)])),
            }
        }
    }
    for (_, points) in &mut lines {
        points.sort_by_key(|(service, _)| service.clients);
    }
    lines
}

fn clients(service: &Service) -> String {
    format!("{} client{}", service.clients, if service.clients == 1 { "" } else { "s" })
}

const CLIENTS: Axis = Axis { label: "concurrent clients →", kind: Kind::Binary, show: digits };

fn throughput(group: &str, tables: &[Measured<'_>]) -> Chart {
    let series = lines(tables).into_iter().enumerate().map(|(i, (name, points))| {
        let points = points.iter().map(|(service, record)| {
            let y = record.time.operations_per_second;
            let title = format!("{name}, {}: {} per second", clients(service), per_second(y));
            Point { x: service.clients as f64, y, title, ..Point::default() }
        });
        let points = points.collect();
        Series { style: Style::of(&name, i), name, join: Join::Line, points }
    });
    chart(
        format!("Operations per second against clients, {group}"),
        Axis { label: "operations per second ↑", kind: Kind::Linear, show: rate },
        series.collect(),
    )
}

fn latency(group: &str, tables: &[Measured<'_>]) -> Chart {
    let mut series = Vec::new();
    for (i, (name, points)) in lines(tables).into_iter().enumerate() {
        for (part, join, of) in [
            ("p50", Join::Line, (|service| service.latency_median_ns) as fn(&Service) -> f64),
            ("p99", Join::Dashes, |service| service.latency_p99_ns),
        ] {
            let points = points.iter().map(|(service, _)| {
                let y = of(service);
                let title = format!("{name}, {}, {part}: {}", clients(service), duration(y));
                Point {
                    x: service.clients as f64,
                    y,
                    title,
                    hollow: part == "p99",
                    ..Point::default()
                }
            });
            let points = points.collect();
            let line = format!("{name} {part}");
            series.push(Series { style: Style::of(&name, i), name: line, join, points });
        }
    }
    chart(
        format!("Latency against clients, {group}"),
        Axis { label: "request to response ↑", kind: Kind::Decimal, show: duration },
        series,
    )
}

fn chart(title: String, y: Axis, series: Vec<Series>) -> Chart {
    let described = series.iter().flat_map(|series| &series.points).map(|point| &*point.title);
    let description = described.collect::<Vec<_>>().join("; ");
    Chart { title, description, x: CLIENTS, y, series }
}
