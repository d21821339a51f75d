//! Intermediate authorities below a root, and CRLs of version 1 as `openssl ca` writes them.

use std::fs;
use std::process::Command;

use super::meet;
use super::test_bed::{ALL, LIMIT, Settings, TestBed, UP, Who};

/// Serial numbers of the authorities of the server's certificate and of the client's.
const OF_SERVER: u32 = 5;
const OF_CLIENT: u32 = 6;

fn openssl(bed: &TestBed, line: &str) {
    let output = Command::new("openssl")
        .args(line.split_whitespace())
        .current_dir(bed.directory.path())
        .output()
        .expect("OpenSSL's program");
    assert!(output.status.success(), "openssl {line}: {output:?}");
}

fn issue(bed: &TestBed, name: &str, serial: u32, issuer: &str, kind: &str) {
    openssl(
        bed,
        &format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={name} \
             -keyout {name}.key -out {name}.csr"
        ),
    );
    openssl(
        bed,
        &format!(
            "x509 -req -in {name}.csr -CA {issuer}.pem -CAkey {issuer}.key -set_serial {serial} \
             -days 30 -extfile {kind}.ext -out {name}.pem"
        ),
    );
}

/// Returns an authority's CRL.
fn list(bed: &TestBed, authority: &str, revoked: Option<u32>) -> String {
    let entry = |serial| format!("R\t350101000000Z\t250101000000Z\t{serial:02X}\tunknown\t/CN=x\n");
    fs::write(bed.file("index"), revoked.map_or(String::new(), entry)).expect("a file");
    openssl(
        bed,
        &format!(
            "ca -config ca.cnf -gencrl -cert {authority}.pem -keyfile {authority}.key -out list"
        ),
    );
    fs::read_to_string(bed.file("list")).expect("a list")
}

/// Gives each end a certificate of its own intermediate authority. The returned closure writes the
/// CRLs of all authorities, in which the root revokes the given serial number, and returns the
/// `crl-verify` line.
fn keys(bed: &TestBed) -> impl Fn(Option<u32>) -> String {
    let write = |name: &str, text: &str| fs::write(bed.file(name), text).expect("a file");
    write("authority.ext", "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign,cRLSign\n");
    write("server.ext", "keyUsage=digitalSignature\nextendedKeyUsage=serverAuth\n");
    write("client.ext", "keyUsage=digitalSignature\nextendedKeyUsage=clientAuth\n");
    write(
        "ca.cnf",
        "[ca]\ndefault_ca=it\n[it]\ndatabase=index\ndefault_md=sha256\ndefault_crl_days=30\n",
    );
    openssl(
        bed,
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=root -days 30 \
         -keyout root.key -out root.pem",
    );
    issue(bed, "of-server", OF_SERVER, "root", "authority");
    issue(bed, "of-client", OF_CLIENT, "root", "authority");
    issue(bed, "gate", 2, "of-server", "server");
    issue(bed, "alice", 2, "of-client", "client");
    let read = |name: &str| fs::read_to_string(bed.file(name)).expect("a file");
    for (name, authority) in [("gate", "of-server"), ("alice", "of-client")] {
        write(&format!("{name}.ca"), &read("root.pem"));
        let chain = read(&format!("{name}.pem")) + &read(&format!("{authority}.pem"));
        write(&format!("{name}.cert"), &chain);
    }
    move |revoked| {
        let lists = [list(bed, "root", revoked), list(bed, "of-server", None)];
        let text = lists.concat() + &list(bed, "of-client", None);
        let file = bed.file(&format!("revoked-{}.crl", revoked.unwrap_or(0)));
        fs::write(&file, text).expect("a file");
        format!("crl-verify {}", file.display())
    }
}

#[test]
fn a_revoked_authority_is_refused_by_either_end() {
    let bed = TestBed::new();
    let lists = keys(&bed);
    let (good, of_server, of_client) =
        (lists(None), lists(Some(OF_SERVER)), lists(Some(OF_CLIENT)));
    for (server, client) in ALL {
        let settings = Settings { both: good.clone(), ..Settings::default() };
        meet(&bed, server, client, &settings);
        // Only the refusing end has the CRLs.
        for by_client in [false, true] {
            let mut settings = Settings::default();
            (settings.server, settings.client) = match by_client {
                true => (good.clone(), of_server.clone()),
                false => (of_client.clone(), good.clone()),
            };
            let mut gate = bed.start(server, true, &settings);
            let mut alice = bed.launch(client, false, &settings);
            let (refuses, who) = if by_client { (&mut alice, client) } else { (&mut gate, server) };
            let (authority, reason) = match (who, by_client) {
                (Who::OpenVpn, _) => ("depth=1", "certificate revoked"),
                (Who::Cycloid, true) => ("CN=of-server", "is revoked"),
                (Who::Cycloid, false) => ("CN=of-client", "is revoked"),
            };
            refuses.wait_for(reason, 1, LIMIT);
            assert!(refuses.text().contains(authority), "{}", refuses.text());
            assert!(!alice.text().contains(UP), "{}", alice.text());
        }
    }
}
