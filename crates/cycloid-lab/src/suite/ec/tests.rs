use super::*;
use crate::peers::Peer;

#[test]
fn lists_of_curves() {
    let curves = Ec::curves_from_list("X25519, p256,P-521").unwrap();
    assert_eq!(curves, [Curve::P256, Curve::P521, Curve::X25519]);
    assert_eq!(Ec::curves_from_list("all").unwrap(), Curve::ALL);
    let failure = Ec::curves_from_list("p256,p192").unwrap_err();
    assert_eq!(failure.message, "no curve is called 'p192'");
    assert!(failure.hint.contains("p-224, p-256"), "{}", failure.hint);
}

#[test]
fn lists_of_operations() {
    assert_eq!(Ec::tasks_from_list("agree,sign").unwrap(), [Task::Sign, Task::Agree]);
    assert!(Ec::tasks_from_list("").is_err());
    assert!(Ec::tasks_from_list("ecdh").unwrap_err().hint.contains("sign, verify, agree"));
}

#[test]
fn lists_of_batches() {
    assert_eq!(Ec::batches_from_list("1, 64").unwrap(), [1, 64]);
    for wrong in ["", "0", "65", "x", "8,"] {
        assert!(Ec::batches_from_list(wrong).is_err(), "{wrong}");
    }
}

/// A check that accepts everything would be useless.
#[test]
fn wrong_results_are_detected() {
    for curve in Curve::ALL {
        for task in Task::ALL.into_iter().filter(|task| curve.does(*task)) {
            let input = Arc::new(ours::input(curve, 0));
            let check = result_check::of(task, &input, Encoding::Fixed);
            let mut call = ours::one(task, &input);
            let mut output = vec![0; room(curve)];
            let data = data(task, &input, Encoding::Fixed);
            let length = call(data, &mut output).unwrap();
            let right = check(&mut call, &output[..length]);
            if task == Task::Generate {
                // The proof of another key.
                let mut other = ours::one(task, &input);
                other(&[], &mut output).unwrap();
                let mut wrong: crate::peers::Call = Box::new(move |data, output| {
                    let length = other(data, output)?;
                    output[length - 1] ^= 1;
                    Ok(length)
                });
                assert_ne!(check(&mut wrong, &[]), right, "{curve:?}, {task:?}");
            } else if task == Task::Verify {
                let mut wrong: crate::peers::Call = Box::new(|_, _| Ok(0));
                assert_ne!(check(&mut wrong, &[]), right, "{curve:?}, {task:?}");
            } else {
                output[length - 1] ^= 1;
                let wrong = check(&mut call, &output[..length]);
                assert_ne!(wrong, right, "{curve:?}, {task:?}");
            }
        }
    }
}

#[test]
fn batches_and_prepared_keys_are_marked() {
    use crate::record::Method::{Batch, Other, Single};
    let ec = Ec { curves: vec![Curve::P256], tasks: vec![Task::Verify], batches: vec![1, 8] };
    let Work::Subjects(prepare) = ec.plan(Effort::Quick, &[]).remove(0).work else { panic!() };
    let (setting, subjects) = prepare().unwrap();
    assert_eq!(setting.title(), "P-256: verify");
    let rows: Vec<_> = subjects
        .iter()
        .map(|subject| (&*subject.label, subject.method, subject.operations_per_call))
        .collect();
    let expected = [
        ("default", Single, 1),
        ("×1", Batch, 1),
        ("×8", Batch, 8),
        ("prepared", Other, 1),
        ("prepared ×1", Other, 1),
        ("prepared ×8", Other, 8),
    ];
    assert_eq!(rows, expected);
}

/// Runs every operation of a peer's runner, and compares it with the library.
fn agrees(peer: Peer, least: usize) {
    let peers = [peer.find()];
    if let Err(missing) = &peers[0].outcome {
        panic!("{}: {}; {}", peer.name(), missing.reason, missing.remedy);
    }
    let mut done = 0;
    for plan in Ec::usual().plan(Effort::Quick, &peers) {
        let Work::Subjects(prepare) = plan.work else { panic!() };
        let (_, mut subjects) = prepare().unwrap();
        for subject in &mut subjects {
            match subject.operation.elsewhere(2).unwrap() {
                Some(_) => done += 1,
                None => subject.operation.run().unwrap(),
            }
        }
        subjects::verify(&subjects).unwrap();
    }
    assert!(done >= least, "{}: {done} rows", peer.name());
}

#[test]
#[ignore = "needs crypto_mb's runner in CYCLOID_RUNNER_CRYPTO_MB"]
fn crypto_mb_agrees_with_the_library() {
    agrees(Peer::CryptoMb, 16);
}

#[test]
#[ignore = "needs IFMA, and downloads the dalek crates"]
fn dalek_on_vectors_agrees_with_the_library() {
    agrees(Peer::DalekVector, 6);
}
