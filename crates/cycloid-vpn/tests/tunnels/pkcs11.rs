//! Keys in a token of SoftHSM, with OpenVPN or Cycloid at the other end.
//!
//! Needs SoftHSM, OpenSC's pkcs11-tool, OpenSSL and a C compiler. Only with the feature `pkcs11`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

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

const EC: &[&str] = &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"];

/// A program that replaces the certificates of a token by private ones: those of pkcs11-tool are
/// public. The numbers are those of functions in the module's list.
const MAKE_PRIVATE: &str = r#"
#include <dlfcn.h>
#include <string.h>
typedef unsigned long number;
struct list { unsigned char version[8]; void *functions[68]; };
struct attribute { number type; void *value; number length; };
static struct list *f;
#define CALL(n, ...) (((number (*)())f->functions[n])(__VA_ARGS__))
int main(int count, char **words)
{
    number (*get)(struct list **), slots[9], slot_count = 9, session, objects[9], found, copy;
    number class = 1;
    unsigned char yes = 1;
    struct attribute certificate = { 0, &class, sizeof class }, private = { 2, &yes, 1 };
    void *module = dlopen(words[1], RTLD_NOW);
    if (!module) return 1;
    get = (number (*)(struct list **))dlsym(module, "C_GetFunctionList");
    if (get(&f) || CALL(0, NULL) || CALL(4, 1, slots, &slot_count)) return 2;
    if (CALL(12, slots[0], 6UL, NULL, NULL, &session)) return 3;
    if (CALL(18, session, 1UL, words[2], (number)strlen(words[2]))) return 4;
    if (CALL(26, session, &certificate, 1UL) || CALL(27, session, objects, 9UL, &found)) return 5;
    CALL(28, session);
    for (number i = 0; i < found; i++) {
        number code = CALL(21, session, objects[i], &private, 1UL, &copy);
        if (code || CALL(22, session, objects[i])) return 6;
    }
    return 0;
}
"#;

#[test]
fn a_private_certificate_needs_a_login() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    token.store(EC, "01");
    fs::write(bed.file("private.c"), MAKE_PRIVATE).expect("a file");
    token.run("cc", &["-o", "private", "private.c", "-ldl"]);
    token.run("./private", &[MODULE, PIN]);
    let lines = token.lines("pkcs11:token=my%20token;id=%01");
    let mut alice = token.launch(false, &lines, &Settings::default());
    alice.wait_for("pkcs11-cert-private 1", 1, LIMIT);
    let private = lines.clone() + "pkcs11-cert-private 1\n";
    let wrong = private.replace("my%20token", "other");
    let mut alice = token.launch(false, &wrong, &Settings::default());
    alice.wait_for("no token is that of", 1, LIMIT);
    let settings = Settings::default();
    let mut gate = bed.start(Who::OpenVpn, true, &settings);
    let mut alice = token.launch(false, &private, &settings);
    alice.wait_for(UP, 1, LIMIT);
    bed.assert_reaches("a private certificate", [&mut gate, &mut alice]);
    // The login outlasts a restart.
    alice.signal("USR1");
    alice.wait_for(UP, 2, LIMIT);
}

/// A management client of a program.
struct Manager {
    lines: BufReader<UnixStream>,
}

