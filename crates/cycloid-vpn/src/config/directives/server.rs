//! Directives of servers and of single clients.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::client::set_role;
use super::entry::{Entry, ignored, refused, used};
use super::tunnel;
use crate::config::draft::Draft;
use crate::config::error::Problem;
use crate::config::place::{BOTH, PER_CLIENT, SERVER, Scope};
use crate::config::server::{AuthToken, Bridge, Network, Pool, Pool6, VlanAccept};
use crate::config::values::{Call, Result};
use crate::proto::Role;

/// The longest pushed option in bytes: it shares a message of 1024 bytes with others.
const MAX_PUSH: usize = 900;

pub(super) const TABLE: &[Entry] = &[
    used("mode", BOTH, 1, 1, |draft, call| {
        if call.choice(0, &[("server", true), ("p2p", false)])? {
            draft.many = true;
            set_role(draft, Role::Server)?;
        }
        Ok(())
    }),
    used("tls-server", SERVER, 0, 0, |draft, _| set_role(draft, Role::Server)),
    used("server", SERVER, 2, 3, |draft, call| {
        let pool = match call.get(2) {
            Some(_) => call.choice(2, &[("nopool", false)])?,
            None => true,
        };
        let (address, netmask, prefix) = (call.ipv4(0)?, call.ipv4(1)?, call.netmask(1)?);
        if !(16..=29).contains(&prefix) {
            return Err(Problem::new(
                "a server's network has 8 to 65536 addresses",
                "use a netmask from 255.255.0.0 to 255.255.255.248",
            ));
        }
        if u32::from(address) & !u32::from(netmask) != 0 {
            let network = Ipv4Addr::from(u32::from(address) & u32::from(netmask));
            return Err(Problem::new(
                "the address has bits outside its netmask",
                format!("write the network address, {network}"),
            ));
        }
        draft.network = Some(Network { address, netmask, prefix, pool });
        draft.many = true;
        set_role(draft, Role::Server)
    }),
    used("server-bridge", SERVER, 0, 4, bridge),
    used("server-ipv6", SERVER, 1, 1, |draft, call| {
        let (first, prefix) = call.network_ipv6(0)?;
        let host_bits = u128::MAX.checked_shr(u32::from(prefix)).unwrap_or(0);
        if !(64..=124).contains(&prefix) || u128::from(first) & host_bits != 0 {
            return Err(Problem::new(
                "not a valid server network",
                "give one of /64 to /124, whose other bits are 0, as in fd00:1::/64",
            ));
        }
        draft.network_ipv6 = Some(Pool6 { first, prefix });
        draft.many = true;
        set_role(draft, Role::Server)
    }),
    used("ifconfig-pool", SERVER, 2, 3, |draft, call| {
        let netmask = match call.get(2) {
            Some(_) => {
                call.netmask(2)?;
                Some(call.ipv4(2)?)
            }
            None => None,
        };
        draft.server.pool = Some(pool(call.ipv4(0)?, call.ipv4(1)?, netmask)?);
        Ok(())
    }),
    used("ifconfig-pool-persist", SERVER, 1, 2, |draft, call| {
        let every = match call.get(1) {
            Some(_) => call.seconds_or_never(1)?,
            None => Some(Duration::from_secs(600)),
        };
        draft.server.pool_persist = Some((call.path(0), every));
        Ok(())
    }),
    ignored("ifconfig-pool-linear", SERVER, "use `topology p2p` instead"),
    used("push", SERVER | PER_CLIENT, 1, 1, |draft, call| {
        let option = call.text(0);
        if option.len() > MAX_PUSH || option.contains([',', '\t']) {
            let hint = format!("use at most {MAX_PUSH} bytes, without commas and tabs");
            return Err(Problem::new("this cannot be pushed", hint));
        }
        if !(call.may_be_pushed)(option) {
            let message = format!("clients ignore the pushed option: {option}");
            draft.warn(call.directive, message);
        }
        let list = match call.scope {
            Scope::PerClient => &mut draft.per_client.push,
            _ => &mut draft.server.push,
        };
        list.push(option.to_owned());
        Ok(())
    }),
    used("push-reset", PER_CLIENT, 0, 0, |draft, _| {
        draft.per_client.push_reset = true;
        Ok(())
    }),
    used("push-remove", PER_CLIENT, 1, 1, |draft, call| {
        draft.per_client.push_remove.push(call.owned(0));
        Ok(())
    }),
    used("ifconfig-push", PER_CLIENT, 2, 3, |draft, call| {
        draft.per_client.ifconfig = Some((call.ipv4(0)?, call.ipv4(1)?));
        Ok(())
    }),
    used("ifconfig-ipv6-push", PER_CLIENT, 1, 2, |draft, call| {
        draft.per_client.ifconfig_ipv6 = Some(tunnel::ifconfig_ipv6(call)?);
        Ok(())
    }),
    used("iroute", PER_CLIENT, 1, 2, |draft, call| {
        let prefix = if call.get(1).is_some() { call.netmask(1)? } else { 32 };
        draft.per_client.routes.push((call.ipv4(0)?, prefix));
        Ok(())
    }),
    used("iroute-ipv6", PER_CLIENT, 1, 1, |draft, call| {
        draft.per_client.routes_ipv6.push(call.network_ipv6(0)?);
        Ok(())
    }),
    used("disable", PER_CLIENT, 0, 0, |draft, _| {
        draft.per_client.disable = true;
        Ok(())
    }),
    used("client-config-dir", SERVER, 1, 1, |draft, call| {
        draft.server.client_config_dir = Some(call.path(0));
        Ok(())
    }),
    used("ccd-exclusive", SERVER, 0, 0, |draft, _| {
        draft.server.ccd_exclusive = true;
        Ok(())
    }),
    used("client-to-client", SERVER, 0, 0, |draft, _| {
        draft.server.client_to_client = true;
        Ok(())
    }),
    used("duplicate-cn", SERVER, 0, 0, |draft, _| {
        draft.server.duplicate_names = true;
        Ok(())
    }),
    used("max-clients", SERVER, 1, 1, |draft, call| {
        // A peer id has 24 bits; the highest value means none.
        draft.server.max_clients = call.number(0, 1..=(1 << 24) - 2)?;
        Ok(())
    }),
    used("max-routes-per-client", SERVER | PER_CLIENT, 1, 1, |draft, call| {
        let most = call.number(0, 1..=1_000_000)?;
        match call.scope {
            Scope::PerClient => draft.per_client.max_routes = Some(most),
            _ => draft.server.max_routes_per_client = most,
        }
        Ok(())
    }),
    used("username-as-common-name", SERVER, 0, 0, |draft, _| {
        draft.server.username_as_common_name = true;
        Ok(())
    }),
    used("auth-user-pass-optional", SERVER, 0, 0, |draft, _| {
        draft.server.password_optional = true;
        Ok(())
    }),
    used("auth-gen-token", SERVER, 0, 3, auth_token),
    used("auth-gen-token-secret", SERVER, 1, 1, |draft, call| {
        draft.server.auth_token_secret = Some(call.material()?);
        Ok(())
    })
    .or_block(),
    ignored(
        "opt-verify",
        SERVER,
        "ciphers are negotiated, and a client with another type of device causes a warning",
    ),
    used("connect-freq", SERVER, 2, 2, |draft, call| {
        draft.server.connect_frequency = Some((call.number(0, 1..=u32::MAX)?, call.seconds(1)?));
        Ok(())
    }),
    used("connect-freq-initial", SERVER, 2, 2, |draft, call| {
        draft.server.connect_frequency_initial = (call.number(0, 1..=u32::MAX)?, call.seconds(1)?);
        Ok(())
    }),
    used("stale-routes-check", SERVER, 1, 2, |draft, call| {
        let age = call.seconds_from_one(0)?;
        let every = if call.get(1).is_some() { call.seconds_from_one(1)? } else { age };
        draft.server.stale_routes = Some((age, every));
        Ok(())
    }),
    ignored("hash-size", SERVER, "tables grow by themselves"),
    ignored("bcast-buffers", SERVER, "broadcasts need no buffers"),
    refused(
        "ifconfig-push-constraint",
        "addresses of single clients are not limited to a network",
        "remove it, and check the files of client-config-dir",
    ),
    used("vlan-tagging", SERVER, 0, 0, |_, _| Ok(())),
    used("vlan-accept", SERVER, 1, 1, |draft, call| {
        let words = [
            ("all", VlanAccept::All),
            ("tagged", VlanAccept::Tagged),
            ("untagged", VlanAccept::Untagged),
        ];
        draft.vlans.accept = call.choice(0, &words)?;
        Ok(())
    }),
    used("vlan-pvid", SERVER | PER_CLIENT, 1, 1, |draft, call| {
        let number = call.number(0, 1..=4094)?;
        match call.scope {
            Scope::PerClient => draft.per_client.vlan = Some(number),
            _ => draft.vlans.native = number,
        }
        Ok(())
    }),
];

