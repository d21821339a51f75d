//! Connects the core to the data path, for a client's single peer.

use std::sync::Arc;

use super::offload::Offload;
use crate::net::data_path::{Handle, PeerId, Remote};
use crate::proto::data::Sealer;
use crate::proto::tunnel::{DataKeys, Sink, Traffic};
use crate::proto::wire::KeyId;

/// The peer id of the server, the only peer of a client's data path.
pub(super) const SERVER: PeerId = 0;

/// State of the data channel keys.
#[derive(Default)]
pub(super) struct Wire {
    /// An installed key that is not used for sending yet.
    waiting: Option<(KeyId, Arc<Sealer>)>,
    /// Bytes that the data channel adds to each packet.
    pub(super) overhead: usize,
}

impl Wire {
    pub(super) fn sink<'a>(
        &'a mut self,
        handle: &'a Handle,
        offload: &'a mut Option<Offload>,
        way: Remote,
    ) -> WireSink<'a> {
        WireSink { wire: self, handle, offload: offload.as_mut(), way }
    }
}

/// The core's sink into the data path.
pub(super) struct WireSink<'a> {
    wire: &'a mut Wire,
    handle: &'a Handle,
    /// The kernel's data channel, in place of that of `handle`.
    offload: Option<&'a mut Offload>,
    way: Remote,
}

impl Sink for WireSink<'_> {
    fn send(&mut self, packet: &[u8]) {
        // Lost control packets are retransmitted.
        let _ = self.handle.send_control(packet, self.way);
    }

    fn install(&mut self, keys: DataKeys) {
        self.wire.overhead = keys.sealer.overhead();
        if let Some(offload) = &mut self.offload {
            return offload.install(&keys);
        }
        self.handle.take_under(SERVER, keys.key_id, keys.opener);
        if keys.send {
            self.handle.send_under(SERVER, keys.key_id, keys.sealer);
        } else {
            self.wire.waiting = Some((keys.key_id, keys.sealer));
        }
    }

    fn send_under(&mut self, key_id: KeyId) {
        if let Some(offload) = &mut self.offload {
            return offload.send_under(key_id);
        }
        if let Some((_, sealer)) = self.wire.waiting.take_if(|(waiting, _)| *waiting == key_id) {
            self.handle.send_under(SERVER, key_id, sealer);
        }
    }

    fn retire(&mut self, key_id: KeyId) {
        match &mut self.offload {
            Some(offload) => offload.retire(key_id),
            None => self.handle.retire(SERVER, key_id),
        }
    }

    fn send_data(&mut self, inner: &[u8]) {
        // The kernel sends nothing for this program but its own pings.
        if self.offload.is_none() {
            let _ = self.handle.send_data(SERVER, inner);
        }
    }

    fn traffic(&mut self) -> Traffic {
        match &mut self.offload {
            Some(offload) => crate::service::traffic(offload.counters()),
            None => self.handle.counters(SERVER).map(crate::service::traffic).unwrap_or_default(),
        }
    }
}

/// Returns whether a packet came from the address that packets are sent to.
pub(super) fn is_same(from: Remote, way: Remote) -> bool {
    match (from, way) {
        (Remote::Udp { endpoint: from, .. }, Remote::Udp { endpoint: way, .. }) => {
            from.remote == way.remote
        }
        (from, way) => from == way,
    }
}
