//! Tests of server files and of settings for single clients.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{BLOCKS, client, server};
use crate::config::*;
use crate::proto::data::Cipher;
use crate::proto::{Role, Transport};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn v4(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn v6(text: &str) -> Ipv6Addr {
    text.parse().unwrap()
}

/// In the style of university portal nodes: one process per port, hooks for each client.
#[test]
fn node() {
    let text = format!(
        "#\n# OpenVPN Server Config\n#\nverb 3\ndev-type tun\nuser nobody\ngroup nogroup\n\
         topology subnet\npersist-key\npersist-tun\nremote-cert-tls client\ndh none\n\
         tls-version-min 1.3\ndata-ciphers AES-256-GCM:CHACHA20-POLY1305\nreneg-sec 36000\n\
         client-connect /usr/libexec/node/client-connect\n\
         client-disconnect /usr/libexec/node/client-disconnect\nserver 10.42.42.0 255.255.255.0\n\
         server-ipv6 fd42::/112\nmax-clients 252\nkeepalive 10 60\nscript-security 2\ndev tun0\n\
         port 1194\nmanagement /run/openvpn-server/x.sock unix\nsetenv PROFILE_ID internet\n\
         proto udp6\nlocal ::\nlog /dev/null\ntcp-nodelay\npush \"explicit-exit-notify 1\"\n\
         explicit-exit-notify 1\npush \"redirect-gateway def1 ipv6 block-local\"\n\
         push \"route 192.0.2.1 255.255.255.255 net_gateway\"\n\
         push \"route-ipv6 2001:db8::1/128 net_gateway_ipv6\"\npush \"dhcp-option DNS 9.9.9.9\"\n\
         push \"dhcp-option DOMAIN-SEARCH example.org\"\npush block-outside-dns\n{BLOCKS}\
         <tls-crypt>\nstatic\n</tls-crypt>\n"
    );
    let (server, warnings) = server(&text);
    assert!(warnings.is_empty(), "{warnings:?}");
    let common = &server.common;
    assert!(server.many);
    assert_eq!(common.tunnel.device.as_deref(), Some("tun0"));
    assert_eq!(common.tunnel.topology, Topology::Subnet);
    assert_eq!(common.tunnel.queue_length, Some(4096));
    assert_eq!(common.tunnel.ifconfig, Some((v4("10.42.42.1"), v4("255.255.255.0"))));
    let pool = server.pool.unwrap();
    assert_eq!((pool.first, pool.last), (v4("10.42.42.2"), v4("10.42.42.253")));
    assert_eq!(pool.netmask, Some(v4("255.255.255.0")));
    let ipv6 = common.tunnel.ifconfig_ipv6.unwrap();
    assert_eq!((ipv6.address, ipv6.prefix), (v6("fd42::1"), 112));
    assert_eq!(server.pool_ipv6, Some(Pool6 { first: v6("fd42::2"), prefix: 112 }));
    assert_eq!(server.max_clients, 252);
    assert_eq!(common.timing.ping, Some(seconds(10)));
    assert_eq!(common.timing.ping_restart, Some(seconds(120)));
    assert_eq!(
        server.push,
        [
            "explicit-exit-notify 1",
            "redirect-gateway def1 ipv6 block-local",
            "route 192.0.2.1 255.255.255.255 net_gateway",
            "route-ipv6 2001:db8::1/128 net_gateway_ipv6",
            "dhcp-option DNS 9.9.9.9",
            "dhcp-option DOMAIN-SEARCH example.org",
            "block-outside-dns",
            "route-gateway 10.42.42.1",
            "topology subnet",
            "tun-ipv6",
            "ping 10",
            "ping-restart 60",
            "socket-flags TCP_NODELAY",
        ]
    );
    let [listen] = &server.listen[..] else { panic!() };
    let protocol = Protocol { transport: Transport::Udp, family: Family::V6 };
    assert_eq!(*listen, Listen { host: Some("::".into()), port: 1194, protocol });
    assert_eq!(common.link.explicit_exit_notify, 1);
    assert_eq!(common.tls.peer_role, Some(Role::Client));
    let management = common.management.as_ref().unwrap();
    let socket = ManagementAddress::Unix("/run/openvpn-server/x.sock".into());
    assert_eq!((&management.address, &management.password), (&socket, &None));
    assert_eq!(common.hooks.client_connect.as_ref().unwrap().len(), 1);
    assert_eq!(common.log.target, LogTarget::File { path: "/dev/null".into(), append: false });
}

/// In the style of a how-to: net30, files next to the configuration, without DES.
#[test]
fn how_to() {
    let text = "port 1194\nproto tcp-server\ndev tun\nca ca.crt\ncert server.crt\nkey server.key  # secret\n\
         dh dh2048.pem\nserver 10.8.0.0 255.255.255.0\nifconfig-pool-persist ipp.txt\n\
         client-config-dir ccd\nroute 192.168.40.128 255.255.255.248\nclient-to-client\n\
         keepalive 10 120\ntls-auth ta.key 0\ncipher AES-256-GCM\nmax-clients 100\npersist-key\n\
         persist-tun\nstatus openvpn-status.log 30\nstatus-version 2\nlog-append openvpn.log\nverb 4\n\
         management 127.0.0.1 7505 pw\nmanagement-hold\ncrl-verify crl dir\nduplicate-cn\n\
         ifconfig-ipv6 fd00::1/64 fd00::2\n";
    let (server, _) = server(text);
    let tunnel = &server.common.tunnel;
    assert_eq!(tunnel.ifconfig, Some((v4("10.8.0.1"), v4("10.8.0.2"))));
    let pool = server.pool.unwrap();
    assert_eq!((pool.first, pool.last, pool.netmask), (v4("10.8.0.4"), v4("10.8.0.251"), None));
    let routes: Vec<_> = tunnel.routes.iter().map(ToString::to_string).collect();
    assert_eq!(routes, ["192.168.40.128/29", "10.8.0.0/24"]);
    let pushed = ["route 10.8.0.0 255.255.255.0", "topology net30", "ping 10", "ping-restart 120"];
    assert_eq!(server.push, pushed);
    assert_eq!(server.common.timing.ping_restart, Some(seconds(240)));
    let persist = Some((PathBuf::from("/etc/vpn/ipp.txt"), Some(seconds(600))));
    assert_eq!(server.pool_persist, persist);
    assert_eq!(server.client_config_dir, Some("/etc/vpn/ccd".into()));
    let status = Some((PathBuf::from("/etc/vpn/openvpn-status.log"), seconds(30)));
    assert_eq!((&server.common.log.status, server.common.log.status_version), (&status, 2));
    assert_eq!(server.common.tls.revoked, Some(Revoked::Directory("/etc/vpn/crl".into())));
    let management = server.common.management.as_ref().unwrap();
    assert_eq!(management.address, ManagementAddress::Tcp("127.0.0.1".into(), 7505));
    assert_eq!(management.password, Some(ManagementPassword::File("/etc/vpn/pw".into())));
    assert!(management.options.hold && server.client_to_client && server.duplicate_names);
    assert_eq!(server.listen[0].protocol.name(), "tcp");
}

#[test]
fn passwords_and_tokens() {
    let text = format!(
        "server 10.8.0.0 255.255.0.0 nopool\nifconfig-pool 10.8.1.0 10.8.1.255 255.255.0.0\n\
         topology subnet\nverify-client-cert none\nusername-as-common-name\nscript-security 3\n\
         auth-user-pass-verify \"check.sh --strict\" via-env\nauth-gen-token 86400 600 external-auth\n\
         <auth-gen-token-secret>\nsecret\n</auth-gen-token-secret>\nconnect-freq 10 60\n\
         connect-freq-initial 50 5\nstale-routes-check 600\nthreads 2\nmetrics 127.0.0.1:9176\n\
         route-gateway 10.8.0.9\ntls-crypt-v2 server.key force-cookie\ntls-crypt shared.key\n{BLOCKS}"
    );
    let (server, _) = server(&text);
    let token =
        AuthToken { lifetime: Some(seconds(86400)), renewal: Some(seconds(600)), external: true };
    assert_eq!(server.auth_token, Some(token));
    let (command, via) = server.common.hooks.verify_password.as_ref().unwrap();
    assert_eq!(command, &["/etc/vpn/check.sh", "--strict"]);
    assert_eq!(*via, PasswordVia::Environment);
    assert_eq!(server.pool.unwrap().last, v4("10.8.1.255"));
    assert_eq!(server.connect_frequency_initial, (50, seconds(5)));
    assert_eq!(server.stale_routes, Some((seconds(600), seconds(600))));
    assert_eq!(server.common.process.threads, Some(2));
    assert_eq!(server.common.process.metrics, Some("127.0.0.1:9176".parse().unwrap()));
    assert_eq!(server.common.tunnel.route_gateway, Some(RouteGateway::Address(v4("10.8.0.9"))));
    assert_eq!(server.common.tls.client_certificate, ClientCertificate::None);
    let key = &server.common.link.control_key;
    let ControlKey::CryptV2 { allow_without_cookie: false, shared: Some(shared), .. } = key else {
        panic!("{key:?}")
    };
    assert!(matches!(**shared, ControlKey::Crypt { .. }));
}

#[test]
fn several_sockets() {
    let base = format!("server 10.8.0.0 255.255.255.0\nport 1195\n{BLOCKS}");
    let text = format!(
        "{base}listen * 1194 udp\nlisten 192.0.2.1 443 tcp\nlocal 2001:db8::1\nproto tcp6-server\n"
    );
    let listen = server(&text).0.listen;
    let of = |listen: &Listen| (listen.host.clone(), listen.port, listen.protocol.name());
    assert_eq!(of(&listen[0]), (None, 1194, "udp"));
    assert_eq!(of(&listen[1]), (Some("192.0.2.1".into()), 443, "tcp"));
    assert_eq!(of(&listen[2]), (Some("2001:db8::1".into()), 1195, "tcp6"));
    assert_eq!(server(&base).0.listen.iter().map(of).collect::<Vec<_>>(), [(None, 1195, "udp")]);
}

#[test]
fn one_peer() {
    let text =
        format!("tls-server\nifconfig 10.0.0.1 10.0.0.2\nremote peer.example\nfloat\n{BLOCKS}");
    let (server, _) = server(&text);
    assert!(!server.many && server.common.link.float && server.push.is_empty());
    assert_eq!(server.remotes, [("peer.example".to_owned(), 1194)]);
    assert_eq!(server.common.tunnel.ifconfig, Some((v4("10.0.0.1"), v4("10.0.0.2"))));
}

#[test]
fn point_to_point() {
    let text = format!("ifconfig 10.0.0.1 10.0.0.2\ncipher AES-256-CBC\n{BLOCKS}");
    // `cipher` is for a peer that cannot negotiate; the default port is the one it expects.
    let (one, warnings) = server(&format!("tls-server\nverify-client-cert require\n{text}"));
    assert_eq!(one.common.data.fallback.map(Cipher::name), Some("AES-256-CBC"));
    assert!(warnings.is_empty(), "{warnings:?}");
    let client_text = format!("tls-client\nremote h\nremote-cert-tls server\n{text}");
    let (other, warnings) = client(&client_text);
    assert!(!other.pull && warnings.is_empty(), "{warnings:?}");
    assert_eq!(other.common.data.fallback, one.common.data.fallback);
    assert_eq!(other.remotes[0].link.local_port, Some(1194));
    for unbound in ["nobind", "proto tcp-client"] {
        let (other, _) = client(&format!("{client_text}{unbound}\n"));
        assert_eq!(other.remotes[0].link.local_port, None);
    }
    let (_, warnings) = server(&format!("tls-server\n{BLOCKS}"));
    assert!(warnings[0].contains("has no address"), "{warnings:?}");
}

#[test]
fn ciphers_by_name_in_any_case_and_optional() {
    let line = "data-ciphers ?AES-512-XYZ:aes-128-gcm:DEFAULT:?AES-256-GCM";
    let (one, _) = server(&format!("server 10.8.0.0 255.255.255.0\n{line}\n{BLOCKS}"));
    assert_eq!(
        one.common.data.ciphers,
        [Cipher::Aes128Gcm, Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305]
    );
}

#[test]
fn single_clients() {
    let text = "# alice\nifconfig-push 10.8.0.99 255.255.255.0\nifconfig-ipv6-push fd00::99/64 fd00::1\n\
         iroute 192.168.4.0 255.255.255.0\niroute-ipv6 fd04::/64\npush-remove route\n\
         push \"dhcp-option DNS 10.8.0.53\"\n";
    let (client, warnings) = PerClient::parse(Path::new("ccd/alice"), text.as_bytes()).unwrap();
    assert!(warnings.is_empty());
    assert_eq!(client.ifconfig, Some((v4("10.8.0.99"), v4("255.255.255.0"))));
    assert_eq!(client.ifconfig_ipv6.unwrap().remote, Some(v6("fd00::1")));
    assert_eq!(client.routes, [(v4("192.168.4.0"), 24)]);
    assert_eq!(client.routes_ipv6, [(v6("fd04::"), 64)]);
    let server = ["route 10.0.0.0 255.0.0.0".to_owned(), "ping 10".to_owned()];
    assert_eq!(
        client.push_list(&server).collect::<Vec<_>>(),
        ["ping 10", "dhcp-option DNS 10.8.0.53"]
    );

    let of = |text: &str| PerClient::parse(Path::new("ccd/bob"), text.as_bytes());
    assert!(of("disable\n").unwrap().0.disable);
    assert_eq!(of("push-reset\n").unwrap().0.push_list(&server).count(), 0);
    assert!(of("verb 3\n").unwrap_err().to_string().contains("single client"));
    assert!(of("server 10.8.0.0 255.255.255.0\n").is_err());
}

#[test]
fn what_may_be_pushed() {
    for option in ["route 10.0.0.0 255.0.0.0", "dhcp-option DNS 1.1.1.1", "ping 10", "peer-id 3"] {
        assert!(push::may_be_pushed(option), "{option}");
    }
    for option in [
        "setenv PATH /tmp",
        "setenv opt config /etc/x",
        "up /bin/sh",
        "script-security 2",
        "ca x",
        "plugin x",
        "config y",
        "nonsense",
        "",
    ] {
        assert!(!push::may_be_pushed(option), "{option}");
    }
}

#[test]
fn files_include_files() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("sub")).unwrap();
    std::fs::write(at("main.conf"), "config sub/more.conf\nserver 10.8.0.0 255.255.255.0\n")
        .unwrap();
    std::fs::write(at("sub/more.conf"), "ca ca.crt\ncert c\nkey k\nremot x\n").unwrap();
    let error = read(&at("main.conf")).unwrap_err();
    assert_eq!((error.file, error.line), (at("sub/more.conf"), 4));
    std::fs::write(at("sub/more.conf"), "ca ca.crt\ncert c\nkey k\n").unwrap();
    let (server, _) = read_server(&at("main.conf")).unwrap();
    assert_eq!(server.common.tls.ca, Some(Material::File(at("sub/ca.crt"))));
    assert!(read_client(&at("main.conf")).unwrap_err().message.contains("server file"));

    std::fs::write(at("sub/more.conf"), "config ../main.conf\n").unwrap();
    assert!(read(&at("main.conf")).unwrap_err().message.contains("included files"));
    std::fs::write(at("sub/more.conf"), "config absent\n").unwrap();
    assert!(read(&at("main.conf")).unwrap_err().message.contains("cannot read"));
}

