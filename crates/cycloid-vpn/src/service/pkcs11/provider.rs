//! Loads PKCS #11 providers and finds certificates and keys in their tokens.

use std::time::{Duration, Instant};

use base64ct::{Base64, Encoding};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::object::{Attribute, AttributeType, CertificateType, ObjectClass};
use cryptoki::session::Session;
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use rustls::pki_types::CertificateDer;

use super::signer::Signer;
use super::token_key::{TokenKey, log_in, private_key, reason};
use super::{KeyName, Login};
use crate::config::Token;
use crate::proto::tls::External;
use crate::service::Failure;

/// The certificates in tokens.
pub(in crate::service) struct Certificates {
    all: Vec<Found>,
    /// Whether any token is present.
    any_token: bool,
    /// The sessions of the tokens that are logged in; the login ends with the last one.
    sessions: Vec<Session>,
}

/// A certificate in a token.
pub(in crate::service) struct Found {
    provider: Pkcs11,
    slot: Slot,
    name: KeyName,
    certificate: CertificateDer<'static>,
    asks_itself: bool,
    pin_cache: Option<Duration>,
    is_logged_in: bool,
    /// The PIN of the token that is logged in. Wiped on drop.
    pin: Option<AuthPin>,
    sessions: Vec<Session>,
}

/// A token that is present.
struct Present {
    provider: Pkcs11,
    slot: Slot,
    /// The name without an object.
    name: KeyName,
    asks_itself: bool,
}

type Ask<'a> = &'a mut dyn FnMut(&str, bool) -> Result<Login, Failure>;

impl Certificates {
    /// Reads the certificates in all tokens. Private ones need a login: `ask` gets the label of the
    /// token, and whether it asks for the PIN itself. Only tokens that the configuration's name
    /// fits are asked.
    pub(in crate::service) fn read(token: &Token, ask: Ask<'_>) -> Result<Self, Failure> {
        let name = super::name(token)?;
        let present = tokens(token)?;
        let any_token = !present.is_empty();
        let mut listed = Self { all: Vec::new(), any_token, sessions: Vec::new() };
        for present in present {
            if !token.private_certificates {
                // A token that does not answer hides no other one.
                let Ok(session) = present.provider.open_ro_session(present.slot) else { continue };
                let found = present.certificates(&session, token, None);
                listed.all.extend(found.unwrap_or_default());
                continue;
            }
            if !name.matches_token(&present.name) {
                continue;
            }
            let label = present.label().to_owned();
            let failed = |what: &str, error: &Error| {
                Failure::new(format!("token {label}: {what}: {}", reason(error)))
            };
            let pin = pin_of(ask(&label, present.asks_itself)?);
            let session = present.provider.open_ro_session(present.slot);
            let session = session.map_err(|error| failed("cannot open a session", &error))?;
            log_in(&session, pin.as_ref()).map_err(|error| refused(&label, &error))?;
            let found = present.certificates(&session, token, Some(pin));
            listed.all.extend(found.map_err(|error| failed("cannot list certificates", &error))?);
            listed.sessions.push(session);
        }
        if token.private_certificates && listed.sessions.is_empty() {
            return Err(no_token(&name, any_token));
        }
        Ok(listed)
    }

    /// Checks that a token that the name fits is present.
    pub(super) fn find_token(token: &Token, name: &KeyName) -> Result<(), Failure> {
        let all = tokens(token)?;
        match all.iter().any(|present| name.matches_token(&present.name)) {
            true => Ok(()),
            false => Err(no_token(name, !all.is_empty())),
        }
    }

    /// Returns each certificate's name, as OpenVPN writes it, and its Base64.
    pub(in crate::service) fn names(&self) -> Vec<(String, String)> {
        let entry = |found: &Found| {
            (found.name.serialized(), Base64::encode_string(found.certificate.as_ref()))
        };
        self.all.iter().map(entry).collect()
    }

    /// Returns the only certificate with this name.
    pub(in crate::service) fn choose(self, name: &KeyName) -> Result<Found, Failure> {
        let shown: Vec<String> = self.all.iter().map(|found| found.name.to_string()).collect();
        let mut meant: Vec<_> = self.all.into_iter().filter(|it| name.matches(&it.name)).collect();
        match (meant.len(), meant.pop()) {
            (1, Some(found)) => Ok(Found { sessions: self.sessions, ..found }),
            _ if !self.any_token => Err(no_token(name, false)),
            _ if shown.is_empty() => {
                Err(Failure::new("pkcs11-providers: no token with a certificate").hint(
                    "connect the token, and store a certificate beside its key, both with \
                     the same id; a private certificate also needs `pkcs11-cert-private 1`",
                ))
            }
            (0, _) => Err(Failure::new(format!("pkcs11-id: no token has {name}"))
                .hint(format!("set pkcs11-id to one of {}", shown.join(", ")))),
            _ => Err(Failure::new("pkcs11-id: several certificates have this name")
                .hint(format!("set pkcs11-id to one of {}", shown.join(", ")))),
        }
    }
}

