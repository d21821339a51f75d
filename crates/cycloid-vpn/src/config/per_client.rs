//! What a server does otherwise for one client: a file of `client-config-dir`, or what the hook
//! `client-connect` wrote.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;

use super::draft::{Draft, Scope, read};
use super::error::{Error, Warning};
use super::tunnel::Ifconfig6;

/// What is said of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerClient {
    /// `ifconfig-push`: the client's address, and the server's or the netmask.
    pub ifconfig: Option<(Ipv4Addr, Ipv4Addr)>,
    /// `ifconfig-ipv6-push`.
    pub ifconfig_ipv6: Option<Ifconfig6>,
    /// `iroute`: networks behind the client, with the bits of their masks.
    pub routes: Vec<(Ipv4Addr, u8)>,
    /// `iroute-ipv6`.
    pub routes_ipv6: Vec<(Ipv6Addr, u8)>,
    /// `push-reset`: nothing of the server's own list is pushed.
    pub push_reset: bool,
    /// `push-remove`: what has this in it is not pushed.
    pub push_remove: Vec<String>,
    /// `push`: what is pushed besides.
    pub push: Vec<String>,
    /// `disable`: the client does not come in.
    pub disable: bool,
}

impl PerClient {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or says what cannot be.
    pub fn read(path: &Path) -> Result<(Self, Vec<Warning>), Error> {
        let bytes = read(path).map_err(|problem| problem.at(path, 0, ""))?;
        Self::parse(path, &bytes)
    }

    /// Reads the text of a file; its name is for messages.
    ///
    /// # Errors
    /// It says what cannot be.
    pub fn parse(file: &Path, text: &[u8]) -> Result<(Self, Vec<Warning>), Error> {
        let mut draft = Draft::default();
        draft.text(file, Scope::PerClient, text)?;
        Ok((draft.per_client, draft.warnings))
    }

    /// Adds what is said later: addresses take the place of those before, the rest comes on top.
    pub fn add(&mut self, later: Self) {
        self.ifconfig = later.ifconfig.or(self.ifconfig);
        self.ifconfig_ipv6 = later.ifconfig_ipv6.or(self.ifconfig_ipv6);
        self.routes.extend(later.routes);
        self.routes_ipv6.extend(later.routes_ipv6);
        self.push_reset |= later.push_reset;
        self.push_remove.extend(later.push_remove);
        self.push.extend(later.push);
        self.disable |= later.disable;
    }

    /// What the client is pushed, of what the server pushes to all and of what is for this one.
    pub fn push_list<'a>(&'a self, server: &'a [String]) -> impl Iterator<Item = &'a str> {
        let kept = server.iter().filter(|option| {
            !self.push_reset && !self.push_remove.iter().any(|text| option.contains(text.as_str()))
        });
        kept.chain(&self.push).map(String::as_str)
    }
}
