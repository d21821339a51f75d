//! The Linux side: the TUN device, sockets, the data path's threads, and the tunnel's changes to
//! the machine's network with their undo.
//!
//! | module | holds |
//! |---|---|
//! | [`tun`] | the TUN device: queues, segmentation offloads, MTU and addresses |
//! | [`udp`] | UDP sockets: segmentation offload both ways, steering of datagrams to workers |
//! | [`tcp`] | streams of length-prefixed packets |
//! | [`port_share`] | connections of another service on a server's port |
//! | [`proxy`] | connections through HTTP and SOCKS proxies |
//! | [`data_path`] | the peers, their keys, and the threads that seal and open packets |
//! | [`nat`] | translation of inner addresses |
//! | [`offload`] | splitting and joining of super-packets |
//! | [`network`] | addresses with a prefix length |
//! | [`netlink`] | the kernel's routes and interfaces |
//! | [`routes`] | planning and applying a tunnel's routes |
//! | [`dco`] | the data channel in the kernel: peers and keys of an `ovpn` interface |
//! | [`dns`] | name servers and search domains |
//! | [`killswitch`] | a firewall that blocks traffic outside the tunnel |
//! | [`undo`] | the journal of changes to the machine |

pub mod data_path;
pub mod dco;
pub mod dns;
mod kernel;
pub mod killswitch;
mod lock;
pub mod nat;
pub mod netlink;
pub mod network;
pub mod offload;
pub mod port_share;
pub mod proxy;
mod revert;
pub mod routes;
pub mod tcp;
mod tool;
pub mod tun;
pub mod udp;
pub mod undo;

use std::fmt;
use std::io;

/// An operation that the operating system refused.
#[derive(Debug)]
pub struct Error {
    what: String,
    cause: io::Error,
}

impl Error {
    /// Returns an error; `what` completes "cannot …".
    pub(crate) fn new(what: impl Into<String>, cause: impl Into<io::Error>) -> Self {
        Self { what: what.into(), cause: cause.into() }
    }

    /// Returns the next step for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self.cause.kind() {
            io::ErrorKind::PermissionDenied => Some("run as root, or with CAP_NET_ADMIN"),
            io::ErrorKind::AddrInUse => Some("another program has this address and port"),
            io::ErrorKind::AddrNotAvailable => Some("no interface of this machine has the address"),
            io::ErrorKind::NotFound if self.what.ends_with(tun::CLONE) => {
                Some("load the kernel's module with `modprobe tun`, or give the container the file")
            }
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.what, self.cause)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}
