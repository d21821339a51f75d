//! Tests of mistakes that do not stop a tunnel, as in OpenVPN: each causes a warning.

use std::path::{Path, PathBuf};

use super::{BLOCKS, client, outcome, server};
use crate::config::{Material, Profile, Target, parse};

/// Client files with one line, and the expected warning.
#[test]
fn lines_that_are_left_out() {
    for (line, warning) in [
        ("route 10.1.0.0/16", "write `route 10.1.0.0 255.255.0.0`"),
        ("route 0.0.0.0/0", "write `route 0.0.0.0 0.0.0.0`"),
        ("route 10.1.0.0/33", "the route is left out: '10.1.0.0/33' is neither an address"),
        ("route 10.0.0.0 255.0.255.0", "the route is left out: '255.0.255.0' is not a netmask"),
        ("route 10.0.0.0 255.0.0.0 10.8.0.1 x", "the route is left out: 'x' is not a number"),
        ("route-ipv6 fd00::/129", "the route is left out: 'fd00::/129' is not an IPv6 network"),
        ("route-ipv6 fd00::/64 ::1x", "the route is left out: '::1x' is neither an address"),
        ("ecdh-curve secp256k1", "the curve secp256k1 is not supported"),
        ("tls-cipher TLSv1:!ADH:@STRENGTH", "TLS 1.2 is off"),
        ("auth CHACHA20-POLY1305", "CHACHA20-POLY1305"),
    ] {
        let text = format!("client\nremote h\n{line}\nremote-cert-tls server\n{BLOCKS}");
        let (client, warnings) = client(&text);
        let place = "/etc/vpn/x.conf:3: ";
        let warns = |it: &String| it.starts_with(place) && it.contains(warning);
        assert!(warnings.iter().any(warns), "{line}: {warnings:?}");
        let tunnel = &client.common.tunnel;
        assert!(tunnel.routes.is_empty() && tunnel.routes_ipv6.is_empty(), "{line}");
    }
}

/// Options of a server that a client cannot apply are left out, with a warning each.
#[test]
fn malformed_pushed_routes_are_left_out() {
    let text = format!("client\nremote h\n{BLOCKS}");
    let (client, _) = client(&text);
    for option in ["route 10.1.0.0/16", "route-ipv6 fd00::/129"] {
        let (common, warnings) = crate::config::push::apply(&client, &[option.to_owned()]).unwrap();
        assert!(common.tunnel.routes.is_empty() && common.tunnel.routes_ipv6.is_empty());
        assert_eq!(warnings.len(), 1, "{option}: {warnings:?}");
    }
}

#[test]
fn the_default_length_of_an_ipv6_prefix_is_64() {
    let text = "server 10.8.0.0 255.255.255.0\nserver-ipv6 fd00:8::\nroute-ipv6 fd00:9::\n";
    let (server, _) = server(&format!("{text}{BLOCKS}"));
    let tunnel = &server.common.tunnel;
    assert_eq!(tunnel.ifconfig_ipv6.map(|it| it.prefix), Some(64));
    let route = &tunnel.routes_ipv6[0];
    assert_eq!((&route.network, route.prefix), (&Target::Address("fd00:9::".parse().unwrap()), 64));
}

#[test]
fn one_peer_is_pushed_nothing() {
    let (server, warnings) = server(&format!("tls-server\npush \"ping 1\"\n{BLOCKS}"));
    assert!(server.push.is_empty());
    assert!(warnings.iter().any(|it| it.contains(":2: push has no effect")), "{warnings:?}");
}

#[test]
fn a_tunnel_without_a_device() {
    let (client, _) = client(&format!("tls-client\nremote h\ndev null\n{BLOCKS}"));
    assert!(client.common.tunnel.without_device);
    // A TUN device with this name.
    let (client, _) =
        super::client(&format!("tls-client\nremote h\ndev null\ndev-type tun\n{BLOCKS}"));
    assert!(!client.common.tunnel.without_device);
    let text = "server 10.8.0.0 255.255.255.0\ndev tun\ndev null\n";
    let error = outcome(&format!("{text}{BLOCKS}")).unwrap_err();
    // The latest line applies, so it is the one that the error names.
    assert_eq!(error.line, 3, "{error}");
}

/// The bytes of a file's name are those in the configuration.
#[test]
fn names_of_files_in_latin_1() {
    let text = b"client\nremote h\nca autorit\xe9.crt\nauth-user-pass\n";
    let (profile, _) = parse(Path::new("/etc/vpn/x.conf"), text).unwrap();
    let Profile::Client(client) = profile else { panic!("no client") };
    let Some(Material::File(path)) = client.common.tls.ca else { panic!("no file") };
    let name = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    assert_eq!(name, b"/etc/vpn/autorit\xe9.crt");
    let text = "client\nremote h\nca autorit\u{e9}.crt # caf\u{e9}\nauth-user-pass\n";
    let (profile, _) = outcome(text).unwrap();
    let path = profile.common().tls.ca.as_ref().and_then(Material::path).map(Path::to_owned);
    assert_eq!(path, Some(PathBuf::from("/etc/vpn/autorit\u{e9}.crt")));
}
