//! Tests of client files.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use super::{BLOCKS, client};
use crate::config::*;
use crate::proto::data::{CbcCipher, Cipher, Digest, Framing};
use crate::proto::static_key::Direction;
use crate::proto::{Role, Transport};

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn hosts(client: &Client) -> Vec<(&str, u16, &str)> {
    let remotes = client.remotes.iter();
    remotes.map(|one| (one.host.as_str(), one.port, one.link.protocol.name())).collect()
}

/// In the style of university portals: everything inline, UDP first, then TCP.
#[test]
fn portal() {
    let text = format!(
        "# Portal: Employees\ndev tun\nclient\nnobind\nremote-cert-tls server\nverb 3\n\
         server-poll-timeout 10\ntls-version-min 1.3\ndata-ciphers AES-256-GCM:CHACHA20-POLY1305\n\
         reneg-sec 0\n{BLOCKS}<tls-crypt>\nstatic\n</tls-crypt>\nremote vpn.example.org 1194 udp\n\
         remote vpn.example.org 1194 tcp\nremote 2001:db8::1 443 tcp\n"
    );
    let (client, warnings) = client(&text);
    assert_eq!(warnings, [""; 0]);
    let expected = [
        ("vpn.example.org", 1194, "udp"),
        ("vpn.example.org", 1194, "tcp"),
        ("2001:db8::1", 443, "tcp"),
    ];
    assert_eq!(hosts(&client), expected);
    let common = &client.common;
    assert!(client.pull && !client.remote_random && client.credentials.is_none());
    assert_eq!(common.tls.peer_role, Some(Role::Server));
    assert_eq!(common.tls.version_min, TlsVersion::V1_3);
    assert_eq!(common.data.ciphers, [Cipher::Aes256Gcm, Cipher::ChaCha20Poly1305]);
    assert_eq!(common.timing.renegotiate_after, None);
    assert_eq!(common.timing.ping_restart, Some(seconds(120)));
    assert_eq!(common.log.verbosity, 3);
    for remote in &client.remotes {
        assert_eq!(remote.link.connect_timeout, seconds(10));
        assert_eq!(remote.link.bind, Bind::Unbound);
        let ControlKey::Crypt { key } = &remote.link.control_key else { panic!() };
        assert_eq!(&key.read().unwrap()[..], b"static\n");
    }
    assert_eq!(&common.tls.key.as_ref().unwrap().read().unwrap()[..], b"private\n");
}

/// In the style of commercial providers: many remotes, passwords, CBC, CRLF.
#[test]
fn provider() {
    let text = "client\ndev tun\nproto udp\nremote de1.vpn.example 1194\nremote de2.vpn.example 443\n\
         remote-random\nresolv-retry infinite\nnobind\ntun-mtu 1500\ntun-mtu-extra 32\nmssfix 1450\n\
         persist-key\npersist-tun\nping 15\nping-restart 0\nping-timer-rem\nreneg-sec 0\n\
         comp-lzo no\nremote-cert-tls server\nauth-user-pass\nverb 3\npull\nfast-io\n\
         cipher AES-256-CBC\nauth SHA512\nkey-direction 1\nscript-security 2\n\
         up /etc/openvpn/update-resolv-conf\ndown \"/etc/openvpn/update-resolv-conf --gone\"\n\
         <ca>\nauthority\n</ca>\n<tls-auth>\n#\n# 2048 bit\n#\nstatic\n</tls-auth>\n";
    let (unix, _) = client(text);
    let (dos, warnings) = client(&text.replace('\n', "\r\n"));
    assert!(warnings.iter().any(|text| text.starts_with("/etc/vpn/x.conf:10: tun-mtu-extra")));
    assert!(warnings.iter().any(|text| text.contains("data-ciphers-fallback AES-256-CBC")));
    assert_eq!(warnings.len(), 3, "{warnings:?}");

    let cbc = Cipher::Cbc { cipher: CbcCipher::Aes256, digest: Digest::Sha512 };
    assert_eq!(dos.common.data.cipher, Some(cbc));
    assert_eq!(dos.common.data.framing, Framing::Prefix);
    assert_eq!(dos.common.timing.ping, Some(seconds(15)));
    assert_eq!(dos.common.timing.ping_restart, None);
    assert_eq!(
        dos.common.hooks.up.as_deref(),
        Some(&["/etc/openvpn/update-resolv-conf".into()][..])
    );
    assert_eq!(dos.common.hooks.down.as_ref().unwrap()[1], "--gone");
    assert!(dos.remote_random && dos.common.timing.ping_timer_needs_peer);
    assert_eq!(dos.credentials, Some(Credentials::Ask));
    let remote = &dos.remotes[1];
    assert_eq!((remote.port, remote.link.mssfix), (443, MssFix::Payload(1450)));
    let ControlKey::Auth { direction, key } = &remote.link.control_key else { panic!() };
    assert_eq!(*direction, Some(Direction::Inverse));
    assert!(key.read().unwrap().ends_with(b"static\r\n"));
    assert_eq!(hosts(&unix), hosts(&dos));
}

