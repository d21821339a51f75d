//! A peer's sessions: which of their keys protect data, and when to renegotiate.
//!
//! At most three sessions exist at once: the one with the current key, one that is being
//! negotiated, and one whose key still opens packets in flight. This module holds what both ends
//! have in common; `client.rs` and `server.rs` hold the rest.

mod failed;
mod threaded_handshake;
mod timers;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use self::failed::FailedRenegotiation;
use super::data::{self, Cipher, Framing, KeyMaterial, Opener, Parameters, RawKeys, Sealer};
use super::session::{Beginning, Outcome, OwnHello, PeerHello, Session};
use super::timing::Timing;
use super::tls::{Identity, TlsFactory};
use super::wire::{self, Control, Header, KeyId, Opcode, SessionId};
use super::wrap::Protection;
use super::{Error, Now, Random, Role};

/// Keys of the data channel, for the data path.
pub struct DataKeys {
    /// The key id in packets.
    pub key_id: KeyId,
    /// Seals packets, on any thread.
    pub sealer: Arc<Sealer>,
    /// Opens packets, on one thread.
    pub opener: Opener,
    /// Whether to send under these keys at once. Otherwise [`Sink::send_under`] follows.
    pub send: bool,
    /// The same keys as bytes, for a data channel outside of this program.
    pub raw: Option<RawKeys>,
}

impl fmt::Debug for DataKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataKeys").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

/// Traffic of the data channel since its start; the counters never decrease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Authentic received packets, pings included.
    pub received_packets: u64,
    /// Bytes of received packets on the wire.
    pub received_bytes: u64,
    /// Sent packets, pings included.
    pub sent_packets: u64,
    /// Bytes of sent packets on the wire.
    pub sent_bytes: u64,
    /// Bytes of inner packets in both directions, as counted by `inactive`.
    pub inner_bytes: u64,
    /// Time since the last received packet.
    pub received_ago: Duration,
    /// Time since the last sent packet.
    pub sent_ago: Duration,
}

/// Receives a core's actions.
pub trait Sink {
    /// Sends a control packet to the peer.
    fn send(&mut self, packet: &[u8]);
    /// Installs keys, which open packets from now on.
    fn install(&mut self, keys: DataKeys);
    /// Seals packets with these installed keys from now on.
    fn send_under(&mut self, key_id: KeyId);
    /// Removes keys.
    fn retire(&mut self, key_id: KeyId);
    /// Seals and sends an inner packet that does not come from the TUN device.
    fn send_data(&mut self, inner: &[u8]);
    /// Returns the traffic of the data channel.
    fn traffic(&mut self) -> Traffic;
}

/// The negotiated protection of the data channel.
#[derive(Clone, Debug)]
pub(super) struct DataChannel {
    pub(super) cipher: Cipher,
    pub(super) peer_id: Option<u32>,
    pub(super) by_exporter: bool,
    /// Data keys change by epochs.
    pub(super) epochs: bool,
    pub(super) framing: Framing,
    pub(super) fragment: Option<u16>,
    pub(super) decompress: bool,
    /// The data channel is outside of this program.
    pub(super) offload: bool,
    /// Size in packets; zero if the transport preserves order.
    pub(super) replay_window: u32,
}

/// The failure of a packet or a timer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The packet is dropped and the connection continues.
    Dropped(Error),
    /// The connection has ended.
    Ended(Error),
}

/// An event of a tunnel; the key id names the session.
#[derive(Debug)]
pub(super) enum TunnelEvent {
    Hello(KeyId, Box<PeerHello>),
    Judge(KeyId),
    Answered(KeyId, Box<PeerHello>),
    Text(Zeroizing<Vec<u8>>),
}

impl TunnelEvent {
    fn of(key_id: KeyId, outcome: Outcome) -> Self {
        match outcome {
            Outcome::Hello(hello) => Self::Hello(key_id, hello),
            Outcome::Judge => Self::Judge(key_id),
            Outcome::Answered(hello) => Self::Answered(key_id, hello),
            Outcome::Text(text) => Self::Text(text),
        }
    }
}

/// A peer's sessions and negotiated parameters.
pub(super) struct Tunnel {
    role: Role,
    timing: Timing,
    factory: TlsFactory,
    protection: Protection,
    /// Protection of sessions after the first, if negotiated.
    dynamic: Option<Protection>,
    local: SessionId,
    current: Box<Session>,
    established: Option<Duration>,
    next: Option<Box<Session>>,
    /// Failed renegotiations since the current key came into use.
    failed: Option<FailedRenegotiation>,
    old: Option<(KeyId, Box<Session>, Duration)>,
    channel: Option<DataChannel>,
    sealer: Option<Arc<Sealer>>,
    /// A key that the peer may not have yet.
    unconfirmed: Option<KeyId>,
    own_hello: OwnHello,
    end: Option<Duration>,
    /// Time until which a running handshake may take longer, because its decision was deferred.
    patience: Duration,
    activity: Activity,
    /// The longest control packet, in bytes.
    largest_packet: usize,
    buffer: Vec<u8>,
}

