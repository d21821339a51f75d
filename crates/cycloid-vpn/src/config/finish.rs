//! What the directives of a file mean together: what `server` and its companions stand for, and what
//! does not go together.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;

use crate::proto::data::Cipher;
use crate::proto::{Role, Transport};

use super::Profile;
use super::client::Client;
use super::common::{Hooks, PasswordVia};
use super::directives::{self, place, two_keys};
use super::draft::Draft;
use super::error::{Error, Problem, Warning};
use super::link::{Bind, ControlKey, PORT};
use super::server::{Listen, Network, Pool, Pool6, Server};
use super::tls::ClientCertificate;
use super::tunnel::{Ifconfig6, Route, RouteGateway, Target, Topology};

/// What a client that pulls waits for a sign of life, if nobody says otherwise.
const PULLED_PING_RESTART: Duration = Duration::from_secs(120);

/// Directives that make no sense where there is one peer, whose certificate says who it is and whose
/// file says what it does.
const FOR_MANY: [&str; 19] = [
    "push",
    "ifconfig-pool",
    "ifconfig-ipv6-pool",
    "ifconfig-pool-persist",
    "client-config-dir",
    "ccd-exclusive",
    "client-connect",
    "client-disconnect",
    "client-crresponse",
    "client-to-client",
    "duplicate-cn",
    "learn-address",
    "username-as-common-name",
    "verify-client-cert",
    "client-cert-not-required",
    "auth-user-pass-verify",
    "auth-user-pass-optional",
    "auth-gen-token",
    "management-client-auth",
];

impl Draft {
    /// The whole of it.
    pub(super) fn finish(mut self, file: &Path) -> Result<(Profile, Vec<Warning>), Error> {
        let Some(role) = self.role else {
            return Err(Problem::new(
                "the file is neither a client's nor a server's",
                "add `client`, or `server NETWORK NETMASK`",
            )
            .at(file, 0, ""));
        };
        self.check_places(role)?;
        self.check_common(file, role)?;
        if let Some(management) = &mut self.common.management {
            management.options = self.management_options.clone();
        } else if self.management_options != Default::default() {
            let name = self.seen.keys().find(|name| name.starts_with("management-")).copied();
            self.warn_of(name.unwrap_or_default(), file, "it does nothing without `management`");
        }
        let profile = match role {
            Role::Client => Profile::Client(Box::new(self.finish_client(file)?)),
            Role::Server => Profile::Server(Box::new(self.finish_server(file)?)),
        };
        Ok((profile, self.warnings))
    }

    /// An error at a directive if it is there, else of the file.
    fn wrong(&self, name: &str, file: &Path, message: &str, hint: &str) -> Error {
        let problem = Problem::new(message, hint);
        match self.seen.get(name) {
            Some(directive) => directive.error(problem),
            None => problem.at(file, 0, ""),
        }
    }

    /// Whether each directive is for this end.
    fn check_places(&self, role: Role) -> Result<(), Error> {
        let (here, end, hint) = match role {
            Role::Client => (place::CLIENT, "server", "this is a client's file: remove it"),
            Role::Server => (place::SERVER, "client", "this is a server's file: remove it"),
        };
        for (name, directive) in &self.seen {
            let place = match *name {
                "connection" => place::CLIENT,
                // One peer has one address; who serves many cannot know theirs.
                "remote" | "ipchange" if self.many => place::CLIENT,
                _ => directives::find(name).map_or(0, |entry| entry.place),
            };
            if place & here == 0 {
                let problem = Problem::new(format!("{name} is for a {end}"), hint);
                return Err(directive.error(problem));
            }
        }
        Ok(())
    }

