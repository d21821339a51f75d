//! Temporary refusals: the server says when and where the client tries again.

use crate::service::script;
use crate::test_bed::{ALL, INNER, Settings, TestBed, Who};

#[test]
fn a_refused_client_waits_as_long_as_the_server_asks() {
    let bed = TestBed::new();
    std::fs::write(bed.file("account"), "alice\nright\n").expect("a file");
    // The first attempt is refused, the second one admitted.
    let verify = script(
        &bed,
        "verify",
        "date +%s%N >> $DIR/asked\nmkdir $DIR/refused 2> /dev/null || exit 0\n\
         echo \"TEMP[backoff 3,advance no]:busy\" > $auth_failed_reason_file\nexit 1",
    );
    let settings = Settings {
        server: format!("script-security 2\nauth-user-pass-verify {verify} via-file"),
        client: format!("auth-user-pass {}\nconnect-retry 1 1", bed.file("account").display()),
        ..Settings::default()
    };
    for (server, client) in ALL {
        let _ = std::fs::remove_dir(bed.file("refused"));
        let _ = std::fs::remove_file(bed.file("asked"));
        let mut gate = bed.start(server, true, &settings);
        // It does not end, although `auth-retry` is `none`.
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("the second attempt", [&mut gate, &mut alice]);
        assert_eq!(bed.ping(INNER, 1, "0.2"), 1);
        let what = format!("{server:?} and {client:?}\n{}\n{}", gate.text(), alice.text());
        assert!(alice.text().contains("busy"), "{what}");
        let asked = std::fs::read_to_string(bed.file("asked")).expect("two questions");
        let times: Vec<u64> = asked.lines().map(|line| line.parse().expect("a time")).collect();
        assert_eq!(times.len(), 2, "{what}");
        // OpenVPN 2.6 itself waits for the pause of `connect-retry` only.
        let least = if client == Who::Cycloid { 2_900_000_000 } else { 0 };
        assert!(times[1] - times[0] > least, "{times:?}: {what}");
    }
}
