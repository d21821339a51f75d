//! The daemon's objects, as `cycloid-hsm key` finds and shows them.

use cycloid_command::Stop;
use cycloid_hsm::attribute::{Template, cka, ckk, cko};
use cycloid_hsm::rpc::message::AttributeValue;
use cycloid_hsm::rpc::{Client, Page, Request, Response};

use crate::client::{call, unexpected};

/// Parses an identifier, or draws a random one.
pub(super) fn identifier(hex: Option<&str>) -> Result<Vec<u8>, Stop> {
    let Some(hex) = hex else {
        let mut bytes = vec![0; 16];
        getrandom::fill(&mut bytes).map_err(|error| {
            Stop::failed(format!("cannot draw random bytes: {error}"), "see getrandom(2)")
        })?;
        return Ok(bytes);
    };
    let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    match digits {
        Some(digits) if !digits.is_empty() && digits.len() % 2 == 0 => {
            Ok(digits.chunks(2).map(|pair| (16 * pair[0] + pair[1]) as u8).collect())
        }
        _ => Err(Stop::usage(
            format!("{hex:?} is not an identifier"),
            "give an even number of hexadecimal digits",
        )),
    }
}

/// The number of objects that one request asks for.
const PAGE: u32 = 1 << 16;

pub(super) fn find(client: &Client, template: &Template) -> Result<Vec<u64>, Stop> {
    let mut found = Vec::new();
    loop {
        let page = Some(Page { after: found.last().copied().unwrap_or_default(), most: PAGE });
        match call(client, &Request::Find { template: template.clone(), page })? {
            Response::Objects { objects, more } => {
                let is_over = more != Some(true) || objects.is_empty();
                found.extend(objects);
                if is_over {
                    return Ok(found);
                }
            }
            other => return Err(unexpected(&other)),
        }
    }
}

pub(super) fn attributes(
    client: &Client,
    object: u64,
    numbers: &[u32],
) -> Result<Vec<AttributeValue>, Stop> {
    match call(client, &Request::Attributes { object, numbers: numbers.to_vec() })? {
        Response::Attributes { values } => Ok(values),
        other => Err(unexpected(&other)),
    }
}

fn number(value: &AttributeValue) -> u32 {
    let bytes: Option<[u8; 8]> = value.value.0.as_slice().try_into().ok();
    bytes.and_then(|bytes| u64::from_le_bytes(bytes).try_into().ok()).unwrap_or(u32::MAX)
}

fn kind(class: u32, key_type: u32) -> &'static str {
    match (class, key_type) {
        (cko::DATA, _) => "data",
        (cko::CERTIFICATE, _) => "certificate",
        (_, ckk::RSA) => "rsa",
        (_, ckk::DH) => "dh",
        (_, ckk::EC) => "ec",
        (_, ckk::EC_EDWARDS) => "ed25519",
        (_, ckk::EC_MONTGOMERY) => "x25519",
        (_, ckk::AES) => "aes",
        (_, ckk::BLS12_381) => "bls12-381",
        _ => "secret",
    }
}

/// The displayed attributes of an object.
pub(super) struct Object {
    pub(super) handle: u64,
    pub(super) class: u32,
    pub(super) key_type: u32,
    pub(super) id: Vec<u8>,
    pub(super) public_key_info: Vec<u8>,
    pub(super) destroyable: bool,
    extractable: Option<bool>,
    label: Vec<u8>,
}

impl Object {
    pub(super) fn read(client: &Client, handle: u64) -> Result<Self, Stop> {
        let numbers = [
            cka::CLASS,
            cka::KEY_TYPE,
            cka::ID,
            cka::EXTRACTABLE,
            cka::LABEL,
            cka::PUBLIC_KEY_INFO,
            cka::DESTROYABLE,
        ];
        let values = attributes(client, handle, &numbers)?;
        let [class, key_type, id, extractable, label, info, destroyable] = values.as_slice() else {
            return Err(Stop::failed(
                format!("the daemon sent an incomplete description of object {handle}"),
                "use the same version of the program and the daemon",
            ));
        };
        let truth = |value: &AttributeValue| match value.value.0.as_slice() {
            [byte] => Some(*byte != 0),
            _ => None,
        };
        Ok(Self {
            handle,
            class: number(class),
            key_type: number(key_type),
            id: id.value.0.clone(),
            public_key_info: info.value.0.clone(),
            destroyable: truth(destroyable) != Some(false),
            extractable: truth(extractable),
            label: label.value.0.clone(),
        })
    }

    /// Returns its line in a list: number, class, kind, extractability, identifier, label.
    pub(super) fn line(&self) -> String {
        let class = match self.class {
            cko::PRIVATE_KEY => "private",
            cko::PUBLIC_KEY => "public",
            cko::SECRET_KEY => "secret",
            _ => "-",
        };
        let id: String = self.id.iter().map(|byte| format!("{byte:02x}")).collect();
        let leaves = match self.extractable {
            Some(true) => "extractable",
            Some(false) => "stays",
            None => "-",
        };
        // The length of a SubjectPublicKeyInfo tells Ed448 from Ed25519.
        let kind = match kind(self.class, self.key_type) {
            "ed25519" if self.public_key_info.len() == 69 => "ed448",
            kind => kind,
        };
        let handle = self.handle;
        let label = String::from_utf8_lossy(&self.label);
        format!("{handle}\t{class}\t{kind}\t{leaves}\t{id}\t{}\n", label.escape_debug())
    }
}
