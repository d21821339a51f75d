//! ECDSA with nonces that the caller chooses. **Hazardous**: two signatures with one nonce, or one
//! with a nonce of which someone knows a few bits, reveal the private key. It is meant for test
//! vectors and for protocols that prescribe their own nonces.

use super::nonce::Nonces;
use super::{Hash, Signature, signature};
use crate::machine::stack;
use crate::math::curve::{Scalar, multiply_base};
use crate::scheme::ec::{Curve, Error, PrivateKey};
use crate::scheme::hmac::Algorithm;
use crate::scheme::stack_use;

impl<C: Curve> PrivateKey<C> {
    /// Signs a digest of any length with this nonce: [`Curve::BYTES`] big-endian bytes.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::PrivateKeyRange`] if the nonce is 0, is not less than the order,
    /// or gives no signature, which becomes public.
    pub fn sign_with_nonce(&self, digest: &[u8], nonce: &[u8]) -> Result<Signature<C>, Error> {
        check_length::<C>(nonce)?;
        stack::clean(stack_use::ecdsa_sign::<C>(), || {
            let digest = Scalar::from_leftmost_bits(digest);
            let nonce = Scalar::from_bytes(nonce).ok_or(Error::PrivateKeyRange)?;
            multiply_base(&nonce)
                .and_then(|point| signature(self.scalar(), &digest, &point, &nonce.invert()))
                .ok_or(Error::PrivateKeyRange)
        })
    }
}

/// The generator of nonces of RFC 6979, section 3.2, for one key and one digest.
///
/// ```
/// use cycloid::scheme::Hash;
/// use cycloid::scheme::ec::{P256, PrivateKey};
/// use cycloid::scheme::ecdsa::NonceGenerator;
///
/// let key = PrivateKey::<P256>::generate(&mut getrandom::SysRng)?;
/// let digest = [7; 32];
/// let mut nonce = [0; 32];
/// NonceGenerator::new(&key, Hash::Sha256, &digest, &[]).next(&mut nonce)?;
/// let signature = key.sign_with_nonce(&digest, &nonce)?;
/// assert_eq!(signature, key.sign_prehashed(Hash::Sha256, &digest));
/// # Ok::<(), cycloid::scheme::ec::Error>(())
/// ```
pub struct NonceGenerator<C: Curve> {
    nonces: Nonces,
    curve: core::marker::PhantomData<C>,
}

impl<C: Curve> core::fmt::Debug for NonceGenerator<C> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ecdsa::NonceGenerator({})", C::NAME)
    }
}

impl<C: Curve> NonceGenerator<C> {
    /// Starts with a key and a digest of any length. `random` is k′ of section 3.6, or empty
    /// without it.
    pub fn new(key: &PrivateKey<C>, hash: Hash, digest: &[u8], random: &[u8]) -> Self {
        let nonces = stack::clean(stack_use::ecdsa_sign::<C>(), || {
            let digest = Scalar::<C>::from_leftmost_bits(digest);
            Nonces::new(Algorithm::of(hash), key.scalar(), &digest, random)
        });
        Self { nonces, curve: core::marker::PhantomData }
    }

    /// Writes the next nonce, from 0 to the order less 1, as [`Curve::BYTES`] big-endian bytes. A
    /// signature takes the first one; a later one only if that gives no signature.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn next(&mut self, nonce: &mut [u8]) -> Result<(), Error> {
        check_length::<C>(nonce)?;
        stack::clean(stack_use::ecdsa_sign::<C>(), || {
            self.nonces.next::<C>().to_bytes(nonce);
        });
        Ok(())
    }
}

/// Returns an error unless a nonce is as long as a scalar.
const fn check_length<C: Curve>(nonce: &[u8]) -> Result<(), Error> {
    let (needed, given) = (C::BYTES, nonce.len());
    if given == needed { Ok(()) } else { Err(Error::Length { needed, given }) }
}
