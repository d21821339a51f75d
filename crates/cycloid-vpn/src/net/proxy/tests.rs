//! Tests with small proxies, which also misbehave.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::{Account, Failure, Http, Method, Relay, associate, socks};
use crate::net::tcp::Options;

const PATIENCE: Options = patient(Duration::from_secs(30));
/// The time limit for proxies that stay silent.
const SHORT: Options = patient(Duration::from_millis(200));

const fn patient(patience: Duration) -> Options {
    Options { local: Vec::new(), mark: None, device: None, patience }
}

/// Starts a proxy that runs a step for each connection, in order.
fn proxy(steps: Vec<Box<dyn FnOnce(TcpStream) + Send>>) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let run = move || {
        for step in steps {
            step(listener.accept().unwrap().0);
        }
    };
    (address, std::thread::spawn(run))
}

/// Reads a request's head.
fn request(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    String::from_utf8(text).unwrap()
}

/// A step that expects parts of a request, and answers.
fn answers(
    parts: &'static [&'static str],
    answer: &'static str,
) -> Box<dyn FnOnce(TcpStream) + Send> {
    Box::new(move |mut stream| {
        let request = request(&mut stream);
        for part in parts {
            assert!(request.contains(part), "{part} in {request}");
        }
        stream.write_all(answer.as_bytes()).unwrap();
    })
}

fn account() -> Account {
    Account { name: "Aladdin".into(), password: Zeroizing::new("open sesame".into()) }
}

fn http(method: Method) -> Http<'static> {
    Http { method, host: "vpn.example", port: 1194, version: "1.0", agent: None, fields: &[] }
}

#[test]
fn the_peers_first_bytes_are_not_lost() {
    let step = answers(
        &["CONNECT vpn.example:1194 HTTP/1.0\r\n", "Host: vpn.example:1194\r\n"],
        "HTTP/1.1 200 Connection established\r\nServer: x\r\n\r\n\x00\x03abc",
    );
    let (address, thread) = proxy(vec![step]);
    let mut stream = http(Method::None).connect(address, None, &PATIENCE, [1; 16]).unwrap();
    let mut bytes = [0; 5];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"\x00\x03abc");
    thread.join().unwrap();
}

#[test]
fn options_of_a_request() {
    let fields = [("Host".to_owned(), "other".to_owned()), ("X-A".to_owned(), "b".to_owned())];
    let wanted = Http {
        host: "2001:db8::1",
        version: "1.1",
        agent: Some("Mozilla/5.0"),
        fields: &fields,
        ..http(Method::Basic)
    };
    let step = answers(
        &[
            "CONNECT [2001:db8::1]:1194 HTTP/1.1\r\nUser-Agent: Mozilla/5.0\r\nHost: other\r\nX-A: b\r\n",
            "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n",
        ],
        "HTTP/1.1 200 OK\r\n\r\n",
    );
    let (address, thread) = proxy(vec![step]);
    wanted.connect(address, Some(&account()), &PATIENCE, [1; 16]).unwrap();
    thread.join().unwrap();
}

