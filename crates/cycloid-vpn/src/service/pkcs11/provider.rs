//! Loads PKCS #11 providers and finds certificates and keys in their tokens.

use std::path::Path;
use std::time::{Duration, Instant};

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::object::{Attribute, AttributeType, CertificateType, ObjectClass};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use rustls::pki_types::CertificateDer;

use super::place::{Place, log_in, private_key, reason};
use super::signer::Signer;
use super::{KeyName, Login};
use crate::config::Token;
use crate::proto::tls::External;
use crate::service::Failure;

/// A certificate in a token.
pub(in crate::service) struct Found {
    provider: Pkcs11,
    slot: Slot,
    name: KeyName,
    certificate: CertificateDer<'static>,
    asks_itself: bool,
    pin_cache: Option<Duration>,
}

impl Found {
    /// Finds the only certificate with this name.
    pub(super) fn find(token: &Token, name: &KeyName) -> Result<Self, Failure> {
        let mut all = Vec::new();
        for path in &token.providers {
            all.extend(certificates(path, token)?);
        }
        let shown: Vec<String> = all.iter().map(|found| found.name.to_string()).collect();
        let mut meant: Vec<Self> = all.into_iter().filter(|it| name.matches(&it.name)).collect();
        match (meant.len(), meant.pop()) {
            (1, Some(found)) => Ok(found),
            _ if shown.is_empty() => {
                Err(Failure::new("pkcs11-providers: no token with a certificate").hint(
                    "connect the token, and store a certificate beside its key, both with \
                           the same id",
                ))
            }
            (0, _) => Err(Failure::new(format!("pkcs11-id: no token has {name}"))
                .hint(format!("set pkcs11-id to one of {}", shown.join(", ")))),
            _ => Err(Failure::new("pkcs11-id: several certificates have this name")
                .hint(format!("set pkcs11-id to one of {}", shown.join(", ")))),
        }
    }

    /// Returns the token's label, for the question for its PIN.
    pub(in crate::service) fn token_label(&self) -> &str {
        self.name.token.as_deref().unwrap_or_default()
    }

    /// Returns whether the token asks for the PIN itself.
    pub(in crate::service) fn asks_itself(&self) -> bool {
        self.asks_itself
    }

    /// Logs in and returns the certificate with its key.
    pub(in crate::service) fn open(self, login: Login) -> Result<External, Failure> {
        let failed = |what: &str, error: &Error| {
            Failure::new(format!("token {}: {what}: {}", self.token_label(), reason(error)))
        };
        let session = self.provider.open_ro_session(self.slot);
        let session = session.map_err(|error| failed("cannot open a session", &error))?;
        let pin = match login {
            Login::Pin(pin) => Some(AuthPin::new(pin.as_str().into())),
            Login::AtToken => None,
        };
        log_in(&session, pin.as_ref()).map_err(|error| {
            failed("login refused", &error)
                .hint("correct the PIN before the token locks itself after some more attempts")
        })?;
        let key = private_key(&session, &self.name)
            .map_err(|error| failed("cannot find the key", &error))?
            .ok_or_else(|| {
                Failure::new(format!("{}: the token has no private key of this id", self.name))
                    .hint("give the key and the certificate the same id")
            })?;
        let mechanisms = self.provider.get_mechanism_list(self.slot);
        let mechanisms = mechanisms.map_err(|error| failed("unknown mechanisms", &error))?;
        let signer = Signer::new(
            &self.certificate,
            &mechanisms,
            Place {
                provider: self.provider,
                slot: self.slot,
                name: self.name,
                pin,
                pin_until: self.pin_cache.map(|time| Instant::now() + time),
                session: Some((session, key)),
            },
        )?;
        Ok(External { chain: vec![self.certificate], key: std::sync::Arc::new(signer) })
    }
}

/// Returns the certificates in all tokens of a provider.
fn certificates(path: &Path, token: &Token) -> Result<Vec<Found>, Failure> {
    let failed = |error: &Error| {
        Failure::new(format!("pkcs11-providers {}: {}", path.display(), reason(error)))
            .hint("name a PKCS #11 module that this user can load, with its full path")
    };
    let provider = Pkcs11::new(path).map_err(|error| failed(&error))?;
    match provider.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
        Err(error) => return Err(failed(&error)),
    }
    let mut all = Vec::new();
    for slot in provider.get_slots_with_token().map_err(|error| failed(&error))? {
        // A token that does not answer hides no other one.
        let Ok(found) = in_token(&provider, slot, token) else { continue };
        all.extend(found);
    }
    Ok(all)
}

fn in_token(provider: &Pkcs11, slot: Slot, wanted: &Token) -> Result<Vec<Found>, Error> {
    let token = provider.get_token_info(slot)?;
    let session = provider.open_ro_session(slot)?;
    let template = [
        Attribute::Class(ObjectClass::CERTIFICATE),
        Attribute::CertificateType(CertificateType::X_509),
    ];
    let mut all = Vec::new();
    for handle in session.find_objects(&template)? {
        let mut name = KeyName {
            manufacturer: Some(token.manufacturer_id().to_owned()),
            model: Some(token.model().to_owned()),
            serial: Some(token.serial_number().to_owned()),
            token: Some(token.label().to_owned()),
            ..KeyName::default()
        };
        let known = [AttributeType::Value, AttributeType::Id, AttributeType::Label];
        let mut certificate = None;
        for attribute in session.get_attributes(handle, &known)? {
            match attribute {
                Attribute::Value(value) => certificate = Some(value.into()),
                Attribute::Id(id) => name.id = Some(id).filter(|id| !id.is_empty()),
                Attribute::Label(label) => {
                    name.object = String::from_utf8(label).ok().filter(|label| !label.is_empty());
                }
                _ => {}
            }
        }
        let asks_itself = wanted.asks_itself && token.protected_authentication_path();
        let (provider, pin_cache) = (provider.clone(), wanted.pin_cache);
        all.extend(certificate.map(|certificate| Found {
            provider,
            slot,
            name,
            certificate,
            asks_itself,
            pin_cache,
        }));
    }
    Ok(all)
}