impl Manager {
    fn new(path: &Path) -> Self {
        let end = Instant::now() + LIMIT;
        loop {
            match UnixStream::connect(path) {
                Ok(stream) => return Self { lines: BufReader::new(stream) },
                Err(error) => assert!(Instant::now() < end, "{}: {error}", path.display()),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn say(&mut self, line: &str) {
        self.lines.get_mut().write_all(format!("{line}\n").as_bytes()).expect("a manager");
    }

    /// Returns the next line with this beginning.
    fn hear(&mut self, beginning: &str) -> String {
        self.lines.get_mut().set_read_timeout(Some(LIMIT)).expect("a time limit");
        loop {
            let mut line = String::new();
            let length = self.lines.read_line(&mut line).expect("a line");
            assert!(length > 0, "no line {beginning}");
            if line.starts_with(beginning) {
                return line.trim_end().to_owned();
            }
        }
    }
}

#[test]
fn the_management_client_chooses_the_certificate_and_gives_the_pin() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    token.store(EC, "01");
    token.store(EC, "02");
    let settings = Settings::default();
    let mut gate = bed.start(Who::OpenVpn, true, &settings);
    let socket = bed.file("manager");
    let lines = format!(
        "pkcs11-providers {MODULE}\npkcs11-id-management\nmanagement {} unix\n\
         management-query-passwords\n",
        socket.display()
    );
    let mut alice = token.launch(false, &lines, &settings);
    let mut manager = Manager::new(&socket);
    manager.hear(">NEED-STR:Need 'pkcs11-id-request' string MSG:");
    manager.say("pkcs11-id-count");
    assert_eq!(manager.hear(">PKCS11ID-COUNT"), ">PKCS11ID-COUNT:2");
    // OpenVPN names them in the same way.
    let printed = token.run("openvpn", &["--show-pkcs11-ids", MODULE]);
    let mut chosen = None;
    for index in 0..2 {
        manager.say(&format!("pkcs11-id-get {index}"));
        let entry = manager.hear(">PKCS11ID-ENTRY");
        let name = entry.split('\'').nth(3).expect("a name").to_owned();
        assert!(printed.contains(&name), "{name}\n{printed}");
        chosen = Some(name).filter(|name| name.ends_with("/02")).or(chosen);
    }
    let chosen = chosen.expect("the certificate 02").replace('\\', "\\\\");
    manager.say(&format!("needstr pkcs11-id-request {chosen}"));
    manager.hear("SUCCESS: 'pkcs11-id-request'");
    manager.hear(">PASSWORD:Need 'my token token' password");
    manager.say(&format!("password \"my token token\" {PIN}"));
    alice.wait_for(UP, 1, LIMIT);
    bed.assert_reaches("the chosen certificate", [&mut gate, &mut alice]);

    // A wrong name ends the program, and shows the right ones.
    alice.end("TERM");
    let mut alice = token.launch(false, &lines, &settings);
    let mut manager = Manager::new(&socket);
    manager.hear(">NEED-STR");
    manager.say("needstr pkcs11-id-request pkcs11:id=%09");
    alice.wait_for("no token has pkcs11:id=%09", 1, LIMIT);
    manager.hear(">FATAL:");
}

/// A module around SoftHSM's, with a signature of its own.
const WRAPPED_MODULE: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
typedef unsigned long (*sign)(unsigned long, unsigned char *, unsigned long, unsigned char *,
                              unsigned long *);
/* A version of two bytes, and pointers to 68 functions; C_Sign has the number 43. */
struct list { unsigned char version[8]; void *functions[68]; };
static struct list own;
static sign real_sign;
static void note(const char *text)
{
    FILE *file = fopen("NOTES", "a");
    if (file) { fputs(text, file); fclose(file); }
}
static unsigned long own_sign(unsigned long session, unsigned char *data, unsigned long length,
                              unsigned char *signature, unsigned long *signature_length)
{
    SIGN
    return real_sign(session, data, length, signature, signature_length);
}
unsigned long C_GetFunctionList(struct list **list)
{
    unsigned long (*get)(struct list **);
    void *module = dlopen("MODULE", RTLD_NOW);
    if (!module) return 6;
    get = (unsigned long (*)(struct list **))dlsym(module, "C_GetFunctionList");
    struct list *found;
    unsigned long code = get(&found);
    if (code) return code;
    memcpy(&own, found, sizeof own);
    real_sign = (sign)own.functions[43];
    own.functions[43] = (void *)own_sign;
    *list = &own;
    return 0;
}
"#;

/// Its signatures take seconds.
const SLOWLY: &str = r#"note("begins\n"); sleep(4); note("ends\n");"#;

/// It does not sign while a file is there.
const WHILE_THERE: &str = r#"if (access("GONE", F_OK) == 0) { note("gone\n"); return 0x32; }"#;

impl Token<'_> {
    /// Compiles a module whose signature begins with this, and returns the lines that use it.
    fn wrap(&self, sign: &str) -> String {
        let file = |name| self.bed.file(name).to_str().expect("text").to_owned();
        let source = WRAPPED_MODULE
            .replace("SIGN", sign)
            .replace("NOTES", &file("notes"))
            .replace("GONE", &file("gone"))
            .replace("MODULE", MODULE);
        fs::write(self.bed.file("wrapped.c"), source).expect("a file");
        self.run("cc", &["-shared", "-fPIC", "-o", "wrapped.so", "wrapped.c", "-ldl"]);
        self.lines("pkcs11:token=my%20token;id=%01").replace(MODULE, &file("wrapped.so"))
    }
}

/// An end whose token signs slowly, and its management client.
struct Slow {
    end: Running,
    manager: Manager,
    notes: PathBuf,
}

impl Slow {
    fn launch(bed: &TestBed, token: &Token<'_>, server: bool, settings: &Settings) -> Self {
        token.store(EC, "01");
        let notes = bed.file("notes");
        let socket = bed.file("manager");
        let lines = token.wrap(SLOWLY) + &format!("management {} unix\n", socket.display());
        let end = token.launch(server, &lines, settings);
        Self { end, manager: Manager::new(&socket), notes }
    }

