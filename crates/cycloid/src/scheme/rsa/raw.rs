//! RSA without padding (RFC 8017, section 5). **Hazardous**: by itself it neither hides nor
//! authenticates anything. It is meant for paddings that this library does not implement.

use rand_core::CryptoRng;

use super::Error;
use super::context::Context;
use super::operation::{Operation, copy};
use super::public::PublicKey;
use crate::machine::stack;
use crate::machine::words::Limb;
use crate::scheme::stack_use;

impl<M: AsRef<[Limb]>> PublicKey<M> {
    /// RSAEP and RSAVP1 (RFC 8017, sections 5.1.1 and 5.2.2): computes `output = input^e mod n`.
    /// Both are big-endian and as long as the modulus; `scratch` has at least
    /// [`encrypt_scratch_limbs`](super::encrypt_scratch_limbs) and is wiped. Constant-time in the
    /// input.
    ///
    /// ```
    /// # use cycloid::scheme::rsa::{self, PublicKey};
    /// # fn example(key: &PublicKey<&[u64]>, signature: &[u8; 256]) -> Result<(), rsa::Error> {
    /// let mut encoded = [0; 256];
    /// let mut scratch = [0; rsa::encrypt_scratch_limbs(2048)];
    /// key.raw_public_operation(signature, &mut encoded, &mut scratch)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] for either, [`Error::OutOfRange`], [`Error::MemoryTooSmall`],
    /// [`Error::Restricted`]; `output` is untouched then.
    pub fn raw_public_operation(
        &self,
        input: &[u8],
        output: &mut [u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        stack::clean(stack_use::RSA_PUBLIC, || {
            self.encrypt(output, scratch, |encoded| copy(encoded, input))
        })
    }
}

impl<M: AsRef<[Limb]> + AsMut<[Limb]>, R: CryptoRng> Context<'_, M, R> {
    /// RSADP and RSASP1 (RFC 8017, sections 5.1.2 and 5.2.1): computes `output = input^d mod n`.
    /// Both are big-endian and as long as the modulus. The input is public; the output is not.
    ///
    /// Nobody who can choose the input may learn anything about the output's form: remove the
    /// padding in constant time, without revealing whether it was valid.
    ///
    /// ```
    /// # use cycloid::scheme::rsa::{self, Context};
    /// # fn example(
    /// #     context: &mut Context<'_, [u64; 320], impl rand_core::CryptoRng>,
    /// #     encoded: &[u8; 256],
    /// # ) -> Result<(), rsa::Error> {
    /// let mut signature = [0; 256];
    /// context.raw_private_operation(encoded, &mut signature)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] for either, [`Error::OutOfRange`], [`Error::Restricted`],
    /// [`Error::RandomGenerator`], [`Error::Fault`]; `output` is untouched then.
    pub fn raw_private_operation(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        self.perform(Operation::raw(input, output))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::vec;

    use super::super::tests::key;
    use super::*;
    use crate::math::prime::tests::Counter;
    use crate::scheme::rsa::{context_limbs, encrypt_scratch_limbs};

    #[test]
    fn both_ways() {
        let mut memory = vec![0; context_limbs(2048)];
        let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
        let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
        for fill in [0, 1, 0x7f] {
            let input = [fill; 256];
            let (mut signed, mut opened) = ([0; 256], [0; 256]);
            context.raw_private_operation(&input, &mut signed).unwrap();
            key().public().raw_public_operation(&signed, &mut opened, &mut scratch).unwrap();
            assert_eq!(opened, input);
            assert_eq!(signed == input, fill == 0);
        }
    }

    #[test]
    fn wrong_arguments_are_errors() {
        let mut memory = vec![0; context_limbs(2048)];
        let mut context = Context::new(key(), Counter(5), &mut memory).unwrap();
        let mut scratch = vec![0; encrypt_scratch_limbs(2048)];
        let public = key().public();
        let mut output = [0xaa; 257];
        for (input, length, error) in [
            (&[0; 255][..], 256, Error::Length { needed: 256, given: 255 }),
            (&[0; 257], 256, Error::Length { needed: 256, given: 257 }),
            (&[0; 256], 255, Error::Length { needed: 256, given: 255 }),
            (&[0; 256], 257, Error::Length { needed: 256, given: 257 }),
            (&[0xff; 256], 256, Error::OutOfRange),
        ] {
            let output = &mut output[..length];
            assert_eq!(context.raw_private_operation(input, output), Err(error));
            assert_eq!(public.raw_public_operation(input, output, &mut scratch), Err(error));
        }
        let modulus = public.modulus_limbs().iter().rev().flat_map(|limb| limb.to_be_bytes());
        let modulus: vec::Vec<u8> = modulus.collect();
        let outcome = context.raw_private_operation(&modulus, &mut output[..256]);
        assert_eq!(outcome, Err(Error::OutOfRange));
        assert_eq!(output, [0xaa; 257]);
        let short = encrypt_scratch_limbs(2048) - 1;
        let outcome =
            public.raw_public_operation(&[0; 256], &mut output[..256], &mut scratch[..short]);
        assert_eq!(outcome, Err(Error::MemoryTooSmall { needed: short + 1, given: short }));
    }
}
