//! A server's settings for one client, from a file of `client-config-dir` or the output of the hook
//! `client-connect`.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::tunnel::Ifconfig6;

/// A server's settings for one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerClient {
    /// `ifconfig-push`: the client's address, and the server's address or the netmask.
    pub ifconfig: Option<(Ipv4Addr, Ipv4Addr)>,
    /// `ifconfig-ipv6-push`.
    pub ifconfig_ipv6: Option<Ifconfig6>,
    /// `iroute`: networks behind the client, with prefix lengths.
    pub routes: Vec<(Ipv4Addr, u8)>,
    /// `iroute-ipv6`.
    pub routes_ipv6: Vec<(Ipv6Addr, u8)>,
    /// `push-reset`: drop the server's push list.
    pub push_reset: bool,
    /// `push-remove`: drop options of the server's push list that contain this text.
    pub push_remove: Vec<String>,
    /// `push`: additional options.
    pub push: Vec<String>,
    /// `disable`: refuse the client.
    pub disable: bool,
    /// `max-routes-per-client`: learned addresses behind this client.
    pub max_routes: Option<u32>,
    /// `vlan-pvid`: the client's VLAN.
    pub vlan: Option<u16>,
    /// `session-timeout`: how long a session lasts; zero is unlimited.
    pub session_timeout: Option<Duration>,
}

impl PerClient {
    /// Adds settings from a later source: later addresses replace earlier ones, all other settings
    /// accumulate.
    pub fn add(&mut self, later: Self) {
        self.ifconfig = later.ifconfig.or(self.ifconfig);
        self.ifconfig_ipv6 = later.ifconfig_ipv6.or(self.ifconfig_ipv6);
        self.routes.extend(later.routes);
        self.routes_ipv6.extend(later.routes_ipv6);
        self.push_reset |= later.push_reset;
        self.push_remove.extend(later.push_remove);
        self.push.extend(later.push);
        self.disable |= later.disable;
        self.max_routes = later.max_routes.or(self.max_routes);
        self.vlan = later.vlan.or(self.vlan);
        self.session_timeout = later.session_timeout.or(self.session_timeout);
    }

    /// Returns the options to push to this client: the server's list with its removals applied,
    /// then the client's own.
    pub fn push_list<'a>(&'a self, server: &'a [String]) -> impl Iterator<Item = &'a str> {
        let kept = server.iter().filter(|option| {
            !self.push_reset && !self.push_remove.iter().any(|text| option.contains(text.as_str()))
        });
        kept.chain(&self.push).map(String::as_str)
    }
}
