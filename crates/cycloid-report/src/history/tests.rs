use std::collections::BTreeMap;

use super::change::{Place, since};
use super::*;
use crate::compare::THRESHOLD;
use cycloid_lab::measure::random::Random;
use cycloid_lab::record::Report;

const ROW: &str = "Cycloid, default";

/// The peers of most runs, with their times relative to the table's reference.
const PEERS: [(&str, &str, f64); 3] =
    [("ring", "1", 1.5), ("OpenSSL", "3.0", 3.0), ("graviola", "0.4", 1.2)];

/// A run in which a second row of the library takes `time`, in units of the reference's.
fn entry(day: usize, time: f64, peers: &[(&str, &str, f64)]) -> Entry {
    let peer = |&(name, version, ratio): &(&str, &str, f64)| {
        (name.to_owned(), PeerPoint { version: version.into(), ratio })
    };
    let point = |ratio| Point { ns: ratio * 20_000.0, ratio };
    Entry {
        date: format!("2026-01-{day:02}T00:00:00Z"),
        commit: Some(format!("c{day}")),
        machine: "a machine".into(),
        compiler: "rustc".into(),
        tables: vec![Table {
            suite: "ec".into(),
            group: "P-256".into(),
            name: "sign".into(),
            rows: BTreeMap::from([(ROW.to_owned(), point(time)), ("other".into(), point(1.0))]),
            peers: peers.iter().map(peer).collect(),
        }],
    }
}

fn usual(day: usize, time: f64) -> Entry {
    entry(day, time, &PEERS)
}

fn elsewhere(entry: Entry) -> Entry {
    Entry { machine: "another machine".into(), ..entry }
}

/// Compares the row of the last entry with its predecessor.
fn change(entries: &[Entry]) -> Change {
    let (newest, earlier) = entries.split_last().unwrap();
    let earlier: Vec<&Entry> = earlier.iter().collect();
    let table = &newest.tables[0];
    since(&Place { entry: newest, table, point: table.rows[ROW] }, ROW, &earlier).unwrap().1
}

fn assert_relative(change: Change, factor: f64, peers: usize) {
    let Change::Relative(found, number) = change else { panic!("{change:?}") };
    assert!((found - factor).abs() < 1e-9 && number == peers, "{change:?}");
}

#[test]
fn missing_and_added_peers_do_not_change_an_unchanged_row() {
    // The mean of the remaining peers is 1.5 times as high, the row's time the same.
    assert_relative(change(&[usual(1, 1.0), entry(2, 1.0, &PEERS[1..2])]), 1.0, 1);
    assert_relative(change(&[entry(1, 1.0, &PEERS[..2]), usual(2, 1.0)]), 1.0, 2);
    // A real change is found with the peers that remain.
    assert_relative(change(&[usual(1, 1.0), entry(2, 1.3, &PEERS[..1])]), 1.3, 1);
}

#[test]
fn only_peers_of_the_same_version_count() {
    let newer = [("ring", "2", 0.5), ("OpenSSL", "3.0", 3.0)];
    assert_relative(change(&[usual(1, 1.0), entry(2, 1.1, &newer)]), 1.1, 1);
    let other = elsewhere(entry(2, 1.1, &newer[..1]));
    let why = "other versions";
    assert_eq!(change(&[usual(1, 1.0), other]), Change::Incomparable(why));
}

#[test]
fn a_slower_machine_does_not_count_and_a_slower_row_does() {
    // The reference became slower by a half, so all others fell relative to it.
    let fallen = PEERS.map(|(name, version, ratio)| (name, version, ratio / 1.5));
    assert_relative(change(&[usual(1, 0.9), entry(2, 0.6, &fallen)]), 1.0, 3);
    assert_relative(change(&[usual(1, 0.9), entry(2, 0.9, &fallen)]), 1.5, 3);
}

