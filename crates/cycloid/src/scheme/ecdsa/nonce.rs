//! Nonces that depend on the key and the digest (RFC 6979, section 3.2, with the variant of section
//! 3.6): the output of HMAC_DRBG, taken until it is a scalar.

use super::super::hash::DigestBytes;
use super::super::hmac::Keyed;
use super::Hash;
use crate::machine::ct;
use crate::math::curve::{Curve, Scalar};
use crate::scheme::ec::MAX_BYTES;

/// The generator of nonces for one key and one digest.
pub(super) struct Nonces {
    hash: Hash,
    /// K.
    keyed: Keyed,
    /// V.
    value: DigestBytes,
    /// Whether a nonce has been taken.
    used: bool,
}

impl Nonces {
    /// Steps b to g. `random` is k′ of section 3.6, and empty without it.
    pub(super) fn new<C: Curve>(
        hash: Hash,
        key: &Scalar<C>,
        digest: &Scalar<C>,
        random: &[u8],
    ) -> Self {
        let mut octets = [0; 2 * MAX_BYTES];
        let octets = &mut octets[..2 * C::BYTES];
        let (key_octets, digest_octets) = octets.split_at_mut(C::BYTES);
        key.to_bytes(key_octets);
        digest.to_bytes(digest_octets);
        let length = hash.digest_length();
        let mut nonces = Self {
            hash,
            keyed: Keyed::new(hash, &DigestBytes::filled(0, length)),
            value: DigestBytes::filled(1, length),
            used: false,
        };
        for separator in [0, 1] {
            nonces.rekey(separator, &[octets, random]);
        }
        ct::wipe_bytes(octets);
        nonces
    }

    /// Step h.
    pub(super) fn next<C: Curve>(&mut self) -> Scalar<C> {
        loop {
            if core::mem::replace(&mut self.used, true) {
                self.rekey(0, &[]);
            }
            let mut bytes = [0; MAX_BYTES];
            for part in bytes[..C::BYTES].chunks_mut(self.hash.digest_length()) {
                self.value = self.keyed.authenticate(&[&self.value]);
                part.copy_from_slice(&self.value[..part.len()]);
            }
            let nonce = Scalar::from_leftmost_bits_in_range(&bytes[..C::BYTES]);
            ct::wipe_bytes(&mut bytes);
            if let Some(nonce) = nonce {
                return nonce;
            }
        }
    }

    /// K = HMAC_K(V ‖ separator ‖ parts), V = HMAC_K(V).
    fn rekey(&mut self, separator: u8, parts: &[&[u8]]) {
        let [first, second] =
            [parts.first(), parts.get(1)].map(|part| part.copied().unwrap_or(&[]));
        let key = self.keyed.authenticate(&[&self.value, &[separator], first, second]);
        self.keyed = Keyed::new(self.hash, &key);
        self.value = self.keyed.authenticate(&[&self.value]);
    }
}
