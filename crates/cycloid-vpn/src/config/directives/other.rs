//! Directives that change nothing here: for other systems, for ways of working that this program does
//! not have, or of long ago.

use super::place::{BOTH, CLIENT, CONNECTION, PUSHED, SERVER};
use super::{Entry, ignored, refused, used};

const WINDOWS: &str = "it is for Windows";
const DCO: &str = "packets are moved by the program itself, not by a kernel module";
const ALWAYS: &str = "it is always so";

pub(super) const TABLE: &[Entry] = &[
    used("ignore-unknown-option", BOTH, 1, 64, |draft, call| {
        draft.ignore_unknown.extend(call.all().iter().cloned());
        Ok(())
    }),
    // Handled before the table is asked: it holds directives of its own.
    refused("connection", "a connection is a block", "write <connection>, lines, </connection>"),
    refused("config", "no file is named", "name one: config FILE"),
    ignored("fast-io", BOTH, ALWAYS),
    ignored("persist-local-ip", BOTH, "the address is looked up anew after a restart"),
    ignored("persist-remote-ip", BOTH, "the address is looked up anew after a restart"),
    ignored("disable-dco", BOTH, DCO),
    ignored("disable-occ", BOTH, "options of the peer are compared only with opt-verify"),
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
    ignored("shaper", BOTH | PUSHED, "the rate is not limited; tc(8) does that"),
    ignored("iproute", BOTH, "addresses and routes are set without a program"),
    ignored("engine", BOTH, "it is for OpenSSL"),
    ignored("providers", BOTH, "it is for OpenSSL"),
    ignored("prng", BOTH, "random numbers are the operating system's"),
    ignored("use-prediction-resistance", BOTH, "random numbers are the operating system's"),
    ignored("compat-mode", BOTH, "ciphers and versions are as the other directives say"),
    ignored("replay-persist", BOTH, "each session has keys of its own, so nothing old is accepted"),
    ignored("single-session", BOTH, "a peer's new session takes the place of its old one"),
    ignored("gremlin", BOTH, "packets are not harmed on purpose"),
    ignored("setcon", BOTH, "the service manager sets the context of SELinux"),
    ignored("auth-token", CLIENT | PUSHED, "tokens come from the server"),
    ignored("auth-token-user", CLIENT | PUSHED, "tokens come from the server"),
    ignored("socks-proxy-retry", CLIENT | CONNECTION, "proxies are not supported"),
    ignored("http-proxy-retry", CLIENT | CONNECTION, "proxies are not supported"),
    ignored("http-proxy-timeout", CLIENT | CONNECTION, "proxies are not supported"),
    ignored(
        "x509-track",
        BOTH,
        "the environment of hooks has the whole subject of each certificate",
    ),
    ignored("keying-material-exporter", BOTH, "nobody here uses what it exports"),
    ignored("force-tls-key-material-export", SERVER, "keys are exported where the peer can"),
    refused("plugin", "plugins are not loaded", "use hooks, such as auth-user-pass-verify"),
    // What a server pushes by itself, and a file does not say.
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
        action: super::Action::Ignore("the server says it when a client connects"),
    }
}
