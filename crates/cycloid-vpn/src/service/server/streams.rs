//! The TCP connections of a server: those without a client are limited in number and time. With
//! `port-share`, those that are no tunnels are carried to another service.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::Duration;

use super::Program;
use super::peers::Peer;
use crate::net::data_path::{Remote, StreamId};
use crate::net::port_share::{Beginning, beginning};
use crate::proto::server::network;
use crate::proto::{Now, Transport};

/// A stream that does not become a client within this time is closed.
const STREAM_TIMEOUT: Duration = Duration::from_secs(60);

/// How often such streams are looked for.
const STRANGERS_INTERVAL: Duration = Duration::from_secs(1);

/// The most streams without a client.
const MAX_UNAUTHENTICATED_STREAMS: usize = 256;

impl Program<'_> {
    pub(super) fn accept_streams(&mut self, now: Now) {
        for index in 0..self.listeners.len() {
            while let Ok((stream, address)) = self.listeners[index].accept() {
                if !self.may_come(address, Transport::Tcp) {
                    continue;
                }
                match &self.service {
                    Some(_) if stream.set_nonblocking(true).is_ok() => {
                        self.silent.push_back((stream, address, now.monotonic));
                        if self.silent.len() > MAX_UNAUTHENTICATED_STREAMS {
                            let all = self.silent.iter().map(|(_, address, _)| address.ip());
                            self.silent.remove(first_of_most(all));
                        }
                    }
                    _ => self.add_stream(stream, address, now),
                }
            }
        }
        self.judge_silent_streams(now);
        if now.monotonic >= self.strangers_due {
            self.strangers_due = now.monotonic + STRANGERS_INTERVAL;
            self.close_strangers(now);
        }
    }

    /// Closes the streams that have not become clients in time.
    fn close_strangers(&mut self, now: Now) {
        let known = self.streams_of(|_| true);
        let is_late = |(id, (_, since)): &(&StreamId, &(SocketAddr, Duration))| {
            now.monotonic > *since + STREAM_TIMEOUT && !known.contains(id)
        };
        let late: Vec<StreamId> = self.streams.iter().filter(is_late).map(|(id, _)| *id).collect();
        for id in late {
            self.streams.remove(&id);
            self.handle.close_stream(id);
        }
    }

    fn add_stream(&mut self, stream: TcpStream, address: SocketAddr, now: Now) {
        self.make_room();
        let _ = stream.set_nodelay(true);
        if let Ok((id, _)) = self.handle.add_stream(stream) {
            self.streams.insert(id, (address, now.monotonic));
        }
    }

    /// Returns the streams of peers of a kind.
    fn streams_of(&self, is_meant: impl Fn(&Peer) -> bool) -> HashSet<StreamId> {
        let streams = self.peers.values().filter(|peer| is_meant(peer));
        let streams = streams.filter_map(|peer| match peer.way {
            Remote::Tcp(stream) => Some(stream),
            Remote::Udp { .. } => None,
        });
        streams.collect()
    }

    /// Decides about connections that may belong to the service of `port-share`.
    fn judge_silent_streams(&mut self, now: Now) {
        for _ in 0..self.silent.len() {
            let Some((stream, address, since)) = self.silent.pop_front() else { return };
            match beginning(&stream) {
                Beginning::Silent if now.monotonic > since + STREAM_TIMEOUT => {}
                Beginning::Silent => self.silent.push_back((stream, address, since)),
                Beginning::Closed => {}
                Beginning::Tunnel => self.add_stream(stream, address, now),
                Beginning::Other => {
                    let carried = self.service.as_ref().map(|it| it.carry(stream, address));
                    if let Some(Err(error)) = carried {
                        self.warn(&format!("port-share: {address}: {error}"));
                    } else {
                        self.say(4, &format!("port-share: {address} is carried to the service"));
                    }
                }
            }
        }
    }

    /// Closes a stream without a client if there are too many: the one that
    /// [`first_of_most`] names, the oldest first.
    fn make_room(&mut self) {
        if self.streams.len() < MAX_UNAUTHENTICATED_STREAMS {
            return;
        }
        let clients = self.streams_of(|peer| peer.cipher.is_some());
        let strangers = self.streams.iter().filter(|(id, _)| !clients.contains(id));
        let mut strangers: Vec<_> =
            strangers.map(|(&id, &(address, since))| (since, id, address)).collect();
        if strangers.len() < MAX_UNAUTHENTICATED_STREAMS {
            return;
        }
        strangers.sort_unstable_by_key(|(since, id, _)| (*since, *id));
        let addresses = strangers.iter().map(|(.., address)| address.ip());
        let (_, id, address) = strangers[first_of_most(addresses)];
        self.streams.remove(&id);
        self.handle.close_stream(id);
        self.with_core(|core, link| core.disconnected(address, link));
    }
}

/// Returns the index of the first entry of the network that occurs most often, and there of the
/// address that does. So a peer that opens many connections loses its own, even if it has a
/// network of addresses.
fn first_of_most(addresses: impl Iterator<Item = IpAddr>) -> usize {
    let (mut networks, mut seen) = (HashMap::new(), HashMap::new());
    for (index, address) in addresses.enumerate() {
        *networks.entry(network(address)).or_insert(0) += 1;
        seen.entry(address).or_insert((0, index)).0 += 1;
    }
    let most = seen.into_iter().max_by_key(|(address, (count, first))| {
        (networks[&network(*address)], *count, Reverse(*first))
    });
    most.map_or(0, |(_, (_, first))| first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(addresses: &[&str]) -> usize {
        let addresses: Vec<IpAddr> = addresses.iter().map(|it| it.parse().unwrap()).collect();
        first_of_most(addresses.into_iter())
    }

    #[test]
    fn an_address_with_many_connections_loses_its_own() {
        let of = |last: &[u8]| {
            let addresses = last.iter().map(|it| [192, 0, 2, *it].into());
            first_of_most(addresses)
        };
        assert_eq!(of(&[1, 2, 2, 3, 2]), 1);
        assert_eq!(of(&[1, 2, 3]), 0);
        assert_eq!(of(&[3, 1, 1, 2, 2]), 1);
        assert_eq!(of(&[]), 0);
    }

    #[test]
    fn a_network_with_many_addresses_loses_its_own() {
        assert_eq!(first(&["192.0.2.1", "2001:db8::1", "2001:db8::2", "2001:db8:0:9::3"]), 1);
        assert_eq!(first(&["192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2", "::1"]), 0);
        assert_eq!(first(&["198.51.100.1", "198.51.100.2", "192.0.2.7", "192.0.2.7"]), 2);
        assert_eq!(first(&["192.0.2.9", "::ffff:192.0.2.1", "2001:db8::1"]), 0);
    }
}
