//! Checks a file's device: its type, and the directives that need Ethernet.

use std::net::Ipv4Addr;
use std::path::Path;

use super::draft::Draft;
use super::error::Error;
use super::server::{Bridge, Server, Vlans};
use super::tunnel::DeviceType;

/// Directives that have no effect with a TAP device.
const ONLY_TUN: [(&str, &str); 2] = [
    ("client-nat", "client-nat has no effect with `dev tap`: frames are not translated"),
    (
        "learn-address",
        "learn-address has no effect with `dev tap`: the server learns hardware \
      addresses by itself",
    ),
];

impl Draft {
    /// Determines the device's type, and checks what depends on it.
    pub(super) fn check_device(&mut self, file: &Path) -> Result<(), Error> {
        let tunnel = &mut self.common.tunnel;
        match (self.device_type, tunnel.device.as_deref()) {
            (Some(given), _) => tunnel.device_type = given,
            (None, Some("null")) if !self.many => tunnel.without_device = true,
            (None, Some(name)) if !name.starts_with("tun") && !name.starts_with("tap") => {
                let hint = "add `dev-type tun` or `dev-type tap`";
                let message = "the device name does not imply its type";
                return Err(self.wrong("dev", file, message, hint));
            }
            (None, _) => {}
        }
        if self.common.tunnel.device_type == DeviceType::Tun {
            for name in ["lladdr", "server-bridge", "vlan-tagging"] {
                if self.seen.contains_key(name) {
                    let message = format!("{name} needs a TAP device");
                    let hint = "add `dev tap`, also at the other end, or remove it";
                    return Err(self.wrong(name, file, &message, hint));
                }
            }
            return Ok(());
        }
        if let Some((_, netmask)) = self.common.tunnel.ifconfig
            && !is_netmask(netmask)
        {
            let message = format!("{netmask} is not a netmask, which `dev tap` needs here");
            let hint = "write it like ifconfig 10.8.0.1 255.255.255.0";
            return Err(self.wrong("ifconfig", file, &message, hint));
        }
        for (name, message) in ONLY_TUN {
            if self.seen.contains_key(name) {
                self.warn_of(name, file, message);
            }
        }
        Ok(())
    }

    /// Returns the settings of `vlan-tagging`, which is for many clients.
    pub(super) fn finish_vlans(&self, file: &Path) -> Result<Option<Vlans>, Error> {
        if self.seen.contains_key("vlan-tagging") {
            return Ok(Some(self.vlans));
        }
        let names = ["vlan-accept", "vlan-pvid"];
        match names.into_iter().find(|name| self.seen.contains_key(name)) {
            Some(name) if self.vlans != Vlans::default() => {
                let message = format!("{name} needs vlan-tagging");
                let hint = "add `vlan-tagging`, or remove it";
                Err(self.wrong(name, file, &message, hint))
            }
            _ => Ok(None),
        }
    }

    /// Expands `server-bridge` as openvpn(8) describes.
    pub(super) fn expand_bridge(&mut self, server: &mut Server, file: &Path) -> Result<(), Error> {
        let Some(bridge) = self.bridge else { return Ok(()) };
        if self.network.is_some() || self.network_ipv6.is_some() {
            let message = "server-bridge does not go with `server` and `server-ipv6`";
            let hint = "keep server-bridge to bridge networks, or `server` to route between them";
            return Err(self.wrong("server-bridge", file, message, hint));
        }
        server.bridge = true;
        match bridge {
            Bridge::Pool { gateway, pool } => {
                if server.pool.is_some() {
                    let message = "`server-bridge` already defines a pool";
                    let hint = "remove ifconfig-pool, or the arguments of server-bridge";
                    return Err(self.wrong("ifconfig-pool", file, message, hint));
                }
                server.pool = Some(pool);
                server.push.push(format!("route-gateway {gateway}"));
            }
            Bridge::Dhcp => server.push.push("route-gateway dhcp".into()),
            Bridge::NoGateway => {}
        }
        Ok(())
    }
}

fn is_netmask(netmask: Ipv4Addr) -> bool {
    let bits = u32::from(netmask);
    bits != 0 && bits.leading_ones() + bits.trailing_zeros() >= 32
}
