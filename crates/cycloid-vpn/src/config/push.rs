//! What a server may push. Client and server ask the one table of directives.

use std::path::Path;

use super::client::{Client, Verdict};
use super::common::Common;
use super::directives::{self, place};
use super::draft::{Draft, Scope};

/// Whether an option, such as `route 10.0.0.0 255.0.0.0`, is one that a server may push.
pub fn may_be_pushed(option: &str) -> bool {
    directives::find(name(option)).is_some_and(|entry| entry.place & place::PUSHED != 0)
}

/// Whether an option is one that `route-nopull` passes over: routes and name servers.
pub fn is_route(option: &str) -> bool {
    matches!(
        name(option),
        "route"
            | "route-ipv6"
            | "route-gateway"
            | "route-ipv6-gateway"
            | "route-metric"
            | "route-delay"
            | "redirect-gateway"
            | "redirect-private"
            | "dhcp-option"
            | "dns"
            | "block-outside-dns"
            | "block-ipv6"
            | "client-nat"
    )
}

fn name(option: &str) -> &str {
    option.split_ascii_whitespace().next().unwrap_or_default()
}

/// What a client's configuration becomes by the options that its server pushed. An option that the
/// client's filters pass over is left out; one that is unknown, or is not for a server to say, is
/// passed over with a warning.
///
/// # Errors
/// An option that the client refuses (`pull-filter reject`).
pub fn apply(client: &Client, options: &[String]) -> Result<(Common, Vec<String>), String> {
    let mut draft = Draft::default();
    draft.common = client.common.clone();
    let mut warnings = Vec::new();
    for option in options {
        match client.verdict(option) {
            Verdict::Accept => {}
            Verdict::Ignore => continue,
            Verdict::Reject => return Err(option.clone()),
        }
        if !may_be_pushed(option) {
            warnings.push(format!("pushed: {} is not for a server to say", name(option)));
            continue;
        }
        if let Err(error) = draft.text(Path::new("pushed"), Scope::Pushed, option.as_bytes()) {
            warnings.push(error.to_string());
        }
    }
    Ok((draft.common, warnings))
}
