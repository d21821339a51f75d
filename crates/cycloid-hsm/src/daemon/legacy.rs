//! Weak operations that the security officer allows (`crate::legacy`): what they permit, and the
//! refusals of the others, which name the officer's command.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::attribute::{Template, cka, cko};
use crate::key::private::{RSA_BITS, SOUND_PUBLIC_RSA_BITS, SOUND_RSA_BITS};
use crate::legacy::{Allowed, Legacy};
use crate::mechanism::{Parameter, ckf, ckm, is_pss, offered_under, weak_use};
use crate::rpc::message::Mechanism;
use crate::store::Store;
use crate::{Code, Error, Result};

/// The weak operations that are allowed, by the last view of the database.
#[derive(Debug, Default)]
pub(super) struct Permissions(AtomicU32);

/// Returns the error for a weak operation that is not allowed.
fn refused(code: Code, weak: Legacy) -> Error {
    let (what, name) = (weak.description(), weak.name());
    code.because(format!(
        "{what} are not allowed: the security officer allows them with `cycloid-hsm legacy allow \
         {name}`"
    ))
}

/// Returns the length of a number in bits, given as bytes, big-endian.
fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let digits = &number[zeros..];
    digits.first().map_or(0, |first| 8 * digits.len() - first.leading_zeros() as usize)
}

impl Permissions {
    /// Loads the setting.
    ///
    /// # Errors
    /// The store's errors.
    pub(super) fn observe(&self, store: &Store) -> Result<()> {
        self.0.store(store.allowed()?.bits(), Ordering::SeqCst);
        Ok(())
    }

    /// Returns what is allowed.
    pub(super) fn allowed(&self) -> Allowed {
        Allowed::from_bits(self.0.load(Ordering::SeqCst))
    }

    fn needs(&self, weak: Legacy, code: Code) -> Result<()> {
        if self.allowed().has(weak) { Ok(()) } else { Err(refused(code, weak)) }
    }

    /// Checks that a mechanism supports a use, `CKF_…`, and that the use is allowed.
    ///
    /// # Errors
    /// [`Code::MECHANISM_INVALID`]; [`Code::MECHANISM_PARAM_INVALID`] for a signature with SHA-1
    /// whose parameter alone says so.
    pub(super) fn check(&self, mechanism: &Mechanism, flag: u32) -> Result<()> {
        let number = mechanism.number;
        match offered_under(self.allowed(), number) {
            Some(offered) if offered.flags & flag != 0 => {}
            _ => {
                return Err(match weak_use(number, flag) {
                    Some(weak) => refused(Code::MECHANISM_INVALID, weak),
                    None => Code::MECHANISM_INVALID.into(),
                });
            }
        }
        match mechanism.parameter {
            Parameter::Pss { hash: ckm::SHA_1, .. } if is_pss(number) && flag == ckf::SIGN => {
                self.needs(Legacy::Sha1Signatures, Code::MECHANISM_PARAM_INVALID)
            }
            _ => Ok(()),
        }
    }

    /// Checks that an RSA key of this length may be generated.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`].
    pub(super) fn check_bits(&self, bits: usize) -> Result<()> {
        match (*RSA_BITS.start()..SOUND_RSA_BITS).contains(&bits) {
            true => self.needs(Legacy::ShortRsaKeys, Code::KEY_SIZE_RANGE),
            // Other lengths need no permission, or get none.
            false => Ok(()),
        }
    }

    /// Checks the length of a key with these attributes, if it is an RSA key.
    ///
    /// # Errors
    /// [`Code::KEY_SIZE_RANGE`].
    pub(super) fn check_length(&self, attributes: &Template) -> Result<()> {
        let Some(modulus) = attributes.get(cka::MODULUS) else { return Ok(()) };
        let bits = bits(modulus);
        let public = attributes.number(cka::CLASS)? == Some(cko::PUBLIC_KEY.into());
        let sound = if public { SOUND_PUBLIC_RSA_BITS } else { SOUND_RSA_BITS };
        if bits >= sound {
            return Ok(());
        }
        self.needs(Legacy::ShortRsaKeys, Code::KEY_SIZE_RANGE)
    }
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn leading_zeros_are_no_bits() {
        assert_eq!([bits(&[]), bits(&[0]), bits(&[0, 1]), bits(&[0x80, 0])], [0, 0, 1, 16]);
    }
}
