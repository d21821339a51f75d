//! Sets a machine up for a tunnel whose options are all in its own file, that is of a server or with
//! a static key, and restores it.

use std::net::IpAddr;

use super::context::Context;
use super::hooks::Kind;
use super::{Failure, host};
use crate::config::Common;
use crate::net::undo::Journal;

impl Context {
    /// Sets addresses and routes, and runs the scripts for them.
    pub(super) fn set_up(
        &mut self,
        common: &Common,
        interface: &str,
        peer: Option<IpAddr>,
        journal: &mut Journal,
    ) -> Result<(), Failure> {
        let Common { hooks, tunnel, link, .. } = common;
        let mtu = link.tun_mtu.into();
        host::configure(interface, tunnel, mtu)?;
        let (environment, arguments) =
            host::script_inputs(self.environment(), interface, tunnel, mtu, "init");
        self.run(Kind::Up, hooks.up.as_ref(), arguments, environment.clone())?;
        for warning in host::add_routes(interface, tunnel, peer, journal)? {
            self.warn(&warning);
        }
        self.run(Kind::RouteUp, hooks.route_up.as_ref(), Vec::new(), environment)
    }

    /// Runs the scripts for the end, and undoes the changes. Failures are logged.
    pub(super) fn take_down(&mut self, common: &Common, interface: &str, journal: &mut Journal) {
        let Common { hooks, tunnel, link, .. } = common;
        let mtu = link.tun_mtu.into();
        let (environment, arguments) =
            host::script_inputs(self.environment(), interface, tunnel, mtu, "init");
        for (kind, command, arguments) in [
            (Kind::RoutePreDown, &hooks.route_pre_down, Vec::new()),
            (Kind::Down, &hooks.down, arguments),
        ] {
            if let Err(failure) = self.run(kind, command.as_ref(), arguments, environment.clone()) {
                self.warn(&failure.to_string());
            }
        }
        self.finish_scripts();
        for (undo, error) in journal.undo() {
            self.warn(&format!("cannot undo {undo}: {error}"));
        }
    }
}
