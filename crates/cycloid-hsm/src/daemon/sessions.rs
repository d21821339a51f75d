//! Requests to log in, to set PINs, and to administer the daemon.

use std::sync::Arc;
use std::time::Instant;

use rand_core::{Rng, UnwrapErr};
use zeroize::Zeroizing;

use super::application::Application;
use super::handler::{Asked, Daemon, INITIALIZED, needs};
use super::logins;
use super::pin;
use super::token::describe;
use super::uses;
use crate::attribute::cka;
use crate::legacy::Legacy;
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

/// The turn of a login whose PIN is judged. When it ends, even by a panic, those that have waited
/// begin again.
struct Turn {
    daemon: Arc<Daemon>,
    of: logins::Of,
}

impl Drop for Turn {
    fn drop(&mut self) {
        for (asked, pin) in self.daemon.logins.end(self.of) {
            self.daemon.login(asked, self.of.0, pin);
        }
    }
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
        let asker = application.asker();
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
                legacy: None,
            }
        } else {
            TokenInfo {
                label: self.text_setting(LABEL)?,
                serial: store.serial(),
                initialized: pin::is_set(store, Role::SecurityOfficer)?,
                user_pin: pin::is_set(store, Role::User)?,
                user_failures: pin::failures(store, Role::User, asker)?,
                officer_failures: pin::failures(store, Role::SecurityOfficer, asker)?,
                locked: false,
                role,
                daemon,
                legacy: Some(self.permissions.allowed().bits()),
            }
        };
        Ok(Response::Token { info })
    }

    /// Logs in. A PIN that the daemon remembers needs no hashing, and its line in the audit log is
    /// written together with others.
    pub(super) fn login(self: &Arc<Self>, asked: Asked, role: Role, pin: Secret) {
        self.change(asked, move |daemon, asked| {
            let application = &asked.application;
            match application.role() {
                None => {}
                Some(current) => {
                    return asked.reply.send(Err(match current == role {
                        true => Code::USER_ALREADY_LOGGED_IN.into(),
                        false => Code::USER_ANOTHER_ALREADY_LOGGED_IN.into(),
                    }));
                }
            }
            // While an attempt is judged, no other PIN is compared with the remembered one either:
            // an asker tries one PIN at a time.
            let of = (role, application.asker());
            let Some(((asked, pin), first)) = daemon.logins.begin(of, (asked, pin)) else {
                return;
            };
            let turn = first.then(|| Turn { daemon: daemon.clone(), of });
            let ended = daemon.applications.times_ended();
            let recognized = match turn {
                Some(_) => daemon.judge.recognizes(&daemon.token.store, role, of.1, &pin),
                None => Ok(false),
            };
            match recognized {
                Err(error) => asked.reply.send(Err(error)),
                Ok(true) => {
                    let who = asked.application.who_as(Some(role));
                    let with = daemon.clone();
                    daemon.tasks.note(who, "login".to_owned(), move |noted| {
                        let applications = &with.applications;
                        let log_in = |()| applications.log_in(&asked.application, role, ended);
                        asked.reply.send(noted.and_then(log_in).map(|()| Response::Done {}));
                    });
                }
                Ok(false) => {
                    let Some((asked, pin, strangers)) = daemon.begin_counted(of, asked, pin) else {
                        return;
                    };
                    let turns = (turn, strangers);
                    let name = match role {
                        Role::SecurityOfficer => "officer",
                        Role::User => "user",
                        Role::Auditor => "auditor",
                    };
                    let what = format!("login as {name}");
                    daemon.with_pin(asked, role, pin, what, move |daemon, application, right| {
                        // They end with this closure, after the PIN is remembered.
                        let _turns = turns;
                        daemon.token.store.write(|write| {
                            right?.settle(write)?;
                            write.audit(&application.who_as(Some(role)), "login")
                        })?;
                        daemon.applications.log_in(application, role, ended)?;
                        Ok(Response::Done {})
                    });
                }
            }
        });
    }

    /// Begins a login whose PIN will be counted. Strangers share one budget of wrong PINs, so one
    /// of them is judged at a time: many right ones at once would count as wrong until then. Returns
    /// nothing if the login waits; its own turn ends meanwhile, and it begins again.
    fn begin_counted(
        self: &Arc<Self>,
        (role, asker): logins::Of,
        asked: Asked,
        pin: Secret,
    ) -> Option<(Asked, Secret, Option<Turn>)> {
        // If that cannot be read, the attempt cannot be counted either, and is refused.
        if !pin::Judge::is_stranger(&self.token.store, role, asker).unwrap_or(false) {
            return Some((asked, pin, None));
        }
        let of = (role, pin::STRANGERS);
        let ((asked, pin), first) = self.logins.begin(of, (asked, pin))?;
        Some((asked, pin, first.then(|| Turn { daemon: self.clone(), of })))
    }

    /// Judges a PIN entered for `what`, and then makes a change. A refusal is also written to the
    /// audit log.
    fn with_pin(
        self: &Arc<Self>,
        asked: Asked,
        role: Role,
        pin: Secret,
        what: String,
        then: impl FnOnce(&Arc<Self>, &Arc<Application>, Result<pin::Right>) -> Result<Response>
        + Send
        + 'static,
    ) {
        let finish = {
            let what = what.clone();
            move |daemon: &Arc<Self>, application: &Arc<Application>, judged: Result<_>| {
                if let Err(error) = &judged {
                    daemon.note(application, &format!("{what} refused: {error}"))?;
                }
                then(daemon, application, judged)
            }
        };
        self.change(asked, move |daemon, asked| {
            let (asker, who) = (asked.application.asker(), asked.application.who());
            match daemon.judge.count(&daemon.token.store, role, asker, &who, &what) {
                Err(error) => {
                    let answer = finish(daemon, &asked.application, Err(error));
                    asked.reply.send(answer);
                }
                Ok(counted) => daemon.compute(asked, move |daemon, asked| {
                    let judged = daemon.judge.judge(counted, &pin);
                    daemon.later(asked, |daemon, application| finish(daemon, application, judged));
                }),
            }
        });
    }

    /// Checks the user's PIN again, for one use of a key that requires it before each use (PKCS #11
    /// 3.0, section 4.9). Too many wrong PINs log the application out.
    pub(super) fn authenticate(self: &Arc<Self>, asked: Asked, key: u64, pin: Secret) {
        let application = &asked.application;
        let checked = needs(application, Role::User).and_then(|()| {
            let object = self.object(application, key, Code::KEY_HANDLE_INVALID)?;
            if !object.attributes.is(cka::ALWAYS_AUTHENTICATE) {
                return Err(
                    Code::OPERATION_NOT_INITIALIZED.because("the key requires no PIN before use")
                );
            }
            Ok(format!("{}: one use", describe(&object)))
        });
        let what = match checked {
            Err(error) => return asked.reply.send(Err(error)),
            Ok(what) => what,
        };
        let permitted = format!("{what} permitted");
        self.with_pin(asked, Role::User, pin, what, move |daemon, application, judged| {
            let right = judged.inspect_err(|error| {
                if error.code == Code::PIN_LOCKED {
                    application.log_out();
                }
            })?;
            daemon.token.store.write(|write| {
                right.settle(write)?;
                write.audit(&application.who(), &permitted)
            })?;
            application.permit(key);
            Ok(Response::Done {})
        });
    }

    pub(super) fn logout(&self, application: &Application) -> Result<Response> {
        if application.role().is_none() {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        application.log_out();
        Ok(Response::Done {})
    }

    /// Implements C_InitToken: if a security officer's PIN is set, it is required.
    pub(super) fn init_token(self: &Arc<Self>, asked: Asked, pin: Secret, label: String) {
        self.change(asked, move |daemon, asked| {
            let officer = Role::SecurityOfficer;
            let is_set =
                check_label(&label).and_then(|()| pin::is_set(&daemon.token.store, officer));
            match is_set {
                Err(error) => asked.reply.send(Err(error)),
                Ok(true) => {
                    let what = "initialising the token".to_owned();
                    daemon.with_pin(
                        asked,
                        officer,
                        pin,
                        what,
                        move |daemon, application, right| {
                            let right = right?;
                            daemon.clear_token(application, &label, |write| right.settle(write))
                        },
                    );
                }
                Ok(false) => daemon.with_fresh(asked, pin, move |daemon, application, fresh| {
                    daemon.clear_token(application, &label, |write| {
                        pin::needs_none(write, officer)?;
                        fresh.set(write, officer)
                    })
                }),
            }
        });
    }

    fn clear_token(
        &self,
        application: &Application,
        label: &str,
        permit: impl FnOnce(&mut Write<'_>) -> Result<()>,
    ) -> Result<Response> {
        let mut mark = Vec::new();
        self.token.clear(|write| {
            permit(write)?;
            mark = write.generation().0.to_le_bytes().to_vec();
            write.set_setting(INITIALIZED, &mark)?;
            for role in [Role::User, Role::Auditor] {
                pin::remove(write, role)?;
            }
            set_label(write, label)?;
            let line = format!("the token is reinitialised as {label:?}");
            write.audit(&application.who(), &line)
        })?;
        self.note_initialized(mark);
        // Logins belonged to the former token. Other requests for changes wait for this thread.
        self.applications.log_out_all();
        self.token.load()?;
        Ok(Response::Done {})
    }

    /// Hashes a new PIN, and then makes a change.
    fn with_fresh(
        self: &Arc<Self>,
        asked: Asked,
        pin: Secret,
        then: impl FnOnce(&Arc<Self>, &Arc<Application>, pin::Fresh) -> Result<Response>
        + Send
        + 'static,
    ) {
        self.compute(asked, move |daemon, asked| {
            let fresh = pin::Fresh::new(&pin);
            daemon.later(asked, move |daemon, application| then(daemon, application, fresh?));
        });
    }

    pub(super) fn init_pin(self: &Arc<Self>, asked: Asked, role: Role, pin: Secret) {
        let checked = needs(&asked.application, Role::SecurityOfficer).and_then(|()| match role {
            Role::SecurityOfficer => {
                Err(Code::USER_TYPE_INVALID.because("use SetPin to change the officer's own PIN"))
            }
            _ => Ok(()),
        });
        if let Err(error) = checked {
            return asked.reply.send(Err(error));
        }
        self.with_fresh(asked, pin, move |daemon, application, fresh| {
            needs(application, Role::SecurityOfficer)?;
            daemon.token.store.write(|write| {
                fresh.set(write, role)?;
                write.audit(&application.who(), &format!("a new PIN for {role:?}"))
            })?;
            Ok(Response::Done {})
        });
    }

    pub(super) fn set_pin(self: &Arc<Self>, asked: Asked, old: Secret, new: Secret) {
        let role = asked.application.role().unwrap_or(Role::User);
        self.compute(asked, move |daemon, asked| {
            let fresh = match pin::Fresh::new(&new) {
                Err(error) => return asked.reply.send(Err(error)),
                Ok(fresh) => fresh,
            };
            let what = format!("changing the PIN of {role:?}");
            daemon.with_pin(asked, role, old, what, move |daemon, application, right| {
                let right = right?;
                daemon.token.store.write(|write| {
                    right.settle(write)?;
                    fresh.change(write, role, application.asker())?;
                    write.audit(&application.who(), &format!("the PIN of {role:?} was changed"))
                })?;
                Ok(Response::Done {})
            });
        });
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
        let names: Vec<_> = self.permissions.allowed().iter().map(Legacy::name).collect();
        let locked = self.token.store.is_locked();
        // The settings and the objects are sealed.
        let known = |text: String| if locked { "unknown".to_owned() } else { text };
        let text = format!(
            "version       {}\nmemory        {}\nkeystore      {}\nuses of keys  {}\nlegacy        {}\n\
             objects       {}\napplications  {}\nwaiting       {}\n",
            env!("CARGO_PKG_VERSION"),
            self.memory,
            if locked { "locked" } else { "open" },
            known(if self.uses.required() { "logged" } else { "not logged" }.into()),
            known(if names.is_empty() { "nothing allowed".into() } else { names.join(", ") }),
            known(self.token.count().to_string()),
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
        let asker = application.asker();
        let is_guess = passphrase.is_some();
        if is_guess {
            self.unlocking.count(asker, Instant::now())?;
        }
        self.token.store.unlock(&Unlocking { passphrase, key_file })?;
        if is_guess {
            self.unlocking.succeeded(asker);
        }
        // The settings are known before any key is there: uses may be logged by now. They are read
        // again, because another daemon may have changed them meanwhile.
        let opened = self
            .observe()
            .and_then(|()| self.token.load())
            .and_then(|()| self.observe())
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

    /// Requires that uses of keys are logged, or no longer.
    pub(super) fn log_uses(&self, application: &Application, required: bool) -> Result<Response> {
        needs(application, Role::SecurityOfficer)?;
        self.token.store.write(|write| {
            uses::require(write, required)?;
            let now = if required { "are logged" } else { "are no longer logged" };
            write.audit(&application.who(), &format!("uses of keys {now}"))
        })?;
        self.uses.observe(&self.token.store)?;
        Ok(Response::Done {})
    }

    /// Allows a weak operation, or no longer.
    pub(super) fn allow_legacy(
        &self,
        application: &Application,
        weak: Legacy,
        allowed: bool,
    ) -> Result<Response> {
        needs(application, Role::SecurityOfficer)?;
        self.token.store.write(|write| write.allow(weak, allowed, &application.who()))?;
        self.permissions.observe(&self.token.store)?;
        Ok(Response::Done {})
    }

    pub(super) fn rotate(&self, application: &Application) -> Result<Response> {
        needs(application, Role::SecurityOfficer)?;
        let value = self.token.store.rotate_master_key(&application.who())?;
        self.token.load()?;
        Ok(Response::Number { value })
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::attribute::{Template, cko};
    use crate::daemon::application::{Applications, Peer};
    use crate::daemon::token::Token;
    use crate::store::tests::Place;

    /// No key is used before the daemon knows whether uses are logged.
    #[test]
    fn settings_are_known_before_an_unlocked_keystore_has_objects() {
        let place = Place::sqlite();
        let store = place.create();
        let mut attributes = Template::new();
        attributes.set_number(cka::CLASS, cko::DATA.into());
        let written = store.write(|write| {
            uses::require(write, true)?;
            write.insert((&attributes, None))
        });
        written.unwrap();
        store.lock();
        let token = Token::new(store, 0, Duration::MAX).unwrap();
        let daemon = Daemon::new(token, 1, Default::default());
        let (application, _) = Applications::default().welcome("test", Peer::User(7));
        // The last of the settings cannot be noted for a while.
        let held = daemon.initialized.lock().unwrap();
        thread::scope(|scope| {
            let passphrase = Some(Secret::new(b"correct horse"));
            let unlocking = scope.spawn(|| daemon.unlock(&application, passphrase, None));
            while !daemon.uses.required() && daemon.token.count() == 0 {
                thread::sleep(Duration::from_millis(1));
            }
            let seen = (daemon.uses.required(), daemon.token.count());
            drop(held);
            unlocking.join().unwrap().unwrap();
            assert_eq!(seen, (true, 0));
            assert_eq!(daemon.token.count(), 1);
        });
    }
}
