//! Keys on the NIST curves.

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use cycloid::scheme::nist::{Curve, PrivateKey, PublicKey};
use getrandom::SysRng;
use zeroize::Zeroizing;

use super::{Key, Reading};
use crate::failure::{Error, Failure};
use crate::ffi::abi::selection;
use crate::ffi::params::{OwnedParams, Params, Request};

/// A curve, or a key on it.
#[derive(Clone)]
pub(crate) struct EcKey {
    curve: Curve,
    public: Option<PublicKey>,
    private: Option<Arc<PrivateKey>>,
}

impl EcKey {
    /// Returns the curve.
    pub(crate) const fn curve(&self) -> Curve {
        self.curve
    }

    /// Returns the public key.
    pub(crate) const fn public(&self) -> Option<&PublicKey> {
        self.public.as_ref()
    }

    /// Returns the private key.
    pub(crate) fn private(&self) -> Option<&PrivateKey> {
        self.private.as_deref()
    }

    fn of_private(private: PrivateKey) -> Self {
        let (curve, public) = (private.curve(), private.public_key());
        Self { curve, public: Some(public), private: Some(Arc::new(private)) }
    }
}

/// Returns OpenSSL's name of a curve.
const fn name_of(curve: Curve) -> &'static CStr {
    match curve {
        Curve::P224 => c"secp224r1",
        Curve::P256 => c"prime256v1",
        Curve::P384 => c"secp384r1",
        Curve::P521 => c"secp521r1",
    }
}

/// Returns the curve of any of OpenSSL's names for it.
fn curve_of(name: &str) -> Option<Curve> {
    Some(match name.to_ascii_lowercase().as_str() {
        "secp224r1" | "p-224" => Curve::P224,
        "prime256v1" | "secp256r1" | "p-256" => Curve::P256,
        "secp384r1" | "p-384" => Curve::P384,
        "secp521r1" | "p-521" => Curve::P521,
        _ => return None,
    })
}

/// The longest DER form of a signature, in bytes.
pub(crate) const fn longest_signature(curve: Curve) -> usize {
    match curve {
        Curve::P224 => 64,
        Curve::P256 => 72,
        Curve::P384 => 104,
        Curve::P521 => 139,
    }
}

/// Returns whether settings of the key are the usual ones, which this module writes back.
fn is_usual(params: &Params<'_>) -> bool {
    let text = |name, usual: &str| params.find(name).is_none_or(|it| it.text() == Some(usual));
    let number = |name, usual| params.find(name).is_none_or(|it| it.number() == Some(usual));
    text("encoding", "named_curve")
        && text("point-format", "uncompressed")
        && text("group-check", "default")
        && number("use-cofactor-flag", 0)
        && number("include-public", 1)
}

impl Key for EcKey {
    const READ_IS_VALID: bool = true;
    const POSSIBLE: c_int = selection::KEY_PAIR | selection::DOMAIN_PARAMETERS;

    fn read(params: &Params<'_>, selected: c_int, reading: Reading) -> Option<Self> {
        if reading == Reading::Whole && !is_usual(params) {
            return None;
        }
        let curve = curve_of(params.find("group")?.text()?)?;
        let public = match params.find("pub") {
            Some(point) if selected & selection::PUBLIC_KEY != 0 => {
                Some(PublicKey::from_sec1(curve, point.bytes()?).ok()?)
            }
            _ => None,
        };
        let private = match params.find("priv") {
            Some(scalar) if selected & selection::PRIVATE_KEY != 0 => {
                let private = private_key(curve, &scalar.integer()?)?;
                // The two must belong together. Without a public key, OpenSSL has rules of its own.
                if public != Some(private.public_key()) {
                    return None;
                }
                Some(Arc::new(private))
            }
            _ => None,
        };
        Some(Self { curve, public, private })
    }

