//! Directives for the connection to the peer.

use super::entry::{Entry, used};
use crate::config::draft::{Draft, RemoteLine};
use crate::config::error::Problem;
use crate::config::link::{Bind, ControlKey, Family, Fragment, MssFix, MtuDiscovery, Protocol};
use crate::config::place::{BOTH, CLIENT, CONNECTION, PUSHED, SERVER, Scope};
use crate::config::proxy::ProxyKind;
use crate::config::server::PortShare;
use crate::config::values::{Call, RemoteHost, Result};
use crate::proto::static_key::Direction;
use crate::proto::{Role, Transport};

const ANY: u8 = BOTH | CONNECTION;

/// The largest number of `remote` lines. OpenVPN has no limit; files of providers have a hundred.
const MAX_REMOTES: usize = 4096;

pub(super) const TABLE: &[Entry] = &[
    used("remote", ANY, 1, 3, remote),
    used("proto", ANY, 1, 1, |draft, call| {
        let (protocol, role) = protocol(call, 0)?;
        draft.common.link.protocol = protocol;
        draft.tcp_role = role;
        Ok(())
    }),
    used("port", ANY, 1, 1, |draft, call| {
        let port = call.port(0)?;
        draft.common.link.local_port = Some(port);
        draft.common.link.remote_port = port;
        Ok(())
    }),
    used("lport", ANY, 1, 1, |draft, call| {
        draft.common.link.local_port = Some(call.number(0, 0..=65535)?);
        Ok(())
    }),
    used("rport", ANY, 1, 1, |draft, call| {
        draft.common.link.remote_port = call.port(0)?;
        Ok(())
    }),
    used("local", ANY, 1, 3, |draft, call| listen(draft, call, false)),
    used("listen", SERVER, 1, 3, |draft, call| listen(draft, call, true)),
    used("bind", ANY, 0, 1, |draft, call| {
        let ipv6_only = match call.get(0) {
            None => false,
            Some(_) => call.choice(0, &[("ipv6only", true)])?,
        };
        draft.common.link.bind = Bind::Bound { ipv6_only };
        Ok(())
    }),
    used("nobind", CLIENT | CONNECTION, 0, 0, |draft, _| {
        draft.common.link.bind = Bind::Unbound;
        Ok(())
    }),
    used("float", ANY, 0, 0, |draft, _| {
        draft.common.link.float = true;
        Ok(())
    }),
    used("connect-retry", ANY, 1, 2, |draft, call| {
        if call.text(0) == "infinite" {
            // OpenVPN reads it as 0 and waits for as long as without the line.
            let message =
                "connect-retry infinite is ignored: it is a time, not a number of attempts";
            draft.warn(call.directive, message);
            return Ok(());
        }
        let times = &mut draft.common.link.connect_retry;
        times.0 = call.seconds(0)?.max(std::time::Duration::from_secs(1));
        if call.get(1).is_some() {
            times.1 = call.seconds(1)?;
        }
        times.1 = times.1.max(times.0);
        Ok(())
    }),
    used("connect-retry-max", ANY, 1, 1, |draft, call| {
        let rounds = match call.text(0) {
            "infinite" | "unlimited" => 0,
            _ => call.number(0, 0..=u32::MAX)?,
        };
        draft.common.link.connect_retry_max = Some(rounds).filter(|rounds| *rounds > 0);
        Ok(())
    }),
    used("connect-timeout", ANY, 1, 1, connect_timeout),
    used("server-poll-timeout", ANY, 1, 1, connect_timeout),
    used("explicit-exit-notify", ANY | PUSHED, 0, 1, |draft, call| {
        draft.common.link.explicit_exit_notify = match call.get(0) {
            Some(_) => call.number(0, 0..=100)?,
            None => 1,
        };
        Ok(())
    }),
    used("tun-mtu", ANY | PUSHED, 1, 2, |draft, call| {
        // The second argument is the MTU announced in the options string, for peers that compare
        // it.
        draft.common.link.tun_mtu = call.number(0, 100..=65535)?;
        draft.tun_mtu_given = true;
        Ok(())
    }),
    used("mssfix", ANY, 0, 2, mssfix),
    used("max-packet-size", ANY, 1, 1, |draft, call| {
        let size = call.number(0, 68..=65535)?;
        draft.common.link.mssfix = MssFix::Packet(size);
        draft.common.link.max_control_packet = size.clamp(154, 2048);
        draft.mssfix_given = true;
        Ok(())
    }),
    used("mtu-disc", ANY, 1, 1, |draft, call| {
        let choices =
            [("no", MtuDiscovery::No), ("maybe", MtuDiscovery::Maybe), ("yes", MtuDiscovery::Yes)];
        draft.common.link.mtu_discovery = Some(call.choice(0, &choices)?);
        Ok(())
    }),
    used("tls-auth", ANY, 1, 2, |draft, call| {
        let direction = match call.get(1) {
            Some(_) => Some(key_direction(call, 1)?),
            None => None,
        };
        set_key(draft, ControlKey::Auth { key: call.material()?, direction })
    })
    .or_block(),
    used("key-direction", ANY, 1, 1, |draft, call| {
        draft.key_direction = Some(key_direction(call, 0)?);
        Ok(())
    }),
    // A direction, as of tls-auth, has no effect: each direction has its own part of the key.
    used("tls-crypt", ANY, 1, 2, |draft, call| {
        set_key(draft, ControlKey::Crypt { key: call.material()? })
    })
    .or_block(),
    used("tls-crypt-v2", ANY, 1, 2, |draft, call| {
        let choices = [("allow-noncookie", true), ("force-cookie", false)];
        let allow_without_cookie = match call.get(1) {
            Some(_) => call.choice(1, &choices)?,
            None => true,
        };
        let key = call.material()?;
        set_key(draft, ControlKey::CryptV2 { key, allow_without_cookie, shared: None })
    })
    .or_block(),
    used("fragment", ANY, 1, 2, |draft, call| {
        let with_headers = match call.get(1) {
            Some(_) => call.choice(1, &[("mtu", true)])?,
            None => false,
        };
        let size = call.number(0, Fragment::LEAST..=u16::MAX)?;
        let fragment = Fragment { size, with_headers };
        let payload = fragment.payload();
        if payload < Fragment::ROOMY {
            let message = format!(
                "fragment: long packets may be lost, because they need more than 32 datagrams of \
                 {payload} bytes"
            );
            draft.warn(call.directive, message);
        }
        draft.common.link.fragment = Some(fragment);
        Ok(())
    }),
    used("port-share", SERVER, 2, 3, |draft, call| {
        draft.server.port_share = Some(PortShare {
            host: call.host(0)?,
            port: call.port(1)?,
            directory: call.get(2).map(|_| call.path(2)),
        });
        Ok(())
    }),
];

