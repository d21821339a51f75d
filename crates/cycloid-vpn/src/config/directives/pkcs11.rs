//! Directives for a certificate and key in a PKCS #11 token.

use std::path::PathBuf;
use std::time::Duration;

use super::entry::{Entry, used};
use crate::config::error::Problem;
use crate::config::place::BOTH;
use crate::config::values::{Call, Result};

/// The most providers.
const MAX_PROVIDERS: usize = 16;

pub(super) const TABLE: &[Entry] = &[
    used("pkcs11-providers", BOTH, 1, MAX_PROVIDERS, |draft, call| {
        let paths = (0..call.all().len()).map(|index| provider(call, index));
        draft.token.providers.extend(paths);
        if draft.token.providers.len() > MAX_PROVIDERS {
            let hint = "keep the one with the token";
            return Err(Problem::new(format!("more than {MAX_PROVIDERS} providers"), hint));
        }
        Ok(())
    }),
    used("pkcs11-id", BOTH, 1, 1, |draft, call| {
        draft.token.id = Some(call.owned(0));
        Ok(())
    }),
    used("pkcs11-protected-authentication", BOTH, 0, MAX_PROVIDERS, |draft, call| {
        let answers = flags(call)?;
        draft.token.asks_itself = answers.is_empty() || answers.contains(&true);
        Ok(())
    }),
    used("pkcs11-pin-cache", BOTH, 1, 1, |draft, call| {
        draft.token.pin_cache = match call.text(0) {
            "-1" => None,
            _ => Some(Duration::from_secs(call.number(0, 0..=u64::from(u32::MAX))?)),
        };
        Ok(())
    }),
    used("pkcs11-private-mode", BOTH, 1, MAX_PROVIDERS, |_, call| {
        for mode in call.all() {
            // A mask: 1 is a signature, and 0 any way.
            match u32::from_str_radix(mode.trim_start_matches("0x"), 16) {
                Ok(mode) if mode == 0 || mode & 1 == 1 => {}
                _ => {
                    let message = format!("the key is not used by the mode '{mode}'");
                    return Err(Problem::new(message, "use 0 or 1: the token signs"));
                }
            }
        }
        Ok(())
    }),
    used("pkcs11-cert-private", BOTH, 0, MAX_PROVIDERS, |draft, call| {
        let answers = flags(call)?;
        draft.token.private_certificates = answers.is_empty() || answers.contains(&true);
        Ok(())
    }),
    used("pkcs11-id-management", BOTH, 0, 0, |draft, _| {
        draft.token.chosen_by_manager = true;
        Ok(())
    }),
];

/// Returns a provider's path. A bare name is left to the system's search.
fn provider(call: &Call<'_>, index: usize) -> PathBuf {
    match call.text(index) {
        name if name.contains('/') => call.path(index),
        name => PathBuf::from(name),
    }
}

fn flags(call: &Call<'_>) -> Result<Vec<bool>> {
    (0..call.all().len()).map(|index| call.choice(index, &[("0", false), ("1", true)])).collect()
}
