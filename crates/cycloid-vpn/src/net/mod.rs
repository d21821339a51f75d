//! The Linux side: the TUN device, the sockets and the threads that move packets between them; and
//! what a tunnel changes in the network of its machine, and how all of it is taken back.
//!
//! | module | holds |
//! |---|---|
//! | [`tun`] | the TUN device: queues, segmentation offloads, MTU and addresses |
//! | [`udp`] | UDP sockets: segmentation by the kernel both ways, steering of datagrams to workers |
//! | [`tcp`] | streams of packets behind their lengths |
//! | [`data_path`] | the peers, their keys, and the threads that seal and open |
//! | [`offload`] | super-packets cut and joined |
//! | [`network`] | addresses with a prefix length |
//! | [`netlink`] | the kernel's routes and interfaces |
//! | [`routes`] | which routes a tunnel needs, planned before any is changed |
//! | [`dns`] | name servers and search domains |
//! | [`killswitch`] | nothing leaves but through the tunnel, on request |
//! | [`undo`] | the journal of what was changed |

pub mod data_path;
pub mod dns;
mod kernel;
pub mod killswitch;
pub mod netlink;
pub mod network;
pub mod offload;
pub mod routes;
pub mod tcp;
mod tool;
pub mod tun;
pub mod udp;
pub mod undo;

use std::fmt;
use std::io;

/// The operating system refused something.
#[derive(Debug)]
pub struct Error {
    what: String,
    cause: io::Error,
}

impl Error {
    /// `what` completes "cannot …".
    fn new(what: impl Into<String>, cause: impl Into<io::Error>) -> Self {
        Self { what: what.into(), cause: cause.into() }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self.cause.kind() {
            io::ErrorKind::PermissionDenied => Some("run as root, or with CAP_NET_ADMIN"),
            io::ErrorKind::AddrInUse => Some("another program has this address and port"),
            io::ErrorKind::AddrNotAvailable => Some("no interface of this machine has the address"),
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