    fn has_said(&self, text: &str) -> bool {
        fs::read_to_string(&self.notes).is_ok_and(|notes| notes.contains(text))
    }

    /// Waits until the token signs, and asserts that the program answers meanwhile.
    fn assert_answers_meanwhile(&mut self, question: &str, answer: &str) {
        let end = Instant::now() + LIMIT;
        while !self.has_said("begins") {
            assert!(Instant::now() < end, "no signature was asked for\n{}", self.end.text());
            std::thread::sleep(Duration::from_millis(10));
        }
        self.manager.say(question);
        self.manager.hear(answer);
        assert!(!self.has_said("ends"), "the answer came after the signature");
    }
}

#[test]
fn a_slow_token_does_not_block_a_server() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    let settings = Settings::default();
    let mut gate = Slow::launch(&bed, &token, true, &settings);
    gate.end.wait_for(UP, 1, LIMIT);
    let mut alice = bed.launch(Who::OpenVpn, false, &settings);
    gate.assert_answers_meanwhile("load-stats", "SUCCESS: nclients=");
    alice.wait_for(UP, 1, LIMIT);
    bed.assert_reaches("a slow token", [&mut gate.end, &mut alice]);
}

#[test]
fn a_slow_token_does_not_block_a_client() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    let settings = Settings::default();
    let mut gate = bed.start(Who::OpenVpn, true, &settings);
    let mut alice = Slow::launch(&bed, &token, false, &settings);
    alice.assert_answers_meanwhile("pid", "SUCCESS: pid=");
    alice.end.wait_for(UP, 1, LIMIT);
    bed.assert_reaches("a slow token", [&mut gate, &mut alice.end]);

    // A signal ends it without waiting for the token.
    fs::remove_file(&alice.notes).expect("the notes");
    alice.end.signal("USR1");
    let end = Instant::now() + LIMIT;
    while !alice.has_said("begins") {
        assert!(Instant::now() < end, "{}", alice.end.text());
        std::thread::sleep(Duration::from_millis(10));
    }
    alice.end.signal("TERM");
    alice.end.wait_for_end();
    assert!(!alice.has_said("ends"), "the end came after the signature");
}

/// The other end does not wait for the rest of the handshake: it learns of the failure, and the
/// tunnel goes on with the old key until the token is back.
#[test]
fn a_token_that_is_gone_at_a_renegotiation_keeps_the_tunnel() {
    let bed = TestBed::new();
    let token = Token::new(&bed);
    token.store(EC, "01");
    let lines = token.wrap(WHILE_THERE);
    let gone = bed.file("gone");
    for other in [Who::OpenVpn, Who::Cycloid] {
        for (has_token, version) in [(false, "1.2"), (false, "1.3"), (true, "1.2"), (true, "1.3")] {
            let what = format!("{other:?}, the server has the token: {has_token}, TLS {version}");
            // Only the end with the token begins.
            let own = "reneg-sec 5";
            let settings = Settings {
                both: format!("tls-version-min {version}\ntls-version-max {version}"),
                server: if has_token { own.into() } else { "reneg-sec 0".into() },
                client: if has_token { "reneg-sec 0".into() } else { own.into() },
                ..Settings::default()
            };
            let [mut gate, mut alice] = [true, false].map(|server| {
                let mut end = match server == has_token {
                    true => token.launch(server, &lines, &settings),
                    false => bed.launch(other, server, &settings),
                };
                end.wait_for(UP, 1, LIMIT);
                end
            });
            let (own, its_peer) =
                if has_token { (&mut gate, &mut alice) } else { (&mut alice, &mut gate) };
            fs::write(&gone, "").expect("a file");
            let begun = Instant::now();
            own.wait_for("a renegotiation has failed", 1, LIMIT);
            assert!(own.text().contains("the token: DeviceRemoved"), "{what}\n{}", own.text());
            let told = match other {
                Who::OpenVpn => "TLS Error: TLS handshake failed",
                Who::Cycloid => "a renegotiation has failed",
            };
            its_peer.wait_for(told, 1, LIMIT);
            // Without the message, it would wait for `hand-window`, which is a minute.
            assert!(begun.elapsed() < Duration::from_secs(50), "{what}\n{}", its_peer.text());
            bed.assert_reaches(&what, [&mut gate, &mut alice]);
            fs::remove_file(&gone).expect("the file");
            bed.assert_reaches_again(&what, [&mut gate, &mut alice]);
            alice.end("TERM");
            gate.end("TERM");
        }
    }
}
