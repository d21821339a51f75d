//! The client end of the protocol, from the first packet to an established tunnel and its renewals.
//!
//! A value is a single attempt to connect to one address. When it ends for any reason, the caller
//! creates another one, for the same address or the next.

mod interface;
mod offload;
mod options;

use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

pub use interface::{ClientEnd, ClientNotice, ClientSettings, Connected};

use super::agreement::{self, Agreement, Ciphers};
use super::data;
use super::message::{Message, pending_timeout};
use super::peer_info::protocol;
use super::push::{PushParser, PushReply, UpdateParser};
use super::session::{Beginning, OwnHello, PeerHello};
use super::timing::Timing;
use super::tunnel::{DataChannel, Failure, Sink, Tunnel, TunnelEvent};
use super::wire::{KeyId, SessionId};
use super::{Error, Now, Random, Role, Transport};

/// The capabilities of a client that pulls.
const PULL_CAPABILITIES: u32 = protocol::DATA_V2
    | protocol::REQUEST_PUSH
    | protocol::TLS_KEY_EXPORT
    | protocol::AUTH_PENDING_KEYWORDS
    | protocol::CC_EXIT_NOTIFY
    | protocol::AUTH_FAIL_TEMP
    | protocol::PUSH_UPDATE
    | protocol::DYNAMIC_TLS_CRYPT;

/// How long a server that has answered may leave packets without acknowledgement during the
/// handshake: they are sent three times meanwhile.
const STALL_TIME: Duration = Duration::from_millis(6500);

/// Interval of push requests until the reply arrives.
const PUSH_REQUEST_INTERVAL: Duration = Duration::from_secs(5);

/// The reason for leaving a server that compresses without permission.
const COMPRESSES: &str = "the server compresses packets, and allow-compression asym is not set";

/// The reason text when the server announces its exit.
const SERVER_EXIT: &str = "the server is shutting down";

/// A connection to a server.
pub struct Client {
    settings: Arc<ClientSettings>,
    tunnel: Tunnel,
    stage: Stage,
    credentials: Option<(String, Zeroizing<String>)>,
    push: PushParser,
    updates: UpdateParser,
    /// The options that apply now, after updates.
    current: PushReply,
    exit_by_control: bool,
    info: Option<String>,
    /// The times of pings, if they are sent outside of this program.
    keepalive: (Duration, Duration),
    /// When the session ends: `session-timeout`.
    session_end: Option<Duration>,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    /// Waiting for the push reply until `until`; the next request is due at the other time.
    Asking {
        until: Duration,
        next: Duration,
    },
    Up,
    Over,
}

impl Client {
    /// Starts a connection. The first packets are sent at the first [`deadline`](Self::deadline),
    /// which is immediate.
    pub fn new(
        now: Now,
        settings: Arc<ClientSettings>,
        random: &mut Random<'_>,
    ) -> Result<Self, Error> {
        let credentials = settings.credentials.clone();
        settings.tls.set_time(now.unix);
        let protection = settings.protection.protect(Role::Client)?;
        let mut tunnel = Tunnel::new(
            now,
            Role::Client,
            Beginning {
                key_id: KeyId::FIRST,
                local: SessionId::random(random),
                remote: None,
                reset: Some(protection.client_reset()),
            },
            protection,
            settings.tls.clone(),
            settings.timing,
            own_hello(&settings, credentials.as_ref()),
            random,
        )?;
        tunnel.limit_packets(settings.max_control_packet);
        Ok(Self {
            settings,
            tunnel,
            stage: Stage::Connecting,
            credentials,
            push: PushParser::default(),
            updates: UpdateParser::default(),
            current: PushReply::default(),
            exit_by_control: false,
            info: None,
            keepalive: Default::default(),
            session_end: None,
        })
    }

    /// Returns when [`tick`](Self::tick) is due, or `None` once the connection has ended.
    pub fn deadline(&self) -> Option<Duration> {
        let next = match self.stage {
            Stage::Over => return None,
            Stage::Asking { next, .. } => Some(next),
            _ => None,
        };
        let ends = self.stall().into_iter().chain(self.session_end);
        self.tunnel.deadline().into_iter().chain(next).chain(ends).min()
    }

