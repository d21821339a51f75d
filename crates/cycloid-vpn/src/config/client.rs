//! The configuration of a client.

use super::common::{Command, Common};
use super::credentials::Credentials;
use super::link::Link;
use super::tunnel::Dns;
pub use crate::proto::push::Verdict;

/// A client's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Settings shared with servers.
    pub common: Common,
    /// Servers, in the order of trying; at least one.
    pub remotes: Vec<Remote>,
    /// `remote-random`: shuffle the servers at the start.
    pub remote_random: bool,
    /// `auth-user-pass`; `None` without a password.
    pub credentials: Option<Credentials>,
    /// `auth-retry`.
    pub auth_retry: AuthRetry,
    /// `auth-nocache`: forget the password after use.
    pub auth_nocache: bool,
    /// `static-challenge`: the question for the user, and whether to echo the answer.
    pub static_challenge: Option<(String, bool)>,
    /// `client`, `pull`: accept options that the server pushes.
    pub pull: bool,
    /// `route-nopull`: ignore pushed routes and name servers.
    pub route_nopull: bool,
    /// `pull-filter`, in order; the first match decides.
    pub pull_filters: Vec<PullFilter>,
    /// `kill-switch`, a Cycloid directive: block all traffic outside the tunnel, also while the
    /// tunnel is down.
    pub kill_switch: bool,
}

impl Client {
    /// Returns the scripts that run as root the first time, even if `user` then leaves root, as in
    /// OpenVPN: those that run before the tunnel is up. Each comes with its directive's name.
    pub fn first_scripts(&self) -> impl Iterator<Item = (&'static str, &Command)> {
        let hooks = &self.common.hooks;
        // Without `pull`, OpenVPN leaves root before it connects.
        let ip_change = hooks.ip_change.as_ref().filter(|_| self.pull);
        [("up", hooks.up.as_ref()), ("route-up", hooks.route_up.as_ref()), ("ipchange", ip_change)]
            .into_iter()
            .filter_map(|(name, command)| Some((name, command?)))
    }

    /// Returns whether name servers may be set.
    pub fn may_set_names(&self) -> bool {
        self.pull && !self.route_nopull || self.common.tunnel.dns != Dns::default()
    }
}

/// A server to connect to, from `remote` or a `<connection>` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Host name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Transport.
    pub link: Link,
}

/// `auth-retry`: reaction to a refused password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthRetry {
    /// Stop.
    #[default]
    None,
    /// Retry with the same password.
    NoInteract,
    /// Ask for another password.
    Interact,
}

/// A `pull-filter` rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullFilter {
    /// The action.
    pub verdict: Verdict,
    /// Prefix of the matching options.
    pub prefix: String,
}
