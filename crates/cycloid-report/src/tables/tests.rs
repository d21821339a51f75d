use super::*;
use cycloid_lab::record::{
    Count, FORMAT, Instructions, Memory, Method, Missing, Parameters, Ratio, Record, Series,
    Service, Statistic, Summary, Table, Time, Tunnel,
};

fn record(group: &str, label: &str, library: &str, constant_time: bool) -> Record {
    let ours = library == "Cycloid";
    Record {
        operation: "modular exponentiation".into(),
        parameters: Parameters::new(),
        group: group.into(),
        label: label.into(),
        method: match label {
            _ if !ours || label == "default" => Method::Single,
            "×8" => Method::Batch,
            _ => Method::Other,
        },
        implementation: Implementation {
            product: library.into(),
            version: "1.2.3".into(),
            function: format!("{library}_pow"),
            backend: ours.then(|| if label == "×8" { "ifma".into() } else { "adx".into() }),
        },
        constant_time,
        operations_per_call: 1,
        time: Time {
            samples: 100,
            minimum_ns: 123_456_789.0,
            median_ns: 1_234_567_890.0,
            mean_ns: 2_345_678_901.0,
            interval_ns: [1.2e9, 1.3e9],
            operations_per_second: 0.81,
        },
        ratio: Ratio {
            samples: usize::from(label != "default") * 100,
            median: 123.4,
            interval: [123.0, 124.0],
        },
        memory: Memory {
            scratch: ours.then_some(1_234_567),
            stack_peak: Some(123_456),
            heap_peak: Some(if ours { 0 } else { 100_000 }),
            heap_held: Some(if ours { 0 } else { 23_456 }),
            heap_total: Some(0),
            allocations: (library != "GMP").then_some(1234),
            resident: None,
        },
        service: None,
        tunnel: None,
        instructions: None,
        emulated: None,
        samples: None,
    }
}

fn report(sizes: &[u64]) -> Report {
    let table = |bits: &u64| Table {
        suite: "modexp".into(),
        group: format!("{bits}-bit modulus, {bits}-bit exponent"),
        name: String::new(),
        series: None,
        parameters: Parameters::from([("modulus_bits".into(), (*bits).into())]),
        statistic: Statistic::Median,
        summary: Summary::Proportions,
        reference: "default".into(),
        records: vec![
            record("Montgomery", "5b FW", "Cycloid", true),
            record("Montgomery", "5b RM", "Cycloid", false),
            record("Cycloid", "default", "Cycloid", true),
            record("Cycloid", "×8", "Cycloid", true),
            record("crypto-bigint", "constant-time", "crypto-bigint", true),
            record("GMP", "variable-time", "GMP", false),
        ],
        control: Ratio { samples: 100, median: 0.9999, interval: [0.9987, 1.0011] },
        rounds: 100,
        seconds: 12.3,
        missing: vec!["OpenSSL".into()],
        notes: vec!["a note common to all tables is shown once".into()],
    };
    Report {
        format: FORMAT,
        environment: cycloid_lab::environment::current(),
        effort: "plain".into(),
        peers: vec![
            Peer {
                name: "OpenSSL".into(),
                version: None,
                missing: Some(Missing {
                    reason: "no usable libcrypto.so.3".into(),
                    remedy: "apt install libssl3".into(),
                }),
            },
            Peer { name: "GMP".into(), version: Some("6.2.1".into()), missing: None },
        ],
        tables: sizes.iter().map(table).collect(),
        unfinished: Vec::new(),
    }
}

#[test]
fn lines_fit_even_with_large_numbers() {
    let report = report(&[1024, 1536, 2048, 3072, 4096]);
    for (width, most) in [(80, 80), (100, 100), (500, 100)] {
        for line in text(&report, width).lines() {
            assert!(line.chars().count() <= most, "{width}: {line}");
        }
    }
}

