//! Combines a file's directives: expands `server` and related directives, and rejects
//! contradictions.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;

use crate::proto::data::Cipher;
use crate::proto::{Role, Transport};

use super::Profile;
use super::client::Client;
use super::common::{Hooks, PasswordVia};
use super::directives::{self, two_keys};
use super::draft::Draft;
use super::error::{Error, Problem, Warning};
use super::link::{Bind, ControlKey, Link, PORT};
use super::place;
use super::proxy::ProxyKind;
use super::server::{Listen, Network, Pool, Pool6, Server};
use super::tls::{ClientCertificate, TlsVersion, Token};
use super::tunnel::{DeviceType, Ifconfig6, Route, RouteGateway, Target, Topology};

/// The default queue length of a device for many clients, in packets: in the kernel's 500, those of
/// a thousand clients displace each other. At a single tunnel, whose link may be slow, the kernel's
/// keeps the delay short.
const QUEUE_LENGTH: u32 = 4096;

/// The default timeout for a silent peer at a client that pulls.
const PULLED_PING_RESTART: Duration = Duration::from_secs(120);

/// Directives of servers that OpenVPN ignores in a client's file, where some providers have them.
const HARMLESS_AT_A_CLIENT: [&str; 10] = [
    "push",
    "max-clients",
    "max-routes-per-client",
    "hash-size",
    "bcast-buffers",
    "auth-gen-token-secret",
    "tls-crypt-v2-verify",
    "management-client-auth",
    "vlan-accept",
    "vlan-pvid",
];

/// Directives of clients that OpenVPN ignores in a server's file.
const HARMLESS_AT_A_SERVER: [&str; 5] =
    ["push-peer-info", "remote-random", "remote-random-hostname", "route-nopull", "pull-filter"];

impl Draft {
    /// Checks everything and returns the profile.
    pub(super) fn finish(mut self, file: &Path) -> Result<(Profile, Vec<Warning>), Error> {
        self.check_announced()?;
        if let Some(secret) = self.static_key.take() {
            let (tunnel, warnings) = self.finish_static(file, secret)?;
            return Ok((Profile::Static(Box::new(tunnel)), warnings));
        }
        let Some(role) = self.role else {
            return Err(Problem::new(
                "the file is for neither a client nor a server, and has no static key: packets \
                 would not be encrypted",
                "add `client`, or `server NETWORK NETMASK`, or `secret FILE`",
            )
            .at(file, 0, ""));
        };
        self.check_places(role)?;
        self.check_common(file, role)?;
        self.check_management(file);
        let profile = match role {
            Role::Client => Profile::Client(Box::new(self.finish_client(file)?)),
            Role::Server => Profile::Server(Box::new(self.finish_server(file)?)),
        };
        Ok((profile, self.warnings))
    }

    /// Checks that each line such as `ca [inline]` has its block.
    fn check_announced(&self) -> Result<(), Error> {
        for line in &self.announced {
            let block = self.seen.get(line.name.as_str()).is_some_and(|it| it.block.is_some());
            if !block {
                let name = &line.name;
                let hint = format!("add <{name}>, its contents and </{name}>, or name a file");
                let message = format!("the file has no block <{name}>");
                return Err(line.error(Problem::new(message, hint)));
            }
        }
        Ok(())
    }

    /// Adds the options of the management interface to its address.
    pub(super) fn check_management(&mut self, file: &Path) {
        if let Some(management) = &mut self.common.management {
            management.options = self.management_options.clone();
        } else if self.management_options != Default::default() {
            let name = self.seen.keys().find(|name| name.starts_with("management-")).copied();
            self.warn_of(name.unwrap_or_default(), file, "it has no effect without `management`");
        }
    }

    /// Returns an error at a directive if it is present, otherwise for the whole file.
    pub(super) fn wrong(&self, name: &str, file: &Path, message: &str, hint: &str) -> Error {
        let problem = Problem::new(message, hint);
        match self.seen.get(name) {
            Some(directive) => directive.error(problem),
            None => problem.at(file, 0, ""),
        }
    }

