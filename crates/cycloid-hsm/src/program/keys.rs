//! `cycloid-hsm key`: lists, generates, imports, exports and destroys keys.

use base64ct::{Base64, Encoding};
use cycloid::scheme::dh::Group;
use cycloid_hsm::attribute::{Template, cka, cko};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{Client, Mechanism, Request, Response, Role, Secret};
use cycloid_hsm::{Code, Curve, key_file};

use crate::arguments::{Generate, Hsm, Import, Key, KeyCommand};
use crate::client::{call, login, unexpected};
use crate::delete;
use crate::objects::{Object, attributes, find, identifier};
use crate::refusal::refused;
use crate::secrets::{Wanted, read_secret, secret};
use cycloid_command::{Stop, output};

pub(super) fn run(hsm: &Hsm, key: &Key) -> Result<(), Stop> {
    // Invalid arguments are reported before a PIN is asked for.
    let generation = match &key.command {
        KeyCommand::Generate(generate) => Some(requests(generate)?),
        KeyCommand::Delete(delete) => {
            delete::may_ask(delete)?;
            None
        }
        _ => None,
    };
    let imported = match &key.command {
        KeyCommand::Import(import) => Some(read_pem(import)?),
        _ => None,
    };
    let client = login(hsm, Role::User, key.pin_file.as_deref())?;
    match (&key.command, generation, imported) {
        (KeyCommand::Generate(_), Some(request), _) => show_made(&client, call(&client, &request)?),
        (KeyCommand::Import(import), _, Some(pem)) => import_pem(&client, import, pem),
        (KeyCommand::Generate(_) | KeyCommand::Import(_), ..) => Ok(()),
        (KeyCommand::List, ..) => list(&client),
        (KeyCommand::Export(select), ..) => export(&client, &select.label),
        (KeyCommand::Delete(delete), ..) => delete::run(&client, delete),
    }
}

fn usage(message: impl Into<String>, hint: &str) -> Stop {
    Stop::usage(message, hint)
}

/// Returns the request that generates the key.
pub(crate) fn requests(generate: &Generate) -> Result<Request, Stop> {
    let id = identifier(generate.id.as_deref())?;
    let mut template = Template::new();
    template.set_bool(cka::TOKEN, true);
    template.set(cka::LABEL, generate.label.as_bytes());
    template.set(cka::ID, id);
    let mut public = template.clone();
    template.set_bool(cka::EXTRACTABLE, generate.extractable);
    if let Some(limit) = generate.rate_limit {
        template.set_number(cka::RATE_LIMIT, limit);
    }
    let mechanism = |number| Mechanism { number, parameter: Parameter::None };
    match generate.kind.as_str() {
        "aes-128" | "aes-256" => {
            template.set_number(cka::VALUE_LEN, if generate.kind == "aes-128" { 16 } else { 32 });
            return Ok(Request::Generate { mechanism: mechanism(ckm::AES_KEY_GEN), template });
        }
        "rsa-1024" | "rsa-1536" | "rsa-2048" | "rsa-3072" | "rsa-4096" => {
            let bits = generate.kind["rsa-".len()..].parse().unwrap_or(0);
            public.set_number(cka::MODULUS_BITS, bits);
            let mechanism = mechanism(ckm::RSA_PKCS_KEY_PAIR_GEN);
            return Ok(Request::GeneratePair { mechanism, public, private: template });
        }
        kind if Group::named(kind).is_some() => {
            let group = Group::named(kind).expect("it was found");
            public.set(cka::PRIME, group.prime_bytes());
            public.set(cka::BASE, group.generator_bytes());
            let mechanism = mechanism(ckm::DH_PKCS_KEY_PAIR_GEN);
            return Ok(Request::GeneratePair { mechanism, public, private: template });
        }
        "bls12-381" => {
            let mechanism = mechanism(ckm::BLS12_381_KEY_PAIR_GEN);
            return Ok(Request::GeneratePair { mechanism, public, private: template });
        }
        _ => {}
    }
    let curve = Curve::named(&generate.kind).ok_or_else(|| {
        usage(
            format!("unknown kind of key {:?}", generate.kind),
            "rsa-2048, p-256 and ed25519 are usual; --help lists all",
        )
    })?;
    public.set(cka::EC_PARAMS, curve.parameters());
    let number = match curve {
        Curve::Ed25519 | Curve::Ed448 => ckm::EC_EDWARDS_KEY_PAIR_GEN,
        Curve::X25519 => ckm::EC_MONTGOMERY_KEY_PAIR_GEN,
        _ => ckm::EC_KEY_PAIR_GEN,
    };
    Ok(Request::GeneratePair { mechanism: mechanism(number), public, private: template })
}

