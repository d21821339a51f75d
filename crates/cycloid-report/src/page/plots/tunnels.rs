//! Plots a tunnel's throughput against the processor time of both ends.

use super::figure::{Figure, Picture};
use crate::page::chart::{Axis, Chart, Join, Point, Series};
use crate::page::measured::{Measured, digits, rate};
use crate::page::scale::Kind;
use crate::page::series::Style;

pub(super) fn figure(tables: &[Measured<'_>]) -> Option<Figure> {
    let mut key: Vec<(String, Style, bool)> = Vec::new();
    let pictures: Vec<Picture> = tables
        .iter()
        .map(|of| (of, series(of, &mut key)))
        .filter(|(_, series)| !series.is_empty())
        .map(|(of, series)| Picture::shown(of.table.title(), chart(of, series).svg()))
        .collect();
    (!pictures.is_empty()).then(|| Figure {
        question: "What does a tunnel carry, and at what cost?",
        reading: "The throughput of one TCP stream through the tunnel, against the processor time of both \
                  ends per gigabyte, including kernel time. Lower right is better."
            .into(),
        key,
        in_pairs: false,
        pictures,
    })
}

/// Draws a mark for each measured pair of ends.
fn series(of: &Measured<'_>, key: &mut Vec<(String, Style, bool)>) -> Vec<Series> {
    let mut series = Vec::new();
    for record in &of.table.records {
        let Some(tunnel) = record.tunnel else { continue };
        let x = tunnel.megabits_per_second;
        let [server, client] =
            [tunnel.server_seconds_per_gigabyte, tunnel.client_seconds_per_gigabyte];
        let (name, y) = (record.label.clone(), server + client);
        let place = key.iter().position(|(other, ..)| *other == name).unwrap_or(key.len());
        let style = Style::of(&of.product(record), place);
        if place == key.len() {
            key.push((name.clone(), style, false));
        }
        let title = format!(
            "{name}: {} Mb/s, {} s per gigabyte at the server, {} s at the client",
            digits(x),
            digits(server),
            digits(client)
        );
        let points = vec![Point { x, y, label: name.clone(), title, hollow: false }];
        series.push(Series { name, style, join: Join::Marks, points });
    }
    series
}

fn chart(of: &Measured<'_>, series: Vec<Series>) -> Chart {
    let described = series.iter().flat_map(|series| &series.points).map(|point| &*point.title);
    Chart {
        title: format!("Throughput and processor time, {}", of.table.title()),
        description: described.collect::<Vec<_>>().join("; "),
        x: Axis { label: "Mb/s →", kind: Kind::Linear, show: rate },
        y: Axis { label: "processor seconds per gigabyte ↑", kind: Kind::Linear, show: digits },
        series,
    }
}
