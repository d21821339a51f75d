//! `client-nat`, in the client's file and pushed: the same addresses answer at both programs.

use crate::test_bed::{ALL, INNER, Settings, TestBed};

/// A network that only the translation knows, and its rule and route.
const ALIAS: &str = "10.77.3.1";
const LINES: [&str; 2] =
    ["client-nat dnat 10.77.3.0 255.255.255.0 10.8.0.0", "route 10.77.3.0 255.255.255.0"];

/// How long it takes until the alias answers, at most, in pings.
fn assert_answers(bed: &TestBed, what: &str) {
    assert!((0..5).any(|_| bed.ping(ALIAS, 3, "0.2") == 3), "{what}");
}

#[test]
fn a_translated_network_is_reached() {
    assert!(INNER.starts_with("10.8.0."), "the rule names this network");
    let bed = TestBed::new();
    for (server, client) in ALL {
        let pushed = LINES.map(|line| format!("push \"{line}\"\n")).concat();
        let own = Settings { client: LINES.join("\n"), ..Settings::default() };
        let pushed = Settings { server: pushed, ..Settings::default() };
        for (settings, way) in [(own, "own"), (pushed, "pushed")] {
            let mut gate = bed.start(server, true, &settings);
            let mut alice = bed.start(client, false, &settings);
            bed.assert_reaches("without translation", [&mut gate, &mut alice]);
            assert_answers(&bed, &format!("{way}, {server:?} {client:?}\n{}", alice.text()));
        }
    }
}
