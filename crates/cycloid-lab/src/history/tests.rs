use std::collections::BTreeMap;

use super::*;
use crate::compare::THRESHOLD;
use crate::measure::random::Random;
use crate::record::Report;

const ROW: &str = "ec: P-256: sign, Cycloid, default";

fn entry(day: usize, ratio: f64) -> Entry {
    let rows = [(ROW.to_owned(), Point { ns: ratio * 20_000.0, ratio: Some(ratio) })];
    Entry {
        date: format!("2026-01-{day:02}T00:00:00Z"),
        commit: Some(format!("c{day}")),
        machine: "a machine".into(),
        compiler: "rustc".into(),
        peers: BTreeMap::from([("ring".into(), "1".into())]),
        means: BTreeMap::from([("ec".into(), ratio)]),
        rows: rows.into(),
    }
}

/// Runs with two per cent noise.
fn noisy(runs: usize, seed: u64) -> Vec<Entry> {
    let mut random = Random::new(seed);
    let mut noise = || (random.next() as f64 / 2f64.powi(64) - 0.5) * 0.04;
    (1..=runs).map(|day| entry(day, 0.8 * (1.0 + noise()))).collect()
}

fn verdict(history: &[Entry], newest: &Entry) -> Verdict {
    let [check] = &check(history, newest, THRESHOLD)[..] else { panic!() };
    check.verdict
}

#[test]
fn normal_variation_is_the_same_and_outliers_are_flagged() {
    for seed in 0..50 {
        let history = noisy(21, seed);
        let (newest, earlier) = history.split_last().unwrap();
        assert_eq!(verdict(earlier, newest), Verdict::Same, "seed {seed}");
        assert_eq!(verdict(&history, &entry(30, 1.0)), Verdict::Slower, "seed {seed}");
        assert_eq!(verdict(&history, &entry(30, 0.6)), Verdict::Faster, "seed {seed}");
    }
}

#[test]
fn few_runs_or_runs_on_another_machine_are_not_enough_data() {
    assert_eq!(verdict(&noisy(FEWEST - 1, 1), &entry(30, 2.0)), Verdict::NotEnoughData);
    let mut elsewhere = entry(30, 2.0);
    elsewhere.machine = "another machine".into();
    assert_eq!(verdict(&noisy(30, 1), &elsewhere), Verdict::NotEnoughData);
    assert_eq!(verdict(&[], &entry(1, 1.0)), Verdict::NotEnoughData);
}

#[test]
fn changes_below_the_floor_of_relevance_are_the_same() {
    let still: Vec<Entry> = (1..=12).map(|day| entry(day, 0.8)).collect();
    assert_eq!(verdict(&still, &entry(30, 0.807)), Verdict::Same);
    assert_eq!(verdict(&still, &entry(30, 0.81)), Verdict::Slower);
}

#[test]
fn lines_round_trip() {
    let entries = noisy(3, 1);
    let text: String = entries.iter().map(Entry::line).collect();
    assert_eq!(text.lines().count(), 3);
    assert_eq!(read(&text, "it").unwrap(), entries);
    let failure = read(&format!("{text}\nx"), "it").unwrap_err();
    assert!(failure.message.starts_with("it, line 5: "), "{failure}");
}

#[test]
fn history_is_shown_by_suite_or_by_row() {
    let entries = [entry(1, 0.8), entry(2, 0.75)];
    let means = show(&entries, &[]).unwrap();
    assert!(means.starts_with("ec: time relative"), "{means}");
    assert!(means.contains("2026-01-02T00:00:00Z  c2             0.750"), "{means}");
    let row = show(&entries, &["sign".into(), "p-256".into()]).unwrap();
    assert!(row.starts_with(ROW) && row.contains("15.0 µs"), "{row}");
    assert!(show(&entries, &["verify".into()]).is_err());
}

#[test]
fn a_committed_record_becomes_an_entry() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/ec-zen-5.json");
    let text = std::fs::read_to_string(path).unwrap();
    let report = Report::from_json(&text, path).unwrap();
    let entry = Entry::of(&report, None);
    assert!(entry.rows.len() > 30 && entry.means.len() == 1, "{entry:?}");
    let point = entry.rows["ec: P-256: sign, Cycloid, default"];
    let peers = report.tables.iter().find(|table| table.title == "P-256: sign").unwrap();
    let peers = peers.records.iter().filter(|record| record.group != "Cycloid");
    let ratios: Vec<f64> = peers.map(|record| record.ratio.median).collect();
    let mean = ratios.iter().product::<f64>().powf(1.0 / ratios.len() as f64);
    assert!((point.ratio.unwrap() * mean - 1.0).abs() < 1e-4);
}
