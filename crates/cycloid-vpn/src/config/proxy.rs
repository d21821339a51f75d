//! `http-proxy`, `socks-proxy` and their options.

use super::credentials::Credentials;

/// The port of `socks-proxy` (RFC 1928).
pub(super) const SOCKS_PORT: u16 = 1080;

/// A proxy between a client and a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// The protocol.
    pub kind: ProxyKind,
    /// The proxy's host name or address.
    pub host: String,
    /// The proxy's port.
    pub port: u16,
    /// The user's name and password at the proxy; `None` if it needs none.
    pub account: Option<Credentials>,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyKind {
    /// `http-proxy`, with the authentication.
    Http(HttpMethod),
    /// `socks-proxy`: SOCKS 5.
    Socks,
}

/// The authentication at an HTTP proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// None.
    None,
    /// `basic`.
    Basic,
    /// `auto`: what the proxy wants, Digest or Basic.
    Any,
    /// `auto-nct`: what the proxy wants, but no password in the clear.
    AnyButClear,
}

/// `http-proxy-option`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOptions {
    /// `VERSION`; `None` is 1.0.
    pub version: Option<String>,
    /// `AGENT`: the field User-Agent.
    pub agent: Option<String>,
    /// `CUSTOM-HEADER`: fields by name and value.
    pub fields: Vec<(String, String)>,
}
