//! Benchmarks and profiles of the HSM: they run a daemon and modules, and leave nothing behind.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_lab::record::{Report, Table};
use cycloid_report::profile;

/// Returns an empty directory for a test's temporary files.
fn scratch(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn cycloid(arguments: &[&str], directory: &Path) -> Command {
    let mut command = support::cycloid();
    command.args(arguments).env("TMPDIR", directory);
    command
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn a_bench_has_a_table_for_each_number_of_clients_and_leaves_nothing_behind() {
    let directory = scratch("bench");
    let arguments = ["bench", "hsm", "--quick", "--key", "p-256,ed25519", "--clients", "1,3"];
    let output = cycloid(&arguments, &directory).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(is_empty(&directory));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    let titles: Vec<String> = report.tables.iter().map(Table::title).collect();
    assert_eq!(
        titles,
        ["P-256: 1 client", "P-256: 3 clients", "Ed25519: 1 client", "Ed25519: 3 clients"]
    );
    let [peer] = &report.peers[..] else { panic!("SoftHSM is the only peer") };
    assert_eq!(peer.name, "SoftHSM");
    for table in &report.tables {
        let groups: Vec<&str> = table.records.iter().map(|record| &*record.group).collect();
        let expected =
            if peer.version.is_some() { &["Cycloid", "SoftHSM"][..] } else { &["Cycloid"] };
        assert_eq!(groups, expected);
        assert_eq!(peer.version.is_none(), table.missing == ["SoftHSM"]);
        for record in &table.records {
            let service = record.service.unwrap();
            assert!(service.answers > 0 && service.processor_ns > 0.0);
            assert!(service.latency_median_ns <= service.latency_p99_ns);
            assert_eq!(record.time.samples, table.rounds);
        }
    }
}

/// The bench is killed with SIGKILL, so it cannot clean up itself.
#[test]
fn a_bench_that_is_killed_leaves_neither_daemon_nor_keystore() {
    let directory = scratch("killed");
    let arguments = ["bench", "hsm", "--full", "--key", "p-256", "--clients", "2"];
    let mut bench = cycloid(&arguments, &directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait = |what: &str, done: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(300), "{what}");
            thread::sleep(Duration::from_millis(50));
        }
    };
    let socket = || {
        let bench = fs::read_dir(&directory).unwrap().next()?.ok()?;
        Some(bench.path().join("socket")).filter(|socket| socket.exists())
    };
    wait("no daemon starts", &|| socket().is_some());
    bench.kill().unwrap();
    bench.wait().unwrap();
    wait("the keystore stays", &|| is_empty(&directory));
}

#[test]
fn a_profile_has_every_configuration_and_its_spans() {
    let directory = scratch("profile");
    // These files must outlive the temporary directory.
    let [saved, folded] = ["profile.json", "profile.folded"]
        .map(|name| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
    let arguments = ["profile", "hsm-sign", "--quick", "--signatures", "200", "--clients", "16"];
    let output = cycloid(&arguments, &directory)
        .arg("--save")
        .arg(&saved)
        .arg("--folded")
        .arg(&folded)
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(is_empty(&directory));
    let report: profile::Report = serde_json::from_slice(&fs::read(&saved).unwrap()).unwrap();
    let names: Vec<&str> = report.configurations.iter().map(|way| &*way.name).collect();
    assert_eq!(
        names,
        ["unwrap every time", "master key cached", "prepared keys cached", "batched"]
    );
    // Only the configuration without a key cache unwraps the key for each signature.
    let calls = |title: &str, name: &str| {
        let profile = report.profiles.iter().find(|profile| profile.title.starts_with(title));
        let profile = profile.unwrap_or_else(|| panic!("{title}"));
        let mut sum = 0;
        let mut nodes: Vec<&profile::Node> = profile.roots.iter().collect();
        while let Some(node) = nodes.pop() {
            sum += if node.name == name { node.calls } else { 0 };
            nodes.extend(&node.children);
        }
        sum
    };
    assert_eq!(calls("master key cached", "unwrap"), 200);
    assert_eq!(calls("prepared keys cached", "unwrap"), 0);
    assert_eq!(calls("first use", "decode"), 5 * 8);
    for span in ["blinding", "exponentiation", "verification", "reply"] {
        assert!(calls("batched", span) >= 200 / 8, "{span}");
    }
    let text = String::from_utf8(output.stdout).unwrap();
    for line in
        ["Flat profile:", "Call graph:", "index % time    self  children    called     name"]
    {
        assert!(text.lines().any(|other| other == line), "{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let folded = fs::read_to_string(&folded).unwrap();
    assert!(
        folded.lines().any(|line| line.starts_with("batched, 16 clients;batch;exponentiation "))
    );
}

#[test]
fn a_profile_may_have_more_clients_than_signatures() {
    let directory = scratch("many-clients");
    let arguments = ["profile", "hsm-sign", "--quick", "--key", "ed25519", "--json"];
    let output = cycloid(&arguments, &directory)
        .args(["--signatures", "100", "--clients", "256"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: profile::Report = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report.profiles.last().unwrap().operations, 4 * 256);
}
