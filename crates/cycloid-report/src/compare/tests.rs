//! Verdicts on records with known truth: simulated machines that drift, rows with jitter, and
//! planted differences.

use serde_json::{Value, json};

use super::*;
use cycloid_lab::measure::random::Random;
use cycloid_lab::record::{Count, Environment, FORMAT, Instructions, Record};
use cycloid_lab::suite::LIBRARY;

const TABLES: usize = 30;
const OURS: usize = 4;

/// A simulated machine like the one of `docs/results`.
struct Machine {
    random: Random,
    /// The common relative drift of all times from run to run and table to table.
    drift: f64,
    /// The jitter of a row from run to run; one of twenty rows gets three times that.
    jitter: f64,
    /// The error of the median of a run's samples.
    within: f64,
}

impl Machine {
    const fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), drift: 0.3, jitter: 0.01, within: 0.002 }
    }

    /// Returns a normally distributed number (Box and Muller, 1958).
    fn normal(&mut self) -> f64 {
        let mut uniform = || (self.random.next() >> 11) as f64 / 2f64.powi(53);
        let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform()).cos()
    }

    fn jitter(&mut self) -> f64 {
        let far = if self.random.below(20) == 0 { 3.0 } else { 1.0 };
        self.normal() * self.jitter * far + self.normal() * self.within
    }

    /// Simulates a run at that minute. `slower` returns the factor by which one of our rows is
    /// slower.
    fn run(&mut self, minute: usize, peers: usize, slower: impl Fn(usize, usize) -> f64) -> Report {
        let tables = (0..TABLES).map(|table| {
            let drift = (self.normal() * self.drift).exp();
            let mut records = Vec::new();
            for row in 0..OURS + peers {
                let truth = 1e5 * (1 + table) as f64 * (1.0 + 0.3 * row as f64);
                let change = if row < OURS { slower(table, row) } else { 1.0 };
                records.push((row, truth * change * drift * self.jitter().exp()));
            }
            let reference = records[0].1;
            let records = records.into_iter().map(|(row, time)| record(row, time, reference));
            recorded(table, records.collect())
        });
        let environment = Environment {
            date: format!("2026-01-01T{:02}:{:02}:00Z", minute / 60, minute % 60),
            ..cycloid_lab::environment::current()
        };
        let report = json!({
            "format": FORMAT,
            "environment": environment,
            "effort": "plain",
            "peers": [{ "name": "peer 1", "version": "1" }],
            "tables": tables.collect::<Vec<_>>(),
        });
        serde_json::from_value(report).unwrap()
    }

    /// Simulates this number of runs per side, alternating.
    fn sides(
        &mut self,
        runs: usize,
        peers: usize,
        slower: impl Fn(usize, usize) -> f64,
    ) -> [Vec<Report>; 2] {
        let mut sides = [Vec::new(), Vec::new()];
        for round in 0..runs {
            sides[0].push(self.run(2 * round, peers, |_, _| 1.0));
            sides[1].push(self.run(2 * round + 1, peers, &slower));
        }
        sides
    }
}

/// Further fields of later record versions are optional.
fn record(row: usize, time: f64, reference: f64) -> Value {
    let ours = row < OURS;
    let library = if ours { LIBRARY.into() } else { format!("peer {row}") };
    let spread = |x: f64| [x * 0.996, x * 1.004];
    let (ratio, samples) = if row == 0 { (1.0, 0) } else { (time / reference, 100) };
    json!({
        "operation": "operation",
        "parameters": {},
        "group": library,
        "label": format!("row {row}"),
        "implementation": {
            "library": library,
            "version": "1",
            "function": "f",
            "backend": ours.then_some("adx"),
        },
        "constant_time": true,
        "operations_per_call": 1,
        "time": {
            "samples": 100,
            "minimum_ns": time * 0.99,
            "median_ns": time,
            "interval_ns": spread(time),
            "operations_per_second": 1e9 / time,
        },
        "ratio": { "samples": samples, "median": ratio, "interval": spread(ratio) },
        "memory": {},
    })
}