/// Prints a line for each object that a request has made.
fn show_made(client: &Client, made: Response) -> Result<(), Stop> {
    match made {
        Response::Pair { public, private } => show(client, &[public, private]),
        Response::Object { object } => show(client, &[object]),
        other => Err(unexpected(&other)),
    }
}

fn list(client: &Client) -> Result<(), Stop> {
    show(client, &find(client, &Template::new())?)
}

/// Prints a line for each object.
fn show(client: &Client, objects: &[u64]) -> Result<(), Stop> {
    let mut text = String::new();
    for object in objects {
        text.push_str(&Object::read(client, *object)?.line());
    }
    output::print(&text)
}

/// Finds the only public key with this label.
fn only_public(client: &Client, label: &str) -> Result<u64, Stop> {
    let mut template = Template::new();
    template.set(cka::LABEL, label.as_bytes());
    template.set_number(cka::CLASS, cko::PUBLIC_KEY.into());
    match find(client, &template)?.as_slice() {
        [object] => Ok(*object),
        [] => Err(Stop::failed(
            format!("no public key is labelled {label:?}"),
            "list the keys with `cycloid-hsm key list`",
        )),
        several => Err(Stop::failed(
            format!("{} public keys are labelled {label:?}", several.len()),
            "labels need not be unique; a PKCS #11 program can choose by identifier",
        )),
    }
}

fn export(client: &Client, label: &str) -> Result<(), Stop> {
    let object = only_public(client, label)?;
    let values = attributes(client, object, &[cka::PUBLIC_KEY_INFO])?;
    let Some(info) = values.first().filter(|value| value.code == 0 && !value.value.0.is_empty())
    else {
        return Err(Stop::failed(
            "the key has no PEM form",
            "read a BLS12-381 public key through PKCS #11, as CKA_VALUE",
        ));
    };
    let mut text = String::from("-----BEGIN PUBLIC KEY-----\n");
    let encoded = Base64::encode_string(&info.value.0);
    for line in encoded.as_bytes().chunks(64) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    text.push_str("-----END PUBLIC KEY-----\n");
    output::print(&text)
}

/// The longest PEM file: a key of 4096 bits, the longest, has a twentieth of it.
const MAX_PEM: usize = 64 << 10;

/// Reads a PEM file and, if its key is encrypted, decrypts it.
fn read_pem(import: &Import) -> Result<Secret, Stop> {
    let path = import.file.display();
    let pem = read_secret(&import.file)?;
    if pem.len() > MAX_PEM {
        let length = pem.len();
        let text = format!("{path} is no file with a private key: it has {length} bytes");
        return Err(Stop::failed(text, ONE_KEY));
    }
    if !key_file::is_encrypted(&pem) {
        return match &import.passphrase_file {
            Some(_) => Err(Stop::usage(
                format!("the key in {path} needs no passphrase: it is not encrypted as PKCS #8"),
                "leave --passphrase-file out",
            )),
            None => Ok(pem),
        };
    }
    let wanted = Wanted {
        what: "passphrase of the file",
        option: Some("--passphrase-file"),
        variable: None,
    };
    let passphrase = secret(import.passphrase_file.as_deref(), wanted)?;
    match key_file::decrypt(&pem, &passphrase) {
        Ok(key) => Ok(Secret::new(key.as_bytes())),
        Err(error) if error.code == Code::PIN_INCORRECT => Err(Stop::failed(
            format!("{path}: {}", error.detail),
            "try again with the passphrase of this file",
        )),
        Err(error) => Err(Stop::failed(format!("{path}: {error}"), ONE_KEY)),
    }
}

const ONE_KEY: &str = "give a PEM file with one private key";

fn import_pem(client: &Client, import: &Import, pem: Secret) -> Result<(), Stop> {
    let mut template = Template::new();
    template.set_bool(cka::TOKEN, true);
    template.set(cka::LABEL, import.label.as_bytes());
    template.set(cka::ID, identifier(import.id.as_deref())?);
    let made =
        client.call(&Request::Import { pem, template }).map_err(|error| match error.code {
            Code::DATA_INVALID | Code::ATTRIBUTE_VALUE_INVALID | Code::CURVE_NOT_SUPPORTED => {
                Stop::failed(format!("{}: {error}", import.file.display()), ONE_KEY)
            }
            _ => refused(&error),
        })?;
    show_made(client, made)
}
