//! A client's exchange with its management interface: commands, states, counters and credentials.

use zeroize::Zeroizing;

use super::{Program, SERVER};
use crate::config::{self, Credentials};
use crate::proto::Now;
use crate::service::context::is_end;
use crate::service::management::{self, Event, Query, StateChange};
use crate::service::metrics::Snapshot;
use crate::service::status::Counters;
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
        let now = self.context.clock.now();
        let counters = self.counters();
        if let Some(management) = &mut self.context.management
            && management.bytecount_is_due(now.monotonic)
        {
            management.bytecount(counters.link_read, counters.link_written);
        }
        if let Some(mut metrics) = self.context.metrics.take() {
            metrics.serve(now.monotonic, || self.snapshot());
            self.context.metrics = Some(metrics);
        }
        if let Some((file, every, next)) = &mut self.status
            && now.monotonic >= *next
        {
            *next = now.monotonic + *every;
            if let Err(error) = file.write(&counters.text(now.unix)) {
                self.context.warn(&format!("status: {error}"));
            }
        }
        response
    }

    fn answer(&mut self, event: Event) {
        let counters = self.counters();
        let unix = self.context.clock.now().unix;
        let Some(management) = &mut self.context.management else { return };
        match event {
            Event::Status(_) => management.lines(&counters.text(unix)),
            Event::LoadStats => {
                let (read, written) = (counters.link_read, counters.link_written);
                management.success(&format!("nclients=0,bytesin={read},bytesout={written}"));
            }
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

    fn forget(&mut self) {
        self.credentials = None;
        self.token = None;
    }

    /// Gets the user name and password if the server requires them. Returns false if a stop signal
    /// arrived instead.
    pub(super) fn ask_credentials(&mut self, person: &mut dyn Person) -> Result<bool, Failure> {
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
        let change = StateChange {
            unix: self.context.clock.now().unix,
            name,
            detail: detail.to_owned(),
            ipv4: tunnel.and_then(|tunnel| tunnel.ifconfig).map(|(address, _)| address),
            ipv6: tunnel.and_then(|tunnel| tunnel.ifconfig_ipv6).map(|it| it.address),
            remote: self.remote,
            local: None,
        };
        if let Some(management) = &mut self.context.management {
            management.state(&change);
        }
    }

    pub(super) fn counters(&self) -> Counters {
        self.handle.counters(SERVER).map(Counters::from).unwrap_or_default()
    }

    fn snapshot(&self) -> Snapshot {
        let counters = self.handle.counters(SERVER).unwrap_or_default();
        let dropped = self.handle.dropped();
        Snapshot {
            tunnels: u64::from(self.applied.is_some()),
            dropped: dropped.unknown + dropped.rejected + dropped.spoofed,
            packets_received: counters.received_packets,
            packets_sent: counters.sent_packets,
            bytes_received: counters.received_bytes,
            bytes_sent: counters.sent_bytes,
            ..Snapshot::default()
        }
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
    Ok(match &config.credentials {
        None | Some(Credentials::Ask) => (None, None),
        Some(Credentials::Inline { username, password }) => {
            (Some(username.clone()), password.clone())
        }
        Some(Credentials::File(path)) => {
            let text = std::fs::read_to_string(path).map(Zeroizing::new).map_err(|error| {
                Failure::new(format!("auth-user-pass {}: {error}", path.display()))
            })?;
            let mut lines = text.lines();
            let name = lines.next().unwrap_or_default().to_owned();
            (Some(name), lines.next().map(|line| Zeroizing::new(line.to_owned())))
        }
    })
}
