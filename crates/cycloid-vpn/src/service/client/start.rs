//! Creates a client's core settings and sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use zeroize::Zeroizing;

use crate::config::{self, Bind, Link, MtuDiscovery};
use crate::net::udp::{self, PathMtu, UdpSocket};
use crate::proto::Role;
use crate::proto::client::ClientSettings;
use crate::proto::tls::TlsFactory;
use crate::proto::wrap::ProtectionKey;
use crate::service::{Failure, random, settings};

/// Reads the control channel key of each remote, in order.
///
/// # Errors
/// A key that cannot be read.
pub(in crate::service) fn control_keys(
    config: &config::Client,
) -> Result<Vec<ProtectionKey>, Failure> {
    let load = |remote: &config::Remote| {
        Ok(remote.link.control_key.load(config.common.data.digest, Role::Client)?)
    };
    config.remotes.iter().map(load).collect()
}

/// Returns the core's settings for one connection.
pub(crate) fn core_settings(
    config: &config::Client,
    link: &Link,
    protection: ProtectionKey,
    tls: TlsFactory,
    credentials: Option<(String, Zeroizing<String>)>,
) -> ClientSettings {
    let common = &config.common;
    let transport = link.protocol.transport;
    ClientSettings {
        options: settings::options(Role::Client, common, link, transport, &protection),
        protection,
        tls,
        transport,
        ciphers: common.data.ciphers.clone(),
        fallback: common.data.fallback,
        digest: common.data.digest,
        credentials,
        pull: config.pull,
        peer_info: common
            .hooks
            .environment
            .iter()
            .filter(|(name, _)| name.starts_with("UV_") || name.starts_with("IV_"))
            .cloned()
            .collect(),
        timing: settings::timing(&common.timing),
        framing: common.data.framing,
        fragment: settings::fragment(link, transport),
        decompress: common.data.decompress,
        replay_window: common.data.replay_window,
        max_control_packet: settings::max_control_packet(link),
        epochs: true,
        offload: false,
        exit_notify: link.explicit_exit_notify > 0,
        filter: config.filter(),
        judges: common.hooks.tls_verify.is_some(),
    }
}

/// Returns the addresses of `local`, which the client sends from; none for any address.
///
/// # Errors
/// A name without an address.
pub(super) fn local_addresses(link: &Link) -> Result<Vec<IpAddr>, Failure> {
    let Some(host) = link.local.as_deref().filter(|host| *host != "*") else {
        return Ok(Vec::new());
    };
    let found = (host, 0).to_socket_addrs();
    let found = found.map_err(|error| Failure::new(format!("local {host}: {error}")))?;
    Ok(found.map(|address| address.ip()).collect())
}

/// Binds UDP sockets for both address families, or those of `local`, each as a group, if the client
/// has a port of its own. Returns also whether each group is IPv6. Otherwise each attempt gets new
/// sockets: see [`sockets`].
pub(super) fn bind(
    config: &config::Client,
    local: &[IpAddr],
    threads: usize,
) -> Result<(Vec<Vec<UdpSocket>>, Vec<bool>), Failure> {
    let link = &config.remotes[0].link;
    let (mut groups, mut families) = (Vec::new(), Vec::new());
    let Some(port) = link.local_port.filter(|port| *port > 0 && link.bind != Bind::Unbound) else {
        return Ok((groups, families));
    };
    let options = socket_options(&config.common, link);
    for address in if local.is_empty() { &ANY } else { local } {
        match udp::bind(SocketAddr::new(*address, port), threads, &options) {
            Ok(sockets) => {
                groups.push(sockets);
                families.push(address.is_ipv6());
            }
            // IPv6 may be unavailable.
            Err(_) if address.is_ipv6() && local.is_empty() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((groups, families))
}

/// The unspecified addresses of both families.
const ANY: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

/// Returns sockets for one attempt, with a port that the kernel chooses. A new port leaves behind
/// what a server or a NAT remembers of an earlier attempt. `joins`: see [`udp::Options`].
pub(super) fn sockets(
    config: &config::Client,
    remote: SocketAddr,
    local: Option<IpAddr>,
    threads: usize,
    joins: bool,
) -> io::Result<Vec<UdpSocket>> {
    let options = socket_options(&config.common, &config.remotes[0].link);
    let options = udp::Options { joins, ..options };
    let local = SocketAddr::new(local.unwrap_or(ANY[usize::from(remote.is_ipv6())]), 0);
    udp::bind(local, threads, &options).map_err(io::Error::other)
}

/// Returns the options of UDP sockets.
pub(in crate::service) fn socket_options(common: &config::Common, link: &Link) -> udp::Options {
    let sockets = &common.sockets;
    let mut options = udp::Options {
        multihome: sockets.multihome,
        mark: sockets.mark,
        device: sockets.device.clone(),
        v6_only: true,
        path_mtu: match link.mtu_discovery {
            None => PathMtu::System,
            Some(MtuDiscovery::No) => PathMtu::Fragment,
            Some(MtuDiscovery::Maybe) => PathMtu::Want,
            Some(MtuDiscovery::Yes) => PathMtu::Forbid,
        },
        ..udp::Options::default()
    };
    if let Some(bytes) = sockets.send_buffer {
        options.send_buffer = Some(bytes as usize);
    }
    if let Some(bytes) = sockets.receive_buffer {
        options.receive_buffer = Some(bytes as usize);
    }
    options
}

pub(super) fn shuffle<T>(list: &mut [T]) {
    for end in (1..list.len()).rev() {
        let mut bytes = [0; 8];
        random(&mut bytes);
        list.swap(end, (u64::from_ne_bytes(bytes) % (end as u64 + 1)) as usize);
    }
}
