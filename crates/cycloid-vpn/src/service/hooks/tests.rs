use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;

struct Fixture {
    directory: tempfile::TempDir,
    hooks: Hooks,
    start: Instant,
}

fn fixture(security: u8, limit: Duration) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("tmp")).unwrap();
    let hooks = Hooks::new(security, directory.path().join("tmp"), limit);
    Fixture { directory, hooks, start: Instant::now() }
}

const LONG: Duration = Duration::from_secs(60);

impl Fixture {
    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn script(&self, text: &str) -> Script {
        let path = self.path(&format!("script{}", self.hooks.next));
        // Written by a separate process: if another thread of this process forked meanwhile, its
        // child would hold the file open for writing and the kernel would refuse to execute it.
        let written = Command::new("sh")
            .args(["-c", "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 755 \"$1\"", "sh"])
            .args([path.as_os_str(), text.as_ref()])
            .status();
        assert!(written.unwrap().success());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755);
        Script::parse(&format!("\"{}\" 'first argument'", path.display())).unwrap().unwrap()
    }

    fn job(&self, kind: Kind, text: &str) -> Job {
        Job { arguments: vec!["second".into()], ..job(&self.script(text), kind, 0) }
    }

    fn start(&mut self, job: Job) -> Ticket {
        self.hooks.start(self.start.elapsed(), job).unwrap()
    }

    /// Waits like the control thread. Returns the outcomes in order.
    fn wait(&mut self, count: usize) -> Vec<(Ticket, Kind, Outcome)> {
        let mut done = Vec::new();
        while done.len() < count {
            let now = self.start.elapsed();
            assert!(now < LONG, "{done:?}");
            let wait = self.hooks.deadline(now).expect("a script is running").saturating_sub(now);
            let mut fds: Vec<_> =
                self.hooks.fds().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
            poll(&mut fds, Some(&Timespec::try_from(wait).unwrap())).unwrap();
            drop(fds);
            done.extend(self.hooks.done(self.start.elapsed()));
        }
        done
    }

    fn outcome(&mut self) -> Outcome {
        self.wait(1).remove(0).2
    }

    fn wait_until(&mut self, done: impl Fn(&mut Self) -> bool) {
        while !done(self) {
            assert!(self.start.elapsed() < LONG);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns whether the only running script times out at `now`.
    fn is_late_at(&mut self, now: Duration) -> bool {
        let done = self.hooks.done(now);
        let [(_, _, Outcome::Refused { why, .. })] = &done[..] else { panic!("{done:?}") };
        why.ends_with("timeout")
    }

    fn leftovers(&self) -> usize {
        fs::read_dir(self.path("tmp")).unwrap().count()
    }
}

fn accepted(text: &str) -> Outcome {
    Outcome::Accepted(text.into())
}

fn for_client(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Refused { for_client, .. } => for_client,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn arguments_and_environment_and_no_shell() {
    let mut fixture = fixture(2, LONG);
    let out = fixture.path("out");
    let mut job = fixture.job(Kind::Up, "printf '%s|' \"$@\" > $OUT; env >> $OUT; exit 0");
    job.environment.set("OUT", out.display());
    job.environment.set("common_name", "$(touch /nowhere); `id`\n");
    job.arguments.push("$HOME; *".into());
    fixture.start(job);
    assert_eq!(fixture.outcome(), accepted(""));
    let text = fs::read_to_string(out).unwrap();
    assert!(text.starts_with("first argument|second|$HOME; *|"), "{text}");
    for line in ["script_type=up", "common_name=$(touch /nowhere); `id`_"] {
        assert!(text.lines().any(|found| found.ends_with(line)), "{text}");
    }
    assert!(!text.contains("CARGO"), "scripts must not inherit this process's environment");
    assert!(fixture.hooks.is_idle());
}

#[test]
fn forbidden_and_missing_scripts() {
    let mut fixture = fixture(1, LONG);
    let job = fixture.job(Kind::Up, "exit 0");
    assert_eq!(fixture.hooks.start(LONG, job), Err(NotAllowed { needed: 2 }));
    fixture.hooks.security = 2;
    let secret = Secret::Environment("u".into(), Zeroizing::new("p".into()));
    let job = Job { secret, ..fixture.job(Kind::UserPassVerify, "exit 0") };
    assert_eq!(fixture.hooks.start(LONG, job), Err(NotAllowed { needed: 3 }));
    let script = Script::parse("/nowhere/at/all").unwrap().unwrap();
    let job = Job { script, ..fixture.job(Kind::ClientConnect, "") };
    fixture.start(job);
    assert_eq!(for_client(fixture.outcome()), None);
    assert_eq!(fixture.leftovers(), 0);
    assert_eq!(Script::parse("  "), Ok(None));
}

#[test]
fn lines_of_configuration_for_a_client() {
    let mut fixture = fixture(2, LONG);
    let text = "[ \"$3\" = \"$client_connect_config_file\" ] && echo 'push \"x\"' > \"$3\"";
    fixture.start(fixture.job(Kind::ClientConnect, text));
    assert_eq!(fixture.outcome(), accepted("push \"x\"\n"));
    fixture.start(fixture.job(Kind::ClientConnect, "exit 1"));
    assert_eq!(for_client(fixture.outcome()), None);
    fixture.start(fixture.job(Kind::ClientConnect, "echo 0 > $client_connect_deferred_file"));
    assert_eq!(for_client(fixture.outcome()), None);
    let text = "echo 2 > $client_connect_deferred_file\n\
        (sleep 0.4; echo late > $3; echo 1 > $client_connect_deferred_file) &";
    fixture.start(fixture.job(Kind::ClientConnect, text));
    assert_eq!(fixture.outcome(), accepted("late\n"));
    assert_eq!(fixture.leftovers(), 0);
}

#[test]
fn usernames_and_passwords() {
    let mut fixture = fixture(3, LONG);
    let password = || Zeroizing::new("pass word".to_owned());
    let text = "[ \"$(cat \"$3\")\" = \"$(printf 'ann\\npass word')\" ]";
    let secret = Secret::File("ann".into(), password());
    let job = Job { secret, ..fixture.job(Kind::UserPassVerify, text) };
    fixture.start(job);
    assert_eq!(fixture.outcome(), accepted(""));
    let secret = Secret::Environment("ann".into(), password());
    let text = "[ \"$username/$password/$script_type\" = 'ann/pass word/user-pass-verify' ]";
    let job = Job { secret, ..fixture.job(Kind::UserPassVerify, text) };
    fixture.start(job);
    assert_eq!(fixture.outcome(), accepted(""));
    let text = "echo 'no such user' > $auth_failed_reason_file; exit 1";
    fixture.start(fixture.job(Kind::UserPassVerify, text));
    assert_eq!(for_client(fixture.outcome()).unwrap(), "no such user");

    let text = "printf '30\\nwebauth\\nWEB_AUTH::https://x\\n' > $auth_pending_file\n\
        (sleep 0.4; echo late > $auth_failed_reason_file; echo 0 > $auth_control_file) &\nexit 2";
    fixture.start(fixture.job(Kind::UserPassVerify, text));
    let done = fixture.wait(2);
    let pending = Outcome::Pending {
        timeout: 30,
        method: "webauth".into(),
        extra: "WEB_AUTH::https://x".into(),
    };
    assert_eq!(done[0].2, pending);
    assert_eq!(for_client(done[1].2.clone()).unwrap(), "late");
    assert_eq!(fixture.leftovers(), 0);
}

#[test]
fn a_pending_step_has_the_time_limit_that_the_script_sets() {
    let mut fixture = fixture(2, LONG);
    for seconds in [180, 5] {
        let text = format!("printf '{seconds}\\nwebauth\\nx\\n' > $auth_pending_file; exit 2");
        fixture.start(fixture.job(Kind::UserPassVerify, &text));
        assert!(
            matches!(fixture.outcome(), Outcome::Pending { timeout, .. } if timeout == seconds)
        );
        fixture.wait_until(|fixture| {
            assert_eq!(fixture.hooks.done(fixture.start.elapsed()), []);
            fixture.hooks.fds().next().is_none()
        });
        // The limit counts from the script's request, which is in the past by now.
        let limit = Duration::from_secs(seconds.into());
        assert_eq!(fixture.hooks.done(limit - Duration::from_secs(1)), []);
        assert!(fixture.is_late_at(fixture.start.elapsed() + limit));
    }
}

#[test]
fn the_response_to_a_challenge_decides() {
    let mut fixture = fixture(2, LONG);
    let asked = fixture.start(fixture.job(Kind::UserPassVerify, "exit 2"));
    let secret = Secret::Response(Zeroizing::new("MTIz".into()));
    let text = "[ \"$(cat \"$3\")\" = MTIz ] && echo 1 > $auth_control_file";
    let job = Job { secret, ..fixture.job(Kind::ChallengeResponse, text) };
    let answered = fixture.start(job);
    let mut done = fixture.wait(2);
    done.sort_by_key(|(ticket, ..)| *ticket);
    assert_eq!(done[0], (asked, Kind::UserPassVerify, accepted("")));
    assert_eq!(done[1], (answered, Kind::ChallengeResponse, accepted("")));
    assert_eq!(fixture.leftovers(), 0);
}

#[test]
fn a_timeout_kills_the_script_and_its_children() {
    let mut fixture = fixture(2, LONG);
    let alive = fixture.path("alive");
    let mut job = fixture
        .job(Kind::LearnAddress, "sleep 600 & echo $! > $ALIVE.new; mv $ALIVE.new $ALIVE; wait");
    job.environment.set("ALIVE", alive.display());
    fixture.start(job);
    fixture.wait_until(|_| alive.exists());
    assert!(fixture.is_late_at(LONG * 2));
    let sleeper = fs::read_to_string(alive).unwrap();
    let process = format!("/proc/{}/stat", sleeper.trim());
    let gone = |path: &str| fs::read_to_string(path).map_or(true, |stat| stat.contains(") Z "));
    fixture.wait_until(|_| gone(&process));
    // A deferred decision also times out.
    fixture.start(fixture.job(Kind::UserPassVerify, "exit 2"));
    fixture.wait_until(|fixture| {
        assert_eq!(fixture.hooks.done(fixture.start.elapsed()), []);
        fixture.hooks.fds().next().is_none()
    });
    assert!(fixture.is_late_at(LONG * 4));
}

#[test]
fn a_lane_keeps_its_order_and_does_not_block_others() {
    let mut fixture = fixture(2, LONG);
    let out = fixture.path("out");
    let go = fixture.path("go");
    let mut tickets = Vec::new();
    let first = "while [ ! -e $GO ]; do sleep 0.02; done; echo a";
    for (lane, text) in [(1, first), (1, "echo b"), (1, "echo c"), (2, "echo d")] {
        let mut job = fixture.job(Kind::ClientDisconnect, &format!("({text}) >> $OUT"));
        job.environment.set("OUT", out.display());
        job.environment.set("GO", go.display());
        job.lane = lane;
        tickets.push(fixture.start(job));
    }
    assert_eq!(fixture.wait(1)[0].0, tickets[3]);
    fs::write(go, "").unwrap();
    let done: Vec<_> = fixture.wait(3).iter().map(|(ticket, ..)| *ticket).collect();
    assert_eq!(done, tickets[..3]);
    assert_eq!(fs::read_to_string(out).unwrap(), "d\na\nb\nc\n");
}

fn job(script: &Script, kind: Kind, lane: u64) -> Job {
    let (script, environment) = (script.clone(), Environment::default());
    Job { kind, script, arguments: Vec::new(), environment, lane, secret: Secret::None }
}

/// Fills all places with scripts of other lanes that run until the file `go` exists.
fn occupy(fixture: &mut Fixture) {
    let script = fixture.script("while [ ! -e $GO ]; do sleep 0.5; done");
    for lane in 0..MAX_RUNNING as u64 {
        let mut job = job(&script, Kind::LearnAddress, 1000 + lane);
        job.environment.set("GO", fixture.path("go").display());
        fixture.start(job);
    }
    assert!(fixture.hooks.waiting.is_empty());
}

#[test]
fn scripts_of_a_departed_client_are_dropped() {
    let mut fixture = fixture(2, LONG);
    occupy(&mut fixture);
    let mut tickets = Vec::new();
    for (lane, kind) in [
        (1, Kind::TlsVerify),
        (1, Kind::UserPassVerify),
        (1, Kind::ChallengeResponse),
        (1, Kind::ClientDisconnect),
        (2, Kind::UserPassVerify),
    ] {
        let secret = Secret::File("ann".into(), Zeroizing::new("p".into()));
        let job = Job { lane, secret, ..fixture.job(kind, "exit 0") };
        tickets.push(fixture.start(job));
    }
    assert_eq!(fixture.hooks.waiting.len(), tickets.len());
    assert_eq!(fixture.hooks.cancel(LONG / 2, 1), tickets[..3]);
    let left: Vec<_> = fixture.hooks.waiting.iter().map(|(ticket, _)| *ticket).collect();
    assert_eq!(left, tickets[3..]);
    fs::write(fixture.path("go"), "").unwrap();
    let done = fixture.wait(MAX_RUNNING + 2);
    assert!(tickets[3..].iter().all(|ticket| done.iter().any(|it| it.0 == *ticket)));
    assert!(fixture.hooks.is_idle());
    // A deferred decision holds a place, too, and a running script ends by itself.
    let deferred = fixture.start(Job { lane: 3, ..fixture.job(Kind::UserPassVerify, "exit 2") });
    fixture.wait_until(|fixture| {
        assert_eq!(fixture.hooks.done(fixture.start.elapsed()), []);
        fixture.hooks.fds().next().is_none()
    });
    let runs = fixture.start(Job { lane: 4, ..fixture.job(Kind::ClientConnect, "exit 0") });
    assert_eq!(fixture.hooks.cancel(LONG / 2, 3), [deferred]);
    assert_eq!(fixture.hooks.cancel(LONG / 2, 4), []);
    assert_eq!(fixture.wait(1)[0].0, runs);
    assert_eq!(fixture.leftovers(), 0);
}

#[test]
fn the_queue_is_bounded_for_a_client_and_for_all() {
    let mut fixture = fixture(2, LONG);
    occupy(&mut fixture);
    let script = fixture.script("exit 0");
    // A notification about a client does not count towards its limit.
    for kind in [Kind::LearnAddress, Kind::UserPassVerify] {
        assert!(!fixture.hooks.is_full(1));
        for _ in 0..MAX_WAITING_OF_LANE {
            fixture.start(job(&script, kind, 1));
        }
    }
    assert!(fixture.hooks.is_full(1) && !fixture.hooks.is_full(2));
    for lane in 0..(MAX_WAITING - 2 * MAX_WAITING_OF_LANE) as u64 {
        assert!(!fixture.hooks.is_full(2));
        fixture.start(job(&script, Kind::UserPassVerify, 10_000 + lane));
    }
    assert!(fixture.hooks.is_full(2));
    fixture.hooks.cancel(LONG / 2, 10_000);
    assert!(!fixture.hooks.is_full(2) && fixture.hooks.is_full(1));
}

#[test]
fn replaced_exchange_files_are_handled() {
    let directory = tempfile::tempdir().unwrap();
    let exchange = Exchange::new(directory.path(), "x", &[b"1"]).unwrap();
    assert_eq!(exchange.verdict(), Some('1'));
    let path = exchange.path();
    fs::write(&path, vec![b'x'; 100_000]).unwrap();
    assert_eq!(exchange.text(), "");
    fs::remove_file(&path).unwrap();
    assert_eq!(exchange.verdict(), None);
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    assert_eq!(exchange.text(), "");
    drop(exchange);
    assert!(Path::new(&path).symlink_metadata().is_err());
}
