//! The names of users, and their files.

use std::fs;

use crate::service::script;
use crate::test_bed::{ALL, LIMIT, Settings, TestBed, UP};

#[test]
fn the_file_of_a_name_with_a_space_is_read() {
    let bed = TestBed::new();
    let account = bed.file("account");
    fs::write(&account, "John Doe\nright\n").expect("a file");
    let verify = script(&bed, "verify", "[ \"$(sed -n 1p $1)\" = \"John Doe\" ]");
    let files = bed.file("ccd");
    fs::create_dir(&files).expect("a directory");
    let settings = Settings {
        server: format!(
            "verify-client-cert none\nusername-as-common-name\nscript-security 2\n\
             auth-user-pass-verify {verify} via-file\nclient-config-dir {}",
            files.display()
        ),
        client: format!("auth-user-pass {}", account.display()),
        ..Settings::default()
    };
    for (server, client) in ALL {
        fs::write(files.join("John Doe"), "ifconfig-push 10.8.7.7 255.255.0.0\n").expect("a file");
        let gate = bed.start(server, true, &settings);
        let alice = bed.start(client, false, &settings);
        let output = bed.command(true).args(["ip", "-4", "addr"]).output().expect("ip");
        let addresses = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(addresses.contains("10.8.7.7/16"), "{server:?}: {addresses}\n{}", gate.text());
        drop(alice);
        fs::write(files.join("John Doe"), "disable\n").expect("a file");
        let mut alice = bed.launch(client, false, &settings);
        alice.wait_for("AUTH_FAILED", 1, LIMIT);
        assert!(!alice.text().contains(UP), "{server:?}: {}", alice.text());
    }
}
