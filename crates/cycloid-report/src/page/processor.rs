//! Separates what different processors measured, so that a page shows them side by side.

use super::measured::Measured;
use super::table::{Column, Grid};
use crate::tables::number::NONE;
use cycloid_lab::record::Environment;

/// Returns the short name of a processor, with the instruction set if the run was limited to it.
fn name(environment: &Environment) -> String {
    let Environment { cpu, level_used, level_detected, .. } = environment;
    let plain = cpu.replace("(R)", "").replace("(TM)", "").replace('@', "");
    let mut words: Vec<&str> = plain.split_whitespace().collect();
    if level_used != level_detected {
        words.push(level_used);
    }
    words.join(" ")
}

/// Returns the tables of each processor, in the order of first occurrence.
pub(super) fn separate<'a>(tables: &[Measured<'a>]) -> Vec<(String, Vec<Measured<'a>>)> {
    let mut processors: Vec<(String, Vec<Measured<'a>>)> = Vec::new();
    for of in tables {
        let name = name(&of.report.environment);
        match processors.iter_mut().find(|(other, _)| *other == name) {
            Some((_, tables)) => tables.push(*of),
            None => processors.push((name, vec![*of])),
        }
    }
    processors
}

/// A value of an item on a processor.
pub(super) struct Measure<T> {
    pub(super) name: String,
    pub(super) meaning: &'static str,
    pub(super) words: bool,
    pub(super) show: fn(&T) -> String,
}

impl<T> Measure<T> {
    /// Creates a measure that is a number.
    pub(super) fn number(
        name: impl Into<String>,
        meaning: &'static str,
        show: fn(&T) -> String,
    ) -> Self {
        Self { name: name.into(), meaning, words: false, show }
    }

    /// Creates a measure in words.
    pub(super) fn words(name: &str, meaning: &'static str, show: fn(&T) -> String) -> Self {
        Self { name: name.into(), meaning, words: true, show }
    }
}

/// Items by name, each with its results on the processors that have it.
pub(super) struct Items<T> {
    processors: Vec<String>,
    items: Vec<(String, Vec<Option<T>>)>,
}

impl<T> Items<T> {
    /// Creates items from each processor's.
    pub(super) fn new(of_processors: Vec<(String, Vec<(String, T)>)>) -> Self {
        let number = of_processors.len();
        let (mut processors, mut items) = (Vec::new(), Vec::<(String, Vec<Option<T>>)>::new());
        for (place, (processor, own)) in of_processors.into_iter().enumerate() {
            processors.push(processor);
            for (name, item) in own {
                match items.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, found)) => found[place] = Some(item),
                    None => {
                        let mut found: Vec<Option<T>> = (0..number).map(|_| None).collect();
                        found[place] = Some(item);
                        items.push((name, found));
                    }
                }
            }
        }
        Self { processors, items }
    }

    /// Returns the number of items.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns a table with a row per item and, for each measure, a column per processor.
    pub(super) fn grid(&self, caption: &str, first: &str, measures: &[Measure<T>]) -> Grid {
        let mut columns = vec![Column::words(first, "")];
        for Measure { name, meaning, words, .. } in measures {
            columns.extend(self.processors.iter().map(|processor| {
                let name = match self.processors.len() {
                    1 => name.clone(),
                    _ => format!("{name}, {processor}"),
                };
                Column { name, meaning, words: *words }
            }));
        }
        let rows = self.items.iter().map(|(name, items)| {
            let cells = measures.iter().flat_map(|measure| {
                let cell = |item: &Option<T>| item.as_ref().map_or(NONE.into(), measure.show);
                items.iter().map(cell)
            });
            std::iter::once(name.clone()).chain(cells).collect()
        });
        Grid { caption: caption.into(), columns, rows: rows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short() {
        let of = |cpu: &str, used: &str| {
            let mut environment = cycloid_lab::environment::current();
            (environment.cpu, environment.level_used) = (cpu.into(), used.into());
            environment.level_detected = "ifma".into();
            name(&environment)
        };
        assert_eq!(of("Intel(R) Xeon(R) CPU @ 2.50GHz", "ifma"), "Intel Xeon CPU 2.50GHz");
        assert_eq!(of("AMD EPYC", "adx"), "AMD EPYC adx");
    }

    #[test]
    fn columns_stand_side_by_side_and_gaps_stay_visible() {
        let of = |items: &[(&str, i32)]| -> Vec<(String, i32)> {
            items.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let one = of(&[("a", 1), ("b", 2)]);
        let measures = || [Measure::number("value", "", i32::to_string)];
        let alone = Items::new(vec![("x".into(), one.clone())]).grid("c", "item", &measures());
        assert_eq!(alone.columns[1].name, "value");
        let both = Items::new(vec![("x".into(), one), ("y".into(), of(&[("c", 3), ("a", 4)]))]);
        let grid = both.grid("c", "item", &measures());
        let names: Vec<&str> = grid.columns.iter().map(|column| &*column.name).collect();
        assert_eq!(names, ["item", "value, x", "value, y"]);
        assert_eq!(grid.rows, [["a", "1", "4"], ["b", "2", NONE], ["c", NONE, "3"]]);
    }
}
