//! Sends Ethernet frames from the device to the peers that they are for.

use std::sync::Arc;

use super::Sender;
use crate::net::data_path::Peers;
use crate::net::data_path::ethernet::{addresses, ip_packet_mut};
use crate::net::data_path::macs::Station;
use crate::net::data_path::pacer::TcpData;
use crate::net::data_path::peer::Peer;
use crate::net::data_path::shared::Shared;
use crate::net::data_path::table::Table;
use crate::net::offload::{VirtioHeader, clamp_mss, split};

impl Sender {
    /// Moves one frame. A frame to a group, or to an address that no peer is known to have, goes to
    /// all peers of its VLAN.
    pub(super) fn frame(
        &mut self,
        shared: &Shared,
        table: &mut Arc<Table>,
        header: &VirtioHeader,
        frame: &mut [u8],
    ) {
        if let Some(newer) = self.table.newer(&shared.table) {
            *table = Arc::clone(newer);
        }
        let macs = addresses(frame);
        // The device has no offloads, so this is the frame itself.
        let whole = split(header, frame).ok().filter(|whole| whole.remaining() == 1);
        let (Some((source, destination)), Some(mut whole)) = (macs, whole) else {
            return shared.drops.unroutable.add(1);
        };
        let Some(mut frame) = whole.next() else { return };
        let mut vlan = 0;
        if let Peers::Many { vlans: Some(vlans), .. } = shared.peers {
            match vlans.admit(frame) {
                Some(admitted) => (vlan, frame) = admitted,
                None => return shared.drops.foreign.add(1),
            }
        }
        let one = match shared.peers {
            Peers::One { .. } | Peers::Static { .. } => {
                let only = table.only();
                if only.is_none() {
                    return shared.drops.unroutable.add(1);
                }
                only
            }
            Peers::Many { .. } => {
                let known = shared.macs();
                let [source, destination] = [source, destination].map(|mac| Station { vlan, mac });
                let moved = known.find(source).is_some();
                let owner = known.find(destination);
                drop(known);
                if moved {
                    // It is on this side now, such as in the network that is bridged.
                    shared.change_macs(|macs| macs.forget(source));
                }
                owner.and_then(|id| table.peer(id))
            }
        };
        match one {
            Some(peer) => {
                if let Some(data) = TcpData::of(ip_packet_mut(frame)) {
                    self.pace(shared, peer, &data, 1);
                }
                self.send_frame(shared, table, peer, frame);
            }
            None => {
                for peer in table.peers().filter(|peer| peer.vlan() == vlan) {
                    self.send_frame(shared, table, peer, frame);
                }
            }
        }
    }

    fn send_frame(&mut self, shared: &Shared, table: &Table, peer: &Arc<Peer>, frame: &mut [u8]) {
        if let Some(largest) = peer.largest_tcp() {
            clamp_mss(ip_packet_mut(frame), largest);
        }
        self.batch.push(shared, table, peer, frame);
    }
}
