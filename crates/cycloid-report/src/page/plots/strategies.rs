//! Plots time against memory for strategies with the same result.

use super::figure::{Figure, Picture};
use crate::page::chart::{Axis, Chart, Join, Point, Series};
use crate::page::measured::{Measured, bytes, duration};
use crate::page::pareto;
use crate::page::scale::Kind;
use crate::page::series::Style;
use cycloid_lab::record::Record;

/// Fewer strategies are not plotted.
const FEWEST: usize = 6;

pub(super) fn figure(tables: &[Measured<'_>]) -> Option<Figure> {
    let mut key: Vec<(String, Style, bool)> = Vec::new();
    let mut pictures = Vec::new();
    let mut most = 0;
    for of in tables {
        let strategies = strategies(of);
        if strategies.len() < FEWEST {
            continue;
        }
        most = most.max(strategies.len());
        let groups = groups(&strategies);
        for (i, group) in groups.iter().enumerate() {
            if !key.iter().any(|(name, ..)| name == group) {
                key.push(((*group).into(), Style::nth(i), false));
            }
        }
        pictures.push(Picture::shown(of.table.title(), chart(of, &strategies, &groups).svg()));
    }
    if pictures.is_empty() {
        return None;
    }
    key.push(("open: time depends on the exponent".into(), Style::nth(0), true));
    Some(Figure {
        question: "Which strategy is worth its memory?",
        reading: format!(
            "Each mark is one of {most} strategies: its time, and its bytes of scratch. Lower left is \
             better. No strategy beats those on the solid line in both time and memory; the dashed line \
             is the same among constant-time strategies."
        ),
        key,
        in_pairs: false,
        pictures,
    })
}

/// Returns our strategies that have groups of their own and known memory.
fn strategies<'a>(of: &Measured<'a>) -> Vec<&'a Record> {
    let alone =
        |record: &&Record| of.is_ours(record) && record.group != record.implementation.product;
    let known = |record: &&Record| record.memory.scratch.is_some();
    of.table.records.iter().filter(alone).filter(known).collect()
}

fn groups<'a>(strategies: &[&'a Record]) -> Vec<&'a str> {
    let mut groups: Vec<&str> = Vec::new();
    for record in strategies {
        if !groups.contains(&&*record.group) {
            groups.push(&record.group);
        }
    }
    groups
}

fn chart(of: &Measured<'_>, strategies: &[&Record], groups: &[&str]) -> Chart {
    let place = |record: &Record| (record.memory.scratch.unwrap_or(0) as f64, of.time(record));
    let front = |which: &dyn Fn(&Record) -> bool| -> Vec<&Record> {
        let chosen: Vec<&Record> = strategies.iter().copied().filter(|r| which(r)).collect();
        let places: Vec<(f64, f64)> = chosen.iter().map(|record| place(record)).collect();
        pareto::front(&places).into_iter().map(|i| chosen[i]).collect()
    };
    let all = front(&|_| true);
    let constant_time = front(&|record| record.constant_time);
    let point = |record: &Record, label: bool| {
        let (x, y) = place(record);
        let name = format!("{} {}", record.group, record.label);
        let on = |front: &[&Record]| front.iter().any(|other| std::ptr::eq(*other, record));
        Point {
            x,
            y,
            label: if label && (on(&all) || on(&constant_time)) {
                record.label.clone()
            } else {
                String::new()
            },
            title: format!("{name}: {}, {} of scratch", duration(y), bytes(x)),
            hollow: !record.constant_time,
        }
    };
    let steps = |front: &[&Record], join| Series {
        name: String::new(),
        style: Style::NEUTRAL,
        join,
        points: front.iter().map(|record| point(record, false)).collect(),
    };
    let mut series = vec![steps(&all, Join::Steps), steps(&constant_time, Join::DashedSteps)];
    for (i, group) in groups.iter().enumerate() {
        let members = strategies.iter().filter(|record| record.group == *group);
        series.push(Series {
            name: (*group).into(),
            style: Style::nth(i),
            join: Join::Marks,
            points: members.map(|record| point(record, true)).collect(),
        });
    }
    let names = |front: &[&Record]| {
        let names = front.iter().map(|r| format!("{} {}", r.group, r.label));
        names.collect::<Vec<_>>().join(", ")
    };
    Chart {
        title: format!("Time against memory, {}", of.table.title()),
        description: format!(
            "Not beaten in both time and memory, by rising memory: {}. Among constant-time strategies: \
             {}.",
            names(&all),
            names(&constant_time)
        ),
        x: Axis { label: "scratch →", kind: Kind::Binary, show: bytes },
        y: Axis { label: "time ↑", kind: Kind::Decimal, show: duration },
        series,
    }
}
