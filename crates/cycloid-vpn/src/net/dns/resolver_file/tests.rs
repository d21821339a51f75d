//! Tests tunnels that start, end and are killed in all orders.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::super::super::undo::{OpenError, Scope};
use super::*;

thread_local! {
    /// Number of crash points that this thread passes before it is killed.
    static LIFE: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Unwinds as if the process were killed: no cleanup, but locks are released.
pub(super) fn crash_point() {
    match LIFE.get() {
        Some(0) => resume_unwind(Box::new("killed")),
        Some(left) => LIFE.set(Some(left - 1)),
        None => {}
    }
}

/// Runs `act`. Returns whether it finished before reaching this many crash points.
fn survives(points: u32, act: impl FnOnce()) -> bool {
    LIFE.set(Some(points));
    let outcome = catch_unwind(AssertUnwindSafe(act));
    LIFE.set(None);
    match outcome {
        Ok(()) => true,
        Err(reason) if reason.downcast_ref() == Some(&"killed") => false,
        Err(reason) => resume_unwind(reason),
    }
}

const ORIGINAL: &str = "# home\nnameserver 192.168.1.1\nsearch home\noptions edns0\n";

struct Machine {
    directory: tempfile::TempDir,
    original: String,
}

impl Machine {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("etc")).unwrap();
        let machine = Self { directory, original: ORIGINAL.into() };
        fs::write(machine.path(), ORIGINAL).unwrap();
        fs::set_permissions(machine.path(), fs::Permissions::from_mode(0o640)).unwrap();
        machine
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("etc/resolv.conf")
    }

    /// Starts a process, which undoes what its previous run left.
    fn process(&self, number: u8) -> Journal {
        let end = Instant::now() + Duration::from_secs(60);
        let mut journal = loop {
            match Journal::open(self.directory.path(), &format!("tunnel-{number}"), Scope::Names) {
                // A forking thread may hold the lock briefly.
                Err(OpenError::Running) => assert!(Instant::now() < end, "the lock stays held"),
                outcome => break outcome.unwrap(),
            }
            thread::yield_now();
        };
        end_of(&mut journal);
        journal
    }

    fn start(&self, number: u8) -> Journal {
        let mut journal = self.process(number);
        self.add(number, &mut journal);
        journal
    }

    fn add(&self, number: u8, journal: &mut Journal) {
        add(&self.path(), &format!("tun{number}"), &lines(number), journal).unwrap();
    }

    /// Asserts that the file has the lines of these tunnels, the last one on top.
    #[track_caller]
    fn assert_has(&self, tunnels: &[u8]) {
        let text = fs::read_to_string(self.path()).unwrap();
        let mode = fs::metadata(self.path()).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o640);
        let Some(last) = tunnels.last() else {
            assert_eq!(text, self.original);
            return self.assert_clean();
        };
        let (first, rest) = text.split_once('\n').unwrap();
        let names: Vec<_> = tunnels.iter().map(|number| format!("tun{number}")).collect();
        assert!(first.starts_with(&format!("{MARK}{};", names.join(", "))), "{first}");
        assert_eq!(rest, format!("{}search home\noptions edns0\n", lines(*last)));
    }

    #[track_caller]
    fn assert_clean(&self) {
        let names = fs::read_dir(self.directory.path().join("etc")).unwrap();
        let names: BTreeSet<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, BTreeSet::from(["resolv.conf".into()]));
    }
}

fn lines(number: u8) -> String {
    format!("nameserver 10.8.{number}.1\n")
}

#[track_caller]
fn end_of(journal: &mut Journal) {
    assert!(journal.undo().is_empty());
    assert!(journal.is_empty());
}

fn orders(numbers: &[u8]) -> Vec<Vec<u8>> {
    if numbers.is_empty() {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for &first in numbers {
        let rest: Vec<_> = numbers.iter().copied().filter(|it| *it != first).collect();
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.insert(0, first);
            order
        }));
    }
    all
}