fn recorded(table: usize, records: Vec<Value>) -> Value {
    json!({
        "suite": if table < TABLES / 2 { "ec" } else { "rsa" },
        "group": format!("table {table}"),
        "parameters": {},
        "reference": "row 0",
        "records": records,
        "control": { "samples": 100, "median": 1.0005, "interval": [0.998, 1.002] },
        "rounds": 100,
        "seconds": 1.0,
        "missing": [],
        "notes": [],
    })
}

fn judged([old, new]: &[Vec<Report>; 2]) -> Comparison {
    compare(old, new, THRESHOLD).unwrap()
}

fn of(comparison: &Comparison, table: usize, row: usize) -> Option<Verdict> {
    comparison.tables[table].rows[row].verdict
}

#[test]
fn twenty_comparisons_of_a_program_with_itself_give_no_faster_or_slower() {
    for (runs, peers) in [(1, 1), (1, 2), (1, 5), (2, 3), (3, 3), (5, 5), (1, 0), (3, 0), (5, 0)] {
        for seed in 0..20 {
            let sides = Machine::new(seed).sides(runs, peers, |_, _| 1.0);
            let comparison = judged(&sides);
            let wrong = comparison.count(Verdict::Faster) + comparison.count(Verdict::Slower);
            assert_eq!(wrong, 0, "{runs} runs, {peers} peers, seed {seed}");
        }
    }
}

#[test]
fn on_a_quiet_machine_a_program_is_the_same_as_itself() {
    for runs in [1, 3, 5] {
        let mut machine = Machine { jitter: 0.0005, within: 0.0005, ..Machine::new(1) };
        let comparison = judged(&machine.sides(runs, 4, |_, _| 1.0));
        assert_eq!(comparison.count(Verdict::Same), TABLES * OURS, "{runs} runs");
    }
}

#[test]
fn planted_differences_are_found() {
    // The changes that are detectable in this jitter, by the number of runs.
    for (runs, peers, change) in [(1, 5, 1.5), (3, 5, 1.3), (5, 5, 1.2), (10, 5, 1.1)] {
        for seed in 0..10 {
            let planted = |table, row| match (table, row) {
                (3, 1) => change,
                (20, 2) => 1.0 / change,
                _ => 1.0,
            };
            let sides = Machine::new(seed).sides(runs, peers, planted);
            let comparison = judged(&sides);
            assert_eq!(of(&comparison, 3, 1), Some(Verdict::Slower), "{runs} runs, seed {seed}");
            assert_eq!(of(&comparison, 20, 2), Some(Verdict::Faster), "{runs} runs, seed {seed}");
            let told = comparison.count(Verdict::Faster) + comparison.count(Verdict::Slower);
            assert_eq!(told, 2, "{runs} runs, seed {seed}");
            assert!(comparison.is_slower());
        }
    }
}

#[test]
fn on_a_quiet_machine_three_per_cent_are_found_in_one_run() {
    let planted = |table: usize, _| if table == 7 { 1.03 } else { 1.0 };
    for seed in 0..10 {
        let mut machine = Machine { jitter: 0.0005, within: 0.0005, ..Machine::new(seed) };
        let comparison = judged(&machine.sides(1, 4, planted));
        for row in 0..OURS {
            assert_eq!(of(&comparison, 7, row), Some(Verdict::Slower), "row {row}, seed {seed}");
        }
        assert_eq!(comparison.count(Verdict::Slower), OURS);
    }
}

#[test]
fn a_significant_difference_below_the_floor_is_the_same() {
    let mut machine = Machine { jitter: 0.0002, within: 0.0002, ..Machine::new(1) };
    let sides = machine.sides(5, 4, |_, _| 1.006);
    assert_eq!(judged(&sides).count(Verdict::Same), TABLES * OURS);
    let [old, new] = &sides;
    let sharper = compare(old, new, 0.003).unwrap();
    assert_eq!(sharper.count(Verdict::Slower), TABLES * OURS);
}

