//! Both ends of a tunnel with keys in the project's own HSM, by the steps of `docs/vpn/pkcs11.md`.
//!
//! Needs OpenSC's pkcs11-tool. Only with the feature `pkcs11`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Once;
use std::time::{Duration, Instant};

use crate::test_bed::{LIMIT, Running, Settings, TestBed, UP};

const PIN: &str = "user-pin-1";

/// Returns the directory of the project's programs. Cargo builds those that are missing; the tests
/// of the whole workspace have built them.
fn programs() -> &'static Path {
    static BUILT: Once = Once::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_cycloid-vpn")).parent().expect("a directory");
    BUILT.call_once(|| {
        if !folder.join("cycloid-hsm").exists() || module_in(folder).is_none() {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let mut build = Command::new(cargo);
            build.args(["build", "--quiet", "-p", "cycloid-hsm", "-p", "cycloid-pkcs11"]);
            assert!(build.status().expect("cargo").success());
        }
    });
    folder
}

/// Cargo puts libraries that only tests need into `deps`.
fn module_in(folder: &Path) -> Option<PathBuf> {
    let places = [folder.to_owned(), folder.join("deps")];
    places.map(|place| place.join("libcycloid_pkcs11.so")).into_iter().find(|path| path.exists())
}

fn module() -> String {
    module_in(programs()).expect("it is built").display().to_string()
}

/// A keystore with the label `office`, and its daemon.
struct Hsm<'a> {
    bed: &'a TestBed,
    daemon: Option<Running>,
}

impl<'a> Hsm<'a> {
    fn new(bed: &'a TestBed) -> Self {
        fs::write(bed.file("pin"), format!("{PIN}\n")).expect("a file");
        fs::write(bed.file("officer-pin"), "officer-pin-1\n").expect("a file");
        let mut hsm = Self { bed, daemon: None };
        hsm.hsm("init --label office --officer-pin-file officer-pin --pin-file pin");
        hsm.serve();
        hsm
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        self.set_variables(&mut command);
        command.current_dir(self.bed.directory.path());
        command
    }

    fn set_variables(&self, command: &mut Command) {
        command.env("CYCLOID_HSM_SOCKET", self.bed.file("socket"));
        command.env("CYCLOID_HSM_HOME", self.bed.file("keystore"));
    }

    fn try_hsm(&self, line: &str) -> Output {
        let mut command = self.command(programs().join("cycloid-hsm"));
        command.args(line.split_whitespace()).output().expect("the program starts")
    }

