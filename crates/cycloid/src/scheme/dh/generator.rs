//! Public values computed from a table of the generator's powers.

use super::private::{checked_length, write_public};
use super::{Comb, Error, Group, PrivateKey, checked_memory, limbs, minimum_scratch_limbs};
use crate::machine::words::Limb;
use crate::machine::{ct, stack};
use crate::math::modular::FixedBase;
use crate::scheme::stack_use;

/// Returns the limbs of memory for a [`Generator`] of a group with a modulus
/// of `bits` bits.
pub const fn generator_limbs(bits: usize, comb: Comb) -> usize {
    FixedBase::memory_limbs(limbs(bits), comb)
}

/// Returns the limbs of scratch for a [`Generator`] of a group with a modulus of `bits` bits.
pub const fn generator_scratch_limbs(bits: usize) -> usize {
    let fixed = limbs(bits) + FixedBase::scratch_limbs(limbs(bits));
    let least = minimum_scratch_limbs(bits);
    if fixed > least { fixed } else { least }
}

/// The generator of a group with a precomputed table of its powers. With it, public values take a
/// third to a quarter of the time.
///
/// The [`Comb`] determines the memory. The table is public; any number of keys and threads may
/// share it.
///
/// ```
/// use cycloid::scheme::dh::{self, Comb, Generator, Group, PrivateKey};
///
/// const BITS: usize = 2048;
/// let group = &Group::FFDHE2048;
/// let mut scratch = [0; dh::generator_scratch_limbs(BITS)];
/// let mut memory = [0; dh::generator_limbs(BITS, Comb::BALANCED)];
/// let generator = Generator::prepare(group, Comb::BALANCED, &mut memory, &mut scratch)?;
///
/// let memory = [0; dh::private_key_limbs(dh::exponent_bits(BITS))];
/// let key = PrivateKey::generate(group, memory, &mut getrandom::SysRng)?;
/// let mut value = [0; BITS / 8];
/// generator.public_value(&key, &mut value, &mut scratch)?;
/// # Ok::<(), dh::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Generator<'a> {
    group: Group<'a>,
    base: FixedBase<'a>,
}

impl<'a> Generator<'a> {
    /// Computes the table for exponents of up to [`Group::exponent_bits`] bits.
    ///
    /// `memory` has at least [`generator_limbs`], `scratch` [`generator_scratch_limbs`].
    /// Takes about as long as one public value without a table.
    ///
    /// # Errors
    /// [`Error::MemoryTooSmall`].
    pub fn prepare(
        group: &Group<'a>,
        comb: Comb,
        memory: &'a mut [Limb],
        scratch: &mut [Limb],
    ) -> Result<Self, Error> {
        let (bits, modulus) = (group.exponent_bits(), group.modulus());
        let base = FixedBase::prepare(group.generator(), bits, comb, &modulus, memory, scratch)?;
        Ok(Self { group: *group, base })
    }

    /// Returns the group.
    pub const fn group(&self) -> &Group<'a> {
        &self.group
    }

    /// Computes [`PrivateKey::public_value`] for a key of the same group. If the exponent is longer
    /// than the table supports, this takes as long as without the table.
    ///
    /// `scratch` has at least [`generator_scratch_limbs`] and is wiped.
    ///
    /// # Errors
    /// [`Error::OtherGroup`], [`Error::Length`], [`Error::MemoryTooSmall`]; nothing is written to
    /// `value` then.
    pub fn public_value<M: AsRef<[Limb]> + AsMut<[Limb]>>(
        &self,
        key: &PrivateKey<'_, M>,
        value: &mut [u8],
        scratch: &mut [Limb],
    ) -> Result<(), Error> {
        let group = &self.group;
        let same =
            group.prime() == key.group().prime() && group.generator() == key.group().generator();
        if !same {
            return Err(Error::OtherGroup);
        }
        checked_length(group, value)?;
        let scratch = checked_memory(scratch, generator_scratch_limbs(group.bits()))?;
        let exponent = key.exponent();
        if exponent.bits() > self.base.exponent_bits() {
            return key.public_value(value, scratch);
        }
        let (power, rest) = scratch.split_at_mut(group.prime().len());
        stack::clean(stack_use::DH, || {
            self.base.pow(power, &exponent, rest)?;
            write_public(value, power);
            ct::wipe(power);
            Ok(())
        })
    }
}
