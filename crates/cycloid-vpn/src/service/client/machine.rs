//! Configures a client's machine when the tunnel comes up, restores it when the tunnel goes down,
//! and runs the related scripts.

use std::net::{IpAddr, SocketAddr};

use super::wire::Wire;
use super::{Program, SERVER};
use crate::config::{self, Link, Verdict};
use crate::net::killswitch::KillSwitch;
use crate::net::undo::Undo;
use crate::proto::client::Connected;
use crate::proto::push::PushReply;
use crate::proto::tls::Identity;
use crate::service::hooks::{Environment, Kind, Trust, subject_of};
use crate::service::{Failure, host, settings};

impl Program<'_> {
    /// Runs `tls-verify` for each certificate of the server's chain, the root first, before the
    /// client sends anything secret.
    pub(super) fn judge(
        &mut self,
        server: Option<&Identity>,
        address: SocketAddr,
    ) -> Result<(), Failure> {
        let command = self.config.common.hooks.tls_verify.as_ref();
        let (Some(server), Some(command)) = (server, command) else { return Ok(()) };
        let not_valid = || Failure::new("its certificate is not valid any more");
        let chain = server.chain().ok_or_else(not_valid)?;
        let mut environment = self.context.environment();
        environment.set_peer_address(Trust::Untrusted, address);
        environment.set_certificates(server);
        for (depth, certificate) in chain.iter().enumerate().rev() {
            let unreadable = || Failure::new("the certificate of its authority is unreadable");
            let subject = subject_of(certificate).ok_or_else(unreadable)?;
            let arguments = vec![depth.to_string(), subject];
            self.context.run(Kind::TlsVerify, Some(command), arguments, environment.clone())?;
        }
        Ok(())
    }

    /// Runs `ipchange` with the server's address.
    pub(super) fn tell_address(&mut self, server: Option<&Identity>, address: SocketAddr) {
        let mut environment = self.context.environment();
        if let Some(server) = server {
            environment.set_certificates(server);
        }
        environment.set_peer_address(Trust::Untrusted, address);
        environment.set_peer_address(Trust::Trusted, address);
        let Some(helper) = self.names.helper().filter(|it| it.runs(Kind::AddressChange)) else {
            let command = self.config.common.hooks.ip_change.as_ref();
            return self.context.tell_address(command, address, environment);
        };
        if let Err(failure) = helper.run_script(Kind::AddressChange, &environment) {
            self.warn(&failure.to_string());
        }
    }

    /// Configures the machine for a tunnel that came up.
    pub(super) fn up(
        &mut self,
        link: &Link,
        address: SocketAddr,
        connected: &Connected,
        wire: &Wire,
    ) -> Result<(), Failure> {
        let reply = &connected.reply;
        let (tunnel, hooks) = self.pushed_tunnel(reply)?;
        let mtu = self.take_mtu(link, reply);
        let largest = settings::largest_tcp(
            link.mssfix,
            link.tun_mtu,
            address.ip(),
            link.protocol.transport,
            wire.overhead + settings::frame_header(&tunnel),
        );
        self.handle.set_largest_tcp(SERVER, largest);
        self.handle.set_nat(SERVER, &settings::nat(&tunnel));
        self.say(2, &format!("Data Channel: cipher '{}'", connected.cipher.name()));
        let shown: Vec<&str> = reply
            .options()
            .iter()
            .map(String::as_str)
            .filter(|option| !option.starts_with("auth-token"))
            .collect();
        if !shown.is_empty() {
            self.say(3, &format!("options of the server: {}", shown.join(", ")));
        }
        if reply.options().iter().any(|option| option == "route-gateway dhcp") {
            let text = format!(
                "the server leaves the address to DHCP: run a DHCP client on {}",
                self.interface
            );
            self.warn(&text);
        }
        let ipv4 = tunnel.ifconfig.map(|(address, other)| format!("{address} {other}"));
        let ipv6 = tunnel.ifconfig_ipv6.map(|it| format!("{}/{}", it.address, it.prefix));
        let addresses: Vec<String> = ipv4.into_iter().chain(ipv6).collect();
        self.say(3, &format!("{}: {}, MTU {}", self.interface, addresses.join(", "), self.mtu));
        let told = (tunnel, address.ip());
        if self.applied.as_ref() != Some(&told) || mtu {
            self.apply(told, address, &hooks, reply)?;
        } else if self.config.common.hooks.up_restart {
            let (tunnel, _) = &told;
            let environment = self.context.environment();
            let (environment, arguments) =
                host::script_inputs(environment, &self.interface, tunnel, self.mtu, "restart");
            let command = self.config.common.hooks.up.as_ref();
            self.context.run(Kind::Up, command, arguments, environment)?;
        }
        self.say(0, "Initialization Sequence Completed");
        self.state("CONNECTED", "SUCCESS");
        if !std::mem::replace(&mut self.told_ready, true) {
            self.context.notify.ready();
        }
        self.context.notify.status(&format!("connected to {address}"));
        Ok(())
    }

    /// Changes the machine's configuration after an update of the pushed options.
    pub(super) fn update(
        &mut self,
        link: &Link,
        address: SocketAddr,
        reply: &PushReply,
    ) -> Result<(), Failure> {
        let (tunnel, hooks) = self.pushed_tunnel(reply)?;
        let mtu = self.take_mtu(link, reply);
        self.handle.set_nat(SERVER, &settings::nat(&tunnel));
        let told = (tunnel, address.ip());
        if self.applied.as_ref() != Some(&told) || mtu {
            self.apply(told, address, &hooks, reply)?;
        }
        self.say(1, "the server has changed its options");
        self.state("CONNECTED", "SUCCESS");
        Ok(())
    }

    /// Returns the tunnel with the pushed options, and the hooks with pushed environment.
    fn pushed_tunnel(
        &mut self,
        reply: &PushReply,
    ) -> Result<(config::Tunnel, config::Hooks), Failure> {
        let (common, warnings) = config::push::apply(self.config, reply.options())
            .map_err(|option| Failure::new(format!("pull-filter rejects the pushed `{option}`")))?;
        warnings.iter().for_each(|warning| self.warn(warning));
        let mut tunnel = common.tunnel;
        if let Some(ifconfig) = reply.ifconfig {
            tunnel.ifconfig = Some(ifconfig);
        }
        if let Some((address, prefix, remote)) = reply.ifconfig_ipv6 {
            tunnel.ifconfig_ipv6 = Some(config::Ifconfig6 { address, prefix, remote });
        }
        Ok((tunnel, common.hooks))
    }

    /// Sets the interface's MTU for later. Returns whether it has changed.
    fn take_mtu(&mut self, link: &Link, reply: &PushReply) -> bool {
        let mtu = reply.tun_mtu.unwrap_or(link.tun_mtu.into());
        std::mem::replace(&mut self.mtu, mtu) != mtu
    }

    /// Replaces the machine's configuration.
    fn apply(
        &mut self,
        told: (config::Tunnel, IpAddr),
        address: SocketAddr,
        hooks: &config::Hooks,
        reply: &PushReply,
    ) -> Result<(), Failure> {
        self.down();
        let mut environment = self.context.environment();
        environment.set_peer_address(Trust::Trusted, address);
        for (name, value) in &hooks.environment {
            environment.set(name, value);
        }
        self.set_foreign_options(&mut environment, reply.options());
        // A failure undoes all settings. Otherwise the same options would not be applied again.
        self.configure(told, environment).inspect_err(|_| self.down())
    }

    /// Sets addresses, runs `up`, sets routes and name servers, then runs `route-up`.
    fn configure(
        &mut self,
        told: (config::Tunnel, IpAddr),
        environment: Environment,
    ) -> Result<(), Failure> {
        let (tunnel, remote) = self.applied.insert(told).clone();
        let hooks = &self.config.common.hooks;
        self.state("ASSIGN_IP", "");
        host::configure(&self.interface, &tunnel, self.mtu)?;
        let (environment, arguments) =
            host::script_inputs(environment, &self.interface, &tunnel, self.mtu, "init");
        self.run_first(Kind::Up, hooks.up.as_ref(), arguments, environment.clone())?;
        self.state("ADD_ROUTES", "");
        self.add_routes(&tunnel, remote)?;
        if !tunnel.without_device {
            match self.names.set(&self.interface, &tunnel.dns) {
                Ok(warnings) => warnings.iter().for_each(|warning| self.context.warn(warning)),
                Err(failure) => self.context.warn(&failure.to_string()),
            }
        }
        let routed =
            self.run_first(Kind::RouteUp, hooks.route_up.as_ref(), Vec::new(), environment);
        if let Err(failure) = routed {
            self.warn(&failure.to_string());
        }
        Ok(())
    }

    fn add_routes(&mut self, tunnel: &config::Tunnel, remote: IpAddr) -> Result<(), Failure> {
        let interface = &self.interface;
        for warning in host::add_routes(interface, tunnel, Some(remote), &mut self.journal)? {
            self.context.warn(&warning);
        }
        self.uplinks = host::uplinks(interface)?;
        Ok(())
    }

    /// Plans the routes of a tunnel that stays configured again, if the host's network or the
    /// server's address has changed since. Otherwise packets to the server would enter the tunnel.
    pub(super) fn renew_routes(&mut self, remote: IpAddr) {
        let Some((tunnel, planned_for)) = &mut self.applied else { return };
        let changed = std::mem::replace(planned_for, remote) != remote;
        if tunnel.route_noexec || tunnel.without_device {
            return;
        }
        let tunnel = tunnel.clone();
        let outdated = host::are_outdated(&self.interface, &self.uplinks, &self.journal);
        let renewed = match outdated {
            Ok(outdated) if !(outdated || changed) => return,
            Ok(_) => host::undo_beside(&self.interface, &mut self.journal),
            Err(failure) => Err(failure),
        };
        let renewed = renewed.and_then(|failed| {
            for (undo, error) in failed {
                self.warn(&format!("cannot undo {undo}: {error}"));
            }
            self.say(2, &format!("planning the routes again, for {remote}"));
            self.add_routes(&tunnel, remote)
        });
        if let Err(failure) = renewed {
            self.warn(&format!("cannot plan the routes again: {failure}"));
        }
    }

    /// Returns whether the machine's configuration stays while the client connects again.
    pub(super) fn persists(&self) -> bool {
        self.applied.as_ref().is_none_or(|(tunnel, _)| tunnel.persist)
    }

    /// Returns whether lookups of names must be expected to fail, because the kill switch drops
    /// their packets or the routes and name servers are those of a tunnel without a key.
    pub(super) fn blocks_lookups(&self) -> bool {
        self.config.kill_switch || self.applied.is_some()
    }

    /// Runs a script, which the helper runs as root the first time.
    fn run_first(
        &mut self,
        kind: Kind,
        command: Option<&config::Command>,
        arguments: Vec<String>,
        environment: Environment,
    ) -> Result<(), Failure> {
        match self.names.helper().filter(|helper| helper.runs(kind)) {
            Some(helper) => helper.run_script(kind, &environment),
            None => self.context.run(kind, command, arguments, environment),
        }
    }

    /// Sets `foreign_option_N` to the server's DHCP options, verbatim.
    fn set_foreign_options(&self, environment: &mut Environment, options: &[String]) {
        let accepted = options.iter().filter(|option| {
            option.starts_with("dhcp-option ") && self.config.verdict(option) == Verdict::Accept
        });
        for (number, option) in (1..).zip(accepted) {
            environment.set(&format!("foreign_option_{number}"), option);
        }
    }

    /// Undoes the machine's configuration, except the kill switch and the kernel's interface.
    pub(super) fn down(&mut self) {
        let Some((tunnel, _)) = self.applied.take() else { return };
        let hooks = &self.config.common.hooks;
        let (environment, arguments) = host::script_inputs(
            self.context.environment(),
            &self.interface,
            &tunnel,
            self.mtu,
            "init",
        );
        let run = |program: &mut Self, kind, command: &Option<config::Command>, arguments| {
            let environment = environment.clone();
            let run = program.context.run(kind, command.as_ref(), arguments, environment);
            if let Err(failure) = run {
                program.warn(&failure.to_string());
            }
        };
        run(self, Kind::RoutePreDown, &hooks.route_pre_down, Vec::new());
        if hooks.down_pre {
            run(self, Kind::Down, &hooks.down, arguments.clone());
        }
        for problem in self.names.restore() {
            self.warn(&problem);
        }
        // These two last until the program ends.
        let stays = |undo: &Undo| matches!(undo, Undo::Firewall { .. } | Undo::DeleteLink { .. });
        for (undo, error) in self.journal.undo_if(|undo| !stays(undo)) {
            self.warn(&format!("cannot undo {undo}: {error}"));
        }
        if let Err(error) = host::remove_addresses(&self.interface, &tunnel) {
            self.warn(&format!("cannot remove addresses: {error}"));
        }
        if !hooks.down_pre {
            run(self, Kind::Down, &hooks.down, arguments);
        }
    }

    /// Looks up all remotes, while that is possible, and sets the kill switch.
    pub(super) fn start_kill_switch(&mut self, remotes: &[config::Remote]) -> Result<(), Failure> {
        for remote in remotes {
            if let Err(error) = self.addresses.of(remote, false) {
                self.warn(&format!("kill-switch: cannot resolve {}: {error}", remote.host));
            }
        }
        if self.addresses.known(remotes).is_empty() {
            let hint = "connect this machine to its network first, or write addresses in `remote`";
            return Err(Failure::new("kill-switch: no `remote` has a known address").hint(hint));
        }
        self.set_kill_switch(remotes)
    }

    /// Looks up all remotes through the tunnel if lookups fail without it.
    pub(super) fn renew_addresses(&mut self) {
        if self.config.kill_switch || self.persists() {
            self.addresses.renew(&self.config.remotes, true);
        }
    }

    /// Looks up all remotes in an outage, without waiting, in case that is possible beside the
    /// tunnel.
    pub(super) fn renew_addresses_beside(&mut self, remotes: &[config::Remote]) {
        if self.blocks_lookups() {
            self.addresses.renew(remotes, self.config.kill_switch);
        }
    }

    /// Takes addresses that were looked up meanwhile, and lets the kill switch pass them.
    pub(super) fn learn_addresses(&mut self, remotes: &[config::Remote]) {
        if !self.addresses.take_new() || !self.config.kill_switch {
            return;
        }
        if let Err(failure) = self.set_kill_switch(remotes) {
            self.warn(&failure.to_string());
        }
    }

    fn set_kill_switch(&mut self, remotes: &[config::Remote]) -> Result<(), Failure> {
        KillSwitch {
            instance: self.instance.clone(),
            interface: self.interface.clone(),
            remotes: self.addresses.known(remotes),
            networks: Vec::new(),
        }
        .apply(&mut self.journal)
        .map_err(|error| Failure::new(format!("kill-switch: {error}")).hint("install nftables"))
    }

    pub(super) fn stop(mut self) {
        self.context.notify.stopping();
        self.down();
        for (undo, error) in self.journal.undo() {
            self.warn(&format!("cannot undo {undo}: {error}"));
        }
        self.handle.stop();
    }
}
