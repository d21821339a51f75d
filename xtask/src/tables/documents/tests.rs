use serde_json::json;

use super::*;

fn row(group: &str, label: &str, ratio: f64) -> Value {
    let ours = group == "Cycloid";
    let time = ratio * 611_543.5;
    json!({
        "group": group,
        "label": label,
        "implementation": {
            "version": if ours { "0.1.0" } else { "rsa 3.0.19 27 Jan 2026" },
            "backend": if ours { json!("adx") } else { Value::Null },
        },
        "time": { "median_ns": time, "mean_ns": 2.0 * time, "operations_per_second": 1e9 / time },
        "ratio": { "median": ratio, "interval": [ratio - 0.1, ratio + 0.1] },
        "service": { "latency_p99_ns": 12e6 * ratio, "processor_ns": 1.2e6 },
        "tunnel": {
            "megabits_per_second": 4665.4 / ratio,
            "server_seconds_per_gigabyte": 1.476 * ratio,
            "client_seconds_per_gigabyte": 12.24,
        },
        "memory": { "resident": 51_200 },
    })
}

fn report(path: &str) -> Result<Value, String> {
    if path != "a.json" {
        return Err(format!("cannot read {path}"));
    }
    Ok(json!({ "tables": [
        { "title": "sign", "statistic": "median", "records": [
            row("Cycloid", "default", 1.0),
            row("Cycloid", "×8", 0.5),
            row("OpenSSL", "slow", 2.0),
            row("OpenSSL", "fast", 1.114),
        ] },
        { "title": "make: a, b", "statistic": "mean", "records": [
            row("Cycloid", "default", 1.0),
            row("OpenSSL", "slow", 12.34),
        ] },
    ] }))
}

const DOCUMENT: &str = "\
Before.

<!-- table: a.json
column: Cycloid = Cycloid/default time
column: ×8 = Cycloid/×8 ratio
column: OpenSSL {} = OpenSSL ratio
column: fast, else slow = OpenSSL/fast|OpenSSL/slow ratio
column: lead = Cycloid/default lead
row: signing = sign
row: making = make: a, b
-->
what was there
<!-- end -->

After.
";

const TABLE: &str = "\
| | Cycloid | ×8 | OpenSSL 3.0 | fast, else slow | lead |
|---|--:|--:|--:|--:|--:|
| signing | 612 µs | 0.50 | 1.11 | 1.11 | 1.11 |
| making | 1,223 µs | – | 12.3 | 12.3 | 12.3 |
";

#[test]
fn tables_are_regenerated_and_other_text_is_unchanged() {
    let made = renewed(DOCUMENT, &report).unwrap();
    assert_eq!(made, DOCUMENT.replace("\nwhat was there\n", &format!("\n\n{TABLE}\n")));
    assert_eq!(renewed(&made, &report).unwrap(), made);
    assert_eq!(renewed("No table.", &report).unwrap(), "No table.");
}

#[test]
fn manual_changes_to_numbers_are_detected() {
    let made = renewed(DOCUMENT, &report).unwrap();
    let changed = made.replace("1.11", "1.21");
    assert_ne!(renewed(&changed, &report).unwrap(), changed);
}

#[test]
fn rows_of_several_tables_and_columns_for_rows() {
    let document = "<!-- table: a.json\ntranspose\ncolumn: a = Cycloid/default rate\n\
                    row: b / c = sign + make: a, b\n--><!-- end -->";
    let made = renewed(document, &report).unwrap();
    assert!(made.contains("| | b / c |\n|---|--:|\n| a | 1,635 / 1,635 |\n"), "{made}");
}

#[test]
fn measures_of_services() {
    let document = "<!-- table: a.json\ncolumn: a = OpenSSL interval\nrow: b = sign\n\
                    column: c = Cycloid/×8 p99 + OpenSSL p99\ncolumn: d = Cycloid/×8 cpu\n\
                    --><!-- end -->";
    let made = renewed(document, &report).unwrap();
    assert!(made.contains("| b | 1.11 (1.01 to 1.21) | 6.00 / 13 | 1,200 |\n"), "{made}");
}

#[test]
fn measures_of_tunnels_and_servers() {
    let document = "<!-- table: a.json\ncolumn: a = Cycloid/default throughput\nrow: b = sign\n\
                    column: c = Cycloid/×8 ends\ncolumn: d = OpenSSL resident\n--><!-- end -->";
    let made = renewed(document, &report).unwrap();
    assert!(made.contains("| b | 4,665 | 0.74 / 12.2 | 50 |\n"), "{made}");
}

#[test]
fn errors_in_descriptions_are_named() {
    for (right, wrong, said) in [
        ("= sign\n", "= sing\n", "a.json has no table `sing`"),
        ("a.json", "a.jsn", "cannot read a.jsn"),
        ("default lead", "dflt lead", "no table has a row for `lead`"),
        ("default time", "default speed", "no measure is called `speed`"),
        ("row: signing", "row; signing", "is neither a row nor a column"),
        ("×8 = Cycloid", "×8: Cycloid", "has no ` = ` after its name"),
        ("<!-- end -->", "<!-- fin -->", "a table has no <!-- end -->"),
    ] {
        let failure = renewed(&DOCUMENT.replace(right, wrong), &report).unwrap_err();
        assert!(failure.contains(said), "{failure}");
    }
}

#[test]
fn numbers_have_three_significant_digits() {
    for (nanoseconds, text) in [
        (18.39, "18.4 ns"),
        (1_945.0, "1.95 µs"),
        (16_240.0, "16.2 µs"),
        (611_543.5, "612 µs"),
        (4_802_100.0, "4,802 µs"),
        (10_361_000.0, "10.36 ms"),
    ] {
        assert_eq!(time(nanoseconds), text);
    }
    assert_eq!(thousands(1_234_567.0), "1,234,567");
    assert_eq!(thousands(999.0), "999");
}

#[test]
fn rows_of_one_table() {
    let document = "<!-- table: a.json\neach: sign\ncolumn: × = ratio\ncolumn: both = ratio + time\n-->\n<!-- end -->";
    let made = renewed(document, &report).unwrap();
    let expected = "| | × | both |\n|---|--:|--:|\n| Cycloid, default | 1.00 | 1.00 / 612 µs |\n";
    assert!(made.contains(expected), "{made}");
    let other = document.replace("each: sign", "each: other");
    assert!(renewed(&other, &report).is_err());
}
