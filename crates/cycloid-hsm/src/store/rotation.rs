//! Rotation of the master key.

use super::keystore::Store;
use crate::Result;

impl Store {
    /// Makes a new master key, and re-seals all records and settings under it, in several
    /// transactions, while others read and write. An interrupted rotation is resumed by the next
    /// call. The first and the last transaction each write a line of `who` to the audit log.
    /// Returns the number of re-sealed rows.
    ///
    /// # Errors
    /// [`Code::DEVICE_ERROR`](crate::Code::DEVICE_ERROR).
    pub fn rotate_master_key(&self, who: &str) -> Result<u64> {
        let mut sealed = self.rotation_step(who, true, 0)?.unwrap_or_default();
        while let Some(more) = self.rotation_step(who, false, sealed)? {
            sealed += more;
        }
        Ok(sealed)
    }

    /// Runs one transaction of a rotation; with `first`, it starts or resumes the rotation. Returns
    /// `None` after the last one.
    pub(super) fn rotation_step(&self, who: &str, first: bool, sealed: u64) -> Result<Option<u64>> {
        self.write(|write| {
            let keys = write.session.keys.clone();
            if first {
                write.audit(who, "rotation of the master key started")?;
                if !keys.is_rotating() {
                    write.set_keyring(keys.with_new_master()?);
                    return Ok(Some(0));
                }
            }
            if !keys.is_rotating() {
                return Ok(None);
            }
            let more = write.reseal_some()?;
            if more == 0 {
                write.set_keyring(keys.without_old_master()?);
                write
                    .audit(who, &format!("the master key was rotated: {sealed} rows re-sealed"))?;
                return Ok(None);
            }
            Ok(Some(more))
        })
    }
}
