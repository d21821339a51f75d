//! A server that is drained sends its clients away, and admits them again afterwards.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use crate::test_bed::{LIMIT, Settings, TestBed, UP, Who};

#[test]
fn a_drained_server_sends_its_clients_away() {
    let bed = TestBed::new();
    let socket = bed.file("management.sock");
    let server = format!("management {} unix", socket.display());
    let settings = Settings {
        server,
        client: "connect-retry 1 1\nserver-poll-timeout 4".into(),
        ..Settings::default()
    };
    for client in [Who::Cycloid, Who::OpenVpn] {
        let mut gate = bed.start(Who::Cycloid, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        let stream = UnixStream::connect(&socket).expect("the server listens");
        let mut answers = BufReader::new(stream.try_clone().expect("a stream"));
        let mut command = |line: &str, wanted: &str| {
            (&stream).write_all(line.as_bytes()).expect("the server reads");
            let mut answer = String::new();
            while !answer.contains(wanted) {
                answer.clear();
                let length = answers.read_line(&mut answer).expect("the server answers");
                assert!(length > 0, "{line}");
            }
        };
        command("drain perhaps\n", "ERROR: bad drain parameter");
        command("drain\n", "SUCCESS: drain: told 1 clients to connect to another server");
        gate.wait_for("refused: the server is being drained", 1, LIMIT);
        assert_eq!(alice.count(UP), 1, "{}", alice.text());
        command("drain off\n", "SUCCESS: drain off");
        alice.wait_for(UP, 2, LIMIT);
        alice.end("TERM");
        gate.end("TERM");
    }
}
