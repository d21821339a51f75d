//! A client's data channel in the kernel (`enable-dco`), where the kernel has the family `ovpn` and
//! the configuration fits. Otherwise one line says why this program moves the packets.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::time::Duration;

use crate::config::{self, Bind, DeviceType};
use crate::net::data_path::Counters;
use crate::net::dco::{Device, KIND, Keepalive, Kernel, Notice, OnlyPeer};
use crate::net::netlink::Netlink;
use crate::net::tun::Queue;
use crate::net::undo::{Journal, Undo};
use crate::proto::Transport;
use crate::proto::data::Framing;
use crate::proto::tunnel::DataKeys;
use crate::proto::wire::KeyId;
use crate::service::Failure;
use crate::service::context::Context;

/// The highest number of a device that the system numbers.
const LAST_NUMBER: u32 = 255;

/// The kernel's interface and its peer.
pub(super) struct Offload {
    peer: OnlyPeer<Kernel>,
    interface: String,
    /// The first refusal of the kernel, until the caller has taken it.
    failure: Option<String>,
}

/// Returns the kernel's data channel if the configuration asks for it and it is possible.
pub(super) fn start(
    config: &config::Client,
    context: &mut Context,
    journal: &mut Journal,
) -> Option<Offload> {
    if !config.common.process.offload() {
        return None;
    }
    let started = match obstacle(config) {
        Some(obstacle) => Err(obstacle),
        None => Offload::open(config, journal),
    };
    match started {
        Ok(offload) => {
            context.say(1, &format!("the kernel moves the packets of {}", offload.interface));
            Some(offload)
        }
        Err(why) => {
            context.warn(&format!("enable-dco: this program moves the packets itself: {why}"));
            None
        }
    }
}

/// Returns what in the configuration the kernel's data channel does not have.
fn obstacle(config: &config::Client) -> Option<String> {
    let config::Common { tunnel, data, process, .. } = &config.common;
    let links = || config.remotes.iter().map(|remote| &remote.link);
    let cipher = data.ciphers.iter().chain(&data.fallback).find(|cipher| !cipher.is_aead());
    let text = match () {
        () if !config.pull => "point to point",
        () if tunnel.device_type == DeviceType::Tap => "dev tap",
        () if links().any(|link| link.protocol.transport == Transport::Tcp) => "proto tcp",
        () if links().any(|link| link.proxy.is_some()) => "a proxy",
        () if links().any(|link| link.fragment.is_some()) => "fragment",
        () if data.framing != Framing::None || data.decompress => "compression",
        () if !tunnel.nat.is_empty() => "client-nat",
        () if links().any(has_port) => "lport",
        () if process.threads.is_some_and(|threads| threads > 1) => "threads",
        () if process.user.is_some() || process.group.is_some() => {
            return Some("the kernel takes keys from privileged users only: user, group".into());
        }
        () => {
            let name = cipher?.name();
            return Some(format!("the kernel's data channel does not have {name}"));
        }
    };
    Some(format!("the kernel's data channel, or this use of it, does not have {text}"))
}

/// Returns whether a client sends from a port of its own.
fn has_port(link: &config::Link) -> bool {
    link.local_port.is_some_and(|port| port > 0) && link.bind != Bind::Unbound
}