    /// Checks that each directive applies to this end.
    fn check_places(&mut self, role: Role) -> Result<(), Error> {
        let (here, end, hint) = match role {
            Role::Client => (place::CLIENT, "server", "this is a client file: remove it"),
            Role::Server => (place::SERVER, "client", "this is a server file: remove it"),
        };
        let mut harmless = Vec::new();
        for (name, directive) in &self.seen {
            let place = match *name {
                "connection" => place::CLIENT,
                // One peer has a known address; a server for many clients cannot know theirs.
                "remote" | "ipchange" if self.many => place::CLIENT,
                _ => directives::find(name).map_or(0, |entry| entry.place),
            };
            if place & here == 0 {
                let list: &[&str] = match role {
                    Role::Client => &HARMLESS_AT_A_CLIENT,
                    Role::Server => &HARMLESS_AT_A_SERVER,
                };
                if list.contains(name) {
                    harmless.push(format!("{name} is for a {end}: it has no effect"));
                    continue;
                }
                let problem = Problem::new(format!("{name} is for a {end} only"), hint);
                return Err(directive.error(problem));
            }
        }
        for message in harmless {
            let name = message.split(' ').next().unwrap_or_default().to_owned();
            self.warn_of(&name, Path::new(""), message);
        }
        Ok(())
    }

    fn check_common(&mut self, file: &Path, role: Role) -> Result<(), Error> {
        self.check_device(file)?;
        if self.without_tls12 {
            self.common.tls.version_min = TlsVersion::V1_3;
        }
        let tls = &self.common.tls;
        if tls.version_max < tls.version_min {
            let hint = "lower tls-version-min, or raise tls-version-max";
            return Err(self.wrong("tls-version-max", file, "no TLS version is left", hint));
        }
        if tls.certificate.is_some() != tls.key.is_some() {
            let (is, other) = match tls.key {
                None => ("cert", "the certificate has no key"),
                Some(_) => ("key", "the key has no certificate"),
            };
            return Err(self.wrong(is, file, other, "set both cert and key, or neither"));
        }
        let needs_authority =
            role == Role::Client || tls.client_certificate != ClientCertificate::None;
        if self.token != Token::default() {
            if self.token.providers.is_empty() {
                let hint = "add `pkcs11-providers /path/to/module.so`";
                return Err(self.wrong("pkcs11-id", file, "the token has no provider", hint));
            }
            if tls.has_certificate() {
                let message = "this end has two certificates: one in a token, and one in a file";
                return Err(self.wrong("pkcs11-providers", file, message, "keep one of them"));
            }
            if self.token.chosen_by_manager {
                let name = "pkcs11-id-management";
                if self.token.id.is_some() {
                    let message = "the certificate is chosen twice: by pkcs11-id, and by the \
                                   management interface";
                    return Err(self.wrong(name, file, message, "keep one of them"));
                }
                if self.common.management.is_none() {
                    let message = "no management client can choose the certificate";
                    let hint = "add `management ADDRESS PORT`, or set pkcs11-id";
                    return Err(self.wrong(name, file, message, hint));
                }
            }
            self.common.tls.token = Some(std::mem::take(&mut self.token));
        }
        let tls = &self.common.tls;
        if tls.pkcs12.is_some() && (tls.certificate.is_some() || tls.key.is_some()) {
            let message = "this end has two certificates: one in PKCS #12, and one of cert and key";
            return Err(self.wrong("pkcs12", file, message, "keep one of them"));
        }
        if needs_authority && !tls.has_authorities() && tls.peer_fingerprints.is_empty() {
            let hint = "set ca to an authority, or peer-fingerprint to the peer's certificate";
            return Err(self.wrong("", file, "no trusted peer or authority", hint));
        }
        let data = &mut self.common.data;
        let all = data.ciphers.iter_mut().chain(&mut data.fallback).chain(&mut data.cipher);
        for cipher in all {
            if let Cipher::Cbc { digest, .. } = cipher {
                *digest = data.digest;
            }
        }
        if self.is_point_to_point() {
            let data = &mut self.common.data;
            data.fallback = data.fallback.or(data.cipher);
            let tunnel = &self.common.tunnel;
            if tunnel.ifconfig.is_none() && tunnel.ifconfig_ipv6.is_none() {
                let message = "the tunnel has no address: add ifconfig";
                self.warn_of("", file, message);
            }
        }
        if self.no_digest {
            let data = &self.common.data;
            let cbc = data.ciphers.iter().chain(&data.fallback).any(|cipher| !cipher.is_aead());
            let links = self.client.remotes.iter().map(|remote| &remote.link);
            let authenticates = |link: &Link| match &link.control_key {
                ControlKey::Auth { .. } => true,
                ControlKey::CryptV2 { shared: Some(shared), .. } => {
                    matches!(**shared, ControlKey::Auth { .. })
                }
                _ => false,
            };
            if cbc || links.chain([&self.common.link]).any(authenticates) {
                let hint = "set auth to the peer's digest, such as SHA256, or use AEAD ciphers \
                            and tls-crypt only";
                let message = "CBC ciphers and tls-auth need a digest";
                return Err(self.wrong("auth", file, message, hint));
            }
        }
        if let Some(cipher) = self.common.data.cipher {
            let data = &self.common.data;
            if !data.ciphers.contains(&cipher) && data.fallback != Some(cipher) {
                let message = format!(
                    "cipher {0} is ignored: peers negotiate one of {1}; for peers that cannot, \
                     add `data-ciphers-fallback {0}`",
                    cipher.name(),
                    data.cipher_names(", ")
                );
                self.warn_of("cipher", file, message);
            }
        }
        self.check_hooks(file)
    }