/// Recent activity of the data channel.
#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    traffic: Traffic,
    sent: Duration,
    /// Whether a ping is due regardless of the time.
    ping_is_due: bool,
    received: Duration,
    /// Time of the last control packet that was accepted.
    heard: Duration,
    /// Whether silence has been excused once since the last received packet.
    excused: bool,
    used: Duration,
    used_bytes: u64,
    /// The traffic at the start of the current key.
    at_key: Traffic,
    checked: Duration,
}

impl Tunnel {
    pub(super) fn new(
        now: Now,
        role: Role,
        beginning: Beginning,
        protection: Protection,
        factory: TlsFactory,
        timing: Timing,
        own_hello: OwnHello,
        random: &mut Random<'_>,
    ) -> Result<Self, Error> {
        let local = beginning.local;
        let hello = own_hello.clone();
        let current = Box::new(Session::new(now, role, beginning, hello, &factory, random)?);
        let activity = Activity {
            sent: now.monotonic,
            received: now.monotonic,
            heard: now.monotonic,
            used: now.monotonic,
            ..Activity::default()
        };
        Ok(Self {
            role,
            timing,
            factory,
            protection,
            dynamic: None,
            local,
            current,
            established: None,
            next: None,
            failed: None,
            old: None,
            channel: None,
            sealer: None,
            unconfirmed: None,
            own_hello,
            end: None,
            patience: Duration::ZERO,
            activity,
            largest_packet: super::MAX_CONTROL_PACKET,
            buffer: Vec::new(),
        })
    }

    pub(super) fn timing_mut(&mut self) -> &mut Timing {
        &mut self.timing
    }

    /// Returns the hello for later exchanges.
    pub(super) fn own_hello_mut(&mut self) -> &mut OwnHello {
        &mut self.own_hello
    }

    /// Limits control packets to this many bytes.
    pub(super) fn limit_packets(&mut self, largest: usize) {
        self.largest_packet = largest;
    }

    /// Returns whether the peer has answered the first packet, and when it was last heard.
    pub(super) fn heard(&self) -> Option<Duration> {
        self.current.remote().map(|_| self.activity.heard)
    }

    /// Returns whether packets of the current session wait for the peer's acknowledgement.
    pub(super) fn waits(&self) -> bool {
        self.current.waits()
    }

    /// Makes up for a time in which this end's machine slept: the next ping is due, so that the
    /// peer learns of a new address.
    pub(super) fn resume(&mut self) {
        self.activity.ping_is_due = true;
    }

    /// Returns the silence after which the peer counts as lost; zero is never.
    pub(super) fn silence(&self) -> Duration {
        self.timing.silence
    }

    /// Sets certificates and keys for later sessions.
    pub(super) fn set_tls(&mut self, factory: TlsFactory) {
        self.factory = factory;
    }

    pub(super) fn identity(&self) -> Option<Identity> {
        self.current.identity()
    }

    /// Returns the peer's identity from the certificate of this session.
    pub(super) fn identity_of(&self, key_id: KeyId) -> Option<Identity> {
        self.session(key_id).and_then(Session::identity)
    }

    pub(super) fn tls_description(&self) -> String {
        self.current.tls_description()
    }

    /// Returns [`Session::exported_peer_id`] of the session with the current key.
    pub(super) fn exported_peer_id(&self) -> Result<u32, Error> {
        self.current.exported_peer_id()
    }

    /// Processes a control packet. The caller acts on its events, then calls
    /// [`transmit`](Self::transmit).
    pub(super) fn receive(
        &mut self,
        now: Now,
        packet: &mut [u8],
        random: &mut Random<'_>,
        events: &mut Vec<TunnelEvent>,
    ) -> Result<(), Failure> {
        let first = *packet.first().ok_or(Failure::Dropped(Error::Malformed("empty packet")))?;
        let (_, key_id) = wire::first_byte(first).map_err(Failure::Dropped)?;
        let dynamic = self.dynamic.as_mut().filter(|_| key_id.get() > 0);
        let protection = dynamic.unwrap_or(&mut self.protection);
        let control = protection.open(packet).map_err(Failure::Dropped)?;
        self.take(now, &control, random, events)
    }

