//! The command line of `cycloid profile`.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Instant;

use cycloid_profiler::RawProfile;
use cycloid_report::profile::{Difference, Node, Report, SelfTest};

fn cycloid(arguments: &[&str]) -> Output {
    let mut command = support::cycloid();
    command.args(arguments).output().unwrap()
}

/// Returns stdout of a successful run.
fn printed(arguments: &[&str]) -> String {
    let output = cycloid(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

fn samples_of(nodes: &[Node], name: &str) -> u64 {
    let of = |node: &Node| {
        if node.name.contains(name) { node.samples } else { samples_of(&node.children, name) }
    };
    nodes.iter().map(of).sum()
}

/// The program checks its stacks itself; this test also checks its record.
#[test]
fn stacks_attribute_time_correctly_where_call_counts_do_not() {
    let test: SelfTest =
        serde_json::from_str(&printed(&["profile", "self-test", "--seconds", "2", "--json"]))
            .unwrap();
    assert!(test.passes());
    let [cheap, dear] = &test.shares;
    assert_eq!((cheap.by_call_counts, dear.by_call_counts), (0.5, 0.5));
    assert!(cheap.by_spans < 0.05, "{test:?}");
    assert_eq!(cheap.calls, dear.calls);
}

#[test]
fn an_operation_is_profiled_in_every_form() {
    let [save, folded, svg, speedscope] =
        ["p.json", "p.folded", "p.svg", "p.speedscope.json"].map(file);
    let text = printed(&[
        "profile",
        "modexp",
        "2048",
        "--cpu",
        "portable",
        "--seconds",
        "2",
        "--save",
        save.to_str().unwrap(),
        "--folded",
        folded.to_str().unwrap(),
        "--svg",
        svg.to_str().unwrap(),
        "--speedscope",
        speedscope.to_str().unwrap(),
    ]);
    for part in ["Flat profile:", "Call graph:", "first use", "delivered", "sampling cost:"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let report: Report = serde_json::from_slice(&fs::read(&save).unwrap()).unwrap();
    assert_eq!(report.environment.level_used, "portable");
    let profile = &report.profiles[0];
    let sampling = profile.sampling.unwrap();
    assert!(sampling.samples > 0 && sampling.lost == 0, "{sampling:?}");
    // Most samples are the library's, and carry its names.
    let ours = samples_of(&profile.roots, "cycloid::");
    assert!(ours * 4 >= sampling.samples * 3, "{ours} of {sampling:?}");
    assert!(report.configurations[0].first_seconds.unwrap() > 0.0);
    assert!(report.overhead.unwrap().ratio.samples >= 6);
    let folded = fs::read_to_string(folded).unwrap();
    assert!(folded.lines().all(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().is_ok()));
    assert!(fs::read_to_string(svg).unwrap().contains("cycloid::"));
    let speedscope: serde_json::Value =
        serde_json::from_slice(&fs::read(speedscope).unwrap()).unwrap();
    assert_eq!(speedscope["profiles"][0]["type"], "sampled");

    let again = printed(&["profile", "--from", save.to_str().unwrap()]);
    assert_eq!(again, text);
    let both = save.to_str().unwrap();
    let differences = printed(&["profile", "--diff", both, both, "--json"]);
    let differences: Vec<Difference> = serde_json::from_str(&differences).unwrap();
    assert!(differences[0].names.iter().all(|change| change.before_us == change.after_us));
}

#[test]
fn a_peer_is_profiled_by_its_name() {
    let arguments = ["profile", "modexp", "1024", "--implementation", "crypto-bigint"];
    let record = printed(&[&arguments[..], &["--seconds", "0.3", "--json"]].concat());
    let report: Report = serde_json::from_str(&record).unwrap();
    assert!(samples_of(&report.profiles[0].roots, "crypto_bigint") > 0, "{record}");
}

#[test]
fn unknown_names_are_reported_with_a_hint() {
    for (arguments, says) in [
        (&["profile"][..], "required"),
        (&["profile", "ec", "p-257"], "ec has no operation with the words 'p 257'"),
        (&["profile", "modexp", "1024", "--variant", "nonsense"], "no such row"),
        (&["profile", "--diff", "a.json", "b.json"], "cannot read a.json"),
        (&["profile", "ec", "p256-sign", "--seconds", "0"], "0.1 to 3600"),
    ] {
        let output = cycloid(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(says) && stderr.contains("hint: "), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty());
    }
    assert!(printed(&["profile", "--list"]).lines().any(|line| line == "ec p-256-sign"));
}

/// A daemon with its own keystore.
struct Daemon {
    _home: tempfile::TempDir,
    socket: String,
    store: String,
    pin: String,
    serve: Child,
}

impl Daemon {
    fn start(profile: Option<&Path>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name).display().to_string();
        let (socket, store, pin) = (path("socket"), path("store"), path("pin"));
        fs::write(&pin, "a pin for a test").unwrap();
        let command = |arguments: &[&str]| hsm(&socket, &store, arguments);
        done(&mut command(&["init", "--officer-pin-file", &pin, "--pin-file", &pin]));
        let mut serve = command(&["serve"]);
        if let Some(profile) = profile {
            serve.env("CYCLOID_PROFILE", profile);
        }
        let mut serve = serve.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(serve.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening at"), "{line}");
        Self { _home: home, socket, store, pin, serve }
    }

    fn generate(&self, label: &str) {
        let arguments = ["key", "generate", "rsa-4096", "--label", label, "--pin-file", &self.pin];
        done(&mut hsm(&self.socket, &self.store, &arguments));
    }

    /// Stops the daemon, and returns its stderr.
    fn end(self) -> String {
        done(Command::new("kill").arg(self.serve.id().to_string()));
        let output = self.serve.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

fn hsm(socket: &str, store: &str, arguments: &[&str]) -> Command {
    let mut command = support::cycloid();
    command.arg("hsm").args(arguments).args(["--socket", socket, "--home", store]);
    command
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A service with CYCLOID_PROFILE writes its samples when it is stopped, and `profile --from` shows
/// them in every form.
#[test]
fn a_service_writes_its_samples_when_it_ends() {
    let home = tempfile::tempdir().unwrap();
    let samples = home.path().join("service.samples");
    let daemon = Daemon::start(Some(&samples));
    daemon.generate("a");
    // It is profiling its whole run already, so it refuses.
    let number = daemon.serve.id().to_string();
    let output = cycloid(&["profile", "--pid", &number, "--seconds", "0.1"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(daemon.end().contains("samples in"));
    let raw = RawProfile::parse(&fs::read_to_string(&samples).unwrap()).unwrap();
    assert_eq!((&*raw.title, raw.process.to_string()), ("cycloid-hsm serve", number));

    let paths = ["folded", "svg", "speedscope.json", "save.json"]
        .map(|name| home.path().join(name).display().to_string());
    let [folded, svg, speedscope, save] = &paths;
    let from = ["profile", "--from", samples.to_str().unwrap()];
    let files = ["--folded", folded, "--svg", svg, "--speedscope", speedscope, "--save", save];
    let text = printed(&[&from[..], &files].concat());
    for part in ["Flat profile:", "Call graph:", "::rsa::"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let read = |path: &str| fs::read_to_string(path).unwrap();
    let generated = |line: &str| line.starts_with("cycloid-hsm serve;") && line.contains("::rsa::");
    assert!(read(folded).lines().any(generated), "{}", read(folded));
    assert!(read(svg).contains("::rsa::") && read(speedscope).contains("::rsa::"));
    let report: Report =
        serde_json::from_str(&printed(&[&from[..], &["--json"]].concat())).unwrap();
    let total: u64 = raw.stacks.iter().map(|stack| stack.samples).sum();
    assert_eq!(report.profiles[0].sampling.unwrap().samples, total);
    // Of a busy daemon, the callers are known.
    assert!(report.profiles[0].sampling.unwrap().cut_short * 4 <= total, "{text}");
    let saved: Report = serde_json::from_str(&read(save)).unwrap();
    assert_eq!(saved.profiles, report.profiles);
    let differences = printed(&["profile", "--diff", save, samples.to_str().unwrap(), "--json"]);
    let differences: Vec<Difference> = serde_json::from_str(&differences).unwrap();
    assert!(differences[0].names.iter().all(|change| change.before_us == change.after_us));

    // Samples of a program that has changed have no names.
    let mut changed = raw;
    for file in changed.files.iter_mut().filter(|file| file.path.ends_with("cycloid-hsm")) {
        file.identity.as_mut().unwrap().bytes += 1;
    }
    fs::write(&samples, changed.to_string()).unwrap();
    let text = printed(&from);
    assert!(text.contains("[cycloid-hsm]") && !text.contains("::rsa::"), "{text}");
    fs::write(&samples, "cycloid samples 2\n").unwrap();
    let output = cycloid(&from);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("line 1: expected") && said.contains("hint: "), "{said}");
}

/// A running service answers repeated profile requests while it serves.
#[test]
fn a_running_service_answers_profile_requests() {
    let daemon = Daemon::start(None);
    let number = daemon.serve.id().to_string();
    for turn in ["first", "second"] {
        let start = Instant::now();
        let report = thread::scope(|scope| {
            let asked =
                scope.spawn(|| cycloid(&["profile", "--pid", &number, "--seconds", "4", "--json"]));
            for number in 0.. {
                daemon.generate(&format!("{turn} {number}"));
                if asked.is_finished() {
                    break;
                }
            }
            asked.join().unwrap()
        });
        assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stderr));
        let report: Report = serde_json::from_slice(&report.stdout).unwrap();
        assert_eq!(report.workload, "cycloid-hsm serve");
        let [profile] = &report.profiles[..] else { panic!("{report:?}") };
        // The unit is seconds; a busy machine may take longer than requested.
        let longest = start.elapsed().as_secs_f64().round() as u64;
        assert!((4..=longest).contains(&profile.operations), "{} {longest}", profile.operations);
        let sampling = profile.sampling.unwrap();
        assert!(sampling.samples > 0 && sampling.handler_seconds > Some(0.0), "{sampling:?}");
        assert!(profile.folded().contains("::rsa::"), "{}", profile.folded());
    }
    daemon.end();
}

/// A process that is no such service gets no signal.
#[test]
fn other_processes_are_not_signalled() {
    let mut other = Command::new("sleep")
        .arg("600")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = cycloid(&["profile", "--pid", &other.id().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("is not a service that can be profiled"), "{said}");
    assert_eq!(other.try_wait().unwrap(), None);
    other.kill().unwrap();
    other.wait().unwrap();
    let output = cycloid(&["profile", "--pid", &other.id().to_string()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&format!("process {} does not exist", other.id())), "{said}");
}