    /// Returns whether both ends are configured by their own files alone.
    fn is_point_to_point(&self) -> bool {
        !self.many && !self.client.pull
    }

    pub(super) fn check_hooks(&self, file: &Path) -> Result<(), Error> {
        let hooks = &self.common.hooks;
        let level = hooks.security.unwrap_or(1);
        let Some(name) = first_hook(hooks) else { return Ok(()) };
        if level < 2 {
            let hint = "add `script-security 2`";
            return Err(self.wrong(name, file, "script-security forbids hooks", hint));
        }
        if level < 3 && matches!(hooks.verify_password, Some((_, PasswordVia::Environment))) {
            return Err(self.wrong(
                "auth-user-pass-verify",
                file,
                "script-security forbids passwords in the environment",
                "use via-file instead of via-env, or add `script-security 3`",
            ));
        }
        Ok(())
    }

    fn finish_client(&mut self, file: &Path) -> Result<Client, Error> {
        let mut client = std::mem::take(&mut self.client);
        if client.remotes.is_empty() {
            for line in std::mem::take(&mut self.remotes) {
                let remote = self.remote(line).map_err(|problem| problem.at(file, 0, ""))?;
                client.remotes.push(remote);
            }
        } else if !self.remotes.is_empty() {
            let message = "it is ignored: each <connection> has its own";
            self.warn_of("remote", file, message);
        }
        if let Some(forced) = self.forced
            && !client.remotes.is_empty()
        {
            client.remotes.retain(|remote| remote.link.protocol.transport == forced);
            if client.remotes.is_empty() {
                let hint = "remove proto-force, or add a remote with this protocol";
                let message = "no remote has the protocol of proto-force";
                return Err(self.wrong("proto-force", file, message, hint));
            }
        }
        if client.remotes.is_empty() {
            let hint = "add `remote HOST PORT PROTOCOL`";
            return Err(self.wrong("client", file, "no server to connect to", hint));
        }
        if self.tcp_role == Some(Role::Server) {
            let hint = "use tcp-client or tcp";
            return Err(self.wrong("proto", file, "a client cannot listen", hint));
        }
        if !client.pull && client.credentials.is_some() {
            let hint =
                "add `pull` or use `client`; point-to-point ends authenticate by certificate";
            let message = "only a server for many clients asks for a password";
            return Err(self.wrong("auth-user-pass", file, message, hint));
        }
        let tls = &self.common.tls;
        if !tls.has_certificate() && client.credentials.is_none() {
            let hint = "set cert and key, or add auth-user-pass";
            return Err(self.wrong(
                "",
                file,
                "the client has no certificate and no password",
                hint,
            ));
        }
        // A peer with `remote` also checks the port.
        for link in client.remotes.iter_mut().map(|remote| &mut remote.link) {
            let by_udp = link.protocol.transport == Transport::Udp;
            if !client.pull && by_udp && link.bind != Bind::Unbound {
                link.local_port.get_or_insert(PORT);
            }
        }
        for (index, remote) in client.remotes.iter().enumerate() {
            let link = &remote.link;
            if matches!(link.control_key, ControlKey::CryptV2 { shared: Some(_), .. }) {
                return Err(two_keys().at(file, 0, ""));
            }
            if link.protocol.transport == Transport::Udp
                && link.proxy.as_ref().is_some_and(|it| matches!(it.kind, ProxyKind::Http(_)))
            {
                let hint = "set `proto tcp`, or use socks-proxy";
                let message = "an HTTP proxy carries TCP only";
                return Err(self.wrong("http-proxy", file, message, hint));
            }
            if link.bind == Bind::Unbound
                && (link.local.is_some() || self.seen.contains_key("lport"))
            {
                let hint = "remove nobind, or remove local and lport";
                return Err(self.wrong("nobind", file, "nobind contradicts local and lport", hint));
            }
            if index == 0
                && link.explicit_exit_notify > 0
                && client
                    .remotes
                    .iter()
                    .all(|remote| remote.link.protocol.transport == Transport::Tcp)
            {
                self.warnings.push(Warning { file: file.to_owned(), line: 0, message: "explicit-exit-notify has no effect on TCP: closing the connection notifies the peer".into() });
            }
        }
        let tls = &self.common.tls;
        if tls.peer_role.is_none()
            && tls.peer_name.is_none()
            && tls.peer_key_usages.is_empty()
            && tls.peer_extended_key_usage.is_none()
            && tls.peer_fingerprints.is_empty()
        {
            let message = "certificates of clients also pass as the server's: add \
                           `remote-cert-tls server`";
            self.warn_of("", file, message);
        }
        self.common.link = self.finished_link();
        self.keep_alive(false, &mut Vec::new());
        let timing = &mut self.common.timing;
        if client.pull && timing.ping_restart.is_none() && timing.ping_exit.is_none() {
            let off = self.seen.contains_key("ping-restart") || self.seen.contains_key("keepalive");
            timing.ping_restart = (!off).then_some(PULLED_PING_RESTART);
        }
        Ok(Client { common: std::mem::take(&mut self.common), ..client })
    }

