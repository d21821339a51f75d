//! Users: the files of their names, their certificates, and unfinished logins.

use std::fs;

use crate::service::script;
use crate::test_bed::{ALL, LIMIT, Settings, TestBed, UP, Who, wait_for_file};

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

/// Returns directives with a script that notes the depth, the subject and variables of each
/// certificate in `asked`, and refuses the depth in `refuse`.
fn judge(bed: &TestBed) -> String {
    let text = "echo \"$1 $2 $tls_serial_0 $tls_id_1\" >> $DIR/asked\n\
                [ \"$1\" != \"$(cat $DIR/refuse)\" ]";
    format!("script-security 2\ntls-verify {}", script(bed, "judge", text))
}

#[test]
fn a_script_judges_every_certificate_of_a_client() {
    let bed = TestBed::new();
    let settings = Settings { server: judge(&bed), ..Settings::default() };
    for (server, client) in ALL {
        let begin = |refused: &str| {
            let _ = fs::remove_file(bed.file("asked"));
            fs::write(bed.file("refuse"), refused).expect("a file");
        };
        begin("none");
        let mut gate = bed.start(server, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("a good chain", [&mut gate, &mut alice]);
        drop(alice);
        let asked = fs::read_to_string(bed.file("asked")).expect("it was asked");
        let asked: Vec<&str> = asked.lines().collect();
        assert!(asked.len() == 2, "{server:?}: {asked:?}");
        assert!(asked[0].starts_with("1 CN=") && asked[1].starts_with("0 CN=alice "), "{asked:?}");
        // Each call knows the certificates above its own.
        assert!(asked[1].contains(asked[0][2..].split(' ').next().expect("a name")), "{asked:?}");
        for (depth, refusals) in [("1", 1), ("0", 2)] {
            begin(depth);
            let alice = bed.launch(client, false, &settings);
            wait_for_file(&bed.file("asked"), |text| {
                text.lines().any(|line| line.starts_with(depth))
            });
            let refusal = match server {
                Who::Cycloid => "refused: ",
                Who::OpenVpn => "VERIFY SCRIPT ERROR",
            };
            gate.wait_for(refusal, refusals, LIMIT);
            assert!(!alice.text().contains(UP), "{}", alice.text());
            let asked = fs::read_to_string(bed.file("asked")).expect("it was asked");
            assert_eq!(asked.contains("0 CN=alice"), depth == "0", "{asked}");
        }
    }
}

#[test]
fn a_script_judges_every_certificate_of_a_server() {
    let bed = TestBed::new();
    let settings = Settings { client: judge(&bed), ..Settings::default() };
    for (server, client) in ALL {
        let _gate = bed.start(server, true, &settings);
        for (refused, depths) in [("none", "10"), ("0", "10"), ("1", "1")] {
            let _ = fs::remove_file(bed.file("asked"));
            fs::write(bed.file("refuse"), refused).expect("a file");
            let mut alice = bed.launch(client, false, &settings);
            let expected = match (refused, client) {
                ("none", _) => UP,
                (_, Who::Cycloid) => "server refused: ",
                (_, Who::OpenVpn) => "VERIFY SCRIPT ERROR",
            };
            alice.wait_for(expected, 1, LIMIT);
            let asked = fs::read_to_string(bed.file("asked")).expect("it was asked");
            let asked: Vec<&str> = asked.lines().take(depths.len()).collect();
            let seen: String = asked.iter().filter_map(|line| line.chars().next()).collect();
            assert_eq!(seen, depths, "{client:?}, refusing {refused}: {asked:?}");
            // The script knows the whole chain at each depth.
            let knows = |line: &&str| line.ends_with(" CN=Cycloid VPN");
            assert!(asked.iter().all(knows), "{asked:?}");
            assert_eq!(alice.text().contains(UP), refused == "none", "{}", alice.text());
        }
    }
}

#[test]
fn the_login_of_a_client_that_has_left_is_forgotten() {
    let bed = TestBed::new();
    let account = bed.file("account");
    fs::write(&account, "alice\nright\n").expect("a file");
    let exchange = bed.file("exchange");
    fs::create_dir(&exchange).expect("a directory");
    let text = "printf '3600\\nwebauth\\nWEB_AUTH::https://x\\n' > $auth_pending_file\n\
                echo $auth_control_file > $DIR/asked\nexit 2";
    let verify = script(&bed, "verify", text);
    let settings = Settings {
        tcp: true,
        server: format!(
            "script-security 2\nauth-user-pass-verify {verify} via-file\ntmp-dir {}",
            exchange.display()
        ),
        client: format!("auth-user-pass {}", account.display()),
        ..Settings::default()
    };
    let gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = bed.launch(Who::Cycloid, false, &settings);
    alice.wait_for("https://x", 1, LIMIT);
    let file = wait_for_file(&bed.file("asked"), |text| text.ends_with('\n'));
    assert!(fs::exists(file.trim()).expect("a path"), "{}", gate.text());
    alice.end("KILL");
    let end = std::time::Instant::now() + LIMIT;
    while fs::read_dir(&exchange).expect("a directory").count() > 0 {
        assert!(std::time::Instant::now() < end, "{}", gate.text());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_server_ends_sessions_after_their_time() {
    let bed = TestBed::new();
    let files = bed.file("ccd");
    fs::create_dir(&files).expect("a directory");
    let settings = |line: &str| Settings {
        server: format!("client-config-dir {}\n{line}", files.display()),
        ..Settings::default()
    };
    // For all clients, and for a single one.
    for (line, own) in [("session-timeout 2", ""), ("", "session-timeout 2\n")] {
        fs::write(files.join("alice"), own).expect("a file");
        for client in [Who::OpenVpn, Who::Cycloid] {
            let mut gate = bed.start(Who::Cycloid, true, &settings(line));
            let mut alice = bed.start(client, false, &settings(line));
            gate.wait_for("session-timeout", 1, LIMIT);
            // The client connects again.
            alice.wait_for(UP, 2, LIMIT);
        }
    }
    fs::write(files.join("alice"), "session-timeout 0\n").expect("a file");
    let mut gate = bed.start(Who::Cycloid, true, &settings("session-timeout 1"));
    let mut alice = bed.start(Who::Cycloid, false, &settings(""));
    bed.assert_reaches("no limit", [&mut gate, &mut alice]);
    assert!(bed.ping(crate::test_bed::INNER, 15, "0.2") > 0);
    assert_eq!(gate.count("session-timeout"), 0, "{}", gate.text());
}
