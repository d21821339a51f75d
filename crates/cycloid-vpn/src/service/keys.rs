//! Reads this end's certificate and private key. The key's passphrase comes from a file
//! (`askpass`), the management interface (`management-query-passwords`), or the user.

use std::path::Path;

use zeroize::Zeroizing;

use super::context::{Context, is_end};
use super::management::{Event, Query};
use super::pkcs11::{self, Login};
use super::{Failure, settings};
use crate::config::{Common, Token};
use crate::proto::Role;
use crate::proto::tls::{External, TlsFactory};

/// The passphrase's name in the management protocol.
const PRIVATE_KEY: &str = "Private Key";

/// The user at the terminal, if any.
pub trait Person {
    /// Asks for a user name and password. `name` is the user name if it is known.
    ///
    /// # Errors
    /// No user is present.
    fn account(&mut self, name: Option<&str>) -> Result<(String, Zeroizing<String>), Failure>;

    /// Asks for the private key's passphrase.
    ///
    /// # Errors
    /// No user is present.
    fn passphrase(&mut self) -> Result<Zeroizing<String>, Failure>;

    /// Asks for the PIN of the token with this label.
    ///
    /// # Errors
    /// No user is present.
    fn pin(&mut self, token: &str) -> Result<Zeroizing<String>, Failure>;

    /// Asks a question of the server, such as for a one-time code. `echo`: whether the answer may
    /// be shown.
    ///
    /// # Errors
    /// No user is present.
    fn answer(&mut self, question: &str, echo: bool) -> Result<Zeroizing<String>, Failure>;

    /// Returns whether somebody can be asked at the terminal.
    fn is_present(&self) -> bool;

    /// Returns what asks a question, as [`answer`](Self::answer) does, on another thread.
    fn later(
        &mut self,
        question: &str,
        echo: bool,
    ) -> Box<dyn FnOnce() -> Result<Zeroizing<String>, Failure> + Send>;

    /// Called after privileges were dropped: from now on the program may start threads.
    fn privileges_are_dropped(&mut self) {}
}

impl Context {
    /// Reads keys and certificates. Asks for the passphrase once if needed and keeps it, so that
    /// later calls work without `person`.
    pub(super) fn tls(
        &mut self,
        role: Role,
        common: &Common,
        person: Option<&mut dyn Person>,
    ) -> Result<TlsFactory, Failure> {
        if let Some(token) = &common.tls.token
            && self.token.is_none()
        {
            self.token = Some(self.open_token(token, common, person)?);
            return settings::tls(role, &common.tls, None, self.token.as_ref());
        }
        let mut by_manager = false;
        if self.passphrase.is_none() && settings::needs_passphrase(&common.tls)? {
            let options = common.management.as_ref().map(|management| &management.options);
            by_manager = options.is_some_and(|options| options.query_passwords);
            self.passphrase = Some(match (&common.tls.key_passphrase, person) {
                (Some(Some(path)), _) => first_line(path)?,
                _ if by_manager => self.ask_manager(PRIVATE_KEY)?,
                (_, Some(person)) => person.passphrase()?,
                (_, None) => return Err(Failure::new("the private key is encrypted")),
            });
        }
        let passphrase = self.passphrase.as_ref().map(|passphrase| passphrase.as_str());
        let tls = settings::tls(role, &common.tls, passphrase, self.token.as_ref());
        if tls.is_err() && by_manager {
            self.passphrase = None;
            if let Some(management) = &mut self.management {
                management.refused(PRIVATE_KEY, None);
            }
        }
        tls
    }

    /// Finds the certificate in a token, gets the PIN, and logs in.
    fn open_token(
        &mut self,
        token: &Token,
        common: &Common,
        person: Option<&mut dyn Person>,
    ) -> Result<External, Failure> {
        let found = pkcs11::find(token)?;
        if found.asks_itself() {
            let text = format!("the token {} asks for its PIN", found.token_label());
            self.say(1, &text);
            return found.open(Login::AtToken);
        }
        let options = common.management.as_ref().map(|management| &management.options);
        let by_manager = options.is_some_and(|options| options.query_passwords);
        let kind = format!("{} token", found.token_label());
        let pin = match (&common.tls.key_passphrase, person) {
            (Some(Some(path)), _) => first_line(path)?,
            _ if by_manager => self.ask_manager(&kind)?,
            (_, Some(person)) => person.pin(found.token_label())?,
            (_, None) => return Err(Failure::new("the token needs its PIN")),
        };
        let opened = found.open(Login::Pin(pin));
        if let (Err(_), true, Some(management)) = (&opened, by_manager, &mut self.management) {
            management.refused(&kind, None);
        }
        opened
    }

    fn ask_manager(&mut self, kind: &str) -> Result<Zeroizing<String>, Failure> {
        if let Some(management) = &mut self.management {
            management.ask(Query { kind: kind.into(), username: false, challenge: None });
        }
        loop {
            while let Some(event) = self.next_request() {
                if let Event::Credentials { password, .. } = event {
                    return Ok(password);
                }
            }
            if self.signals().iter().any(|it| is_end(*it)) {
                return Err(Failure::new("stopped while waiting for the passphrase or PIN"));
            }
            self.wait([], None);
        }
    }
}

pub(super) fn first_line(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let text = std::fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|error| Failure::new(format!("askpass {}: {error}", path.display())))?;
    Ok(Zeroizing::new(text.lines().next().unwrap_or_default().to_owned()))
}
