//! A real daemon in a temporary directory, and helpers for the programs that use it.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test uses some of it")]

pub mod two_daemons;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::daemon::{Server, Settings, create};
use cycloid_hsm::legacy::Legacy;
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{Client, Mechanism, Request, Response, Role, Secret};
use cycloid_hsm::store::Unlocking;

pub const LABEL: &str = "office";
pub const OFFICER_PIN: &str = "officer-pin";
pub const USER_PIN: &str = "user-pin";

/// Programs and the Debian packages that contain them, if the names differ.
const PACKAGES: [(&str, &str); 10] = [
    ("certtool", "gnutls-bin"),
    ("dnssec-verify", "bind9-utils"),
    ("jar", "default-jdk-headless"),
    ("jarsigner", "default-jdk-headless"),
    ("keytool", "default-jdk-headless"),
    ("ldns-signzone", "ldnsutils"),
    ("ods-hsmspeed", "libhsm-bin"),
    ("ods-hsmutil", "libhsm-bin"),
    ("p11tool", "gnutls-bin"),
    ("pkcs11-tool", "opensc"),
];

/// Returns the module's path: next to the tests, or one folder higher.
pub fn module() -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let name = "libcycloid_pkcs11.so";
    let mut folders = test.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    folders.find(|path| path.exists()).expect("the module is built with its tests")
}

/// A daemon whose token has PINs and no objects, and a directory in which programs run.
pub struct TestBed {
    server: Option<Server>,
    socket: PathBuf,
    directory: tempfile::TempDir,
}

