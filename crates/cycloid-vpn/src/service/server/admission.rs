//! Decides who may connect. Each step may ask a script or the management interface, which may
//! answer later. An admitted client then gets its addresses and options.
//!
//! | step | asks |
//! |---|---|
//! | key | `tls-crypt-v2-verify`, once |
//! | certificates | `tls-verify` for each of the chain, the root first |
//! | password | the client's token (`auth-gen-token`), otherwise `auth-user-pass-verify` |
//! | manager | `management-client-auth` |
//! | options | `client-config-dir`, then `client-connect` |
//!
//! A renegotiation repeats the certificate, password and manager steps. Each admission has a
//! number, so that a late answer for a client that has left or reconnected is ignored.

use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;

use super::peers::Peer;
use super::waiting::{Admission, Refusal, Step};
use super::{Program, settings_file};
use crate::config::{DeviceType, PasswordVia, PerClient};
use crate::proto::Now;
use crate::proto::peer_info::protocol;
use crate::proto::push::PushReply;
use crate::proto::server::{PeerId, Verify};
use crate::service::context::job;
use crate::service::hooks::{Environment, Kind, Outcome, Secret, Trust, subject_of};
use crate::service::management::ClientEvent;
use crate::service::settings;

/// The refusal of a client whose scripts would have to wait too long. It tries again later.
const BUSY: &str = "TEMP[backoff 10,advance no]:the server is busy";

/// The longest reason sent to a client, in characters.
const MAX_REASON: usize = 200;

/// The result of a step.
enum Progress {
    /// Continue with this step.
    On(Step),
    /// The answer comes later; then continue with this step.
    Waits(Step),
    /// Admitted, with these options.
    In(Box<PushReply>),
}

