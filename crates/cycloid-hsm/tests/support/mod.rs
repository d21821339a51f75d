//! A daemon in a temporary directory, and the requests that tests make.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::path::{Path, PathBuf};

use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::daemon::{Server, Settings};
use cycloid_hsm::legacy::Legacy;
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{Bytes, Client, Mechanism, Request, Response, Role, Secret};
use cycloid_hsm::store::{Store, Unlocking};
use cycloid_hsm::{Code, Result};

pub(crate) const OFFICER_PIN: &[u8] = b"officer's pin";
pub(crate) const USER_PIN: &[u8] = b"user's pin";
pub(crate) const AUDITOR_PIN: &[u8] = b"auditor's pin";

/// A temporary directory, removed on drop.
pub(crate) struct Directory(tempfile::TempDir);

impl Directory {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A daemon with a fresh token that has all PINs.
pub(crate) struct Daemon {
    pub(crate) server: Server,
    pub(crate) socket: PathBuf,
    pub(crate) directory: Directory,
}

pub(crate) fn unlocking() -> Unlocking {
    Unlocking { passphrase: None, key_file: Some(Secret::new(&[7; 32])) }
}

impl Daemon {
    pub(crate) fn start() -> Self {
        let directory = Directory::new();
        let url = format!("sqlite:{}", directory.path().join("keys.db").display());
        let store = Store::create(&url, &unlocking()).unwrap();
        let socket = directory.path().join("socket");
        let settings = Settings { socket: socket.clone(), ..Settings::default() };
        let server = Server::start(store, settings).unwrap();
        let daemon = Self { server, socket, directory };
        let client = daemon.client();
        let pin = Secret::new(OFFICER_PIN);
        client.call(&Request::InitToken { pin: pin.clone(), label: "test".into() }).unwrap();
        client.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
        for (role, pin) in [(Role::User, USER_PIN), (Role::Auditor, AUDITOR_PIN)] {
            client.call(&Request::InitPin { role, pin: Secret::new(pin) }).unwrap();
        }
        daemon
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket, "test").unwrap()
    }

    /// Returns a client with the officer's login.
    pub(crate) fn officer(&self) -> Client {
        let client = self.client();
        let pin = Secret::new(OFFICER_PIN);
        client.call(&Request::Login { role: Role::SecurityOfficer, pin }).unwrap();
        client
    }

    /// Allows a weak operation, or no longer.
    pub(crate) fn allow(&self, weak: Legacy, allowed: bool) {
        self.officer().call(&Request::AllowLegacy { weak, allowed }).unwrap();
    }

    pub(crate) fn user(&self) -> Client {
        let client = self.client();
        client.call(&Request::Login { role: Role::User, pin: Secret::new(USER_PIN) }).unwrap();
        client
    }
}

pub(crate) fn mechanism(number: u32) -> Mechanism {
    Mechanism { number, parameter: Parameter::None }
}

/// Returns a template of Booleans.
pub(crate) fn truths(values: &[(u32, bool)]) -> Template {
    let mut template = Template::new();
    values.iter().for_each(|(number, value)| template.set_bool(*number, *value));
    template
}

pub(crate) fn object(response: Result<Response>) -> Result<u64> {
    match response? {
        Response::Object { object } => Ok(object),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn pair(response: Result<Response>) -> Result<(u64, u64)> {
    match response? {
        Response::Pair { public, private } => Ok((public, private)),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn bytes(response: Result<Response>) -> Result<Vec<u8>> {
    match response? {
        Response::Data { data } => Ok(data.to_vec()),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn code<T: std::fmt::Debug>(outcome: Result<T>) -> Code {
    outcome.expect_err("it should have been refused").code
}

pub(crate) const P256: &[u8] = &[6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

/// Generates a pair: an RSA key of a given length, or a key on a curve given by its identifier.
pub(crate) fn generate(client: &Client, kind: &Pair, token: bool) -> (u64, u64) {
    let mut public = truths(&[(cka::TOKEN, token)]);
    let private = truths(&[(cka::TOKEN, token)]);
    let number = match kind {
        Pair::Rsa(bits) => {
            public.set_number(cka::MODULUS_BITS, *bits);
            ckm::RSA_PKCS_KEY_PAIR_GEN
        }
        Pair::Curve(identifier) => {
            public.set(cka::EC_PARAMS, *identifier);
            match *identifier {
                [6, 3, 0x2b, 0x65, 0x70] => ckm::EC_EDWARDS_KEY_PAIR_GEN,
                [6, 3, 0x2b, 0x65, 0x6e] => ckm::EC_MONTGOMERY_KEY_PAIR_GEN,
                _ => ckm::EC_KEY_PAIR_GEN,
            }
        }
        Pair::Bls => ckm::BLS12_381_KEY_PAIR_GEN,
    };
    pair(client.call(&Request::GeneratePair { mechanism: mechanism(number), public, private }))
        .unwrap()
}

pub(crate) enum Pair {
    Rsa(u64),
    Curve(&'static [u8]),
    Bls,
}

pub(crate) fn sign(
    client: &Client,
    key: u64,
    mechanism: &Mechanism,
    data: &[u8],
) -> Result<Vec<u8>> {
    let mechanism = mechanism.clone();
    let data = Bytes(data.to_vec());
    bytes(client.call(&Request::Sign { key, mechanism, data, digested: false }))
}

pub(crate) fn verify(
    client: &Client,
    key: u64,
    mechanism: &Mechanism,
    data: &[u8],
    signature: &[u8],
) -> Result<Response> {
    client.call(&Request::Verify {
        key,
        mechanism: mechanism.clone(),
        data: Bytes(data.to_vec()),
        digested: false,
        signature: Bytes(signature.to_vec()),
    })
}

/// Creates a secret key with a known value.
pub(crate) fn secret_key(
    client: &Client,
    key_type: u32,
    value: &[u8],
    extra: &Template,
) -> Result<u64> {
    let mut template = extra.clone();
    template.set_number(cka::CLASS, cko::SECRET_KEY.into());
    template.set_number(cka::KEY_TYPE, key_type.into());
    template.set(cka::VALUE, value);
    object(client.call(&Request::Create { template }))
}

pub(crate) const AES: u32 = ckk::AES;
