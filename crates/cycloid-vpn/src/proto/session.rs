//! A session negotiates one key: a reliable channel, TLS over it, and the exchange of key sources.
//!
//! A connection starts with one session and gets another at every renegotiation. Each session has
//! its own key id, message numbers and TLS connection. Both ends start with a reset. Once the peer
//! has acknowledged ours, TLS runs. Then the client sends its half of the key exchange and the
//! server answers with its half. After that, both may send texts.

use std::time::Duration;

use zeroize::Zeroizing;

use super::key_method::{self, Credentials, KeySource};
use super::peer_info::PeerInfo;
use super::reliable::{ReceiveWindow, Received, SendWindow};
use super::tls::{Identity, Tls, TlsFactory};
use super::wire::{
    Acks, Control, HEADER_LEN, Header, KeyId, Opcode, SessionId, asks_for_wrapped_key,
};
use super::wrap::Protection;
use super::{Error, Now, Random, Role};

/// Unprotected bytes of a control packet besides its payload: opcode, session id, four
/// acknowledgements with their session id, message id.
const PLAIN_OVERHEAD: usize = HEADER_LEN + (1 + 4 * ACKS_WITH_MESSAGE + SessionId::LEN) + 4;

/// The least content of a packet, whatever its limit.
const LEAST_CONTENT: usize = 16;

/// Number of acknowledgements sent along with a message.
const ACKS_WITH_MESSAGE: usize = 4;

/// Maximum length of texts and of the peer's key exchange message.
const MAX_MESSAGE: usize = 1 << 16;

/// The progress of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// The reset is in flight.
    Reset,
    /// The TLS handshake is running.
    Handshake,
    /// A server waits for the client's half, a client for the server's.
    KeyExchange,
    /// A server has received the client's half and has not answered yet.
    Answer,
    /// Both key sources are known.
    Established,
}

/// An event of a session.
#[derive(Debug)]
pub(super) enum Outcome {
    /// For a server: a client wants to connect. Waits for `answer`.
    Hello(Box<PeerHello>),
    /// For a client that approves servers: TLS is established. Waits for `approve`.
    Judge,
    /// For a client: the server has answered.
    Answered(Box<PeerHello>),
    /// A text, without its final zero byte.
    Text(Zeroizing<Vec<u8>>),
}

/// Fatal alerts: RFC 8446, 5.1 and 6. They are unencrypted. A peer that already has TLS keys sees a
/// broken record and ends as well.
const INTERNAL_ERROR: [u8; 7] = [21, 3, 3, 0, 2, 2, 80];
const USER_CANCELED: [u8; 7] = [21, 3, 3, 0, 2, 2, 90];

/// The peer's half of the key exchange.
#[derive(Debug)]
pub(super) struct PeerHello {
    /// The options string.
    pub(super) options: String,
    /// Without control characters. Empty if absent.
    pub(super) username: Zeroizing<String>,
    /// Without control characters. Empty if absent.
    pub(super) password: Zeroizing<String>,
    /// The peer information.
    pub(super) peer_info: PeerInfo,
}

/// This end's half of the key exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnHello {
    pub(super) options: String,
    /// User name, and password or token.
    pub(super) credentials: Option<(String, Zeroizing<String>)>,
    pub(super) peer_info: String,
    /// Whether a client waits for approval of the server before it sends this.
    pub(super) judges: bool,
}

/// The start of a session.
pub(super) struct Beginning {
    pub(super) key_id: KeyId,
    pub(super) local: SessionId,
    pub(super) remote: Option<SessionId>,
    /// The opcode of the reset; `None` if a stateless server has already sent it and the peer has
    /// acknowledged it.
    pub(super) reset: Option<Opcode>,
}

/// The state of a client's approval of its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Due,
    Awaited,
    Given,
}

/// One key and its negotiation.
pub(super) struct Session {
    role: Role,
    key_id: KeyId,
    local: SessionId,
    remote: Option<SessionId>,
    progress: Progress,
    began: Duration,
    send: SendWindow,
    receive: ReceiveWindow,
    tls: Tls,
    /// TLS output that is not in the send window yet.
    outgoing: Vec<u8>,
    /// Whether the first message after the reset must carry the wrapped key.
    wrapped_key_wanted: bool,
    own: KeySource,
    own_hello: OwnHello,
    judgement: Judgement,
    peers: Option<KeySource>,
}

