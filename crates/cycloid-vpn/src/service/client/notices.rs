//! Acts on what the protocol's client reports, and decides what follows the end of a connection.

use std::net::SocketAddr;

use super::offload::Offload;
use super::wire::Wire;
use super::{After, CLOSED, Program};
use crate::config::{AuthRetry, Link};
use crate::net::data_path::Remote;
use crate::net::dco::Notice;
use crate::proto::Now;
use crate::proto::client::{Client, ClientEnd, ClientNotice};
use crate::proto::message::{TextChallenge, page_to_open, pending_timeout};
use crate::service::{Failure, random, settings};

impl Program<'_> {
    /// Acts on the kernel's notifications and refusals.
    pub(super) fn heed_kernel(
        &mut self,
        now: Now,
        client: &mut Client,
        wire: &mut Wire,
        way: Remote,
        notices: &mut Vec<ClientNotice>,
    ) {
        while let Some(notice) = self.offload.as_mut().and_then(Offload::next_notice) {
            match notice {
                Notice::Deleted { reason, .. } => {
                    client.lost(reason.text(), &mut |notice| notices.push(notice));
                }
                Notice::Floated { remote, .. } => {
                    self.say(3, &format!("the server's packets come from {remote} now"));
                }
                Notice::KeyUsedUp { .. } => {
                    let mut sink = wire.sink(&self.handle, &mut self.offload, way);
                    if let Err(error) = client.renegotiate(now, &mut random, &mut sink) {
                        notices.push(ClientNotice::Ended(ClientEnd::Failed(error)));
                    }
                }
            }
        }
        if let Some(reason) = self.offload.as_mut().and_then(Offload::take_failure) {
            let end = ClientEnd::Restart { reason, same_address: false };
            notices.push(ClientNotice::Ended(end));
        }
    }

    pub(super) fn act(
        &mut self,
        notice: ClientNotice,
        link: &Link,
        address: SocketAddr,
        wire: &Wire,
        stood: &mut bool,
    ) -> Option<After> {
        match notice {
            ClientNotice::Judge { .. } => None,
            ClientNotice::Authenticated { server, tls, options } => {
                let name = server.as_ref().map_or("no certificate", |it| &it.subject);
                self.say(1, &format!("Control Channel: {tls}, {name}"));
                let tunnel = &self.config.common.tunnel;
                if let Some(warning) = settings::other_device(tunnel, &options) {
                    self.warn(&format!("the server {warning}"));
                }
                if self.config.pull {
                    self.state("GET_CONFIG", "");
                }
                self.tell_address(server.as_ref(), address);
                self.forget_used();
                None
            }
            ClientNotice::Connected(connected) => match self.up(link, address, &connected, wire) {
                Ok(()) => {
                    *stood = true;
                    self.renew_addresses();
                    None
                }
                Err(failure) => Some(After::Stop(Err(failure))),
            },
            ClientNotice::Updated(reply) => match self.update(link, address, &reply) {
                Ok(()) => None,
                Err(failure) => {
                    self.say(1, &format!("reconnecting: an update failed: {failure}"));
                    self.state("RECONNECTING", "push-update");
                    Some(After::Same)
                }
            },
            ClientNotice::Renegotiated => {
                self.say(3, "a new key is in use");
                self.renew_addresses();
                None
            }
            ClientNotice::RenegotiationFailed(error) => {
                self.warn(&format!(
                    "a renegotiation has failed, and the old key stays in use until it expires: \
                     {error}"
                ));
                None
            }
            ClientNotice::AuthPending { text, info } => {
                let seconds = pending_timeout(&text).map_or(0, |timeout| timeout.as_secs());
                let wanted = match info.as_deref() {
                    None => "it has not decided yet".to_owned(),
                    Some(info) => match (page_to_open(info), TextChallenge::parse(info)) {
                        (Some(page), _) => format!("to log in, open {page} in a browser"),
                        (None, Some(challenge)) => challenge.question.to_owned(),
                        (None, None) => info.to_owned(),
                    },
                };
                self.say(1, &format!("the server waits up to {seconds} s: {wanted}"));
                self.state("AUTH_PENDING", &format!("timeout {seconds}"));
                None
            }
            ClientNotice::Info(text) => {
                match page_to_open(&text) {
                    Some(page) => self.say(1, &format!("the server asks to open {page}")),
                    None => {
                        let text = TextChallenge::parse(&text).map_or(&*text, |it| it.question);
                        self.say(1, &format!("message from the server: {text}"));
                    }
                }
                if let Some(management) = &mut self.context.management {
                    management.info_message(&text);
                }
                None
            }
            ClientNotice::Token(user, token) => {
                self.token = Some((user, token));
                None
            }
            ClientNotice::Ended(end) => Some(self.after(end)),
        }
    }

    fn after(&mut self, end: ClientEnd) -> After {
        match end {
            ClientEnd::Stopped => After::Stop(Ok(())),
            ClientEnd::AuthFailed { reason, retry } => {
                self.say(1, &format!("AUTH: Received control message: AUTH_FAILED {reason}"));
                self.forget_used();
                if self.take_challenge(&reason) {
                    self.refused_by_server(&reason);
                    return After::Same;
                }
                if retry.is_none() && self.token.take().is_some() {
                    self.say(1, "the token has expired: using the password again");
                    self.state("RECONNECTING", "auth-token");
                    return After::Same;
                }
                self.refused_by_server(&reason);
                if let Some(retry) = retry {
                    return After::Later(retry);
                }
                match self.auth_retry {
                    AuthRetry::None => {
                        let problem = match reason.is_empty() {
                            true => "the server refused the password or the certificate".to_owned(),
                            false => format!("the server refused the client: {reason}"),
                        };
                        let hint = "check auth-user-pass; the server's log has the reason";
                        After::Stop(Err(Failure::new(problem).hint(hint)))
                    }
                    AuthRetry::NoInteract => After::Same,
                    AuthRetry::Interact => {
                        self.credentials = None;
                        After::Same
                    }
                }
            }
            ClientEnd::Restart { reason, same_address } => {
                self.say(1, &format!("reconnecting: {reason}"));
                self.state("RECONNECTING", "server-pushed-connection-reset");
                match same_address {
                    true => After::Same,
                    false if reason == CLOSED => After::Next,
                    false => After::Leave,
                }
            }
            ClientEnd::Refused(reason) => After::Stop(Err(Failure::new(reason).hint(
                "turn compression off at the server, or set allow-compression asym, which accepts \
                 compressed packets and compresses none",
            ))),
            ClientEnd::Halt(reason) => After::Stop(Err(Failure::new(format!("ended: {reason}")))),
            ClientEnd::Expired(directive) => {
                self.say(1, &format!("exiting: {directive}"));
                self.state("EXITING", directive);
                After::Stop(Ok(()))
            }
            ClientEnd::Failed(error) => {
                self.say(1, &format!("the connection has ended: {error}"));
                let timed_out = matches!(error, crate::proto::Error::TimedOut(_));
                self.state("RECONNECTING", if timed_out { "ping-restart" } else { "tls-error" });
                let exits = self.config.common.timing.ping_exit.is_some();
                if exits && timed_out {
                    return After::Stop(Ok(()));
                }
                if timed_out { After::AtOnce } else { After::Next }
            }
        }
    }

    fn refused_by_server(&mut self, reason: &str) {
        if let Some(management) = &mut self.context.management {
            management.refused("Auth", Some(reason).filter(|it| !it.is_empty()));
        }
        self.state("RECONNECTING", "auth-failure");
    }
}
