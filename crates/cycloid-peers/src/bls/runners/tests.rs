use cycloid_lab::peers::Peer;

use super::super::BACKENDS;
use super::*;

/// Binary logarithms of the lengths of sums; mcl has another algorithm from 128 on.
const SUMS: [u32; 3] = [0, 3, 8];

/// Returns the job of each case, with its name.
fn all() -> Vec<(Part, String, Asked)> {
    let of_part = |part: Part| {
        let names = (BACKENDS[0].cases)(part, &SUMS).into_iter().map(|case| case.name);
        names.filter_map(move |name| ask(part, &name, &SUMS).map(|asked| (part, name, asked)))
    };
    Part::ALL.into_iter().flat_map(of_part).collect()
}

#[test]
fn jobs_have_an_operation_of_the_documentation() {
    let documented = include_str!("../../../../../docs/runners.md");
    for (_, name, asked) in all() {
        let operation = asked.job["operation"].as_str().unwrap();
        assert!(documented.contains(&format!("`{operation}`")), "{name}: {operation}");
        for parameter in asked.job.keys().filter(|key| *key != "data" && *key != "operation") {
            assert!(documented.contains(&format!("`{parameter}`")), "{operation}: {parameter}");
        }
    }
}

/// A check that accepts everything would be useless.
#[test]
fn a_runner_that_accepts_everything_is_detected() {
    let (_, _, asked) = all().into_iter().find(|(_, name, _)| name == "decompress").unwrap();
    let check = asked.check();
    let mut call: cycloid_lab::peers::Call = Box::new(|data, room| {
        room[..data.len()].copy_from_slice(data);
        Ok(data.len())
    });
    assert!(check(&mut call, &[1]).is_empty());
    let mut call: cycloid_lab::peers::Call = Box::new(|_, _| Err("refused"));
    assert_eq!(check(&mut call, &[1, 2]), [1, 2]);
    let (_, _, asked) = all().into_iter().find(|(_, name, _)| name == "is a member").unwrap();
    let check = asked.check();
    for (answer, right) in [(0, vec![1]), (1, vec![])] {
        let mut call: cycloid_lab::peers::Call = Box::new(move |_, room| {
            room[0] = answer;
            Ok(1)
        });
        assert_eq!(check(&mut call, &[1]), right);
    }
}

/// Runs every operation of a peer's runner, and compares it with the library.
fn agrees(peer: Peer, least: usize) {
    let found = peer.find();
    if let Err(missing) = &found.outcome {
        panic!("{}: {}; {}", peer.name(), missing.reason, missing.remedy);
    }
    let mut done = 0;
    for (part, name, asked) in all() {
        let mut cases = (BACKENDS[0].cases)(part, &SUMS);
        let case = cases.iter_mut().find(|case| case.name == name).unwrap();
        let mut operation = (case.prepare)();
        operation.run().unwrap();
        let right = operation.output();
        let rows = super::super::rows(&found, &asked, case.operations_per_call, &mut Vec::new());
        for mut row in rows.unwrap() {
            let label = format!("{}, {}: {name}", peer.name(), part.name());
            assert!(row.operation.elsewhere(2).unwrap().is_some(), "{label}");
            assert_eq!(row.operation.output(), right, "{label}");
            done += 1;
        }
    }
    assert!(done >= least, "{}: {done} rows", peer.name());
}

#[test]
#[ignore = "needs Go 1.26, which Debian lacks, and downloads gnark-crypto"]
fn gnark_crypto_agrees_with_the_library() {
    agrees(Peer::GnarkCrypto, 50);
}

#[test]
#[ignore = "needs mcl's runner in CYCLOID_RUNNER_MCL"]
fn mcl_agrees_with_the_library() {
    agrees(Peer::Mcl, 50);
}

#[test]
#[ignore = "needs VROOM's runner in CYCLOID_RUNNER_VROOM"]
fn vroom_agrees_with_the_library() {
    agrees(Peer::Vroom, 12);
}