impl Session {
    pub(super) fn new(
        now: Now,
        role: Role,
        beginning: Beginning,
        own_hello: OwnHello,
        factory: &TlsFactory,
        random: &mut Random<'_>,
    ) -> Result<Self, Error> {
        // If the resets were exchanged without this session, it continues after them.
        let first = u32::from(beginning.reset.is_none());
        let mut send = SendWindow::starting_at(first);
        let receive = ReceiveWindow::starting_at(first);
        if let Some(opcode) = beginning.reset {
            send.push(opcode, &[]);
        }
        Ok(Self {
            role,
            key_id: beginning.key_id,
            local: beginning.local,
            remote: beginning.remote,
            progress: if beginning.reset.is_some() { Progress::Reset } else { Progress::Handshake },
            began: now.monotonic,
            send,
            receive,
            tls: factory.connect()?,
            outgoing: Vec::new(),
            wrapped_key_wanted: false,
            own: KeySource::generate(role, random),
            judgement: if own_hello.judges { Judgement::Due } else { Judgement::Given },
            own_hello,
            peers: None,
        })
    }

    pub(super) fn key_id(&self) -> KeyId {
        self.key_id
    }

    pub(super) fn remote(&self) -> Option<SessionId> {
        self.remote
    }

    /// Returns when the session began.
    pub(super) fn began(&self) -> Duration {
        self.began
    }

    /// Returns whether both halves of the key are known.
    pub(super) fn is_established(&self) -> bool {
        self.progress == Progress::Established
    }

    /// Returns whether the peer is known to have both halves, too.
    pub(super) fn is_confirmed(&self) -> bool {
        self.is_established() && self.outgoing.is_empty() && self.send.is_empty()
    }

    /// Returns whether sent packets are not acknowledged yet.
    pub(super) fn waits(&self) -> bool {
        !self.send.is_empty()
    }

    /// Returns whether there is TLS output that was never sent.
    pub(super) fn has_output(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Returns the peer's identity from its certificate.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.tls.peer()
    }

    /// Returns the TLS version and cipher suite.
    pub(super) fn tls_description(&self) -> String {
        self.tls.description()
    }

    /// Frees the memory that is kept for later packets: an established session has few.
    pub(super) fn shrink(&mut self) {
        self.send.shrink();
        self.receive.shrink();
        self.tls.shrink();
        self.outgoing.shrink_to_fit();
    }

    /// Processes an authentic packet of this session and reports events.
    pub(super) fn receive(
        &mut self,
        packet: &Control<'_>,
        mut tell: impl FnMut(Outcome) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.take_acks(packet)?;
        if let Some((id, payload)) = packet.message
            && self.receive.accept(id, packet.header.opcode, payload) == Received::OutOfWindow
        {
            return Err(Error::Unexpected("a message outside of the receive window"));
        }
        while let Some((opcode, payload)) = self.receive.pop_in_order() {
            match opcode {
                Opcode::Control | Opcode::ControlWkc => {
                    // The peer has our reset, even if its acknowledgement was lost.
                    self.progress = self.progress.max(Progress::Handshake);
                    self.take_tls(&payload, &mut tell)?;
                }
                Opcode::HardResetServerV2 => {
                    self.wrapped_key_wanted = asks_for_wrapped_key(&payload)?;
                }
                _ => {}
            }
            self.receive.recycle(payload);
            self.advance()?;
        }
        self.advance()?;
        self.judge(tell)
    }

    /// Processes the acknowledgements of a packet, if it is from this session's peer.
    pub(super) fn take_acks(&mut self, packet: &Control<'_>) -> Result<(), Error> {
        if packet.remote.is_some_and(|remote| remote != self.local) {
            return Err(Error::NotAuthentic("acknowledges packets of another session"));
        }
        let session = packet.header.session;
        match self.remote {
            Some(remote) if remote == session => {}
            Some(_) => return Err(Error::NotAuthentic("another session")),
            // Only an answer to the reset identifies the peer's session.
            None if packet.header.opcode == Opcode::HardResetServerV2
                && packet.remote.is_some() =>
            {
                self.remote = Some(session);
            }
            None => return Err(Error::Unexpected("no answer to the reset")),
        }
        for id in packet.acks.as_slice() {
            self.send.acknowledge(*id);
        }
        Ok(())
    }

    /// Returns whether a step of the handshake runs elsewhere.
    pub(super) fn is_away(&self) -> bool {
        self.tls.is_away()
    }

    /// Continues after a step of the handshake that has ended elsewhere.
    pub(super) fn proceed(
        &mut self,
        mut tell: impl FnMut(Outcome) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut messages = Vec::new();
        let result = self.tls.proceed(|message| messages.push(message));
        self.take_messages(messages, result, &mut tell)?;
        self.advance()?;
        self.judge(tell)
    }