#[test]
fn without_a_common_peer_runs_are_not_comparable() {
    let alone = entry(2, 1.0, &[]);
    let why = "no common peer";
    assert_eq!(change(&[usual(1, 1.0), elsewhere(alone.clone())]), Change::Incomparable(why));
    // Nor is the same machine, whose speed may have changed.
    assert_eq!(change(&[usual(1, 1.0), alone]), Change::Incomparable(why));
    // Another machine compares by its common peers, if the same machine has no run.
    assert_relative(change(&[usual(1, 1.0), elsewhere(usual(2, 2.0))]), 2.0, 3);
}

#[test]
fn the_predecessor_is_the_last_run_that_compares_best() {
    let runs = [usual(1, 1.0), elsewhere(usual(2, 3.0)), entry(3, 4.0, &[]), usual(4, 1.2)];
    assert_relative(change(&runs), 1.2, 3);
    let mut first = usual(4, 1.0);
    first.tables[0].name = "verify".into();
    let table = &first.tables[0];
    let place = Place { entry: &first, table, point: table.rows[ROW] };
    assert!(since(&place, ROW, &runs.iter().take(3).collect::<Vec<_>>()).is_none());
}

/// Runs with two per cent noise.
fn noisy(runs: usize, seed: u64) -> Vec<Entry> {
    let mut random = Random::new(seed);
    let mut noise = || (random.next() as f64 / 2f64.powi(64) - 0.5) * 0.04;
    (1..=runs).map(|day| usual(day, 0.8 * (1.0 + noise()))).collect()
}

fn verdict(history: &[Entry], newest: &Entry) -> Verdict {
    let checks = check(history, newest, THRESHOLD);
    checks.iter().find(|check| check.row == "ec: P-256: sign, default").unwrap().verdict
}

#[test]
fn normal_variation_is_the_same_and_outliers_are_flagged() {
    for seed in 0..50 {
        let history = noisy(21, seed);
        let (newest, earlier) = history.split_last().unwrap();
        assert_eq!(verdict(earlier, newest), Verdict::Same, "seed {seed}");
        assert_eq!(verdict(&history, &usual(30, 1.0)), Verdict::Slower, "seed {seed}");
        assert_eq!(verdict(&history, &usual(30, 0.6)), Verdict::Faster, "seed {seed}");
        // With fewer peers, the verdicts are the same.
        let fewer = |time| entry(30, time, &PEERS[1..2]);
        assert_eq!(verdict(earlier, &fewer(0.8)), Verdict::Same, "seed {seed}");
        assert_eq!(verdict(&history, &fewer(1.0)), Verdict::Slower, "seed {seed}");
    }
}

#[test]
fn few_runs_or_runs_on_another_machine_are_not_enough_data() {
    assert_eq!(verdict(&noisy(FEWEST - 1, 1), &usual(30, 2.0)), Verdict::NotEnoughData);
    assert_eq!(verdict(&noisy(30, 1), &elsewhere(usual(31, 2.0))), Verdict::NotEnoughData);
    assert_eq!(verdict(&noisy(30, 1), &entry(31, 2.0, &[])), Verdict::NotEnoughData);
    assert_eq!(verdict(&[], &usual(1, 1.0)), Verdict::NotEnoughData);
}

#[test]
fn changes_below_the_floor_of_relevance_are_the_same() {
    let still: Vec<Entry> = (1..=12).map(|day| usual(day, 0.8)).collect();
    assert_eq!(verdict(&still, &usual(30, 0.807)), Verdict::Same);
    assert_eq!(verdict(&still, &usual(30, 0.81)), Verdict::Slower);
}

#[test]
fn lines_round_trip_and_are_read_in_order_of_time() {
    let entries = noisy(3, 1);
    let text: String = entries.iter().rev().map(Entry::line).collect();
    assert_eq!(text.lines().count(), 3);
    assert_eq!(read(&text, "it").unwrap(), entries);
    let failure = read(&format!("{text}\nx"), "it").unwrap_err();
    assert!(failure.message.starts_with("it, line 5: "), "{failure}");
}