#[test]
fn without_unchanged_rows_only_alternating_runs_have_a_verdict() {
    let slower = |_, _| 2.0;
    let quiet = || Machine { drift: 0.01, ..Machine::new(4) };
    let sides = quiet().sides(5, 0, slower);
    assert_eq!(judged(&sides).count(Verdict::Slower), TABLES * OURS);
    let sides = quiet().sides(2, 0, slower);
    assert_eq!(judged(&sides).count(Verdict::NotEnoughData), TABLES * OURS);
    // All runs of one side precede those of the other: the machine may have caused the difference.
    let mut machine = quiet();
    let old: Vec<Report> = (0..5).map(|minute| machine.run(minute, 0, |_, _| 1.0)).collect();
    let new: Vec<Report> = (5..10).map(|minute| machine.run(minute, 0, slower)).collect();
    assert_eq!(judged(&[old, new]).count(Verdict::NotEnoughData), TABLES * OURS);
}

#[test]
fn a_difference_that_does_not_recur_is_not_significant() {
    let mut machine = Machine { jitter: 0.0005, within: 0.0005, ..Machine::new(2) };
    let mut sides = machine.sides(4, 4, |_, _| 1.0);
    // Two of the four new runs are slow, as after half a minute of other load on the machine.
    for run in &mut sides[1][..2] {
        run.tables[0].records[1].ratio.median *= 1.5;
    }
    let comparison = judged(&sides);
    assert_eq!(of(&comparison, 0, 1), Some(Verdict::NotEnoughData));
    assert_eq!(of(&comparison, 0, 2), Some(Verdict::Same));
}

#[test]
fn a_peer_in_another_version_has_a_verdict_but_does_not_fail_the_comparison() {
    let mut machine = Machine { jitter: 0.0005, within: 0.0005, ..Machine::new(2) };
    let mut sides = machine.sides(1, 4, |_, _| 1.0);
    for table in &mut sides[1][0].tables {
        table.records[OURS].implementation.version = "2".into();
        table.records[OURS].ratio.median *= 1.3;
    }
    let comparison = judged(&sides);
    assert_eq!(comparison.tables[0].unchanged, 3);
    assert_eq!(comparison.count(Verdict::Slower), TABLES);
    assert!(!comparison.is_slower());
}

#[test]
fn rows_of_one_side_and_differing_environments_are_listed() {
    let mut machine = Machine::new(1);
    let mut sides = machine.sides(1, 2, |_, _| 1.0);
    sides[0][0].tables[0].records.remove(1);
    sides[1][0].tables.remove(5);
    sides[1][0].environment.compiler = "rustc 2".into();
    sides[1][0].peers[0].version = Some("2".into());
    let comparison = judged(&sides);
    assert_eq!(comparison.only[1], ["ec: table 0, Cycloid, row 1"]);
    assert_eq!(comparison.only[0].len(), OURS + 2);
    let [compiler, peer] = &comparison.circumstances[..] else { panic!() };
    assert!(compiler.starts_with("compiler: ") && compiler.ends_with("→ rustc 2"), "{compiler}");
    assert_eq!(peer, "peer 1: 1 → 2");
    assert!(compare(&sides[0], &[], THRESHOLD).is_err());
    sides[0][0].tables.clear();
    assert!(compare(&sides[0], &sides[1], THRESHOLD).is_err());
}

#[test]
fn all_formats_agree_and_text_fits_80_columns() {
    let planted = |table: usize, row| if table == 7 && row == 2 { 1.5 } else { 1.0 };
    let mut machine = Machine { jitter: 0.0005, within: 0.0005, ..Machine::new(3) };
    let mut sides = machine.sides(1, 4, planted);
    sides[1][0].environment.compiler = "rustc with a name that is long ".repeat(4);
    let comparison = judged(&sides);
    let short = text(&comparison, false);
    assert!(short.lines().all(|line| line.chars().count() <= 80), "{short}");
    assert!(short.contains("1 slower, 119 same"), "{short}");
    let row = short.lines().find(|line| line.contains("row 2")).unwrap();
    assert!(row.starts_with("  Cycloid, row 2") && row.ends_with("slower"), "{row}");
    assert_eq!(short.matches("row 2").count(), 1);
    let long = text(&comparison, true);
    assert_eq!(long.matches("unchanged\n").count(), TABLES * 4, "{long}");
    assert!(long.lines().all(|line| line.chars().count() <= 80));

    let csv = csv(&comparison);
    assert_eq!(csv.lines().count(), 1 + TABLES * (OURS + 4));
    assert!(csv.lines().all(|line| line.split(',').count() >= 15));
    let markdown = markdown(&comparison, false);
    assert!(markdown.contains("| ec: table 7, Cycloid, row 2 |"), "{markdown}");
    assert_eq!(markdown.lines().filter(|line| line.ends_with("slower |")).count(), 1);
    let json = serde_json::to_value(&comparison).unwrap();
    assert_eq!(json.pointer("/tables/7/rows/2/verdict").unwrap(), "slower");
}