    fn judge(&mut self, mut tell: impl FnMut(Outcome) -> Result<(), Error>) -> Result<(), Error> {
        if self.progress == Progress::KeyExchange && self.judgement == Judgement::Due {
            self.judgement = Judgement::Awaited;
            tell(Outcome::Judge)?;
        }
        Ok(())
    }

    /// Approves the server, so that the client continues. Later calls have no effect.
    pub(super) fn approve(&mut self) -> Result<(), Error> {
        if self.judgement == Judgement::Awaited {
            self.judgement = Judgement::Given;
            self.send_hello()?;
            self.tls.take_output(&mut self.outgoing);
        }
        Ok(())
    }

    /// Ends the exchange with an alert.
    pub(super) fn abandon(&mut self) {
        if self.progress >= Progress::Handshake {
            self.outgoing.extend_from_slice(&USER_CANCELED);
        }
    }

    fn take_tls(
        &mut self,
        bytes: &[u8],
        tell: &mut impl FnMut(Outcome) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut messages = Vec::new();
        let result = self.tls.receive(bytes, |message| messages.push(message));
        self.take_messages(messages, result, tell)
    }

    /// Acts on the outcome of bytes for TLS.
    fn take_messages(
        &mut self,
        messages: Vec<Zeroizing<Vec<u8>>>,
        result: Result<(), Error>,
        tell: &mut impl FnMut(Outcome) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // All TLS output must be sent, alerts included.
        self.tls.take_output(&mut self.outgoing);
        if matches!(result, Err(Error::Unsigned(_))) {
            // TLS has no alert for it, and the peer would wait for the rest of the handshake.
            self.outgoing.extend_from_slice(&INTERNAL_ERROR);
        }
        result?;
        for message in messages {
            self.take_message(message, tell)?;
        }
        Ok(())
    }

    fn take_message(
        &mut self,
        message: Zeroizing<Vec<u8>>,
        tell: &mut impl FnMut(Outcome) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if message.len() > MAX_MESSAGE {
            return Err(Error::Malformed("a message that is too long"));
        }
        match (self.role, self.progress) {
            (_, Progress::Established | Progress::Answer) => self.take_texts(&message, tell),
            (Role::Server, Progress::Handshake | Progress::KeyExchange) => {
                let (hello, rest) = self.take_hello(Role::Client, &message)?;
                self.progress = Progress::Answer;
                tell(Outcome::Hello(hello))?;
                self.take_texts(rest, tell)
            }
            (Role::Client, Progress::KeyExchange) if self.judgement != Judgement::Given => {
                Err(Error::Malformed("an answer without a request"))
            }
            (Role::Client, Progress::KeyExchange) => {
                let (hello, rest) = self.take_hello(Role::Server, &message)?;
                self.progress = Progress::Established;
                tell(Outcome::Answered(hello))?;
                self.take_texts(rest, tell)
            }
            _ => Err(Error::Malformed("a message out of order")),
        }
    }

    fn take_texts(
        &self,
        texts: &[u8],
        tell: &mut impl FnMut(Outcome) -> Result<(), Error>,
    ) -> Result<(), Error> {
        texts
            .split(|&byte| byte == 0)
            .filter(|text| !text.is_empty())
            .try_for_each(|text| tell(Outcome::Text(Zeroizing::new(text.to_vec()))))
    }

