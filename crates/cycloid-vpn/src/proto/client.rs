//! The client's end: from the first packet to a tunnel that stands, and what keeps it.
//!
//! One value is one attempt to connect to one address. When it is over, for whatever reason, the
//! caller makes another, to the same address or the next.

use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use super::agreement::{self, Agreement, Ciphers};
use super::data::{self, Cipher, Digest, Framing};
use super::message::{Message, pending_timeout};
use super::peer_info::protocol;
use super::push::{PushParser, PushReply};
use super::session::{Beginning, OwnHello, PeerHello};
use super::timing::Timing;
use super::tls::{Identity, TlsFactory};
use super::tunnel::{DataChannel, Failure, Sink, Told, Tunnel};
use super::wire::{KeyId, SessionId};
use super::wrap::ProtectionKey;
use super::{Error, Now, Random, Role, Transport};

/// What a client is told once.
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// What protects the control channel.
    pub protection: ProtectionKey,
    /// Own certificate, and who the server must be.
    pub tls: TlsFactory,
    /// What carries the packets.
    pub transport: Transport,
    /// `data-ciphers`, best first.
    pub ciphers: Vec<Cipher>,
    /// `data-ciphers-fallback`: for a server that does not say.
    pub fallback: Option<Cipher>,
    /// `auth`, for CBC.
    pub digest: Digest,
    /// The options string: see [`Options`](super::options::Options).
    pub options: String,
    /// `auth-user-pass`.
    pub credentials: Option<(String, Zeroizing<String>)>,
    /// Whether the server is asked for options: `pull`, as `client` has it. Otherwise both ends agree
    /// by themselves, point to point.
    pub pull: bool,
    /// `IV_` and `UV_` values besides the protocol's own, `name=value`.
    pub peer_info: Vec<(String, String)>,
    /// When things happen by themselves; the server may set pings.
    pub timing: Timing,
    /// `comp-lzo no`, `compress`: bytes before each packet.
    pub framing: Framing,
    /// `replay-window`, packets.
    pub replay_window: u32,
    /// `explicit-exit-notify`: tell the server when leaving.
    pub exit_notify: bool,
    /// Whether each server is judged before it is told anything: see [`ClientNotice::Judge`].
    pub judges: bool,
}

/// What a client tells its caller.
#[derive(Debug)]
pub enum ClientNotice {
    /// TLS stands, and nothing was said yet, no password either: [`Client::approve`] with this key is
    /// awaited. Only where the settings want it; then with each key.
    Judge {
        /// The session's.
        key_id: KeyId,
        /// By the server's certificate.
        server: Option<Identity>,
    },
    /// TLS stands and the server has said who it is.
    Authenticated {
        /// By the server's certificate.
        server: Option<Identity>,
        /// Version and cipher suite.
        tls: String,
    },
    /// The tunnel stands; keys were installed before this.
    Connected(Box<Connected>),
    /// A new key is in use.
    Renegotiated,
    /// The server wants something of the user, and waits so many seconds for it.
    AuthPending {
        /// The text behind `AUTH_PENDING`.
        text: String,
        /// `INFO_PRE` or `INFO`: where to go, or what to answer.
        info: Option<String>,
    },
    /// Something the server says to be shown.
    Info(String),
    /// The name and password from now on, for the next connection too.
    Token(String, Zeroizing<String>),
    /// The connection is over.
    Ended(ClientEnd),
}

