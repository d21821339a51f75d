//! RSA keys, for any scheme or for RSASSA-PSS only.

use std::ffi::{CStr, c_int};

use cycloid::scheme::rsa::{
    KeyPair, MAX_BITS, MIN_BITS, OwnedPublicKey, PrivateComponents, PrivateKey,
    private_key_der_length,
};
use pkcs1::RsaPrivateKeyRef;
use zeroize::Zeroizing;

use super::rsa_pair::RsaPair;
use super::{Key, Reading};
use crate::failure::{Error, Failure};
use crate::ffi::abi::selection;
use crate::ffi::params::{OwnedParams, Params, Request};
use crate::random;

/// A key pair or a public key, without restrictions on hash functions and salts. Keys with such
/// restrictions, with more than two primes or shorter than 2048 bits are the default provider's.
#[derive(Clone)]
pub(crate) enum RsaKey {
    /// A private key with its public key.
    Pair(RsaPair),
    /// A public key.
    Public(OwnedPublicKey),
}

impl RsaKey {
    /// Returns the public key.
    pub(crate) fn public(&self) -> &OwnedPublicKey {
        match self {
            Self::Pair(pair) => pair.key().public_key(),
            Self::Public(key) => key,
        }
    }

    /// Returns the private key, with the blindings of this process.
    pub(crate) fn private(&self) -> Option<KeyPair> {
        match self {
            Self::Pair(pair) => Some(pair.of_this_process()),
            Self::Public(_) => None,
        }
    }

    /// Returns the private key, for operations with blindings of the caller's.
    pub(crate) fn private_key(&self) -> Option<&PrivateKey<Box<[u64]>>> {
        match self {
            Self::Pair(pair) => Some(pair.key().private_key()),
            Self::Public(_) => None,
        }
    }
}

/// The names of the parts of a private key, in the order of [`parts_of`].
const PARTS: [&CStr; 8] = [
    c"n",
    c"e",
    c"d",
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-coefficient1",
];

fn parts_of<'a>(key: &'a RsaPrivateKeyRef<'_>) -> [&'a [u8]; 8] {
    [
        key.modulus.as_bytes(),
        key.public_exponent.as_bytes(),
        key.private_exponent.as_bytes(),
        key.prime1.as_bytes(),
        key.prime2.as_bytes(),
        key.exponent1.as_bytes(),
        key.exponent2.as_bytes(),
        key.coefficient.as_bytes(),
    ]
}

/// Returns whether parameters restrict the key to hash functions or salts of RSASSA-PSS.
fn is_restricted(params: &Params<'_>) -> bool {
    let restrictions = ["digest", "digest-props", "mgf", "mgf1-digest", "saltlen"];
    restrictions.into_iter().any(|name| params.find(name).is_some())
}

impl Key for RsaKey {
    const READ_IS_VALID: bool = false;
    const POSSIBLE: c_int = selection::KEY_PAIR;

    fn read(params: &Params<'_>, selected: c_int, _: Reading) -> Option<Self> {
        if is_restricted(params) || params.find("rsa-factor3").is_some() {
            return None;
        }
        let integer = |name: &str| match params.find(name) {
            Some(value) => value.integer(),
            None => Some(Zeroizing::default()),
        };
        let (modulus, public_exponent) = (integer("n")?, integer("e")?);
        if selected & selection::PRIVATE_KEY == 0 || params.find("d").is_none() {
            return OwnedPublicKey::from_components(&modulus, &public_exponent)
                .ok()
                .map(Self::Public);
        }
        let pair = KeyPair::from_components(&PrivateComponents {
            modulus: &modulus,
            public_exponent: &public_exponent,
            private_exponent: &integer("d")?,
            prime1: &integer("rsa-factor1")?,
            prime2: &integer("rsa-factor2")?,
            exponent1: &integer("rsa-exponent1")?,
            exponent2: &integer("rsa-exponent2")?,
            coefficient: &integer("rsa-coefficient1")?,
            other_primes: &[],
        });
        pair.ok().map(|pair| Self::Pair(pair.into()))
    }

    fn write(&self) -> OwnedParams {
        match self {
            Self::Pair(pair) => private_params(pair.key()).unwrap_or_default(),
            Self::Public(key) => {
                let limbs = key.as_key().modulus_limbs().iter().rev();
                let modulus: Vec<u8> = limbs.flat_map(|limb| limb.to_be_bytes()).collect();
                OwnedParams::default()
                    .with_integer(c"n", &modulus)
                    .with_integer(c"e", &key.exponent().to_be_bytes())
            }
        }
    }

    fn parts(&self) -> c_int {
        match self {
            Self::Pair(_) => selection::KEY_PAIR | selection::OTHER_PARAMETERS,
            Self::Public(_) => selection::PUBLIC_KEY | selection::OTHER_PARAMETERS,
        }
    }

    fn part(&self, selected: c_int) -> Option<Self> {
        if selected & selection::PUBLIC_KEY == 0 {
            None
        } else if selected & selection::PRIVATE_KEY != 0 {
            Some(self.clone())
        } else {
            Some(Self::Public(self.public().clone()))
        }
    }

    fn generate(
        _: &str,
        selected: c_int,
        params: &Params<'_>,
        _: Option<&Self>,
    ) -> Option<Result<Self, Error>> {
        let mut bits = 2048;
        for value in params.iter() {
            match value.name() {
                b"bits" => bits = usize::try_from(value.number()?).ok()?,
                b"primes" if value.number() == Some(2) => {}
                b"e" if value.number() == Some(65537) => {}
                _ => return None,
            }
        }
        let usual = (MIN_BITS..=MAX_BITS).contains(&bits) && bits.is_multiple_of(2);
        if !usual || selected & selection::KEY_PAIR == 0 {
            return None;
        }
        let generate = || {
            let key = KeyPair::generate(bits, &mut random::generator()?);
            key.map(|pair| Self::Pair(pair.into()))
                .map_err(|error| Failure::Generation.because(error))
        };
        Some(generate())
    }

    fn fill(&self, request: &mut Request<'_>) -> Option<bool> {
        Some(match request.name() {
            "bits" => request.set_number(self.public().bits() as u32),
            "security-bits" => request.set_number(match self.public().bits() {
                2048 => 112,
                3072 => 128,
                4096 => 152,
                _ => return None,
            }),
            "max-size" => request.set_number(self.public().length() as u32),
            "default-digest" => request.set_text(c"SHA256"),
            "mandatory-digest" => true,
            _ => return None,
        })
    }

    fn changed(&self, _: &Params<'_>) -> Option<Self> {
        None
    }
}

fn private_params(pair: &KeyPair) -> Option<OwnedParams> {
    let key = pair.private_key();
    let mut der = Zeroizing::new(vec![0; private_key_der_length(key.bits())]);
    let key = RsaPrivateKeyRef::try_from(key.to_pkcs1_der(&mut der).ok()?).ok()?;
    let parts = PARTS.into_iter().zip(parts_of(&key));
    Some(parts.fold(OwnedParams::default(), |params, (name, part)| params.with_integer(name, part)))
}