fn connect_timeout(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    draft.common.link.connect_timeout = call.seconds(0)?;
    Ok(())
}

fn remote(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let port = match call.get(1) {
        Some(_) => Some(call.port(1)?),
        None => None,
    };
    let protocol = match call.get(2) {
        Some(_) => match protocol(call, 2)? {
            (_, Some(Role::Server)) => {
                let hint = "set tcp or tcp-client";
                return Err(Problem::new("a client cannot listen", hint));
            }
            (protocol, _) => Some(protocol),
        },
        None => None,
    };
    let host = match call.remote_host(0)? {
        RemoteHost::Plain(host) => host,
        RemoteHost::Short(address) => {
            let message = format!("'{}' is short for the address {address}", call.text(0));
            draft.warn(call.directive, message);
            address.to_string()
        }
        RemoteHost::Strange(host) => {
            let message = match host.is_ascii() {
                true => format!(
                    "'{host}' is neither an address nor a host name, and no connection will \
                     succeed: replace it with the server's"
                ),
                false => format!(
                    "'{host}' is looked up as it is, and most name servers do not know such names: \
                     write the form of the name that begins with xn--"
                ),
            };
            draft.warn(call.directive, message);
            host
        }
    };
    let line = RemoteLine { host, port, protocol };
    match call.scope {
        Scope::Connection => draft.connection_remote = Some(line),
        _ if draft.remotes.len() == MAX_REMOTES => {
            let message = format!("more than {MAX_REMOTES} remotes");
            return Err(Problem::new(message, "remove some of them"));
        }
        _ => draft.remotes.push(line),
    }
    Ok(())
}

/// `local HOST [PORT] [PROTOCOL]`, and `listen` with the same arguments.
fn listen(draft: &mut Draft, call: &Call<'_>, any: bool) -> Result<()> {
    let host = match call.text(0) {
        "*" if any || call.scope == Scope::Profile => "*".to_owned(),
        _ => call.host(0)?,
    };
    let port = match call.get(1) {
        Some(_) => Some(call.port(1)?),
        None => None,
    };
    let protocol = match call.get(2) {
        Some(_) => Some(protocol(call, 2)?.0),
        None => None,
    };
    if call.scope == Scope::Profile {
        draft.listen.push((host.clone(), port, protocol));
    }
    draft.common.link.local = Some(host);
    Ok(())
}

/// Returns the protocol, and this end's role if the word implies one.
fn protocol(call: &Call<'_>, index: usize) -> Result<(Protocol, Option<Role>)> {
    let name = call.text(index);
    let (base, role) = match (name.strip_suffix("-client"), name.strip_suffix("-server")) {
        (Some(base), _) => (base, Some(Role::Client)),
        (_, Some(base)) => (base, Some(Role::Server)),
        _ => (name, None),
    };
    let (transport, family) = match base {
        "udp" => (Transport::Udp, Family::Any),
        "udp4" => (Transport::Udp, Family::V4),
        "udp6" => (Transport::Udp, Family::V6),
        "tcp" => (Transport::Tcp, Family::Any),
        "tcp4" => (Transport::Tcp, Family::V4),
        "tcp6" => (Transport::Tcp, Family::V6),
        _ => return Err(no_protocol(name)),
    };
    if transport == Transport::Udp && role.is_some() {
        return Err(no_protocol(name));
    }
    Ok((Protocol { transport, family }, role))
}