/// In the style of a how-to: files next to the configuration, with relative paths.
#[test]
fn files_beside() {
    let text = "client\ndev tun\nproto tcp\nremote my-server-1 1194\n;remote my-server-2 1194\nnobind\n\
         user nobody\ngroup nogroup\npersist-key\npersist-tun\nca ca.crt\ncert client.crt\n\
         key keys/client.key\nremote-cert-tls server\ntls-auth ta.key 1\ncipher AES-256-GCM\nverb 3\n\
         auth-user-pass 'pass word.txt'\nmute 20\ncrl-verify /abs/crl.pem\n";
    let (one, warnings) = client(text);
    assert_eq!(warnings, [""; 0]);
    let file = |name: &str| Some(Material::File(PathBuf::from(name)));
    assert_eq!(one.common.tls.ca, file("/etc/vpn/ca.crt"));
    assert_eq!(one.common.tls.key, file("/etc/vpn/keys/client.key"));
    let crl = Revoked::List(Material::File("/abs/crl.pem".into()));
    assert_eq!(one.common.tls.revoked, Some(crl));
    let path = PathBuf::from("/etc/vpn/pass word.txt");
    assert_eq!(one.credentials, Some(Credentials::File(path)));
    assert_eq!(one.common.process.user.as_deref(), Some("nobody"));
    assert_eq!(one.common.log.mute, Some(20));
    assert_eq!(one.remotes[0].link.protocol.transport, Transport::Tcp);

    let (moved, _) = client(&format!("cd /keys\n{text}"));
    assert_eq!(moved.common.tls.ca, file("/keys/ca.crt"));
}

/// In the style of Access Server: forward compatible, with directives that only it uses.
#[test]
fn access_server() {
    let text = format!(
        "\u{FEFF}# Automatically generated profile\n# OVPN_ACCESS_SERVER_PROFILE=user@host\n\
         setenv FORWARD_COMPATIBLE 1\nclient\nserver-poll-timeout 4\nnobind\n\
         remote 192.0.2.7 1194 udp\nremote 192.0.2.7 443 tcp\ndev tun\ndev-type tun\n\
         remote-cert-tls server\ntls-version-min 1.2\nreneg-sec 604800\nsndbuf 0\nrcvbuf 0\n\
         auth-user-pass\nverb 3\npush-peer-info\nsetenv PUSH_PEER_INFO\nsetenv UV_ID abc\n\
         setenv opt tls-cert-profile preferred\nsetenv opt not-known-here 3\ncustom-thing 5\n{BLOCKS}\
         key-direction 1\n<tls-auth>\nstatic\n</tls-auth>\n## -----BEGIN RSA SIGNATURE-----\n"
    );
    let (client, warnings) = client(&text);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.iter().all(|text| text.contains("unknown, and ignored")));
    assert_eq!(client.common.hooks.environment, [("UV_ID".to_owned(), "abc".to_owned())]);
    assert_eq!(client.common.tls.certificate_profile, CertificateProfile::Preferred);
    assert_eq!(client.common.sockets.send_buffer, None);
    assert_eq!(client.common.timing.renegotiate_after, Some(seconds(604_800)));
}

#[test]
fn connections_inherit_the_settings_above_them() {
    let text = format!(
        "client\nnobind\ntun-mtu 1400\n<connection>\nremote a.example 1000 udp\n</connection>\n\
         connect-retry 5 60\n<connection>\nremote b.example\nproto tcp-client\nport 2000\n\
         explicit-exit-notify 2\nmssfix 0\n<tls-crypt>\nsecond\n</tls-crypt>\n</connection>\n\
         remote-cert-tls server\n{BLOCKS}"
    );
    let (client, warnings) = client(&text);
    assert_eq!(warnings, [""; 0]);
    assert_eq!(hosts(&client), [("a.example", 1000, "udp"), ("b.example", 2000, "tcp")]);
    let [a, b] = [&client.remotes[0].link, &client.remotes[1].link];
    assert_eq!(a.connect_retry, (seconds(1), seconds(300)));
    assert_eq!(b.connect_retry, (seconds(5), seconds(60)));
    assert_eq!((a.mssfix, b.mssfix), (MssFix::Inner(1400), MssFix::Off));
    assert_eq!((a.explicit_exit_notify, b.explicit_exit_notify), (0, 2));
    assert_eq!(a.control_key, ControlKey::Plain);
    assert!(matches!(&b.control_key, ControlKey::Crypt { .. }));
}

