//! An attempt of a client to connect: its sockets or its stream, from the first packet to the last.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};

use super::start::sockets;
use super::wire::SERVER;
use super::{After, Program};
use crate::config::{self, Link};
use crate::net::data_path::{Remote, StreamId};
use crate::net::tcp;
use crate::net::udp::Endpoint;
use crate::proto::Transport;
use crate::service::Person;

/// The sockets or the stream of one attempt, which are closed after it.
enum Carrier {
    /// A group of sockets.
    Sockets(usize),
    Stream(StreamId),
}

impl Program<'_> {
    /// Runs one connection from its first packet to its end. Returns the next action and whether
    /// the tunnel was up.
    pub(super) fn connect(
        &mut self,
        remote: &config::Remote,
        address: SocketAddr,
        person: &mut dyn Person,
    ) -> (After, bool) {
        let transport = remote.link.protocol.transport;
        let (name, state) = match transport {
            Transport::Udp => ("UDP", "WAIT"),
            Transport::Tcp => ("TCP", "TCP_CONNECT"),
        };
        self.remote = Some(address);
        self.renew_routes(address.ip());
        self.say(1, &format!("connecting to {address} ({}) over {name}", remote.host));
        self.state(state, "");
        let (way, carrier) = match self.open(transport, address, remote) {
            Ok(way) => way,
            Err(error) => {
                self.say(1, &format!("cannot connect to {address}: {error}"));
                return (After::Next, false);
            }
        };
        if transport == Transport::Tcp {
            self.state("WAIT", "");
        }
        self.handle.add_peer(SERVER, way);
        let outcome = self.talk(&remote.link, address, way, person);
        self.question = None;
        if let Some(offload) = &mut self.offload {
            offload.end();
        }
        self.handle.remove_peer(SERVER);
        match carrier {
            Some(Carrier::Stream(stream)) => self.handle.close_stream(stream),
            Some(Carrier::Sockets(group)) => self.handle.remove_group(group),
            None => {}
        }
        self.at_proxy.relay = None;
        outcome
    }

    fn open(
        &mut self,
        transport: Transport,
        mut address: SocketAddr,
        remote: &config::Remote,
    ) -> io::Result<(Remote, Option<Carrier>)> {
        match transport {
            Transport::Udp => {
                if let Some(proxy) = &remote.link.proxy {
                    address = self.associate_with_proxy(proxy, remote, address)?;
                }
                let (group, carrier) = if self.has_port() {
                    (self.group_for(address)?, None)
                } else {
                    let joins = self.offload.is_none();
                    let local = tcp::source(&self.local, address)?;
                    let sockets = sockets(self.config, address, local, self.threads, joins)?;
                    let descriptor = sockets[0].as_fd().as_raw_fd();
                    let group = self.handle.add_group(sockets)?;
                    if let Some(offload) = &mut self.offload {
                        offload.begin(descriptor, address)?;
                    }
                    (group, Some(Carrier::Sockets(group)))
                };
                let endpoint = Endpoint { remote: address, local: None };
                Ok((Remote::Udp { group, endpoint }, carrier))
            }
            Transport::Tcp => {
                let stream = match &remote.link.proxy {
                    None => tcp::connect(address, &self.stream_options(&remote.link))?,
                    Some(proxy) => self.through_proxy(proxy, remote, address)?,
                };
                // Handshake messages must not wait for more data, and data is written in large
                // pieces.
                stream.set_nodelay(true)?;
                let (stream, _) = self.handle.add_stream(stream)?;
                Ok((Remote::Tcp(stream), Some(Carrier::Stream(stream))))
            }
        }
    }

    /// Returns whether the client sends from a port of its own.
    fn has_port(&self) -> bool {
        !self.families.is_empty()
    }

    /// Returns the group of sockets with a port of their own for this address.
    fn group_for(&self, address: SocketAddr) -> io::Result<usize> {
        let family = self.families.iter().position(|is_ipv6| *is_ipv6 == address.is_ipv6());
        family.ok_or_else(|| io::Error::other("no socket of this address family"))
    }

    /// Returns how to connect a stream.
    pub(super) fn stream_options(&self, link: &Link) -> tcp::Options {
        let sockets = &self.config.common.sockets;
        tcp::Options {
            local: self.local.clone(),
            mark: sockets.mark,
            device: sockets.device.clone(),
            patience: link.connect_timeout,
        }
    }
}
