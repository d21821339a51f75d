//! The files that the corpus names: keys, certificates, passwords and scripts.
//!
//! Needs the programs `openssl` and `openvpn`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use base64ct::{Base64, Encoding};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams,
    SerialNumber, date_time_ymd,
};

/// Commands that derive the other files, in order.
const COMMANDS: [&str; 31] = [
    // An RSA key, as most providers use, in the forms of PKCS #8 and PKCS #1.
    "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out client.key",
    "openssl req -new -key client.key -subj /C=DE/O=Example/CN=client -out client.csr",
    "openssl x509 -req -in client.csr -CA ca.crt -CAkey ca.key -days 3000 -out client.crt",
    "openssl rsa -traditional -in client.key -out pkcs1.key",
    "openssl pkcs8 -topk8 -in client.key -passout pass:secret -out encrypted.key",
    "openssl rsa -traditional -aes128 -in client.key -passout pass:secret -out encrypted-pkcs1.key",
    "openssl genpkey -algorithm ED25519 -out client-ed25519.key",
    "openssl req -new -key client-ed25519.key -subj /CN=client -out ed25519.csr",
    "openssl x509 -req -in ed25519.csr -CA ca.crt -CAkey ca.key -days 3000 -out client-ed25519.crt",
    "openssl req -x509 -newkey rsa:2048 -sha1 -nodes -keyout sha1.key -days 3000 -subj /CN=old -out sha1-ca.crt",
    "openssl req -x509 -newkey rsa:1024 -nodes -keyout rsa1024.key -days 3000 -subj /CN=small -out rsa1024-ca.crt",
    "openssl x509 -in ca.crt -outform DER -out der.crt",
    "openssl x509 -in ca.crt -text -out ca-with-text.crt",
    "openssl genpkey -genparam -algorithm DH -pkeyopt group:ffdhe2048 -out dh.pem",
    "openssl dhparam -out dh512.pem 512",
    "openssl pkcs12 -export -in client.crt -inkey client.key -certfile ca.crt -passout pass: -out client.p12",
    "openssl pkcs12 -export -legacy -in client.crt -inkey client.key -certfile ca.crt -passout pass: -out client-rc2.p12",
    "openssl pkcs12 -export -legacy -certpbe PBE-SHA1-3DES -keypbe PBE-SHA1-3DES -in client.crt -inkey client.key -certfile ca.crt -passout pass: -out client-3des.p12",
    "openssl pkcs12 -export -in client.crt -inkey client.key -certfile ca.crt -passout pass:secret -out client-passphrase.p12",
    "openssl pkcs12 -export -in client.crt -inkey client.key -passout pass: -out client-without-ca.p12",
    "openssl pkcs12 -export -in server.crt -inkey server.key -certfile ca.crt -passout pass: -out server.p12",
    "openvpn --genkey secret ta.key",
    "openvpn --genkey secret static.key",
    "openvpn --genkey tls-crypt-v2-server v2-server.key",
    "openvpn --tls-crypt-v2 v2-server.key --genkey tls-crypt-v2-client v2-client.key",
    "openvpn --genkey auth-token token.key",
    "openssl rehash authorities",
    // As some providers give to all their customers.
    "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out short.key",
    "openssl req -new -key short.key -subj /CN=short -out short.csr",
    "openssl x509 -req -in short.csr -CA ca.crt -CAkey ca.key -days 3000 -out short.crt",
    "openssl rsa -traditional -in short.key -out short-pkcs1.key",
];

/// Small files and their contents.
const TEXTS: [(&str, &str); 11] = [
    ("userpass.txt", "user\npassword\n"),
    ("user pass.txt", "user\npassword\n"),
    ("user-only.txt", "user\n"),
    ("password.txt", "secret\n"),
    ("passphrase.txt", "secret\n"),
    ("wrong.txt", "wrong\n"),
    ("empty.txt", ""),
    ("extra.conf", "verb 4\n"),
    ("ccd/client", "ifconfig-push 10.8.0.9 10.8.0.10\n"),
    ("hook.sh", "#!/bin/sh\nexit 0\n"),
    ("not-executable.sh", "#!/bin/sh\nexit 0\n"),
];

