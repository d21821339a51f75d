//! TLS to PostgreSQL: it is enforced, and only with the right server.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use super::server::{Server, someone_else};
use super::*;

fn openssl(directory: &Path, line: &str) {
    let output = Command::new("openssl").args(line.split(' ')).current_dir(directory).output();
    let output = output.expect("OpenSSL's program is there");
    assert!(output.status.success(), "openssl {line}: {output:?}");
}

const NEW_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";

fn authority(directory: &Path, name: &str) {
    let line = format!("req -x509 {NEW_KEY} -days 2 -subj /CN={name} -keyout {name}.key");
    openssl(directory, &format!("{line} -out {name}.pem"));
}

/// Makes the server's certificate and key.
fn certificate(directory: &Path) {
    openssl(directory, &format!("req {NEW_KEY} -subj /CN=s -keyout server.key -out server.csr"));
    fs::write(directory.join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
    openssl(
        directory,
        "x509 -req -in server.csr -CA own.pem -CAkey own.key -CAcreateserial -days 2 \
         -extfile names -out server.pem",
    );
}

#[test]
fn connections_are_refused_without_tls_to_the_right_server() {
    let files = tempfile::tempdir().unwrap();
    authority(files.path(), "own");
    authority(files.path(), "other");
    certificate(files.path());
    let mut port = 0;
    let server = Server::start_with(|data| {
        for name in ["server.key", "server.pem"] {
            let to = data.join(name);
            fs::copy(files.path().join(name), &to).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((uid, gid)) = someone_else() {
                chown(&to, Some(uid), Some(gid)).unwrap();
            }
        }
        // The port is chosen right before the server takes it, so that nobody else does.
        port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        // The server accepts only TLS over the network.
        fs::write(data.join("pg_hba.conf"), "local all all trust\nhostssl all all all trust\n")
            .unwrap();
        ["ssl=on", "ssl_cert_file=server.pem", "ssl_key_file=server.key", "listen_addresses=*"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("port={port}")])
            .collect()
    });
    let database = server.new_database();
    let url = |host: &str, options: &str| {
        format!("postgres://postgres@{host}:{port}/{database}?{options}")
    };
    let authorities = |name: &str| {
        let path = files.path().join(format!("{name}.pem"));
        format!("sslrootcert={}", path.display().to_string().replace('/', "%2F"))
    };
    let own = authorities("own");
    let store = Store::create_with_cost(&url("127.0.0.1", &own), &passphrase(), Cost::LOWEST);
    store.unwrap();
    for options in [
        format!("sslmode=verify-full&{own}"),
        format!("{own}&sslmode=verify-ca&application_name=x"),
        format!("connect_timeout=10&{own}&sslmode=require"),
        // Naming authorities enforces TLS, whatever `sslmode` says.
        format!("sslmode=disable&{own}"),
    ] {
        let store = Store::open(&url("127.0.0.1", &options));
        store.unwrap_or_else(|error| panic!("{options}: {error}")).unlock(&passphrase()).unwrap();
    }
    for (host, options) in [
        // The server refuses connections without TLS.
        ("127.0.0.1", "sslmode=disable".to_owned()),
        ("127.0.0.1", String::new()),
        // Another authority, or another name.
        ("127.0.0.1", authorities("other")),
        ("localhost", own.clone()),
        // URLs that demand TLS without naming authorities.
        ("127.0.0.1", "sslmode=require".to_owned()),
        ("127.0.0.1", "sslmode=verify-full".to_owned()),
        ("127.0.0.1", authorities("nobody")),
        ("127.0.0.1", "sslrootcert=%2".to_owned()),
    ] {
        assert!(Store::open(&url(host, &options)).is_err(), "{host} {options}");
    }
}
