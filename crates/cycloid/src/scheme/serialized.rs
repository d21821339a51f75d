//! Public values in the formats of `serde`: their standard encoding, in hexadecimal digits if the
//! format is for people, else as bytes. Reading checks what reading that encoding checks.
//!
//! | type | encoding |
//! |---|---|
//! | [`ec::PublicKey`] | compressed point (SEC 1) |
//! | [`ecdsa::Signature`] | r and s with fixed width |
//! | [`nist::PublicKey`], [`rsa::OwnedPublicKey`] | SubjectPublicKeyInfo (feature `encoding`) |
//! | [`ed25519::VerifyingKey`] | RFC 8032 |
//! | of BLS12-381: `Fr`, points, `Gt`, public keys, signatures | as `to_bytes` and `to_compressed` |

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serdect::slice::{deserialize_hex_or_bin, serialize_hex_lower_or_bin};

#[cfg(feature = "bls12-381")]
use super::bls12_381::{
    Affine, Fr, Gt,
    backend::{Group, Pairing, Scalars, SourceGroup},
    signature::{self, SignatureBackend, Variant},
};
use super::ec::Curve;
use super::{ec, ecdsa, ed25519};
#[cfg(all(feature = "alloc", feature = "encoding"))]
use super::{nist, rsa};

/// Implements the traits for types with an encoding of at most `$length` bytes.
macro_rules! serialized {
    ($([$($generics:tt)*] $type:ty: $length:expr,
        $value:ident => $bytes:expr, $read:ident => $made:expr;)*) => {$(
        impl<$($generics)*> Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $value = self;
                serialize_hex_lower_or_bin(&$bytes, serializer)
            }
        }

        impl<'de, $($generics)*> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut room = [0; $length];
                let $read = deserialize_hex_or_bin(&mut room, deserializer)?;
                $made.map_err(D::Error::custom)
            }
        }
    )*};
}

serialized! {
    [C: Curve] ec::PublicKey<C>: 1 + 2 * ec::MAX_BYTES,
        key => key.to_compressed(), bytes => Self::from_sec1(bytes);
    [C: Curve] ecdsa::Signature<C>: 2 * ec::MAX_BYTES,
        signature => signature.to_fixed(), bytes => Self::from_fixed(bytes);
    [] ed25519::VerifyingKey: 32,
        key => key.as_bytes(), bytes => match bytes.try_into() {
            Ok(bytes) => Self::new(bytes),
            Err(_) => Err(ed25519::Error::PublicKey),
        };
}

#[cfg(all(feature = "alloc", feature = "encoding"))]
serialized! {
    [] nist::PublicKey: nist::MAX_PUBLIC_KEY_DER_LENGTH,
        key => {
            let mut room = [0; nist::MAX_PUBLIC_KEY_DER_LENGTH];
            alloc::vec::Vec::from(key.to_spki_der(&mut room).map_err(serde::ser::Error::custom)?)
        },
        bytes => Self::from_spki_der(bytes);
    [] rsa::OwnedPublicKey: rsa::public_key_der_length(rsa::MAX_BITS),
        key => key.to_spki_der(), bytes => Self::from_der(bytes);
}

#[cfg(feature = "bls12-381")]
serialized! {
    [B: Scalars] Fr<B>: 32, number => number.to_bytes(), bytes => Self::from_bytes(bytes);
    [B: Pairing] Gt<B>: 12 * 48, element => element.to_bytes(), bytes => Self::from_bytes(bytes);
    [B: Group<G>, G: SourceGroup] Affine<B, G>: 96,
        point => point.to_compressed(), bytes => Self::from_compressed(bytes);
    [B: SignatureBackend<V>, V: Variant] signature::PublicKey<B, V>: 96,
        key => key.to_bytes(), bytes => Self::from_bytes(bytes);
    [B: SignatureBackend<V>, V: Variant] signature::Signature<B, V>: 96,
        signature => signature.to_bytes(), bytes => Self::from_bytes(bytes);
}