impl Program<'_> {
    /// Starts an admission. Discards an earlier admission of the same peer.
    pub(super) fn verify(&mut self, id: PeerId, verify: Box<Verify>, now: Now) {
        let address = verify.address;
        self.give_up(id);
        match self.examine(id, verify, now) {
            Ok(admission) => {
                self.admissions.insert(id, admission);
                self.advance(id, now);
            }
            Err(refusal) => self.refuse(id, &format!("{address}"), refusal, now),
        }
    }

    /// Discards a peer's admission, if any, and its scripts that have not started.
    pub(super) fn give_up(&mut self, id: PeerId) {
        self.admissions.remove(&id);
        let client = self.peers.get(&id).map_or(0, |peer| peer.client_id);
        if client != 0 {
            for ticket in self.context.cancel(client) {
                self.asked.remove(&ticket);
            }
        }
    }

    /// Performs the checks that need no script.
    fn examine(&mut self, id: PeerId, verify: Box<Verify>, now: Now) -> Result<Admission, Refusal> {
        let config = self.config;
        if self.draining {
            // A temporary failure: the client tries its next server at once, not this one again.
            let for_client = "TEMP[backoff 0,advance remote]:the server is being drained";
            let why = "the server is being drained".into();
            return Err(Refusal { why, for_client: Some(for_client.into()) });
        }
        let certificate = verify.identity.as_ref().map(|it| it.common_name.clone());
        let name = match certificate {
            Some(name) if !config.username_as_common_name => name,
            _ => verify.username.to_string(),
        };
        if name.is_empty() {
            return Err("the certificate has no name".into());
        }
        let wants_password = config.common.hooks.verify_password.is_some() || self.asks_manager();
        if wants_password && verify.username.is_empty() && !config.password_optional {
            return Err(format!("{name} sent no user name and password").into());
        }
        let peer = self.peers.get_mut(&id).ok_or("the client has already left")?;
        if peer.client_id == 0 {
            self.clients += 1;
            peer.client_id = self.clients;
            peer.since = now.unix;
        }
        let environment = match self.tells_of_clients() {
            true => self.describe(&verify, &name),
            false => Environment::default(),
        };
        if !verify.renegotiation
            && let Some(warning) = settings::other_device(&config.common.tunnel, &verify.options)
        {
            self.context.warn(&format!("{name} {warning}"));
        }
        if !config.many && verify.peer_info.protocol() & protocol::REQUEST_PUSH != 0 {
            self.context.warn(&format!(
                "{name} waits for options, but a point-to-point server pushes none: it needs \
                 `tls-client` without `pull` instead of `client`"
            ));
        }
        self.admitted += 1;
        Ok(Admission {
            number: self.admitted,
            verify,
            name,
            environment,
            step: Step::Key,
            own: PerClient::default(),
            session: None,
        })
    }

    /// Returns whether a script or the management interface is told of clients. Otherwise nobody
    /// reads their environments, so they stay empty.
    fn tells_of_clients(&self) -> bool {
        let hooks = &self.config.common.hooks;
        let scripts = [
            &hooks.tls_crypt_v2_verify,
            &hooks.tls_verify,
            &hooks.client_connect,
            &hooks.client_disconnect,
            &hooks.client_response,
            &hooks.learn_address,
        ];
        // Point to point, the scripts of the tunnel get the peer's environment.
        !self.config.many
            || self.context.management.is_some()
            || hooks.verify_password.is_some()
            || scripts.iter().any(|script| script.is_some())
    }

    /// Returns the environment of a connecting client.
    fn describe(&self, verify: &Verify, name: &str) -> Environment {
        let mut environment = self.context.environment();
        let common = &self.config.common;
        let mtu = common.link.tun_mtu.into();
        environment.set_interface(&self.interface, common.tunnel.device_type, mtu);
        for (name, value) in verify.peer_info.pairs() {
            environment.set_peer_info(name, value);
        }
        environment.set_peer_address(Trust::Untrusted, verify.address);
        if let Some(identity) = &verify.identity {
            environment.set_certificates(identity);
        }
        if !verify.username.is_empty() {
            environment.set("username", verify.username.as_str());
        }
        environment.set("common_name", name);
        environment
    }

    /// Returns whether the management interface admits clients.
    fn asks_manager(&self) -> bool {
        let management = self.config.common.management.as_ref();
        management.is_some_and(|management| management.options.client_auth)
    }

    /// Runs the steps until one must wait or the admission is decided.
    fn advance(&mut self, id: PeerId, now: Now) {
        let Some(mut admission) = self.admissions.remove(&id) else { return };
        loop {
            match self.ask(id, &mut admission, now) {
                Ok(Progress::On(step)) => admission.step = step,
                Ok(Progress::Waits(step)) => {
                    admission.step = step;
                    self.admissions.insert(id, admission);
                    return;
                }
                Ok(Progress::In(mut reply)) => {
                    reply.auth_token = self.token_for(id, &admission, now);
                    let accepted = self.with_core(|core, link| core.accept(now, id, *reply, link));
                    if let Err(error) = accepted {
                        self.context.say(1, &format!("{}: {error}", admission.verify.address));
                    }
                    return;
                }
                Err(refusal) => {
                    let who = format!("{} ({})", admission.name, admission.verify.address);
                    return self.refuse(id, &who, refusal, now);
                }
            }
        }
    }

    fn refuse(&mut self, id: PeerId, who: &str, refusal: Refusal, now: Now) {
        self.context.say(1, &format!("{who} refused: {}", refusal.why));
        self.counts.failed += 1;
        let reason = refusal.for_client.unwrap_or_default();
        let reason: String = reason.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect();
        self.with_core(|core, link| core.reject(now, id, &reason, link));
    }

    fn ask(
        &mut self,
        id: PeerId,
        admission: &mut Admission,
        now: Now,
    ) -> Result<Progress, Refusal> {
        let hooks = &self.config.common.hooks;
        let lane = self.peers.get(&id).ok_or("the client has already left")?.client_id;
        let Admission { number, verify, environment, .. } = &*admission;
        let number = *number;
        let (kind, command, arguments, after) = match admission.step {
            Step::Key => {
                let above = verify.identity.as_ref().and_then(|it| it.authorities.as_ref());
                let root = Step::Certificate(above.map_or(0, Vec::len));
                let says = match (&verify.client_key, &hooks.tls_crypt_v2_verify) {
                    (Some(says), Some(_)) => says.is_some(),
                    _ => return Ok(Progress::On(root)),
                };
                if !says {
                    return Err("its tls-crypt-v2 key has no metadata".into());
                }
                let command = hooks.tls_crypt_v2_verify.as_ref();
                (Kind::ClientKeyVerify, command, Vec::new(), root)
            }
            Step::Certificate(depth) => {
                let (Some(identity), Some(command)) = (&verify.identity, &hooks.tls_verify) else {
                    return Ok(Progress::On(Step::Password));
                };
                let chain = identity.chain().ok_or("its certificate is not valid any more")?;
                let subject = chain.get(depth).and_then(|certificate| subject_of(certificate));
                let subject = subject.ok_or("the certificate of its authority is unreadable")?;
                let after = depth.checked_sub(1).map_or(Step::Password, Step::Certificate);
                (Kind::TlsVerify, Some(command), vec![depth.to_string(), subject], after)
            }
            Step::Password => {
                if self.token_is_enough(id, admission, now)? {
                    return Ok(Progress::On(Step::Options));
                }
                let hooks = &self.config.common.hooks;
                let command = hooks.verify_password.as_ref().map(|(command, _)| command);
                (Kind::UserPassVerify, command, Vec::new(), Step::Manager)
            }
            Step::Manager => {
                if self.asks_manager()
                    && let Some(management) = &mut self.context.management
                {
                    let event = match verify.renegotiation {
                        false => ClientEvent::Connect(lane, number),
                        true => ClientEvent::Reauth(lane, number),
                    };
                    let password = [("password", verify.password.as_str())];
                    management.client(event, environment.iter().chain(password));
                    return Ok(Progress::Waits(Step::Options));
                }
                return Ok(Progress::On(Step::Options));
            }
            Step::Options if verify.renegotiation => {
                return Ok(Progress::In(Box::default()));
            }
            Step::Options => {
                self.prepare(id, admission, now)?;
                (Kind::ClientConnect, hooks.client_connect.as_ref(), Vec::new(), Step::Entry)
            }
            Step::Entry => return self.enter(id, admission, now).map(Progress::In),
        };
        let Some(mut job) = job(kind, command, arguments, &admission.environment, lane) else {
            return Ok(Progress::On(after));
        };
        if let (Kind::UserPassVerify, Some((_, via))) = (kind, &hooks.verify_password) {
            let verify = &admission.verify;
            let (name, password) = (verify.username.to_string(), verify.password.clone());
            job.secret = match via {
                PasswordVia::File => Secret::File(name, password),
                PasswordVia::Environment => Secret::Environment(name, password),
            };
        }
        if kind == Kind::ClientKeyVerify
            && let Some(Some(metadata)) = admission.verify.client_key.take()
        {
            job.secret = Secret::Metadata(metadata);
        }
        if self.context.is_busy(lane) {
            let why = "too many scripts are waiting".into();
            return Err(Refusal { why, for_client: Some(BUSY.into()) });
        }
        let ticket = self.context.begin(job)?;
        self.asked.insert(ticket, super::Purpose::Admission(id, number));
        Ok(Progress::Waits(after))
    }

    /// Applies a script's outcome to an admission.
    pub(super) fn answered(
        &mut self,
        id: PeerId,
        number: u64,
        kind: Kind,
        outcome: Outcome,
        now: Now,
    ) {
        let Some(admission) = self.admissions.get_mut(&id) else { return };
        if admission.number != number {
            return;
        }
        match outcome {
            Outcome::Accepted(text) if kind == Kind::ClientConnect => {
                self.instructed(id, number, "client-connect", &text, now);
            }
            Outcome::Accepted(_) => self.advance(id, now),
            Outcome::Refused { why, for_client } => {
                self.denied(id, number, why, for_client, now);
            }
            Outcome::Pending { timeout, extra, .. } => {
                self.defer(id, timeout, &extra, now);
            }
        }
    }

    /// Continues the admission with configuration lines for the client, if it waits for an answer.
    pub(super) fn instructed(
        &mut self,
        id: PeerId,
        number: u64,
        source: &str,
        text: &str,
        now: Now,
    ) {
        let admission = self.admissions.get_mut(&id).filter(|it| it.number == number);
        let Some(admission) = admission else { return };
        match PerClient::parse(Path::new(source), text.as_bytes()) {
            Ok((own, warnings)) => {
                admission.own.add(own);
                warnings.iter().for_each(|warning| self.context.warn(&warning.to_string()));
                self.advance(id, now);
            }
            Err(error) => self.denied(id, number, error.to_string(), None, now),
        }
    }

    /// Refuses the admission, if it waits for an answer.
    pub(super) fn denied(
        &mut self,
        id: PeerId,
        number: u64,
        why: String,
        for_client: Option<String>,
        now: Now,
    ) {
        if self.admissions.get(&id).is_none_or(|it| it.number != number) {
            return;
        }
        let Some(admission) = self.admissions.remove(&id) else { return };
        let who = format!("{} ({})", admission.name, admission.verify.address);
        self.refuse(id, &who, Refusal { why, for_client }, now);
    }

    /// Returns the peer with this client id and admission number, if it waits for the management
    /// interface.
    pub(super) fn awaits_manager(&self, client: u64, number: u64) -> Option<PeerId> {
        let (id, _) = self.peers.iter().find(|(_, peer)| peer.client_id == client)?;
        let admission = self.admissions.get(id)?;
        // At the other steps, scripts decide.
        (admission.number == number && admission.step == Step::Options).then_some(*id)
    }

    /// Extends the deadline by `seconds`, because the user must complete a step first.
    pub(super) fn defer(&mut self, id: PeerId, seconds: u32, what: &str, now: Now) {
        let pending = Duration::from_secs(seconds.into());
        self.with_core(|core, link| core.defer(now, id, pending, Some(what), link));
    }

    /// Collects addresses and options that are known before `client-connect`.
    fn prepare(&mut self, id: PeerId, admission: &mut Admission, now: Now) -> Result<(), Refusal> {
        let config = self.config;
        let name = &admission.name;
        let mut own = self.per_client(name)?;
        // Lines from the management interface precede those of the file.
        own.add(std::mem::take(&mut admission.own));
        if own.disable {
            return Err(format!("{name} is disabled").into());
        }
        // The core itself replaces the peer of a point-to-point server.
        if config.many && !config.duplicate_names {
            let same: Vec<PeerId> = self
                .peers
                .iter()
                .filter(|(other, peer)| peer.name == *name && **other != id)
                .map(|(id, _)| *id)
                .collect();
            for other in same {
                let text = format!("{name} reconnects from {}", admission.verify.address);
                self.context.say(1, &text);
                self.with_core(|core, link| core.kill(now, other, None, link));
            }
        }
        let mut peer = self.peers.remove(&id).ok_or("the client has already left")?;
        self.release(&mut peer);
        peer.name.clone_from(name);
        peer.username = Some(admission.verify.username.to_string()).filter(|name| !name.is_empty());
        let leased = self.lease(&mut peer, &own);
        let tunnel = &config.common.tunnel;
        let local = (
            tunnel.ifconfig.map(|(address, _)| address),
            tunnel.ifconfig_ipv6.map(|ifconfig| ifconfig.address),
        );
        if self.tells_of_clients() {
            let environment = &mut admission.environment;
            let topology = tunnel.addressing().into();
            environment.set_client_addresses(peer.ipv4, peer.ipv6, topology, local);
            for name in ["untrusted_ip", "untrusted_ip6", "untrusted_port"] {
                environment.remove(name);
            }
            environment.set_peer_address(Trust::Trusted, admission.verify.address);
            environment.set_beginning(peer.since);
        }
        self.peers.insert(id, peer);
        admission.own = own;
        Ok(leased?)
    }

    /// Completes the admission: adds the client to the data path and returns its push reply.
    fn enter(
        &mut self,
        id: PeerId,
        admission: &mut Admission,
        now: Now,
    ) -> Result<Box<PushReply>, Refusal> {
        let own = &admission.own;
        if own.disable {
            return Err(format!("{} is disabled", admission.name).into());
        }
        let mut peer = self.peers.remove(&id).ok_or("the client has already left")?;
        // The script may have assigned other addresses.
        let leased = if own.ifconfig.is_some() || own.ifconfig_ipv6.is_some() {
            self.release(&mut peer);
            self.lease(&mut peer, own)
        } else {
            peer.networks = peer.networks_with(own);
            Ok(())
        };
        peer.since = now.unix;
        let lifetime = own.session_timeout.or(self.config.common.timing.session_timeout);
        peer.lifetime = lifetime.filter(|lifetime| !lifetime.is_zero());
        peer.environment = std::mem::take(&mut admission.environment);
        if self.config.common.tunnel.device_type == DeviceType::Tap {
            // The data path learns hardware addresses by itself.
            peer.networks.clear();
            if !own.routes.is_empty() || !own.routes_ipv6.is_empty() {
                let text = format!("{}: iroute has no effect with `dev tap`", admission.name);
                self.context.warn(&text);
            }
        }
        let reply = leased.and_then(|()| self.reply(&peer, own));
        if self.config.many {
            self.handle.add_peer(id.0, peer.way);
            self.handle.set_routes(id.0, &peer.networks);
            self.enter_network(id, &admission.name, &admission.own);
        }
        self.peers.insert(id, peer);
        Ok(Box::new(reply?))
    }

    /// Returns a client's settings from `client-config-dir`.
    fn per_client(&mut self, name: &str) -> Result<PerClient, String> {
        let Some(directory) = &self.config.client_config_dir else {
            return Ok(PerClient::default());
        };
        let Some(file) = settings_file::find(directory, name)? else {
            return if self.config.ccd_exclusive {
                Err(format!("{name} has no file in {}", directory.display()))
            } else {
                Ok(PerClient::default())
            };
        };
        let (own, warnings) = PerClient::read(&file).map_err(|error| error.to_string())?;
        warnings.iter().for_each(|warning| self.context.warn(&warning.to_string()));
        Ok(own)
    }

    /// Assigns a client's addresses: static ones first, then the IPv6 address that matches its IPv4
    /// address, then addresses of the pool.
    fn lease(&mut self, peer: &mut Peer, own: &PerClient) -> Result<(), String> {
        peer.ipv4 = own.ifconfig;
        peer.ipv6 = own.ifconfig_ipv6.map(|it| (it.address, it.prefix));
        if let Some(pool) = &mut self.pool {
            let by_hand = peer.ipv4.map(|(address, _)| IpAddr::V4(address));
            let held = match by_hand.map(|address| pool.hold(address)).transpose() {
                Ok(held) => held.flatten(),
                Err(taken) => return Err(taken.to_string()),
            };
            peer.leases.extend(held);
            let by_hand = peer.ipv6.map(|(address, _)| IpAddr::V6(address));
            let by_hand = by_hand.filter(|_| held.is_none_or(|held| held.ipv6 != peer.ipv6));
            if let Some(address) = by_hand {
                peer.leases.extend(pool.hold(address).map_err(|taken| taken.to_string())?);
            }
            if peer.ipv4.is_none() || (peer.ipv6.is_none() && pool.has_ipv6()) {
                let name = (!self.config.duplicate_names).then_some(peer.name.as_str());
                let lease = match held {
                    Some(held) => held,
                    None => {
                        let lease = pool.acquire(name).ok_or("the address pool is exhausted")?;
                        peer.leases.push(lease);
                        lease
                    }
                };
                peer.ipv4 = peer.ipv4.or(lease.ipv4);
                peer.ipv6 = peer.ipv6.or(lease.ipv6);
            }
        }
        peer.networks = peer.networks_with(own);
        Ok(())
    }

    /// Releases a client's addresses.
    pub(super) fn release(&mut self, peer: &mut Peer) {
        peer.ipv4 = None;
        peer.ipv6 = None;
        let leases = std::mem::take(&mut peer.leases);
        if let Some(pool) = &mut self.pool {
            leases.iter().for_each(|lease| pool.release(lease));
        }
    }

    fn reply(&self, peer: &Peer, own: &PerClient) -> Result<PushReply, String> {
        let mut reply = PushReply::default();
        for option in own.push_list(&self.config.push) {
            reply.add(option).map_err(|error| format!("push \"{option}\": {error}"))?;
        }
        reply.ifconfig = peer.ipv4;
        let server: Option<Ipv6Addr> =
            self.config.common.tunnel.ifconfig_ipv6.map(|ifconfig| ifconfig.address);
        reply.ifconfig_ipv6 = peer.ipv6.map(|(address, prefix)| (address, prefix, server));
        Ok(reply)
    }
}
