use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use super::*;
use crate::store::tests::{Place, on_each_database};

on_each_database! {
    wrong_pins_delay_the_next_attempt_even_if_it_is_right,
    setting_the_clock_back_shortens_no_delay_and_a_restart_begins_it_again,
    daemons_on_one_database_together_judge_no_more_attempts_than_one,
    an_attempt_that_cannot_be_recorded_is_not_judged,
    a_right_pin_that_was_replaced_meanwhile_authorizes_nothing,
    nobody_locks_out_somebody_else,
    many_strangers_together_guess_no_faster_than_one,
    a_remembered_pin_needs_no_hash,
    whoever_changes_the_pin_is_no_stranger,
}

/// A clock in milliseconds that the test sets.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn set(&self, milliseconds: u64) {
        self.0.store(milliseconds, Ordering::SeqCst);
    }

    fn judge(&self) -> Judge {
        let now = self.0.clone();
        Judge::with_clock(move || Duration::from_millis(now.load(Ordering::SeqCst)))
    }
}

fn set(store: &Store, pin: &[u8]) {
    let fresh = Fresh::new(pin).unwrap();
    store.write(|write| fresh.set(write, Role::User)).unwrap();
}

fn judged(judge: &Judge, store: &Store, asker: Asker, pin: &[u8]) -> Result<Right> {
    let counted = judge.count(store, Role::User, asker, "test", "login")?;
    judge.judge(counted, pin)
}

/// Logs in as an asker.
fn login_as(name: &str, judge: &Judge, store: &Store, pin: &[u8]) -> Result<(), Code> {
    judged(judge, store, asker(name), pin)
        .and_then(|right| store.write(|write| right.settle(write)))
        .map_err(|error| error.code)
}

/// Logs in; the asker is always the same.
fn login(judge: &Judge, store: &Store, pin: &[u8]) -> Result<(), Code> {
    login_as("test", judge, store, pin)
}

fn failures_of(name: &str, store: &Store) -> Result<u32> {
    failures(store, Role::User, asker(name))
}

#[test]
fn waits_double_up_to_a_quarter_of_an_hour() {
    let waits: Vec<u64> = (0..8).map(|failures| wait(failures).as_secs()).collect();
    assert_eq!(waits, [0, 0, 0, 1, 2, 4, 8, 16]);
    assert_eq!(wait(u32::MAX).as_secs(), LONGEST_WAIT);
}

fn wrong_pins_delay_the_next_attempt_even_if_it_is_right(place: &Place) {
    let store = place.create();
    let clock = Clock::default();
    let judge = clock.judge();
    let login = |pin| login(&judge, &store, pin);
    assert_eq!(login(b"1234"), Err(Code::USER_PIN_NOT_INITIALIZED));
    set(&store, b"1234");
    clock.set(1_000_000);
    for count in 1..=3 {
        assert_eq!(login(b"4321"), Err(Code::PIN_INCORRECT));
        assert_eq!(failures_of("test", &store), Ok(count));
    }
    // The delays are one second, then two; an attempt during the delay does not count.
    clock.set(1_000_999);
    assert_eq!(login(b"1234"), Err(Code::PIN_LOCKED));
    assert_eq!(failures_of("test", &store), Ok(3));
    clock.set(1_001_000);
    assert_eq!(login(b"4321"), Err(Code::PIN_INCORRECT));
    clock.set(1_002_999);
    assert_eq!(login(b"1234"), Err(Code::PIN_LOCKED));
    clock.set(1_003_000);
    assert_eq!(login(b"1234"), Ok(()));
    assert_eq!(failures_of("test", &store), Ok(0));
    assert_eq!(Fresh::new(b"123").map_err(|error| error.code).err(), Some(Code::PIN_LEN_RANGE));
    // Each attempt has a line, written in its transaction.
    let lines = store.audit_entries(1, u32::MAX).unwrap();
    let what: Vec<&str> = lines.iter().map(|line| line.what.as_str()).collect();
    let attempts: Vec<_> =
        (1..=5).map(|n| format!("login: attempt {n} since the last right PIN")).collect();
    assert_eq!(what, attempts);
}

