//! Asynchronous jobs: they gather in batches, and none is lost where fewer than eight are at work.

use cycloid::LANES;

use crate::support::{Place, Server, With, free_port, openssl, wait_for_port};
use crate::tls::{certificate, fetch};

/// Returns how often batches of each size ran, and empties the log.
fn batches(place: &Place) -> Vec<(usize, usize)> {
    let log = String::from_utf8(place.read("log")).expect("the log is text");
    place.write("log", "");
    let sizes = log.lines().filter_map(|line| line.strip_prefix("cycloid batch "));
    let mut counts = vec![0; 9];
    sizes.for_each(|size| counts[size.parse::<usize>().expect("a number")] += 1);
    counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect()
}

#[test]
fn speed_fills_batches() {
    let place = Place::with_settings("async = always");
    for (jobs, largest) in [(16, 8), (8, 8), (3, 3), (1, 1)] {
        place.ok(With::Cycloid, &format!("speed -seconds 1 -async_jobs {jobs} rsa2048"));
        let found = batches(&place);
        let most = found.iter().max_by_key(|(_, count)| *count).map(|(size, _)| *size);
        assert_eq!(most, Some(largest), "{jobs} jobs: {found:?}");
        assert!(found.iter().all(|(size, _)| *size <= jobs), "{jobs} jobs: {found:?}");
    }
}

#[test]
fn jobs_park_only_where_it_helps() {
    let place = Place::with_settings("async = never");
    place.ok(With::Cycloid, "speed -seconds 1 -async_jobs 8 rsa2048");
    let log = String::from_utf8(place.read("log")).expect("the log is text");
    assert!(log.contains("cycloid sign RSA") && !log.contains("batch"));
}

#[test]
fn a_server_in_jobs() {
    let place = Place::with_settings("async = always\nasync_wait = 1000");
    for (algorithm, options) in [
        ("rsa:2048", "-tls1_3"),
        ("rsa:2048", "-tls1_2"),
        ("ec -pkeyopt ec_paramgen_curve:P-521", "-tls1_3 -groups P-521"),
        ("ed25519", "-tls1_3 -groups P-384"),
    ] {
        certificate(&place, algorithm);
        let port = free_port();
        let mut server = place.program(&openssl(), With::Cycloid);
        server.args(["s_server", "-accept", &format!("127.0.0.1:{port}"), "-quiet", "-async"]);
        server.args(["-cert", "cert.pem", "-key", "key.pem"]);
        let _server = Server::start(server);
        wait_for_port(port);
        place.write("log", "");
        for _ in 0..3 {
            place.ok(With::Stock, &format!(
                "s_client -connect 127.0.0.1:{port} {options} -CAfile cert.pem -verify_return_error -brief"
            ));
        }
        if algorithm == "rsa:2048" {
            // The connection that waited for the port sends no handshake.
            assert_eq!(batches(&place), [(1, 3)]);
        }
    }
}

/// Starts HAProxy with one thread, in whose jobs signatures park.
fn haproxy(place: &Place, port: u16) -> Server {
    certificate(place, "rsa:2048");
    let both = [place.read("cert.pem"), place.read("key.pem")].concat();
    std::fs::write(place.path("site.pem"), both).expect("the file is written");
    place.write(
        "haproxy.cfg",
        &format!(
            "global\n ssl-mode-async\n nbthread 1\n maxconn 200\n\
         defaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 60s\n\
         frontend site\n bind 127.0.0.1:{port} ssl crt site.pem\n\
         http-request return status 200 content-type text/plain string hello\n"
        ),
    );
    let mut haproxy = place.program("haproxy", With::Cycloid);
    haproxy.args(["-db", "-f", "haproxy.cfg"]);
    let server = Server::start(haproxy);
    wait_for_port(port);
    server
}

#[test]
fn haproxy_waits_no_longer_than_the_deadline() {
    let place = Place::with_settings("async = always\nasync_wait = 20000");
    let port = free_port();
    let _server = haproxy(&place, port);
    // One connection alone waits no longer than the deadline.
    assert_eq!(fetch(&place, With::Stock, port, ""), "hello");
    assert_eq!(batches(&place), [(1, 1)]);
}

#[test]
fn haproxy_signs_many_handshakes_at_once() {
    let place = Place::with_settings("async = always\nasync_wait = 1000000");
    let port = free_port();
    let _server = haproxy(&place, port);
    std::thread::scope(|threads| {
        for _ in 0..24 {
            threads.spawn(|| {
                for _ in 0..3 {
                    assert_eq!(fetch(&place, With::Stock, port, ""), "hello");
                }
            });
        }
    });
    let found = batches(&place);
    assert_eq!(found.iter().map(|(size, count)| size * count).sum::<usize>(), 72, "{found:?}");
    assert!(found.iter().any(|(size, _)| *size == LANES), "{found:?}");
}