#[test]
fn passwords_in_the_file_are_never_shown() {
    let text = format!(
        "client\nremote h\n{BLOCKS}<auth-user-pass>\nalice\npass word \n</auth-user-pass>\n"
    );
    let (client, warnings) = client(&text);
    assert!(warnings[0].contains("remote-cert-tls server"), "{warnings:?}");
    let Some(Credentials::Inline { username, password }) = &client.credentials else { panic!() };
    assert_eq!((username.as_str(), password.as_ref().unwrap().as_str()), ("alice", "pass word "));
    let shown = format!("{client:?}");
    assert!(!shown.contains("alice") && !shown.contains("pass word") && !shown.contains("private"));
}

#[test]
fn routes_redirection_and_name_servers() {
    let text = format!(
        "client\nremote h\nremote-cert-tls server\n{BLOCKS}route 10.0.0.0 255.0.0.0\n\
         route 192.0.2.1 255.255.255.255 net_gateway 5\nroute intranet.example default vpn_gateway\n\
         route-ipv6 2001:db8::/32 default 7\nroute-ipv6 fd00::1/128 net_gateway_ipv6\n\
         redirect-gateway def1 ipv6 block-local\nroute-metric 50\nroute-delay 2 30\n\
         dhcp-option DNS 10.8.0.1\ndhcp-option DNS fd00::53\ndhcp-option DOMAIN-SEARCH a.example\n\
         dhcp-option DOMAIN example.org\ndhcp-option WINS 10.8.0.9\n\
         dns server 2 address 10.8.0.2:5353 [fd00::2]:53\ndns server -1 address 10.8.0.3\n\
         dns server 2 resolve-domains corp.example\ndns search-domains b.example c.example\n\
         block-outside-dns\nroute-nopull\npull-filter accept \"route 192.168.\"\n\
         pull-filter ignore route\npull-filter reject echo\nkill-switch\n"
    );
    let (client, warnings) = client(&text);
    assert_eq!(warnings, [""; 0]);
    let tunnel = &client.common.tunnel;
    let routes: Vec<_> =
        tunnel.routes.iter().map(|route| (route.gateway.clone(), route.metric)).collect();
    let expected =
        [(None, None), (Some(Target::NetGateway), Some(5)), (Some(Target::VpnGateway), None)];
    assert_eq!(routes, expected);
    assert_eq!(tunnel.routes[0].prefix, 8);
    assert_eq!(tunnel.routes[2].network, Target::Name("intranet.example".into()));
    assert_eq!(tunnel.routes[2].prefix, 32);
    assert_eq!((tunnel.routes_ipv6[0].prefix, tunnel.routes_ipv6[0].metric), (32, Some(7)));
    assert_eq!(tunnel.routes_ipv6[1].gateway, Some(Target::NetGateway));
    let redirect = tunnel.redirect.unwrap();
    assert!(redirect.ipv4 && redirect.ipv6 && redirect.def1 && redirect.block_local);
    assert!(!redirect.local && client.kill_switch);
    let addresses: [IpAddr; 2] = [Ipv4Addr::new(10, 8, 0, 1).into(), "fd00::53".parse().unwrap()];
    assert_eq!(tunnel.dns.addresses, addresses);
    assert_eq!(tunnel.dns.search, ["a.example", "b.example", "c.example"]);
    assert_eq!(tunnel.dns.other, [["WINS", "10.8.0.9"]]);
    let [first, second] = &tunnel.dns.servers[..] else { panic!() };
    assert_eq!((first.priority, first.addresses[0].port()), (-1, 0));
    assert_eq!(second.addresses[0], "10.8.0.2:5353".parse().unwrap());
    assert_eq!(second.resolve_domains, ["corp.example"]);

    // Filters apply first, then route-nopull; all other options are accepted.
    for (option, verdict) in [
        ("route 192.168.1.0 255.255.255.0", Verdict::Ignore),
        ("route 10.0.0.0 255.0.0.0", Verdict::Ignore),
        ("echo hello", Verdict::Reject),
        ("dhcp-option DNS 10.8.0.1", Verdict::Ignore),
        ("ping 10", Verdict::Accept),
    ] {
        assert_eq!(client.verdict(option), verdict, "{option}");
    }
}