#[test]
fn a_pushed_option_opens_no_file_and_sets_no_path() {
    let client = Client { pull: true, ..Client::default() };
    let options = [
        "config /etc/hostname",
        "setenv opt config /etc/hostname",
        "setenv PATH /nowhere",
        "up /bin/true",
        "setenv-safe COLOUR blue",
        "ping 7",
    ];
    let options = options.map(str::to_owned);
    let (common, warnings) = push::apply(&client, &options).unwrap();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert!(common.hooks.up.is_none());
    assert_eq!(common.hooks.environment, [("OPENVPN_COLOUR".to_owned(), "blue".to_owned())]);
    assert_eq!(common.timing.ping, Some(seconds(7)));
}

/// `server` with a TAP device, as openvpn(8) describes: clients share a network, and there is no
/// topology.
#[test]
fn a_server_for_ethernet() {
    for device in ["dev tap", "dev tap3", "dev lan\ndev-type tap", "dev-type tap\ndev tun"] {
        let (server, warnings) = server(&format!(
            "{device}\nserver 10.8.0.0 255.255.255.0\nserver-ipv6 fd00:8::/64\n\
             lladdr 2:0:5e:10:0:1\n{BLOCKS}"
        ));
        assert!(warnings.is_empty(), "{warnings:?}");
        let tunnel = &server.common.tunnel;
        assert_eq!(tunnel.device_type, DeviceType::Tap);
        assert_eq!(tunnel.addressing(), Topology::Subnet);
        assert_eq!(tunnel.hardware_address, Some([2, 0, 0x5e, 0x10, 0, 1]));
        assert_eq!(tunnel.ifconfig, Some((v4("10.8.0.1"), v4("255.255.255.0"))));
        assert_eq!(tunnel.ifconfig_ipv6.unwrap().remote, None);
        assert!(tunnel.routes.is_empty() && tunnel.route_gateway.is_none());
        let pool = server.pool.unwrap();
        assert_eq!((pool.first, pool.last), (v4("10.8.0.2"), v4("10.8.0.254")));
        assert_eq!(pool.netmask, Some(v4("255.255.255.0")));
        assert_eq!(server.push, ["route-gateway 10.8.0.1", "tun-ipv6"]);
    }
    let (server, _) =
        server(&format!("dev tap\ndev-type tun\nserver 10.8.0.0 255.255.255.0\n{BLOCKS}"));
    assert_eq!(server.common.tunnel.device_type, DeviceType::Tun);
}

