//! A client's configuration.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use zeroize::Zeroizing;

use super::common::Common;
use super::link::Link;

/// What a client's file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// What servers have too.
    pub common: Common,
    /// Servers, in the order in which they are tried; at least one.
    pub remotes: Vec<Remote>,
    /// `remote-random`: shuffle them at the start.
    pub remote_random: bool,
    /// `remote-random-hostname`: a random label before names, so that no cache answers.
    pub remote_random_hostname: bool,
    /// `resolv-retry`: how long to try to resolve a name; without end if none.
    pub resolve_retry: Option<Duration>,
    /// `auth-user-pass`; none if there is no password.
    pub credentials: Option<Credentials>,
    /// `auth-retry`.
    pub auth_retry: AuthRetry,
    /// `auth-nocache`: forget the password once it has been used.
    pub auth_nocache: bool,
    /// `static-challenge`: what to ask a person, and whether the answer may be seen.
    pub static_challenge: Option<(String, bool)>,
    /// `client`, `pull`: take what the server pushes.
    pub pull: bool,
    /// `route-nopull`: but no routes and no name servers.
    pub route_nopull: bool,
    /// `pull-filter`, in order; the first that matches decides.
    pub pull_filters: Vec<PullFilter>,
    /// `push-peer-info`: tell the server about this machine.
    pub push_peer_info: bool,
    /// `kill-switch`, a directive of Cycloid's own: nothing but the tunnel leaves the machine, also
    /// while it is down.
    pub kill_switch: bool,
}

/// `remote`, or a `<connection>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// A name, or an address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// How.
    pub link: Link,
}

/// Where a user's name and password come from.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A person is asked.
    Ask,
    /// The first two lines of a file; a person is asked for a password that is not there.
    File(PathBuf),
    /// The first two lines of a block.
    Inline {
        /// The name.
        username: String,
        /// A person is asked if none.
        password: Option<Zeroizing<String>>,
    },
}

/// Says where they are, never what.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask => f.write_str("Ask"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Inline { .. } => f.write_str("Inline(…)"),
        }
    }
}

/// `auth-retry`: what to do when the server refuses the password.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthRetry {
    /// End.
    #[default]
    None,
    /// Try again with the same.
    NoInteract,
    /// Ask for another.
    Interact,
}

/// `pull-filter`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullFilter {
    /// What happens.
    pub verdict: Verdict,
    /// To options that begin with this.
    pub prefix: String,
}

/// What a client does with an option that the server pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Take it.
    Accept,
    /// Pass it over.
    Ignore,
    /// Disconnect, and start anew.
    Reject,
}

impl Client {
    /// What to do with an option of a push reply, as `pull-filter` and `route-nopull` say.
    pub fn verdict(&self, option: &str) -> Verdict {
        let filter = self.pull_filters.iter().find(|filter| option.starts_with(&filter.prefix));
        match filter.map_or(Verdict::Accept, |filter| filter.verdict) {
            Verdict::Accept if self.route_nopull && super::push::is_route(option) => {
                Verdict::Ignore
            }
            verdict => verdict,
        }
    }
}
