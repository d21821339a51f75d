//! A server's TCP port that it shares with a web server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::test_bed::{ALL, Protection, SERVER, Settings, TestBed, Who};

/// Starts a service in the server's namespace that answers one line with the number of its
/// connection and the line. Returns its port. It ends with the test's process.
fn start_service(bed: &TestBed) -> u16 {
    let (ports, port) = std::sync::mpsc::channel();
    bed.within(false, move || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        ports.send(listener.local_addr().expect("an address").port()).expect("the test waits");
        for (number, client) in listener.incoming().enumerate() {
            let mut client = client.expect("a client");
            let mut line = Vec::new();
            while line.last() != Some(&b'\n') {
                let mut byte = [0];
                client.read_exact(&mut byte).expect("a line");
                line.push(byte[0]);
            }
            let _ = write!(client, "{number}: {}", String::from_utf8_lossy(&line));
        }
    });
    port.recv().expect("the service listens")
}

/// Sends a line to the server's port, and returns all of the answer.
fn ask(bed: &TestBed, line: &'static str) -> String {
    let asks = bed.within(true, move || {
        let mut stream = TcpStream::connect((SERVER, 1194)).expect("the server listens");
        stream.write_all(line.as_bytes()).expect("it is taken");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    });
    asks.join().expect("it asks")
}

#[test]
fn a_web_server_and_tunnels_share_a_port() {
    let bed = TestBed::new();
    let port = start_service(&bed);
    let mut number = 0;
    for (server, client) in ALL.into_iter().filter(|(server, _)| *server == Who::Cycloid) {
        for protection in [Protection::None, Protection::TlsAuth, Protection::TlsCryptV2] {
            let settings = Settings {
                tcp: true,
                protection,
                server: format!("port-share 127.0.0.1 {port}"),
                ..Settings::default()
            };
            let mut gate = bed.start(server, true, &settings);
            assert_eq!(ask(&bed, "GET / HTTP/1.0\n"), format!("{number}: GET / HTTP/1.0\n"));
            let mut alice = bed.start(client, false, &settings);
            bed.assert_reaches("beside a web server", [&mut gate, &mut alice]);
            assert_eq!(ask(&bed, "\x16\x03\x01\n"), format!("{}: \x16\x03\x01\n", number + 1));
            bed.assert_reaches("after a question", [&mut gate, &mut alice]);
            number += 2;
            alice.end("TERM");
            gate.end("TERM");
        }
    }
}