    /// Returns when the server counts as gone: it has answered the first packet, but acknowledges
    /// no later one, as a server that has been restarted meanwhile.
    fn stall(&self) -> Option<Duration> {
        let connects = matches!(self.stage, Stage::Connecting | Stage::Asking { .. });
        let heard = self.tunnel.heard().filter(|_| connects && self.tunnel.waits())?;
        Some(heard + STALL_TIME)
    }

    /// Returns whether the connection has ended.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Processes a control packet of the server. An error is the reason why a packet was dropped,
    /// for the log; the connection continues.
    pub fn receive(
        &mut self,
        now: Now,
        packet: &mut [u8],
        random: &mut Random<'_>,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        if self.stage == Stage::Over {
            return Ok(());
        }
        self.settings.tls.set_time(now.unix);
        let mut events = Vec::new();
        let result = self.tunnel.receive(now, packet, random, &mut events);
        self.after(now, result, events, sink, notify)
    }

    /// Continues a handshake after a [step elsewhere](super::tls::Elsewhere) has ended. Without
    /// one, it does nothing.
    pub fn proceed(&mut self, now: Now, sink: &mut dyn Sink, notify: &mut dyn FnMut(ClientNotice)) {
        if self.stage == Stage::Over || !self.tunnel.is_away() {
            return;
        }
        let mut events = Vec::new();
        let result = self.tunnel.proceed(now, &mut events);
        // An error here only drops packets, and there is none.
        let _ = self.after(now, result, events, sink, notify);
    }

    /// Acts on the outcome of a packet, and transmits.
    fn after(
        &mut self,
        now: Now,
        result: Result<(), Failure>,
        events: Vec<TunnelEvent>,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        let mut outcome = Ok(());
        for event in events {
            outcome = outcome.and_then(|()| self.act(now, event, sink, notify));
        }
        match (result, outcome) {
            (Err(Failure::Dropped(error)), _) => return Err(error),
            (Err(Failure::Ended(error)), _) | (Ok(()), Err(error)) => {
                // Sends the TLS alert, which tells the server the reason.
                let _ = self.tunnel.transmit(now, sink);
                self.end(ClientEnd::Failed(error), notify);
            }
            (Ok(()), Ok(())) => self.transmit(now, sink, notify),
        }
        self.tell_failure(notify);
        Ok(())
    }

    fn tell_failure(&mut self, notify: &mut dyn FnMut(ClientNotice)) {
        if let Some(error) = self.tunnel.take_failure() {
            notify(ClientNotice::RenegotiationFailed(error));
        }
    }

    /// Continues after the machine has slept for this long. If the server has lost this client
    /// meanwhile, the connection ends. Otherwise a ping tells the server the client's address,
    /// which may be another one.
    pub fn resumed(&mut self, asleep: Duration, notify: &mut dyn FnMut(ClientNotice)) {
        let silence = self.tunnel.silence();
        if self.stage != Stage::Up || !silence.is_zero() && asleep >= silence {
            return self.end(ClientEnd::Failed(Error::TimedOut("the machine slept")), notify);
        }
        self.tunnel.resume();
    }

    /// Performs due actions.
    pub fn tick(
        &mut self,
        now: Now,
        random: &mut Random<'_>,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) {
        if self.stage == Stage::Over {
            return;
        }
        self.settings.tls.set_time(now.unix);
        if let Err(Failure::Ended(error) | Failure::Dropped(error)) =
            self.tunnel.tick(now, random, sink)
        {
            let end = self.end_by(error);
            return self.end(end, notify);
        }
        if self.session_end.is_some_and(|end| now.monotonic >= end) {
            self.tell_end(now, sink);
            return self.end(ClientEnd::Expired("session-timeout"), notify);
        }
        if self.stall().is_some_and(|end| now.monotonic >= end) {
            let gone = Error::TimedOut("the server stopped answering during the handshake");
            return self.end(ClientEnd::Failed(gone), notify);
        }
        self.tell_failure(notify);
        if let Stage::Asking { until, next } = self.stage
            && now.monotonic >= next
        {
            if now.monotonic >= until {
                let late = Error::TimedOut("the server did not send its options");
                return self.end(ClientEnd::Failed(late), notify);
            }
            self.stage = Stage::Asking { until, next: now.monotonic + PUSH_REQUEST_INTERVAL };
            if let Err(error) = self.tunnel.send_text("PUSH_REQUEST") {
                return self.end(ClientEnd::Failed(error), notify);
            }
        }
        self.transmit(now, sink, notify);
    }

    /// Starts a renegotiation.
    pub fn renegotiate(
        &mut self,
        now: Now,
        random: &mut Random<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        self.tunnel.renegotiate(now, random)?;
        self.tunnel.transmit(now, sink)
    }

    /// Approves the server, so that credentials may be sent.
    pub fn approve(
        &mut self,
        now: Now,
        key_id: KeyId,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) {
        match self.tunnel.approve(key_id) {
            Ok(()) => self.transmit(now, sink, notify),
            Err(error) => self.end(ClientEnd::Failed(error), notify),
        }
    }

    /// Answers the server's challenge with `CR_RESPONSE`.
    pub fn respond(&mut self, now: Now, text: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        self.tunnel.send_text(&format!("CR_RESPONSE,{text}"))?;
        self.tunnel.transmit(now, sink)
    }

    /// Handles the server's exit notification on the data channel.
    pub fn left(&mut self, notify: &mut dyn FnMut(ClientNotice)) {
        let end = ClientEnd::Restart { reason: SERVER_EXIT.to_owned(), same_address: false };
        self.end(end, notify);
    }

    /// Ends the connection, because a data channel outside of this program has lost the server.
    pub fn lost(&mut self, reason: &'static str, notify: &mut dyn FnMut(ClientNotice)) {
        let end = self.end_by(Error::TimedOut(reason));
        self.end(end, notify);
    }

    /// Ends the connection, and notifies the server if configured.
    pub fn stop(&mut self, now: Now, sink: &mut dyn Sink, notify: &mut dyn FnMut(ClientNotice)) {
        self.tell_end(now, sink);
        self.end(ClientEnd::Stopped, notify);
    }

    fn tell_end(&mut self, now: Now, sink: &mut dyn Sink) {
        if self.stage == Stage::Up && self.exit_by_control {
            let _ = self.tunnel.send_text("EXIT").and_then(|()| self.tunnel.transmit(now, sink));
        } else if self.stage == Stage::Up && self.settings.exit_notify {
            sink.send_data(&data::OCC_EXIT);
        } else if self.stage == Stage::Connecting {
            // Otherwise the server would wait for this session and accept no other from the same
            // address.
            self.tunnel.abandon();
            let _ = self.tunnel.transmit(now, sink);
        }
    }

    fn end(&mut self, end: ClientEnd, notify: &mut dyn FnMut(ClientNotice)) {
        if self.stage != Stage::Over {
            self.stage = Stage::Over;
            notify(ClientNotice::Ended(end));
        }
    }

    fn transmit(&mut self, now: Now, sink: &mut dyn Sink, notify: &mut dyn FnMut(ClientNotice)) {
        if let Err(error) = self.tunnel.transmit(now, sink) {
            self.end(ClientEnd::Failed(error), notify);
        }
    }

    fn act(
        &mut self,
        now: Now,
        event: TunnelEvent,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        match event {
            TunnelEvent::Hello(..) => Err(Error::Unexpected("client hello from a server")),
            TunnelEvent::Answered(KeyId::FIRST, hello) if self.stage == Stage::Connecting => {
                self.answered(now, &hello, sink, notify)
            }
            TunnelEvent::Answered(..) => {
                self.tunnel.promote(now, sink)?;
                notify(ClientNotice::Renegotiated);
                Ok(())
            }
            TunnelEvent::Judge(key_id) => {
                let server = self.tunnel.identity_of(key_id);
                notify(ClientNotice::Judge { key_id, server });
                Ok(())
            }
            TunnelEvent::Text(text) => self.take_text(now, &text, sink, notify),
        }
    }

    fn answered(
        &mut self,
        now: Now,
        hello: &PeerHello,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        notify(ClientNotice::Authenticated {
            server: self.tunnel.identity(),
            tls: self.tunnel.tls_description(),
            options: hello.options.clone(),
        });
        if self.settings.pull {
            self.stage = Stage::Asking {
                until: now.monotonic + self.settings.timing.handshake,
                next: now.monotonic + PUSH_REQUEST_INTERVAL,
            };
            return self.tunnel.send_text("PUSH_REQUEST");
        }
        let settings = &self.settings;
        let ciphers = Ciphers {
            list: &settings.ciphers,
            fallback: settings.fallback,
            digest: settings.digest,
            epochs: settings.epochs,
        };
        let exported = || self.tunnel.exported_peer_id();
        let PeerHello { peer_info, options, .. } = hello;
        let agreed = Agreement::reach(Role::Client, &ciphers, peer_info, options, exported);
        // The server already has its keys and must not wait for ours.
        let agreed = agreed.inspect_err(|_| self.tunnel.abandon())?;
        self.open(now, &agreed, PushReply::default(), sink, notify)
    }

    fn take_text(
        &mut self,
        now: Now,
        text: &[u8],
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        match Message::parse(text)? {
            Message::PushReply(options) => self.take_options(now, options, sink, notify),
            Message::PushUpdate(options) => self.take_update(options, notify),
            Message::AuthFailed { reason, retry } => {
                let end = ClientEnd::AuthFailed { reason: reason.to_owned(), retry };
                self.end(end, notify);
                Ok(())
            }
            Message::AuthPending { text } => {
                let info = self.info.take();
                notify(ClientNotice::AuthPending { text: text.to_owned(), info });
                // Limits the wait as openvpn(8), `--auth-user-pass-verify`, describes: at most half
                // of a key's lifetime.
                let Timing { handshake, renegotiate_after, .. } = self.settings.timing;
                let wait = pending_timeout(text).unwrap_or(handshake);
                let until = now.monotonic + wait.min((renegotiate_after / 2).max(handshake));
                self.tunnel.wait_until(until);
                if let Stage::Asking { next, .. } = self.stage {
                    self.stage = Stage::Asking { until, next };
                }
                Ok(())
            }
            Message::Info(text) => {
                self.info = Some(text.to_owned());
                notify(ClientNotice::Info(text.to_owned()));
                Ok(())
            }
            Message::Restart { reason, same_address } => {
                let end = ClientEnd::Restart { reason: reason.to_owned(), same_address };
                self.end(end, notify);
                Ok(())
            }
            Message::Halt { reason } => {
                self.end(ClientEnd::Halt(reason.to_owned()), notify);
                Ok(())
            }
            Message::Exit => {
                self.left(notify);
                Ok(())
            }
            Message::PushRequest | Message::CrResponse { .. } | Message::Other(_) => Ok(()),
        }
    }

    fn open(
        &mut self,
        now: Now,
        agreed: &Agreement,
        reply: PushReply,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        let Agreement { cipher, peer_id, by_exporter, dynamic, epochs, exit_by_control } = *agreed;
        self.exit_by_control = exit_by_control;
        let channel = DataChannel {
            cipher,
            peer_id,
            by_exporter,
            epochs,
            framing: reply.framing.unwrap_or(self.settings.framing),
            fragment: self.settings.fragment,
            decompress: self.settings.decompress,
            offload: self.settings.offload,
            replay_window: match self.settings.transport {
                Transport::Udp => self.settings.replay_window,
                Transport::Tcp => 0,
            },
        };
        self.tunnel.open_channel(now, channel, dynamic, sink)?;
        self.stage = Stage::Up;
        let session = self.session_time(&reply);
        self.session_end = (!session.is_zero()).then(|| now.monotonic + session);
        self.current = reply.clone();
        notify(ClientNotice::Connected(Box::new(Connected { reply, cipher })));
        Ok(())
    }
}

fn own_hello(
    settings: &ClientSettings,
    credentials: Option<&(String, Zeroizing<String>)>,
) -> OwnHello {
    let mut bits = match settings.pull {
        true => PULL_CAPABILITIES,
        false => agreement::POINT_TO_POINT,
    };
    if settings.epochs && !settings.offload {
        bits |= protocol::DATA_EPOCH;
    }
    let info = agreement::introduction(&settings.ciphers, bits, &settings.peer_info);
    OwnHello {
        options: settings.options.clone(),
        credentials: credentials.cloned(),
        peer_info: info.to_string(),
        judges: settings.judges,
    }
}
