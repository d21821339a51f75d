//! dalek as a peer of Cycloid's benchmarks: a process performs one operation repeatedly, and reports
//! its time. docs/runners.md specifies the lines.

use std::fs::File;
use std::io::{self, BufRead, Read};

use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use x25519_dalek::{PublicKey, StaticSecret};

/// Why an operation cannot be prepared or run.
enum Error {
    /// dalek does not have the operation.
    Unsupported,
    /// An input is malformed or refused.
    Failed(&'static str),
}

type Run = Box<dyn FnMut(&[u8]) -> Result<Vec<u8>, Error>>;

/// An operation, ready to run.
struct Job {
    function: &'static str,
    note: &'static str,
    run: Run,
}

const NOTE: &str = "compiled for the processor at hand, with its AVX-512 backend";

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| Some(c.to_digit(16)? as u8)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn member(order: &Value, name: &str) -> Result<Vec<u8>, Error> {
    let text = order.get(name).and_then(Value::as_str).ok_or(Error::Unsupported)?;
    from_hex(text).ok_or(Error::Failed("not hexadecimal"))
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Error> {
    bytes.try_into().map_err(|_| Error::Failed("a wrong length"))
}

/// Draws a key from the kernel.
fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    let drawn = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    drawn.expect("the kernel has random bytes");
    bytes
}

fn agree(secret: &StaticSecret, other: &[u8]) -> Result<Vec<u8>, Error> {
    let shared = secret.diffie_hellman(&PublicKey::from(array::<32>(other)?));
    match shared.was_contributory() {
        true => Ok(shared.as_bytes().to_vec()),
        false => Err(Error::Failed("the shared secret is zero")),
    }
}

/// Splits a list of values of N bytes.
fn list<const N: usize>(bytes: &[u8]) -> Result<Vec<[u8; N]>, Error> {
    bytes.chunks(N).map(array).collect()
}

fn prepare(order: &Value) -> Result<Job, Error> {
    let text = |name: &str| order.get(name).and_then(Value::as_str).unwrap_or_default();
    let bytes = |name: &str| member(order, name);
    if order["way"] != 0 {
        return Err(Error::Unsupported);
    }
    let job = |function, run| Ok(Job { function, note: NOTE, run });
    match (text("curve"), text("operation")) {
        ("Ed25519", "sign") => {
            let key = SigningKey::from_bytes(&array(&bytes("private")?)?);
            let message = bytes("message")?;
            job("SigningKey::sign", Box::new(move |_| Ok(key.sign(&message).to_vec())))
        }
        ("Ed25519", "verify") => {
            let invalid = |_| Error::Failed("an invalid key");
            let key = VerifyingKey::from_bytes(&array(&bytes("public")?)?).map_err(invalid)?;
            let message = bytes("message")?;
            let run = move |signature: &[u8]| {
                let signature = Signature::from_bytes(&array(signature)?);
                let verified = key.verify(&message, &signature);
                verified.map(|()| Vec::new()).map_err(|_| Error::Failed("an invalid signature"))
            };
            job("VerifyingKey::verify", Box::new(run))
        }
        ("Ed25519", "verify-batch") => {
            let invalid = |_| Error::Failed("an invalid key");
            let keys = list(&bytes("public")?)?;
            let keys: Result<Vec<_>, _> = keys.iter().map(VerifyingKey::from_bytes).collect();
            let (keys, message) = (keys.map_err(invalid)?, bytes("message")?);
            if keys.is_empty() || message.len() % keys.len() != 0 {
                return Err(Error::Failed("as many messages as keys are needed"));
            }
            let length = message.len() / keys.len();
            let run = move |signatures: &[u8]| {
                let signatures: Vec<_> =
                    list(signatures)?.iter().map(Signature::from_bytes).collect();
                let messages: Vec<&[u8]> = message.chunks(length).collect();
                let verified = ed25519_dalek::verify_batch(&messages, &signatures, &keys);
                verified.map(|()| Vec::new()).map_err(|_| Error::Failed("an invalid signature"))
            };
            let note = "compiled for the processor at hand; one verdict for the whole batch, which \
                does not say which signature is invalid";
            Ok(Job { function: "verify_batch", note, run: Box::new(run) })
        }
        ("Ed25519", "generate") => {
            let (mut made, message) = (None, bytes("message")?);
            let run = move |other: &[u8]| {
                if other.is_empty() {
                    made = Some(SigningKey::from_bytes(&random()));
                    return Ok(Vec::new());
                }
                let key = made.as_ref().ok_or(Error::Failed("no key was generated"))?;
                let public = key.verifying_key().to_bytes();
                Ok([&public[..], &key.sign(&message).to_bytes()].concat())
            };
            job("SigningKey::from_bytes", Box::new(run))
        }
        ("X25519", "agree") => {
            let secret = StaticSecret::from(array::<32>(&bytes("private")?)?);
            job("StaticSecret::diffie_hellman", Box::new(move |other| agree(&secret, other)))
        }
        ("X25519", "generate") => {
            let mut made = None;
            let run = move |other: &[u8]| {
                if other.is_empty() {
                    let secret = StaticSecret::from(random());
                    let public = PublicKey::from(&secret);
                    made = Some((secret, public));
                    return Ok(Vec::new());
                }
                let (secret, public) =
                    made.as_ref().ok_or(Error::Failed("no key was generated"))?;
                Ok([public.as_bytes(), &agree(secret, other)?[..]].concat())
            };
            job("PublicKey::from", Box::new(run))
        }
        _ => Err(Error::Unsupported),
    }
}

/// Returns the processor time of this thread in nanoseconds.
fn clock() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Performs the runs of an order.
fn turn(job: &mut Job, data: &mut Vec<u8>, order: &Value) -> Result<Value, Error> {
    if order.get("data").is_some() {
        *data = member(order, "data")?;
    }
    let runs = order["runs"].as_u64().ok_or(Error::Failed("no number of runs"))?;
    let mut result = Vec::new();
    let start = clock();
    for _ in 0..runs {
        result = (job.run)(std::hint::black_box(data))?;
    }
    let nanoseconds = clock() - start;
    Ok(json!({ "nanoseconds": nanoseconds, "result": to_hex(&result) }))
}

fn main() {
    let mut orders = io::stdin().lock().lines().map_while(|line| {
        let line = line.ok()?;
        serde_json::from_str::<Value>(&line).ok()
    });
    let Some(first) = orders.next() else { return };
    let prepared = prepare(&first).and_then(|job| Ok((job, member(&first, "data")?)));
    let (mut job, mut data) = match prepared {
        Ok(prepared) => prepared,
        Err(Error::Unsupported) => {
            println!("{}", json!({ "unsupported": "dalek does not have the operation" }));
            return;
        }
        Err(Error::Failed(why)) => {
            println!("{}", json!({ "failed": why }));
            return;
        }
    };
    println!(
        "{}",
        json!({
            "label": "", "function": job.function, "constant_time": !job.function.starts_with("verify_batch"),
            "note": job.note,
        })
    );
    for order in orders {
        match turn(&mut job, &mut data, &order) {
            Ok(done) => println!("{done}"),
            Err(Error::Failed(why)) => println!("{}", json!({ "failed": why })),
            Err(Error::Unsupported) => println!("{}", json!({ "failed": "a member is missing" })),
        }
    }
}
