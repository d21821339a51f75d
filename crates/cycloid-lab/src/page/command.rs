//! Reconstructs the command that repeats a measurement from the parameters in its record.

use std::collections::BTreeSet;

use super::measured::Measured;
use crate::peers::{Family, Peer};
use crate::record::{Report, Table};
use crate::suite::rsa::Kind;

/// The start of the command, in a clone of the repository.
const RUN: &str = "cargo run --release --";

/// The default numbers of clients for the HSM's signature benchmark.
const CLIENTS: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Returns the command that measures `tables`, which must belong to one suite and one record. It
/// measures more only if the suite's options cannot select just these tables.
pub(super) fn of(tables: &[Measured<'_>]) -> String {
    let Some(Measured { report, table, .. }) = tables.first() else { return String::new() };
    let suite = &*table.suite;
    let mut words = vec![RUN.to_owned(), "bench".into(), suite.into()];
    let tables: Vec<&Table> = tables.iter().map(|measured| measured.table).collect();
    match suite {
        "modexp" => {
            let crt = tables.iter().any(|table| table.parameters.get("crt") == Some(&true.into()));
            // A key has two moduli of half its length.
            let bits = numbers(&tables, "modulus_bits");
            words.extend(option(
                "--bits",
                bits.iter().map(|bits| if crt { bits * 2 } else { *bits }),
            ));
            let exponents = numbers(&tables, "exponent_bits");
            if exponents != bits {
                words.extend(option("--exponent", exponents.into_iter()));
            }
            words.extend(crt.then(|| "--crt".into()));
        }
        "rsa" => {
            words.extend(option("--bits", numbers(&tables, "key_bits").into_iter()));
            let done = |kind: &Kind| {
                tables.iter().any(|table| table.title.ends_with(&format!(": {}", kind.title())))
            };
            let kinds: Vec<&str> = Kind::ALL.into_iter().filter(done).map(Kind::name).collect();
            if kinds.len() < 3 {
                words.extend(option("--operation", kinds.into_iter()));
            }
        }
        "dh" => words.extend(option("--bits", numbers(&tables, "modulus_bits").into_iter())),
        "ec" => {
            words.extend(option("--curve", texts(&tables, "curve").into_iter()));
            let batches = batches(&tables);
            if batches != BTreeSet::from([8]) {
                words.extend(option("--batch", batches.into_iter()));
            }
        }
        "bls" => {
            let part = |table: &&Table| Some(table.title.split_once(": ")?.0.to_owned());
            let parts: BTreeSet<String> = tables.iter().filter_map(part).collect();
            words.extend(option("--part", parts.into_iter()));
        }
        "hsm" => {
            words.extend(option("--key", texts(&tables, "key").into_iter()));
            let clients = numbers(&tables, "clients");
            if clients.iter().ne(CLIENTS.iter()) {
                words.extend(option("--clients", clients.into_iter()));
            }
        }
        _ => {}
    }
    let counted = tables.iter().flat_map(|table| &table.records).any(|r| r.instructions.is_some());
    words.extend(counted.then(|| "--instructions".into()));
    words.extend(common(suite, report));
    words.join(" ")
}

/// Returns the options common to all suites.
fn common(suite: &str, report: &Report) -> Vec<String> {
    let mut words = Vec::new();
    if report.effort != "plain" {
        words.push(format!("--{}", report.effort));
    }
    let environment = &report.environment;
    if environment.level_used != environment.level_detected {
        words.push(format!("--cpu {}", environment.level_used));
    }
    let names = |peers: &mut dyn Iterator<Item = &str>| -> BTreeSet<String> {
        peers.map(str::to_lowercase).collect()
    };
    let asked = names(&mut report.peers.iter().map(|peer| &*peer.name));
    let Some(family) = family(suite) else { return words };
    let usual = names(&mut Peer::ALL.iter().filter(|peer| peer.does(family)).map(|p| p.name()));
    let of_suite: Vec<&str> = asked.intersection(&usual).map(|name| &**name).collect();
    if of_suite.len() < usual.len() {
        words.push(match of_suite.len() {
            0 => "--peers none".into(),
            _ => format!("--peers {}", of_suite.join(",")),
        });
    }
    words
}

/// Returns the family of a suite's peers.
fn family(suite: &str) -> Option<Family> {
    Some(match suite {
        "modexp" => Family::ModExp,
        "rsa" => Family::Rsa,
        "dh" => Family::Dh,
        "ec" => Family::Ec,
        "tls" => Family::Tls,
        "hsm" => Family::Hsm,
        _ => return None,
    })
}

/// Formats `--name a,b`; `None` without values.
fn option<T: ToString>(name: &str, values: impl Iterator<Item = T>) -> Option<String> {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    (!values.is_empty()).then(|| format!("{name} {}", values.join(",")))
}

fn numbers(tables: &[&Table], parameter: &str) -> BTreeSet<u64> {
    tables.iter().filter_map(|table| table.parameters.get(parameter)?.as_u64()).collect()
}

/// Returns the values of a text parameter that are safe in a shell; omits all others.
fn texts(tables: &[&Table], parameter: &str) -> BTreeSet<String> {
    let values = tables.iter().filter_map(|table| table.parameters.get(parameter)?.as_str());
    let plain = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    values.filter(plain).map(str::to_lowercase).collect()
}

/// Returns the numbers of operations per batch, read from the labels.
fn batches(tables: &[&Table]) -> BTreeSet<u64> {
    let labels = tables.iter().flat_map(|table| &table.records).map(|record| &*record.label);
    labels.filter_map(|label| label.strip_prefix('×')?.parse().ok()).collect()
}
