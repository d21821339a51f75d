//! Properties of every suite's benchmarks: output formats, width, and interruption.

mod support;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_lab::record::{Report, Table};
use cycloid_report::tables;

fn cycloid(arguments: &[&str]) -> Command {
    let mut command = support::cycloid();
    command.args(arguments);
    command
}

/// Returns an empty directory for a test's temporary files.
fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn report(arguments: &[&str]) -> Report {
    let output = cycloid(arguments).args(["--quick", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Splits a line of comma-separated values into its cells.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut inside) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => inside = !inside,
            ',' if !inside => cells.push(String::new()),
            character => cells.last_mut().unwrap().push(character),
        }
    }
    cells
}

#[test]
fn every_suite_fits_80_columns_and_has_a_row_for_each_record() {
    let suites: Vec<&[&str]> = vec![
        &["bench", "modexp", "--bits", "64"],
        &["bench", "rsa", "--bits", "2048", "--operation", "sign,verify"],
        &["bench", "dh", "--bits", "2048"],
        &["bench", "ec", "--curve", "p-256,x25519"],
        &["bench", "bls", "--part", "fr,gt"],
        &["bench", "hsm", "--key", "p-256", "--clients", "1,16"],
        &["bench", "vpn"],
        &["bench", "tls"],
        &["bench", "openssl", "--clients", "4"],
    ];
    for arguments in suites {
        let report = report(arguments);
        for line in tables::text(&report, 80).lines() {
            assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
        }
        let csv = tables::csv(&report);
        let mut lines = csv.lines().map(cells);
        let head = lines.next().unwrap();
        let records: Vec<_> = report.tables.iter().flat_map(|table| &table.records).collect();
        let rows: Vec<Vec<String>> = lines.collect();
        assert_eq!(rows.len(), records.len());
        let at = |name: &str| head.iter().position(|column| column == name).unwrap();
        for (row, record) in rows.iter().zip(&records) {
            assert_eq!(row.len(), head.len());
            assert_eq!(row[at("label")], record.label);
            assert_eq!(row[at("implementation:library")], record.implementation.product);
            assert_eq!(row[at("time:median_ns")].parse::<f64>().unwrap(), record.time.median_ns);
            assert_eq!(
                row[at("ratio:interval:high")].parse::<f64>().unwrap(),
                record.ratio.interval[1]
            );
            let bytes = record.memory.heap_peak.map_or(String::new(), |bytes| bytes.to_string());
            assert_eq!(row[at("memory:heap_peak")], bytes);
        }
        let markdown = tables::markdown(&report);
        assert_eq!(markdown.matches("\n## ").count(), report.tables.len());
        let rows = markdown.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(rows, records.len() + 2 * report.tables.len());
    }
}

#[test]
fn csv_and_markdown_replace_the_tables() {
    let run = |form: &str| {
        let arguments = ["bench", "modexp", "--bits", "64", "--strategy", "none", "--quick"];
        let output = cycloid(&arguments).args(["--peers", "none", form]).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty());
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("--csv").starts_with("suite,table,table:group,table:name,group,label,method,"));
    let markdown = run("--markdown");
    assert!(markdown.starts_with("# cycloid ") && markdown.contains("\n| group | label |"));
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Returns whether SIGINT, signal 2, is in the named signal set of any thread.
fn is_among(child: &Child, set: &str) -> bool {
    let mut files = vec![format!("/proc/{}/status", child.id())];
    let threads = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    files.extend(threads.map(|thread| format!("{}/status", thread.unwrap().path().display())));
    let sets = files.iter().filter_map(|file| fs::read_to_string(file).ok());
    let sets: Vec<u64> = sets
        .filter_map(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix(set))?;
            u64::from_str_radix(line.trim(), 16).ok()
        })
        .collect();
    sets.iter().any(|set| set & 2 != 0)
}

/// Waits until SIGINT no longer kills the process.
fn wait_until_interrupts_are_caught(child: &Child) {
    wait_until("interrupts are caught", || is_among(child, "SigCgt:"));
    // The handler's flag is registered right after the signal is caught.
    thread::sleep(Duration::from_millis(200));
}

/// Returns whether a SIGINT is pending that no thread has taken.
fn has_interrupt(child: &Child) -> bool {
    is_among(child, "SigPnd:") || is_among(child, "ShdPnd:")
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(300), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the exit code, stdout and stderr.
fn end(mut child: Child) -> (Option<i32>, String, String) {
    let (mut output, mut said) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut output).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), output, said)
}

