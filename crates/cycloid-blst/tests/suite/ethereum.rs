//! The test vectors of Ethereum's consensus layer: keys in G1, proof of possession.

use cycloid::bls12_381::signature::{
    MinPk, PublicKey, Scheme, SecretKey, Signature, aggregate_verify, batch_verify,
    fast_aggregate_verify,
};
use cycloid::bls12_381::{Backend, Error, G1Affine, G2, G2Affine};

use crate::support::{Generator, bytes_of, hex, json_folder, on_every_backend, text};

const SCHEME: Scheme = Scheme::ProofOfPossession;

on_every_backend!(
    sign,
    verify,
    aggregate,
    aggregates,
    fast_aggregates,
    batches,
    deserialization,
    hash_to_g2,
);

fn vectors(folder: &str, count: usize) -> Vec<(String, serde_json::Value)> {
    json_folder(&format!("ethereum-bls12-381-tests/{folder}"), count)
}

fn public_keys<B: Backend>(encodings: &[Vec<u8>]) -> Result<Vec<PublicKey<B, MinPk>>, Error> {
    encodings.iter().map(|bytes| PublicKey::from_bytes(bytes)).collect()
}

fn signatures<B: Backend>(encodings: &[Vec<u8>]) -> Result<Vec<Signature<B, MinPk>>, Error> {
    encodings.iter().map(|bytes| Signature::from_bytes(bytes)).collect()
}

fn sign<B: Backend>() {
    for (name, vector) in vectors("sign", 10) {
        let key = SecretKey::<B, MinPk>::from_bytes(&hex(text(&vector["input"]["privkey"])));
        let message = hex(text(&vector["input"]["message"]));
        match (key, &vector["output"]) {
            (Err(error), output) => {
                assert!(output.is_null(), "{name}");
                assert_eq!(error, Error::ZeroKey);
            }
            (Ok(key), output) => {
                let signature = key.sign(SCHEME, &message).to_bytes();
                assert_eq!(signature.as_slice(), hex(text(output)), "{name}");
            }
        }
    }
}

fn verify<B: Backend>() {
    for (name, vector) in vectors("verify", 29) {
        let input = &vector["input"];
        let result = || -> Result<(), Error> {
            let key = PublicKey::<B, MinPk>::from_bytes(&hex(text(&input["pubkey"])))?;
            let signature = Signature::from_bytes(&hex(text(&input["signature"])))?;
            key.verify(SCHEME, &hex(text(&input["message"])), &signature)
        };
        assert_eq!(result().is_ok(), vector["output"], "{name}");
    }
}

fn aggregate<B: Backend>() {
    for (name, vector) in vectors("aggregate", 6) {
        let sum = signatures::<B>(&bytes_of(&vector["input"]));
        let sum = sum.and_then(|signatures| Signature::aggregate(&signatures));
        match &vector["output"] {
            output if output.is_null() => assert_eq!(sum, Err(Error::Empty), "{name}"),
            output => {
                let sum = sum.expect("signatures").to_bytes();
                assert_eq!(sum.as_slice(), hex(text(output)), "{name}");
            }
        }
    }
}

fn aggregates<B: Backend>() {
    for (name, vector) in vectors("aggregate_verify", 5) {
        let input = &vector["input"];
        let messages = bytes_of(&input["messages"]);
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let result = || -> Result<(), Error> {
            let keys = public_keys::<B>(&bytes_of(&input["pubkeys"]))?;
            let signature = Signature::from_bytes(&hex(text(&input["signature"])))?;
            aggregate_verify(SCHEME, &keys, &messages, &signature)
        };
        assert_eq!(result().is_ok(), vector["output"], "{name}");
    }
}

fn fast_aggregates<B: Backend>() {
    for (name, vector) in vectors("fast_aggregate_verify", 12) {
        let input = &vector["input"];
        let result = || -> Result<(), Error> {
            let keys = public_keys::<B>(&bytes_of(&input["pubkeys"]))?;
            let signature = Signature::from_bytes(&hex(text(&input["signature"])))?;
            fast_aggregate_verify(&keys, &hex(text(&input["message"])), &signature)
        };
        assert_eq!(result().is_ok(), vector["output"], "{name}");
    }
}

fn batches<B: Backend>() {
    for (name, vector) in vectors("batch_verify", 2) {
        let input = &vector["input"];
        let messages = bytes_of(&input["messages"]);
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let result = || -> Result<(), Error> {
            let keys = public_keys::<B>(&bytes_of(&input["pubkeys"]))?;
            let signatures = signatures(&bytes_of(&input["signatures"]))?;
            batch_verify(SCHEME, &keys, &messages, &signatures, &mut Generator(50))
        };
        assert_eq!(result().is_ok(), vector["output"], "{name}");
    }
}

fn deserialization<B: Backend>() {
    for (name, vector) in vectors("deserialization_G1", 13) {
        let point = G1Affine::<B>::from_compressed(&hex(text(&vector["input"]["pubkey"])));
        assert_eq!(point.is_ok(), vector["output"], "{name}");
    }
    for (name, vector) in vectors("deserialization_G2", 15) {
        let point = G2Affine::<B>::from_compressed(&hex(text(&vector["input"]["signature"])));
        assert_eq!(point.is_ok(), vector["output"], "{name}");
    }
}

fn hash_to_g2<B: Backend>() {
    for (name, vector) in vectors("hash_to_G2", 4) {
        let dst = b"QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_";
        let message = text(&vector["input"]["msg"]).as_bytes();
        let point = G2::<B>::hash_to_curve(message, dst).to_affine();
        let coordinate = |name: &str| -> Vec<u8> {
            text(&vector["output"][name]).split(',').rev().flat_map(hex).collect()
        };
        let expected = [coordinate("x"), coordinate("y")].concat();
        assert_eq!(point.to_uncompressed().as_slice(), expected, "{name}");
    }
}