fn setting_the_clock_back_shortens_no_delay_and_a_restart_begins_it_again(place: &Place) {
    let store = place.create();
    let clock = Clock::default();
    let judge = clock.judge();
    set(&store, b"1234");
    clock.set(3_600_000);
    for _ in 0..4 {
        let _ = login(&judge, &store, b"4321");
    }
    // The clock goes back by an hour; a delay of a second stays a second.
    clock.set(0);
    let refused = judged(&judge, &store, asker("test"), b"1234").unwrap_err();
    assert_eq!(refused.code, Code::PIN_LOCKED);
    assert!(refused.to_string().contains("wait 1 s"), "{refused}");
    clock.set(3_600_999);
    assert_eq!(login(&judge, &store, b"1234"), Err(Code::PIN_LOCKED));
    // A second daemon, or this one after a restart, with a clock far ahead.
    let ahead = Clock::default();
    ahead.set(u64::MAX / 2);
    let restarted = ahead.judge();
    assert_eq!(login(&restarted, &place.open(), b"1234"), Err(Code::PIN_LOCKED));
    ahead.set(u64::MAX / 2 + 999);
    assert_eq!(login(&restarted, &place.open(), b"1234"), Err(Code::PIN_LOCKED));
    ahead.set(u64::MAX / 2 + 1000);
    assert_eq!(login(&restarted, &place.open(), b"1234"), Ok(()));
    // The real clock is not the time of day: it starts near zero.
    assert!((Judge::default().clock)() < Duration::from_secs(3600));
}

/// Lets every daemon judge wrong PINs concurrently, and returns how many were judged.
fn judged_by(daemons: &[(Store, Judge)], attempts: usize) -> usize {
    let begin = Barrier::new(daemons.len());
    let count = AtomicU64::new(0);
    thread::scope(|scope| {
        for (store, judge) in daemons {
            scope.spawn(|| {
                begin.wait();
                for _ in 0..attempts {
                    match login(judge, store, b"4321") {
                        Err(Code::PIN_INCORRECT) => drop(count.fetch_add(1, Ordering::SeqCst)),
                        refused => assert_eq!(refused, Err(Code::PIN_LOCKED)),
                    }
                }
            });
        }
    });
    count.into_inner() as usize
}

fn daemons_on_one_database_together_judge_no_more_attempts_than_one(place: &Place) {
    set(&place.create(), b"1234");
    let clock = Clock::default();
    let daemons: Vec<(Store, Judge)> = (0..4).map(|_| (place.open(), clock.judge())).collect();
    assert_eq!(judged_by(&daemons, 3), FREE_FAILURES as usize);
    let mut now = 0;
    for seconds in [1, 2, 4] {
        for (store, judge) in &daemons {
            judge.observe(store).unwrap();
        }
        now += 1000 * seconds - 1;
        clock.set(now);
        assert_eq!(judged_by(&daemons, 2), 0);
        now += 1;
        clock.set(now);
        assert_eq!(judged_by(&daemons, 2), 1);
    }
    let (store, judge) = &daemons[0];
    judge.observe(store).unwrap();
    clock.set(now + 8000);
    assert_eq!(login(judge, store, b"1234"), Ok(()));
}

fn an_attempt_that_cannot_be_recorded_is_not_judged(place: &Place) {
    let store = place.create();
    set(&store, b"1234");
    let judge = Clock::default().judge();
    for table in ["audit_log", "settings"] {
        for pin in [b"1234", b"4321"] {
            let refused = place.without(table, || login(&judge, &store, pin));
            assert_eq!(refused, Err(Code::DEVICE_ERROR), "{table}");
        }
    }
    assert_eq!(failures_of("test", &store), Ok(0));
    assert_eq!(login(&judge, &store, b"1234"), Ok(()));
}

fn a_right_pin_that_was_replaced_meanwhile_authorizes_nothing(place: &Place) {
    let store = place.create();
    set(&store, b"1234");
    let judge = Clock::default().judge();
    for replace in [
        |store: &Store| set(store, b"5678"),
        |store: &Store| {
            store.write(|write| remove(write, Role::User)).unwrap();
        },
    ] {
        let right = judged(&judge, &store, asker("test"), b"1234").unwrap();
        replace(&place.open());
        let settled = store.write(|write| right.settle(write));
        assert_eq!(settled.map_err(|error| error.code), Err(Code::PIN_INCORRECT));
        set(&store, b"1234");
    }
}

fn nobody_locks_out_somebody_else(place: &Place) {
    let store = place.create();
    set(&store, b"1234");
    let judge = Clock::default().judge();
    for _ in 0..3 {
        assert_eq!(login_as("attacker", &judge, &store, b"4321"), Err(Code::PIN_INCORRECT));
    }
    assert_eq!(login_as("attacker", &judge, &store, b"1234"), Err(Code::PIN_LOCKED));
    assert_eq!(login_as("victim", &judge, &store, b"1234"), Ok(()));
    assert_eq!(failures_of("attacker", &store), Ok(3));
    assert_eq!(failures_of("victim", &store), Ok(0));
    // The right PIN of one asker is not that of another.
    assert_eq!(login_as("attacker", &judge, &store, b"1234"), Err(Code::PIN_LOCKED));
    // In another daemon, too.
    let other = Clock::default().judge();
    other.observe(&store).unwrap();
    assert_eq!(login_as("attacker", &other, &place.open(), b"1234"), Err(Code::PIN_LOCKED));
    assert_eq!(login_as("victim", &other, &place.open(), b"1234"), Ok(()));
}

