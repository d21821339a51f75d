//! A file that asks for post-quantum key exchange gets it, or no tunnel.

use crate::test_bed::{INNER, LIMIT, Protection, Settings, TestBed, Who};

#[test]
fn both_ends_agree_on_the_group_of_the_file() {
    let bed = TestBed::new();
    for group in ["X25519MLKEM768", "X25519"] {
        let both = format!("tls-groups {group}");
        let settings = Settings { both, ..Settings::default() };
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = bed.start(Who::Cycloid, false, &settings);
        bed.assert_reaches(group, [&mut gate, &mut alice]);
        let expected = format!("key exchange {group},");
        assert!(alice.text().contains(&expected), "{}", alice.text());
    }
}

/// OpenVPN of Debian does not have the group.
#[test]
fn without_a_common_group_there_is_no_tunnel() {
    let bed = TestBed::new();
    for (server, client, client_lines) in
        [(Who::Cycloid, Who::Cycloid, "tls-groups X25519"), (Who::Cycloid, Who::OpenVpn, "")]
    {
        let settings = Settings {
            protection: Protection::None,
            server: "tls-groups X25519MLKEM768".into(),
            client: client_lines.into(),
            ..Settings::default()
        };
        let mut gate = bed.start(server, true, &settings);
        let alice = bed.launch(client, false, &settings);
        gate.wait_for("NoKxGroupsInCommon", 1, LIMIT);
        assert_eq!(bed.ping(INNER, 1, "0.2"), 0);
        assert!(!alice.text().contains("Initialization Sequence Completed"), "{}", alice.text());
    }
}
