//! Encryption with PKCS #1 v1.5 padding, RSAES-PKCS1-v1_5 (RFC 8017, section 7.2), and decryption
//! with implicit rejection (draft-irtf-cfrg-rsa-guidance, section 7).
//!
//! Anyone who learns whether a ciphertext's padding is valid can decrypt any ciphertext
//! (Bleichenbacher, 1998). Therefore decryption never reports invalid padding. It returns a
//! synthetic message derived from the ciphertext and the key, always the same for the same
//! ciphertext. Nobody without the key can tell its length and content from those of a real message.

use rand_core::CryptoRng;

use super::context::Context;
use super::error::Error;
use super::operation::Operation;
use super::padding::pkcs1v15_encryption::encode;
use super::public::PublicKey;
use crate::machine::stack;
use crate::machine::words::Limb;
use crate::scheme::stack_use;

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// RSAES-PKCS1-v1_5: encrypts a message of at most 11 bytes less than the modulus with the
    /// caller's random generator. `ciphertext` is as long as the modulus; `scratch` has at least
    /// [`encrypt_scratch_limbs`](super::encrypt_scratch_limbs) and is wiped. Constant-time except
    /// for lengths and for the number of draws.
    ///
    /// Use it only if a protocol requires it; [`encrypt_oaep`](Self::encrypt_oaep) is the better
    /// padding.
    ///
    /// ```
    /// # use cycloid::scheme::rsa::{self, PublicKey};
    /// # fn example(key: &PublicKey<&[u64]>, rng: &mut impl rand_core::CryptoRng) -> Result<(), rsa::Error> {
    /// const BITS: usize = 2048;
    /// let mut ciphertext = [0; BITS / 8];
    /// let mut scratch = [0; rsa::encrypt_scratch_limbs(BITS)];
    /// key.encrypt_pkcs1v15(b"a key", rng, &mut ciphertext, &mut scratch)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::MessageTooLong`], [`Error::Length`], [`Error::MemoryTooSmall`],
    /// [`Error::RandomGenerator`], [`Error::Restricted`]; `ciphertext` is untouched then.
    pub fn encrypt_pkcs1v15(
        &self,
        message: &[u8],
        rng: &mut impl CryptoRng,
        ciphertext: &mut [u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        stack::clean(stack_use::RSA_PUBLIC, || {
            self.encrypt(ciphertext, scratch, |encoded| encode(encoded, rng, message))
        })
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// RSAES-PKCS1-v1_5 with implicit rejection: decrypts a ciphertext, writes a message to the
    /// start of `output` and returns its length.
    ///
    /// **Invalid padding is not an error**, and nothing reveals it: the message is then a synthetic
    /// one that depends on the ciphertext and on the key. If the message is a key, authenticate
    /// what it encrypts, as every sound protocol does. Treat a message of an unexpected length as a
    /// wrong key of the expected length.
    ///
    /// `output` has at least 11 bytes less than the modulus, so that time does not depend on the
    /// message's length. That many bytes are written, with zeros after the message.
    ///
    /// ```
    /// # use cycloid::scheme::rsa::{self, Context};
    /// # fn example(
    /// #     context: &mut Context<'_, [u64; 320], impl rand_core::CryptoRng>,
    /// #     ciphertext: &[u8],
    /// # ) -> Result<(), rsa::Error> {
    /// const BITS: usize = 2048;
    /// let mut output = [0; BITS / 8 - 11];
    /// let length = context.decrypt_pkcs1v15(ciphertext, &mut output)?;
    /// let message = &output[..length];
    /// # let _ = message;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// From public values only: [`Error::Length`] and [`Error::OutOfRange`] for the ciphertext,
    /// [`Error::OutputTooSmall`], [`Error::Restricted`]. Also [`Error::RandomGenerator`] and
    /// [`Error::Fault`]. `output` is untouched then.
    pub fn decrypt_pkcs1v15(
        &mut self,
        ciphertext: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Error> {
        self.perform(Operation::decrypt_pkcs1v15(ciphertext, output))
    }
}

#[cfg(test)]
mod tests;
