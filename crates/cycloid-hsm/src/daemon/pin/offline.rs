//! PINs for commands that open a keystore without a daemon.

use subtle::ConstantTimeEq;

use super::{Fresh, Judge, Right, Verifier, asker, check_length, name};
use crate::rpc::Role;
use crate::store::{Store, Write};
use crate::{Code, Result};

/// The officer, authenticated.
#[derive(Debug)]
pub enum Officer {
    /// By a PIN whose attempt was counted.
    Counted(Right),
    /// By a PIN, in a keystore too damaged to count attempts.
    Uncounted,
    /// By the key file or the passphrase alone: no PIN is left. A new PIN is set.
    Replaced(Fresh),
}

impl Officer {
    /// Authenticates the officer by the PIN. The attempt has a line of `who` in the audit log that
    /// starts with `what`.
    ///
    /// # Errors
    /// As [`Judge::count`] and [`Judge::judge`].
    pub fn counted(
        judge: &Judge,
        store: &Store,
        pin: &[u8],
        who: &str,
        what: &str,
    ) -> Result<Self> {
        let counted = judge.count(store, Role::SecurityOfficer, asker(who), who, what)?;
        judge.judge(counted, pin).map(Self::Counted)
    }

    /// Authenticates the officer by the PIN in a keystore that cannot count the attempt. A person
    /// who can unlock the keystore and read its database needs no program of ours to try PINs.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`]; [`Code::USER_PIN_NOT_INITIALIZED`] without an authentic PIN.
    pub fn uncounted(store: &Store, pin: &[u8]) -> Result<Self> {
        let setting = store.setting_of_damaged(name(Role::SecurityOfficer))?;
        let verifier = Verifier::parse(setting)?.ok_or(Code::USER_PIN_NOT_INITIALIZED)?;
        let hash = verifier.derive(pin)?;
        match bool::from(hash.as_slice().ct_eq(&verifier.hash)) {
            true => Ok(Self::Uncounted),
            false => Err(Code::PIN_INCORRECT.into()),
        }
    }

    /// Accepts a new PIN in place of a lost one.
    ///
    /// # Errors
    /// [`Code::PIN_LEN_RANGE`].
    pub fn replaced(pin: &[u8]) -> Result<Self> {
        Fresh::new(pin).map(Self::Replaced)
    }

    /// Resets the count of attempts, or sets the new PIN, in the transaction of the action that the
    /// officer authorizes.
    ///
    /// # Errors
    /// As [`Right::settle`] and [`Fresh::set`].
    pub fn settle(self, write: &mut Write<'_>, who: &str) -> Result<()> {
        match self {
            Self::Counted(right) => right.settle(write),
            Self::Uncounted => write.audit(who, "salvage: the attempt at the PIN was not counted"),
            Self::Replaced(fresh) => {
                fresh.set(write, Role::SecurityOfficer)?;
                write.audit(who, "salvage: a new PIN for SecurityOfficer")
            }
        }
    }
}

/// Checks the length of a PIN that somebody has just entered.
///
/// # Errors
/// [`Code::PIN_LEN_RANGE`].
pub fn check(pin: &[u8]) -> Result<()> {
    check_length(pin)
}