#[test]
fn every_row_is_shown_and_every_note_once() {
    let text = text(&report(&[1024, 2048]), 100);
    for part in [
        "1024-bit modulus, 1024-bit exponent",
        "2048-bit modulus, 2048-bit exponent",
        "peers      OpenSSL is missing: no usable libcrypto.so.3; apt install",
        "missing: OpenSSL: apt install libssl3",
        "default against itself is 0.9999 (0.9987 to 1.0011), 100 rounds",
        "backend: adx; ×8: ifma",
        "\n×8  ",
        "\ncrypto-bigint  ",
        "calls         crypto-bigint: crypto-bigint_pow",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(text.matches("is shown once").count(), 1);
    let row = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap().to_owned();
    assert!(row("  5b FW").contains('✓') && !row("  5b RM").contains('✓'));
    assert!(row("  variable-time").trim_end().ends_with("123,456       –"));
}

/// A report of operations per second, two on one curve and one on another with other peers.
fn rates() -> Report {
    let mut report = report(&[1, 2, 3]);
    let names = [("P-256", "sign"), ("P-256", "verify"), ("Ed25519", "sign")];
    for (table, (group, name)) in report.tables.iter_mut().zip(names) {
        table.suite = "ec".into();
        (table.group, table.name) = (group.into(), name.into());
        table.summary = Summary::Rates;
        let more = ["OpenSSL", "AWS-LC", "ring", "graviola", "RustCrypto"];
        table.records = vec![record("Cycloid", "default", "Cycloid", true)];
        table.records.push(record("Cycloid", "×8", "Cycloid", true));
        table.records.extend(more.map(|peer| record(peer, "sign", peer, true)));
        for (i, record) in table.records.iter_mut().enumerate() {
            record.time.operations_per_second = 123_456.7 + i as f64;
            // The best peer takes one and a half times as long as our single operation, ours in
            // parallel a fifth.
            record.ratio.median = [1.0, 0.2, 2.5, 1.5, 1.6, 1.7, 4.0][i];
        }
    }
    report.tables[1].records.retain(|record| record.group != "ring");
    let dalek = &mut report.tables[2].records[6];
    dalek.group = "dalek".into();
    dalek.implementation.product = "dalek".into();
    report
}

#[test]
fn rates_are_compared_with_the_best_peer() {
    let report = rates();
    for (width, most) in [(80, 80), (100, 100)] {
        for line in text(&report, width).lines() {
            assert!(line.chars().count() <= most, "{width}: {line}");
        }
    }
    let text = text(&report, 80);
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let heads: Vec<_> = text.lines().filter(|line| line.contains("(×8)")).map(words).collect();
    assert_eq!(heads.len(), 2, "{text}");
    assert_eq!(heads[0][6..], ["RustCrypto", "ratio", "(×8)"]);
    assert_eq!(heads[1][6..], ["dalek", "ratio", "(×8)"]);
    let (_, summary) = text.split_once("ec: operations per second").unwrap();
    let row = |name: &str| words(summary.lines().find(|line| line.contains(name)).unwrap());
    assert_eq!(row("verify")[1..=5], ["123457", "123458", "123459", "123460", "–"]);
    assert_eq!(row("sign")[8..], ["1.50", "7.50"]);
}

#[test]
fn csv_and_markdown_have_the_fields_of_a_title_and_the_methods() {
    let mut report = rates();
    let size = std::num::NonZeroU64::new(4096).unwrap();
    report.tables[0].series = Some(Series { operation: "sum of".into(), size });
    let text = csv(&report);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows: Vec<_> = lines.collect();
    let cell = |row: usize, name: &str| rows[row][head.iter().position(|n| *n == name).unwrap()];
    let names =
        ["table", "table:group", "table:name", "table:series:operation", "table:series:size"];
    assert_eq!(names.map(|name| cell(1, name)), ["P-256: sign", "P-256", "sign", "sum of", "4096"]);
    assert_eq!([0, 1].map(|row| cell(row, "method")), ["", "batch"]);
    let text = markdown(&report);
    assert!(text.contains("\n## ec: P-256: sign\n") && text.contains("| group | label | method |"));
    assert!(!text.contains("table:"), "{text}");
}

/// Backends and two peers: one peer lacks the first operation, both lack the last.
fn backends() -> Report {
    let mut report = report(&[1, 2, 3]);
    let names = ["pairing of 6", "Miller loop of 8, prepared", "none"];
    for (i, (table, name)) in report.tables.iter_mut().zip(names).enumerate() {
        table.suite = "bls".into();
        (table.group, table.name) = ("pairing".into(), name.into());
        table.summary = Summary::Backends;
        table.reference = "cycloid".into();
        table.records =
            ["cycloid", "blst"].map(|label| record("Cycloid", label, "Cycloid", true)).into();
        let peers: &[&str] = [&["arkworks"][..], &["zkcrypto", "arkworks"], &[]][i];
        table.records.extend(peers.iter().map(|peer| record(peer, peer, peer, false)));
        for record in &mut table.records {
            record.time.median_ns = 1_234_567.8;
            record.memory.heap_total = Some(1_234_567);
        }
    }
    report
}

#[test]
fn peers_are_shown_below_the_backends_if_they_have_the_operation() {
    let shown = text(&backends(), 80);
    let (_, shown) = shown.split_once("bls: pairing\n").unwrap();
    let (shown, _) = shown.split_once("noise").unwrap();
    let heads: Vec<&str> = shown.lines().filter(|line| line.contains("bytes")).collect();
    let [backends, peers] = heads[..] else { panic!("{shown}") };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(backends), ["cycloid", "bytes", "%", "blst", "bytes", "%", "×"]);
    assert_eq!(words(peers), ["zkcrypto", "bytes", "×", "arkworks", "bytes", "×"]);
    let (_, below) = shown.split_once(peers).unwrap();
    assert!(below.lines().all(|line| line.chars().count() <= 80), "{below}");
    let rows: Vec<_> = below.lines().skip(2).map(words).filter(|row| !row.is_empty()).collect();
    let both = "1,234.6 µs 1,234,567 123";
    assert_eq!(rows.len(), 2, "{below}");
    assert!(rows[0].join(" ").ends_with(&["– – –", both].join(" ")), "{below}");
    assert!(rows[1].join(" ").ends_with(&[both, both].join(" ")), "{below}");
}

