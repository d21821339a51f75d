//! The start of a client or server without the network and without privileges, for
//! `cycloid-vpn check`: it reads the same files through the same functions.

use super::client::{control_keys, stored_credentials};
use super::context::{unsupported_management, unsupported_process, unsupported_scripts};
use super::privileges::Identity;
use super::{Failure, keys, settings};
use crate::config::{Common, Profile, Tls};
use crate::proto::Role;

/// Returns the reason why a configuration would not start, if there is one. An encrypted private
/// key without `askpass` is not decrypted, because nobody is asked for its passphrase.
///
/// # Errors
/// The failure that a start would report.
pub fn rehearse(profile: &Profile) -> Result<(), Failure> {
    let common = profile.common();
    unsupported_process(&common.process)?;
    unsupported_scripts(&common.hooks)?;
    if let Some(management) = &common.management {
        unsupported_management(management)?;
    }
    Identity::find(common.process.user.as_deref(), common.process.group.as_deref()).map_err(
        |error| Failure::new(error.to_string()).hint("check the directives user and group"),
    )?;
    match profile {
        Profile::Client(client) => {
            tls(Role::Client, common)?;
            control_keys(client)?;
            stored_credentials(client)?;
        }
        Profile::Server(_) => {
            tls(Role::Server, common)?;
            common.link.control_key.load(common.data.digest, Role::Server)?;
        }
    }
    Ok(())
}

fn tls(role: Role, common: &Common) -> Result<(), Failure> {
    let encrypted = settings::needs_passphrase(&common.tls)?;
    let passphrase = match &common.tls.key_passphrase {
        Some(Some(path)) if encrypted => Some(keys::first_line(path)?),
        _ => None,
    };
    if encrypted && passphrase.is_none() {
        let without = Tls { certificate: None, key: None, ..common.tls.clone() };
        // The peer's rules are the same for both ends, and only a server needs a certificate.
        return settings::tls(Role::Client, &without, None).map(drop);
    }
    settings::tls(role, &common.tls, passphrase.as_ref().map(|it| it.as_str())).map(drop)
}
