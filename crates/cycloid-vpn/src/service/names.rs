//! A client's name servers: set and restored by the client itself, or by its helper once the client
//! has dropped root.

pub(super) mod journal;

use super::helper::Helper;
use super::{Failure, host};
use crate::config;
use crate::net::dns::Resolver;
use crate::net::undo::Journal;

/// Who sets the name servers.
#[derive(Debug)]
pub(super) enum Names {
    /// This process.
    Own(Journal),
    /// A process that keeps root.
    Helped(Helper),
    /// Nobody: the client has left root, and its file allows no name servers.
    Unused,
}

impl Names {
    /// Sets name servers in place of the previous ones. Returns warnings.
    pub(super) fn set(
        &mut self,
        interface: &str,
        dns: &config::Dns,
    ) -> Result<Vec<String>, Failure> {
        let resolver = Resolver::detect();
        let (names, warnings) = host::names(dns, &resolver);
        if names.is_empty() {
            return Ok(warnings);
        }
        match self {
            Self::Own(journal) => resolver
                .apply(&names, interface, journal)
                .map_err(|error| Failure::new(format!("cannot set name servers: {error}")))?,
            Self::Helped(helper) => helper.set(names)?,
            Self::Unused => return Err(Failure::new("cannot set name servers without root")),
        }
        Ok(warnings)
    }

    /// Restores the name servers from before the tunnel. Returns what went wrong.
    pub(super) fn restore(&mut self) -> Vec<String> {
        match self {
            Self::Own(journal) => journal::undo(journal),
            Self::Helped(helper) => {
                helper.restore().err().into_iter().map(|failure| failure.to_string()).collect()
            }
            Self::Unused => Vec::new(),
        }
    }

    /// Returns the helper, if there is one.
    pub(super) fn helper(&mut self) -> Option<&mut Helper> {
        match self {
            Self::Helped(helper) => Some(helper),
            Self::Own(_) | Self::Unused => None,
        }
    }
}