/// A tunnel that stands.
#[derive(Clone, Debug)]
pub struct Connected {
    /// What the server wants; nothing where it was not asked.
    pub reply: PushReply,
    /// What protects data.
    pub cipher: Cipher,
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEnd {
    /// The server refused the name and password, or the certificate's owner. The text is its own.
    AuthFailed {
        /// What the server said.
        reason: String,
        /// Whether the same will do at another time.
        temporary: bool,
    },
    /// The server asks to connect again; `[N]`: to the next address.
    Restart {
        /// What the server said.
        reason: String,
        /// Whether the same address is to be tried first.
        same_address: bool,
    },
    /// The server asks to stay away.
    Halt(String),
    /// This end was asked to stop.
    Stopped,
    /// What went wrong.
    Failed(Error),
}

/// What a client that pulls can do.
const PULLS: u32 = protocol::DATA_V2
    | protocol::REQUEST_PUSH
    | protocol::TLS_KEY_EXPORT
    | protocol::AUTH_PENDING_KEYWORDS
    | protocol::CC_EXIT_NOTIFY
    | protocol::AUTH_FAIL_TEMP
    | protocol::DYNAMIC_TLS_CRYPT;

/// Asked for, until the reply is here.
const PUSH_REQUEST_INTERVAL: Duration = Duration::from_secs(5);

/// Why a connection is over that the server has ended by an exit.
const LEAVES: &str = "the server is going";

/// One connection to one server.
pub struct Client {
    settings: Arc<ClientSettings>,
    tunnel: Tunnel,
    stage: Stage,
    credentials: Option<(String, Zeroizing<String>)>,
    push: PushParser,
    exit_by_control: bool,
    info: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    /// So long the reply is waited for; the next request goes at that time.
    Asking {
        until: Duration,
        next: Duration,
    },
    Up,
    Over,
}

impl Client {
    /// Begins a connection. The first packets go with the first [`deadline`](Self::deadline), which
    /// is at once.
    pub fn new(
        now: Now,
        settings: Arc<ClientSettings>,
        random: &mut Random<'_>,
    ) -> Result<Self, Error> {
        let credentials = settings.credentials.clone();
        settings.tls.set_time(now.unix);
        let protection = settings.protection.protect(Role::Client)?;
        let tunnel = Tunnel::new(
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
        Ok(Self {
            settings,
            tunnel,
            stage: Stage::Connecting,
            credentials,
            push: PushParser::default(),
            exit_by_control: false,
            info: None,
        })
    }

    /// When [`tick`](Self::tick) is due; `None` once the connection is over.
    pub fn deadline(&self) -> Option<Duration> {
        match self.stage {
            Stage::Over => None,
            Stage::Asking { next, .. } => {
                Some(self.tunnel.deadline().map_or(next, |deadline| deadline.min(next)))
            }
            _ => self.tunnel.deadline(),
        }
    }

    /// Whether nothing will come of this connection any more.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Takes a control packet of the server. A packet that is dropped gives the reason, for a log;
    /// the connection goes on.
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
        let mut told = Vec::new();
        let result = self.tunnel.receive(now, packet, random, &mut told);
        let mut outcome = Ok(());
        for event in told {
            outcome = outcome.and_then(|()| self.act(now, event, sink, notify));
        }
        match (result, outcome) {
            (Err(Failure::Dropped(error)), _) => return Err(error),
            (Err(Failure::Ended(error)), _) | (Ok(()), Err(error)) => {
                // An alert of TLS tells the server why.
                let _ = self.tunnel.transmit(now, sink);
                self.end(ClientEnd::Failed(error), notify);
            }
            (Ok(()), Ok(())) => self.transmit(now, sink, notify),
        }
        Ok(())
    }

    /// Does what is due.
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
            return self.end(ClientEnd::Failed(error), notify);
        }
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

    /// Begins a new key now.
    pub fn renegotiate(
        &mut self,
        now: Now,
        random: &mut Random<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        self.tunnel.renegotiate(now, random)?;
        self.tunnel.transmit(now, sink)
    }

    /// The server may be told who this is.
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

    /// Answers a challenge of the server: `CR_RESPONSE`.
    pub fn respond(&mut self, now: Now, text: &str, sink: &mut dyn Sink) -> Result<(), Error> {
        self.tunnel.send_text(&format!("CR_RESPONSE,{text}"))?;
        self.tunnel.transmit(now, sink)
    }

    /// The server has said on the data channel that it leaves.
    pub fn left(&mut self, notify: &mut dyn FnMut(ClientNotice)) {
        let end = ClientEnd::Restart { reason: LEAVES.to_owned(), same_address: false };
        self.end(end, notify);
    }

