//! Tunnels through proxies: HTTP with a password, and SOCKS for TCP and UDP.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};

use crate::test_bed::{SERVER, Settings, TestBed, Who};

#[test]
fn tunnels_through_proxies() {
    let bed = TestBed::new();
    std::fs::write(bed.file("proxy.txt"), "user\nsecret\n").expect("a file");
    let file = bed.file("proxy.txt").display().to_string();
    for (server, tcp, directive, account) in [
        (Who::OpenVpn, true, "http-proxy", format!("{file} basic")),
        (Who::OpenVpn, true, "socks-proxy", file.clone()),
        (Who::OpenVpn, false, "socks-proxy", String::new()),
        (Who::Cycloid, false, "socks-proxy", file.clone()),
    ] {
        let port = start_proxy(&bed, directive == "http-proxy");
        let line = format!("{directive} 127.0.0.1 {port} {account}");
        let settings = Settings { tcp, client: line.clone(), ..Settings::default() };
        let mut gate = bed.start(server, true, &settings);
        let mut alice = bed.start(Who::Cycloid, false, &settings);
        bed.assert_reaches(&line, [&mut gate, &mut alice]);
        alice.end("TERM");
        gate.end("TERM");
    }
}

/// Starts a proxy in the client's namespace, and returns its port, which the kernel chooses: the
/// port of an earlier proxy may still be in use. The proxy ends with the test's process.
fn start_proxy(bed: &TestBed, http: bool) -> u16 {
    let (ports, port) = std::sync::mpsc::channel();
    bed.within(true, move || {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        ports.send(listener.local_addr().expect("an address").port()).expect("the test waits");
        for client in listener.incoming() {
            let client = client.expect("a client");
            std::thread::spawn(move || if http { serve_http(client) } else { serve_socks(client) });
        }
    });
    port.recv().expect("the proxy listens")
}

fn serve_http(mut client: TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        client.read_exact(&mut byte).expect("a request");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).expect("text");
    // user:secret
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ="), "{head}");
    assert!(head.starts_with(&format!("CONNECT {SERVER}:1194 ")), "{head}");
    let server = TcpStream::connect((SERVER, 1194)).expect("the server listens");
    client.write_all(b"HTTP/1.0 200 OK\r\n\r\n").expect("the client reads");
    splice(client, server);
}

fn serve_socks(mut client: TcpStream) {
    let take = |client: &mut TcpStream, count| {
        let mut bytes = vec![0; count];
        client.read_exact(&mut bytes).map(|()| bytes).expect("a request")
    };
    let greeting = take(&mut client, 2);
    let methods = take(&mut client, usize::from(greeting[1]));
    if methods.contains(&2) {
        client.write_all(&[5, 2]).expect("the client reads");
        assert_eq!(take(&mut client, 13), b"\x01\x04user\x06secret");
        client.write_all(&[1, 0]).expect("the client reads");
    } else {
        client.write_all(&[5, 0]).expect("the client reads");
    }
    let request = take(&mut client, 10);
    if request[1] == 1 {
        let server = TcpStream::connect((SERVER, 1194)).expect("the server listens");
        client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).expect("the client reads");
        return splice(client, server);
    }
    let inside = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let outside = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    let [high, low] = inside.local_addr().expect("an address").port().to_be_bytes();
    client.write_all(&[5, 0, 0, 1, 127, 0, 0, 1, high, low]).expect("the client reads");
    let back = (inside.try_clone().expect("a socket"), outside.try_clone().expect("a socket"));
    let (peer, mut known) = std::sync::mpsc::channel();
    std::thread::spawn(move || answer(&back.0, &back.1, &mut known));
    let mut buffer = [0; 65535];
    while let Ok((length, from)) = inside.recv_from(&mut buffer) {
        let _ = peer.send(from);
        assert_eq!(buffer[..4], [0, 0, 0, 1]);
        let address: [u8; 4] = buffer[4..8].try_into().expect("an address");
        let port = u16::from_be_bytes([buffer[8], buffer[9]]);
        let _ = outside.send_to(&buffer[10..length], (Ipv4Addr::from(address), port));
    }
}

/// Sends the server's datagrams to the client that was last heard.
fn answer(
    inside: &UdpSocket,
    outside: &UdpSocket,
    known: &mut std::sync::mpsc::Receiver<SocketAddr>,
) {
    let mut peer = known.recv().expect("the client speaks first");
    let mut buffer = [0; 65535];
    while let Ok((length, from)) = outside.recv_from(&mut buffer) {
        peer = known.try_iter().last().unwrap_or(peer);
        let IpAddr::V4(address) = from.ip() else { panic!("{from}") };
        let mut datagram = vec![0, 0, 0, 1];
        datagram.extend(address.octets());
        datagram.extend(from.port().to_be_bytes());
        datagram.extend(&buffer[..length]);
        let _ = inside.send_to(&datagram, peer);
    }
}

fn splice(one: TcpStream, other: TcpStream) {
    let ends = (one.try_clone().expect("a stream"), other.try_clone().expect("a stream"));
    std::thread::spawn(move || copy(ends.0, ends.1));
    copy(other, one);
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(std::net::Shutdown::Both);
}