fn many_strangers_together_guess_no_faster_than_one(place: &Place) {
    let store = place.create();
    set(&store, b"1234");
    let clock = Clock::default();
    let judge = clock.judge();
    assert_eq!(login_as("victim", &judge, &store, b"1234"), Ok(()));
    let mut judged = 0;
    let mut guess =
        |number: u32| match login_as(&format!("stranger {number}"), &judge, &store, b"4") {
            Err(Code::PIN_INCORRECT) => {
                judged += 1;
                judged
            }
            refused => {
                assert_eq!(refused, Err(Code::PIN_LOCKED));
                judged
            }
        };
    // More strangers than the verifier distinguishes.
    for number in 0..100 {
        guess(number);
    }
    assert_eq!(guess(100), BUDGET);
    // Who has given the right PIN before is still served, and does not renew the budget.
    assert_eq!(login_as("victim", &judge, &store, b"4321"), Err(Code::PIN_INCORRECT));
    assert_eq!(login_as("victim", &judge, &store, b"1234"), Ok(()));
    assert_eq!(guess(101), BUDGET);
    // One guess for each quarter of an hour.
    for more in 1..=3 {
        clock.set(u64::from(more) * LONGEST_WAIT * 1000 - 1);
        assert_eq!(guess(1000 + more), BUDGET + more - 1);
        clock.set(u64::from(more) * LONGEST_WAIT * 1000);
        assert_eq!(guess(2000 + more), BUDGET + more);
        assert_eq!(guess(3000 + more), BUDGET + more);
    }
    clock.set(40 * LONGEST_WAIT * 1000);
    assert_eq!(login_as("newcomer", &judge, &store, b"1234"), Ok(()));
}

fn a_remembered_pin_needs_no_hash(place: &Place) {
    let store = place.create();
    set(&store, b"1234");
    let judge = Clock::default().judge();
    let recognizes = |judge: &Judge, name: &str, pin: &[u8]| {
        judge.recognizes(&store, Role::User, asker(name), pin).unwrap()
    };
    assert!(!recognizes(&judge, "one", b"1234"), "nobody has given it so far");
    assert_eq!(login_as("one", &judge, &store, b"1234"), Ok(()));
    assert!(recognizes(&judge, "one", b"1234"));
    assert!(!recognizes(&judge, "one", b"12345"));
    assert!(!recognizes(&judge, "another", b"1234"), "a stranger is counted");
    assert!(!recognizes(&Clock::default().judge(), "one", b"1234"), "after a restart");
    // After a wrong PIN, attempts are counted until the next right one.
    assert_eq!(login_as("one", &judge, &store, b"4321"), Err(Code::PIN_INCORRECT));
    assert!(!recognizes(&judge, "one", b"1234"));
    assert_eq!(login_as("one", &judge, &store, b"1234"), Ok(()));
    assert!(recognizes(&judge, "one", b"1234"));
    // The same PIN, set anew.
    set(&store, b"1234");
    assert!(!recognizes(&judge, "one", b"1234"));
    let auditor = judge.recognizes(&store, Role::Auditor, asker("one"), b"1234");
    assert!(!auditor.unwrap());
}

fn whoever_changes_the_pin_is_no_stranger(place: &Place) {
    let store = place.create();
    set(&store, b"1234");
    let clock = Clock::default();
    let judge = clock.judge();
    assert_eq!(login_as("other", &judge, &store, b"1234"), Ok(()));
    let right = judged(&judge, &store, asker("victim"), b"1234").unwrap();
    let fresh = Fresh::new(b"5678").unwrap();
    let changed = store.write(|write| {
        right.settle(write)?;
        fresh.change(write, Role::User, asker("victim"))
    });
    changed.unwrap();
    let is_stranger = |name| Judge::is_stranger(&store, Role::User, asker(name)).unwrap();
    assert_eq!(["victim", "other"].map(is_stranger), [false, true]);
    // Strangers use up their budget, and lock out only each other.
    for number in 0..BUDGET {
        let stranger = format!("stranger {number}");
        let refused = login_as(&stranger, &judge, &store, b"4321");
        assert_eq!(refused, Err(Code::PIN_INCORRECT));
    }
    assert_eq!(login_as("other", &judge, &store, b"5678"), Err(Code::PIN_LOCKED));
    assert_eq!(login_as("victim", &judge, &store, b"5678"), Ok(()));
    // A PIN from the officer was given by nobody so far.
    set(&store, b"9999");
    assert!(is_stranger("victim"));
}
