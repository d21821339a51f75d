//! Encryption with optimal asymmetric padding, RSAES-OAEP (RFC 8017, section 7.1).

use rand_core::CryptoRng;

use super::context::Context;
use super::error::Error;
use super::hash_function::HashFunction;
use super::operation::Operation;
use super::padding::oaep::encode;
use super::parameters::Oaep;
use super::public::PublicKey;
use crate::machine::stack;
use crate::machine::words::Limb;
use crate::scheme::stack_use;

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// RSAES-OAEP: encrypts a message of at most [`Oaep::longest_message`] bytes with the caller's
    /// random generator. `ciphertext` is as long as the modulus; `scratch` has at least
    /// [`encrypt_scratch_limbs`](super::encrypt_scratch_limbs) and is wiped. Constant-time except
    /// for lengths and the label.
    ///
    /// ```
    /// # use cycloid::scheme::{Hash, rsa::{self, Oaep, PublicKey}};
    /// # fn example(key: &PublicKey<&[u64]>, rng: &mut impl rand_core::CryptoRng) -> Result<(), rsa::Error> {
    /// const BITS: usize = 2048;
    /// let mut ciphertext = [0; BITS / 8];
    /// let mut scratch = [0; rsa::encrypt_scratch_limbs(BITS)];
    /// let oaep = Oaep { label: b"session 7", ..Oaep::new(Hash::Sha256) };
    /// key.encrypt_oaep(&oaep, b"a key", rng, &mut ciphertext, &mut scratch)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::HashUnsuitable`], [`Error::MessageTooLong`], [`Error::Length`],
    /// [`Error::MemoryTooSmall`], [`Error::RandomGenerator`], [`Error::Restricted`]; `ciphertext`
    /// is untouched then.
    pub fn encrypt_oaep(
        &self,
        oaep: &Oaep<'_, impl Into<HashFunction> + Copy>,
        message: &[u8],
        rng: &mut impl CryptoRng,
        ciphertext: &mut [u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        stack::clean(stack_use::RSA_PUBLIC, || {
            let oaep = oaep.general();
            self.encrypt(ciphertext, scratch, |encoded| encode(encoded, &oaep, rng, message))
        })
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// RSAES-OAEP: decrypts a ciphertext, writes the message to the start of `output` and returns
    /// its length.
    ///
    /// `output` has at least [`Oaep::longest_message`] bytes, so that time does not depend on the
    /// message's length. That many bytes are written, with zeros after the message.
    ///
    /// ```
    /// # use cycloid::scheme::{Hash, rsa::{self, Context, Oaep}};
    /// # fn example(
    /// #     context: &mut Context<'_, [u64; 320], impl rand_core::CryptoRng>,
    /// #     ciphertext: &[u8],
    /// # ) -> Result<(), rsa::Error> {
    /// let oaep = Oaep { label: b"session 7", ..Oaep::new(Hash::Sha256) };
    /// let mut output = [0; 190];
    /// let length = context.decrypt_oaep(&oaep, ciphertext, &mut output)?;
    /// let message = &output[..length];
    /// # let _ = message;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Decryption`] if the padding, the label or the key is wrong, without saying which.
    /// From public values: [`Error::Length`] and [`Error::OutOfRange`] for the ciphertext,
    /// [`Error::OutputTooSmall`], [`Error::HashUnsuitable`], [`Error::Restricted`]. Also
    /// [`Error::RandomGenerator`] and [`Error::Fault`]. `output` is untouched then.
    pub fn decrypt_oaep(
        &mut self,
        oaep: &Oaep<'_, impl Into<HashFunction> + Copy>,
        ciphertext: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Error> {
        self.perform(Operation::decrypt_oaep(oaep.general(), ciphertext, output))
    }
}

#[cfg(test)]
mod tests;
