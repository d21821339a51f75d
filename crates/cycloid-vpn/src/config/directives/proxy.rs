//! Directives for proxies.

use super::client::credentials;
use super::entry::{Entry, ignored, used};
use crate::config::credentials::Credentials;
use crate::config::draft::Draft;
use crate::config::error::Problem;
use crate::config::place::{CLIENT, CONNECTION};
use crate::config::proxy::{HttpMethod, Proxy, ProxyKind, SOCKS_PORT};
use crate::config::values::{Call, Result};

const ANY: u8 = CLIENT | CONNECTION;
const ALWAYS_RETRIED: &str = "a connection that fails is always tried again";

pub(super) const TABLE: &[Entry] = &[
    used("http-proxy", ANY, 2, 4, http_proxy),
    used("http-proxy-user-pass", CLIENT, 1, 1, |draft, call| {
        draft.proxy_account = Some(credentials(call)?);
        Ok(())
    })
    .or_block(),
    used("http-proxy-option", ANY, 2, 3, http_option),
    used("socks-proxy", ANY, 1, 3, |draft, call| {
        let port = if call.get(1).is_some() { call.port(1)? } else { SOCKS_PORT };
        let account = call.get(2).map(|_| account(call, 2));
        set(draft, Proxy { kind: ProxyKind::Socks, host: call.host(0)?, port, account })
    }),
    ignored("socks-proxy-retry", ANY, ALWAYS_RETRIED),
    ignored("http-proxy-retry", ANY, ALWAYS_RETRIED),
    ignored("http-proxy-timeout", ANY, "connect-timeout limits the whole connection"),
];

fn http_proxy(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let named = call.get(3);
    let method = match named {
        None => HttpMethod::Basic,
        Some("ntlm" | "ntlm2") => {
            return Err(Problem::new(
                "the authentication NTLM is not supported: its password hash is as good as the \
                 password, and easily guessed",
                "let the proxy offer Digest or Basic, and set auto",
            ));
        }
        Some(_) => call.choice(3, &[("none", HttpMethod::None), ("basic", HttpMethod::Basic)])?,
    };
    let (method, account) = match call.get(2) {
        None => (HttpMethod::None, None),
        Some("auto") => (HttpMethod::Any, Some(Credentials::Ask)),
        Some("auto-nct") => (HttpMethod::AnyButClear, Some(Credentials::Ask)),
        Some(_) if method == HttpMethod::None => (method, None),
        Some(_) => (method, Some(account(call, 2))),
    };
    let kind = ProxyKind::Http(method);
    set(draft, Proxy { kind, host: call.host(0)?, port: call.port(1)?, account })
}

/// Returns the source of name and password in a file, or `stdin`.
fn account(call: &Call<'_>, index: usize) -> Credentials {
    match call.text(index) {
        "stdin" => Credentials::Ask,
        _ => Credentials::File(call.path(index)),
    }
}

fn set(draft: &mut Draft, proxy: Proxy) -> Result<()> {
    let link = &mut draft.common.link;
    if link.proxy.as_ref().is_some_and(|other| {
        matches!(other.kind, ProxyKind::Socks) != matches!(proxy.kind, ProxyKind::Socks)
    }) {
        return Err(Problem::new(
            "the connection has two proxies",
            "keep http-proxy or socks-proxy; give each its own <connection>",
        ));
    }
    link.proxy = Some(proxy);
    Ok(())
}

fn http_option(draft: &mut Draft, call: &Call<'_>) -> Result<()> {
    let options = &mut draft.common.link.http;
    match call.text(0) {
        "VERSION" => {
            options.version = Some(call.choice(1, &[("1.0", "1.0"), ("1.1", "1.1")])?.to_owned());
        }
        "AGENT" => options.agent = Some(call.owned(1)),
        // EXT1 and EXT2 are names of some old versions.
        "CUSTOM-HEADER" | "EXT1" | "EXT2" => {
            if options.fields.len() == 10 {
                return Err(Problem::new("more than 10 custom headers", "remove some of them"));
            }
            // The name and the value in one word or in two.
            let (name, value) = match call.directive.arguments.get(2) {
                Some(value) => (call.text(1), value.as_str()),
                None => call.text(1).split_once(':').unwrap_or((call.text(1), "")),
            };
            options.fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        other => {
            return Err(Problem::new(
                format!("unknown option '{other}'"),
                "use VERSION, AGENT or CUSTOM-HEADER",
            ));
        }
    }
    Ok(())
}