    /// Processes a control packet that was already opened.
    pub(super) fn take(
        &mut self,
        now: Now,
        control: &Control<'_>,
        random: &mut Random<'_>,
        events: &mut Vec<TunnelEvent>,
    ) -> Result<(), Failure> {
        let Header { opcode, key_id, .. } = control.header;
        if opcode == Opcode::SoftReset
            && self.session(key_id).is_none()
            && self.next.is_none()
            && self.established.is_some()
            && key_id == self.current.key_id().next()
        {
            if control.message.is_none_or(|(id, _)| id != 0)
                || Some(control.header.session) != self.current.remote()
            {
                return Err(Failure::Dropped(Error::Unexpected("soft reset out of order")));
            }
            self.begin_next(now, random).map_err(Failure::Ended)?;
        }
        let Some(session) = find(&mut self.current, &mut self.next, &mut self.old, key_id) else {
            return self.take_acks_of_failed(control).map_err(Failure::Dropped);
        };
        let result = session.receive(control, |outcome| {
            events.push(TunnelEvent::of(key_id, outcome));
            Ok(())
        });
        self.conclude(now, key_id, result)
    }

    /// Tells what the result of a session means for the tunnel.
    fn conclude(
        &mut self,
        now: Now,
        key_id: KeyId,
        result: Result<(), Error>,
    ) -> Result<(), Failure> {
        match result {
            Ok(()) => {
                self.activity.heard = now.monotonic;
                Ok(())
            }
            Err(error @ (Error::NotAuthentic(_) | Error::Unexpected(_))) => {
                Err(Failure::Dropped(error))
            }
            Err(error) if self.keeps_key(key_id) && !matches!(error, Error::Refused(_)) => {
                self.fail_renegotiation(now, error);
                Ok(())
            }
            Err(error) => Err(Failure::Ended(error)),
        }
    }

    fn session(&self, key_id: KeyId) -> Option<&Session> {
        let old = self.old.as_ref().map(|(_, session, _)| session);
        [Some(&self.current), self.next.as_ref(), old]
            .into_iter()
            .flatten()
            .map(Box::as_ref)
            .find(|session| session.key_id() == key_id)
    }

    /// Starts a session for the next key, unless one is being negotiated.
    pub(super) fn renegotiate(&mut self, now: Now, random: &mut Random<'_>) -> Result<(), Error> {
        if self.next.is_some() || self.established.is_none() || self.channel.is_none() {
            return Ok(());
        }
        self.begin_next(now, random)
    }

    fn begin_next(&mut self, now: Now, random: &mut Random<'_>) -> Result<(), Error> {
        let beginning = Beginning {
            key_id: self.current.key_id().next(),
            local: self.local,
            remote: self.current.remote(),
            reset: Some(Opcode::SoftReset),
        };
        if let Some(failed) = &mut self.failed {
            failed.session = None;
        }
        let hello = self.own_hello.clone();
        let next = Session::new(now, self.role, beginning, hello, &self.factory, random)?;
        self.next = Some(Box::new(next));
        Ok(())
    }

    /// Sends a server's answer to a hello.
    pub(super) fn answer(&mut self, key_id: KeyId) -> Result<(), Error> {
        match find(&mut self.current, &mut self.next, &mut self.old, key_id) {
            Some(session) => session.answer(),
            None => Err(Error::Unexpected("no session has this key id")),
        }
    }

    /// Ends the first session before it is established, so that the peer does not wait for it.
    pub(super) fn abandon(&mut self) {
        self.current.abandon();
    }

    /// Approves the server for a client; no effect if no approval is pending.
    pub(super) fn approve(&mut self, key_id: KeyId) -> Result<(), Error> {
        find(&mut self.current, &mut self.next, &mut self.old, key_id)
            .map_or(Ok(()), Session::approve)
    }

    /// Sends a text over the session with the current key.
    pub(super) fn send_text(&mut self, text: &str) -> Result<(), Error> {
        self.current.send_text(text)
    }

    /// Sends a text over this session.
    pub(super) fn send_text_by(&mut self, key_id: KeyId, text: &str) -> Result<(), Error> {
        match find(&mut self.current, &mut self.next, &mut self.old, key_id) {
            Some(session) => session.send_text(text),
            None => Err(Error::Unexpected("no session has this key id")),
        }
    }

    /// Ends the connection at that time in any case.
    pub(super) fn end_at(&mut self, time: Duration) {
        self.end = Some(time);
    }

    /// Extends the deadline of the running handshake to at least that time.
    pub(super) fn wait_until(&mut self, time: Duration) {
        self.patience = time;
    }

    /// Returns the deadline of the running handshake.
    fn handshake_end(&self) -> Option<Duration> {
        let negotiating = match self.established {
            None => Some(&self.current),
            Some(_) => self.next.as_ref(),
        };
        negotiating.map(|it| (it.began() + self.timing.handshake).max(self.patience))
    }

