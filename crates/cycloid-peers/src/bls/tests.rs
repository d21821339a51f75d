use super::*;
use cycloid_lab::peers::Peer;

/// The tables match cases by position, so the names must agree; and each operation must return
/// something to compare.
#[test]
fn every_backend_has_the_same_cases_with_results() {
    for part in Part::ALL {
        let names = |backend: &Registered| -> Vec<String> {
            (backend.cases)(part, &[0, 3]).into_iter().map(|case| case.name).collect()
        };
        for backend in &BACKENDS {
            assert_eq!(names(backend), names(&BACKENDS[0]), "{}", backend.name);
            for case in (backend.cases)(part, &[0, 3]) {
                let mut operation = (case.prepare)();
                assert!(operation.output().is_empty());
                operation.run().unwrap();
                let output = operation.output();
                assert!(
                    !output.is_empty() && output != [0] || case.name == "equality",
                    "{}",
                    case.name
                );
            }
        }
    }
}

/// Groups and names identify a table from run to run, so committed records must have today's.
#[test]
fn committed_tables_have_the_names_and_sizes_of_cases() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/bls-zen-5.json");
    let text = std::fs::read_to_string(path).unwrap();
    let report = cycloid_lab::record::Report::from_json(&text, path).unwrap();
    let mut sizes = 0;
    for table in &report.tables {
        let part = Part::ALL.into_iter().find(|part| part.name() == table.group).unwrap();
        let cases = (BACKENDS[0].cases)(part, &[8, 10, 12]);
        let case = cases.into_iter().find(|case| case.name == table.name).unwrap();
        assert_eq!(case.series, table.series, "{}", table.name);
        sizes += usize::from(case.series.is_some());
    }
    assert_eq!(sizes, 10);
}

#[test]
fn blst_has_a_version_of_its_own() {
    let [ours, blst] = BACKENDS.each_ref().map(|backend| backend.version);
    assert_eq!(ours, env!("CARGO_PKG_VERSION"));
    assert!(blst != ours && blst.starts_with(|c: char| c.is_ascii_digit()), "{blst}");
}

/// A peer's case is found by name, so a case without a backend's name would never be measured. Its
/// result must equal the library's, also when state from a previous run remains.
#[test]
fn peers_agree_with_the_library() {
    let result = |case: &Case| {
        let mut operation = (case.prepare)();
        operation.run().unwrap();
        let first = operation.output();
        operation.run().unwrap();
        assert_eq!(operation.output(), first, "{}", case.name);
        first
    };
    let mut wrong = Vec::new();
    for part in Part::ALL {
        let ours = (BACKENDS[0].cases)(part, &[0, 3, 7]);
        let theirs = Peer::ALL.map(|peer| peers::cases(peer, part, &[0, 3, 7]));
        for own in ours.iter().filter(|own| theirs.iter().flatten().any(|c| c.name == own.name)) {
            let right = result(own);
            for case in theirs.iter().flatten().filter(|case| case.name == own.name) {
                let is_same = case.operations_per_call == own.operations_per_call;
                if !is_same || result(case) != right {
                    wrong.push(format!("{}, {}: {}", part.name(), case.name, case.function));
                }
            }
        }
        for case in theirs.iter().flatten() {
            assert!(ours.iter().any(|own| own.name == case.name), "{}", case.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