fn started(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn an_interrupted_run_shows_and_saves_the_finished_tables() {
    let saved = scratch("interrupted").join("record.json");
    let bits: Vec<String> = (64..164).map(|bits| bits.to_string()).collect();
    let mut arguments = vec!["bench", "modexp", "--quick", "--strategy", "none", "--json"];
    let bits = bits.join(",");
    arguments.extend(["--peers", "none", "--bits", &bits, "--save", saved.to_str().unwrap()]);
    // The whole run takes over a minute. An attempt that is interrupted too early is repeated with
    // a longer wait.
    let mut attempts = [2, 8, 32].into_iter();
    let (output, said) = loop {
        let child = started(&mut cycloid(&arguments));
        wait_until_interrupts_are_caught(&child);
        thread::sleep(Duration::from_secs(attempts.next().expect("something is finished")));
        interrupt(&child);
        let (code, output, said) = end(child);
        assert_eq!(code, Some(130), "{said}");
        if !said.contains(" after 0 of 100 tables") {
            break (output, said);
        }
    };
    let report: Report = serde_json::from_str(&output).unwrap();
    assert_eq!(fs::read_to_string(&saved).unwrap(), output);
    assert!(!report.tables.is_empty() && !report.unfinished.is_empty());
    assert_eq!(report.tables.len() + report.unfinished.len(), 100);
    assert_eq!(report.unfinished.last().unwrap(), "modexp: modexp, 163 bits");
    let (done, not) = (report.tables.len(), report.unfinished.len());
    let expected =
        format!("note: interrupted after {done} of 100 tables; missing: {not} of modexp\n");
    assert_eq!(said, expected);
    assert!(tables::text(&report, 80).contains("\ninterrupted; not measured: modexp"));
}

#[test]
fn the_second_interrupt_ends_the_run_at_once() {
    // Generating keys of this length takes long, and does not check for an interrupt meanwhile.
    let arguments = ["bench", "rsa", "--bits", "8192", "--operation", "sign", "--peers", "none"];
    let child = started(&mut cycloid(&arguments));
    wait_until_interrupts_are_caught(&child);
    interrupt(&child);
    // Two pending signals would merge into one.
    wait_until("the first signal was handled", || !has_interrupt(&child));
    interrupt(&child);
    let (code, output, _) = end(child);
    assert_eq!(code, Some(130));
    // The head is printed at the start, and no table follows.
    assert!(output.starts_with("cycloid ") && !output.contains("noise: "), "{output}");
}

/// Returns the server's namespace once both ends of a tunnel have a log in the run's directory.
fn namespace(directory: &Path) -> Option<String> {
    let bench = fs::read_dir(directory).unwrap().next()?.ok()?.path();
    let files = fs::read_dir(bench).ok()?;
    let names = files.filter_map(|file| Some(file.ok()?.file_name().to_str()?.to_owned()));
    let names: Vec<String> = names.collect();
    names.contains(&"said".to_owned()).then_some(())?;
    let log = names.iter().find(|name| name.ends_with("-s-0.log"))?;
    Some(log.trim_end_matches("-0.log").to_owned())
}

/// Needs root, OpenVPN, iperf3 and ping.
#[test]
fn tunnels_leave_nothing_behind_when_interrupted_or_killed() {
    for (name, kill) in [("tunnels-interrupted", false), ("tunnels-killed", true)] {
        let directory = scratch(name);
        let arguments = ["bench", "vpn", "--part", "tunnels", "--json"];
        let mut child = started(cycloid(&arguments).env("TMPDIR", &directory));
        wait_until("a stream runs", || {
            namespace(&directory).is_some() || child.try_wait().unwrap().is_some()
        });
        if child.try_wait().unwrap().is_some() {
            let (code, output, said) = end(child);
            panic!("{name}: the run ended before a stream, with {code:?}: {said}{output}");
        }
        let namespace = namespace(&directory).unwrap();
        let exists = || Path::new("/run/netns").join(&namespace).exists();
        assert!(exists());
        match kill {
            true => child.kill().unwrap(),
            false => interrupt(&child),
        }
        let (code, output, said) = end(child);
        if !kill {
            assert_eq!(code, Some(130), "{said}");
            let report: Report = serde_json::from_str(&output).unwrap();
            assert_eq!(report.unfinished[0], "vpn: tunnels over UDP, client to server");
        }
        wait_until("everything is removed", || {
            !exists() && fs::read_dir(&directory).unwrap().next().is_none()
        });
    }
}

/// Needs root, OpenVPN, wireguard-go, iperf3 and ping.
#[test]
fn tunnels_and_client_costs_are_measured_with_the_peers() {
    let arguments =
        ["vpn", "bench", "--part", "tunnels,packets,start,handshakes", "--rounds", "2", "--json"];
    let output = cycloid(&arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    let titles: Vec<String> = report.tables.iter().map(Table::title).collect();
    assert_eq!(
        titles,
        [
            "tunnels over UDP, client to server",
            "tunnels over TCP, client to server",
            "packets of 64 bytes over UDP, fewer than 2 % lost",
            "a client's start, until its tunnel over UDP is up",
            "what a client that connects costs the server",
        ]
    );
    for (table, pairs) in report.tables.iter().zip([5, 2]) {
        assert_eq!(table.records.len(), pairs);
        for record in &table.records {
            let tunnel = record.tunnel.unwrap();
            assert!(tunnel.megabits_per_second > 1.0, "{record:?}");
            assert!(tunnel.server_seconds_per_gigabyte > 0.0, "{record:?}");
            assert!(tunnel.client_seconds_per_gigabyte > 0.0, "{record:?}");
            assert!(tunnel.round_trip_ns.unwrap() > 1e3, "{record:?}");
        }
    }
    for table in &report.tables[2..] {
        assert_eq!(table.records.len(), 2);
    }
    for record in &report.tables[4].records {
        assert!(record.memory.resident.unwrap() > 1024, "{record:?}");
    }
    let text = tables::text(&report, 80);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("packets/s"), "{text}");
}
