//! Checks the file of a server with a single peer.

use std::path::Path;

use super::draft::Draft;
use super::error::Error;
use super::server::Server;
use super::tls::ClientCertificate;

/// Directives that make no sense with a single peer: its certificate identifies it and its file
/// configures it.
const FOR_MANY: [&str; 19] = [
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
    "vlan-tagging",
];

impl Draft {
    /// Checks that a point-to-point server uses no directive for many clients.
    pub(super) fn check_one_peer(&mut self, server: &mut Server, file: &Path) -> Result<(), Error> {
        let redirects = self.common.tunnel.redirect.is_some_and(|it| it.ipv4 || it.ipv6);
        if redirects && self.remotes.is_empty() {
            let hint = "add `remote HOST`, so that outer packets bypass the tunnel";
            let message = "the peer's address is unknown";
            return Err(self.wrong("redirect-gateway", file, message, hint));
        }
        let optional = self.common.tls.client_certificate != ClientCertificate::Require;
        for name in FOR_MANY {
            let harmless = name.ends_with("cert") && !optional;
            if self.seen.contains_key(name) && !harmless {
                let hint = "remove it; for many clients, add `server` or `mode server`";
                let message = format!(
                    "{name} needs a server for many clients, and this one is point-to-point"
                );
                return Err(self.wrong(name, file, &message, hint));
            }
        }
        if !std::mem::take(&mut server.push).is_empty() {
            let message = "push has no effect: only a server for many clients pushes options; for \
                           many clients, add `server` or `mode server`";
            self.warn_of("push", file, message);
        }
        Ok(())
    }
}
