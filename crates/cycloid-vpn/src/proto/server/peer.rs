//! One client of a server: how far it has come, and its view of the sink.

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

/// A client, or somebody who may become one.
pub(super) struct Peer {
    pub(super) tunnel: Tunnel,
    pub(super) transport: Transport,
    pub(super) address: SocketAddr,
    pub(super) session: SessionId,
    pub(super) stage: Stage,
    pub(super) deadline: Option<Duration>,
    pub(super) info: PeerInfo,
    pub(super) options: String,
    /// The options that were sent, once they were, for a client that asks again.
    pub(super) pushed: Option<Vec<Zeroizing<String>>>,
    /// Whether it is told inside TLS that this end leaves, point to point.
    pub(super) exit_by_control: bool,
    /// Whom later sessions must be of: common name and user name.
    pub(super) owner: Option<(String, String)>,
    /// What its own key says of it, until the caller was told.
    pub(super) client_key: Option<Option<Metadata>>,
}

/// How far it has come.
pub(super) enum Stage {
    /// TLS, or the key exchange.
    Connecting,
    /// The caller decides.
    Verifying(KeyId),
    /// Accepted; the client has not asked for its options yet.
    Accepted(Box<PushReply>),
    Up,
    /// Refused: the refusal is on its way.
    Rejected,
}

impl Peer {
    /// Takes what it says of itself: now the caller has to decide.
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
        // Another user's certificate or name cannot take over a tunnel that stands.
        if *self.owner.get_or_insert_with(|| owner.clone()) != owner {
            return Err(Error::NotAuthentic("the tunnel belongs to another user"));
        }
        self.info = hello.peer_info;
        self.options = hello.options;
        self.stage = Stage::Verifying(key_id);
        let verify = Verify {
            address: self.address,
            client_key: self.client_key.take(),
            identity,
            username: hello.username,
            password: hello.password,
            peer_info: self.info.clone(),
            tls: self.tunnel.tls_description(),
            renegotiation: self.pushed.is_some(),
        };
        sink.notify(id, ServerNotice::Verify(Box::new(verify)));
        Ok(())
    }
}

/// One peer's view of the sink.
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
