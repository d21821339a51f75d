//! Chaos: three daemons on one PostgreSQL, 64 clients through the module, and faults at random.
//! Several daemons must behave as one HSM that loses nothing.
//!
//! | variable | meaning |
//! |---|---|
//! | `CYCLOID_CHAOS_SECONDS` | how long faults happen; default: 20 |
//! | `CYCLOID_CHAOS_SEED` | determines which faults, when, and what clients do; printed |
//! | `CYCLOID_CHAOS_RECOVERY` | the seconds within which the rate must return; default: 60 |
//!
//! The rate after a fault is compared with the rate just before it, in the same run. On a machine
//! with other work the rate may return late for reasons of its own, so by default the test fails
//! only if it does not return at all, and prints how long it took.
//!
//! `cargo test --release -p cycloid-pkcs11 --test chaos -- --ignored --nocapture` measures how much
//! more three daemons do than one (`scale.rs`).

mod client;
mod daemon;
#[path = "../support/dice.rs"]
mod dice;
mod faults;
mod keeper;
mod process;
mod rates;
mod scale;
#[allow(dead_code, unreachable_pub, reason = "the keystore's tests use the rest of it")]
#[path = "../../../cycloid-hsm/src/store/tests/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod world;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use cycloid_hsm::attribute::Template;
use cycloid_hsm::daemon::create;
use cycloid_hsm::rpc::{Request, Response};

use daemon::Daemon;
use dice::Dice;
use faults::Fault;
use keeper::Keeper;
use process::{Process, now};
use rates::{DELAY, SLOT};
use server::Server;
use support::{LABEL, OFFICER_PIN, USER_PIN};
use world::World;

/// The name of the test, which child processes run too.
const TEST: &str = "several_daemons_act_as_one_whatever_ends";

/// The parameters of P-256: its object identifier.
const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

const DAEMONS: usize = 3;

/// The number of client processes, for 64 clients in all.
const PROCESSES: usize = 64 / client::THREADS as usize;

/// The daemons' `--stale-after`.
const STALE_AFTER: Duration = Duration::from_secs(2);

/// The longest time for which the database is cut off.
const LONGEST_CUT: Duration = Duration::from_secs(4);

/// The number of slots over which the rate is measured before a fault.
const CALM: u64 = 15;

/// A time limit for the slowest machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Returns a number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}")))
}

/// What happened after a fault.
struct Recovery {
    fault: Fault,
    /// The rate before the fault, in signatures a second.
    usual: f64,
    /// The seconds until the rate was back, from when everything ran again.
    seconds: f64,
}

/// Everything that runs.
struct Chaos {
    server: Server,
    url: String,
    daemons: Vec<Daemon>,
    clients: Vec<Process>,
    keeper: Receiver<String>,
    world: World,
    dice: Dice,
}

#[test]
fn several_daemons_act_as_one_whatever_ends() {
    match process::order().as_deref().map(|order| order.split_once(' ').unwrap()) {
        Some(("daemon", order)) => return daemon::serve(order),
        Some(("client", order)) => return client::run(order, scale::sign),
        Some(other) => panic!("{other:?}"),
        None => {}
    }
    let length = Duration::from_secs(setting("CYCLOID_CHAOS_SECONDS").unwrap_or(20));
    let limit = Duration::from_secs(setting("CYCLOID_CHAOS_RECOVERY").unwrap_or(60));
    let seed = setting("CYCLOID_CHAOS_SEED")
        .unwrap_or_else(|| getrandom::u64().expect("the system has random numbers") >> 1);
    eprintln!("CYCLOID_CHAOS_SEED={seed}");
    let directory = tempfile::tempdir().unwrap();
    let (send, keeper) = channel();
    let mut chaos = Chaos::start(0, seed, directory.path(), keeper);
    chaos.start_clients(PROCESSES, DAEMONS, "");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = Keeper::new(chaos.addresses(0).into(), send);
        scope.spawn(|| worker.work(&done));
        // The keeper ends with this thread, even by a panic.
        let ends = Ends(&done);
        chaos.until("all clients work", |chaos| chaos.clients_work());
        let begun = Instant::now();
        let mut recoveries = Vec::new();
        while begun.elapsed() < length {
            recoveries.push(chaos.disturb(limit));
        }
        drop(ends);
        chaos.finish(&recoveries, begun.elapsed());
    });
}

