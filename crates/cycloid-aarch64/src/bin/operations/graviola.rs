//! The operations of graviola.

use std::hint::black_box;

use graviola::hashing::{Sha256, Sha384};
use graviola::key_agreement::{p256, p384, x25519};
use graviola::signing::ecdsa::{P256, P384, SigningKey, VerifyingKey};
use graviola::signing::eddsa::Ed25519SigningKey;
use graviola::signing::rsa;

use crate::{MESSAGE, Operation, PRIVATE, RSA, long_private};

/// Defines the operations on a NIST curve.
macro_rules! nist {
    ($name:ident $module:ident $curve:ident $hash:ident $private:expr) => {
        fn $name(what: &str) -> Option<Operation> {
            let agreement = $module::StaticPrivateKey::from_bytes(&$private).ok()?;
            let private_key = $module::StaticPrivateKey::from_bytes(&$private).ok()?;
            let key = SigningKey::<$curve> { private_key };
            let public = agreement.public_key_uncompressed();
            let mut memory = [0; 96];
            let signature = key.sign::<$hash>(&[MESSAGE], &mut memory).ok()?.to_vec();
            Some(match what {
                "sign" => Box::new(move || {
                    black_box(key.sign::<$hash>(&[MESSAGE], &mut memory).expect("signs"));
                }),
                "verify" => {
                    let key = VerifyingKey::<$curve>::from_x962_uncompressed(&public).ok()?;
                    Box::new(move || key.verify::<$hash>(&[MESSAGE], &signature).expect("valid"))
                }
                "agree" => {
                    let peer = $module::PublicKey::from_x962_uncompressed(&public).ok()?;
                    Box::new(move || drop(black_box(agreement.diffie_hellman(&peer))))
                }
                _ => return None,
            })
        }
    };
}

nist!(on_p256 p256 P256 Sha256 PRIVATE);
nist!(on_p384 p384 P384 Sha384 long_private());

/// Returns the operation with that name.
pub fn operation(name: &str) -> Option<Operation> {
    let (of, what) = name.split_once('-')?;
    Some(match of {
        "p256" => on_p256(what)?,
        "p384" => on_p384(what)?,
        "ed25519" => {
            let key = Ed25519SigningKey::from_bytes(&PRIVATE).ok()?;
            let public = key.public_key();
            let signature = key.sign(MESSAGE);
            match what {
                "sign" => Box::new(move || _ = black_box(key.sign(MESSAGE))),
                "verify" => Box::new(move || public.verify(&signature, MESSAGE).expect("valid")),
                _ => return None,
            }
        }
        "x25519" => {
            let key = x25519::StaticPrivateKey::from_array(&PRIVATE);
            let peer = x25519::StaticPrivateKey::from_array(&[7; 32]).public_key();
            Box::new(move || drop(black_box(key.diffie_hellman(&peer))))
        }
        of => {
            let der = RSA.iter().find(|(name, _)| *name == of)?.1;
            let key = rsa::SigningKey::from_pkcs1_der(der).ok()?;
            let mut memory = [0; 512];
            let signature = key.sign_pkcs1_sha256(&mut memory, MESSAGE).ok()?.to_vec();
            let public = key.public_key();
            match what {
                "sign" => Box::new(move || {
                    black_box(key.sign_pkcs1_sha256(&mut memory, MESSAGE).expect("signs"));
                }),
                "verify" => Box::new(move || {
                    public.verify_pkcs1_sha256(&signature, MESSAGE).expect("valid");
                }),
                _ => return None,
            }
        }
    })
}
