//! Kill tests: clients, the daemon, and worker computations are killed under load.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::client::{THREADS, make_known};
use super::world::World;
use super::{Daemon, INJECTED, Keystore, Process, Random, obey};
use crate::store::AuditHead;

/// A time limit for the slowest machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// The number of client processes, for 64 clients in all.
const PROCESSES: usize = 64 / THREADS;

/// Returns a number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// Prints the seed, which `CYCLOID_HSM_LOAD_SEED` can set; it determines who is killed when.
fn random(test: &str) -> Random {
    let drawn = || u64::from_le_bytes(std::array::from_fn(|_| drawn_byte()));
    let seed = setting("CYCLOID_HSM_LOAD_SEED").unwrap_or_else(drawn);
    eprintln!("{test}: CYCLOID_HSM_LOAD_SEED={seed}");
    Random(seed)
}

fn drawn_byte() -> u8 {
    let mut byte = [0];
    getrandom::fill(&mut byte).unwrap();
    byte[0]
}

/// Runs 64 clients for `CYCLOID_HSM_LOAD_SECONDS` seconds.
#[test]
fn kills_under_load_lose_nothing_and_misdeliver_nothing() {
    const TEST: &str = "kills::kills_under_load_lose_nothing_and_misdeliver_nothing";
    if obey() {
        return;
    }
    let length = Duration::from_secs(setting("CYCLOID_HSM_LOAD_SECONDS").unwrap_or(15));
    let mut random = random(TEST);
    let keystore = Keystore::new();
    let mut daemon = Daemon::start(TEST, &keystore);
    make_known(keystore.path());
    let (mut world, mut started) = (World::default(), 0);
    let mut clients = |random: &mut Random| {
        started += 1;
        let directory = keystore.path().display();
        let order = format!("clients {directory} p{started} {} 15 again", random.next());
        Process::start(TEST, &order, None)
    };
    let mut processes: Vec<Process> = (0..PROCESSES).map(|_| clients(&mut random)).collect();
    let (mut kills, mut panics, mut restarts) = (0, 0, 0);
    let start = Instant::now();
    let working = |processes: &[Process]| processes.iter().any(Process::has_worked);
    // On a slow machine the test runs longer, until a client has worked.
    while start.elapsed() < length || !working(&processes) && start.elapsed() < PATIENCE {
        sleep(Duration::from_millis(100 + random.below(400)));
        match random.below(8) {
            0 if working(&processes) => {
                daemon.kill();
                daemon.start_again();
                restarts += 1;
            }
            1..4 => {
                let at = random.below(PROCESSES as u64) as usize;
                if !processes[at].has_worked() {
                    continue;
                }
                let next = clients(&mut random);
                world.hear(&std::mem::replace(&mut processes[at], next).kill());
                kills += 1;
            }
            _ => {
                daemon.panic();
                panics += 1;
            }
        }
        assert!(processes.iter_mut().all(Process::is_running), "a client found a fault");
    }
    let errors = |daemon: &Daemon| std::fs::read_to_string(daemon.errors()).unwrap();
    while !errors(&daemon).contains(INJECTED) && start.elapsed() < PATIENCE {
        daemon.panic();
        sleep(Duration::from_millis(100));
    }
    // A client that waits for a lost answer gets time to notice.
    daemon.kill();
    daemon.start_again();
    sleep(Duration::from_secs(1));
    for process in processes {
        world.hear(&process.kill());
    }
    daemon.kill();
    let store = keystore.open();
    world.check(&store);
    store.audit_verify(None).expect("the audit log is sound");

    // The only panics are the injected ones.
    let errors = errors(&daemon);
    let count = |what: &str| errors.matches(what).count();
    assert_eq!(count("panicked at"), count(INJECTED), "{errors}");
    assert!(count(INJECTED) > 0, "no worker panicked");
    eprintln!(
        "{TEST}: {} changes, {} of them unacknowledged, {} signatures; killed {kills} processes of \
         clients, {panics} times batches, {restarts} times the daemon",
        world.changes + world.unacknowledged,
        world.unacknowledged,
        world.signatures,
    );
    assert!(world.changes > 0, "the clients changed nothing");
}

/// Kills a daemon on SQLite repeatedly while clients write.
#[test]
fn kills_of_the_daemon_lose_nothing_that_was_acknowledged() {
    const TEST: &str = "kills::kills_of_the_daemon_lose_nothing_that_was_acknowledged";
    if obey() {
        return;
    }
    let rounds = setting("CYCLOID_HSM_CRASH_ROUNDS").unwrap_or(12);
    let mut random = random(TEST);
    let keystore = Keystore::new();
    let mut daemon = Daemon::start(TEST, &keystore);
    make_known(keystore.path());
    let (mut world, mut head) = (World::default(), AuditHead::default());
    for round in 0..rounds {
        let directory = keystore.path().display();
        let order = format!("clients {directory} r{round} {} 95 once", random.next());
        let mut clients = Process::start(TEST, &order, None);
        // In every other round a client has worked before the kill, however slow the machine is.
        while round % 2 == 0 && !clients.has_worked() && clients.is_running() {
            sleep(Duration::from_millis(5));
        }
        sleep(Duration::from_millis(random.below(500)));
        daemon.kill();
        // Clients that have not logged in yet would wait for the next daemon.
        world.hear(&clients.end());
        let store = keystore.open();
        world.check(&store);
        head = store.audit_verify(Some(&head)).expect("the audit log continues from its head");
        daemon.start_again();
    }
    eprintln!(
        "{TEST}: {} changes, and {} that were done and not acknowledged",
        world.changes, world.unacknowledged
    );
    assert!(world.changes > 0, "the clients changed nothing");
}
