//! The own certificate and private key, and the key's passphrase: from a file (`askpass`), from the
//! management interface (`management-query-passwords`), or from a person.

use std::path::Path;

use zeroize::Zeroizing;

use super::management::{Event, Query};
use super::surroundings::{Surroundings, is_end};
use super::{Failure, settings};
use crate::config::Common;
use crate::proto::Role;
use crate::proto::tls::TlsFactory;

/// What the management interface calls the passphrase.
const PRIVATE_KEY: &str = "Private Key";

/// Who sits before the program, if anybody.
pub trait Person {
    /// A name and a password; the name is given if it is known.
    ///
    /// # Errors
    /// Nobody is there.
    fn account(&mut self, name: Option<&str>) -> Result<(String, Zeroizing<String>), Failure>;

    /// The passphrase of the private key.
    ///
    /// # Errors
    /// Nobody is there.
    fn passphrase(&mut self) -> Result<Zeroizing<String>, Failure>;

    /// What privileges are given up are so: from here on, there may be threads of the program's own.
    fn privileges_are_dropped(&mut self) {}
}

impl Surroundings {
    /// Reads keys and certificates. The passphrase, if one is needed, is asked for once and kept for
    /// the next time; then there need not be a person.
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
                return Err(Failure::new("ended before the private key's passphrase was given"));
            }
            self.wait([], None);
        }
    }
}

fn first_line(path: &Path) -> Result<Zeroizing<String>, Failure> {
    let text = std::fs::read_to_string(path)
        .map(Zeroizing::new)
        .map_err(|error| Failure::new(format!("askpass {}: {error}", path.display())))?;
    Ok(Zeroizing::new(text.lines().next().unwrap_or_default().to_owned()))
}
