//! X25519 keys.

use std::ffi::c_int;
use std::sync::Arc;

use cycloid::scheme::x25519::PrivateKey;
use getrandom::SysRng;

use super::{Key, Reading};
use crate::failure::{Error, Failure};
use crate::ffi::abi::selection;
use crate::ffi::params::{OwnedParams, Params, Request};

/// A key pair, a public key, or the bare algorithm, which TLS fills with a peer's public key.
#[derive(Clone)]
pub(crate) struct X25519Key {
    public: Option<[u8; 32]>,
    private: Option<Arc<PrivateKey>>,
}

impl X25519Key {
    /// Returns the public key.
    pub(crate) const fn public(&self) -> Option<&[u8; 32]> {
        self.public.as_ref()
    }

    /// Returns the private key.
    pub(crate) fn private(&self) -> Option<&PrivateKey> {
        self.private.as_deref()
    }

    fn of_private(private: PrivateKey) -> Self {
        Self { public: Some(private.public_key()), private: Some(Arc::new(private)) }
    }
}

impl Key for X25519Key {
    const READ_IS_VALID: bool = true;
    const POSSIBLE: c_int = selection::KEY_PAIR;

    fn read(params: &Params<'_>, selected: c_int, _: Reading) -> Option<Self> {
        let public: Option<[u8; 32]> = match params.find("pub") {
            Some(public) => Some(public.bytes()?.try_into().ok()?),
            None => None,
        };
        match params.find("priv") {
            Some(scalar) if selected & selection::PRIVATE_KEY != 0 => {
                let scalar: [u8; 32] = scalar.bytes()?.try_into().ok()?;
                let key = Self::of_private(PrivateKey::from(scalar));
                (public.is_none() || public == key.public).then_some(key)
            }
            _ => public.map(|public| Self { public: Some(public), private: None }),
        }
    }

    fn write(&self) -> OwnedParams {
        let mut params = OwnedParams::default();
        if let Some(public) = &self.public {
            params = params.with_bytes(c"pub", public);
        }
        if let Some(private) = &self.private {
            params = params.with_bytes(c"priv", private.as_bytes());
        }
        params
    }

    fn parts(&self) -> c_int {
        match (&self.public, &self.private) {
            (_, Some(_)) => selection::KEY_PAIR,
            (Some(_), None) => selection::PUBLIC_KEY,
            (None, None) => 0,
        }
    }

    fn part(&self, selected: c_int) -> Option<Self> {
        let keep = |part| selected & part != 0;
        Some(Self {
            public: self.public.filter(|_| keep(selection::PUBLIC_KEY)),
            private: self.private.clone().filter(|_| keep(selection::PRIVATE_KEY)),
        })
    }

    fn generate(
        _: &str,
        selected: c_int,
        params: &Params<'_>,
        _: Option<&Self>,
    ) -> Option<Result<Self, Error>> {
        // The name of the group says nothing more.
        let is_own = |name: &str| name.eq_ignore_ascii_case("x25519");
        let known = params.iter().all(|it| it.name() == b"group" && it.text().is_some_and(is_own));
        if !known {
            return None;
        }
        if selected & selection::KEY_PAIR == 0 {
            return Some(Ok(Self { public: None, private: None }));
        }
        let generated = PrivateKey::generate(&mut SysRng).map(Self::of_private);
        Some(generated.map_err(|error| Failure::Generation.because(error)))
    }

    fn fill(&self, request: &mut Request<'_>) -> Option<bool> {
        Some(match request.name() {
            "bits" => request.set_number(253),
            "security-bits" => request.set_number(128),
            "max-size" => request.set_number(32),
            "default-digest" | "mandatory-digest" => true,
            "encoded-pub-key" | "pub" => request.set_bytes(self.public.as_ref()?),
            "priv" => request.set_bytes(self.private.as_ref()?.as_bytes()),
            _ => return None,
        })
    }

    fn changed(&self, params: &Params<'_>) -> Option<Self> {
        let mut changed = None;
        for value in params.iter() {
            if value.name() != b"encoded-pub-key" {
                return None;
            }
            let public = value.bytes()?.try_into().ok()?;
            changed = Some(Self { public: Some(public), private: None });
        }
        changed.filter(|_| self.private.is_none())
    }
}