    fn finish_server(&mut self, file: &Path) -> Result<Server, Error> {
        let mut server = std::mem::take(&mut self.server);
        if !self.many {
            self.check_one_peer(&mut server, file)?;
        }
        let tls = &self.common.tls;
        if !tls.has_certificate() {
            let hint = "set cert and key; `cycloid-vpn pki server NAME` creates both";
            return Err(self.wrong("", file, "a server needs a certificate and a key", hint));
        }
        let hooks = &self.common.hooks;
        let asks = hooks.verify_password.is_some() || self.management_options.client_auth;
        let optional = tls.client_certificate != ClientCertificate::Require;
        if optional && !asks {
            return Err(self.wrong(
                "verify-client-cert",
                file,
                "anyone could connect: neither a certificate nor a password is required",
                "add auth-user-pass-verify or management-client-auth, or remove it",
            ));
        }
        for (name, set) in [
            ("username-as-common-name", server.username_as_common_name),
            ("auth-user-pass-optional", server.password_optional),
        ] {
            if set && !asks {
                let hint = "add auth-user-pass-verify or management-client-auth";
                return Err(self.wrong(name, file, "clients are never asked for a password", hint));
            }
        }
        if server.auth_token.is_some() && !asks {
            let message = "it has no effect: clients are never asked for a password; add \
                           auth-user-pass-verify or management-client-auth";
            self.warn_of("auth-gen-token", file, message);
        }
        if server.ccd_exclusive && server.client_config_dir.is_none() {
            let hint = "add client-config-dir";
            return Err(self.wrong("ccd-exclusive", file, "every client would be refused", hint));
        }
        if self.tcp_role == Some(Role::Client) {
            let hint = "use tcp-server or tcp";
            return Err(self.wrong("proto", file, "a server cannot connect", hint));
        }
        if self.network.is_some() && server.pool.is_some() {
            let hint = "use `server NETWORK NETMASK nopool`, or remove ifconfig-pool";
            let message = "`server` already defines a pool";
            if self.network.is_some_and(|network| network.pool) {
                return Err(self.wrong("ifconfig-pool", file, message, hint));
            }
        }
        server.many = self.many;
        self.common.link = self.finished_link();
        let link = &self.common.link;
        let port = link.remote_port;
        let remotes = std::mem::take(&mut self.remotes).into_iter();
        server.remotes = remotes.map(|line| (line.host, line.port.unwrap_or(port))).collect();
        let lines = std::mem::take(&mut self.listen);
        server.listen = lines
            .into_iter()
            .map(|line| Listen::from_line(line, link.local_port, link.protocol))
            .collect();
        if server.listen.is_empty() {
            server.listen.push(Listen::new(None, link.local_port, link.protocol));
        }
        let has_tcp = server.listen.iter().any(|it| it.protocol.transport == Transport::Tcp);
        if server.port_share.is_some() && !has_tcp {
            let hint = "add `proto tcp-server`, or remove port-share";
            return Err(self.wrong("port-share", file, "port-share needs TCP", hint));
        }
        let is_tcp_only = server.listen.iter().all(|it| it.protocol.transport == Transport::Tcp);
        if self.common.link.fragment.is_some() && is_tcp_only {
            let message = "fragment works only over UDP";
            return Err(self.wrong("fragment", file, message, "remove it, or use `proto udp`"));
        }
        if self.many {
            self.common.tunnel.queue_length.get_or_insert(QUEUE_LENGTH);
        }
        server.vlans = self.finish_vlans(file)?;
        self.expand_bridge(&mut server, file)?;
        if let Some(network) = self.network {
            self.expand(&mut server, network);
        }
        if let Some(network) = self.network_ipv6 {
            self.expand_ipv6(&mut server, network);
        }
        let mut push = std::mem::take(&mut server.push);
        self.keep_alive(self.many, &mut push);
        if self.many && self.seen.contains_key("tcp-nodelay") {
            push.push("socket-flags TCP_NODELAY".into());
        }
        server.push = push;
        Ok(Server { common: std::mem::take(&mut self.common), ..server })
    }