#[test]
fn redirection_of_one_family() {
    let of = |line: &str| {
        let text = format!("client\nremote h\nremote-cert-tls server\n{BLOCKS}{line}\n");
        client(&text).0.common.tunnel.redirect.unwrap()
    };
    let families = |redirect: Redirect| (redirect.ipv4, redirect.ipv6);
    assert_eq!(families(of("redirect-gateway def1")), (true, false));
    assert_eq!(families(of("redirect-gateway ipv6 !ipv4")), (false, true));
    assert_eq!(families(of("redirect-private block-local")), (false, false));
}

#[test]
fn defaults_are_those_of_the_manual() {
    let (client, _) = client(&format!("client\nremote h\n{BLOCKS}"));
    let (link, common) = (&client.remotes[0].link, &client.common);
    assert_eq!((client.remotes[0].port, link.protocol.name()), (1194, "udp"));
    assert_eq!((link.tun_mtu, link.mssfix), (1500, MssFix::Packet(1492)));
    assert_eq!(link.connect_timeout, seconds(120));
    assert_eq!(
        common.data.ciphers,
        [Cipher::Aes256Gcm, Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305]
    );
    assert_eq!((common.data.digest, common.data.framing), (Digest::Sha1, Framing::None));
    assert_eq!(common.data.replay_window, 64);
    assert_eq!(common.timing.renegotiate_after, Some(seconds(3600)));
    assert_eq!(common.timing.hand_window, seconds(60));
    assert_eq!((common.log.verbosity, common.tunnel.topology), (1, Topology::Net30));
    assert_eq!(client.auth_retry, AuthRetry::None);
}

/// Forms that files of providers have.
#[test]
fn lines_of_provider_files() {
    let read = |lines: &str| {
        let text = format!(
            "client\ndev tun\nremote h\nauth-user-pass\nca [inline]\n<ca>\nx\n</ca>\n{lines}\n"
        );
        parse(Path::new("x.ovpn"), text.as_bytes()).unwrap()
    };
    let common = |lines: &str| read(lines).0.common().clone();
    for (line, framing, warns) in [
        ("comp-lzo", Framing::Prefix, true),
        ("comp-lzo no", Framing::Prefix, false),
        ("comp-lzo adaptive", Framing::Prefix, true),
        ("compress", Framing::Swap, false),
        ("compress stub", Framing::Swap, false),
        ("compress stub-v2", Framing::StubV2, false),
        ("compress lzo", Framing::Prefix, true),
        ("compress lz4", Framing::Swap, true),
        ("compress lz4-v2", Framing::StubV2, true),
        ("compress migrate", Framing::None, false),
    ] {
        let (profile, warnings) = read(line);
        assert_eq!(profile.common().data.framing, framing, "{line}");
        let warned = warnings.iter().any(|it| it.message.contains("never compressed"));
        assert_eq!(warned, warns, "{line}: {warnings:?}");
    }
    assert_eq!(common("ns-cert-type server").tls.peer_role, Some(Role::Server));
    assert!(common("auth none").data.ciphers.iter().all(|cipher| cipher.is_aead()));
    let tls = common("tls-cipher DEFAULT:@SECLEVEL=0\ntls-groups X25519MLKEM768:X25519").tls;
    assert_eq!((tls.cipher_suites_1_2.len(), tls.groups.len()), (6, 2));
    assert!(tls.cipher_suites_1_3.is_empty(), "tls-cipher does not concern TLS 1.3");
    let link = common("tls-auth [inline] 1\n<tls-auth>\nx\n</tls-auth>").link;
    assert!(matches!(
        link.control_key,
        ControlKey::Auth { direction: Some(Direction::Inverse), .. }
    ));
}

#[test]
fn small_fragments_cause_a_warning() {
    for (size, warns) in
        [("160", false), ("159", true), ("208 mtu", false), ("207 mtu", true), ("68 mtu", true)]
    {
        let (_, warnings) = client(&format!("client\nremote h\nfragment {size}\n{BLOCKS}"));
        let found = warnings.iter().any(|text| text.contains("32 datagrams"));
        assert_eq!(found, warns, "{size}: {warnings:?}");
    }
}
