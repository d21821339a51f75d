//! Reads this end's certificate and private key. The key's passphrase comes from a file
//! (`askpass`), the management interface (`management-query-passwords`), or the user.

use std::path::Path;

use zeroize::Zeroizing;

use super::context::{Context, is_end};
use super::management::{Event, Query};
use super::{Failure, settings};
use crate::config::Common;
use crate::proto::Role;
use crate::proto::tls::TlsFactory;

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

    /// Asks a question of the server, such as for a one-time code. `echo`: whether the answer may
    /// be shown.
    ///
    /// # Errors
    /// No user is present.
    fn answer(&mut self, question: &str, echo: bool) -> Result<Zeroizing<String>, Failure>;

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
        let mut by_manager = false;
        if self.passphrase.is_none() && settings::needs_passphrase(&common.tls)? {
            let options = common.management.as_ref().map(|management| &management.options);
            by_manager = options.is_some_and(|options| options.query_passwords);
            self.passphrase = Some(match (&common.tls.key_passphrase, person) {
                (Some(Some(path)), _) => first_line(path)?,
                _ if by_manager => self.ask_manager()?,
                (_, Some(person)) => person.passphrase()?,
                (_, None) => return Err(Failure::new("the private key is encrypted")),
            });
        }
        let passphrase = self.passphrase.as_ref().map(|passphrase| passphrase.as_str());
        let tls = settings::tls(role, &common.tls, passphrase);
        if tls.is_err() && by_manager {
            self.passphrase = None;
            if let Some(management) = &mut self.management {
                management.refused(PRIVATE_KEY, None);
            }
        }
        tls
    }

    fn ask_manager(&mut self) -> Result<Zeroizing<String>, Failure> {
        if let Some(management) = &mut self.management {
            management.ask(Query { kind: PRIVATE_KEY.into(), username: false, challenge: None });
        }
        loop {
            while let Some(event) = self.next_request() {
                if let Event::Credentials { password, .. } = event {
                    return Ok(password);
                }
            }
            if self.signals().iter().any(|it| is_end(*it)) {
                return Err(Failure::new("stopped while waiting for the private key's passphrase"));
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