    /// Returns whether the peer has received everything that was sent.
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_confirmed()
    }

    /// Opens the negotiated data channel and derives the first key. `dynamic`: a key from this
    /// session protects the control packets of later ones.
    pub(super) fn open_channel(
        &mut self,
        now: Now,
        channel: DataChannel,
        dynamic: bool,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        if dynamic {
            self.dynamic = Some(self.protection.dynamic(&*self.current.dynamic_key()?));
        }
        self.channel = Some(channel);
        self.established = Some(now.monotonic);
        self.activity.traffic = sink.traffic();
        self.activity.received = now.monotonic;
        self.activity.sent = now.monotonic;
        self.activity.used = now.monotonic;
        self.activity.checked = now.monotonic;
        self.install(true, sink)
    }

    /// Makes the key of an established renegotiation current.
    pub(super) fn promote(&mut self, now: Now, sink: &mut dyn Sink) -> Result<(), Error> {
        let Some(next) = self.next.take_if(|next| next.is_established()) else { return Ok(()) };
        self.forget_old(sink);
        let old = std::mem::replace(&mut self.current, next);
        self.old = Some((old.key_id(), old, now.monotonic + self.timing.transition));
        self.failed = None;
        self.established = Some(now.monotonic);
        self.install(self.role == Role::Client, sink)
    }

    /// Removes the old key. If it is still used for sending, because the peer has not confirmed its
    /// successor, switches to the successor.
    fn forget_old(&mut self, sink: &mut dyn Sink) {
        if let Some((key_id, ..)) = self.old.take() {
            if let Some(successor) = self.unconfirmed.take() {
                sink.send_under(successor);
            }
            sink.retire(key_id);
        }
    }

    fn install(&mut self, send: bool, sink: &mut dyn Sink) -> Result<(), Error> {
        let channel = self.channel.as_ref().expect("the data channel is open");
        let material = KeyMaterial::from(self.current.key_material(channel.by_exporter)?);
        let parameters = Parameters {
            cipher: channel.cipher,
            key_id: self.current.key_id(),
            peer_id: channel.peer_id,
            epochs: channel.epochs,
            framing: channel.framing,
            fragment: channel.fragment,
            decompress: channel.decompress,
            replay_window: channel.replay_window,
        };
        let (sealer, opener) = data::keys(&material, self.role, &parameters)?;
        let raw = || data::raw_keys(&material, self.role, &parameters);
        let raw = channel.offload.then(raw).flatten();
        self.sealer = Some(sealer.clone());
        self.activity.at_key = sink.traffic();
        let key_id = self.current.key_id();
        if !send {
            self.unconfirmed = Some(key_id);
        }
        sink.install(DataKeys { key_id, sealer, opener, send, raw });
        Ok(())
    }

    /// Sends due packets, and switches to a key that the peer has confirmed.
    pub(super) fn transmit(&mut self, now: Now, sink: &mut dyn Sink) -> Result<(), Error> {
        let Self {
            current, next, old, failed, protection, dynamic, buffer, largest_packet, ..
        } = self;
        for session in [
            Some(current),
            next.as_mut(),
            old.as_mut().map(|(_, session, _)| session),
            failed.as_mut().and_then(|failed| failed.session.as_mut()),
        ]
        .into_iter()
        .flatten()
        {
            let dynamic = dynamic.as_mut().filter(|_| session.key_id().get() > 0);
            let protection = dynamic.unwrap_or(protection);
            session
                .transmit(now, protection, *largest_packet, buffer, |packet| sink.send(packet))?;
        }
        if let Some(failed) = &mut self.failed {
            failed.has_sent();
        }
        if let Some(key_id) = self.unconfirmed
            && self.current.is_confirmed()
        {
            self.unconfirmed = None;
            sink.send_under(key_id);
        }
        if self.next.is_none() && self.current.is_confirmed() {
            self.current.shrink();
            self.buffer = Vec::new();
        }
        Ok(())
    }
}

/// Returns the session with a key id. A free function, so that other fields of the tunnel can be
/// borrowed meanwhile.
fn find<'a>(
    current: &'a mut Box<Session>,
    next: &'a mut Option<Box<Session>>,
    old: &'a mut Option<(KeyId, Box<Session>, Duration)>,
    key_id: KeyId,
) -> Option<&'a mut Session> {
    [Some(current), next.as_mut(), old.as_mut().map(|(_, session, _)| session)]
        .into_iter()
        .flatten()
        .map(Box::as_mut)
        .find(|session| session.key_id() == key_id)
}