    fn take_hello<'a>(
        &mut self,
        from: Role,
        message: &'a [u8],
    ) -> Result<(Box<PeerHello>, &'a [u8]), Error> {
        let (hello, rest) = key_method::Hello::parse(from, message)?;
        let none = Credentials { username: "", password: "" };
        let Credentials { username, password } = hello.credentials.unwrap_or(none);
        let peer = PeerHello {
            options: hello.options.to_owned(),
            username: key_method::printable(username),
            password: key_method::printable(password),
            peer_info: PeerInfo::parse(hello.peer_info),
        };
        self.peers = Some(hello.source);
        Ok((Box::new(peer), rest))
    }

    /// Sends a server's answer. Later calls have no effect, as when it was sent before the
    /// decision.
    pub(super) fn answer(&mut self) -> Result<(), Error> {
        if self.progress == Progress::Established {
            return Ok(());
        }
        debug_assert_eq!(self.progress, Progress::Answer);
        self.send_hello()?;
        self.progress = Progress::Established;
        self.tls.take_output(&mut self.outgoing);
        Ok(())
    }

    /// Sends a text. Allowed only once the session is established, or with a refusal.
    pub(super) fn send_text(&mut self, text: &str) -> Result<(), Error> {
        let mut message = Zeroizing::new(Vec::with_capacity(text.len() + 1));
        message.extend_from_slice(text.as_bytes());
        message.push(0);
        self.tls.send(&message)?;
        self.tls.take_output(&mut self.outgoing);
        Ok(())
    }

    fn send_hello(&mut self) -> Result<(), Error> {
        let mut message = Zeroizing::new(Vec::with_capacity(2048));
        let own = &self.own_hello;
        let credentials =
            own.credentials.as_ref().map(|(username, password)| Credentials { username, password });
        key_method::Hello {
            source: self.own.clone(),
            options: &own.options,
            credentials,
            peer_info: &own.peer_info,
        }
        .write(self.role, &mut message)?;
        self.tls.send(&message)
    }

    /// Advances the session as far as possible without another packet.
    fn advance(&mut self) -> Result<(), Error> {
        if self.progress == Progress::Reset && self.remote.is_some() && self.send.is_empty() {
            self.progress = Progress::Handshake;
        }
        if self.progress == Progress::Handshake && !self.tls.is_handshaking() {
            self.progress = Progress::KeyExchange;
            if self.role == Role::Client && self.judgement == Judgement::Given {
                self.send_hello()?;
            }
        }
        if self.progress >= Progress::Handshake {
            self.tls.take_output(&mut self.outgoing);
        }
        Ok(())
    }

    /// Passes all due packets to `send`.
    pub(super) fn transmit(
        &mut self,
        now: Now,
        protection: &mut Protection,
        largest: usize,
        buffer: &mut Vec<u8>,
        mut send: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        // A wrapped key may leave no room; its packet exceeds the limit.
        let room = |opcode| {
            largest.saturating_sub(PLAIN_OVERHEAD + protection.overhead(opcode)).max(LEAST_CONTENT)
        };
        let mut taken = 0;
        while taken < self.outgoing.len() && self.send.has_room() {
            let opcode = if std::mem::take(&mut self.wrapped_key_wanted) {
                Opcode::ControlWkc
            } else {
                Opcode::Control
            };
            let end = self.outgoing.len().min(taken + room(opcode));
            self.send.push(opcode, &self.outgoing[taken..end]);
            taken = end;
        }
        self.outgoing.drain(..taken);
        while let Some(due) = self.send.next_due(now.monotonic) {
            let acks = self.receive.take_acks(ACKS_WITH_MESSAGE);
            let packet = Control {
                header: Header { opcode: due.opcode, key_id: self.key_id, session: self.local },
                remote: if acks.is_empty() { None } else { self.remote },
                acks,
                message: Some((due.id, due.content)),
            };
            protection.seal(now, &packet, buffer)?;
            send(buffer);
        }
        while self.receive.owes_acks() {
            let acks = self.receive.take_acks(Acks::MAX);
            self.acknowledge(now, acks, protection, buffer)?;
            send(buffer);
        }
        Ok(())
    }

    fn acknowledge(
        &self,
        now: Now,
        acks: Acks,
        protection: &mut Protection,
        buffer: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let header = Header { opcode: Opcode::Ack, key_id: self.key_id, session: self.local };
        let packet = Control { header, remote: self.remote, acks, message: None };
        protection.seal(now, &packet, buffer)
    }

    /// Returns when a retransmission is due.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.send.deadline()
    }

    /// Returns the key material of the data channel, from the TLS exporter or by the classic
    /// derivation from both key sources.
    pub(super) fn key_material(&self, by_exporter: bool) -> Result<Zeroizing<[u8; 256]>, Error> {
        if by_exporter {
            return self.tls.export("EXPORTER-OpenVPN-datakeys");
        }
        let (Some(peers), Some(remote)) = (&self.peers, self.remote) else {
            return Err(Error::Unexpected("the key exchange is not complete"));
        };
        Ok(match self.role {
            Role::Client => key_method::expand(&self.own, peers, self.local, remote),
            Role::Server => key_method::expand(peers, &self.own, remote, self.local),
        })
    }

    /// Returns the point-to-point peer id of both ends: 24 bits that outsiders cannot guess.
    pub(super) fn exported_peer_id(&self) -> Result<u32, Error> {
        let [high, middle, low] = *self.tls.export("EXPORTER-OpenVPN-p2p-peerid")?;
        Ok(u32::from_be_bytes([0, high, middle, low]))
    }

    /// Returns the key that protects control packets of later sessions.
    pub(super) fn dynamic_key(&self) -> Result<Zeroizing<[u8; 256]>, Error> {
        self.tls.export("EXPORTER-OpenVPN-dynamic-tls-crypt")
    }
}
