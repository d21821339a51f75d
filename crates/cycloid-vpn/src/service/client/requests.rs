//! A client's exchange with its management interface: commands, states, counters and credentials.

use zeroize::Zeroizing;

use super::offload::Offload;
use super::{Program, SERVER};
use crate::config::{self, Credentials};
use crate::proto::Now;
use crate::service::context::is_end;
use crate::service::management::{self, Event, Query};
use crate::service::reports::OnePeer;
use crate::service::{Failure, Person};

impl Program<'_> {
    /// Handles pending commands and due reports. Returns the answer to the server's challenge,
    /// which only a connection can send; `now` is that connection's time.
    pub(super) fn take_requests(&mut self, now: Option<Now>) -> Option<Zeroizing<String>> {
        let mut response = None;
        while let Some(event) = self.context.next_request() {
            match event {
                Event::ChallengeResponse(text) if now.is_some() => {
                    if let Some(management) = &mut self.context.management {
                        management.success("cr-response command succeeded");
                    }
                    response = Some(text);
                }
                event => self.answer(event),
            }
        }
        let offloaded = self.offload.as_mut().map(Offload::counters);
        let peer =
            OnePeer { handle: &self.handle, offloaded, id: SERVER, is_up: self.applied.is_some() };
        self.context.report(peer, self.status.as_mut());
        response
    }

    fn answer(&mut self, event: Event) {
        let offloaded = self.offload.as_mut().map(Offload::counters);
        let peer =
            OnePeer { handle: &self.handle, offloaded, id: SERVER, is_up: self.applied.is_some() };
        let Some(event) = self.context.answer_traffic(event, peer) else { return };
        match event {
            Event::Credentials { username, password, .. } => {
                self.credentials = Some((username.unwrap_or_default(), password));
            }
            Event::ForgetPasswords => self.forget(),
            Event::Disconnected => {
                let options = self.config.common.management.as_ref().map(|it| &it.options);
                if options.is_some_and(|options| options.forget_on_disconnect) {
                    self.forget();
                }
            }
            Event::AuthRetry(method) => {
                self.auth_retry = match method {
                    management::AuthRetry::None => config::AuthRetry::None,
                    management::AuthRetry::Interact => config::AuthRetry::Interact,
                    management::AuthRetry::NoInteract => config::AuthRetry::NoInteract,
                };
            }
            // The interface itself rejects other commands as unsupported.
            _ => {}
        }
    }

    /// Forgets the password after the server has had it: `auth-nocache`. The connection keeps it for
    /// its renegotiations, and a file is where it was.
    pub(super) fn forget_used(&mut self) {
        if self.config.auth_nocache {
            self.credentials = None;
        }
    }

    fn forget(&mut self) {
        self.credentials = None;
        self.token = None;
    }

    /// Gets the user name and password if the server requires them. Returns false if a stop signal
    /// arrived instead.
    pub(super) fn ask_credentials(&mut self, person: &mut dyn Person) -> Result<bool, Failure> {
        self.ask_proxy_account(person)?;
        let options = self.config.common.management.as_ref().map(|it| &it.options);
        let by_manager = options.is_some_and(|options| options.query_passwords);
        if self.challenge.is_some() {
            if !by_manager {
                self.answer_challenge(person)?;
                return Ok(true);
            }
            // The manager's answer is valid for one attempt only.
            self.challenge = None;
            let kept = self.credentials.take();
            let answers = self.ask_manager();
            self.answered = std::mem::replace(&mut self.credentials, kept);
            return Ok(answers);
        }
        if self.credentials.is_some() || self.token.is_some() {
            return Ok(true);
        }
        if self.config.credentials.is_none() {
            return Ok(true);
        }
        let (name, password) = self.stored_credentials.clone();
        let challenge = self.config.static_challenge.is_some();
        match (name, password) {
            (Some(name), Some(password)) if !(challenge && by_manager) => {
                self.credentials = Some((name, password));
            }
            _ if by_manager => return Ok(self.ask_manager()),
            (name, _) => self.credentials = Some(person.account(name.as_deref())?),
        }
        self.answer_static_challenge(person)?;
        Ok(true)
    }

    /// Asks the management interface, and waits.
    fn ask_manager(&mut self) -> bool {
        if let Some(management) = &mut self.context.management {
            let challenge = self.config.static_challenge.clone();
            management.ask(Query { kind: "Auth".into(), username: true, challenge });
        }
        loop {
            self.take_requests(None);
            if self.credentials.is_some() {
                return true;
            }
            if self.context.signals().iter().any(|it| is_end(*it)) {
                return false;
            }
            self.context.wait([], None);
        }
    }

    /// Reports a change of state.
    pub(super) fn state(&mut self, name: &'static str, detail: &str) {
        let tunnel = self.applied.as_ref().map(|(tunnel, _)| tunnel);
        self.context.tell_state(name, detail, tunnel, self.remote);
    }
}

/// Returns the user name and password that the configuration or its file has. `auth-user-pass FILE`
/// is read here, while the program may still read it.
///
/// # Errors
/// An unreadable file.
pub(in crate::service) fn stored_credentials(
    config: &config::Client,
) -> Result<(Option<String>, Option<Zeroizing<String>>), Failure> {
    match &config.credentials {
        None => Ok((None, None)),
        Some(source) => read_credentials("auth-user-pass", source),
    }
}

/// Returns the user name and password of a source, as far as it has them.
pub(super) fn read_credentials(
    directive: &str,
    source: &Credentials,
) -> Result<(Option<String>, Option<Zeroizing<String>>), Failure> {
    Ok(match source {
        Credentials::Ask => (None, None),
        Credentials::Inline { username, password } => (Some(username.clone()), password.clone()),
        Credentials::File(path) => {
            let text = std::fs::read_to_string(path).map(Zeroizing::new).map_err(|error| {
                Failure::new(format!("{directive} {}: {error}", path.display()))
            })?;
            let mut lines = text.lines();
            let name = lines.next().unwrap_or_default().to_owned();
            if name.is_empty() {
                let problem = format!("{directive} {}: the user name is missing", path.display());
                return Err(Failure::new(problem)
                    .hint("write the user name on the first line and the password on the second"));
            }
            (Some(name), lines.next().map(|line| Zeroizing::new(line.to_owned())))
        }
    })
}
