//! Delivers Ethernet frames from peers: learns their sources, and forwards them like a switch.

use std::ops::Range;
use std::sync::Arc;

use super::Turn;
use crate::net::data_path::Peers;
use crate::net::data_path::ethernet::{Mac, TAG, addresses, ip_packet_mut, is_message};
use crate::net::data_path::events::Event;
use crate::net::data_path::macs::Station;
use crate::net::data_path::peer::Peer;
use crate::net::data_path::vlan::{self, Exit};
use crate::net::offload::clamp_mss;

impl Turn<'_> {
    /// Forwards an authentic frame. With `client-to-client`, a frame to a group goes to all other
    /// peers and to the device, and a frame to another peer's address to that peer only. All other
    /// frames go to the device. With VLANs, other peers are those of the same VLAN, and the device
    /// gets the frame with its tag: the [`TAG`] bytes before the frame must be free.
    pub(super) fn deliver_frame(
        &mut self,
        peer: &Arc<Peer>,
        buffer: &mut [u8],
        mut place: Range<usize>,
    ) {
        let frame = &mut buffer[place.clone()];
        if is_message(frame) {
            let packet = frame.to_vec();
            return self.shared.tell(Event::Message { peer: peer.id, packet });
        }
        let Some((source, destination)) = addresses(frame) else {
            return self.shared.drops.unroutable.add(1);
        };
        if let Some(largest) = peer.largest_tcp() {
            clamp_mss(ip_packet_mut(frame), largest);
        }
        if let Peers::Many { client_to_client, vlans } = self.shared.peers {
            if !source.is_single() {
                return self.shared.drops.spoofed.add(1);
            }
            if vlans.is_some() && vlan::is_tagged(frame) {
                return self.shared.drops.foreign.add(1);
            }
            self.learn(peer, source);
            if client_to_client && self.is_for_peers(peer, destination, frame) {
                return;
            }
            match vlans.map_or(Exit::AsItIs, |vlans| vlans.exit(peer.vlan())) {
                Exit::AsItIs => {}
                Exit::Tagged(number) if place.start >= TAG => {
                    let start = place.start - TAG;
                    place.start = start + vlan::set_number(&mut buffer[start..place.end], number);
                }
                Exit::Tagged(_) | Exit::Dropped => return self.shared.drops.foreign.add(1),
            }
        }
        self.joiner.push(buffer, place);
    }

    /// Sends a frame to the peers that it is for. Returns whether it is not for the device.
    fn is_for_peers(&mut self, from: &Peer, destination: Mac, frame: &[u8]) -> bool {
        let table = self.table;
        if destination.is_group() {
            let others = table.peers().filter(|other| other.id != from.id);
            for other in others.filter(|other| other.vlan() == from.vlan()) {
                self.batch.push(self.shared, table, other, frame);
            }
            return false;
        }
        let owner = self.shared.macs().find(Station { vlan: from.vlan(), mac: destination });
        let Some(owner) = owner.and_then(|id| table.peer(id)) else { return false };
        // Two machines behind one peer already have the frame.
        if owner.id != from.id {
            self.batch.push(self.shared, table, owner, frame);
        }
        true
    }

    /// Records the source of a frame, unless it is known.
    fn learn(&mut self, peer: &Peer, source: Mac) {
        let latest = Some((source, peer.id));
        if self.mac == latest {
            return;
        }
        let (station, now) = (Station { vlan: peer.vlan(), mac: source }, self.shared.now());
        let is_known = self.shared.macs().is_used_by(peer.id, station, now);
        if !is_known {
            self.shared.change_macs(|macs| macs.learn(peer.id, station, now));
        }
        self.mac = latest;
    }
}