fn no_protocol(name: &str) -> Problem {
    Problem::new(
        format!("unknown protocol '{name}'"),
        "use udp, udp4, udp6, tcp, tcp4 or tcp6; tcp may end in -client or -server",
    )
}

fn mssfix(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    draft.mssfix_given = call.get(0).is_some();
    if !draft.mssfix_given {
        return Ok(());
    }
    let size: u16 = call.number(0, 0..=65535)?;
    let make = match call.get(1) {
        Some(_) => {
            call.choice(1, &[("mtu", MssFix::Packet as fn(u16) -> _), ("fixed", MssFix::Inner)])?
        }
        None => MssFix::Payload,
    };
    draft.common.link.mssfix = match size {
        0 => MssFix::Off,
        1..100 => {
            let message = format!("{size} bytes are too few for a packet: 100 are used");
            draft.warn(call.directive, message);
            make(100)
        }
        _ => make(size),
    };
    Ok(())
}

pub(super) fn key_direction(call: &Call<'_>, index: usize) -> Result<Direction> {
    call.choice(index, &[("0", Direction::Normal), ("1", Direction::Inverse)])
}

/// Sets the control channel key. A server may have two: one for clients with their own key, and one
/// for clients without.
fn set_key(draft: &mut Draft, key: ControlKey) -> Result<()> {
    let present = std::mem::replace(&mut draft.common.link.control_key, ControlKey::Plain);
    draft.common.link.control_key = match (present, key) {
        (ControlKey::Auth { .. }, ControlKey::Crypt { .. })
        | (ControlKey::Crypt { .. }, ControlKey::Auth { .. }) => return Err(two_keys()),
        (
            ControlKey::CryptV2 { key, allow_without_cookie, .. },
            other @ (ControlKey::Auth { .. } | ControlKey::Crypt { .. }),
        )
        | (
            other @ (ControlKey::Auth { .. } | ControlKey::Crypt { .. }),
            ControlKey::CryptV2 { key, allow_without_cookie, .. },
        ) => ControlKey::CryptV2 { key, allow_without_cookie, shared: Some(Box::new(other)) },
        (
            ControlKey::CryptV2 { shared, .. },
            ControlKey::CryptV2 { key, allow_without_cookie, .. },
        ) => ControlKey::CryptV2 { key, allow_without_cookie, shared },
        (_, key) => key,
    };
    Ok(())
}

pub(in crate::config) fn two_keys() -> Problem {
    Problem::new(
        "the control channel has two kinds of key",
        "keep the one that the peer uses: tls-auth, tls-crypt or tls-crypt-v2",
    )
}

impl Draft {
    /// Returns a remote from the global settings and its own line.
    pub(in crate::config) fn remote(
        &self,
        line: RemoteLine,
    ) -> Result<crate::config::client::Remote> {
        let mut link = self.finished_link();
        link.protocol = line.protocol.unwrap_or(link.protocol);
        if link.fragment.is_some() && link.protocol.transport == Transport::Tcp {
            let hint = "remove it, or use `proto udp`";
            return Err(Problem::new("fragment works only over UDP", hint));
        }
        let port = line.port.unwrap_or(link.remote_port);
        Ok(crate::config::client::Remote { host: line.host, port, link })
    }

    /// Returns the link after applying directives that depend on others.
    pub(in crate::config) fn finished_link(&self) -> crate::config::link::Link {
        let mut link = self.common.link.clone();
        let shared = match &mut link.control_key {
            ControlKey::CryptV2 { shared: Some(shared), .. } => shared,
            key => key,
        };
        if let ControlKey::Auth { direction, .. } = shared {
            *direction = direction.or(self.key_direction);
        }
        if let (Some(account), Some(proxy)) = (&self.proxy_account, &mut link.proxy)
            && matches!(proxy.kind, ProxyKind::Http(_))
        {
            proxy.account = Some(account.clone());
        }
        if let Some(fragment) = link.fragment.filter(|_| !self.mssfix_given) {
            // Fragments of TCP are avoided.
            let make = if fragment.with_headers { MssFix::Packet } else { MssFix::Payload };
            link.mssfix = make(fragment.size);
        } else if self.tun_mtu_given && !self.mssfix_given && link.tun_mtu != 1500 {
            // A non-default MTU implies that the author knows the path: segments fill it exactly.
            link.mssfix = MssFix::Inner(link.tun_mtu);
        }
        link
    }
}
