//! Tests of daemons: over TLS, and in separate processes, which are killed to check that
//! acknowledged changes survive.
//!
//! A kill test runs its own program again, as the daemon and as clients. A client announces each
//! change of a stored object on its standard output, before (`try …`) and after (`did …`).

mod client;
mod kills;
mod races;
mod several;
mod tls;
mod uses;
mod world;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use super::{Server, Settings, create};
use crate::store::{Store, Unlocking};

const OFFICER_PIN: &[u8] = b"officer's pin";
const USER_PIN: &[u8] = b"user's pin";

/// The environment variable that gives a process its role: a word, and then the word's arguments.
const ORDER: &str = "CYCLOID_HSM_TEST_ORDER";

/// A pseudorandom generator with a seed (SplitMix64).
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// A keystore with a token, in its own directory.
struct Keystore(tempfile::TempDir);

impl Keystore {
    fn new() -> Self {
        let keystore = Self(tempfile::tempdir().unwrap());
        create(&url(keystore.path()), &unlocking(), "test", OFFICER_PIN, USER_PIN).unwrap();
        keystore
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn open(&self) -> Store {
        open(self.path())
    }
}

fn unlocking() -> Unlocking {
    Unlocking::key_file(&[7; 32])
}

fn url(directory: &Path) -> String {
    format!("sqlite:{}", directory.join("keys.db").display())
}

fn socket(directory: &Path) -> PathBuf {
    directory.join("socket")
}

fn open(directory: &Path) -> Store {
    let store = Store::open(&url(directory)).unwrap();
    store.unlock(&unlocking()).unwrap();
    store
}

/// A child process of the same test program, running one test with an order.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    said: Arc<Mutex<Vec<String>>>,
    listener: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts the process. `errors` is a file for its standard error, instead of the test's own.
    fn start(test: &str, order: &str, errors: Option<&Path>) -> Self {
        let errors = errors.map_or_else(Stdio::inherit, |path| {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            file.unwrap().into()
        });
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", &format!("daemon::tests::{test}")])
            .env(ORDER, order)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let said = Arc::new(Mutex::new(Vec::new()));
        let to = said.clone();
        let listen = move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|count| count > 0) {
                // An unfinished line does not count as output.
                if let Some(line) = line.strip_suffix('\n') {
                    to.lock().unwrap().push(line.to_owned());
                }
                line.clear();
            }
        };
        Self { child, input, said, listener: Some(std::thread::spawn(listen)) }
    }

    fn has_said(&self, what: &str) -> bool {
        self.said.lock().unwrap().iter().any(|line| line == what)
    }

    /// Returns whether it is a client that has made a change.
    fn has_worked(&self) -> bool {
        self.said.lock().unwrap().iter().any(|line| line.contains(" did "))
    }

    /// Writes a line to its standard input.
    fn tell(&mut self, what: &str) {
        self.input.as_mut().unwrap().write_all(format!("{what}\n").as_bytes()).unwrap();
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Kills it, and returns its output. It must not have ended by itself.
    fn kill(mut self) -> Vec<String> {
        assert!(self.is_running(), "it ended by itself: {:?}", self.child.try_wait());
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.listener.take().unwrap().join().unwrap();
        std::mem::take(&mut self.said.lock().unwrap())
    }

    /// Gives it a moment to end by itself, then kills it; returns its output.
    fn end(mut self) -> Vec<String> {
        for _ in 0..100 {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                break;
            }
            sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        self.child.wait().unwrap();
        self.listener.take().unwrap().join().unwrap();
        std::mem::take(&mut self.said.lock().unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves a keystore until this process is killed or its parent exits.
fn serve(directory: &Path) -> ! {
    let socket = socket(directory);
    let server = Server::start(open(directory), Settings { socket, ..Settings::default() });
    let server = server.unwrap();
    println!("\nready");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match line.as_str() {
            "panic" => panics(&server),
            other => unreachable!("{other}"),
        }
    }
    std::process::exit(0);
}

/// The message of the panics that [`panics`] injects.
const INJECTED: &str = "injected into a batch";

/// Submits jobs whose outcome makes the worker panic, among those of clients.
fn panics(server: &Server) {
    use crate::engine::{EdwardsInput, Work};
    use crate::key::{Curve, PrivateKey};
    let rng = &mut rand_core::UnwrapErr(getrandom::SysRng);
    for curve in [Curve::P256, Curve::Ed25519] {
        let key = PrivateKey::generate_ec(curve, rng).unwrap();
        let work = match curve {
            Curve::P256 => Work::Ecdsa(vec![1; 32]),
            _ => Work::EdDsa(EdwardsInput { message: vec![], prehashed: false, context: vec![] }),
        };
        let now = std::time::Instant::now();
        server.daemon().engine.submit(1, key, work, now, |_| panic!("{INJECTED}"));
    }
}

/// A daemon that is killed and restarted.
struct Daemon {
    directory: PathBuf,
    test: &'static str,
    process: Option<Process>,
}

impl Daemon {
    fn start(test: &'static str, keystore: &Keystore) -> Self {
        let mut daemon = Self { directory: keystore.path().into(), test, process: None };
        daemon.start_again();
        daemon
    }

    fn start_again(&mut self) {
        let order = format!("daemon {}", self.directory.display());
        let mut process = Process::start(self.test, &order, Some(&self.errors()));
        while !process.has_said("ready") {
            assert!(process.is_running(), "{}", std::fs::read_to_string(self.errors()).unwrap());
            sleep(Duration::from_millis(5));
        }
        self.process = Some(process);
    }

    fn panic(&mut self) {
        self.process.as_mut().unwrap().tell("panic");
    }

    fn kill(&mut self) {
        self.process.take().unwrap().kill();
    }

    fn errors(&self) -> PathBuf {
        self.directory.join("errors")
    }
}

/// Runs this process's order, if it has one.
fn obey() -> bool {
    let Ok(order) = std::env::var(ORDER) else { return false };
    match order.split_once(' ').unwrap() {
        ("daemon", directory) => serve(Path::new(directory)),
        ("clients", order) => client::run(order),
        other => unreachable!("{other:?}"),
    }
    true
}