/// Returns the error of a token that is not there. `others`: whether there are other tokens.
fn no_token(name: &KeyName, others: bool) -> Failure {
    if !others {
        return Failure::new("pkcs11-providers: no token is present").hint(
            "connect the token, or start its daemon: with cycloid-hsm, `cycloid-hsm status` must \
             succeed for this user, with the same CYCLOID_HSM_SOCKET",
        );
    }
    Failure::new(format!("pkcs11-id: no token is that of {name}"))
        .hint("connect the token, or correct pkcs11-id")
}

fn pin_of(login: Login) -> Option<AuthPin> {
    match login {
        Login::Pin(pin) => Some(AuthPin::new(pin.as_str().into())),
        Login::AtToken => None,
    }
}

fn refused(label: &str, error: &Error) -> Failure {
    Failure::new(format!("token {label}: login refused: {}", reason(error)))
        .hint("correct the PIN before the token locks itself after some more attempts")
}

impl Found {
    /// Returns the token's label, for the question for its PIN.
    pub(in crate::service) fn token_label(&self) -> &str {
        self.name.token.as_deref().unwrap_or_default()
    }

    /// Returns whether the token asks for the PIN itself.
    pub(in crate::service) fn asks_itself(&self) -> bool {
        self.asks_itself
    }

    /// Returns whether the token is logged in, because its certificates are private.
    pub(in crate::service) fn is_logged_in(&self) -> bool {
        self.is_logged_in
    }

    /// Logs in unless that is done, and returns the certificate with its key.
    pub(in crate::service) fn open(mut self, login: Option<Login>) -> Result<External, Failure> {
        let pin = login.map_or_else(|| self.pin.take(), pin_of);
        let label = self.token_label().to_owned();
        let failed = |what: &str, error: &Error| {
            Failure::new(format!("token {label}: {what}: {}", reason(error)))
        };
        let session = self.provider.open_ro_session(self.slot);
        let session = session.map_err(|error| failed("cannot open a session", &error))?;
        log_in(&session, pin.as_ref()).map_err(|error| refused(&label, &error))?;
        // The new session keeps the login.
        self.sessions.clear();
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
            TokenKey {
                provider: self.provider,
                slot: self.slot,
                name: self.name,
                pin,
                pin_until: self.pin_cache.map(|time| Instant::now() + time),
                session: Some((session, key)),
            },
        )?;
        let key = std::sync::Arc::new(signer);
        Ok(External { chain: vec![self.certificate], key, elsewhere: None })
    }
}

/// Returns the tokens of all providers.
fn tokens(token: &Token) -> Result<Vec<Present>, Failure> {
    let mut all = Vec::new();
    for path in &token.providers {
        let failed = |error: &Error| {
            Failure::new(format!("pkcs11-providers {}: {}", path.display(), reason(error)))
                .hint("name a PKCS #11 module that this user can load, with its full path")
        };
        let provider = Pkcs11::new(path).map_err(|error| failed(&error))?;
        match provider.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
            Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
            Err(error) => return Err(failed(&error)),
        }
        for slot in provider.get_slots_with_token().map_err(|error| failed(&error))? {
            let Ok(info) = provider.get_token_info(slot) else { continue };
            let name = KeyName {
                manufacturer: Some(info.manufacturer_id().to_owned()),
                model: Some(info.model().to_owned()),
                serial: Some(info.serial_number().to_owned()),
                token: Some(info.label().to_owned()),
                ..KeyName::default()
            };
            let asks_itself = token.asks_itself && info.protected_authentication_path();
            all.push(Present { provider: provider.clone(), slot, name, asks_itself });
        }
    }
    Ok(all)
}

impl Present {
    fn label(&self) -> &str {
        self.name.token.as_deref().unwrap_or_default()
    }

    /// Returns the certificates that a session sees. `login` has the PIN of one that is logged in.
    fn certificates(
        &self,
        session: &Session,
        wanted: &Token,
        login: Option<Option<AuthPin>>,
    ) -> Result<Vec<Found>, Error> {
        let template = [
            Attribute::Class(ObjectClass::CERTIFICATE),
            Attribute::CertificateType(CertificateType::X_509),
        ];
        let mut all = Vec::new();
        for handle in session.find_objects(&template)? {
            let mut name = self.name.clone();
            let known = [AttributeType::Value, AttributeType::Id, AttributeType::Label];
            let mut certificate = None;
            for attribute in session.get_attributes(handle, &known)? {
                match attribute {
                    Attribute::Value(value) => certificate = Some(value.into()),
                    Attribute::Id(id) => name.id = Some(id).filter(|id| !id.is_empty()),
                    Attribute::Label(label) => {
                        name.object =
                            String::from_utf8(label).ok().filter(|label| !label.is_empty());
                    }
                    _ => {}
                }
            }
            all.extend(certificate.map(|certificate| Found {
                provider: self.provider.clone(),
                slot: self.slot,
                name,
                certificate,
                asks_itself: self.asks_itself,
                pin_cache: wanted.pin_cache,
                is_logged_in: login.is_some(),
                pin: login.clone().flatten(),
                sessions: Vec::new(),
            }));
        }
        Ok(all)
    }
}
