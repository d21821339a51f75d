use std::sync::mpsc;
use std::thread;

use super::*;
use crate::attribute::Template;
use crate::daemon::application::{Applications, Peer};
use crate::rpc::message::AuditEntry;
use crate::store::tests::Place;

/// A store with a log that is required, and what uses it.
struct Bed {
    place: Place,
    store: Store,
    tasks: Arc<Tasks>,
    uses: Arc<Uses>,
    application: Arc<Application>,
    object: Object,
}

impl Bed {
    fn new() -> Self {
        let place = Place::sqlite();
        let store = place.create();
        store.write(|write| require(write, true)).unwrap();
        let uses = Arc::new(Uses::default());
        uses.observe(&store).unwrap();
        let (application, _) = Applications::default().welcome("test", Peer::User(7));
        let object = Object::new(5, 1, Template::new(), None);
        Self { place, store, tasks: Tasks::new(1).into(), uses, application, object }
    }

    /// Uses the key. The outcome arrives once the use is granted.
    fn sign(&self) -> mpsc::Receiver<Result<()>> {
        let (granted, outcome) = mpsc::channel();
        let then = move |logged| granted.send(logged).unwrap();
        self.uses.grant(&self.tasks, &self.application, &self.object, Use::Sign, then);
        outcome
    }

    fn settle(&self) {
        self.uses.settle(&self.tasks, &self.store, Duration::ZERO);
    }

    /// Returns what the lines of the log say about the key.
    fn lines(&self) -> Vec<String> {
        let lines = self.place.open().audit_entries(1, u32::MAX).unwrap();
        let said = |line: &AuditEntry| line.what.strip_prefix("object 5 \"\": ").map(str::to_owned);
        lines.iter().filter_map(said).collect()
    }

    /// Runs the thread that writes the log while `act` runs.
    fn while_writing(&self, act: impl FnOnce()) {
        thread::scope(|scope| {
            scope.spawn(|| self.tasks.make_changes(&self.store, Duration::from_secs(1), || {}));
            let _closing = Closing(&self.tasks);
            act();
        });
    }
}

/// Ends the thread that writes the log, also if a test fails.
struct Closing<'a>(&'a Tasks);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A lost database must not stop the workers, which grant uses.
#[test]
fn uses_do_not_wait_for_the_line_that_ends_a_grant() {
    let bed = Bed::new();
    let (begun, begins) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let one = bed.sign();
    let (more, later) = mpsc::channel();
    bed.while_writing(|| {
        one.recv().unwrap().unwrap();
        // The first grant is used up, and the second has uses left.
        bed.sign().recv().unwrap().unwrap();
        thread::scope(|scope| {
            let bed = &bed;
            // Another write is slow.
            scope.spawn(move || {
                bed.store.write(|_| {
                    begun.send(()).unwrap();
                    let _ = released.recv();
                    Ok(())
                })
            });
            begins.recv().unwrap();
            scope.spawn(|| bed.settle());
            let is_ending = || {
                let grants = bed.uses.grants.try_lock();
                grants.is_ok_and(|grants| grants.values().all(|grant| grant.requested))
            };
            // The grants are free while the line waits.
            let patient = Instant::now();
            while !is_ending() && patient.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(1));
            }
            let is_free = is_ending();
            if is_free {
                more.send(bed.sign()).unwrap();
            }
            let waits = later.try_recv().ok();
            let granted_early = waits.as_ref().map(|waits| waits.try_recv().is_ok());
            drop(release);
            assert_eq!((is_free, granted_early), (true, Some(false)));
            waits.unwrap().recv().unwrap().unwrap();
        });
    });
    bed.settle();
    assert_eq!(
        bed.lines(),
        ["may sign once", "may sign 4 times", "2 uses to sign", "may sign once", "1 use to sign"]
    );
}

#[test]
fn a_grant_that_cannot_be_ended_goes_on() {
    let bed = Bed::new();
    bed.while_writing(|| {
        let one = bed.sign();
        one.recv().unwrap().unwrap();
        bed.sign().recv().unwrap().unwrap();
        bed.place.without("audit_log", || bed.settle());
        // It has three uses left, which are few.
        bed.sign().recv().unwrap().unwrap();
        while bed.lines().len() < 3 {
            thread::sleep(Duration::from_millis(1));
        }
    });
    bed.settle();
    let lines = ["may sign once", "may sign 4 times", "may sign 16 times", "3 uses to sign"];
    assert_eq!(bed.lines(), lines);
    bed.settle();
    assert_eq!(bed.lines(), lines);
}

/// The answer to a line that comes too late arrives at once, on the same thread.
#[test]
fn a_use_while_the_daemon_stops_is_refused() {
    let bed = Bed::new();
    bed.tasks.close();
    let (refused, outcome) = mpsc::channel();
    let (uses, tasks) = (bed.uses.clone(), bed.tasks.clone());
    let (application, object) = (bed.application.clone(), Object::new(5, 1, Template::new(), None));
    thread::spawn(move || {
        let then = move |logged: Result<()>| refused.send(logged).unwrap();
        uses.grant(&tasks, &application, &object, Use::Sign, then);
    });
    let outcome = outcome.recv_timeout(Duration::from_secs(60)).expect("it is refused at once");
    assert!(outcome.unwrap_err().detail.contains("could not be logged"));
    assert!(bed.lines().is_empty());
}
