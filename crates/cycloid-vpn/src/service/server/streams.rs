//! The TCP connections of a server: those without a client are limited in number and time. With
//! `port-share`, those that are no tunnels are carried to another service.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::Program;
use crate::net::data_path::{Remote, StreamId};
use crate::net::port_share::{Beginning, beginning};
use crate::proto::{Now, Transport};

/// A stream that does not become a client within this time is closed.
const STREAM_TIMEOUT: Duration = Duration::from_secs(60);

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
                            self.silent.pop_front();
                        }
                    }
                    _ => self.add_stream(stream, address, now),
                }
            }
        }
        self.judge_silent_streams(now);
        let peers = &self.peers;
        let late: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(id, (_, since))| {
                now.monotonic > *since + STREAM_TIMEOUT
                    && !peers.values().any(|peer| peer.way == Remote::Tcp(**id))
            })
            .map(|(id, _)| *id)
            .collect();
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

    /// Closes a stream without a client if there are too many: the oldest one of the address that
    /// has the most of them, so that whoever opens many loses his own.
    fn make_room(&mut self) {
        if self.streams.len() < MAX_UNAUTHENTICATED_STREAMS {
            return;
        }
        let clients: HashSet<StreamId> = self
            .peers
            .values()
            .filter(|peer| peer.cipher.is_some())
            .filter_map(|peer| match peer.way {
                Remote::Tcp(stream) => Some(stream),
                Remote::Udp { .. } => None,
            })
            .collect();
        let strangers = || self.streams.iter().filter(|(id, _)| !clients.contains(id));
        if strangers().count() < MAX_UNAUTHENTICATED_STREAMS {
            return;
        }
        let mut counts = HashMap::new();
        strangers().for_each(|(_, (address, _))| *counts.entry(address.ip()).or_insert(0) += 1);
        let rank = |(id, (address, since)): &(&StreamId, &(SocketAddr, Duration))| {
            (counts[&address.ip()], Reverse((*since, **id)))
        };
        let Some((&id, &(address, _))) = strangers().max_by_key(rank) else { return };
        self.streams.remove(&id);
        self.handle.close_stream(id);
        self.with_core(|core, link| core.disconnected(address, link));
    }
}
