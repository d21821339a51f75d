//! Keys in a token of SoftHSM, with OpenVPN or Cycloid at the other end.
//!
//! Needs SoftHSM, OpenSC's pkcs11-tool and OpenSSL. Only with the feature `pkcs11`.

use std::fs;
use std::process::Command;

use crate::test_bed::{LIMIT, Running, Settings, TestBed, UP, Who};

const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";
const PIN: &str = "5678";
const EXTENSIONS: &str =
    "keyUsage=digitalSignature,keyEncipherment\nextendedKeyUsage=clientAuth,serverAuth\n";

/// A token named `my token` for keys.
struct Token<'a> {
    bed: &'a TestBed,
}

impl<'a> Token<'a> {
    fn new(bed: &'a TestBed) -> Self {
        let tokens = bed.file("tokens");
        fs::create_dir(&tokens).expect("a directory");
        let text = format!("directories.tokendir = {}\nlog.level = ERROR\n", tokens.display());
        fs::write(bed.file("softhsm.conf"), text).expect("a file");
        fs::write(bed.file("pin"), PIN).expect("a file");
        let token = Self { bed };
        token.run(
            "softhsm2-util",
            &["--init-token", "--free", "--label", "my token", "--so-pin", "1234", "--pin", PIN],
        );
        token
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.bed.directory.path())
            .env("SOFTHSM2_CONF", self.bed.file("softhsm.conf"))
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Makes a key and a certificate of the bed's authority, and stores both under an id.
    fn store(&self, kind: &[&str], id: &str) {
        let key = ["genpkey", "-out", "token.key"];
        self.run("openssl", &[&key[..], kind].concat());
        let request = ["req", "-new", "-key", "token.key", "-subj", "/CN=token", "-out", "t.csr"];
        self.run("openssl", &request);
        let ca = ["-CA", "pki/ca.crt", "-CAkey", "pki/ca.key", "-CAcreateserial"];
        let sign = ["x509", "-req", "-in", "t.csr", "-days", "2", "-outform", "DER"];
        fs::write(self.bed.file("ext"), EXTENSIONS).expect("a file");
        let rest = ["-out", "token.der", "-extfile", "ext"];
        self.run("openssl", &[&sign[..], &ca, &rest].concat());
        self.run(
            "softhsm2-util",
            &[
                "--import",
                "token.key",
                "--token",
                "my token",
                "--label",
                id,
                "--id",
                id,
                "--pin",
                PIN,
            ],
        );
        let tool = ["--module", MODULE, "--login", "--pin", PIN, "--token-label", "my token"];
        let object = ["--write-object", "token.der", "--type", "cert", "--id", id, "--label", id];
        self.run("pkcs11-tool", &[&tool[..], &object].concat());
        fs::remove_file(self.bed.file("token.key")).expect("the key is only in the token");
    }

    /// Starts Cycloid with the key in the token.
    fn launch(&self, server: bool, lines: &str, settings: &Settings) -> Running {
        let file = self.bed.configure(server, settings);
        let text = fs::read_to_string(&file).expect("a file");
        let other = |line: &&str| !line.starts_with("cert ") && !line.starts_with("key ");
        let mut text: String = text.lines().filter(other).map(|line| format!("{line}\n")).collect();
        text += lines;
        fs::write(&file, text).expect("a file");
        let mut command = self.bed.command(!server);
        command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), if server { "server" } else { "client" }]);
        command.arg(&file).env("SOFTHSM2_CONF", self.bed.file("softhsm.conf"));
        Running::start(command, file.with_extension("log"))
    }

    fn lines(&self, id: &str) -> String {
        format!(
            "pkcs11-providers {MODULE}\npkcs11-id '{id}'\naskpass {}\n",
            self.bed.file("pin").display()
        )
    }
}

#[test]
fn every_kind_of_key_in_a_token_signs_handshakes() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    for (id, kind) in [
        ("01", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"][..]),
        ("02", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
        ("03", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]),
        ("04", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]),
    ] {
        token.store(kind, id);
        for version in ["1.2", "1.3"] {
            let both = format!("tls-version-min {version}\ntls-version-max {version}\nreneg-sec 5");
            let settings = Settings { both, ..Settings::default() };
            let lines = token.lines(&format!("pkcs11:token=my%20token;id=%{id}"));
            let mut gate = bed.start(Who::OpenVpn, true, &settings);
            let mut alice = token.launch(false, &lines, &settings);
            alice.wait_for(UP, 1, LIMIT);
            bed.assert_reaches(&format!("key {id}, TLS {version}"), [&mut gate, &mut alice]);
            alice.end("TERM");
            gate.end("TERM");

            let mut gate = token.launch(true, &lines, &settings);
            gate.wait_for(UP, 1, LIMIT);
            let mut alice = bed.start(Who::OpenVpn, false, &settings);
            bed.assert_reaches(&format!("key {id} at a server"), [&mut gate, &mut alice]);
        }
    }
}

/// OpenVPN prints names in another form.
#[test]
fn the_name_that_openvpn_prints_is_understood() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    token.store(&["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "a1b2");
    let printed = token.run("openvpn", &["--show-pkcs11-ids", MODULE]);
    let name = printed.lines().find_map(|line| line.split_once("Serialized id:")).expect("a name");
    let settings = Settings::default();
    let _gate = bed.start(Who::Cycloid, true, &settings);
    let mut alice = token.launch(false, &token.lines(name.1.trim()), &settings);
    alice.wait_for(UP, 1, LIMIT);
    // Also without a name, if there is only one certificate.
    alice.end("TERM");
    let lines = token.lines("x").replace("pkcs11-id 'x'\n", "");
    let mut alice = token.launch(false, &lines, &settings);
    alice.wait_for(UP, 1, LIMIT);
    // The session and the PIN outlast a restart.
    alice.signal("USR1");
    alice.wait_for(UP, 2, LIMIT);
}

#[test]
fn what_is_wrong_with_a_token_is_explained() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    let right = "pkcs11:token=my%20token;id=%01";
    let ended = |lines: &str, words: &[&str]| {
        let mut alice = token.launch(false, lines, &Settings::default());
        alice.wait_for_end();
        let text = alice.text();
        assert!(words.iter().all(|word| text.contains(word)), "{words:?}\n{text}");
        assert!(!text.contains(PIN), "{text}");
    };
    ended(&token.lines(right), &["no token with a certificate"]);
    token.store(&["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "01");
    ended(
        &token.lines("pkcs11:id=%02"),
        &["no token has pkcs11:id=%02", "set pkcs11-id to", "id=%01"],
    );
    ended(&token.lines(right).replace(MODULE, "/no/such.so"), &["/no/such.so"]);
    let without = token.lines(right).replace("askpass", "#");
    ended(&without, &["the token my token needs its PIN", "askpass FILE"]);
    fs::write(bed.file("pin"), "9999").expect("a file");
    ended(&token.lines(right), &["the PIN is wrong", "before the token locks itself"]);
}
