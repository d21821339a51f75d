//! Each kind of mistake, with what is said about it.

use super::{BLOCKS, outcome};

/// Files of a client with a line in it, and what the message and the hint say.
#[test]
fn lines_of_clients() {
    for (line, message, hint) in [
        ("remot h", "no such directive", "did you mean remote?"),
        ("frobnicate 1", "no such directive", "ignore-unknown-option"),
        ("</ca>", "no such directive", "not opened"),
        ("dev tap0", "TAP devices are not supported", "dev tun"),
        ("dev this-name-is-too-long", "interface's name", "1 to 15"),
        ("dev vpn0", "what device it is", "dev-type tun"),
        ("dev-type tap", "TAP devices are not supported", "dev tun"),
        ("port 0", "'0' is not a number that port takes", "1 to 65535"),
        ("port 65536", "'65536' is not a number", "1 to 65535"),
        ("port 1 2", "port has 2 arguments", "takes 1; quotes"),
        ("port", "port has 0 arguments", "takes 1"),
        ("remote h 1 udp x", "remote has 4 arguments", "1 to 3"),
        ("remote h 1 sctp", "no protocol 'sctp'", "udp4"),
        ("remote h 1 udp-client", "no protocol", "udp"),
        ("remote h 1 tcp-server", "does not listen", "tcp-client"),
        ("remote 300.1.2.3", "neither an address nor a host's name", "192.0.2.1"),
        ("remote 'a b'", "neither an address nor a host's name", "192.0.2.1"),
        ("proto tcp-server", "does not listen", "tcp-client"),
        ("<verb>\n3\n</verb>", "verb takes no block", "verb …"),
        ("<extra-certs>\nx", "no end", "</extra-certs>"),
        ("ca \"x", "no end", "close it"),
        ("ca C:\\x", "backslash", r"\\"),
        ("ca [inline]", "`[inline]` is no file", "<ca>"),
        ("<connection>\nverb 3\nremote h\n</connection>", "not stand in a <connection>", "outside"),
        ("<connection>\nport 3\n</connection>", "no remote is in it", "remote HOST"),
        ("connection x", "a connection is a block", "<connection>"),
        ("config", "no file is named", "config FILE"),
        ("cipher", "cipher has 0 arguments", "takes 1"),
        ("data-ciphers BF-CBC", "BF-CBC is not supported", "AES-256-GCM"),
        ("data-ciphers ?BF-CBC", "no cipher is left", "AES-256-GCM"),
        ("auth MD5", "MD5", "SHA256"),
        ("comp-lzo", "VORACLE", "stub-v2"),
        ("compress lz4-v2", "VORACLE", "stub-v2"),
        ("fragment 1300", "not divided", "mssfix"),
        ("secret static.key", "static key", "pki init"),
        ("no-replay", "sent again", "remove"),
        ("pkcs12 x.p12", "PKCS #12", "openssl pkcs12"),
        ("plugin x.so", "not loaded", "hooks"),
        ("http-proxy p 8080", "not supported", "directly"),
        ("ns-cert-type server", "Netscape", "remote-cert-tls"),
        ("tls-version-min 1.4", "no '1.4'", "1.2, 1.3"),
        ("tls-version-max 1.1", "no '1.1'", "1.2, 1.3"),
        ("tls-version-min 1.3\ntls-version-max 1.2", "no version of TLS is left", "lower"),
        ("tls-crypt a\ntls-auth b", "keys of two kinds", "keep one"),
        ("tls-crypt-v2 a\ntls-crypt b", "keys of two kinds", "keep one"),
        ("key-direction 2", "no '2'", "0, 1"),
        ("peer-fingerprint 00:11", "no SHA-256 fingerprint", "openssl x509"),
        ("remote-cert-tls sever", "no 'sever'", "server, client"),
        ("keepalive 10 15", "one lost packet", "twice"),
        ("mssfix 20", "20 bytes hold no packet", "100"),
        ("tun-mtu 99", "'99' is not a number", "100 to 65535"),
        ("route 10.0.0.0 255.0.255.0", "no netmask", "255.255.255.0"),
        ("route 10.0.0.1 255.0.0.0", "its netmask takes away", "10.0.0.0"),
        ("route-ipv6 fd00::/129", "no IPv6 network", "fd00:1::/64"),
        ("redirect-gateway def2", "no flag 'def2'", "def1"),
        ("dhcp-option DNS x", "name server", "10.8.0.1"),
        ("dns server 1 adress 10.0.0.1", "no 'adress'", "address"),
        ("dns server 300 address 10.0.0.1", "'300'", "-128 to 127"),
        ("dns search-domains 'a b'", "no domain", "example.org"),
        ("up x.sh", "hooks may not be run", "script-security 2"),
        ("management /x unix\nmanagement-query-proxy", "proxies", "remove"),
        ("metrics 80", "no address and port", "127.0.0.1:9176"),
        ("setenv 'a=b' c", "no variable's name", "underscores"),
        ("nobind\nlocal 192.0.2.1", "an address is named", "remove nobind"),
        ("push \"ping 10\"", "push is for a server", "remove"),
        ("max-clients 5", "max-clients is for a server", "remove"),
        ("server 10.8.0.0 255.255.255.0", "client's and a server's at once", "keep"),
        ("iroute 10.0.0.0 255.0.0.0", "may not stand here", "client-config-dir"),
        ("verb \u{7}", "control character, 0x07", "remove"),
        ("threads 0", "'0' is not a number", "1 to 256"),
        ("replay-window 0", "'0' is not a number", "1 to 65536"),
    ] {
        let text = format!("client\nremote h\n{line}\n{BLOCKS}");
        let Err(error) = outcome(&text) else { panic!("{line} is taken") };
        assert!(error.message.contains(message), "{line}: {error}");
        assert!(error.hint.contains(hint), "{line}: {}", error.hint);
        assert!(!error.to_string().contains("private"), "{error}");
    }
}

