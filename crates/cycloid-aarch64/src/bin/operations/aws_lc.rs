//! The operations of AWS-LC.

use std::hint::black_box;

use aws_lc_rs::agreement::{self, PrivateKey, UnparsedPublicKey as Peer};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{self, KeyPair, UnparsedPublicKey};

use crate::{MESSAGE, Operation, PRIVATE, RSA};

/// Returns the operation with that name.
pub fn operation(name: &str) -> Option<Operation> {
    let (of, what) = name.split_once('-')?;
    let random = SystemRandom::new();
    Some(match (of, what) {
        ("p256" | "p384" | "p521", "sign" | "verify") => {
            use signature::{ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING};
            use signature::{ECDSA_P384_SHA384_FIXED, ECDSA_P384_SHA384_FIXED_SIGNING};
            use signature::{ECDSA_P521_SHA512_FIXED, ECDSA_P521_SHA512_FIXED_SIGNING};
            let (signing, verifying) = match of {
                "p256" => (&ECDSA_P256_SHA256_FIXED_SIGNING, &ECDSA_P256_SHA256_FIXED),
                "p384" => (&ECDSA_P384_SHA384_FIXED_SIGNING, &ECDSA_P384_SHA384_FIXED),
                _ => (&ECDSA_P521_SHA512_FIXED_SIGNING, &ECDSA_P521_SHA512_FIXED),
            };
            let key = signature::EcdsaKeyPair::generate(signing).ok()?;
            let signed = key.sign(&random, MESSAGE).ok()?.as_ref().to_vec();
            let public = key.public_key().as_ref().to_vec();
            if what == "sign" {
                Box::new(move || _ = black_box(key.sign(&random, MESSAGE)))
            } else {
                let public = UnparsedPublicKey::new(verifying, public).parse().ok()?;
                Box::new(move || public.verify_sig(MESSAGE, &signed).expect("valid"))
            }
        }
        ("p256" | "p384" | "p521" | "x25519", "agree") => {
            let algorithm = match of {
                "p256" => &agreement::ECDH_P256,
                "p384" => &agreement::ECDH_P384,
                "p521" => &agreement::ECDH_P521,
                _ => &agreement::X25519,
            };
            let key = PrivateKey::generate(algorithm).ok()?;
            let peer = key.compute_public_key().ok()?.as_ref().to_vec();
            let peer = Peer::new(algorithm, peer);
            Box::new(move || {
                agreement::agree(&key, &peer, (), |secret| {
                    black_box(secret);
                    Ok(())
                })
                .expect("agrees");
            })
        }
        ("ed25519", _) => {
            let key = signature::Ed25519KeyPair::from_seed_unchecked(&PRIVATE).ok()?;
            let signed = key.sign(MESSAGE);
            let public = key.public_key().as_ref().to_vec();
            match what {
                "sign" => Box::new(move || _ = black_box(key.sign(MESSAGE))),
                "verify" => {
                    let public =
                        UnparsedPublicKey::new(&signature::ED25519, public).parse().ok()?;
                    Box::new(move || public.verify_sig(MESSAGE, signed.as_ref()).expect("valid"))
                }
                _ => return None,
            }
        }
        _ => {
            let der = RSA.iter().find(|(name, _)| *name == of)?.1;
            let key = signature::RsaKeyPair::from_der(der).ok()?;
            let mut memory = vec![0; key.public_modulus_len()];
            key.sign(&signature::RSA_PKCS1_SHA256, &random, MESSAGE, &mut memory).ok()?;
            let public = key.public_key().as_ref().to_vec();
            match what {
                "sign" => Box::new(move || {
                    key.sign(&signature::RSA_PKCS1_SHA256, &random, MESSAGE, &mut memory)
                        .expect("signs");
                }),
                "verify" => {
                    let algorithm = &signature::RSA_PKCS1_2048_8192_SHA256;
                    let public = UnparsedPublicKey::new(algorithm, public).parse().ok()?;
                    Box::new(move || public.verify_sig(MESSAGE, &memory).expect("valid"))
                }
                _ => return None,
            }
        }
    })
}