/// A report in which one of our rows and one of a peer's rows have these counts, lowest and
/// highest.
fn counted(ours: [f64; 2], peer: [f64; 2]) -> Report {
    let mut report = Machine::new(1).run(0, 2, |_, _| 1.0);
    let count = |range: [f64; 2]| Count {
        count: f64::midpoint(range[0], range[1]),
        range,
        runs: 4,
        code_bytes: 4096,
    };
    let records = &mut report.tables[0].records;
    let of_ours = Instructions { portable: Some(count(ours)), ..Instructions::default() };
    let of_peer = Instructions { peer: Some(count(peer)), ..Instructions::default() };
    (records[1].instructions, records[OURS].instructions) = (Some(of_ours), Some(of_peer));
    report
}

#[test]
fn any_difference_between_counts_is_reported_unless_ranges_overlap() {
    let old = counted([1e9; 2], [100.0, 110.0]);
    for (ours, peer, verdicts) in [
        ([1e9; 2], [100.0, 110.0], [CountVerdict::Same; 2]),
        ([1e9 + 1.0; 2], [111.0, 120.0], [CountVerdict::More; 2]),
        ([1e9 - 1.0; 2], [90.0, 99.0], [CountVerdict::Fewer; 2]),
        ([1e9; 2], [105.0, 106.0], [CountVerdict::Same, CountVerdict::Varies]),
    ] {
        let new = counted(ours, peer);
        let comparison = judged(&[vec![old.clone()], vec![new]]);
        let rows = &comparison.tables[0].rows;
        assert_eq!([1, OURS].map(|row| rows[row].counted[0].verdict), verdicts);
        assert!(rows[0].counted.is_empty() && !comparison.is_slower());
        let is_change = verdicts[0] != CountVerdict::Same;
        let short = text(&comparison, false);
        assert_eq!(short.contains("portable, Cycloid, row 1"), is_change, "{short}");
        assert!(short.lines().all(|line| line.chars().count() <= 80), "{short}");
        assert!(short.contains("\ninstructions: "), "{short}");
        assert!(text(&comparison, true).contains("portable, Cycloid, row 1"));
        let markdown = markdown(&comparison, false);
        assert_eq!(markdown.contains("Cycloid, row 1, portable |"), is_change, "{markdown}");
        let csv = csv(&comparison);
        let columns = csv.lines().map(|line| line.split(',').count()).collect::<Vec<_>>();
        assert!(columns.iter().all(|number| *number == columns[0]), "{csv}");
    }
    // Counts that only one side has are not compared.
    let comparison = judged(&[vec![old], vec![Machine::new(1).run(0, 2, |_, _| 1.0)]]);
    assert!(!text(&comparison, true).contains("instructions"));
}

/// A peer's row without a time would make each change of its table undefined, and a slower row of
/// ours would go unnoticed.
#[test]
fn a_row_without_a_time_is_named_and_not_compared() {
    let mut machine = Machine { jitter: 0.0005, within: 0.0005, ..Machine::new(1) };
    let sides = machine.sides(1, 4, |_, _| 2.0);
    assert!(judged(&sides).is_slower());
    for number in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY] {
        let spoils: [fn(&mut Record, f64); 2] =
            [|row, x| row.ratio.median = x, |row, x| row.time.median_ns = x];
        for spoil in spoils {
            let mut sides = sides.clone();
            spoil(&mut sides[0][0].tables[7].records[OURS], number);
            let failure = compare(&sides[0], &sides[1], THRESHOLD).unwrap_err();
            assert!(failure.message.starts_with("ec: table 7, peer 4, row 4: "), "{failure}");
        }
    }
}
