//! Plots the course of groups of rows from run to run.

use super::figure::{Figure, Picture};
use crate::history::{Course, Entry, courses};
use crate::page::chart::{Axis, Chart, Join, Point, Series};
use crate::page::measured::digits;
use crate::page::scale::Kind;
use crate::page::series::Style;
use crate::page::svg;
use crate::tables::number::proportion;

/// The room for the name of a group at the end of its line.
const NAME: f64 = 96.0;

pub(in crate::page) fn figure(suite: &str, runs: &[Entry]) -> Option<Figure> {
    let mut machines: Vec<(String, Vec<Course>)> = Vec::new();
    for course in courses(runs, suite).into_iter().filter(|course| course.steps.len() > 1) {
        match machines.iter_mut().find(|(machine, _)| *machine == course.machine) {
            Some((_, courses)) => courses.push(course),
            None => machines.push((course.machine.clone(), vec![course])),
        }
    }
    let pictures: Vec<Picture> = machines
        .iter()
        .map(|(machine, courses)| Picture::shown(machine, chart(machine, courses).svg()))
        .collect();
    (!pictures.is_empty()).then(|| Figure {
        question: "What changed from run to run?",
        reading: "The time of each group of rows relative to its first run on the machine: the middle row \
                  on the line, and the row that became slowest as an open mark. A row counts relative to \
                  the peers that both runs measured in the same version."
            .into(),
        key: Vec::new(),
        in_pairs: false,
        pictures,
    })
}

fn chart(machine: &str, courses: &[Course]) -> Chart {
    let series = courses.iter().enumerate().flat_map(|(i, course)| {
        let points = |which: fn(&crate::history::Step) -> f64, hollow| {
            let point = |step: &crate::history::Step| Point {
                x: step.run as f64,
                y: which(step),
                title: format!("{}, {}", course.group, step.summary),
                hollow,
                ..Point::default()
            };
            course.steps.iter().map(point).collect()
        };
        let style = Style::nth(i);
        let highest = points(|step| step.highest, true);
        let middle = points(|step| step.middle, false);
        [
            Series { name: String::new(), style, join: Join::Marks, points: highest },
            Series { name: svg::cut(&course.group, NAME), style, join: Join::Line, points: middle },
        ]
    });
    let described = courses
        .iter()
        .filter_map(|course| Some(format!("{}: {}", course.group, course.steps.last()?.summary)));
    Chart {
        title: format!("Time from run to run, {machine}"),
        description: described.collect::<Vec<_>>().join(". "),
        x: Axis { label: "run →", kind: Kind::Linear, show: run },
        y: Axis {
            label: "time relative to the first run ↑",
            kind: Kind::Decimal,
            show: proportion,
        },
        series: series.collect(),
    }
}

/// Names a run on the axis, and nothing between two runs.
fn run(number: f64) -> String {
    if number >= 1.0 && number.fract() == 0.0 { digits(number) } else { String::new() }
}
