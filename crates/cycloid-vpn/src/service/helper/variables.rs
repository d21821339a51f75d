//! The variables of a script that runs as root: which ones a client may set, and to what.
//!
//! Source: openvpn(8), "Environmental Variables" and "String Types and Remapping".

use std::net::{Ipv4Addr, Ipv6Addr};

use super::message::Setup;
use crate::net::network::Network;
use crate::service::hooks::{Environment, Kind};

/// The beginnings of names that mean nothing to programs and the loader: variables of `setenv-safe`
/// and of the peer's certificate.
const PREFIXES: [&str; 3] = ["OPENVPN_", "X509_", "tls_"];

/// Returns a script's variables: those of the setup, and the client's on top.
///
/// # Errors
/// The name of a variable that the client may not set, or not to its value.
pub(super) fn checked(
    setup: &Setup,
    variables: &[(String, String)],
) -> Result<Environment, String> {
    let mut environment = setup.environment.clone();
    for (name, value) in variables {
        // The client sends all variables, so also those of the setup.
        if setup.environment.value(name) != Some(value) {
            if !allows(name, value, &setup.interface) {
                return Err(name.clone());
            }
            environment.set(name, value);
        }
    }
    Ok(environment)
}

/// Returns the arguments that follow the configured ones.
pub(super) fn arguments(kind: Kind, environment: &Environment) -> Vec<String> {
    let value = |name| environment.value(name).unwrap_or_default().to_owned();
    match kind {
        Kind::Up => {
            let second = match environment.value("ifconfig_netmask") {
                Some(netmask) => netmask.to_owned(),
                None => value("ifconfig_remote"),
            };
            let [interface, mtu] = ["dev", "tun_mtu"].map(value);
            let (local, context) = (value("ifconfig_local"), value("script_context"));
            vec![interface, mtu, "0".to_owned(), local, second, context]
        }
        Kind::AddressChange => {
            let address = environment.value("trusted_ip").or(environment.value("trusted_ip6"));
            vec![address.unwrap_or_default().to_owned(), value("trusted_port")]
        }
        _ => Vec::new(),
    }
}

fn allows(name: &str, value: &str, interface: &str) -> bool {
    match name {
        "dev" => value == interface,
        "dev_type" => matches!(value, "tun" | "tap"),
        "script_context" => value == "init",
        "tun_mtu" | "ifconfig_ipv6_netbits" | "trusted_port" | "untrusted_port" => is_number(value),
        "ifconfig_local" | "ifconfig_remote" | "ifconfig_netmask" => is_ipv4(value),
        "trusted_ip" | "untrusted_ip" => is_ipv4(value),
        "ifconfig_ipv6_local" | "ifconfig_ipv6_remote" => is_ipv6(value),
        "trusted_ip6" | "untrusted_ip6" => is_ipv6(value),
        _ if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) => {
            is_name(name) && is_printable(value)
        }
        _ => is_numbered(name, value),
    }
}

/// Returns whether this is a variable with a number in its name, and a value of its kind.
fn is_numbered(name: &str, value: &str) -> bool {
    let Some((kind, number)) = name.rsplit_once('_') else { return false };
    if !is_number(number) {
        return false;
    }
    match kind {
        "route_network" | "route_netmask" | "route_gateway" => is_ipv4(value),
        "route_ipv6_network" => value.parse::<Network>().is_ok_and(|it| !it.is_ipv4()),
        "route_ipv6_gateway" => is_ipv6(value),
        "route_metric" | "route_ipv6_metric" => is_number(value),
        "foreign_option" => value.starts_with("dhcp-option ") && is_printable(value),
        _ => false,
    }
}

/// Returns whether a text has digits only, so no sign either, and fits 32 bits.
fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u32>().is_ok()
}

fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_printable(text: &str) -> bool {
    !text.chars().any(char::is_control)
}
