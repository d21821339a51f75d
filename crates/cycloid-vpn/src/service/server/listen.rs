//! Creates a server's core settings, address pool and listening sockets.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};

use socket2::{Domain, Protocol, Socket, Type};

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
    let mut timing = settings::timing(&common.timing);
    timing.renegotiate_not_before.get_or_insert(timing.renegotiate_after * 9 / 10);
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
        timing,
        framing: common.data.framing,
        fragment: settings::fragment(&common.link, Transport::Udp),
        decompress: common.data.decompress,
        replay_window: common.data.replay_window,
        many: config.many,
        max_clients: config.max_clients as usize,
        max_control_packet: settings::max_control_packet(&common.link),
        initial: config.connect_frequency_initial,
        connections: config.connect_frequency,
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
                listeners.push(listen_on(address, sockets).map_err(failed)?);
            }
        }
    }
    Ok((groups, listeners))
}

/// Returns a TCP listener, whose options its connections inherit.
fn listen_on(address: SocketAddr, options: &config::Sockets) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if let Some(mark) = options.mark {
        socket.set_mark(mark)?;
    }
    if let Some(device) = &options.device {
        socket.bind_device(Some(device.as_bytes()))?;
    }
    if let Some(bytes) = options.send_buffer {
        socket.set_send_buffer_size(bytes as usize)?;
    }
    if let Some(bytes) = options.receive_buffer {
        socket.set_recv_buffer_size(bytes as usize)?;
    }
    socket.bind(&address.into())?;
    // The kernel reduces it to its own limit.
    socket.listen(i32::MAX)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_and_its_connections_have_the_options_of_the_file() {
        // Only root may set a mark.
        let mark = rustix::process::geteuid().is_root().then_some(77);
        let options = config::Sockets {
            mark,
            device: Some("lo".into()),
            receive_buffer: Some(65536),
            ..config::Sockets::default()
        };
        let listener = listen_on("127.0.0.1:0".parse().unwrap(), &options).unwrap();
        let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        listener.set_nonblocking(false).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        for socket in [socket2::SockRef::from(&listener), socket2::SockRef::from(&accepted)] {
            assert_eq!(socket.mark().unwrap(), mark.unwrap_or(0));
            assert_eq!(socket.device().unwrap().as_deref(), Some(&b"lo"[..]));
            // The kernel doubles it.
            assert_eq!(socket.recv_buffer_size().unwrap(), 131_072);
        }
    }
}