impl Offload {
    fn open(config: &config::Client, journal: &mut Journal) -> Result<Self, String> {
        let kernel = Kernel::open().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                "the kernel does not have the family ovpn (Linux 6.16 and later)".to_owned()
            }
            _ => format!("the kernel's family ovpn does not answer: {error}"),
        })?;
        let failed = |error: io::Error| format!("cannot create an interface of this kind: {error}");
        let mut netlink = Netlink::open().map_err(failed)?;
        let named = config.common.tunnel.device.clone().filter(|name| name != "tun");
        let numbered = (0..=LAST_NUMBER).map(|number| format!("tun{number}"));
        let names: Vec<String> = named.map_or_else(|| numbered.collect(), |name| vec![name]);
        for interface in names {
            let undo = Undo::DeleteLink { interface: interface.clone() };
            match journal.change(undo, || netlink.add_link(&interface, KIND)) {
                Ok(()) => {
                    let index = netlink.interface(&interface).map_err(failed)?;
                    let peer = OnlyPeer::new(Device::new(kernel, index));
                    return Ok(Self { peer, interface, failure: None });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
        Err("the device's name is in use".into())
    }

    /// Returns the interface's name.
    pub(super) fn interface(&self) -> &str {
        &self.interface
    }

    /// Returns the data path's queue: it has no packets, only the control channel.
    pub(super) fn queue(&self) -> Result<Queue, Failure> {
        Queue::idle().map_err(|error| Failure::new(format!("no eventfd: {error}")))
    }

    /// Begins a connection over this socket.
    pub(super) fn begin(&mut self, socket: RawFd, remote: SocketAddr) -> io::Result<()> {
        self.failure = None;
        self.peer.begin(socket, remote)?;
        // Those about the last connection, whose peer may have had the same number.
        while let Ok(Some(_)) = self.peer.device_mut().exchange_mut().next_notice() {}
        Ok(())
    }

    /// Ends the connection, before its socket is closed.
    pub(super) fn end(&mut self) {
        // The kernel deletes the peer with its socket, too.
        let _ = self.peer.end();
    }

    pub(super) fn install(&mut self, keys: &DataKeys) {
        let outcome = match &keys.raw {
            Some(raw) => self.peer.install(raw, keys.send),
            None => Err(io::ErrorKind::Unsupported.into()),
        };
        self.note("install a key", outcome);
    }

    pub(super) fn send_under(&mut self, key_id: KeyId) {
        let outcome = self.peer.send_under(key_id);
        self.note("use a key", outcome);
    }

    pub(super) fn retire(&mut self, key_id: KeyId) {
        let outcome = self.peer.retire(key_id);
        self.note("remove a key", outcome);
    }

    /// Sets the interval of pings and the longest silence.
    pub(super) fn set_keepalive(&mut self, (interval, timeout): (Duration, Duration)) {
        if self.peer.is_there() {
            let outcome = self.peer.set_keepalive(Keepalive { interval, timeout });
            self.note("set the times of pings", outcome);
        }
    }

    fn note(&mut self, what: &str, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            self.failure.get_or_insert_with(|| format!("cannot {what} in the kernel: {error}"));
        }
    }

    /// Returns the first refusal of the kernel since the last call.
    pub(super) fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Returns the next notification about the peer.
    pub(super) fn next_notice(&mut self) -> Option<Notice> {
        loop {
            // An error means that notifications were lost; the core's own limits remain.
            let message = self.peer.device_mut().exchange_mut().next_notice().ok()??;
            if let Some(notice) = self.peer.notice(&message) {
                return Some(notice);
            }
        }
    }

    /// Returns the traffic of the present connection.
    pub(super) fn counters(&mut self) -> Counters {
        let known = self.peer.counters().ok().flatten().unwrap_or_default();
        Counters {
            sent_packets: known.packets.1,
            sent_bytes: known.bytes.1,
            sent_inner_bytes: known.inner_bytes.1,
            received_packets: known.packets.0,
            received_bytes: known.bytes.0,
            received_inner_bytes: known.inner_bytes.0,
            ..Counters::default()
        }
    }

    /// Returns the descriptor that is readable once there is a notification.
    pub(super) fn as_fd(&mut self) -> BorrowedFd<'_> {
        <Kernel as AsFd>::as_fd(self.peer.device_mut().exchange_mut())
    }
}

/// Deletes the interface, also if the program fails before it has a tunnel.
impl Drop for Offload {
    fn drop(&mut self) {
        // At worst, the next start deletes it.
        let _ = Netlink::open().and_then(|mut it| it.delete_link(&self.interface, KIND));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Profile;

    fn client(lines: &str) -> config::Client {
        let text = format!("client\ndev tun\nremote h\nauth-user-pass\n{lines}\n<ca>\nx\n</ca>\n");
        match config::parse(Path::new("/x.conf"), text.as_bytes()) {
            Ok((Profile::Client(client), _)) => *client,
            other => panic!("{lines}: {other:?}"),
        }
    }

    #[test]
    fn what_the_kernel_cannot_do_is_named() {
        assert_eq!(obstacle(&client("enable-dco")), None);
        for (lines, name) in [
            ("proto tcp", "proto tcp"),
            ("fragment 1000", "fragment"),
            ("comp-lzo no", "compression"),
            ("allow-compression asym", "compression"),
            ("data-ciphers AES-256-GCM:AES-256-CBC", "AES-256-CBC"),
            ("data-ciphers-fallback AES-128-CBC", "AES-128-CBC"),
            ("dev-type tap", "dev tap"),
            ("client-nat snat 10.0.0.0 255.0.0.0 11.0.0.0", "client-nat"),
            ("lport 5000", "lport"),
            ("threads 2", "threads"),
            ("user nobody", "user, group"),
            ("socks-proxy p 1080", "a proxy"),
        ] {
            let why = obstacle(&client(lines)).unwrap_or_default();
            assert!(why.contains(name), "{lines}: {why}");
        }
    }

    #[test]
    fn disable_dco_wins() {
        for (lines, wanted) in [
            ("", false),
            ("enable-dco", true),
            ("disable-dco", false),
            ("enable-dco\ndisable-dco", false),
            ("disable-dco\nenable-dco", false),
        ] {
            assert_eq!(client(lines).common.process.offload(), wanted, "{lines}");
        }
    }
}
