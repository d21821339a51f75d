//! Key agreement: shared secrets become keys (PKCS #11 3.0, sections 2.3.17 and 2.4.10).

use std::sync::Arc;

use zeroize::Zeroizing;

use super::{bad_parameter, needs_flag};
use crate::attribute::{Template, cka, ckk};
use crate::crypto;
use crate::daemon::handler::{Asked, Daemon};
use crate::daemon::uses::Use;
use crate::engine::Work;
use crate::key::PublicKey;
use crate::mechanism::{Hash, Parameter, ckd, ckf, ckm};
use crate::object::build::{self, Origin};
use crate::rpc::Bytes;
use crate::rpc::message::{Mechanism, Response};
use crate::{Code, Result};

/// The length of the shortest derived key, in bytes: uses of a shorter one would leak part of the
/// secret.
pub(super) const SHORTEST: u64 = 16;

/// Derives a key by ANSI X9.63 (SEC 1, section 3.6.1).
fn x963(hash: Hash, secret: &[u8], shared: &[u8], length: usize) -> Zeroizing<Vec<u8>> {
    let mut derived = Zeroizing::new(Vec::with_capacity(length + 64));
    for counter in 1u32.. {
        if derived.len() >= length {
            break;
        }
        let input = Zeroizing::new([secret, &counter.to_be_bytes(), shared].concat());
        derived.extend_from_slice(&Zeroizing::new(crypto::digest(hash, &input)));
    }
    derived.truncate(length);
    derived
}

/// Returns the last bytes of a secret, as many as a template requests, or all (PKCS #11 3.0,
/// sections 2.3.17 and 2.4.10).
///
/// Parts of one secret are not independent keys. That reveals nothing more than the whole secret
/// would, which the same call yields with another template; but a part that can be guessed would
/// reveal the rest piece by piece, so there is a shortest.
fn last_bytes(secret: Zeroizing<Vec<u8>>, asked: Option<u64>) -> Result<Zeroizing<Vec<u8>>> {
    let length = asked.unwrap_or(secret.len() as u64);
    if length == secret.len() as u64 {
        return Ok(secret);
    }
    if !(SHORTEST..=secret.len() as u64).contains(&length) {
        return Err(Code::KEY_SIZE_RANGE.because(format!(
            "without a derivation function, the key must have {SHORTEST} to {} bytes",
            secret.len()
        )));
    }
    Ok(Zeroizing::new(secret[secret.len() - length as usize..].to_vec()))
}

/// Returns the bytes of the key that a template requests.
fn derived(
    secret: Zeroizing<Vec<u8>>,
    derivation: u32,
    shared: &[u8],
    template: &Template,
) -> Result<Zeroizing<Vec<u8>>> {
    let asked = template.number(cka::VALUE_LEN)?;
    let hash = match derivation {
        ckd::NULL => return last_bytes(secret, asked),
        ckd::SHA1_KDF => Hash::Sha1,
        ckd::SHA224_KDF => Hash::Sha224,
        ckd::SHA256_KDF => Hash::Sha256,
        ckd::SHA384_KDF => Hash::Sha384,
        ckd::SHA512_KDF => Hash::Sha512,
        ckd::SHA3_224_KDF => Hash::Sha3_224,
        ckd::SHA3_256_KDF => Hash::Sha3_256,
        ckd::SHA3_384_KDF => Hash::Sha3_384,
        ckd::SHA3_512_KDF => Hash::Sha3_512,
        _ => return Err(bad_parameter()),
    };
    let length = asked.unwrap_or(hash.length() as u64);
    if !(SHORTEST..=512).contains(&length) {
        return Err(Code::KEY_SIZE_RANGE.into());
    }
    Ok(x963(hash, &secret, shared, length as usize))
}

impl Daemon {
    pub(in crate::daemon) fn derive(
        self: &Arc<Self>,
        asked: Asked,
        base: u64,
        mechanism: Mechanism,
        template: Template,
    ) {
        let number = mechanism.number;
        let missing = Code::KEY_HANDLE_INVALID;
        let permitted = needs_flag(number, ckf::DERIVE).and_then(|()| {
            self.usable_once(&asked.application, base, cka::DERIVE, number, missing)
        });
        let object = match permitted {
            Err(error) => return asked.reply.send(Err(error)),
            Ok(object) => object,
        };
        let (daemon, application) = (self.clone(), asked.application.clone());
        let agrees =
            matches!(number, ckm::ECDH1_DERIVE | ckm::ECDH1_COFACTOR_DERIVE | ckm::DH_PKCS_DERIVE);
        if !agrees {
            let base = object.clone();
            let derive = move |logged: Result<()>| {
                daemon.later(asked, move |daemon, application| {
                    logged?;
                    daemon.derive_from_secret(application, &base, &mechanism, template)
                });
            };
            return self.admitted_and_logged(application, &object, Use::Derive, derive);
        }
        let prepared = (|| {
            let (derivation, shared, public) = match (number, mechanism.parameter) {
                (ckm::DH_PKCS_DERIVE, Parameter::Data(peer)) => {
                    let key = self.private_key(&object)?;
                    return Ok((key, Work::Dh(peer.0), ckd::NULL, Bytes::default()));
                }
                (ckm::DH_PKCS_DERIVE, _) => return Err(bad_parameter()),
                (_, Parameter::Ecdh { derivation, shared, public }) => (derivation, shared, public),
                _ => return Err(bad_parameter()),
            };
            if derivation == ckd::NULL && !shared.0.is_empty() {
                return Err(bad_parameter());
            }
            let key = self.private_key(&object)?;
            let curve = key.curve().ok_or(Code::KEY_TYPE_INCONSISTENT)?;
            let peer = PublicKey::from_point(curve, &public.0)
                .map_err(|error| Code::PUBLIC_KEY_INVALID.because(error.detail))?;
            Ok((key, Work::Agree(peer.into()), derivation, shared))
        })();
        let (key, work, derivation, shared) = match prepared {
            Err(error) => return asked.reply.send(Err(error)),
            Ok(prepared) => prepared,
        };
        self.logged(&application, &object, Use::Derive, move |logged| {
            if let Err(error) = logged {
                return asked.reply.send(Err(error));
            }
            let by = asked.application.number;
            let later = daemon.clone();
            daemon.submit(by, key, work, move |outcome| match outcome {
                Err(error) => asked.reply.send(Err(error)),
                Ok(secret) => later.later(asked, move |daemon, application| {
                    let value = derived(secret, derivation, &shared.0, &template)?;
                    let key_type = match template.number(cka::KEY_TYPE)? {
                        None => ckk::GENERIC_SECRET,
                        Some(key_type) => {
                            key_type.try_into().map_err(|_| Code::ATTRIBUTE_VALUE_INVALID)?
                        }
                    };
                    let new = build::secret(template, key_type, value, Origin::Derived)?;
                    let object = daemon.keep(application, new, "derived")?;
                    Ok(Response::Object { object })
                }),
            });
        });
    }
}
