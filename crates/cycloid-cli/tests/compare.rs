//! The command line of `cycloid compare` and `cycloid history`.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cycloid_lab::record::Report;
use cycloid_report::history::Entry;
use serde_json::Value;

fn run(arguments: &[&str], directory: &Path) -> Output {
    let mut command = support::cycloid();
    command.args(arguments).current_dir(directory).output().unwrap()
}

/// Returns stdout, after asserting the exit code.
fn said(output: &Output, code: i32) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn complaint(output: &Output, code: i32) -> String {
    assert_eq!(said(output, code), "");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns an empty directory for a test.
fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compare").join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

/// Returns a committed record, reduced to the tables with `tables` in their titles. The times of
/// the ×8 row are multiplied by `slower`.
fn record(tables: &str, slower: f64) -> Report {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/ec-zen-5.json");
    let mut report = Report::from_json(&fs::read_to_string(path).unwrap(), path).unwrap();
    report.tables.retain(|table| table.title().contains(tables));
    for table in &mut report.tables {
        let eight = &mut table.records[1];
        assert_eq!(eight.label, "×8");
        eight.ratio.median *= slower;
        eight.ratio.interval = eight.ratio.interval.map(|end| end * slower);
        eight.time.median_ns *= slower;
    }
    report
}

fn save(report: &Report, path: &Path) {
    fs::write(path, serde_json::to_string(report).unwrap()).unwrap();
}

#[test]
fn records_are_compared_and_the_exit_code_tells_whether_something_is_slower() {
    let place = place("records");
    save(&record("P-256: sign", 1.0), &place.join("a.json"));
    save(&record("P-256: sign", 1.5), &place.join("b.json"));

    let slower = said(&run(&["compare", "a.json", "b.json"], &place), 3);
    assert!(slower.contains("Cycloid, ×8") && slower.contains("+50.0 %"), "{slower}");
    assert!(slower.contains("0 faster, 1 slower"), "{slower}");
    let faster = said(&run(&["compare", "b.json", "a.json"], &place), 0);
    assert!(faster.contains("1 faster, 0 slower"), "{faster}");
    let same = said(&run(&["compare", "a.json,a.json", "a.json"], &place), 0);
    assert!(same.contains("old (2 runs) and new (1 run)"), "{same}");
    assert!(same.contains("0 faster, 0 slower"), "{same}");
    // Changes below the threshold are ignored.
    let floor = said(&run(&["compare", "a.json", "b.json", "--threshold", "60%"], &place), 0);
    assert!(floor.contains("0 faster, 0 slower"), "{floor}");

    let json = said(&run(&["compare", "a.json", "b.json", "--json"], &place), 3);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.pointer("/tables/0/rows/1/verdict").unwrap(), "slower");
    let csv = said(&run(&["compare", "a.json", "b.json", "--csv"], &place), 3);
    assert!(csv.starts_with("suite,table,") && csv.contains(",slower,"), "{csv}");
    let markdown = said(&run(&["compare", "a.json", "b.json", "--markdown"], &place), 3);
    assert!(markdown.contains("| ec: P-256: sign, Cycloid, ×8 |"), "{markdown}");
}

/// The committed record has format 2.
#[test]
fn records_of_different_formats_have_the_same_rows() {
    let place = place("formats");
    let old = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/results/cascade-lake/ec-cascade-lake.json"
    );
    let report = Report::from_json(&fs::read_to_string(old).unwrap(), old).unwrap();
    save(&report, &place.join("new.json"));
    let format = |path: &Path| -> Value {
        let value: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        value["format"].clone()
    };
    assert_eq!([format(Path::new(old)), format(&place.join("new.json"))], [2, 3]);
    let compared = said(&run(&["compare", old, "new.json"], &place), 0);
    assert!(compared.contains("0 faster, 0 slower"), "{compared}");
    assert!(!compared.contains("only"), "{compared}");
    for path in [old, "new.json"] {
        said(&run(&["history", "--file", "h.jsonl", "add", path, "--commit", "c"], &place), 0);
    }
    let history = fs::read_to_string(place.join("h.jsonl")).unwrap();
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn incomparable_records_are_answered_by_a_message_and_a_hint() {
    let place = place("complaints");
    save(&record("P-256: sign", 1.0), &place.join("a.json"));
    save(&record("P-384: sign", 1.0), &place.join("other.json"));
    fs::write(place.join("no.json"), "{}").unwrap();
    fs::write(place.join("later.json"), r#"{"format": 4}"#).unwrap();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["compare", "a.json"], 2, "required"),
        (&["compare", "a.json", "b.json"], 1, "cannot read b.json"),
        (&["compare", "a.json", "no.json"], 1, "no.json is not a record"),
        (&["compare", "a.json", "later.json"], 1, "later.json has format 4, but this program"),
        (&["compare", "a.json", "other.json"], 1, "no row in common"),
        (&["compare", "a.json", "a.json", "--threshold", "much"], 2, "expected a percentage"),
        (&["compare", "a.json", "a.json", "--rounds", "3"], 2, "required"),
        (&["compare", "--build", ".", "no-such-revision"], 1, "no-such-revision"),
        (&["history", "check", "no.json"], 1, "no.json is not a record"),
    ];
    for (arguments, code, part) in cases {
        // The working tree would be built first, so `--build` gets a small repository.
        let place =
            if arguments.contains(&"--build") { repository("unknown") } else { place.clone() };
        let text = complaint_without_progress(&run(arguments, &place), code);
        let lines: Vec<&str> = text.lines().collect();
        let [error, hint] = lines[..] else { panic!("{arguments:?}: {text}") };
        assert!(error.starts_with("error: ") && hint.starts_with("hint: "), "{text}");
        assert!(text.contains(part), "{arguments:?}: {text}");
    }
}