/// Creates the files in an empty directory.
pub(crate) fn make(directory: &Path) {
    for name in ["sub", "ccd", "revoked", "authorities"] {
        fs::create_dir(directory.join(name)).unwrap();
    }
    for (name, text) in TEXTS {
        fs::write(directory.join(name), text).unwrap();
    }
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory.join("hook.sh"), executable).unwrap();
    authorities(directory);
    fs::copy(directory.join("ca.crt"), directory.join("authorities/ca.pem")).unwrap();
    // A name in Latin-1.
    let name = OsStr::from_bytes(b"autorit\xe9.crt");
    fs::copy(directory.join("ca.crt"), directory.join(name)).unwrap();
    for line in COMMANDS {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().unwrap());
        let output = command.args(words).current_dir(directory).stdin(Stdio::null()).output();
        let output = output.unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(output.status.success(), "{line}: {output:?}");
    }
}

/// Creates the authorities, the server's and a client's certificate, and revocation lists.
fn authorities(directory: &Path) {
    let write = |name: &str, text: &str| fs::write(directory.join(name), text).unwrap();
    let key = KeyPair::generate().unwrap();
    write("ca.key", &key.serialize_pem());
    let authority = CertifiedIssuer::self_signed(authority("Authority"), key).unwrap();
    write("ca.crt", &authority.pem());
    let mut expired = self::authority("Expired");
    expired.not_before = date_time_ymd(2010, 1, 1);
    expired.not_after = date_time_ymd(2020, 1, 1);
    let expired = expired.self_signed(&KeyPair::generate().unwrap()).unwrap();
    write("expired-ca.crt", &expired.pem());
    write("two-authorities.crt", &(authority.pem() + &expired.pem()));
    for (name, purpose) in [
        ("server", ExtendedKeyUsagePurpose::ServerAuth),
        ("client-ec", ExtendedKeyUsagePurpose::ClientAuth),
    ] {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![purpose];
        let key = KeyPair::generate().unwrap();
        write(&format!("{name}.key"), &key.serialize_pem());
        write(&format!("{name}.crt"), &params.signed_by(&key, &authority).unwrap().pem());
    }
    for (name, until) in [("crl.pem", 2090), ("expired-crl.pem", 2020)] {
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2019, 1, 1),
            next_update: date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: Vec::new(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        write(name, &list.signed_by(&authority).unwrap().pem().unwrap());
    }
    // A provider's list has revocation dates without a time zone, whose end is a digit here.
    let revoked = RevokedCertParams {
        serial_number: SerialNumber::from(77),
        revocation_time: date_time_ymd(2016, 7, 8),
        reason_code: None,
        invalidity_date: None,
    };
    let list = CertificateRevocationListParams {
        this_update: date_time_ymd(2019, 1, 1),
        next_update: date_time_ymd(2090, 1, 1),
        crl_number: SerialNumber::from(1),
        issuing_distribution_point: None,
        revoked_certs: vec![revoked],
        key_identifier_method: KeyIdMethod::Sha256,
    };
    let mut list = list.signed_by(&authority).unwrap().der().to_vec();
    let date = b"160708000000Z";
    let place = list.windows(date.len()).position(|part| part == date).expect("the date");
    list[place + date.len() - 1] = b'0';
    let lines = Base64::encode_string(&list);
    let lines = lines.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap());
    let lines = lines.collect::<Vec<_>>().join("\n");
    let text = format!("-----BEGIN X509 CRL-----\n{lines}\n-----END X509 CRL-----\n");
    write("crl-odd-date.pem", &text);
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, name);
    params
}