impl TestBed {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let unlocking = Unlocking { passphrase: None, key_file: Some(Secret::new(&[7; 32])) };
        let url = format!("sqlite:{}", directory.path().join("keys.db").display());
        let (officer, user) = (OFFICER_PIN.as_bytes(), USER_PIN.as_bytes());
        let store = create(&url, &unlocking, LABEL, officer, user).expect("the token is made");
        let socket = directory.path().join("socket");
        let settings = Settings { socket: socket.clone(), ..Settings::default() };
        let server = Server::start(store, settings).expect("the daemon starts");
        Self { server: Some(server), socket, directory }
    }

    /// Stops the daemon.
    pub fn stop(&mut self) {
        self.server.take().expect("it runs").stop();
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("the file can be written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs a program in the directory, with arguments separated by spaces.
    ///
    /// # Panics
    /// If the program is missing; the message names its package.
    pub fn run(&self, program: &str, arguments: &str) -> Output {
        let mut command = Command::new(program);
        command.args(arguments.split_whitespace()).current_dir(self.directory.path());
        command.env("CYCLOID_HSM_SOCKET", &self.socket).env("LC_ALL", "C");
        // Debian builds BIND without engines, and it fails to start if the configuration has one.
        if !program.starts_with("dnssec-") {
            command.env("OPENSSL_CONF", self.path("openssl.cnf"));
        }
        match command.stdin(std::process::Stdio::null()).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let known = PACKAGES.iter().find(|(name, _)| *name == program);
                let package = known.map_or(program, |(_, package)| package);
                panic!("{program} is missing: apt-get install {package}");
            }
            output => output.unwrap_or_else(|error| panic!("{program}: {error}")),
        }
    }

    /// Runs a program that must succeed, and returns its output.
    pub fn must(&self, program: &str, arguments: &str) -> String {
        let output = self.run(program, arguments);
        let said = said(&output);
        assert!(output.status.success(), "{program} {arguments}\n{}\n{said}", output.status);
        said
    }

    /// Runs a program that must fail, and returns its output.
    pub fn must_fail(&self, program: &str, arguments: &str) -> String {
        let output = self.run(program, arguments);
        let said = said(&output);
        // It must exit by itself: a signal has no code.
        let code = output.status.code().expect("it was not killed");
        assert_ne!(code, 0, "{program} {arguments}\n{said}");
        said
    }

    /// Writes a configuration in which OpenSSL has the module as its engine `pkcs11`.
    pub fn configure_engine(&self) {
        let said = self.must("openssl", "version -e");
        let folder = said.split('"').nth(1).expect("it says where its engines are");
        assert!(
            Path::new(folder).join("pkcs11.so").exists(),
            "OpenSSL's engine is missing: apt-get install libengine-pkcs11-openssl"
        );
        let module = module();
        self.write(
            "openssl.cnf",
            format!(
                "openssl_conf = initial\n\
                 [initial]\nengines = engines\n\
                 [engines]\npkcs11 = pkcs11\n\
                 [pkcs11]\nengine_id = pkcs11\nMODULE_PATH = {}\nPIN = {USER_PIN}\ninit = 0\n\
                 [req]\ndistinguished_name = name\n[name]\n",
                module.display()
            ),
        );
    }

    /// Returns the daemon's own client, with the user logged in.
    pub fn user(&self) -> Client {
        let client = Client::connect(&self.socket, "test").expect("the daemon answers");
        let pin = Secret::new(USER_PIN.as_bytes());
        client.call(&Request::Login { role: Role::User, pin }).expect("the PIN is right");
        client
    }

    /// Returns a client of the daemon, with the officer logged in.
    pub fn officer(&self) -> Client {
        let client = Client::connect(&self.socket, "test").expect("the daemon answers");
        let pin = Secret::new(OFFICER_PIN.as_bytes());
        client
            .call(&Request::Login { role: Role::SecurityOfficer, pin })
            .expect("the PIN is right");
        client
    }

    /// Returns the number of lines of the audit log that contain a text.
    pub fn audited(&self, text: &str) -> usize {
        match self.officer().call(&Request::Audit { from: 1, limit: 1000 }) {
            Ok(Response::Audit { entries }) => {
                entries.iter().filter(|line| line.what.contains(text)).count()
            }
            other => panic!("{other:?}"),
        }
    }

    /// Allows a weak operation, as the officer.
    pub fn allow(&self, weak: Legacy) {
        let client = self.officer();
        client.call(&Request::AllowLegacy { weak, allowed: true }).expect("the officer may");
    }

    /// Writes the public key with an identifier to the file `public.pem`.
    pub fn save_public_key(&self, id: u8) {
        let mut template = Template::new();
        template.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
        template.set(cka::ID, [id]);
        let client = self.user();
        let Ok(Response::Objects { objects, .. }) =
            client.call(&Request::Find { template, page: None })
        else {
            panic!("the daemon does not look for keys");
        };
        let [key] = objects.as_slice() else { panic!("it has {} such keys", objects.len()) };
        let request = Request::Attributes { object: *key, numbers: vec![cka::PUBLIC_KEY_INFO] };
        let Ok(Response::Attributes { values }) = client.call(&request) else { panic!("no key") };
        self.write("public.der", &values[0].value.0);
        self.must("openssl", "pkey -pubin -inform DER -in public.der -out public.pem");
    }

    /// Generates a pair on the token: `RSA` with 2048 bits, or a curve given by its identifier.
    /// Writes the public half to `LABEL.pem` and `public.pem`.
    pub fn generate(&self, label: &str, id: u8, kind: Kind) {
        let client = self.user();
        let mut private = Template::new();
        private.set_bool(cka::TOKEN, true);
        private.set(cka::LABEL, label.as_bytes());
        private.set(cka::ID, [id]);
        let mut public = private.clone();
        let number = match kind {
            Kind::Rsa => {
                public.set_number(cka::MODULUS_BITS, 2048);
                ckm::RSA_PKCS_KEY_PAIR_GEN
            }
            Kind::Ec(curve) => {
                public.set(cka::EC_PARAMS, curve);
                ckm::EC_KEY_PAIR_GEN
            }
        };
        let mechanism = Mechanism { number, parameter: Parameter::None };
        let request = Request::GeneratePair { mechanism, public, private };
        client.call(&request).expect("the keys are made");
        self.save_public_key(id);
        let public = self.read("public.pem");
        self.write(&format!("{label}.pem"), public);
    }

    /// Returns the number of objects of a class.
    pub fn count(&self, class: u32) -> usize {
        let mut template = Template::new();
        template.set_number(cka::CLASS, class.into());
        match self.user().call(&Request::Find { template, page: None }) {
            Ok(Response::Objects { objects, .. }) => objects.len(),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the number of private keys.
    pub fn private_keys(&self) -> usize {
        self.count(cko::PRIVATE_KEY)
    }
}

/// The kind of key to generate.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Rsa,
    Ec(&'static [u8]),
}

pub const P256: Kind = Kind::Ec(&[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7]);
pub const P384: Kind = Kind::Ec(&[6, 5, 0x2b, 0x81, 4, 0, 0x22]);

/// Returns all output of a program.
fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// Asserts that a text contains all the others.
pub fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}