/// Returns the last two lines: cargo's output may come before them.
fn complaint_without_progress(output: &Output, code: i32) -> String {
    let text = complaint(output, code);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(2)..].join("\n")
}

#[test]
fn a_history_grows_by_one_line_per_run_and_flags_outliers() {
    let place = place("history");
    let file = ["--file", "history.jsonl"];
    let history = |arguments: &[&str]| run(&[&["history"], arguments, &file[..]].concat(), &place);
    for day in 1..=12 {
        let mut report = record("P-256: sign", 1.0 + 0.01 * f64::from(day % 3));
        report.environment.date = format!("2026-01-{day:02}T00:00:00Z");
        save(&report, &place.join("run.json"));
        said(&history(&["add", "run.json", "--commit", &format!("c{day}")]), 0);
    }
    let lines = fs::read_to_string(place.join("history.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 12);
    let newest = said(&history(&["show"]), 0);
    assert!(newest.contains("  ec 2026-01-12 c12 "), "{newest}");
    assert!(newest.contains("    P-256                     2    −2.0 %    +0.0 %"), "{newest}");
    let row = said(&history(&["show", "×8"]), 0);
    assert!(row.starts_with("ec: P-256: sign, ×8\n"), "{row}");
    assert!(complaint(&history(&["show", "x448"]), 1).contains("no row name contains 'x448'"));

    let check = said(&history(&["check", "run.json"]), 0);
    assert!(check.contains("0 slower"), "{check}");
    save(&record("P-256: sign", 1.5), &place.join("run.json"));
    let check = said(&history(&["check", "run.json"]), 3);
    assert!(check.contains("slower: ec: P-256: sign, ×8"), "{check}");
    let json = said(&history(&["check", "run.json", "--json"]), 3);
    assert_eq!(serde_json::from_str::<Vec<Value>>(&json).unwrap().len(), 2);
}

/// A record of someone else gives no commands to the terminal.
#[test]
fn control_characters_in_a_record_are_not_printed() {
    let place = place("control");
    let mut report = record("P-256: sign", 1.0);
    let table = &mut report.tables[0];
    for text in [&mut table.group, &mut table.records[1].label] {
        text.push_str("\u{1b}[2J\u{9b}");
    }
    report.environment.compiler.push('\u{7}');
    save(&report, &place.join("run.json"));
    let mut malformed = serde_json::to_value(&report).unwrap();
    malformed["tables"][0]["summary"] = "\u{1b}[2J".into();
    fs::write(place.join("malformed.json"), malformed.to_string()).unwrap();
    let other = record("P-256: sign", 1.0);
    let entry = Entry { date: "\u{1b}[2J".into(), ..Entry::of(&other, Some("\u{1b}".into())) };
    fs::write(place.join("other.jsonl"), entry.line()).unwrap();
    let commands: [&[&str]; 7] = [
        &["compare", "run.json", "run.json", "--all"],
        &["compare", "run.json", "run.json", "--markdown", "--all"],
        &["compare", "run.json", "malformed.json"],
        &["history", "--file", "h.jsonl", "add", "run.json"],
        &["history", "--file", "h.jsonl", "show"],
        &["history", "--file", "h.jsonl", "show", "sign"],
        &["history", "--file", "other.jsonl", "show", "sign"],
    ];
    for arguments in commands {
        let output = run(arguments, &place);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).unwrap().replace('\n', "");
        assert!(!text.contains(char::is_control), "{arguments:?}: {text:?}");
    }
}

/// An empty history is one without outliers, so a wrong name would hide them.
#[test]
fn a_missing_history_is_named() {
    let place = place("no-history");
    save(&record("P-256: sign", 1.0), &place.join("run.json"));
    for action in [&["show"][..], &["show", "sign"], &["check", "run.json"]] {
        let said = run(&[&["history", "--file", "hostory.jsonl"], action].concat(), &place);
        assert!(complaint(&said, 1).starts_with("error: cannot read hostory.jsonl: "));
    }
    assert!(!place.join("hostory.jsonl").exists());
}

/// A history that an editor has left without the last line's end.
#[test]
fn a_history_without_its_last_line_end_stays_readable() {
    let place = place("line-end");
    save(&record("P-256: sign", 1.0), &place.join("run.json"));
    let history = |action: &[&str]| run(&[&["history", "--file", "h"], action].concat(), &place);
    said(&history(&["add", "run.json"]), 0);
    let text = fs::read_to_string(place.join("h")).unwrap();
    fs::write(place.join("h"), text.trim_end()).unwrap();
    said(&history(&["add", "run.json"]), 0);
    said(&history(&["show"]), 0);
    let text = fs::read_to_string(place.join("h")).unwrap();
    assert!(text.lines().count() == 2 && text.ends_with('\n'), "{text}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_history_unchanged() {
    let place = place("full-disk");
    save(&record("P-256: sign", 1.0), &place.join("run.json"));
    said(&run(&["history", "--file", "h", "add", "run.json"], &place), 0);
    let before = fs::read_to_string(place.join("h")).unwrap();
    // The limit, in units of 512 or 1024 bytes, is behind the first of twenty further lines.
    let limit = before.len().div_ceil(512) + 1;
    let mut shell = Command::new("sh");
    let words = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$0\" history --file h add \"$@\"");
    shell.args(["-c", &words, env!("CARGO_BIN_EXE_cycloid")]).args(["run.json"; 20]);
    let output = shell.current_dir(&place).output().unwrap();
    assert!(complaint(&output, 1).contains("cannot write h: "));
    assert_eq!(fs::read_to_string(place.join("h")).unwrap(), before);
}

fn git(place: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let mut git = Command::new("git");
    git.current_dir(place).args(identity).args(arguments);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Makes a repository whose program prints a record with its own arguments as the effort. The
/// record in the commit `second` is slower than the one in `first`.
fn repository(name: &str) -> PathBuf {
    let place = place(name);
    fs::create_dir_all(place.join("src")).unwrap();
    let manifest = "[package]\nname = \"cycloid-cli\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                    [[bin]]\nname = \"cycloid\"\npath = \"src/main.rs\"\n\n[workspace]\n";
    fs::write(place.join("Cargo.toml"), manifest).unwrap();
    let lock = "version = 4\n\n[[package]]\nname = \"cycloid-cli\"\nversion = \"0.1.0\"\n";
    fs::write(place.join("Cargo.lock"), lock).unwrap();
    fs::write(place.join(".gitignore"), "target\n").unwrap();
    let program = "fn main() {\n    let told: Vec<String> = std::env::args().skip(1).collect();\n    \
                   print!(\"{}\", include_str!(\"record.json\").replace(\"TOLD\", &told.join(\" \")));\n}\n";
    fs::write(place.join("src/main.rs"), program).unwrap();
    git(&place, &["init", "-q"]);
    for (commit, slower) in [("first", 1.0), ("second", 1.5)] {
        let report = Report { effort: "TOLD".into(), ..record("P-256: sign", slower) };
        save(&report, &place.join("src/record.json"));
        git(&place, &["add", "."]);
        git(&place, &["commit", "-q", "-m", commit]);
        git(&place, &["tag", commit]);
    }
    place
}

#[test]
fn two_revisions_are_built_and_run_alternately() {
    let place = repository("revisions");
    let arguments =
        ["compare", "--build", "first", "second", "--rounds", "2", "--", "ec", "--full"];
    let output = run(&arguments, &place);
    let text = said(&output, 3);
    assert!(text.contains("old (2 runs) and new (2 runs)"), "{text}");
    assert!(text.contains("1 slower"), "{text}");
    let progress = String::from_utf8_lossy(&output.stderr);
    let turns: Vec<&str> = progress.lines().filter(|line| line.starts_with("round ")).collect();
    let expected =
        ["round 1 of 2: old", "round 1 of 2: new", "round 2 of 2: new", "round 2 of 2: old"];
    assert_eq!(turns, expected);
    let saved = fs::read_to_string(place.join("target/compare/runs/new-2.json")).unwrap();
    assert_eq!(Report::from_json(&saved, "it").unwrap().effort, "bench ec --full --json");

    // The working tree is the second commit, plus later changes.
    let text = said(&run(&["compare", "--build", "second", ".", "--rounds", "1"], &place), 0);
    assert!(text.contains("0 faster, 0 slower"), "{text}");
    save(&record("P-256: sign", 1.0), &place.join("src/record.json"));
    let text = said(&run(&["compare", "--build", "second", ".", "--rounds", "1"], &place), 0);
    assert!(text.contains("1 faster, 0 slower"), "{text}");

    // Flags make another program of the same revision.
    let flags = ["--flags-b", "-C target-cpu=native", "--rounds", "1"];
    let twice = ["compare", "--build", "first", "first"];
    said(&run(&[&twice[..], &flags].concat(), &place), 0);
    let programs = fs::read_dir(place.join("target/compare/programs")).unwrap().count();
    assert_eq!(programs, 4);
    // No sources and no git worktree remain.
    assert!(!place.join("target/compare/source").exists());
    let trees = fs::read_dir(place.join(".git/worktrees")).map_or(0, Iterator::count);
    assert_eq!(trees, 0);
}