    fn write(&self) -> OwnedParams {
        let name = name_of(self.curve).to_str().unwrap_or("");
        let mut params = OwnedParams::default().with_text(c"group", name);
        if let Some(public) = &self.public {
            params = params.with_bytes(c"pub", &public.to_uncompressed());
        }
        if let Some(private) = &self.private {
            let mut scalar = Zeroizing::new([0; 66]);
            let scalar = &mut scalar[..self.curve.bytes()];
            if private.to_bytes(scalar).is_ok() {
                params = params.with_integer(c"priv", scalar);
            }
        }
        params
    }

    fn parts(&self) -> c_int {
        let mut parts = selection::DOMAIN_PARAMETERS | selection::OTHER_PARAMETERS;
        if self.public.is_some() {
            parts |= selection::PUBLIC_KEY;
        }
        if self.private.is_some() {
            parts |= selection::PRIVATE_KEY;
        }
        parts
    }

    fn part(&self, selected: c_int) -> Option<Self> {
        let keep = |part| selected & part != 0;
        if !keep(selection::DOMAIN_PARAMETERS) {
            return None;
        }
        Some(Self {
            curve: self.curve,
            public: self.public.filter(|_| keep(selection::PUBLIC_KEY)),
            private: self.private.clone().filter(|_| keep(selection::PRIVATE_KEY)),
        })
    }

    fn generate(
        _: &str,
        selected: c_int,
        params: &Params<'_>,
        template: Option<&Self>,
    ) -> Option<Result<Self, Error>> {
        let mut curve = template.map(Self::curve);
        for value in params.iter() {
            match value.name() {
                b"group" => curve = Some(curve_of(value.text()?)?),
                b"encoding" | b"point-format" | b"group-check" | b"use-cofactor-flag" => {}
                _ => return None,
            }
        }
        let curve = curve.filter(|_| is_usual(params))?;
        if selected & selection::KEY_PAIR == 0 {
            return Some(Ok(Self { curve, public: None, private: None }));
        }
        let generated = PrivateKey::generate(curve, &mut SysRng);
        let outcome = generated.map(Self::of_private);
        Some(outcome.map_err(|error| Failure::Generation.because(error)))
    }

    fn fill(&self, request: &mut Request<'_>) -> Option<bool> {
        Some(match request.name() {
            "group" => request.set_text(name_of(self.curve)),
            "bits" => request.set_number(self.curve.bits() as u32),
            "security-bits" => request.set_number(match self.curve {
                Curve::P224 => 112,
                Curve::P256 => 128,
                Curve::P384 => 192,
                Curve::P521 => 256,
            }),
            "max-size" => request.set_number(longest_signature(self.curve) as u32),
            "default-digest" => request.set_text(c"SHA256"),
            // There is none.
            "mandatory-digest" => true,
            "encoded-pub-key" | "pub" => {
                request.set_bytes(&self.public.as_ref()?.to_uncompressed())
            }
            _ => return None,
        })
    }

    fn changed(&self, params: &Params<'_>) -> Option<Self> {
        let mut changed = None;
        for value in params.iter() {
            if value.name() != b"encoded-pub-key" {
                return None;
            }
            let public = PublicKey::from_sec1(self.curve, value.bytes()?).ok()?;
            changed = Some(Self { curve: self.curve, public: Some(public), private: None });
        }
        // A key pair with another public key is the default provider's to judge.
        changed.filter(|_| self.private.is_none())
    }
}

/// Reads a scalar of any length.
fn private_key(curve: Curve, scalar: &[u8]) -> Option<PrivateKey> {
    let mut bytes = Zeroizing::new([0; 66]);
    let bytes = &mut bytes[..curve.bytes()];
    let excess = scalar.len().saturating_sub(bytes.len());
    let (zeros, scalar) = scalar.split_at(excess);
    if zeros.iter().fold(0, |or, byte| or | byte) != 0 {
        return None;
    }
    let start = bytes.len() - scalar.len();
    bytes[start..].copy_from_slice(scalar);
    PrivateKey::from_bytes(curve, bytes).ok()
}
