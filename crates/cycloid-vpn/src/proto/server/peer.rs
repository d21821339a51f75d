//! A client of a server: its progress, and its view of the sink.

use std::net::SocketAddr;
use std::time::Duration;

use zeroize::Zeroizing;

use super::{PeerId, ServerNotice, ServerSink, Verify};
use crate::proto::peer_info::PeerInfo;
use crate::proto::push::PushReply;
use crate::proto::session::PeerHello;
use crate::proto::tunnel::{DataKeys, Sink, Traffic, Tunnel};
use crate::proto::wire::{KeyId, SessionId};
use crate::proto::wrap::Metadata;
use crate::proto::{Error, Transport};

/// A client, connected or connecting.
pub(super) struct Peer {
    pub(super) tunnel: Tunnel,
    pub(super) transport: Transport,
    pub(super) address: SocketAddr,
    pub(super) session: SessionId,
    /// The ids of earlier peers at its address, whose packets may be its own.
    pub(super) earlier_ids: Vec<u32>,
    pub(super) stage: Stage,
    pub(super) deadline: Option<Duration>,
    /// When its move to another peer's address was refused, unless it has moved since.
    pub(super) refused_move: Option<Duration>,
    pub(super) info: PeerInfo,
    pub(super) options: String,
    /// The sent options, for repeated requests; `None` before they are sent.
    pub(super) pushed: Option<Vec<Zeroizing<String>>>,
    /// The number of its answers to challenges since its last key exchange message.
    pub(super) answers: u32,
    /// Whether this end announces its exit inside TLS, point to point.
    pub(super) exit_by_control: bool,
    /// The required common name and user name of later sessions.
    pub(super) owner: Option<(String, String)>,
    /// The metadata of its tls-crypt-v2 key, until the caller has received it.
    pub(super) client_key: Option<Option<Metadata>>,
}

/// The progress of a client.
pub(super) enum Stage {
    /// TLS handshake or key exchange.
    Connecting,
    /// Waiting for the caller's decision.
    Verifying(KeyId),
    /// Accepted, but options are not requested yet.
    Accepted(Box<PushReply>),
    Up,
    /// Refused; the refusal is being sent.
    Rejected,
}

/// The most answers to challenges during one verification. Each may start a script.
const MAX_ANSWERS: u32 = 16;

impl Peer {
    /// Returns whether the caller gets an answer to a challenge: only while it decides about the
    /// client.
    ///
    /// # Errors
    /// Too many answers.
    pub(super) fn may_answer(&mut self) -> Result<bool, Error> {
        if !matches!(self.stage, Stage::Verifying(_)) {
            return Ok(false);
        }
        self.answers += 1;
        if self.answers > MAX_ANSWERS {
            return Err(Error::Unexpected("too many answers to challenges"));
        }
        Ok(true)
    }

    /// Processes its key exchange message; the caller's decision is next.
    pub(super) fn take_hello(
        &mut self,
        id: PeerId,
        key_id: KeyId,
        hello: PeerHello,
        sink: &mut dyn ServerSink,
    ) -> Result<(), Error> {
        let identity = self.tunnel.identity_of(key_id);
        let name = identity.as_ref().map_or(String::new(), |it| it.common_name.clone());
        let owner = (name, hello.username.to_string());
        // Another user's certificate or name must not take over an existing tunnel.
        if *self.owner.get_or_insert_with(|| owner.clone()) != owner {
            return Err(Error::NotAuthentic("the tunnel belongs to another user"));
        }
        self.info = hello.peer_info;
        self.options = hello.options;
        self.stage = Stage::Verifying(key_id);
        self.answers = 0;
        let verify = Verify {
            address: self.address,
            client_key: self.client_key.take(),
            identity,
            username: hello.username,
            password: hello.password,
            peer_info: self.info.clone(),
            options: self.options.clone(),
            tls: self.tunnel.tls_description(),
            renegotiation: self.pushed.is_some(),
        };
        sink.notify(id, ServerNotice::Verify(Box::new(verify)));
        Ok(())
    }
}

/// A single peer's view of the sink.
pub(super) struct PeerSink<'a> {
    pub(super) sink: &'a mut dyn ServerSink,
    pub(super) peer: PeerId,
    pub(super) address: SocketAddr,
}

impl Sink for PeerSink<'_> {
    fn send(&mut self, packet: &[u8]) {
        self.sink.send(Some(self.peer), self.address, packet);
    }

    fn install(&mut self, keys: DataKeys) {
        self.sink.install(self.peer, keys);
    }

    fn send_under(&mut self, key_id: KeyId) {
        self.sink.send_under(self.peer, key_id);
    }

    fn retire(&mut self, key_id: KeyId) {
        self.sink.retire(self.peer, key_id);
    }

    fn send_data(&mut self, inner: &[u8]) {
        self.sink.send_data(self.peer, inner);
    }

    fn traffic(&mut self) -> Traffic {
        self.sink.traffic(self.peer)
    }
}
