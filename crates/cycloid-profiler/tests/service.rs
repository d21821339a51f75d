//! A process that profiles itself: on request, and for its whole run.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::fs;
use std::hint::black_box;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{self, Command, Output};
use std::time::Duration;

use cycloid_profiler::service::{self, Request, VARIABLE};
use cycloid_profiler::{Error, RawProfile, Sampler, clock};
use rustix::process::{Signal, getpid, kill_process};

/// The environment variable that names the part of a child process.
const PART: &str = "CYCLOID_TEST_PART";

/// Runs `part` in a child process, which is this program with the same test. Returns the output to
/// the parent, and `None` to the child.
fn in_child(test: &str, part: fn(), variable: Option<&Path>) -> Option<Output> {
    if std::env::var_os(PART).is_some() {
        part();
        return None;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(PART, test).env_remove(VARIABLE);
    command.envs(variable.map(|path| (VARIABLE, path)));
    Some(command.output().unwrap())
}

fn succeeded(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

fn spin(time: Duration) {
    let start = clock::now();
    while clock::now() - start < time {
        black_box(0);
    }
}

/// Checks that most samples are in the program's own file, and that the profile hides addresses.
fn check_samples(profile: &RawProfile) {
    let program = std::env::current_exe().unwrap();
    let of_program = |address: u64| {
        let file = profile.files.iter().find(|file| file.contains(address));
        file.is_some_and(|file| Path::new(&file.path) == program && file.identity.is_some())
    };
    let all: u64 = profile.stacks.iter().map(|stack| stack.samples).sum();
    let own = profile.stacks.iter().filter(|stack| stack.addresses.iter().copied().any(of_program));
    let own: u64 = own.map(|stack| stack.samples).sum();
    assert!(all > 0 && own * 4 >= all * 3, "{own} of {all}: {profile}");
    let here = check_samples as fn(&RawProfile) as usize as u64;
    assert!(profile.files.iter().all(|file| !file.contains(here)), "{profile}");
}

/// Sends a request as `cycloid profile --pid` does, from this process to itself.
fn ask(listener: &UnixListener, line: &str) -> String {
    kill_process(getpid(), Signal::URG).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    writeln!(stream, "{line}").unwrap();
    spin(Duration::from_secs(1));
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_service_answers_requests() {
    let part = || {
        service::answer_profile_requests("a test");
        let name = service::socket_name(process::id()).unwrap();
        let listener = UnixListener::bind_addr(&name).unwrap();
        for hertz in [997, 100] {
            let request = Request { seconds: 1.0, hertz };
            let text = ask(&listener, &request.to_string());
            let profile = RawProfile::parse(&text).unwrap();
            assert_eq!((&*profile.title, profile.process), ("a test", process::id()));
            assert!(profile.wall >= Duration::from_secs(1) && profile.hertz == hertz, "{text}");
            assert!(profile.processor > Duration::ZERO && profile.handler > Duration::ZERO);
            check_samples(&profile);
        }
        assert_eq!(ask(&listener, "1 1000000"), "error: malformed request\n");
        let sampler = Sampler::new(1).unwrap();
        assert_eq!(ask(&listener, "0 1"), "error: the process is already being profiled\n");
        drop(sampler);
    };
    if let Some(output) = in_child("a_service_answers_requests", part, None) {
        succeeded(&output);
    }
}

#[test]
fn a_whole_run_writes_its_samples_and_answers_no_requests() {
    let part = || {
        let status = || fs::read_to_string("/proc/self/status").unwrap();
        let caught =
            || status().lines().find(|line| line.starts_with("SigCgt")).unwrap().to_owned();
        let before = caught();
        service::answer_profile_requests("a whole run");
        assert_eq!(caught(), before);
        let work = || {
            spin(Duration::from_secs(1));
            assert!(matches!(Sampler::new(1), Err(Error::Busy)));
            Ok(7)
        };
        let result: Result<_, Error> = service::whole_run("a whole run", work);
        assert_eq!(result.unwrap(), 7);
        let path = std::env::var(VARIABLE).unwrap();
        check_samples(&RawProfile::parse(&fs::read_to_string(path).unwrap()).unwrap());
    };
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("samples");
    let test = "a_whole_run_writes_its_samples_and_answers_no_requests";
    if let Some(output) = in_child(test, part, Some(&path)) {
        succeeded(&output);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(&format!("a second, are in {}", path.display())), "{said}");
        let profile = RawProfile::parse(&fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(profile.title, "a whole run");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_file_that_cannot_be_written_stops_a_service_before_it_starts() {
    let part = || {
        let work = || -> Result<(), Error> { panic!("it started") };
        let result: Result<_, Error> = service::whole_run("a test", work);
        let Err(Error::Output(path, _)) = result else { panic!("{result:?}") };
        assert_eq!(path, Path::new(&std::env::var(VARIABLE).unwrap()));
    };
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("absent/samples");
    let test = "a_file_that_cannot_be_written_stops_a_service_before_it_starts";
    if let Some(output) = in_child(test, part, Some(&path)) {
        succeeded(&output);
    }
}

#[test]
fn without_the_variable_nothing_is_sampled() {
    let part = || {
        // No other sampler exists.
        let work = || Sampler::new(1).map(drop);
        let result: Result<_, Error> = service::whole_run("a test", work);
        result.unwrap();
    };
    if let Some(output) = in_child("without_the_variable_nothing_is_sampled", part, None) {
        succeeded(&output);
        assert!(!String::from_utf8(output.stderr).unwrap().contains("samples in"));
    }
}