#[test]
fn the_forms_of_a_bridge() {
    let pool = Pool {
        first: v4("10.8.0.128"),
        last: v4("10.8.0.254"),
        netmask: Some(v4("255.255.255.0")),
    };
    for (line, expected, push) in [
        (
            "server-bridge 10.8.0.4 255.255.255.0 10.8.0.128 10.8.0.254",
            Some(pool),
            &["route-gateway 10.8.0.4"][..],
        ),
        ("server-bridge", None, &["route-gateway dhcp"]),
        ("server-bridge nogw", None, &[]),
    ] {
        let (server, warnings) = server(&format!("dev tap0\n{line}\n{BLOCKS}"));
        assert!(warnings.is_empty(), "{warnings:?}");
        assert!(server.many && server.bridge);
        assert_eq!(
            (server.pool, &server.push[..]),
            (expected, &push.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..])
        );
        assert_eq!(server.common.tunnel.ifconfig, None);
    }
}

#[test]
fn vlans_of_clients() {
    let base = format!("dev tap\nserver 10.8.0.0 255.255.255.0\n{BLOCKS}");
    let of = |lines: &str| server(&format!("{base}{lines}")).0.vlans;
    let vlans = |accept, native| Some(Vlans { accept, native });
    assert_eq!(of(""), None);
    assert_eq!(of("vlan-tagging\n"), vlans(VlanAccept::All, 1));
    assert_eq!(
        of("vlan-accept tagged\nvlan-tagging\nvlan-pvid 4094\n"),
        vlans(VlanAccept::Tagged, 4094)
    );
    assert_eq!(of("vlan-tagging\nvlan-accept untagged\n"), vlans(VlanAccept::Untagged, 1));
    let wrong = |text: &str| parse(Path::new("/etc/vpn/x.conf"), text.as_bytes()).unwrap_err();
    for (lines, message) in [
        ("vlan-pvid 5\n", "vlan-pvid needs vlan-tagging"),
        ("vlan-accept tagged\n", "vlan-accept needs vlan-tagging"),
        ("vlan-tagging\nvlan-pvid 0\n", "'0' is not a number"),
        ("vlan-tagging\nvlan-pvid 4095\n", "'4095' is not a number"),
        ("vlan-tagging\nvlan-accept none\n", "vlan-accept does not accept 'none'"),
    ] {
        let error = wrong(&format!("{base}{lines}"));
        assert!(error.message.contains(message), "{}", error.message);
    }
    let error = wrong(&format!("server 10.8.0.0 255.255.255.0\nvlan-tagging\n{BLOCKS}"));
    assert!(error.message.contains("vlan-tagging needs a TAP device"), "{}", error.message);

    let own = |text: &str| PerClient::parse(Path::new("ccd/alice"), text.as_bytes()).unwrap().0;
    let mut first = own("vlan-pvid 5\nmax-routes-per-client 7\n");
    assert_eq!((first.vlan, first.max_routes), (Some(5), Some(7)));
    first.add(own("vlan-pvid 6\n"));
    assert_eq!((first.vlan, first.max_routes), (Some(6), Some(7)));
}