/// Ends the keeper.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Chaos {
    /// Starts the database and the daemons, each with this number of workers.
    fn start(workers: usize, seed: u64, directory: &Path, keeper: Receiver<String>) -> Self {
        let server = Server::start();
        let url = server.url(&server.new_database());
        let (officer, user) = (OFFICER_PIN.as_bytes(), USER_PIN.as_bytes());
        create(&url, &daemon::unlocking(), LABEL, officer, user).unwrap();
        let socket = |number| directory.join(format!("daemon-{number}"));
        let new = |number| Daemon::new(&url, STALE_AFTER, workers, socket(number));
        let daemons: Vec<Daemon> = (0..DAEMONS).map(new).collect();
        let (clients, world, dice) = (Vec::new(), World::default(), Dice::new(seed));
        let mut chaos = Self { server, url, daemons, clients, keeper, world, dice };
        chaos.daemons.iter_mut().for_each(Daemon::start);
        chaos.until("the daemons serve", |chaos| chaos.daemons.iter_mut().all(Daemon::is_ready));
        chaos
    }

    /// Starts client processes, which turn to `spread` daemons first. `rest` ends their order.
    fn start_clients(&mut self, count: usize, spread: usize, rest: &str) {
        let bound = STALE_AFTER.as_millis();
        // Until a daemon that lost the database for longest has read it again, with room to spare.
        let old_view = (LONGEST_CUT + Duration::from_secs(30)).as_millis();
        for number in 0..count {
            let seed = self.dice.below(u64::MAX);
            let order = format!("client p{number} {seed} {bound} {old_view}{rest}");
            let addresses = self.addresses(number % spread);
            self.clients.push(Process::start(&order, &addresses));
        }
    }

    /// Returns the daemons' addresses, starting with a given one.
    fn addresses(&self, first: usize) -> String {
        let at = |number: usize| self.daemons[(first + number) % DAEMONS].socket.display();
        (0..DAEMONS).map(|number| at(number).to_string()).collect::<Vec<_>>().join(",")
    }

    /// Takes in all announcements.
    fn listen(&mut self) {
        let clients = self.clients.iter().flat_map(Process::news);
        for line in self.keeper.try_iter().chain(clients).collect::<Vec<_>>() {
            if let Some(shared) = self.world.hear(&line) {
                self.clients.iter_mut().for_each(|client| client.tell(&shared));
            }
        }
        self.clients.iter_mut().for_each(Process::must_run);
    }

    /// Listens until something is so.
    fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
            thread::sleep(Duration::from_millis(10));
            self.listen();
        }
    }

    /// Listens for some time.
    fn wait(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.until("time passes", |_| Instant::now() >= end);
    }

    /// Returns whether there is a rate to compare with.
    fn clients_work(&self) -> bool {
        let slot = now() / SLOT - DELAY;
        self.world.rates.mean(slot - CALM, slot) > 1.0
    }

    /// Measures the rate, makes a fault, repairs everything, and waits until the rate is back.
    fn disturb(&mut self, limit: Duration) -> Recovery {
        let from = now() / SLOT + 1;
        let mut usual = 0.0;
        self.until("clients work while nothing is wrong", |chaos| {
            let known = now() / SLOT - DELAY;
            if known >= from + CALM {
                usual = chaos.world.rates.mean(known - CALM, known);
            }
            usual > 0.0
        });
        let fault = Fault::draw(&mut self.dice);
        fault.make(self);
        self.until("the daemons serve again", |chaos| {
            chaos.daemons.iter_mut().all(Daemon::is_ready)
        });
        let whole = now() / SLOT;
        let mut slots = None;
        self.until("the rate is back", |chaos| {
            let known = now() / SLOT - DELAY;
            slots = chaos.world.rates.returned(usual, whole, known);
            slots.is_some() || known > whole + limit.as_nanos() as u64 / SLOT
        });
        let per_second = |rate: f64| rate * 1e9 / SLOT as f64;
        let slots = slots.unwrap_or_else(|| {
            let rate = self.world.rates.mean(whole, now() / SLOT - DELAY);
            let (usual, rate) = (per_second(usual), per_second(rate));
            panic!("{fault:?}: {rate:.0}/s within {limit:?}, after {usual:.0}/s before")
        });
        let seconds = slots as f64 * SLOT as f64 / 1e9;
        Recovery { fault, usual: per_second(usual), seconds }
    }

    /// Ends all, and compares what there is with what was acknowledged.
    fn finish(mut self, recoveries: &[Recovery], took: Duration) {
        // The keeper's channel closes once it is done.
        while let Ok(line) = self.keeper.recv() {
            self.world.hear(&line);
        }
        for client in std::mem::take(&mut self.clients) {
            client.end().iter().for_each(|line| drop(self.world.hear(line)));
        }
        let store = daemon::open(&self.url).unwrap();
        let (found, unacknowledged) = self.world.check(&store);
        let latest = self.world.check_shared(STALE_AFTER.as_nanos() as u64);
        for number in 0..DAEMONS {
            self.agrees(number, &found);
        }
        self.daemons.iter_mut().for_each(Daemon::stop);
        self.report(recoveries, took, found.len(), unacknowledged, latest);
    }

    /// Checks that a daemon shows these objects.
    fn agrees(&self, number: usize, found: &BTreeSet<u64>) {
        let socket: PathBuf = self.daemons[number].socket.clone();
        let client = keeper::connect(socket).unwrap();
        let answer = client.call(&Request::Find { template: Template::new(), page: None }).unwrap();
        let Response::Objects { objects, .. } = answer else { panic!("{answer:?}") };
        assert_eq!(&BTreeSet::from_iter(objects), found, "daemon {number} shows other objects");
    }

    fn report(
        &self,
        recoveries: &[Recovery],
        took: Duration,
        objects: usize,
        unacknowledged: usize,
        latest: u64,
    ) {
        let World { rates, changes, refusals, ended, .. } = &self.world;
        eprintln!(
            "{DAEMONS} daemons, {} clients, {} s of faults, stale after {STALE_AFTER:?}",
            PROCESSES * client::THREADS as usize,
            took.as_secs()
        );
        eprintln!("{} signatures, each verified by its client", rates.total());
        eprintln!(
            "{changes} changes acknowledged, all found or, if destroyed, gone; {unacknowledged} made \
             without an answer; {objects} objects left"
        );
        eprintln!(
            "{} shared keys destroyed; latest use {} ms after the acknowledgement",
            ended.len(),
            latest / 1_000_000
        );
        eprintln!("after a fault, seconds until two thirds of the rate before it:");
        eprintln!(
            "{:<32} {:>5} {:>7} {:>8} {:>10}",
            "fault", "times", "median", "longest", "rate/s"
        );
        for fault in Fault::ALL {
            let of = recoveries.iter().filter(|recovery| recovery.fault == fault);
            let mut seconds: Vec<f64> = of.clone().map(|recovery| recovery.seconds).collect();
            let (Some(longest), Some(usual)) = (
                seconds.iter().copied().reduce(f64::max),
                of.map(|recovery| recovery.usual).reduce(f64::max),
            ) else {
                continue;
            };
            seconds.sort_by(f64::total_cmp);
            let (times, median) = (seconds.len(), seconds[seconds.len() / 2]);
            let name = fault.name();
            eprintln!("{name:<32} {times:>5} {median:>7.1} {longest:>8.1} {usual:>10.0}");
        }
        let late = recoveries.iter().filter(|recovery| recovery.seconds > 5.0).count();
        eprintln!("later than five seconds: {late} of {}", recoveries.len());
        eprintln!("errors that clients saw:");
        for (what, slots) in refusals {
            eprintln!("{:>8} {what}", slots.values().sum::<u64>());
        }
    }
}
