//! The start of a client or server without the network and without privileges, for
//! `cycloid-vpn check`: it reads the same files through the same functions.

use zeroize::Zeroizing;

use super::client::{AtProxy, control_keys, stored_credentials};
use super::context::{identity, unsupported_management, unsupported_process, unsupported_scripts};
use super::server::token_generator;
use super::{Failure, keys, pkcs11, settings};
use crate::config::{Common, ManagementPassword, Profile, Tls};
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
        if let Some(ManagementPassword::File(path)) = &management.password {
            std::fs::read_to_string(path)
                .map(Zeroizing::new)
                .map_err(|error| Failure::new(format!("management {}: {error}", path.display())))?;
        }
    }
    identity(&common.process)?;
    match profile {
        Profile::Client(client) => {
            tls(Role::Client, common)?;
            control_keys(client)?;
            stored_credentials(client)?;
            AtProxy::read(client)?;
        }
        Profile::Static(tunnel) => drop(tunnel.load_key()?),
        Profile::Server(server) => {
            token_generator(server)?;
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
    if encrypted && passphrase.is_none() && common.tls.pkcs12.is_some() && common.tls.ca.is_none() {
        // The authorities are under the passphrase too.
        return Ok(());
    }
    if encrypted && passphrase.is_none() {
        let without = Tls { certificate: None, key: None, pkcs12: None, ..common.tls.clone() };
        // The peer's rules are the same for both ends, and only a server needs a certificate.
        return settings::tls(Role::Client, &without, None, None).map(drop);
    }
    if let Some(token) = &common.tls.token {
        // The token is not asked for the key, which needs the PIN.
        pkcs11::rehearse(token)?;
        let without = Tls { token: None, ..common.tls.clone() };
        return settings::tls(Role::Client, &without, None, None).map(drop);
    }
    settings::tls(role, &common.tls, passphrase.as_ref().map(|it| it.as_str()), None).map(drop)
}
