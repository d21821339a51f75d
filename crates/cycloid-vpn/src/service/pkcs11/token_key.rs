//! A private key in a token: its session, and another one after the token was away.

use std::time::Instant;

use cryptoki::context::Pkcs11;
use cryptoki::error::{Error, RvError};
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;

use super::KeyName;

/// A private key in a token, and the session with it.
pub(super) struct TokenKey {
    pub(super) provider: Pkcs11,
    pub(super) slot: Slot,
    pub(super) name: KeyName,
    /// For another login, after the token or its daemon was away, and until when it is kept. Wiped
    /// on drop.
    pub(super) pin: Option<AuthPin>,
    pub(super) pin_until: Option<Instant>,
    pub(super) session: Option<(Session, ObjectHandle)>,
}

impl TokenKey {
    /// Uses the key. Opens another session once if the token has lost the last one.
    pub(super) fn with_key(
        &mut self,
        mut act: impl FnMut(&Session, ObjectHandle) -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, String> {
        if let Some((session, key)) = &self.session {
            match act(session, *key) {
                Err(error) if is_lost(&error) => {}
                outcome => return outcome.map_err(|error| reason(&error)),
            }
        }
        // Dropped first: it closes the lost session.
        self.session = None;
        if self.pin_until.is_some_and(|until| Instant::now() > until) && self.pin.take().is_some() {
            return Err("the session is lost, and the PIN is not kept (pkcs11-pin-cache)".into());
        }
        let session = self.provider.open_ro_session(self.slot).map_err(|error| reason(&error))?;
        log_in(&session, self.pin.as_ref()).map_err(|error| reason(&error))?;
        let key = private_key(&session, &self.name).map_err(|error| reason(&error))?;
        let key = key.ok_or("the key is no longer in the token")?;
        // A session that fails is not used again: its state is unknown.
        let signature = act(&session, key).map_err(|error| reason(&error))?;
        self.session = Some((session, key));
        Ok(signature)
    }
}

/// Returns whether another session may succeed.
fn is_lost(error: &Error) -> bool {
    matches!(
        error,
        Error::Pkcs11(
            RvError::SessionHandleInvalid
                | RvError::SessionClosed
                | RvError::DeviceRemoved
                | RvError::DeviceError
                | RvError::TokenNotPresent
                | RvError::KeyHandleInvalid
                | RvError::ObjectHandleInvalid
                | RvError::UserNotLoggedIn
                | RvError::OperationActive,
            _
        )
    )
}

pub(super) fn log_in(session: &Session, pin: Option<&AuthPin>) -> Result<(), Error> {
    match session.login(UserType::User, pin) {
        // All sessions of a program share the login.
        Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(()),
        outcome => outcome,
    }
}

pub(super) fn private_key(
    session: &Session,
    name: &KeyName,
) -> Result<Option<ObjectHandle>, Error> {
    let mut template = vec![Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::Sign(true)];
    match (&name.id, &name.object) {
        (Some(id), _) => template.push(Attribute::Id(id.clone())),
        (None, Some(label)) => template.push(Attribute::Label(label.clone().into_bytes())),
        (None, None) => {}
    }
    Ok(session.find_objects(&template)?.first().copied())
}

/// Returns the cause of a failure in words.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::Pkcs11(RvError::PinIncorrect, _) => "the PIN is wrong".into(),
        Error::Pkcs11(RvError::PinLocked, _) => "the PIN is locked".into(),
        Error::Pkcs11(RvError::PinLenRange | RvError::PinInvalid, _) => {
            "no PIN of this token looks like that".into()
        }
        Error::Pkcs11(code, _) => format!("{code:?}"),
        other => other.to_string(),
    }
}
