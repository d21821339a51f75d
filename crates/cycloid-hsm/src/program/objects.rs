//! The daemon's objects, as `cycloid-hsm key` finds and shows them.

use cycloid_command::Stop;
use cycloid_hsm::Curve;
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

fn incomplete(object: u64) -> Stop {
    Stop::failed(
        format!("the daemon sent an incomplete description of object {object}"),
        "use the same version of the program and the daemon",
    )
}

fn number(value: &AttributeValue) -> u32 {
    let bytes: Option<[u8; 8]> = value.value.0.as_slice().try_into().ok();
    bytes.and_then(|bytes| u64::from_le_bytes(bytes).try_into().ok()).unwrap_or(u32::MAX)
}

/// Returns the kind of an object; that of a key as `key generate` takes it.
fn kind(class: u32, key_type: u32, curve: &[u8], modulus: &[u8], length: u32) -> String {
    match (class, key_type) {
        (cko::DATA, _) => "data".into(),
        (cko::CERTIFICATE, _) => "certificate".into(),
        (_, ckk::RSA) => {
            let unused = modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
            format!("rsa-{}", 8 * modulus.len() - unused)
        }
        (_, ckk::DH) => "dh".into(),
        (_, ckk::EC | ckk::EC_EDWARDS | ckk::EC_MONTGOMERY) => {
            Curve::from_parameters(curve).map_or("ec", Curve::name).into()
        }
        (_, ckk::AES) => format!("aes-{}", 8 * u64::from(length)),
        (_, ckk::BLS12_381) => "bls12-381".into(),
        _ => "secret".into(),
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
    kind: String,
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
            cka::EC_PARAMS,
            cka::MODULUS,
            cka::VALUE_LEN,
        ];
        let values = attributes(client, handle, &numbers)?;
        let [class, key_type, id, extractable, label, info, destroyable, kinds @ ..] =
            values.as_slice()
        else {
            return Err(incomplete(handle));
        };
        let [curve, modulus, length] = kinds else { return Err(incomplete(handle)) };
        let truth = |value: &AttributeValue| match value.value.0.as_slice() {
            [byte] => Some(*byte != 0),
            _ => None,
        };
        let (class, key_type) = (number(class), number(key_type));
        Ok(Self {
            handle,
            class,
            key_type,
            id: id.value.0.clone(),
            public_key_info: info.value.0.clone(),
            destroyable: truth(destroyable) != Some(false),
            kind: kind(class, key_type, &curve.value.0, &modulus.value.0, number(length)),
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
        let (handle, kind) = (self.handle, &self.kind);
        let label = String::from_utf8_lossy(&self.label);
        format!("{handle}\t{class}\t{kind}\t{leaves}\t{id}\t{}\n", label.escape_debug())
    }
}
