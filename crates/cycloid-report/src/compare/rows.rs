//! Matches the rows of the two sides.

use cycloid_lab::record::{Record, Report, Table};

/// A table that both sides have, with the runs of each side that have it.
pub(super) struct Pair<'a> {
    pub(super) suite: &'a str,
    pub(super) title: String,
    /// The table of each run.
    pub(super) tables: [Vec<&'a Table>; 2],
    /// Rows that all of these runs have, in the order of the last new run: for each side, the
    /// record of each run.
    pub(super) rows: Vec<[Vec<&'a Record>; 2]>,
}

/// Matches the tables and rows of both sides. A row counts if every run that has its table has it.
pub(super) fn pair(sides: [&[Report]; 2]) -> Vec<Pair<'_>> {
    let Some(last) = sides[1].last() else { return Vec::new() };
    let mut pairs = Vec::new();
    for table in &last.tables {
        let tables = sides.map(|side| {
            side.iter().filter_map(|report| table_like(report, table)).collect::<Vec<_>>()
        });
        if tables.iter().any(Vec::is_empty) {
            continue;
        }
        let everywhere = |record: &Record| {
            let [old, new] = tables.each_ref().map(|tables| {
                tables.iter().map(|table| record_like(table, record)).collect::<Option<Vec<_>>>()
            });
            Some([old?, new?])
        };
        let rows: Vec<_> = table.records.iter().filter_map(everywhere).collect();
        if !rows.is_empty() {
            pairs.push(Pair { suite: &table.suite, title: table.title(), tables, rows });
        }
    }
    pairs
}

/// Returns the rows that no run of the other side has.
pub(super) fn only(sides: [&[Report]; 2]) -> [Vec<String>; 2] {
    let missing = |here: &[Report], there: &[Report]| {
        let mut names = Vec::new();
        for table in here.iter().flat_map(|report| &report.tables) {
            for record in &table.records {
                let same = |report: &Report| {
                    table_like(report, table).is_some_and(|t| record_like(t, record).is_some())
                };
                let name = row_in(table, record);
                if !there.iter().any(same) && !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    };
    [missing(sides[0], sides[1]), missing(sides[1], sides[0])]
}

/// Returns the name of a row with a time or ratio that has no logarithm. A single such row of a
/// peer would make every change of its table undefined.
pub(super) fn unusable(sides: [&[Report]; 2]) -> Option<String> {
    let is_usable = |number: f64| number.is_finite() && number > 0.0;
    for table in sides.into_iter().flatten().flat_map(|report| &report.tables) {
        let numbers = |row: &Record| [row.time.nanoseconds(table.statistic), row.ratio.median];
        let row = table.records.iter().find(|row| !numbers(row).into_iter().all(is_usable));
        if let Some(row) = row {
            return Some(row_in(table, row));
        }
    }
    None
}

/// Returns a row's whole name.
fn row_in(table: &Table, row: &Record) -> String {
    format!("{}: {}, {}", table.suite, table.title(), row.name())
}

/// Returns whether the runs of the two sides alternated, so that the machine's drift affected both:
/// ordered by date, the side changes at least once less often than a side has runs.
pub(super) fn alternate(sides: [&[Report]; 2]) -> bool {
    let dates = |i: usize| sides[i].iter().map(move |report| (&*report.environment.date, i));
    let mut runs: Vec<(&str, usize)> = dates(0).chain(dates(1)).collect();
    runs.sort_unstable();
    let changes = runs.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    changes + 1 >= sides[0].len().max(sides[1].len())
}

/// Returns whether a row is unchanged: a peer's, with the same version and function.
pub(super) fn is_unchanged(row: &[Vec<&Record>; 2]) -> bool {
    let first = row[0][0];
    !first.is_ours()
        && row.iter().flatten().all(|record| {
            let (a, b) = (&record.implementation, &first.implementation);
            a.version == b.version && a.function == b.function
        })
}

fn table_like<'a>(report: &'a Report, table: &Table) -> Option<&'a Table> {
    report.tables.iter().find(|other| other.is_like(table))
}

/// The backend is not compared: the choice of the backend may be what changed.
fn record_like<'a>(table: &'a Table, record: &Record) -> Option<&'a Record> {
    table.records.iter().find(|other| {
        other.group == record.group
            && other.label == record.label
            && other.implementation.product == record.implementation.product
            && other.parameters == record.parameters
    })
}