#[test]
fn the_overview_has_ranges_with_their_worst_rows_and_no_mean() {
    let text = show(&[usual(1, 0.8), usual(2, 0.75)], &[]).unwrap();
    let line = text.lines().find(|line| line.contains("P-256")).unwrap();
    assert_eq!(line, "    P-256                     2    −6.2 %    +0.0 %  sign, other");
    assert!(text.contains("  ec 2026-01-02 c2 "), "{text}");
    let first = show(&[usual(1, 0.8)], &[]).unwrap();
    assert!(first.contains("2  first run"), "{first}");
    let alone = show(&[usual(1, 0.8), elsewhere(entry(2, 2.0, &[]))], &[]).unwrap();
    let why = "  not comparable: other machine, no common peer";
    assert!(alone.contains(why) && !alone.contains('%'), "{alone}");
}

#[test]
fn rows_are_shown_run_by_run() {
    let entries = [usual(1, 0.8), usual(2, 0.75), elsewhere(entry(3, 2.0, &[]))];
    let row = show(&entries, &["sign".into(), "p-256".into(), "default".into()]).unwrap();
    let lines: Vec<&str> = row.lines().collect();
    assert_eq!(lines[0], "ec: P-256: sign, default");
    assert_eq!(lines[2], "    2026-01-01  c1            16.0 µs");
    assert_eq!(lines[3], "    2026-01-02  c2            15.0 µs    −6.2 %  to 3 peer rows");
    assert_eq!(lines[4], "  another machine");
    assert!(lines[5].ends_with("  not comparable: no common peer"), "{row}");
    assert!(show(&entries, &["verify".into()]).is_err());
}

#[test]
fn a_committed_record_becomes_an_entry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/ec-zen-5.json");
    let text = std::fs::read_to_string(path).unwrap();
    let report = Report::from_json(&text, path).unwrap();
    let entry = Entry::of(&report, None);
    assert_eq!(entry.tables.len(), report.tables.len());
    let is_wanted = |table: &&Table| (&*table.group, &*table.name) == ("P-256", "sign");
    let table = entry.tables.iter().find(is_wanted).unwrap();
    assert_eq!(table.rows[ROW].ratio, 1.0);
    assert!(table.peers.contains_key("OpenSSL, sign"), "{:?}", table.peers.keys());
    // The record compared with itself is unchanged.
    let later = Entry { date: "2999".into(), ..entry.clone() };
    for check in check(&[entry], &later, THRESHOLD) {
        assert!(check.change.is_some_and(|change| (change - 1.0).abs() < 1e-9), "{check:?}");
    }
}

#[test]
fn the_committed_history_fits_into_80_columns() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/history.jsonl");
    let entries = read(&std::fs::read_to_string(path).unwrap(), path).unwrap();
    for words in [vec![], vec!["e".to_owned()]] {
        let text = show(&entries, &words).unwrap();
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(widest.chars().count() <= 80, "{widest}");
    }
}

#[test]
fn courses_are_chained_like_with_like() {
    // The peers change in the third run; the other machine's run has none in common.
    let newer = [("ring", "2", 0.5), ("OpenSSL", "3.0", 3.0)];
    let entries = [
        usual(1, 1.0),
        elsewhere(entry(2, 9.0, &[])),
        usual(3, 1.1),
        entry(4, 1.21, &newer),
        entry(5, 5.0, &[]),
    ];
    let courses = courses(&entries, "ec");
    assert_eq!(courses.len(), 2);
    assert_eq!((&*courses[0].group, &*courses[0].machine), ("P-256", "a machine"));
    let highest: Vec<(usize, f64)> =
        courses[0].steps.iter().map(|step| (step.run, step.highest)).collect();
    // The last run has no common peer with any other.
    assert_eq!(highest.len(), 3);
    for ((run, level), expected) in highest.iter().zip([(1, 1.0), (2, 1.1), (3, 1.21)]) {
        assert!(*run == expected.0 && (level - expected.1).abs() < 1e-9, "{highest:?}");
    }
    assert_eq!(
        courses[0].steps[1].summary,
        "2026-01-03 c3: 2 rows +0.0 % to +10.0 %, highest sign, default"
    );
    assert_eq!(courses[1].steps.len(), 1);
    assert!(super::courses(&entries, "rsa").is_empty());
}
