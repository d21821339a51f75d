//! Requests to log in, to set PINs, and to administer the daemon.

use std::sync::Arc;

use rand_core::{Rng, UnwrapErr};
use zeroize::Zeroizing;

use super::application::Application;
use super::handler::{Daemon, needs};
use super::pin;
use super::token::describe;
use crate::attribute::cka;
use crate::rpc::message::{Response, TokenInfo};
use crate::rpc::{Role, Secret};
use crate::store::{Unlocking, Write};
use crate::{Code, Result};

/// The maximum number of random bytes in one answer.
const MOST_RANDOM: u32 = 64 * 1024;

/// The maximum number of audit lines in one answer.
const MOST_LINES: u32 = 1000;

const LABEL: &str = "token.label";

/// Checks a token's label.
pub(super) fn check_label(label: &str) -> Result<()> {
    if label.len() > 32 || label.chars().any(char::is_control) {
        return Err(Code::ARGUMENTS_BAD
            .because("a label must have at most 32 bytes and no control characters"));
    }
    Ok(())
}

/// Sets the token's label.
pub(super) fn set_label(write: &mut Write<'_>, label: &str) -> Result<()> {
    check_label(label)?;
    write.set_setting(LABEL, label.as_bytes())
}

impl Daemon {
    fn text_setting(&self, name: &str) -> Result<String> {
        let value = self.token.store.setting(name)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&value).into_owned())
    }

    pub(super) fn token_info(&self, application: &Application) -> Result<Response> {
        let store = &self.token.store;
        let role = application.role().map(|role| role as u8);
        let daemon = env!("CARGO_PKG_VERSION").to_owned();
        let info = if store.is_locked() {
            TokenInfo {
                label: String::new(),
                serial: store.serial(),
                initialized: true,
                user_pin: false,
                user_failures: 0,
                officer_failures: 0,
                locked: true,
                role,
                daemon,
            }
        } else {
            TokenInfo {
                label: self.text_setting(LABEL)?,
                serial: store.serial(),
                initialized: pin::is_set(store, Role::SecurityOfficer)?,
                user_pin: pin::is_set(store, Role::User)?,
                user_failures: pin::failures(store, Role::User)?,
                officer_failures: pin::failures(store, Role::SecurityOfficer)?,
                locked: false,
                role,
                daemon,
            }
        };
        Ok(Response::Token { info })
    }

    pub(super) fn login(
        &self,
        application: &Application,
        role: Role,
        pin: &[u8],
    ) -> Result<Response> {
        match application.role() {
            Some(current) if current == role => return Err(Code::USER_ALREADY_LOGGED_IN.into()),
            Some(_) => return Err(Code::USER_ANOTHER_ALREADY_LOGGED_IN.into()),
            None => {}
        }
        let right = self.judge(application, role, pin, &format!("login as {role:?}"))?;
        self.token.store.write(|write| {
            right.settle(write)?;
            write.audit(&application.who_as(Some(role)), "login")
        })?;
        application.set_role(Some(role));
        Ok(Response::Done {})
    }

    /// Judges a PIN entered for `what`; a refusal is also written to the audit log.
    fn judge(
        &self,
        application: &Application,
        role: Role,
        pin: &[u8],
        what: &str,
    ) -> Result<pin::Right> {
        let judged = self.judge.judge(&self.token.store, role, pin, &application.who(), what);
        if let Err(error) = &judged {
            self.note(application, &format!("{what} refused: {error}"))?;
        }
        judged
    }

    /// Checks the user's PIN again, for one use of a key that requires it before each use (PKCS #11
    /// 3.0, section 4.9). Too many wrong PINs log the application out.
    pub(super) fn authenticate(
        &self,
        application: &Application,
        key: u64,
        pin: &[u8],
    ) -> Result<Response> {
        needs(application, Role::User)?;
        let object = self.object(application, key, Code::KEY_HANDLE_INVALID)?;
        if !object.attributes.is(cka::ALWAYS_AUTHENTICATE) {
            return Err(
                Code::OPERATION_NOT_INITIALIZED.because("the key requires no PIN before use")
            );
        }
        let what = format!("{}: one use", describe(&object));
        let right = self.judge(application, Role::User, pin, &what).inspect_err(|error| {
            if error.code == Code::PIN_LOCKED {
                application.log_out();
            }
        })?;
        self.token.store.write(|write| {
            right.settle(write)?;
            write.audit(&application.who(), &format!("{what} permitted"))
        })?;
        application.permit(key);
        Ok(Response::Done {})
    }

    pub(super) fn logout(&self, application: &Application) -> Result<Response> {
        if application.role().is_none() {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        application.log_out();
        Ok(Response::Done {})
    }

    /// Implements C_InitToken: if a security officer's PIN is set, it is required.
    pub(super) fn init_token(
        &self,
        application: &Application,
        pin: &[u8],
        label: &str,
    ) -> Result<Response> {
        let store = &self.token.store;
        check_label(label)?;
        let officer = Role::SecurityOfficer;
        let known = match pin::is_set(store, officer)? {
            true => Ok(self.judge(application, officer, pin, "initialising the token")?),
            false => Err(pin::Fresh::new(pin)?),
        };
        self.token.clear(|write| {
            match known {
                Ok(right) => right.settle(write)?,
                Err(fresh) => {
                    pin::needs_none(write, officer)?;
                    fresh.set(write, officer)?;
                }
            }
            for role in [Role::User, Role::Auditor] {
                pin::remove(write, role)?;
            }
            set_label(write, label)?;
            let line = format!("the token is reinitialised as {label:?}");
            write.audit(&application.who(), &line)
        })?;
        // Logins belonged to the former token. Other requests for changes wait for this thread.
        self.applications.log_out_all();
        self.token.load()?;
        Ok(Response::Done {})
    }

    pub(super) fn init_pin(
        &self,
        application: &Application,
        role: Role,
        pin: &[u8],
    ) -> Result<Response> {
        needs(application, Role::SecurityOfficer)?;
        if role == Role::SecurityOfficer {
            return Err(
                Code::USER_TYPE_INVALID.because("use SetPin to change the officer's own PIN")
            );
        }
        let fresh = pin::Fresh::new(pin)?;
        self.token.store.write(|write| {
            fresh.set(write, role)?;
            write.audit(&application.who(), &format!("a new PIN for {role:?}"))
        })?;
        Ok(Response::Done {})
    }

    pub(super) fn set_pin(
        &self,
        application: &Application,
        old: &[u8],
        new: &[u8],
    ) -> Result<Response> {
        let role = application.role().unwrap_or(Role::User);
        let fresh = pin::Fresh::new(new)?;
        let right = self.judge(application, role, old, &format!("changing the PIN of {role:?}"))?;
        self.token.store.write(|write| {
            right.settle(write)?;
            fresh.set(write, role)?;
            write.audit(&application.who(), &format!("the PIN of {role:?} was changed"))
        })?;
        Ok(Response::Done {})
    }

    pub(super) fn random(&self, length: u32) -> Result<Response> {
        if length > MOST_RANDOM {
            return Err(Code::ARGUMENTS_BAD.because("too many random bytes in one request"));
        }
        let mut data = Zeroizing::new(vec![0; length as usize]);
        UnwrapErr(getrandom::SysRng).fill_bytes(&mut data);
        Ok(Response::Data { data: Secret(data) })
    }

    pub(super) fn status(&self) -> Result<Response> {
        let text = format!(
            "version       {}\nmemory        {}\nkeystore      {}\nobjects       {}\napplications  {}\n\
             waiting       {}\n",
            env!("CARGO_PKG_VERSION"),
            self.memory,
            if self.token.store.is_locked() { "locked" } else { "open" },
            self.token.count(),
            self.applications.count(),
            self.engine.depths().iter().map(|(_, depth)| depth).sum::<usize>(),
        );
        Ok(Response::Text { text })
    }

    pub(super) fn unlock(
        &self,
        application: &Application,
        passphrase: Option<Secret>,
        key_file: Option<Secret>,
    ) -> Result<Response> {
        if !self.token.store.is_locked() {
            return Ok(Response::Done {});
        }
        self.token.store.unlock(&Unlocking { passphrase, key_file })?;
        let opened = self
            .token
            .load()
            .and_then(|()| self.judge.observe(&self.token.store))
            .and_then(|()| self.note(application, "the keystore was unlocked"));
        // A corrupt store, or one that cannot record the unlocking, is locked again.
        opened.inspect_err(|_| self.token.lock())?;
        Ok(Response::Done {})
    }

    pub(super) fn lock(&self, application: &Arc<Application>) -> Result<Response> {
        needs(application, Role::SecurityOfficer)?;
        let noted = self.note(application, "the keystore was locked");
        // The keystore is locked even if this line cannot be written: an unlocked keystore is worse
        // than a missing line.
        self.applications.log_out_all();
        self.token.lock();
        noted?;
        Ok(Response::Done {})
    }

    pub(super) fn audit_entries(
        &self,
        application: &Application,
        from: u64,
        limit: u32,
    ) -> Result<Response> {
        if !matches!(application.role(), Some(Role::SecurityOfficer | Role::Auditor)) {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        let entries = self.token.store.audit_entries(from, limit.min(MOST_LINES))?;
        Ok(Response::Audit { entries })
    }

    pub(super) fn rotate(&self, application: &Application) -> Result<Response> {
        needs(application, Role::SecurityOfficer)?;
        let value = self.token.store.rotate_master_key(&application.who())?;
        self.token.load()?;
        Ok(Response::Number { value })
    }
}
