//! The weak operations that the security officer allows (`crate::legacy`): a setting, sealed like
//! every other and part of every backup.

use super::keystore::Store;
use super::session::Session;
use super::write::Write;
use crate::Result;
use crate::legacy::{Allowed, Legacy};

/// The setting's name. Its value is [`Allowed::bits`], four bytes, little-endian.
const SETTING: &str = "legacy";

/// Reads the setting. One that is missing or of another form allows nothing.
fn decoded(value: Option<&[u8]>) -> Allowed {
    let bits = value.and_then(|value| value.try_into().ok()).map(u32::from_le_bytes);
    Allowed::from_bits(bits.unwrap_or_default())
}

impl Store {
    /// Returns the weak operations that are allowed.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR).
    pub fn allowed(&self) -> Result<Allowed> {
        Ok(decoded(self.setting(SETTING)?.as_deref()))
    }
}

impl Write<'_> {
    /// Allows a weak operation, or no longer, with a line of `who` in the audit log.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR).
    pub fn allow(&mut self, weak: Legacy, allowed: bool, who: &str) -> Result<()> {
        let set = decoded(self.setting(SETTING)?.as_deref()).with(weak, allowed);
        self.set_setting(SETTING, &set.bits().to_le_bytes())?;
        let now = if allowed { "allowed" } else { "forbidden" };
        self.audit(who, &format!("{} are {now} ({})", weak.description(), weak.name()))
    }

    /// Allows the weak operations that the keystore of a backup allowed.
    pub(super) fn allow_as_in_backup(&mut self, allowed: Allowed, who: &str) -> Result<()> {
        allowed.iter().try_for_each(|weak| self.allow(weak, true, who))
    }
}

impl Session<'_> {
    /// Returns the weak operations that are allowed, for a backup.
    pub(super) fn allowed(&mut self) -> Result<Allowed> {
        let Some(row) = self.setting(SETTING)? else { return Ok(Allowed::NONE) };
        Ok(decoded(Some(&row.open(&self.keys)?)))
    }
}
