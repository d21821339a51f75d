//! Memory is counted whichever library allocates: nothing for this library, all allocations of the
//! peers.

#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

use cycloid_lab::measure::Operation;
use cycloid_lab::measure::{heap, stack};
use cycloid_lab::peers::Peer;
use cycloid_lab::peers::modexp::{Exponents, Input, Prepare};
use cycloid_lab::record::Report;
use cycloid_lab::suite::{self, Effort, Progress, Suite, modexp::ModExp};

/// Prepares the constant-time exponentiation of `peer`.
fn operation(peer: Peer, bits: usize) -> Box<dyn Operation> {
    let found = peer.find();
    let library = match &found.outcome {
        Ok(library) => library,
        Err(missing) => panic!("{}: {}; {}", peer.name(), missing.reason, missing.remedy),
    };
    let candidates = library.modexp(bits);
    let candidate = candidates.iter().find(|candidate| candidate.constant_time).unwrap();
    let Prepare::One(prepare) = &candidate.prepare else {
        panic!("the first candidate is for one exponentiation")
    };
    prepare(&Input::new(bits, Exponents::Full, 1)).unwrap()
}

#[test]
fn allocations_of_libraries_in_c_are_counted() {
    // At this size each of them allocates its table of powers on the heap.
    for peer in [Peer::OpenSsl, Peer::Gmp, Peer::AwsLc] {
        let mut operation = operation(peer, 4096);
        assert!(
            operation.heap_held().unwrap() > 4 * 512,
            "{peer:?}: it holds its numbers on the heap"
        );
        let (done, heap) = heap::measure(|| operation.run());
        done.unwrap();
        let heap = heap.unwrap();
        assert!(heap.allocations > 0, "{peer:?}: {heap:?}");
        assert!(heap.peak_bytes > 16 * 512, "{peer:?}: {heap:?}");
        assert!(heap.held_bytes < 4096, "{peer:?}: {heap:?}");
    }
}

#[test]
fn allocations_of_libraries_in_rust_are_counted() {
    // A size that is not compiled in, so that the numbers are on the heap.
    let mut operation = operation(Peer::CryptoBigint, 320);
    let (done, heap) = heap::measure(|| operation.run());
    done.unwrap();
    assert!(heap.unwrap().allocations > 0);
}

#[test]
fn stack_use_of_a_c_library_is_measured() {
    // GMP keeps small scratch on the stack: for 512 bits, a table of 2⁴ numbers of at least
    // 64 bytes.
    let peak = stack::on_measuring_thread(|| {
        let mut operation = operation(Peer::Gmp, 512);
        stack::peak(&mut || operation.run().unwrap())
    });
    assert!(peak.unwrap() > 1024, "{peak:?}");
}

struct Unseen;

impl Progress for Unseen {
    fn begin(&mut self, _whole: std::time::Duration) {}
    fn at(&mut self, _done: std::time::Duration, _table: &str) {}
    fn end(&mut self) {}
}

fn report(modexp: ModExp, peers: &[Peer]) -> Report {
    let suites: [Box<dyn Suite>; 1] = [Box::new(modexp)];
    suite::run(&suites, Effort::Quick, peers, &mut Unseen).unwrap()
}

#[test]
fn the_library_never_allocates() {
    let modexp = ModExp { bits: vec![256, 1000], ..ModExp::usual(Effort::Quick) };
    for table in report(modexp, &[]).tables {
        for record in table.records {
            let memory = record.memory;
            assert_eq!(memory.allocations, Some(0), "{}, {}", record.group, record.label);
            assert_eq!(memory.heap_total, Some(0), "{}, {}", record.group, record.label);
            assert_eq!(memory.heap_held, Some(0), "{}, {}", record.group, record.label);
            assert!(memory.scratch.unwrap() > 0);
            assert!(memory.stack_peak.unwrap() > 0);
        }
    }
}

#[test]
fn halves_of_a_private_key_agree_with_every_peer() {
    let modexp = ModExp {
        bits: vec![512],
        crt: true,
        strategies: Vec::new(),
        ..ModExp::usual(Effort::Quick)
    };
    let report = report(modexp, &Peer::ALL);
    let records = &report.tables[0].records;
    assert!(records.iter().any(|record| record.label == "both at once"));
    assert!(records.iter().all(|record| record.operation.starts_with("two")));
}