#[test]
fn authentication_follows_the_proxys_wish() {
    const BASIC: &str = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n";
    const DIGEST: &str = "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\
                          proxy-authenticate: Digest realm=\"x\", nonce=\"y\", qop=\"auth\"\r\n\r\n";
    const NTLM: &str = "HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\n\r\n";
    const OK: &str = "HTTP/1.1 200 OK\r\n\r\n";
    type Case = (Method, bool, &'static [(&'static [&'static str], &'static str)], &'static str);
    let cases: [Case; 8] = [
        (Method::Any, true, &[(&[], BASIC), (&["Authorization: Basic "], OK)], ""),
        (Method::Any, true, &[(&[], DIGEST), (&["Digest username=\"Aladdin\""], OK)], ""),
        (Method::Any, true, &[(&[], BASIC), (&[], BASIC)], "refuses the user name"),
        (Method::Any, false, &[(&[], BASIC)], "asks for a user name"),
        (Method::AnyButClear, true, &[(&[], BASIC)], "wants the authentication Basic"),
        (Method::Any, true, &[(&[], NTLM)], "wants the authentication NTLM"),
        (Method::None, false, &[(&[], BASIC)], "asks for a user name"),
        (Method::Basic, true, &[(&["Basic "], BASIC)], "refuses the user name"),
    ];
    for (method, with_account, exchanges, error) in cases {
        let steps = exchanges.iter().map(|(parts, answer)| answers(parts, answer)).collect();
        let (address, thread) = proxy(steps);
        let account = with_account.then(account);
        let outcome = http(method).connect(address, account.as_ref(), &PATIENCE, [1; 16]);
        match (outcome, error) {
            (Ok(_), "") => {}
            (Err(failure), error) if !error.is_empty() => {
                assert!(failure.to_string().contains(error), "{failure}");
                assert!(!failure.to_string().contains("sesame"));
            }
            (outcome, error) => panic!("{outcome:?}, {error}"),
        }
        thread.join().unwrap();
    }
}

#[test]
fn http_proxies_that_misbehave_cause_errors() {
    let long = "x".repeat(20_000);
    let answers: [(Vec<u8>, &str); 7] = [
        (b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(), "not HTTP"),
        (b"HTTP/1.1\r\n\r\n".to_vec(), "no status code"),
        (b"HTTP/1.1 4\xFF\r\n\r\n".to_vec(), "not text"),
        (format!("HTTP/1.1 200 OK\r\n{long}").into_bytes(), "too long"),
        (b"HTTP/1.1 403 Forbidden\x1B[2J\r\n\r\n".to_vec(), "HTTP/1.1 403 Forbidden[2J"),
        (b"HTTP/1.1 20".to_vec(), "the proxy: "),
        (Vec::new(), "the proxy: "),
    ];
    for (answer, error) in answers {
        let text = String::from_utf8_lossy(&answer).into_owned();
        let step = move |mut stream: TcpStream| {
            request(&mut stream);
            // The other end may close first.
            let _ = stream.write_all(&answer);
        };
        let (address, thread) = proxy(vec![Box::new(step)]);
        let failure = http(Method::None).connect(address, None, &PATIENCE, [1; 16]).unwrap_err();
        assert!(failure.to_string().contains(error), "{text:.40}: {failure}");
        thread.join().unwrap();
    }
}

/// A proxy that sends a byte now and then does not extend the deadline.
#[test]
fn a_slow_proxy_meets_the_deadline() {
    let drip = |mut stream: TcpStream| {
        while stream.write_all(b"H").is_ok() {
            std::thread::sleep(SHORT.patience / 10);
        }
    };
    let silent = |mut stream: TcpStream| drop(stream.read_to_end(&mut Vec::new()));
    for step in [Box::new(drip) as Box<dyn FnOnce(TcpStream) + Send>, Box::new(silent)] {
        let (address, thread) = proxy(vec![step]);
        let since = Instant::now();
        let failure = socks(address, None, "h", 1, &SHORT).unwrap_err();
        let malformed = matches!(failure, Failure::Malformed(_));
        assert!(malformed || since.elapsed() >= SHORT.patience, "{failure}");
        thread.join().unwrap();
    }
}

