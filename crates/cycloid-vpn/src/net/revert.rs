//! Undoes the changes that a journal records.

use std::io;

use rustix::io::Errno;

use super::netlink::{Netlink, Route};
use super::undo::{Journal, Undo};
use super::{dco, dns, killswitch};

impl Undo {
    /// Performs the undo. A change that is already gone is not an error.
    ///
    /// # Errors
    ///
    /// An error of the kernel or of the program that was run.
    pub fn perform(&self) -> io::Result<()> {
        match self {
            Self::DeleteRoute(route) => {
                let outcome = Netlink::open()?.delete_route(route);
                outcome.or_else(unless(&[Errno::SRCH, Errno::NODEV]))
            }
            Self::AddRoute(route) => restore(route),
            Self::Resolved { interface } => dns::revert_resolved(interface),
            Self::Resolvconf { record } => dns::revert_resolvconf(record),
            Self::ResolverFile { file } => dns::settle(file),
            Self::DeleteLink { interface } => Netlink::open()?.delete_link(interface, dco::KIND),
            Self::Firewall { table } => killswitch::remove(table),
        }
    }
}

/// Adds a route that was deleted, unless it is there again. A route whose interface or network is
/// gone cannot come back, and another network has its own. A different route in its place may be
/// another tunnel's: then the entry stays.
fn restore(route: &Route) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let gone = [Errno::NODEV, Errno::NETUNREACH, Errno::HOSTUNREACH, Errno::NETDOWN];
    let Err(error) = netlink.add_route(route).or_else(unless(&gone)) else { return Ok(()) };
    let present = netlink.routes(route.destination.is_ipv4())?;
    match present.iter().any(|other| route.is_same(other)) {
        true => Ok(()),
        false => Err(error),
    }
}

fn unless(accepted: &[Errno]) -> impl Fn(io::Error) -> io::Result<()> {
    move |error| {
        let code = error.raw_os_error();
        match accepted.iter().any(|errno| Some(errno.raw_os_error()) == code) {
            true => Ok(()),
            false => Err(error),
        }
    }
}

impl Journal {
    /// Undoes all changes, latest first. Returns the failed ones, which stay in the file for the
    /// next start.
    pub fn undo(&mut self) -> Vec<(Undo, io::Error)> {
        self.undo_if(|_| true)
    }

    /// Like [`undo`](Self::undo), for the entries that `chosen` selects.
    pub fn undo_if(&mut self, chosen: impl Fn(&Undo) -> bool) -> Vec<(Undo, io::Error)> {
        self.undo_by(chosen, Undo::perform)
    }
}