    /// Expands `server` as openvpn(8) describes.
    fn expand(&mut self, server: &mut Server, network: Network) {
        let tunnel = &mut self.common.tunnel;
        let base = u32::from(network.address);
        let last = base | !u32::from(network.netmask);
        let at = |number: u32| Ipv4Addr::from(number);
        let mut push = |option: String| {
            if !server.push.contains(&option) {
                server.push.push(option);
            }
        };
        let is_tap = tunnel.device_type == DeviceType::Tap;
        let (first, end) = if is_tap {
            tunnel.ifconfig = Some((at(base + 1), network.netmask));
            push(format!("route-gateway {}", at(base + 1)));
            (base + 2, last - 1)
        } else if tunnel.topology == Topology::Subnet {
            tunnel.ifconfig = Some((at(base + 1), network.netmask));
            push(format!("route-gateway {}", at(base + 1)));
            tunnel.route_gateway.get_or_insert(RouteGateway::Address(at(base + 2)));
            (base + 2, last - 2)
        } else {
            tunnel.ifconfig = Some((at(base + 1), at(base + 2)));
            tunnel.routes.push(Route {
                network: Target::Address(network.address),
                prefix: network.prefix,
                gateway: None,
                metric: None,
            });
            if server.client_to_client {
                push(format!("route {} {}", network.address, network.netmask));
            } else if tunnel.topology == Topology::Net30 {
                push(format!("route {}", at(base + 1)));
            }
            (base + 4, last - 4)
        };
        if !is_tap {
            push(format!("topology {}", tunnel.topology.name()));
        }
        if network.pool {
            let netmask = (tunnel.addressing() == Topology::Subnet).then_some(network.netmask);
            // The smallest net30 network holds one client, with four addresses.
            let end = end.max(first);
            server.pool = Some(Pool { first: at(first), last: at(end), netmask });
        }
    }