/// Reads this many bytes.
fn bytes(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn socks_with_a_password() {
    let step = |mut stream: TcpStream| {
        assert_eq!(bytes(&mut stream, 4), [5, 2, 0, 2]);
        stream.write_all(&[5, 2]).unwrap();
        assert_eq!(bytes(&mut stream, 21), b"\x01\x07Aladdin\x0Bopen sesame");
        stream.write_all(&[1, 0]).unwrap();
        assert_eq!(bytes(&mut stream, 18), b"\x05\x01\x00\x03\x0Bvpn.example\x04\xAA");
        stream.write_all(&[5, 0, 0, 3, 1, b'x', 0, 80]).unwrap();
        stream.write_all(b"hello").unwrap();
    };
    let (address, thread) = proxy(vec![Box::new(step)]);
    let mut stream = socks(address, Some(&account()), "vpn.example", 1194, &PATIENCE).unwrap();
    assert_eq!(bytes(&mut stream, 5), b"hello");
    thread.join().unwrap();
}

#[test]
fn socks_proxies_that_refuse_or_misbehave() {
    type Case = (&'static [&'static [u8]], bool, &'static str);
    let cases: [Case; 9] = [
        (&[b"\x05\xFF"], true, "accepts no password"),
        (&[b"\x05\x02"], false, "asks for a user name"),
        (&[b"\x05\x02", b"\x01\x01"], true, "refuses the user name"),
        (&[b"\x04\x00"], false, "not SOCKS 5"),
        (&[b"\x05\x00", b"\x05\x05\x00\x01\0\0\0\0\0\0"], false, "connection is refused"),
        (&[b"\x05\x00", b"\x05\x02\x00\x01\0\0\0\0\0\0"], false, "rules forbid it"),
        (&[b"\x05\x00", b"\x05\x00\x00\x09"], false, "unknown kind of address"),
        (&[b"\x05\x00", b"\x05\x00\x00\x01\0"], false, "the proxy: "),
        (&[b"\x05"], false, "the proxy: "),
    ];
    for (answers, with_account, error) in cases {
        let step = move |mut stream: TcpStream| {
            for answer in answers {
                let mut request = [0; 64];
                let _ = stream.read(&mut request);
                let _ = stream.write_all(answer);
            }
        };
        let (address, thread) = proxy(vec![Box::new(step)]);
        let account = with_account.then(account);
        let failure = socks(address, account.as_ref(), "192.0.2.1", 1194, &PATIENCE).unwrap_err();
        assert!(failure.to_string().contains(error), "{answers:?}: {failure}");
        thread.join().unwrap();
    }
}

#[test]
fn datagrams_through_an_association() {
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_read_timeout(Some(PATIENCE.patience)).unwrap();
    let port = datagrams.local_addr().unwrap().port();
    let step = move |mut stream: TcpStream| {
        assert_eq!(bytes(&mut stream, 3), [5, 1, 0]);
        stream.write_all(&[5, 0]).unwrap();
        assert_eq!(bytes(&mut stream, 10), [5, 3, 0, 1, 0, 0, 0, 0, 0, 0]);
        let [high, low] = port.to_be_bytes();
        // An unspecified address is the proxy's.
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, high, low]).unwrap();
        let _ = stream.read(&mut [0]);
    };
    let (address, thread) = proxy(vec![Box::new(step)]);
    let (control, at) = associate(address, None, &PATIENCE).unwrap();
    assert_eq!(at, datagrams.local_addr().unwrap());
    let relay = Relay::start(control, at, "192.0.2.1:1194".parse().unwrap()).unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.set_read_timeout(Some(PATIENCE.patience)).unwrap();
    client.send_to(b"question", relay.address()).unwrap();
    let mut buffer = [0; 100];
    let (length, from) = datagrams.recv_from(&mut buffer).unwrap();
    let header = [0, 0, 0, 1, 192, 0, 2, 1, 4, 170];
    assert_eq!(buffer[..length], [&header[..], b"question"].concat());
    // Malformed datagrams and fragments are dropped.
    for bad in [&b"\0\0\0"[..], b"\0\0\x01\x01\xC0\0\x02\x01\x04\xAAx", b"\0\0\0\x07abcdefgh"] {
        datagrams.send_to(bad, from).unwrap();
    }
    datagrams.send_to(&[&header[..], b"answer"].concat(), from).unwrap();
    let (length, from) = client.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..length], from), (&b"answer"[..], relay.address()));
    drop(relay);
    thread.join().unwrap();
}