#[test]
fn tunnels_end_and_are_killed_in_any_order() {
    for count in [1, 2, 3] {
        let all: Vec<u8> = (1..=count).collect();
        for order in orders(&all) {
            for killed in 0..1 << count {
                let machine = Machine::new();
                let mut running: Vec<_> =
                    all.iter().map(|&number| (number, machine.start(number))).collect();
                machine.assert_has(&all);
                // The tunnels in the file: killed ones stay until another tunnel ends.
                let mut said = all.clone();
                for &number in &order {
                    let at = running.iter().position(|it| it.0 == number).unwrap();
                    let (_, mut journal) = running.remove(at);
                    if killed >> (number - 1) & 1 == 0 {
                        end_of(&mut journal);
                        said = running.iter().map(|it| it.0).collect();
                    }
                    drop(journal);
                    machine.assert_has(&said);
                }
                // The next start of any tunnel cleans up and ends cleanly.
                let mut next = machine.start(9);
                machine.assert_has(&[9]);
                end_of(&mut next);
                machine.assert_has(&[]);
                for number in all.clone() {
                    machine.process(number);
                    machine.assert_has(&[]);
                }
            }
        }
    }
}

#[test]
fn the_next_start_undoes_a_killed_tunnel() {
    let machine = Machine::new();
    drop(machine.start(1));
    machine.assert_has(&[1]);
    machine.process(1);
    machine.assert_has(&[]);

    // Meanwhile another tunnel takes its number, and keeps its lines.
    drop(machine.start(1));
    let mut two = machine.start(2);
    machine.assert_has(&[2]);
    machine.process(1);
    machine.assert_has(&[2]);
    end_of(&mut two);
    machine.assert_has(&[]);
}

#[test]
fn a_tunnel_can_be_killed_at_each_step() {
    let mut kills = [0; 3];
    for others in [&[][..], &[1], &[1, 2]] {
        for ends in [false, true] {
            for points in 0.. {
                let machine = Machine::new();
                let mut running: Vec<_> =
                    others.iter().map(|&number| machine.start(number)).collect();
                // A tunnel killed earlier, so that there is something to clean up.
                drop(machine.start(8));
                let mut victim = machine.process(3);
                if ends {
                    machine.add(3, &mut victim);
                }
                let survived = survives(points, || match ends {
                    true => end_of(&mut victim),
                    false => machine.add(3, &mut victim),
                });
                drop(victim);
                kills[others.len()] += u32::from(!survived);
                // Killed before its journal entry: the other tunnel's start cleans up.
                machine.process(3);
                machine.process(8);
                machine.assert_has(others);
                while let Some(mut journal) = running.pop() {
                    end_of(&mut journal);
                }
                machine.assert_has(&[]);
                if survived {
                    break;
                }
            }
        }
    }
    assert!(kills.iter().all(|&count| count >= 5), "{kills:?}");
}

#[test]
fn after_a_power_loss_any_tunnel_restores_the_original() {
    let machine = Machine::new();
    drop([machine.start(1), machine.start(2)]);
    for entry in fs::read_dir(machine.directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "journal") {
            fs::remove_file(path).unwrap();
        }
    }
    let mut other = machine.start(3);
    machine.assert_has(&[3]);
    end_of(&mut other);
    machine.assert_has(&[]);
}

#[test]
fn changes_by_other_programs_stay() {
    let theirs = "nameserver 1.1.1.1\n";
    // While one of two tunnels keeps running.
    let machine = Machine::new();
    let [mut one, mut two] = [machine.start(1), machine.start(2)];
    fs::write(machine.path(), theirs).unwrap();
    end_of(&mut one);
    assert_eq!(fs::read_to_string(machine.path()).unwrap(), theirs);
    end_of(&mut two);
    assert_eq!(fs::read_to_string(machine.path()).unwrap(), theirs);
    machine.assert_clean();

    // The next tunnel starts from it and restores it.
    let mut machine = Machine::new();
    let mut one = machine.start(1);
    machine.original = "nameserver 1.1.1.1\nsearch home\noptions edns0\n# theirs\n".into();
    fs::write(machine.path(), &machine.original).unwrap();
    let mut two = machine.start(2);
    machine.assert_has(&[1, 2]);
    end_of(&mut two);
    machine.assert_has(&[1]);
    end_of(&mut one);
    machine.assert_has(&[]);

    // The file was deleted.
    let machine = Machine::new();
    let mut one = machine.start(1);
    fs::remove_file(machine.path()).unwrap();
    end_of(&mut one);
    assert_eq!(fs::read_dir(machine.directory.path().join("etc")).unwrap().count(), 0);
}

