//! Crash tests: writers are killed and servers crash. Acknowledged changes survive, and changes in
//! flight are complete or absent.
//!
//! Each test runs its own program again as a child, which changes a keystore and announces each
//! change on its standard output, before (`try …`) and after (`did …`).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _, stdout};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use super::*;

/// The environment variable that gives a child its name and its keystore.
const CHILD: &str = "CYCLOID_HSM_TEST_CHILD";
/// The number of records that nobody changes, so that a rotation takes several transactions.
const QUIET: usize = 300;

#[test]
fn kills_lose_nothing_on_sqlite() {
    if !child() {
        kill_again_and_again(&Place::sqlite(), "kills_lose_nothing_on_sqlite", 30, |_| ());
    }
}

#[test]
fn kills_lose_nothing_on_postgresql() {
    if !child() {
        let server = Arc::new(Server::start());
        let place = Place::Postgresql(server.clone(), server.new_database());
        kill_again_and_again(&place, "kills_lose_nothing_on_postgresql", 30, |round| {
            if round % 5 == 4 {
                server.crash();
            }
        });
    }
}

/// A child's operation.
#[derive(Clone, Debug)]
enum Operation {
    Insert(String),
    Pair(String, String),
    Update(u64, String),
    Delete(u64),
    Set(String),
    Audit,
    Rotate,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Insert(label) => write!(f, "insert {label}"),
            Self::Pair(first, second) => write!(f, "pair {first} {second}"),
            Self::Update(id, label) => write!(f, "update {id} {label}"),
            Self::Delete(id) => write!(f, "delete {id}"),
            Self::Set(value) => write!(f, "set {value}"),
            Self::Audit => write!(f, "audit"),
            Self::Rotate => write!(f, "rotate"),
        }
    }
}

impl Operation {
    fn read(words: &[&str]) -> Self {
        match *words {
            ["insert", label] => Self::Insert(label.into()),
            ["pair", first, second] => Self::Pair(first.into(), second.into()),
            ["update", id, label] => Self::Update(id.parse().unwrap(), label.into()),
            ["delete", id] => Self::Delete(id.parse().unwrap()),
            ["set", value] => Self::Set(value.into()),
            ["audit"] => Self::Audit,
            ["rotate"] => Self::Rotate,
            _ => panic!("a child says {words:?}"),
        }
    }
}

/// Works until killed, if this process is a child.
fn child() -> bool {
    let Ok(order) = std::env::var(CHILD) else { return false };
    let (name, url) = order.split_once(' ').unwrap();
    // A crashing server also ends the child; a change in flight may or may not be carried out.
    let _ = work(name, url);
    true
}

fn say(verb: &str, operation: &Operation, ids: &[u64]) {
    let ids = ids.iter().map(|id| format!(" {id}")).collect::<String>();
    let line = format!("{verb} {operation}{ids}\n");
    stdout().write_all(line.as_bytes()).unwrap();
    stdout().flush().unwrap();
}

fn work(name: &str, url: &str) -> Result<()> {
    // The test harness may have begun a line.
    println!();
    let store = Store::open(url)?;
    store.unlock(&passphrase())?;
    let (_, records) = store.load()?;
    let label = |record: &Record| labels(std::slice::from_ref(record)).remove(0);
    let mine = records.into_iter().filter(|record| label(record).starts_with(name));
    let mut mine = mine.map(|record| (record.id, record.version)).collect::<BTreeMap<_, _>>();
    let run = u32::from_le_bytes(seal::random()?);
    for count in 0.. {
        let random = usize::from_le_bytes(seal::random()?);
        let some = mine.keys().nth(random % mine.len().max(1)).copied();
        let label = format!("{name}-{run}-{count}");
        let operation = match ((random >> 32) % 16, some) {
            (0..3, Some(id)) => Operation::Delete(id),
            (3..7, Some(id)) => Operation::Update(id, label),
            (7..9, _) => Operation::Pair(label.clone(), label + "'"),
            (9, _) => Operation::Set(label),
            (10..12, _) => Operation::Audit,
            (12, _) => Operation::Rotate,
            _ => Operation::Insert(label),
        };
        say("try", &operation, &[]);
        let mut ids = vec![];
        // Each change has an audit line in its transaction.
        let line = operation.to_string();
        match &operation {
            Operation::Insert(label) => {
                let record = store.write(|write| {
                    write.audit(name, &line)?;
                    write.insert((&labelled(label), Some(label.as_bytes())))
                })?;
                ids.push(record.id);
            }
            Operation::Pair(first, second) => store.write(|write| {
                ids.push(write.insert((&labelled(first), Some(first.as_bytes())))?.id);
                write.audit(name, &line)?;
                ids.push(write.insert((&labelled(second), None))?.id);
                Ok(())
            })?,
            Operation::Update(id, label) => {
                let version = mine.get_mut(id).unwrap();
                let record = store.write(|write| {
                    write.audit(name, &line)?;
                    write.update(*id, *version, &labelled(label))
                })?;
                *version = record.version;
            }
            Operation::Delete(id) => {
                store.write(|write| {
                    write.delete(*id)?;
                    write.audit(name, &line)
                })?;
                mine.remove(id);
            }
            Operation::Set(value) => store.write(|write| {
                write.set_setting(name, value.as_bytes())?;
                write.audit(name, &line)
            })?,
            Operation::Audit => store.audit(name, &line)?,
            Operation::Rotate => drop(store.rotate_master_key("rotation")?),
        }
        mine.extend(ids.iter().map(|id| (*id, 1)));
        say("did", &operation, &ids);
    }
    unreachable!("the child is killed long before this count");
}

