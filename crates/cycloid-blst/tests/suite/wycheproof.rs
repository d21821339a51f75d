//! Wycheproof's vectors for signatures: keys in G1, basic and with proof of possession.

use cycloid::bls12_381::signature::{
    MinPk, PublicKey, Scheme, Signature, Variant, aggregate_verify,
};
use cycloid::bls12_381::{Backend, Error};
use serde_json::Value;

use crate::support::{bytes_of, hex, json, on_every_backend, text};

on_every_backend!(basic, possession, aggregates);

/// Returns the scheme of a group of tests.
fn scheme(group: &Value) -> Scheme {
    let suite = text(&group["ciphersuite"]).as_bytes();
    let schemes = [Scheme::Basic, Scheme::MessageAugmentation, Scheme::ProofOfPossession];
    schemes.into_iter().find(|scheme| MinPk::tag(*scheme) == suite).expect("a known scheme")
}

/// Runs `verify` on every test of a file, with its group.
fn run(path: &str, count: usize, verify: impl Fn(&Value, &Value) -> Result<(), Error>) {
    let file = json(path);
    let mut found = 0;
    let mut valid = 0;
    for group in file["testGroups"].as_array().expect("groups") {
        for test in group["tests"].as_array().expect("tests") {
            let expected = match text(&test["result"]) {
                "valid" => true,
                "invalid" => false,
                other => panic!("{other}"),
            };
            assert_eq!(verify(group, test).is_ok(), expected, "{test}");
            found += 1;
            valid += usize::from(expected);
        }
    }
    assert_eq!(found, count);
    assert!(valid > 0 && valid < found);
}

fn single<B: Backend>(group: &Value, test: &Value) -> Result<(), Error> {
    let key = PublicKey::<B, MinPk>::from_bytes(&hex(text(&group["publicKey"]["pk"])))?;
    let signature = Signature::from_bytes(&hex(text(&test["sig"])))?;
    key.verify(scheme(group), &hex(text(&test["msg"])), &signature)
}

fn basic<B: Backend>() {
    run("wycheproof-bls/bls_sig_g2_basic_verify_test.json", 88, single::<B>);
}

fn possession<B: Backend>() {
    run("wycheproof-bls/bls_sig_g2_pop_verify_test.json", 26, single::<B>);
}

fn aggregates<B: Backend>() {
    run("wycheproof-bls/bls_sig_g2_aggregate_verify_test.json", 19, |group, test| {
        let keys: Result<Vec<PublicKey<B, MinPk>>, Error> =
            bytes_of(&test["pubkeys"]).iter().map(|bytes| PublicKey::from_bytes(bytes)).collect();
        let messages = bytes_of(&test["messages"]);
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let signature = Signature::from_bytes(&hex(text(&test["sig"])))?;
        aggregate_verify(scheme(group), &keys?, &messages, &signature)
    });
}