    fn hsm(&self, line: &str) -> String {
        let output = self.try_hsm(line);
        assert!(output.status.success(), "cycloid-hsm {line}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Starts the daemon, and waits until it answers.
    fn serve(&mut self) {
        let mut command = self.command(programs().join("cycloid-hsm"));
        command.arg("serve");
        self.daemon = Some(Running::start(command, self.bed.file("daemon.log")));
        let end = Instant::now() + LIMIT;
        while !self.try_hsm("status").status.success() {
            let log = self.daemon.as_ref().map(Running::text);
            assert!(Instant::now() < end, "the daemon does not answer: {log:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn stop(&mut self) {
        self.daemon.take().expect("a daemon").end("TERM");
    }

    /// Generates a key and has a certificate issued for it by these arguments of `cycloid-vpn pki`.
    /// Stores the certificate beside the key, and writes the profile with the PIN's file.
    fn profile(&self, server: bool, kind: &str, name: &str, id: &str, arguments: &str) -> PathBuf {
        self.hsm(&format!("key generate {kind} --label {name} --id {id} --pin-file pin"));
        let public = self.hsm(&format!("key export {name} --pin-file pin"));
        fs::write(self.bed.file("public.pem"), public).expect("a file");
        let role = if server { "server" } else { "client" };
        self.bed.cycloid(&format!(
            "pki {role} {name} --public-key public.pem --module {} {arguments}",
            module()
        ));
        let mut tool = self.command("pkcs11-tool");
        tool.args(["--module", &module(), "--login", "--pin", PIN, "--token-label", "office"]);
        tool.args(["--write-object", &format!("pki/{name}.crt"), "--type", "cert"]);
        let output = tool.args(["--label", name, "--id", id]).output().expect("pkcs11-tool");
        assert!(output.status.success(), "{output:?}");
        let extension = if server { "conf" } else { "ovpn" };
        let made = self.bed.file(&format!("pki/{name}.{extension}"));
        let text = fs::read_to_string(made).expect("a profile");
        assert!(!text.contains("PRIVATE KEY"), "{text}");
        // The instance's name must be unique on a machine.
        let unique = self.bed.configure(server, &Settings::default());
        let file = self.bed.file("pki").join(unique.file_name().expect("a name"));
        let pin = self.bed.file("pin");
        fs::write(&file, format!("askpass {}\n{text}", pin.display())).expect("a file");
        file
    }

    fn launch(&self, server: bool, file: &Path) -> Running {
        let mut command = self.bed.command(!server);
        self.set_variables(&mut command);
        command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), if server { "server" } else { "client" }]);
        command.arg(file);
        Running::start(command, file.with_extension("log"))
    }
}

const SERVER: &str = "--host 10.99.0.1 --network-ipv6 fd00:8::/64";

#[test]
fn both_ends_have_their_keys_in_the_hsm() {
    let bed = TestBed::new();
    let hsm = Hsm::new(&bed);
    for (number, kind) in [(1, "p-256"), (2, "ed25519"), (3, "rsa-2048"), (4, "p-384")] {
        let (gate, laptop) = (format!("gate-{kind}"), format!("laptop-{kind}"));
        let server = hsm.profile(true, kind, &gate, &format!("0{number}"), SERVER);
        let client = hsm.profile(false, kind, &laptop, &format!("1{number}"), "");
        let mut gate = hsm.launch(true, &server);
        gate.wait_for(UP, 1, LIMIT);
        let mut laptop = hsm.launch(false, &client);
        laptop.wait_for(UP, 1, LIMIT);
        bed.assert_reaches(&format!("{kind} keys in the HSM"), [&mut gate, &mut laptop]);
        laptop.end("TERM");
        gate.end("TERM");
    }
}

/// Each mistake ends with one sentence about it, and one about the next step.
#[test]
fn mistakes_with_the_hsm_are_explained() {
    let bed = TestBed::new();
    let mut hsm = Hsm::new(&bed);
    hsm.profile(true, "p-256", "office-gate", "01", SERVER);
    let client = hsm.profile(false, "p-256", "laptop", "02", "");
    let right = fs::read_to_string(&client).expect("a file");
    let ended = |hsm: &Hsm<'_>, text: &str, words: [&str; 2]| {
        fs::write(&client, text).expect("a file");
        let mut laptop = hsm.launch(false, &client);
        laptop.wait_for_end();
        let log = laptop.text();
        assert!(words.iter().all(|word| log.contains(word)), "{words:?}\n{log}");
        assert!(!log.contains(PIN), "{log}");
    };
    let wrong = bed.file("wrong-pin");
    fs::write(&wrong, "not-the-pin").expect("a file");
    let pin = bed.file("pin").display().to_string();
    ended(
        &hsm,
        &right.replace(&pin, wrong.to_str().expect("text")),
        ["token office: login refused: the PIN is wrong", "correct the PIN"],
    );
    ended(
        &hsm,
        &right.replace("object=laptop", "id=%07"),
        ["no token has pkcs11:id=%07", "id=%02"],
    );
    ended(
        &hsm,
        &right.replace("object=laptop", "token=elsewhere;object=laptop"),
        ["no token has pkcs11:token=elsewhere;object=laptop", "token=office"],
    );
    // The key is gone, and its certificate is there.
    hsm.hsm("key delete laptop --yes --pin-file pin");
    ended(&hsm, &right, ["the token has no private key", "the same id"]);
    hsm.stop();
    ended(&hsm, &right, ["no token is present", "start its daemon"]);
}

/// A tunnel outlasts its daemon: the key stays in use, and a renegotiation succeeds once the daemon
/// is back.
#[test]
fn a_daemon_may_be_away_during_a_tunnel() {
    let bed = TestBed::new();
    let mut hsm = Hsm::new(&bed);
    let server = hsm.profile(true, "p-256", "office-gate", "01", SERVER);
    let client = hsm.profile(false, "p-256", "laptop", "02", "");
    for (file, line) in [(&server, ""), (&client, "reneg-sec 3\nverb 4\n")] {
        // A failed handshake ends at the other end after this time, and another one may begin.
        let text = fs::read_to_string(file).expect("a file");
        fs::write(file, format!("hand-window 15\n{line}{text}")).expect("a file");
    }
    let mut gate = hsm.launch(true, &server);
    gate.wait_for(UP, 1, LIMIT);
    let mut laptop = hsm.launch(false, &client);
    laptop.wait_for("a new key is in use", 1, LIMIT);
    hsm.stop();
    laptop.wait_for("a renegotiation has failed", 1, LIMIT);
    bed.assert_reaches("the daemon is away", [&mut gate, &mut laptop]);
    let renewed = laptop.count("a new key is in use");
    hsm.serve();
    laptop.wait_for("a new key is in use", renewed + 1, LIMIT);
    bed.assert_reaches("the daemon is back", [&mut gate, &mut laptop]);
    assert_eq!(laptop.count(UP), 1, "{}", laptop.text());
}