/// A child's expected objects and settings.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    /// Version, label and secret, by number.
    records: BTreeMap<u64, (u64, String, Option<String>)>,
    setting: Option<String>,
    /// The number of lines in the audit log, one for each change.
    audited: usize,
}

impl State {
    fn apply(&mut self, operation: &Operation, ids: &[u64]) {
        self.audited += usize::from(!matches!(operation, Operation::Rotate));
        match operation {
            Operation::Insert(label) => {
                self.records.insert(ids[0], (1, label.clone(), Some(label.clone())));
            }
            Operation::Pair(first, second) => {
                self.records.insert(ids[0], (1, first.clone(), Some(first.clone())));
                self.records.insert(ids[1], (1, second.clone(), None));
            }
            Operation::Update(id, new) => {
                let (version, label, _) = self.records.get_mut(id).unwrap();
                *version += 1;
                label.clone_from(new);
            }
            Operation::Delete(id) => drop(self.records.remove(id).unwrap()),
            Operation::Set(value) => self.setting = Some(value.clone()),
            Operation::Audit | Operation::Rotate => (),
        }
    }

    /// Returns the actual contents.
    fn of(name: &str, store: &Store, records: &[Record]) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut state = Self::default();
        for (record, label) in records.iter().zip(labels(records)) {
            if label.starts_with(name) {
                let secret = record.has_secret.then(|| text(&store.secret(record.id).unwrap()));
                state.records.insert(record.id, (record.version, label, secret));
            }
        }
        state.setting = store.setting(name).unwrap().map(|value| text(&value));
        let log = store.audit_entries(1, u32::MAX).unwrap();
        state.audited = log.iter().filter(|entry| entry.who == name).count();
        state
    }
}

/// A child process, and its output.
struct Worker {
    process: Child,
    /// The number of acknowledged operations.
    done: Arc<AtomicUsize>,
    lines: JoinHandle<Vec<String>>,
}

impl Worker {
    fn has_worked_or_ended(&self) -> bool {
        self.done.load(Ordering::Relaxed) >= 2 || self.lines.is_finished()
    }

    /// Kills the child, and returns its output.
    fn kill(mut self) -> Vec<String> {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        self.lines.join().unwrap()
    }
}

fn start(name: &str, test: &str, url: &str) -> Worker {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--nocapture",
            &format!("{}::{test}", module_path!().split_once("::").unwrap().1),
        ])
        .env(CHILD, format!("{name} {url}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = process.stdout.take().unwrap();
    let done = Arc::default();
    let lines = spawn({
        let done = Arc::clone(&done);
        move || said(output, &done)
    });
    Worker { process, done, lines }
}

/// Returns the complete lines of a child's output, and counts acknowledged operations as they come.
fn said(output: ChildStdout, done: &AtomicUsize) -> Vec<String> {
    let mut output = BufReader::new(output);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        match line.strip_suffix('\n') {
            Some(line) => {
                done.fetch_add(line.starts_with("did ").into(), Ordering::Relaxed);
                lines.push(line.to_owned());
            }
            None => return lines,
        }
    }
}

fn kill_again_and_again(place: &Place, test: &str, rounds: usize, mut disturb: impl FnMut(usize)) {
    let store = place.create();
    let quiet = labelled("quiet");
    store
        .write(|write| {
            (0..QUIET).try_for_each(|_| write.insert((&quiet, Some(b"quiet"))).map(drop))
        })
        .unwrap();
    let mut states = [("anna", State::default()), ("bert", State::default())];
    let (mut done, mut under_way, mut head) = (0, 0, AuditHead::default());
    for round in 0..rounds {
        let workers = states.each_ref().map(|(name, _)| start(name, test, &place.url()));
        // In two rounds of three a child has worked before the kill, however slow the machine is.
        if round % 3 != 0 {
            while !workers.iter().any(Worker::has_worked_or_ended) {
                sleep(Duration::from_millis(5));
            }
        }
        let delay = u16::from_le_bytes(seal::random().unwrap()) % 600;
        sleep(Duration::from_millis(delay.into()));
        disturb(round);
        let lines = workers.map(Worker::kill);

        // Another daemon, which sometimes completes the rotation.
        let store = place.open();
        // A server may still commit a killed client's transaction; a write waits for that.
        store.audit("parent", "looks").unwrap();
        let (_, records) = store.load().unwrap();
        if round % 7 == 6 {
            store.rotate_master_key("test").unwrap();
            assert_eq!(store.load().unwrap().1, records);
        }
        head = store.audit_verify(Some(&head)).unwrap();
        let quiet = labels(&records).into_iter().filter(|label| label == "quiet").count();
        assert_eq!(quiet, QUIET);
        for ((name, state), lines) in states.iter_mut().zip(lines) {
            let mut tried = None;
            for line in &lines {
                let words = line.split(' ').collect::<Vec<_>>();
                match words.split_first().unwrap() {
                    (&"try", words) => tried = Some(Operation::read(words)),
                    (&"did", words) => {
                        let ids = words.iter().rev().map_while(|word| word.parse().ok());
                        let mut ids = ids.collect::<Vec<u64>>();
                        ids.reverse();
                        state.apply(&tried.take().unwrap(), &ids);
                        done += 1;
                    }
                    // Output of the test harness.
                    _ => {}
                }
            }
            let found = State::of(name, &store, &records);
            if let Some(tried) = tried.filter(|_| found != *state) {
                let new = found.records.keys().filter(|id| !state.records.contains_key(id));
                let new = new.copied().collect::<Vec<_>>();
                state.apply(&tried, &new);
                under_way += 1;
            }
            assert_eq!(found, *state, "round {round}: {lines:?}");
        }
    }
    eprintln!("{test}: {done} operations, and {under_way} that were done and not acknowledged");
    assert!(done > rounds, "the children did only {done} things");
}
