//! Ed25519 keys.

use std::ffi::c_int;

use cycloid::scheme::ed25519::{SigningKey, VerifyingKey};
use getrandom::SysRng;

use super::{Key, Reading};
use crate::failure::{Error, Failure};
use crate::ffi::abi::selection;
use crate::ffi::params::{OwnedParams, Params, Request};

/// A key pair or a public key.
#[derive(Clone)]
pub(crate) enum Ed25519Key {
    /// A private key with its public key.
    Pair(Box<SigningKey>),
    /// A public key.
    Public(VerifyingKey),
}

impl Ed25519Key {
    /// Returns the public key.
    pub(crate) const fn public(&self) -> &VerifyingKey {
        match self {
            Self::Pair(key) => key.verifying_key(),
            Self::Public(key) => key,
        }
    }

    /// Returns the private key.
    pub(crate) const fn private(&self) -> Option<&SigningKey> {
        match self {
            Self::Pair(key) => Some(key),
            Self::Public(_) => None,
        }
    }
}

impl Key for Ed25519Key {
    const READ_IS_VALID: bool = true;
    const POSSIBLE: c_int = selection::KEY_PAIR;

    fn read(params: &Params<'_>, selected: c_int, _: Reading) -> Option<Self> {
        let public = match params.find("pub") {
            Some(public) => Some(VerifyingKey::new(public.bytes()?.try_into().ok()?).ok()?),
            None => None,
        };
        match params.find("priv") {
            Some(seed) if selected & selection::PRIVATE_KEY != 0 => {
                let key = Box::new(SigningKey::from_seed(seed.bytes()?.try_into().ok()?));
                let belongs = public.is_none_or(|public| public == *key.verifying_key());
                belongs.then_some(Self::Pair(key))
            }
            _ => public.map(Self::Public),
        }
    }

    fn write(&self) -> OwnedParams {
        let params = OwnedParams::default().with_bytes(c"pub", self.public().as_bytes());
        match self {
            Self::Pair(key) => params.with_bytes(c"priv", key.seed()),
            Self::Public(_) => params,
        }
    }

    fn parts(&self) -> c_int {
        match self {
            Self::Pair(_) => selection::KEY_PAIR,
            Self::Public(_) => selection::PUBLIC_KEY,
        }
    }

    fn part(&self, selected: c_int) -> Option<Self> {
        if selected & selection::PUBLIC_KEY == 0 {
            None
        } else if selected & selection::PRIVATE_KEY != 0 {
            Some(self.clone())
        } else {
            Some(Self::Public(*self.public()))
        }
    }

    fn generate(
        _: &str,
        selected: c_int,
        params: &Params<'_>,
        _: Option<&Self>,
    ) -> Option<Result<Self, Error>> {
        if !params.is_empty() || selected & selection::KEY_PAIR == 0 {
            return None;
        }
        let generated = SigningKey::generate(&mut SysRng).map(|key| Self::Pair(Box::new(key)));
        Some(generated.map_err(|error| Failure::Generation.because(error)))
    }

    fn fill(&self, request: &mut Request<'_>) -> Option<bool> {
        Some(match request.name() {
            "bits" => request.set_number(256),
            "security-bits" => request.set_number(128),
            "max-size" => request.set_number(64),
            // The algorithm hashes the message itself.
            "mandatory-digest" => request.set_text(c""),
            "default-digest" => true,
            "pub" => request.set_bytes(self.public().as_bytes()),
            "priv" => request.set_bytes(self.private()?.seed()),
            _ => return None,
        })
    }

    fn changed(&self, _: &Params<'_>) -> Option<Self> {
        None
    }
}