    /// Expands `server-ipv6`: the server takes the first address, and the pool starts higher if
    /// there is room.
    fn expand_ipv6(&mut self, server: &mut Server, network: Pool6) {
        let base = u128::from(network.first);
        let at = |offset: u128| Ipv6Addr::from(base + offset);
        let address = at(1);
        // On Ethernet no client is a router for all others.
        let is_tun = self.common.tunnel.device_type == DeviceType::Tun;
        let remote = is_tun.then(|| at(2));
        self.common.tunnel.ifconfig_ipv6 =
            Some(Ifconfig6 { address, prefix: network.prefix, remote });
        let first = at(if network.prefix < 112 { 0x1000 } else { 2 });
        server.pool_ipv6.get_or_insert(Pool6 { first, prefix: network.prefix });
        server.push.push("tun-ipv6".into());
    }

    /// Expands `keepalive`: a server waits twice as long, so that the client notices first.
    pub(super) fn keep_alive(&mut self, many: bool, push: &mut Vec<String>) {
        let Some((interval, timeout)) = self.keepalive else { return };
        let seconds = |seconds: u32| {
            Some(Duration::from_secs(u64::from(seconds))).filter(|time| !time.is_zero())
        };
        let timing = &mut self.common.timing;
        timing.ping = seconds(interval);
        timing.ping_restart = seconds(if many { 2 * timeout } else { timeout });
        if many {
            push.push(format!("ping {interval}"));
            push.push(format!("ping-restart {timeout}"));
        }
    }
}

/// Returns the directive of the first hook, if any is set.
fn first_hook(hooks: &Hooks) -> Option<&'static str> {
    let password = hooks.verify_password.is_some();
    [
        ("up", hooks.up.is_some()),
        ("down", hooks.down.is_some()),
        ("route-up", hooks.route_up.is_some()),
        ("route-pre-down", hooks.route_pre_down.is_some()),
        ("ipchange", hooks.ip_change.is_some()),
        ("tls-verify", hooks.tls_verify.is_some()),
        ("tls-crypt-v2-verify", hooks.tls_crypt_v2_verify.is_some()),
        ("client-connect", hooks.client_connect.is_some()),
        ("client-disconnect", hooks.client_disconnect.is_some()),
        ("client-crresponse", hooks.client_response.is_some()),
        ("learn-address", hooks.learn_address.is_some()),
        ("auth-user-pass-verify", password),
    ]
    .into_iter()
    .find_map(|(name, set)| set.then_some(name))
}