    fn check_common(&mut self, file: &Path, role: Role) -> Result<(), Error> {
        let tls = &self.common.tls;
        if self.device_type.is_none()
            && self.common.tunnel.device.as_deref().is_some_and(|name| !name.starts_with("tun"))
        {
            let hint = "add `dev-type tun`";
            return Err(self.wrong("dev", file, "the name does not say what device it is", hint));
        }
        if tls.version_max < tls.version_min {
            let hint = "lower tls-version-min, or raise tls-version-max";
            return Err(self.wrong("tls-version-max", file, "no version of TLS is left", hint));
        }
        if tls.certificate.is_some() != tls.key.is_some() {
            let (is, other) = match tls.key {
                None => ("cert", "no key is named for the certificate"),
                Some(_) => ("key", "no certificate is named for the key"),
            };
            return Err(self.wrong(is, file, other, "name both, with cert and key, or none"));
        }
        let needs_authority =
            role == Role::Client || tls.client_certificate != ClientCertificate::None;
        if needs_authority && tls.ca.is_none() && tls.peer_fingerprints.is_empty() {
            let hint = "name an authority with ca, or the peer's certificate with peer-fingerprint";
            return Err(self.wrong("", file, "nothing says which peer to trust", hint));
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
                let message =
                    "there is no ifconfig, and nobody pushes one: the tunnel has no address";
                self.warn_of("", file, message);
            }
        }
        if let Some(cipher) = self.common.data.cipher {
            let data = &self.common.data;
            if !data.ciphers.contains(&cipher) && data.fallback != Some(cipher) {
                let message = format!(
                    "cipher {0} is not used: peers negotiate one of {1}; for peers that cannot, \
                     add `data-ciphers-fallback {0}`",
                    cipher.name(),
                    data.cipher_names(", ")
                );
                self.warn_of("cipher", file, message);
            }
        }
        self.check_hooks(file)
    }

    /// Whether both ends say in their files all that there is to say.
    fn is_point_to_point(&self) -> bool {
        !self.many && !self.client.pull
    }

    fn check_hooks(&self, file: &Path) -> Result<(), Error> {
        let hooks = &self.common.hooks;
        let level = hooks.security.unwrap_or(1);
        let Some(name) = first_hook(hooks) else { return Ok(()) };
        if level < 2 {
            let hint = "add `script-security 2`";
            return Err(self.wrong(name, file, "hooks may not be run", hint));
        }
        if level < 3 && matches!(hooks.verify_password, Some((_, PasswordVia::Environment))) {
            return Err(self.wrong(
                "auth-user-pass-verify",
                file,
                "passwords may not be put into the environment",
                "say via-file in place of via-env, or add `script-security 3`",
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
            let message = "it is not used: each <connection> has its own";
            self.warn_of("remote", file, message);
        }
        if client.remotes.is_empty() {
            let hint = "add `remote HOST PORT PROTOCOL`";
            return Err(self.wrong("client", file, "no server is named", hint));
        }
        if self.tcp_role == Some(Role::Server) {
            let hint = "say tcp-client, or tcp";
            return Err(self.wrong("proto", file, "a client connects, it does not listen", hint));
        }
        if !client.pull && client.credentials.is_some() {
            let hint =
                "add `pull`, or say `client`; point to point, certificates say who the ends are";
            let message = "only a server of many asks for a password";
            return Err(self.wrong("auth-user-pass", file, message, hint));
        }
        let tls = &self.common.tls;
        if tls.certificate.is_none() && client.credentials.is_none() {
            let hint = "name a certificate with cert and key, or add auth-user-pass";
            return Err(self.wrong("", file, "nothing says who the client is", hint));
        }
        // A peer that has `remote` looks at the port too.
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
            if link.bind == Bind::Unbound
                && (link.local.is_some() || self.seen.contains_key("lport"))
            {
                let hint = "remove nobind, or local and lport";
                return Err(self.wrong("nobind", file, "an address is named to bind to", hint));
            }
            if index == 0
                && link.explicit_exit_notify > 0
                && client
                    .remotes
                    .iter()
                    .all(|remote| remote.link.protocol.transport == Transport::Tcp)
            {
                self.warnings.push(Warning { file: file.to_owned(), line: 0, message: "explicit-exit-notify does nothing on TCP, where the end of the connection says it".into() });
            }
        }
        let tls = &self.common.tls;
        if tls.peer_role.is_none()
            && tls.peer_name.is_none()
            && tls.peer_key_usages.is_empty()
            && tls.peer_extended_key_usage.is_none()
            && tls.peer_fingerprints.is_empty()
        {
            let message = "any certificate of the authority may be the server's, also a client's: add \
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
            self.check_one_peer(file)?;
        }
        let tls = &self.common.tls;
        if tls.certificate.is_none() {
            let hint = "name them with cert and key; `cycloid vpn pki server NAME` makes them";
            return Err(self.wrong("", file, "a server needs a certificate and a key", hint));
        }
        let hooks = &self.common.hooks;
        let asks = hooks.verify_password.is_some() || self.management_options.client_auth;
        let optional = tls.client_certificate != ClientCertificate::Require;
        if optional && !asks {
            return Err(self.wrong(
                "verify-client-cert",
                file,
                "anybody would be let in: no certificate is needed, and no password",
                "add auth-user-pass-verify or management-client-auth, or remove it",
            ));
        }
        for (name, set) in [
            ("username-as-common-name", server.username_as_common_name),
            ("auth-user-pass-optional", server.password_optional),
            ("auth-gen-token", server.auth_token.is_some()),
        ] {
            if set && !asks {
                let hint = "add auth-user-pass-verify or management-client-auth";
                return Err(self.wrong(name, file, "no user is ever asked for a password", hint));
            }
        }
        if server.ccd_exclusive && server.client_config_dir.is_none() {
            let hint = "add client-config-dir";
            return Err(self.wrong("ccd-exclusive", file, "nobody could come in", hint));
        }
        if self.tcp_role == Some(Role::Client) {
            let hint = "say tcp-server, or tcp";
            return Err(self.wrong("proto", file, "a server listens, it does not connect", hint));
        }
        if self.network.is_some() && server.pool.is_some() {
            let hint = "say `server NETWORK NETMASK nopool`, or remove ifconfig-pool";
            let message = "the pool is there already, from `server`";
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
        if let Some(network) = self.network {
            self.expand(&mut server, network);
        }
        if let Some(network) = self.network_ipv6 {
            self.expand_ipv6(&mut server, network);
        }
        let mut push = std::mem::take(&mut server.push);
        self.keep_alive(self.many, &mut push);
        server.push = push;
        Ok(Server { common: std::mem::take(&mut self.common), ..server })
    }

    /// What only a server of many can do.
    fn check_one_peer(&self, file: &Path) -> Result<(), Error> {
        if self.network_ipv6.is_some() {
            let hint = "say ifconfig-ipv6; for many, add `server NETWORK NETMASK` or `mode server`";
            return Err(self.wrong("server-ipv6", file, "there is one peer only", hint));
        }
        let redirects = self.common.tunnel.redirect.is_some_and(|it| it.ipv4 || it.ipv6);
        if redirects && self.remotes.is_empty() {
            let hint = "add `remote HOST`, so that packets outside keep their way";
            let message = "nothing says where the peer is";
            return Err(self.wrong("redirect-gateway", file, message, hint));
        }
        let optional = self.common.tls.client_certificate != ClientCertificate::Require;
        for name in FOR_MANY {
            let harmless = name.ends_with("cert") && !optional;
            if self.seen.contains_key(name) && !harmless {
                let hint = "remove it; for many, add `server NETWORK NETMASK` or `mode server`";
                let message = format!("{name} is for a server of many, and there is one peer only");
                return Err(self.wrong(name, file, &message, hint));
            }
        }
        Ok(())
    }

    /// `server`, as openvpn(8) spells it out.
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
        let (first, end) = if tunnel.topology == Topology::Subnet {
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
        push(format!("topology {}", tunnel.topology.name()));
        if network.pool {
            let netmask = (tunnel.topology == Topology::Subnet).then_some(network.netmask);
            // The smallest network of net30 has one place, of four addresses.
            let end = end.max(first);
            server.pool = Some(Pool { first: at(first), last: at(end), netmask });
        }
    }

    /// `server-ipv6`: the server is the first address, and clients begin further up where there is
    /// room.
    fn expand_ipv6(&mut self, server: &mut Server, network: Pool6) {
        let base = u128::from(network.first);
        let at = |offset: u128| Ipv6Addr::from(base + offset);
        let address = at(1);
        self.common.tunnel.ifconfig_ipv6 =
            Some(Ifconfig6 { address, prefix: network.prefix, remote: Some(at(2)) });
        let first = at(if network.prefix < 112 { 0x1000 } else { 2 });
        server.pool_ipv6.get_or_insert(Pool6 { first, prefix: network.prefix });
        server.push.push("tun-ipv6".into());
    }

    /// `keepalive`: a server waits twice as long, so that the client notices first.
    fn keep_alive(&mut self, many: bool, push: &mut Vec<String>) {
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

/// The name of a hook's directive, if there is one.
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
