//! The command line: arguments, messages, exit codes, and records of the suites.

mod support;

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use cycloid_lab::record::{FORMAT, Method, Record, Report, Table};

fn cycloid(arguments: &[&str]) -> Command {
    let mut command = support::cycloid();
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    cycloid(arguments).output().unwrap()
}

/// Returns the path of a test's scratch file, which does not exist.
fn scratch_file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

/// Returns the message and the hint on stderr, and asserts that nothing else is printed.
fn complaint(output: &Output, code: i32) -> (String, String) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(output.stdout.is_empty());
    let lines: Vec<&str> = text.lines().collect();
    let [error, hint] = lines[..] else { panic!("not two lines: {text}") };
    let error = error.strip_prefix("error: ").unwrap_or_else(|| panic!("{text}"));
    let hint = hint.strip_prefix("hint: ").unwrap_or_else(|| panic!("{text}"));
    (error.into(), hint.into())
}

#[test]
fn invalid_arguments_are_answered_by_a_message_and_a_hint() {
    let cases: [(&[&str], &str, &str); 43] = [
        (&[], "no command is given", "cycloid bench"),
        (&["bnech"], "unrecognized subcommand 'bnech'", "did you mean bench"),
        (&["bench", "modxep"], "unrecognized subcommand 'modxep'", "modexp"),
        (&["bench", "--quik"], "unexpected argument '--quik'", "--quick"),
        (&["bench", "--quick", "--full"], "cannot be used with", "--help"),
        (&["bench", "modexp", "--bits", "0"], "0 bits is not between 64 and 16384", "--bits"),
        (&["bench", "modexp", "--bits", "63"], "63 bits is not between", "--bits"),
        (&["bench", "modexp", "--bits", "16385"], "16385 bits is not between", "--bits"),
        (&["bench", "modexp", "--bits", "abc"], "'abc' is not a number of bits", "--bits"),
        (&["bench", "modexp", "--bits"], "a value is required", "--help"),
        (&["bench", "modexp", "--crt", "--bits", "1025"], "no equal halves", "even"),
        (&["bench", "modexp", "--exponent", "x"], "'x' is not an exponent", "65537"),
        (&["bench", "modexp", "--strategy", "7b FW"], "no strategy is called '7b FW'", "2b to 6b"),
        (&["bench", "rsa", "--bits", "1024"], "1024 bits is not between 2048 and 8192", "--bits"),
        (&["bench", "rsa", "--bits", "2049"], "2049 bits is not a multiple of 128", "--bits"),
        (&["bench", "rsa", "--operation", "x"], "no operation is called 'x'", "sign, pss, verify"),
        (&["bench", "rsa", "--crt"], "unexpected argument '--crt'", "--help"),
        (&["bench", "dh", "--bits", "1024"], "no group of RFC 7919 has '1024' bits", "2048"),
        (&["bench", "ec", "--curve", "p192"], "no curve is called 'p192'", "x25519"),
        (&["bench", "ec", "--operation", "ecdh"], "no operation is called 'ecdh'", "agree"),
        (&["bench", "ec", "--batch", "0"], "'0' is not a batch size", "--batch"),
        (&["bench", "bls", "--part", "g3"], "no part is called 'g3'", "g1, g2"),
        (&["bench", "bls", "--sums", "21"], "'21' is not the logarithm", "--sums"),
        (
            &["bench", "vpn", "--part", "x"],
            "no part is called 'x'",
            "engine, tunnels, packets, start",
        ),
        (&["bench", "vpn", "--rounds", "0"], "invalid value '0'", "--help"),
        (&["vpn", "bench", "--seconds", "x"], "invalid value 'x'", "--help"),
        (&["bench", "--csv", "--json"], "cannot be used with", "--help"),
        (&["bench", "--peers", "gmp,nss"], "no peer is called 'nss'", "crypto-bigint"),
        (&["bench", "--cpu", "z80"], "unknown level 'z80' in --cpu", "portable"),
        (&["bench", "--save", ""], "a value is required", "--help"),
        (&["bench", "rsa", "--target", "foo"], "no target is called 'foo'", "cortex-m4"),
        (&["bench", "dh", "--target", "cortex-m4"], "dh does not run on cortex-m4", "modexp, rsa"),
        (
            &["bench", "rsa", "--bits", "4096", "--target", "cortex-m4"],
            "--bits has no effect with --target cortex-m4",
            "2048 bits",
        ),
        (&["bench", "--full", "--target", "cortex-m4"], "--full has no effect", "exact counts"),
        (&["bench", "rsa", "--target", "foo"], "no target is called 'foo'", "and aarch64"),
        (&["bench", "ec", "--target", "aarch64"], "nothing but instructions", "--instructions"),
        (
            &["bench", "modexp", "--target", "aarch64", "--instructions"],
            "modexp does not run on aarch64",
            "rsa, ec, bls",
        ),
        (
            &["bench", "rsa", "--bits", "8192", "--target", "aarch64", "--instructions"],
            "no table for aarch64 is of '8192'",
            "2048, 3072, 4096",
        ),
        (
            &["bench", "ec", "--operation", "sign", "--target", "aarch64", "--instructions"],
            "--operation has no effect with --target aarch64",
            "every operation",
        ),
        (
            &["bench", "ec", "--peers", "openssl", "--target", "aarch64", "--instructions"],
            "no peer for aarch64 is called 'openssl'",
            "graviola, aws-lc, blst",
        ),
        (
            &["bench", "rsa", "--peer-source", "bearssl=x"],
            "no peer with a source is called 'bearssl'",
            "with --target cortex-m4, bearssl=DIR",
        ),
        (
            &["bench", "rsa", "--peer-source", "openssl=/nonexistent"],
            "no OpenSSL in '/nonexistent', which lacks libcrypto.so.3",
            "make build_libs",
        ),
        (
            &["bench", "rsa", "--target", "cortex-m4", "--peer-source", "bearssl=/nonexistent"],
            "which lacks inc/bearssl.h",
            "apt-get source bearssl",
        ),
    ];
    for (arguments, error, hint) in cases {
        let said = complaint(&run(arguments), 2);
        assert!(said.0.contains(error), "{arguments:?}: {said:?}");
        assert!(said.1.contains(hint), "{arguments:?}: {said:?}");
    }
}