#[test]
fn one_table_needs_no_summary() {
    let summary = "modexp: modular exponentiation\nmedian time of default";
    assert!(!text(&report(&[2048]), 100).contains(summary));
    assert!(text(&report(&[2048, 4096]), 100).contains(summary));
}

#[test]
fn instructions_are_shown_if_they_were_counted() {
    let mut report = report(&[2048]);
    assert!(!text(&report, 80).contains("instructions"));
    let exact =
        Count { count: 1_234_567_890.0, range: [1_234_567_890.0; 2], runs: 4, code_bytes: 123_456 };
    let varying = Count { count: 12_345_678.5, range: [12e6, 13e6], ..exact };
    for record in &mut report.tables[0].records {
        record.instructions = Some(match record.implementation.product == "Cycloid" {
            true => {
                Instructions { portable: Some(exact), adx: Some(exact), ..Instructions::default() }
            }
            false => Instructions { peer: Some(varying), ..Instructions::default() },
        });
    }
    let shown = text(&report, 80);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let (_, grid) = shown.split_once("modexp: instructions per operation").unwrap();
    let words = |name: &str| -> Vec<String> {
        let line = grid.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(words("default")[1..], ["1,234,567,890", "123,456", "1,234,567,890", "123,456"]);
    let peer = words("GMP, variable-time");
    assert_eq!(peer[2..], ["~12,345,679", "123,456", "–", "–"]);
    let csv = csv(&report);
    let head = csv.lines().next().unwrap();
    for column in ["portable:count", "portable:range:low", "adx:code_bytes", "peer:runs"] {
        assert!(head.contains(&format!("instructions:{column}")), "{head}");
    }
}

/// Reports of a service and of tunnels, on a machine that is very fast or sometimes stalls.
#[test]
fn lines_fit_for_extreme_measurements() {
    for (rate, nanoseconds) in [(123_456.7, 12_345.6), (0.012, 1.3e9), (999_999.0, 3e11)] {
        let wild = Ratio { samples: 5, median: 123.4, interval: [-1e4, 1e5] };
        let mut report = report(&[1, 2, 3]);
        let names = [("P-256", "16 clients"), ("RSA-4096", "32 clients"), ("tunnels over UDP", "")];
        for (i, (table, (group, name))) in report.tables.iter_mut().zip(names).enumerate() {
            (table.group, table.name) = (group.into(), name.into());
            table.suite = if i < 2 { "hsm".into() } else { "vpn".into() };
            table.summary = if i < 2 { Summary::Service } else { Summary::Tunnels };
            table.control = wild;
            table.records = ["Cycloid", "SoftHSM"].map(|of| record(of, of, of, true)).into();
            for record in &mut table.records {
                record.time.operations_per_second = rate;
                record.ratio = wild;
                record.service = Some(Service {
                    clients: 16,
                    answers: 1_234_567,
                    latency_median_ns: nanoseconds,
                    latency_p99_ns: 1e3 * nanoseconds,
                    processor_ns: nanoseconds,
                });
                record.tunnel = Some(Tunnel {
                    megabits_per_second: rate,
                    server_seconds_per_gigabyte: 1e-7 * nanoseconds,
                    client_seconds_per_gigabyte: 1e-7 * nanoseconds,
                    round_trip_ns: Some(nanoseconds),
                });
            }
        }
        let text = text(&report, 80);
        assert!(text.contains("p99 ms") && text.contains("Mb/s"));
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{}", long.join("\n"));
    }
}
