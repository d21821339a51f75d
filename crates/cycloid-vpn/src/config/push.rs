//! Options that a server may push. Client and server use the same table of directives.

use std::path::Path;

use super::client::{Client, PullFilter, Verdict};
use super::common::Common;
use super::directives;
use super::draft::Draft;
use super::place::{self, Scope};
use crate::proto::push::Filter;

/// Returns whether a server may push this option, such as `route 10.0.0.0 255.0.0.0`.
pub fn may_be_pushed(option: &str) -> bool {
    directives::find(name(option)).is_some_and(|entry| entry.place & place::PUSHED != 0)
}

/// Returns whether `route-nopull` ignores this option: routes and name servers.
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

impl Client {
    /// Returns the action on an option of a push reply, from `pull-filter` and `route-nopull`.
    pub fn verdict(&self, option: &str) -> Verdict {
        verdict(&self.pull_filters, self.route_nopull, option)
    }

    /// Returns the filter of a connection's pushed options.
    pub fn filter(&self) -> Filter {
        let (filters, route_nopull) = (self.pull_filters.clone(), self.route_nopull);
        Filter::new(move |option| verdict(&filters, route_nopull, option))
    }
}

fn verdict(filters: &[PullFilter], route_nopull: bool, option: &str) -> Verdict {
    let filter = filters.iter().find(|filter| option.starts_with(&filter.prefix));
    match filter.map_or(Verdict::Accept, |filter| filter.verdict) {
        Verdict::Accept if route_nopull && is_route(option) => Verdict::Ignore,
        verdict => verdict,
    }
}

fn name(option: &str) -> &str {
    option.split_ascii_whitespace().next().unwrap_or_default()
}

/// Applies pushed options to a client's configuration. Skips options that the client's filters
/// ignore. Skips options that are unknown or that a server may not push, with a warning.
///
/// # Errors
/// An option that the client rejects (`pull-filter reject`).
pub fn apply(client: &Client, options: &[String]) -> Result<(Common, Vec<String>), String> {
    let mut draft = Draft { common: client.common.clone(), ..Draft::default() };
    let mut warnings = Vec::new();
    for option in options {
        match client.verdict(option) {
            Verdict::Accept => {}
            Verdict::Ignore => continue,
            Verdict::Reject => return Err(option.clone()),
        }
        if !may_be_pushed(option) {
            warnings.push(format!("ignored pushed option: a server may not push {}", name(option)));
            continue;
        }
        if let Err(error) = draft.text(Path::new("pushed"), Scope::Pushed, option.as_bytes()) {
            warnings.push(error.to_string());
        }
    }
    Ok((draft.common, warnings))
}