#[test]
fn a_level_beyond_the_processor_is_refused() {
    let detected = cycloid::cpu::detected_level();
    let Some(lacking) = cycloid::cpu::Level::ALL.into_iter().find(|level| !level.is_detected())
    else {
        return;
    };
    let (error, hint) = complaint(&run(&["bench", "--cpu", lacking.name()]), 2);
    assert!(error.contains("this processor lacks"), "{error}");
    assert!(hint.contains(detected.name()), "{hint}");
}

#[test]
fn the_environment_variable_is_checked_too() {
    let output = cycloid(&["bench"]).env("CYCLOID_CPU", "fast").output().unwrap();
    let (error, hint) = complaint(&output, 2);
    assert_eq!(error, "unknown level 'fast' in CYCLOID_CPU");
    assert!(hint.contains("portable"), "{hint}");
}

#[test]
fn an_unwritable_file_is_refused_before_anything_is_measured() {
    for path in ["/no/such/directory/results.json", "/"] {
        let (error, _) = complaint(&run(&["bench", "--full", "--save", path]), 1);
        assert!(error.starts_with(&format!("cannot write {path}: ")), "{error}");
    }
}

#[test]
fn help_and_version_go_to_stdout() {
    for arguments in
        [&["--help"][..], &["--version"], &["bench", "--help"], &["bench", "modexp", "-h"]]
    {
        let output = run(arguments);
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
    let help = String::from_utf8(run(&["bench", "modexp", "--help"]).stdout).unwrap();
    assert!(help.contains("Examples:\n  cycloid bench modexp"), "{help}");
    let version = String::from_utf8(run(&["--version"]).stdout).unwrap();
    assert_eq!(version, format!("cycloid {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_quick_run_has_every_strategy_and_every_peer() {
    let saved = scratch_file("quick.json");
    let path = saved.to_str().unwrap();
    let output = run(&["bench", "modexp", "--bits", "256", "--quick", "--json", "--save", path]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "no progress bar without a terminal");
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(fs::read(&saved).unwrap(), output.stdout);
    assert_eq!((report.format, &*report.effort), (FORMAT, "quick"));

    let [table] = &report.tables[..] else { panic!("one size is one table") };
    for strategy in cycloid::modular::Strategy::ALL {
        let (group, label) = (strategy.reduction.to_string(), strategy.exponentiation.to_string());
        let rows = table.records.iter().filter(|row| row.group == group && row.label == label);
        let [row] = rows.collect::<Vec<_>>()[..] else {
            panic!("{strategy} does not have exactly one row")
        };
        assert_eq!(row.memory.scratch, Some(strategy.scratch_bytes(256)));
        assert_eq!(row.constant_time, strategy.is_constant_time());
        assert!(row.time.samples >= 5 && row.ratio.samples == row.time.samples);
    }
    for label in ["default", "least scratch", "variable-time", "×8"] {
        assert!(table.records.iter().any(|row| row.group == "Cycloid" && row.label == label));
    }
    assert_eq!(report.peers.len(), 5);
    for peer in &report.peers {
        let rows = table.records.iter().filter(|row| row.group == peer.name).count();
        assert_eq!(peer.version.is_some(), rows >= 1, "{}", peer.name);
        assert_eq!(peer.missing.is_some(), table.missing.contains(&peer.name), "{}", peer.name);
    }
    let control = &table.control;
    assert_eq!(control.samples, table.rounds);
    assert!(
        control.interval[0] <= control.median && control.median <= control.interval[1],
        "{control:?}"
    );
}

#[test]
fn an_rsa_run_has_every_peer_that_does_the_operation() {
    let operations = "sign,pss,verify,oaep,decrypt,first-use";
    let arguments = ["bench", "rsa", "--bits", "2048", "--quick", "--json"];
    let output = cycloid(&arguments).args(["--operation", operations]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report.tables.len(), 6);
    let names: Vec<&str> = report.peers.iter().map(|peer| &*peer.name).collect();
    assert_eq!(names, ["OpenSSL", "AWS-LC", "ring", "graviola", "RustCrypto", "mirage-crypto"]);
    for table in &report.tables {
        let decrypts = table.name.contains("decrypt");
        for peer in &report.peers {
            // A runner process cannot distinguish a first use from a later one.
            let first_use = table.name.contains("first use") && peer.name == "mirage-crypto";
            if first_use || decrypts && ["ring", "graviola"].contains(&&*peer.name) {
                continue;
            }
            let rows = table.records.iter().filter(|row| row.group == peer.name).count();
            assert_eq!(peer.version.is_some(), rows >= 1, "{}: {}", table.name, peer.name);
            assert_eq!(peer.missing.is_some(), table.missing.contains(&peer.name));
        }
        assert_eq!((&*table.reference, &*table.records[0].group), ("default", "Cycloid"));
    }
    let [sign, _, _, _, _, first_use] = &report.tables[..] else { panic!() };
    let scratch = |label: &str| {
        let row = sign.records.iter().find(|row| row.group == "Cycloid" && row.label == label);
        row.unwrap().memory.scratch.unwrap()
    };
    assert_eq!(scratch("least"), cycloid::scheme::rsa::minimum_context_limbs(2048) * 8);
    assert!(scratch("6 KB") <= 6144);
    assert!(scratch("least") < scratch("6 KB") && scratch("6 KB") < scratch("default"));
    let allocations = |row: &&Record| row.memory.allocations;
    let ours = sign.records.iter().filter(|row| row.group == "Cycloid");
    assert!(ours.filter_map(|row| allocations(&row)).all(|allocations| allocations == 0));
    let first = first_use.records.iter().filter(|row| row.label == "first use");
    let here = report.peers.iter().filter(|p| p.version.is_some() && p.name != "mirage-crypto");
    assert_eq!(first.count(), 1 + here.count());
}

#[test]
fn a_dh_run_has_both_operations_and_both_peers() {
    let output = run(&["bench", "dh", "--bits", "2048", "--quick", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report.tables.len(), 2);
    for table in &report.tables {
        for peer in &report.peers {
            let rows = table.records.iter().filter(|row| row.group == peer.name).count();
            assert_eq!(peer.version.is_some(), rows >= 1, "{}: {}", table.title(), peer.name);
        }
        assert!(table.records.iter().any(|row| row.label == "×8" && row.operations_per_call == 8));
    }
}

#[test]
fn an_ec_run_has_every_curve_and_operation_and_every_peer_that_supports_it() {
    let output = run(&["bench", "ec", "--quick", "--json", "--batch", "3,8"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    let titles: Vec<String> = report.tables.iter().map(Table::title).collect();
    assert_eq!(titles.len(), 4 * 4 + 3 + 2, "{titles:?}");
    for table in &report.tables {
        let (curve, operation) = (&*table.group, &*table.name);
        let mut expected = vec!["OpenSSL", "AWS-LC", "mirage-crypto"];
        expected.extend(match curve {
            "P-224" => &["RustCrypto"][..],
            "P-521" => &["RustCrypto"],
            "P-256" | "P-384" => &["ring", "graviola", "RustCrypto"],
            _ => &["ring", "graviola", "dalek"],
        });
        for peer in &report.peers {
            // A batch of dalek stands beside its single verification.
            let single = |row: &&Record| row.group == peer.name && row.method == Method::Single;
            let rows = table.records.iter().filter(single).count();
            let expected = expected.contains(&&*peer.name) && peer.version.is_some();
            assert_eq!(rows, usize::from(expected), "{}: {}", table.title(), peer.name);
        }
        let batched = operation != "generate" || curve == "X25519";
        for (label, count) in [("×3", 3), ("×8", 8)] {
            let ours = |row: &&Record| row.label == label && row.group == "Cycloid";
            let rows = table.records.iter().filter(ours);
            let counts: Vec<u32> = rows.map(|row| row.operations_per_call).collect();
            assert_eq!(counts, if batched { vec![count] } else { vec![] }, "{}", table.title());
        }
    }
}

#[test]
fn a_bls_run_has_the_backends_side_by_side_and_peers_below() {
    let output = run(&["bench", "bls", "--quick", "--part", "gt,msm", "--sums", "3,5"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for line in ["bls: gt", "bls: msm"] {
        assert!(lines.contains(&line), "{text}");
    }
    let start = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    // The backends, and the peers below them.
    assert_eq!(
        (start("G1 sum of 2^3"), start("G2 sum of 2^5"), start("power")),
        (2, 2, 4),
        "{text}"
    );
    for peer in ["zkcrypto", "arkworks"] {
        let heads = lines.iter().filter(|line| line.contains(peer) && line.contains("bytes"));
        assert_eq!(heads.count(), if peer == "arkworks" { 2 } else { 1 }, "{text}");
    }
    let head = lines.iter().find(|line| line.contains("blst") && line.contains("bytes")).unwrap();
    assert!(head.split_whitespace().any(|word| word == "blst"), "{head}");
}

#[test]
fn a_tls_run_has_both_providers_and_shows_rates() {
    let output = run(&["bench", "tls", "--quick", "--peers", "aws-lc,ring,gmp"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, summary) = text.split_once("tls: operations per second").unwrap();
    let head: Vec<&str> = summary.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(head, ["Cycloid", "AWS-LC", "ring", "ratio"]);
    for row in ["X25519, ECDSA P-256", "X25519, RSA-2048", "P-256, ECDSA P-256"] {
        assert!(summary.contains(row), "{summary}");
    }
}

#[test]
fn key_generation_is_compared_by_means() {
    let arguments = ["bench", "rsa", "--bits", "2048", "--quick", "--operation", "generate"];
    let output = cycloid(&arguments).args(["--peers", "openssl", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    let [table] = &report.tables[..] else { panic!("one operation is one table") };
    assert_eq!(table.statistic, cycloid_lab::record::Statistic::Mean);
    for row in &table.records {
        assert!(row.time.samples >= 3 && row.time.mean_ns >= row.time.minimum_ns);
        assert!(row.ratio.interval[0] <= row.ratio.median);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_missing_peer_is_named_with_its_package() {
    // The dynamic linker finds the empty file as the library and fails to load it.
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("without-gmp");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("libgmp.so.10"), "").unwrap();
    let run = |more: &[&str]| {
        let arguments = ["bench", "modexp", "--bits", "128", "--quick", "--strategy", "none"];
        let output = cycloid(&arguments)
            .args(["--peers", "gmp,crypto-bigint"])
            .args(more)
            .env("LD_LIBRARY_PATH", &directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let report: Report = serde_json::from_slice(&run(&["--json"])).unwrap();
    assert_eq!(report.peers[0].missing.as_ref().unwrap().remedy, "apt install libgmp10");
    assert_eq!(report.tables[0].missing, ["GMP"]);
    let text = String::from_utf8(run(&[])).unwrap();
    assert!(text.contains("GMP is missing: no usable libgmp.so.10"), "{text}");
    assert!(text.contains("\nmissing: GMP: apt install libgmp10\n"), "{text}");
}

#[test]
fn a_lower_level_is_used_and_reported() {
    let arguments = ["bench", "modexp", "--bits", "128", "--quick", "--strategy", "none"];
    let output = cycloid(&arguments)
        .args(["--peers", "none", "--json"])
        .env("CYCLOID_CPU", "portable")
        .output()
        .unwrap();
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report.environment.level_used, "portable");
    let default = &report.tables[0].records[0];
    assert_eq!(default.implementation.backend.as_deref(), Some("portable"));
}

#[test]
fn a_table_without_a_terminal_is_plain_text_of_at_most_100_columns() {
    let output = run(&["bench", "modexp", "--bits", "128", "--quick", "--peers", "gmp"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\u{1b}'));
    assert!(text.contains("128-bit modulus, 128-bit exponent"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn a_name_that_is_no_command_runs_the_program_of_that_name() {
    let said = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said(&["hsm", "--version"]).starts_with("cycloid-hsm "));
    assert!(said(&["vpn", "--help"]).contains("Usage: cycloid-vpn <COMMAND>"));
    // The program's own exit code and messages pass through.
    let (message, _) = complaint(&run(&["vpn", "check", "/no/such/file"]), 1);
    assert!(message.contains("/no/such/file"), "{message}");
    let (message, hint) = complaint(&run(&["vpn", "sevre"]), 2);
    assert!(message.contains("'sevre'") && hint.contains("server"), "{message}, {hint}");
    // A lab without the services names what is missing; an unknown name is only a mistake.
    let alone = tempfile::tempdir().unwrap();
    let copy = alone.path().join("cycloid");
    fs::copy(env!("CARGO_BIN_EXE_cycloid"), &copy).unwrap();
    let without = |arguments: &[&str]| {
        let mut command = Command::new(&copy);
        command.args(arguments).env("PATH", alone.path()).env_remove("CARGO_PKG_NAME");
        complaint(&command.output().unwrap(), 2)
    };
    assert!(without(&["hsm", "status"]).0.contains("cycloid-hsm is not installed"));
    assert!(without(&["tpm"]).0.contains("unrecognized subcommand 'tpm'"));
}

#[test]
fn a_closed_stdout_is_no_error() {
    let arguments = ["bench", "modexp", "--bits", "64", "--quick", "--peers", "none", "--json"];
    let mut child =
        cycloid(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // stdout is closed before anything is written.
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert_eq!(said, "");
}