    /// Ends the connection and tells the server, if it is to be told.
    pub fn stop(&mut self, now: Now, sink: &mut dyn Sink, notify: &mut dyn FnMut(ClientNotice)) {
        if self.stage == Stage::Up && self.exit_by_control {
            let _ = self.tunnel.send_text("EXIT").and_then(|()| self.tunnel.transmit(now, sink));
        } else if self.stage == Stage::Up && self.settings.exit_notify {
            sink.send_data(&data::OCC_EXIT);
        } else if self.stage == Stage::Connecting {
            // Or the server waits for this session and takes no other from the same address.
            self.tunnel.abandon();
            let _ = self.tunnel.transmit(now, sink);
        }
        self.end(ClientEnd::Stopped, notify);
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
        told: Told,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        match told {
            Told::Hello(..) => Err(Error::Unexpected("a client's hello from a server")),
            Told::Answered(KeyId::FIRST, hello) if self.stage == Stage::Connecting => {
                self.answered(now, &hello, sink, notify)
            }
            Told::Answered(..) => {
                self.tunnel.promote(now, sink)?;
                notify(ClientNotice::Renegotiated);
                Ok(())
            }
            Told::Judge(key_id) => {
                let server = self.tunnel.identity_of(key_id);
                notify(ClientNotice::Judge { key_id, server });
                Ok(())
            }
            Told::Text(text) => self.take_text(now, &text, sink, notify),
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
        };
        let exported = || self.tunnel.exported_peer_id();
        let PeerHello { peer_info, options, .. } = hello;
        let agreed = Agreement::reach(Role::Client, &ciphers, peer_info, options, exported);
        // The server has its keys already.
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
            Message::PushReply(options) => match self.stage {
                Stage::Asking { .. } => match self.push.take(options)? {
                    Some(reply) => self.take_reply(now, reply, sink, notify),
                    None => Ok(()),
                },
                // A token made anew, or the answer to a request that was sent twice: what the tunnel is
                // like is settled.
                _ => {
                    if let Ok(Some(reply)) = PushParser::default().take(options) {
                        self.take_token(&reply, notify);
                    }
                    Ok(())
                }
            },
            Message::AuthFailed { reason, temporary } => {
                let end = ClientEnd::AuthFailed { reason: reason.to_owned(), temporary };
                self.end(end, notify);
                Ok(())
            }
            Message::AuthPending { text } => {
                let info = self.info.take();
                notify(ClientNotice::AuthPending { text: text.to_owned(), info });
                // As openvpn(8), `--auth-user-pass-verify`, has it: a server cannot make a client
                // wait longer than half of a key's life.
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

    fn take_reply(
        &mut self,
        now: Now,
        reply: PushReply,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        let cipher = match &reply.cipher {
            Some(name) => Cipher::from_name(name, self.settings.digest)
                .filter(|cipher| {
                    self.settings.ciphers.contains(cipher)
                        || self.settings.fallback == Some(*cipher)
                })
                .ok_or_else(|| {
                    Error::Incompatible(format!("the server wants the cipher {name}"))
                })?,
            None => self.settings.fallback.ok_or_else(no_cipher)?,
        };
        let timing = self.tunnel.timing_mut();
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        if let Some(ping) = reply.ping {
            timing.ping = seconds(ping);
        }
        if let Some(silence) = reply.ping_restart.or(reply.ping_exit) {
            timing.silence = seconds(silence);
        }
        if let Some((inactive, bytes)) = reply.inactive {
            timing.inactive = seconds(inactive);
            timing.inactive_bytes = bytes;
        }
        self.take_token(&reply, notify);
        let agreed = Agreement {
            cipher,
            peer_id: reply.peer_id,
            by_exporter: reply.protocol.tls_ekm,
            dynamic: reply.protocol.dynamic_tls_crypt,
            exit_by_control: reply.protocol.cc_exit,
        };
        self.open(now, &agreed, reply, sink, notify)
    }

    /// The password from now on.
    fn take_token(&mut self, reply: &PushReply, notify: &mut dyn FnMut(ClientNotice)) {
        let Some(token) = &reply.auth_token else { return };
        let user = match (&reply.auth_token_user, &self.credentials) {
            (Some(user), _) => user.clone(),
            (None, Some((user, _))) => user.clone(),
            (None, None) => String::new(),
        };
        self.credentials = Some((user.clone(), token.clone()));
        self.tunnel.own_hello_mut().credentials.clone_from(&self.credentials);
        notify(ClientNotice::Token(user, token.clone()));
    }

    fn open(
        &mut self,
        now: Now,
        agreed: &Agreement,
        reply: PushReply,
        sink: &mut dyn Sink,
        notify: &mut dyn FnMut(ClientNotice),
    ) -> Result<(), Error> {
        let Agreement { cipher, peer_id, by_exporter, dynamic, exit_by_control } = *agreed;
        self.exit_by_control = exit_by_control;
        let channel = DataChannel {
            cipher,
            peer_id,
            by_exporter,
            framing: reply.framing.unwrap_or(self.settings.framing),
            replay_window: match self.settings.transport {
                Transport::Udp => self.settings.replay_window,
                Transport::Tcp => 0,
            },
        };
        self.tunnel.open_channel(now, channel, dynamic, sink)?;
        self.stage = Stage::Up;
        notify(ClientNotice::Connected(Box::new(Connected { reply, cipher })));
        Ok(())
    }
}

fn no_cipher() -> Error {
    Error::Incompatible("the server names no cipher, and there is no data-ciphers-fallback".into())
}

fn own_hello(
    settings: &ClientSettings,
    credentials: Option<&(String, Zeroizing<String>)>,
) -> OwnHello {
    let bits = match settings.pull {
        true => PULLS,
        false => agreement::POINT_TO_POINT,
    };
    let info = agreement::introduction(&settings.ciphers, bits, &settings.peer_info);
    OwnHello {
        options: settings.options.clone(),
        credentials: credentials.cloned(),
        peer_info: info.to_string(),
        judges: settings.judges,
    }
}
