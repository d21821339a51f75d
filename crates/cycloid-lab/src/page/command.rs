//! The command that makes a number again, from what the record says of itself.

use std::collections::BTreeSet;

use super::measured::Measured;
use crate::peers::{Family, Peer};
use crate::record::{Report, Table};
use crate::suite::rsa::Kind;

/// How the program is run in a clone of the repository.
const RUN: &str = "cargo run --release --";

/// The clients that signatures of the HSM are measured for where nothing else is asked for.
const CLIENTS: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// What measures `tables`, which are of one suite and one record, and nothing else where the suite can
/// be narrowed to them.
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

/// What all suites take.
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

/// What the peers of a suite do.
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

/// `--name a,b`; nothing where there is nothing to name.
fn option<T: ToString>(name: &str, values: impl Iterator<Item = T>) -> Option<String> {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    (!values.is_empty()).then(|| format!("{name} {}", values.join(",")))
}

fn numbers(tables: &[&Table], parameter: &str) -> BTreeSet<u64> {
    tables.iter().filter_map(|table| table.parameters.get(parameter)?.as_u64()).collect()
}

/// As a shell takes them: what else a record may hold is left out.
fn texts(tables: &[&Table], parameter: &str) -> BTreeSet<String> {
    let values = tables.iter().filter_map(|table| table.parameters.get(parameter)?.as_str());
    let plain = |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    values.filter(plain).map(str::to_lowercase).collect()
}

/// How many operations the batches have, by their labels.
fn batches(tables: &[&Table]) -> BTreeSet<u64> {
    let labels = tables.iter().flat_map(|table| &table.records).map(|record| &*record.label);
    labels.filter_map(|label| label.strip_prefix('×')?.parse().ok()).collect()
}