/// Returns a pool from its lowest and highest address.
fn pool(first: Ipv4Addr, last: Ipv4Addr, netmask: Option<Ipv4Addr>) -> Result<Pool> {
    if last < first || u32::from(last) - u32::from(first) > 0xFFFF {
        let hint = "write the lowest, then the highest";
        return Err(Problem::new("a pool has 1 to 65536 addresses", hint));
    }
    Ok(Pool { first, last, netmask })
}

/// `server-bridge GATEWAY NETMASK FIRST LAST`, `server-bridge nogw` and `server-bridge`.
fn bridge(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let bridge = match call.all().len() {
        0 => Bridge::Dhcp,
        1 => call.choice(0, &[("nogw", Bridge::NoGateway)])?,
        4 => {
            let (gateway, netmask) = (call.ipv4(0)?, call.ipv4(1)?);
            let bits = u32::MAX.checked_shl(32 - u32::from(call.netmask(1)?)).unwrap_or(0);
            let pool = pool(call.ipv4(2)?, call.ipv4(3)?, Some(netmask))?;
            let outside = |it: &Ipv4Addr| (u32::from(*it) ^ u32::from(gateway)) & bits != 0;
            if let Some(address) = [pool.first, pool.last].iter().find(|it| outside(it)) {
                return Err(Problem::new(
                    format!("{address} is not in the network of {gateway} with {netmask}"),
                    "choose addresses for clients from the bridged network",
                ));
            }
            Bridge::Pool { gateway, pool }
        }
        _ => {
            return Err(Problem::new(
                "server-bridge has no, one or four arguments",
                "write it like server-bridge 10.8.0.4 255.255.255.0 10.8.0.128 10.8.0.254",
            ));
        }
    };
    draft.bridge = Some(bridge);
    draft.many = true;
    set_role(draft, Role::Server)
}

fn auth_token(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let mut token = AuthToken { lifetime: None, renewal: None, external: false };
    let mut times = 0;
    for index in 0..call.all().len() {
        if call.text(index) == "external-auth" {
            token.external = true;
            continue;
        }
        match times {
            0 => token.lifetime = call.seconds_or_never(index)?,
            1 => token.renewal = call.seconds_or_never(index)?,
            _ => {
                let hint = "write it like auth-gen-token 86400 600 external-auth";
                return Err(Problem::new("more than two times", hint));
            }
        }
        times += 1;
    }
    draft.server.auth_token = Some(token);
    Ok(())
}
