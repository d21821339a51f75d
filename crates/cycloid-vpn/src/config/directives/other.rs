//! Directives without effect here: for other systems, for unsupported modes, or obsolete.

use super::entry::{Entry, ignored, refused, used};
use crate::config::place::{BOTH, CLIENT, PUSHED, SERVER};

const WINDOWS: &str = "it is for Windows";
const ALWAYS: &str = "it is always on";

pub(super) const TABLE: &[Entry] = &[
    used("ignore-unknown-option", BOTH, 1, 64, |draft, call| {
        draft.ignore_unknown.extend(call.all().iter().cloned());
        Ok(())
    }),
    // `Draft` handles these before the table lookup, since they contain directives.
    refused(
        "connection",
        "`connection` must be a block",
        "write <connection>, lines, </connection>",
    ),
    refused("config", "the file is missing", "write config FILE"),
    ignored("fast-io", BOTH, ALWAYS),
    ignored("persist-local-ip", BOTH, "the address is always looked up again after a restart"),
    ignored("persist-remote-ip", BOTH, "the address is looked up again where that is possible"),
    ignored(
        "disable-occ",
        BOTH,
        "options of the peer are not compared, except the type of its device",
    ),
    ignored("register-dns", BOTH | PUSHED, WINDOWS),
    ignored("ip-win32", BOTH | PUSHED, WINDOWS),
    ignored("route-method", BOTH, WINDOWS),
    ignored("tap-sleep", BOTH, WINDOWS),
    ignored("dhcp-renew", BOTH, WINDOWS),
    ignored("dhcp-release", BOTH, WINDOWS),
    ignored("dhcp-pre-release", BOTH, WINDOWS),
    ignored("win-sys", BOTH, WINDOWS),
    ignored("windows-driver", BOTH, WINDOWS),
    ignored("service", BOTH, WINDOWS),
    ignored("pause-exit", BOTH, WINDOWS),
    ignored("allow-nonadmin", BOTH, WINDOWS),
    ignored("show-net-up", BOTH, WINDOWS),
    ignored("echo", BOTH | PUSHED, "it is for a graphical interface"),
    ignored("parameter", BOTH | PUSHED, "it is for a graphical interface"),
    ignored("shaper", BOTH | PUSHED, "rates are not limited; use tc(8)"),
    ignored("iproute", BOTH, "addresses and routes are set over netlink"),
    ignored("engine", BOTH, "it is for OpenSSL"),
    ignored("providers", BOTH, "it is for OpenSSL"),
    ignored("prng", BOTH, "random numbers come from the operating system"),
    ignored("use-prediction-resistance", BOTH, "random numbers come from the operating system"),
    ignored("compat-mode", BOTH, "other directives set ciphers and versions"),
    ignored(
        "replay-persist",
        BOTH,
        "each session has its own keys, so old packets are never accepted",
    ),
    ignored("single-session", BOTH, "a peer's new session always replaces its old one"),
    ignored("memstats", BOTH, "counters are in the status file and the metrics"),
    refused(
        "no-name-remapping",
        "names in certificates are never remapped",
        "remove it; this is what it asks for",
    ),
    ignored("gremlin", BOTH, "packets are never corrupted on purpose"),
    ignored("setcon", BOTH, "the service manager sets the SELinux context"),
    ignored("auth-token", CLIENT | PUSHED, "tokens come from the server"),
    ignored("auth-token-user", CLIENT | PUSHED, "tokens come from the server"),
    ignored("x509-track", BOTH, "hooks always get the whole subject of each certificate"),
    ignored("keying-material-exporter", BOTH, "nothing uses the exported key"),
    ignored(
        "force-tls-key-material-export",
        SERVER,
        "key export is used whenever the peer supports it",
    ),
    refused(
        "plugin",
        "plugins are not loaded: foreign code would run in this process, beside its keys",
        "use hooks, which run apart: docs/vpn.md has them for auth-pam and down-root",
    ),
    // Options that a server pushes itself; configuration files never contain them.
    pushed("peer-id"),
    pushed("protocol-flags"),
    pushed("key-derivation"),
    pushed("push-continuation"),
];

const fn pushed(name: &'static str) -> Entry {
    Entry {
        name,
        place: PUSHED,
        arguments: (0, usize::MAX),
        block: false,
        effect: None,
        action: super::entry::Action::Ignore("the server sets it when a client connects"),
    }
}