#[test]
fn a_missing_original_is_recovered_from_the_generated_file() {
    let machine = Machine::new();
    let mut one = machine.start(1);
    fs::remove_file(machine.directory.path().join("etc/resolv.conf.cycloid-vpn")).unwrap();
    let mut two = machine.start(2);
    machine.assert_has(&[1, 2]);
    end_of(&mut one);
    end_of(&mut two);
    let text = fs::read_to_string(machine.path()).unwrap();
    assert_eq!(text, format!("{}search home\noptions edns0\n", lines(1)));
}

#[test]
fn a_partly_written_file_is_regenerated() {
    let written =
        format!("{MARK}tun1; the original is saved next to it and restored at the end.\n");
    for cut in ["", "# Wr", MARK, &written, "# home\n", ORIGINAL] {
        let machine = Machine::new();
        drop(machine.start(1));
        fs::write(machine.path(), cut).unwrap();
        machine.process(1);
        machine.assert_has(&[]);
    }
}

#[test]
fn later_tunnels_override_earlier_ones() {
    let original = "nameserver 1.1.1.1\ndomain home\noptions rotate\n# a word\n".as_bytes();
    let tunnel = |number: u32, lines: &str| Tunnel {
        number,
        interface: format!("tun{number}"),
        lines: lines.into(),
    };
    let tunnels = [
        tunnel(1, "nameserver 10.8.1.1\nsearch one\n"),
        tunnel(4, "nameserver 10.8.2.1\n"),
        tunnel(5, "search three\n"),
    ];
    let text = contents(original, &tunnels);
    let expected = "search three\nnameserver 10.8.2.1\noptions rotate\n";
    assert_eq!(text.split_once('\n').unwrap().1, expected);
}

#[test]
fn a_link_stays_a_link() {
    let machine = Machine::new();
    let link = machine.directory.path().join("link");
    std::os::unix::fs::symlink(machine.path(), &link).unwrap();
    let target = fs::canonicalize(&link).unwrap();
    let mut journal = machine.process(1);
    add(&target, "tun1", &lines(1), &mut journal).unwrap();
    assert!(fs::read_to_string(&link).unwrap().contains(&lines(1)));
    // The link now points elsewhere; the changed file is still restored.
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("/nowhere", &link).unwrap();
    end_of(&mut journal);
    machine.assert_has(&[]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_tunnel_that_cannot_write_leaves_nothing() {
    let machine = Machine::new();
    let mut one = machine.start(1);
    let mut two = machine.process(2);
    // A directory blocks the tunnel's file name.
    fs::create_dir(machine.directory.path().join("etc/resolv.conf.cycloid-vpn.2")).unwrap();
    assert!(add(&machine.path(), "tun2", &lines(2), &mut two).is_err());
    assert!(two.is_empty());
    fs::remove_dir(machine.directory.path().join("etc/resolv.conf.cycloid-vpn.2")).unwrap();
    machine.assert_has(&[1]);
    machine.add(2, &mut two);
    // The same tunnel again, with other servers.
    machine.add(2, &mut two);
    machine.assert_has(&[1, 2]);
    end_of(&mut one);
    end_of(&mut two);
    machine.assert_has(&[]);
}

#[test]
fn many_tunnels_come_and_go_at_once() {
    let machine = Machine::new();
    thread::scope(|scope| {
        for number in 1..=4 {
            let machine = &machine;
            scope.spawn(move || {
                for round in 0..6 {
                    let mut journal = machine.start(number);
                    let text = fs::read_to_string(machine.path()).unwrap();
                    assert!(text.starts_with(MARK), "{text}");
                    if round % 3 != 0 {
                        end_of(&mut journal);
                    }
                }
                machine.process(number);
            });
        }
    });
    machine.assert_has(&[]);
}
