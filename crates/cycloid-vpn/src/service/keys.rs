//! Reads this end's certificate and private key. The key's passphrase comes from a file
//! (`askpass`), the management interface (`management-query-passwords`), or the user.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::context::{Context, is_end};
use super::handshake_thread::Worker;
use super::management::{Event, Query};
use super::pkcs11::{self, Certificates, KeyName, Login};
use super::{Failure, settings};
use crate::config::{Common, Token};
use crate::proto::Role;
use crate::proto::tls::{Elsewhere, External, TlsFactory};

/// The passphrase's name in the management protocol.
const PRIVATE_KEY: &str = "Private Key";

/// The name of the question for a token's certificate in the management protocol.
const CERTIFICATE: &str = "pkcs11-id-request";

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

    /// Returns the command that runs [`helper::run`](super::helper::run) in this program.
    fn helper(&self) -> Command;

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
        let with_chains = common.hooks.tls_verify.is_some();
        if let Some(token) = &common.tls.token
            && self.token.is_none()
        {
            self.token = Some(self.open_token(token, common, person)?);
            let tls = settings::tls(role, &common.tls, None, self.token.as_ref());
            return tls.map(|tls| tls.with_chains(with_chains));
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
        tls.map(|tls| tls.with_chains(with_chains))
    }

    /// Finds the certificate in a token, gets the PIN, and logs in.
    fn open_token(
        &mut self,
        token: &Token,
        common: &Common,
        person: Option<&mut dyn Person>,
    ) -> Result<External, Failure> {
        let mut person = person;
        let listed = Certificates::read(token, &mut |label, asks_itself| {
            self.login(label, asks_itself, common, &mut person)
        })
        .inspect_err(|_| self.report_refused_pin())?;
        let found = if token.chosen_by_manager {
            if let Some(management) = &mut self.management {
                management.offer_certificates(listed.names());
                management.ask_string(CERTIFICATE, "Please specify PKCS#11 id to use");
            }
            self.say(1, "waiting until the management client chooses a certificate");
            let name = self.wait_for(|event| match event {
                Event::NeedString(name) => Some(name),
                _ => None,
            })?;
            listed.choose(&KeyName::parse(&name)?)?
        } else {
            listed.choose(&pkcs11::name(token)?)?
        };
        let login = match found.is_logged_in() {
            true => None,
            false => {
                let (label, asks_itself) = (found.token_label().to_owned(), found.asks_itself());
                Some(self.login(&label, asks_itself, common, &mut person)?)
            }
        };
        let opened = found.open(login);
        if opened.is_err() {
            self.report_refused_pin();
        }
        self.asked_for_pin = None;
        let mut opened = opened?;
        let worker = Worker::new();
        let worker = worker.map_err(|error| Failure::new(format!("no eventfd: {error}")))?;
        let worker = self.signing.insert(Arc::new(worker));
        opened.elsewhere = Some(Arc::clone(worker) as Arc<dyn Elsewhere>);
        Ok(opened)
    }

    /// Gets the PIN of the token with this label.
    fn login(
        &mut self,
        label: &str,
        asks_itself: bool,
        common: &Common,
        person: &mut Option<&mut dyn Person>,
    ) -> Result<Login, Failure> {
        if asks_itself {
            self.say(1, &format!("the token {label} asks for its PIN"));
            return Ok(Login::AtToken);
        }
        let options = common.management.as_ref().map(|management| &management.options);
        let by_manager = options.is_some_and(|options| options.query_passwords);
        let pin = match (&common.tls.key_passphrase, person) {
            (Some(Some(path)), _) => first_line(path)?,
            _ if by_manager => {
                let kind = format!("{label} token");
                let pin = self.ask_manager(&kind)?;
                self.asked_for_pin = Some(kind);
                pin
            }
            (_, Some(person)) => person.pin(label)?,
            (_, None) => return Err(Failure::new("the token needs its PIN")),
        };
        Ok(Login::Pin(pin))
    }

    /// Tells the management client that its last PIN was of no use.
    fn report_refused_pin(&mut self) {
        if let (Some(kind), Some(management)) = (self.asked_for_pin.take(), &mut self.management) {
            management.refused(&kind, None);
        }
    }

    fn ask_manager(&mut self, kind: &str) -> Result<Zeroizing<String>, Failure> {
        if let Some(management) = &mut self.management {
            management.ask(Query { kind: kind.into(), username: false, challenge: None });
        }
        self.wait_for(|event| match event {
            Event::Credentials { password, .. } => Some(password),
            _ => None,
        })
    }

    /// Waits for an answer of the management client.
    fn wait_for<T>(&mut self, mut answer: impl FnMut(Event) -> Option<T>) -> Result<T, Failure> {
        loop {
            while let Some(event) = self.next_request() {
                if let Some(answer) = answer(event) {
                    return Ok(answer);
                }
            }
            if self.signals().iter().any(|it| is_end(*it)) {
                let text = "stopped while waiting for an answer of the management client";
                return Err(Failure::new(text));
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
