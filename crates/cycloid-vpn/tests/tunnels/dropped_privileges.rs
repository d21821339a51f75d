//! A client that drops its privileges reads files of root beforehand.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::test_bed::{INNER, LIMIT, Protection, Settings, TestBed, UP, Who};

#[test]
fn a_client_without_privileges_keeps_its_keys() {
    let bed = TestBed::new();
    let settings = Settings { protection: Protection::TlsAuth, ..Settings::default() };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    // The control channel's key and the own key are for root alone.
    for name in ["shared.key", "alice.key"] {
        fs::set_permissions(bed.file(name), Permissions::from_mode(0o600)).expect("a file");
    }
    let client = "user nobody\ngroup nogroup\npersist-key\npersist-tun".to_owned();
    let mut alice = bed.start(Who::Cycloid, false, &Settings { client, ..settings });
    bed.assert_reaches("the tunnel", [&mut gate, &mut alice]);
    // A soft restart keeps the keys; a hard one cannot read them, and says so.
    alice.signal("USR1");
    alice.wait_for(UP, 2, LIMIT);
    alice.signal("HUP");
    alice.wait_for("keeping the old keys: key ", 1, LIMIT);
    alice.wait_for(UP, 3, LIMIT);
    assert!(bed.ping(INNER, 3, "0.2") > 0);
}
