//! TLS: OpenSSL's client and server, curl with nginx, and Python.

use std::process::Command;

use crate::support::{BOTH, Place, Server, With, free_port, wait_for_port};

/// Makes a key and a certificate for localhost.
pub fn certificate(place: &Place, algorithm: &str) {
    place.ok(
        With::Stock,
        &format!(
            "req -x509 -newkey {algorithm} -nodes -keyout key.pem -out cert.pem -days 2 \
         -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
        ),
    );
    place.logged("");
}

/// Keys for certificates, and the name in the log.
const CERTIFICATES: [(&str, &str); 5] = [
    ("rsa:2048", "RSA"),
    ("rsa-pss", "RSA"),
    ("ec -pkeyopt ec_paramgen_curve:P-256", "ECDSA"),
    ("ec -pkeyopt ec_paramgen_curve:P-384", "ECDSA"),
    ("ed25519", "ED25519"),
];

const GROUPS: [(&str, &str); 4] =
    [("X25519", "X25519"), ("P-256", "ECDH"), ("P-384", "ECDH"), ("P-521", "ECDH")];

#[test]
fn handshakes_with_openssl() {
    let place = Place::new();
    for (algorithm, name) in CERTIFICATES {
        certificate(&place, algorithm);
        for with in BOTH {
            let server = place.server(with, "-cert cert.pem -key key.pem -quiet");
            let client = if with == With::Cycloid { With::Stock } else { With::Cycloid };
            for (version, (group, agreement)) in
                ["-tls1_2", "-tls1_3"].into_iter().flat_map(|it| GROUPS.map(|group| (it, group)))
            {
                let port = server.port;
                // In TLS 1.2, the list names the curves of certificates as well.
                let certified = ["P-256", "P-384"].into_iter().filter(|it| *it != group);
                let list = certified.fold(group.to_string(), |list, it| list + ":" + it);
                place.ok(
                    client,
                    &format!(
                        "s_client -connect 127.0.0.1:{port} {version} -groups {list} \
                     -CAfile cert.pem -verify_return_error -brief"
                    ),
                );
                let log = String::from_utf8(place.read("log")).expect("the log is text");
                place.write("log", "");
                let signed = if with == With::Cycloid { "sign" } else { "verify" };
                for line in
                    [format!("cycloid {signed} {name}"), format!("cycloid derive {agreement}")]
                {
                    assert!(log.lines().any(|it| it == line), "{version} {group} {line}: {log}");
                }
            }
        }
    }
}

#[test]
fn groups_of_the_default_provider_remain() {
    let place = Place::new();
    certificate(&place, "rsa:2048");
    let server = place.server(
        With::Cycloid,
        "-cert cert.pem -key key.pem -quiet -groups brainpoolP256r1:X448:ffdhe2048",
    );
    for (version, group) in
        [("-tls1_2", "brainpoolP256r1"), ("-tls1_3", "X448"), ("-tls1_3", "ffdhe2048")]
    {
        let port = server.port;
        place.ok(
            With::Stock,
            &format!("s_client -connect 127.0.0.1:{port} {version} -groups {group} -brief"),
        );
    }
    // A certificate that the client does not know.
    let port = server.port;
    certificate(&place, "rsa:2048");
    place.fails(With::Cycloid, &format!(
        "s_client -connect 127.0.0.1:{port} -groups X448 -CAfile cert.pem -verify_return_error -brief"
    ));
}

/// Fetches a page with curl.
pub fn fetch(place: &Place, with: With, port: u16, arguments: &str) -> String {
    let mut curl = place.program("curl", with);
    curl.args(["--silent", "--show-error", "--fail", "--max-time", "60", "--cacert", "cert.pem"]);
    curl.args(arguments.split_whitespace());
    let output = curl.arg(format!("https://localhost:{port}/hello")).output();
    let output = output.expect("curl runs: it is in Debian's package curl");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into()
}

#[test]
fn curl_fetches_from_nginx() {
    let place = Place::new();
    for (algorithm, name) in [("rsa:2048", "RSA"), ("ec -pkeyopt ec_paramgen_curve:P-256", "ECDSA")]
    {
        certificate(&place, algorithm);
        for with in BOTH {
            let port = free_port();
            place.write(
                "nginx.conf",
                &format!(
                    "daemon off; master_process off; pid nginx.pid; error_log stderr;\n\
                 events {{}}\n\
                 http {{ access_log off; client_body_temp_path t1; proxy_temp_path t2;\n\
                 fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;\n\
                 server {{ listen 127.0.0.1:{port} ssl; ssl_certificate cert.pem;\n\
                 ssl_certificate_key key.pem; ssl_protocols TLSv1.2 TLSv1.3;\n\
                 location / {{ return 200 hello; }} }} }}\n"
                ),
            );
            let folder = place.path("");
            let mut nginx = place.program("nginx", with);
            nginx.arg("-p").arg(folder).args(["-c", "nginx.conf", "-e", "stderr"]);
            let _server = Server::start(nginx);
            wait_for_port(port);
            place.write("log", "");
            let client = if with == With::Cycloid { With::Stock } else { With::Cycloid };
            for version in ["--tls-max 1.2", "--tlsv1.3"] {
                assert_eq!(fetch(&place, client, port, version), "hello");
                let log = String::from_utf8(place.read("log")).expect("the log is text");
                place.write("log", "");
                let line = if with == With::Cycloid { "cycloid sign" } else { "cycloid verify" };
                assert!(log.contains(&format!("{line} {name}")), "{version}: {log}");
            }
        }
    }
}

#[test]
fn python_serves_and_connects() {
    let place = Place::new();
    certificate(&place, "ec -pkeyopt ec_paramgen_curve:P-256");
    place.write(
        "talk.py",
        r#"
import socket, ssl, threading
server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
server.load_cert_chain("cert.pem", "key.pem")
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    while True:
        connection, _ = listener.accept()
        try:
            with server.wrap_socket(connection, server_side=True) as tls:
                tls.sendall(tls.recv(9).upper())
        except ssl.SSLError:
            pass
threading.Thread(target=serve, daemon=True).start()
def talk(context):
    with socket.create_connection(listener.getsockname()) as raw:
        with context.wrap_socket(raw, server_hostname="localhost") as tls:
            tls.sendall(b"hello")
            assert tls.recv(9) == b"HELLO"
def talks():
    for _ in range(5):
        talk(ssl.create_default_context(cafile="cert.pem"))
threads = [threading.Thread(target=talks) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
try:
    talk(ssl.create_default_context())
except ssl.SSLCertVerificationError:
    print("refused")
"#,
    );
    let mut python: Command = place.program("python3", With::Cycloid);
    let output = python.arg("talk.py").output().expect("Python runs: it is in Debian's python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.stdout, b"refused\n");
    let log = String::from_utf8(place.read("log")).expect("the log is text");
    let count = |line: &str| log.lines().filter(|it| *it == line).count();
    assert!(count("cycloid sign ECDSA") >= 20, "{log}");
    assert!(count("cycloid verify ECDSA") >= 20, "{log}");
    assert!(count("cycloid derive X25519") >= 40, "{log}");
}
