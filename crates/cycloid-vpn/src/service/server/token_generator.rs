//! The generator of session tokens, from a server's configuration.

use zeroize::Zeroizing;

use crate::config;
use crate::proto::auth_token::{KeyFile, Tokens};
use crate::service::{Failure, random};

/// Returns the token generator if configured. Without a key file, the key lasts as long as the
/// process.
pub(in crate::service) fn of(config: &config::Server) -> Result<Option<Tokens>, Failure> {
    let Some(wanted) = &config.auth_token else { return Ok(None) };
    let key = match &config.auth_token_secret {
        None => KeyFile::generate(&mut random),
        Some(material) => {
            let wrong = |why: String| {
                Failure::new(format!("auth-gen-token-secret {material}: {why}"))
                    .hint("create one with `cycloid-vpn genkey auth-token`")
            };
            let bytes = material.read().map_err(|error| wrong(error.to_string()))?;
            let text = Zeroizing::new(String::from_utf8_lossy(&bytes).into_owned());
            KeyFile::parse(&text).map_err(|error| wrong(error.to_string()))?
        }
    };
    let lifetime = wanted.lifetime.map(|lifetime| lifetime.as_secs());
    let renewal = wanted.renewal.or(config.common.timing.renegotiate_after);
    // Tolerates late renewal by a client.
    let window = renewal.map(|renewal| renewal.as_secs().saturating_mul(2));
    Ok(Some(Tokens::new(&key, lifetime, window)))
}
