//! Creates a server's core settings, address pool and listening sockets.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};

use crate::config::{self, Family};
use crate::net;
use crate::net::udp::{self, UdpSocket};
use crate::proto::server::ServerSettings;
use crate::proto::tls::TlsFactory;
use crate::proto::{Role, Transport};
use crate::service::pool::{self, Pool};
use crate::service::{Failure, settings};

pub(super) fn core_settings(
    config: &config::Server,
    tls: TlsFactory,
) -> Result<ServerSettings, Failure> {
    let common = &config.common;
    let protection = common.link.control_key.load(common.data.digest, Role::Server)?;
    let force_cookie = !matches!(
        common.link.control_key,
        config::ControlKey::CryptV2 { allow_without_cookie: true, .. }
    );
    let options =
        |transport| settings::options(Role::Server, common, &common.link, transport, &protection);
    let options = (options(Transport::Udp), options(Transport::Tcp));
    Ok(ServerSettings {
        protection,
        tls,
        ciphers: common.data.ciphers.clone(),
        fallback: common.data.fallback,
        digest: common.data.digest,
        options,
        timing: settings::timing(&common.timing),
        framing: common.data.framing,
        fragment: settings::fragment(&common.link, Transport::Udp),
        decompress: common.data.decompress,
        replay_window: common.data.replay_window.0,
        many: config.many,
        max_clients: config.max_clients as usize,
        max_control_packet: settings::max_control_packet(&common.link),
        initial: config.connect_frequency_initial,
        epochs: true,
        force_cookie,
    })
}

pub(super) fn pool_of(config: &config::Server) -> Option<Pool> {
    let tunnel = &config.common.tunnel;
    let settings = pool::Settings {
        topology: tunnel.addressing().into(),
        server: tunnel.ifconfig.map(|(address, _)| address),
        ipv4: config.pool.map(|pool| {
            let netmask = pool.netmask.or(tunnel.ifconfig.map(|(_, netmask)| netmask));
            (pool.first, pool.last, netmask.unwrap_or([255; 4].into()))
        }),
        ipv6: config.pool_ipv6.map(|pool| (pool.first, pool.prefix)),
    };
    (settings.ipv4.is_some() || settings.ipv6.is_some()).then(|| Pool::new(settings))
}

/// Binds groups of UDP sockets, and TCP listeners.
pub(super) fn listen(
    config: &config::Server,
    threads: usize,
) -> Result<(Vec<Vec<UdpSocket>>, Vec<TcpListener>), Failure> {
    let (mut groups, mut listeners) = (Vec::new(), Vec::new());
    let sockets = &config.common.sockets;
    let mut options = udp::Options {
        multihome: sockets.multihome,
        mark: sockets.mark,
        device: sockets.device.clone(),
        ..udp::Options::default()
    };
    if let Some(bytes) = sockets.send_buffer {
        options.send_buffer = Some(bytes as usize);
    }
    if let Some(bytes) = sockets.receive_buffer {
        options.receive_buffer = Some(bytes as usize);
    }
    for listen in &config.listen {
        let address =
            address_of(listen).map_err(|error| Failure::new(format!("cannot listen: {error}")))?;
        match listen.protocol.transport {
            Transport::Udp => groups.push(udp::bind(address, threads, &options)?),
            Transport::Tcp => {
                let failed =
                    |error: io::Error| net::Error::new(format!("listen on TCP {address}"), error);
                let listener = TcpListener::bind(address).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                listeners.push(listener);
            }
        }
    }
    Ok((groups, listeners))
}

fn address_of(listen: &config::Listen) -> io::Result<SocketAddr> {
    let Some(host) = &listen.host else {
        let any: IpAddr = match listen.protocol.family {
            Family::V6 => [0_u16; 8].into(),
            Family::Any | Family::V4 => [0_u8; 4].into(),
        };
        return Ok(SocketAddr::new(any, listen.port));
    };
    (host.as_str(), listen.port)
        .to_socket_addrs()?
        .find(|address| match listen.protocol.family {
            Family::Any => true,
            Family::V4 => address.is_ipv4(),
            Family::V6 => address.is_ipv6(),
        })
        .ok_or_else(|| io::Error::other(format!("{host} has no address of this family")))
}