#[test]
fn lines_of_servers() {
    let two = "verify-client-cert none";
    for (line, message, hint) in [
        ("remote h", "remote is for a client", "remove"),
        ("nobind", "nobind is for a client", "remove"),
        ("client", "at once", "keep"),
        ("server 10.8.0.1 255.255.255.0", "takes away", "10.8.0.0"),
        ("server 10.0.0.0 255.0.0.0", "8 to 65536", "255.255.0.0"),
        ("server-ipv6 fd00::/48", "no network for a server", "/64"),
        ("server-ipv6 fd00::1/64", "no network for a server", "/64"),
        ("ifconfig-pool 10.8.0.9 10.8.0.8", "1 to 65536", "lowest"),
        ("ifconfig-pool 10.8.0.8 10.8.0.9", "there already", "nopool"),
        ("push 'route 1.1.1.1,ping 1'", "cannot be pushed", "comma"),
        ("ccd-exclusive", "nobody could come in", "client-config-dir"),
        (two, "anybody would be let in", "auth-user-pass-verify"),
        ("auth-gen-token", "ever asked for a password", "auth-user-pass-verify"),
        ("username-as-common-name", "ever asked for a password", "auth-user-pass-verify"),
        ("script-security 2\nauth-user-pass-verify x via-env", "environment", "via-file"),
        ("client-connect x", "hooks may not be run", "script-security 2"),
        ("proto tcp-client", "does not connect", "tcp-server"),
        ("port-share 127.0.0.1 80", "not shared", "of its own"),
        ("server-bridge", "TAP", "server"),
        ("max-clients 0", "'0' is not a number", "1 to 16777214"),
        ("<connection>\nremote h\n</connection>", "connection is for a client", "remove"),
        ("auth-gen-token 1 2 3", "two times at most", "86400"),
    ] {
        let text = format!("server 10.8.0.0 255.255.255.0\n{line}\n{BLOCKS}");
        let Err(error) = outcome(&text) else { panic!("{line} is taken") };
        assert!(error.message.contains(message), "{line}: {error}");
        assert!(error.hint.contains(hint), "{line}: {}", error.hint);
    }
}

#[test]
fn what_is_missing() {
    let cut = |block: &str| {
        let (start, end) = (format!("<{block}>"), format!("</{block}>\n"));
        let (from, to) = (BLOCKS.find(&start).unwrap(), BLOCKS.find(&end).unwrap() + end.len());
        format!("{}{}", &BLOCKS[..from], &BLOCKS[to..])
    };
    let only_ca = BLOCKS.split_once("<cert>").unwrap().0;
    for (text, message) in [
        (String::new(), "neither a client's nor a server's"),
        ("dev tun\n".into(), "neither a client's nor a server's"),
        (format!("client\n{BLOCKS}"), "no server is named"),
        (format!("client\nremote h\n{}", cut("ca")), "which peer to trust"),
        (format!("client\nremote h\n{}", cut("key")), "no key is named for the certificate"),
        (format!("client\nremote h\n{}", cut("cert")), "no certificate is named for the key"),
        (format!("client\nremote h\n{only_ca}"), "nothing says who the client is"),
        (format!("server 10.8.0.0 255.255.255.0\n{only_ca}"), "needs a certificate and a key"),
        (format!("tls-server\npush \"ping 1\"\n{BLOCKS}"), "for a server of many"),
        (format!("tls-server\nverify-client-cert none\n{BLOCKS}"), "for a server of many"),
        (format!("tls-server\nmanagement-client-auth\n{BLOCKS}"), "for a server of many"),
        (format!("tls-server\nredirect-gateway def1\n{BLOCKS}"), "where the peer is"),
        (format!("tls-client\nremote h\nauth-user-pass\n{BLOCKS}"), "asks for a password"),
        (format!("tls-server\nserver-ipv6 fd00::/64\n{BLOCKS}"), "there is one peer only"),
    ] {
        let error = outcome(&text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(!error.hint.is_empty());
    }
}

#[test]
fn an_error_says_where_it_is() {
    let error = outcome("client\n\n# x\r\n  port   'a b' \r\n").unwrap_err();
    let text = "/etc/vpn/x.conf:4: 'a b' is not a number that port takes: `port \"a b\"`";
    assert_eq!(error.to_string(), text);
    // In a block, by the line of the file.
    let error = outcome("client\n<connection>\nremote h\nport x\n</connection>\n").unwrap_err();
    assert_eq!((error.line, error.text.as_str()), (4, "port x"));
}

#[test]
fn unknown_directives_by_permission() {
    let text = format!("client\nremote h\nremote-cert-tls server\n{BLOCKS}");
    let allowed = format!("ignore-unknown-option blocky other\nblocky 1\nblocky 2\n{text}");
    let (_, warnings) = outcome(&allowed).unwrap();
    assert_eq!(warnings.len(), 1, "once is enough: {warnings:?}");
    assert!(outcome(&format!("blocky 1\nignore-unknown-option blocky\n{text}")).is_err());
}

#[test]
fn a_warning_comes_once() {
    let text = format!("client\nremote h\nremote-cert-tls server\n{BLOCKS}");
    let (_, warnings) = outcome(&format!("{text}tun-ipv6\ntun-ipv6\n")).unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0]
            .to_string()
            .ends_with("tun-ipv6 is passed over: the tunnel always carries IPv6")
    );
}
