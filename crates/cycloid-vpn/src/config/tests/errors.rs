//! Tests of every kind of mistake, with its message and hint.

use super::{BLOCKS, outcome};

/// Client files with one bad line, and the expected message and hint.
#[test]
fn lines_of_clients() {
    for (line, message, hint) in [
        ("remot h", "unknown directive", "did you mean remote?"),
        ("frobnicate 1", "unknown directive", "ignore-unknown-option"),
        ("</ca>", "unknown directive", "no block"),
        ("lladdr 02:00:5e:10:00:01", "lladdr needs a TAP device", "dev tap"),
        ("dev tap\nlladdr 01:00:5e:10:00:01", "not the hardware address", "02:00"),
        ("dev tap\nlladdr 2:0:5e:10:0", "not the hardware address", "02:00"),
        ("dev tap0\nifconfig 10.8.0.1 10.8.0.2", "is not a netmask", "255.255.255.0"),
        ("dev this-name-is-too-long", "interface name", "1 to 15"),
        ("dev vpn0", "does not imply its type", "dev-type tun"),
        ("dev-type tup", "does not accept 'tup'", "tun, tap"),
        ("port 0", "'0' is not a number that port takes", "1 to 65535"),
        ("port 65536", "'65536' is not a number", "1 to 65535"),
        ("port 1 2", "port has 2 arguments", "takes 1; quote"),
        ("port", "port has 0 arguments", "takes 1"),
        ("remote h 1 udp x", "remote has 4 arguments", "1 to 3"),
        ("remote h 1 sctp", "unknown protocol 'sctp'", "udp4"),
        ("remote h 1 udp-client", "unknown protocol", "udp"),
        ("remote h 1 tcp-server", "cannot listen", "tcp-client"),
        ("remote 300.1.2.3", "neither an address nor a host name", "192.0.2.1"),
        ("remote 'a b'", "neither an address nor a host name", "192.0.2.1"),
        ("proto tcp-server", "cannot listen", "tcp-client"),
        ("<verb>\n3\n</verb>", "verb cannot be a block", "verb …"),
        ("<extra-certs>\nx", "not closed", "</extra-certs>"),
        ("ca \"x", "unclosed quote", "close it"),
        ("ca C:\\x", "backslash", r"\\"),
        ("extra-certs [inline]", "the file has no block <extra-certs>", "</extra-certs>"),
        ("tls-cipher DHE", "no supported cipher suite of TLS 1.2", "TLS-ECDHE-RSA"),
        ("tls-ciphersuites X", "unknown cipher suite of TLS 1.3 'X'", "TLS-AES-256"),
        ("tls-groups X25519:X", "unsupported key exchange group 'X'", "X25519MLKEM768"),
        (
            "<connection>\nverb 3\nremote h\n</connection>",
            "not allowed in a <connection>",
            "outside",
        ),
        ("<connection>\nport 3\n</connection>", "has no remote", "remote HOST"),
        ("connection x", "must be a block", "<connection>"),
        ("config", "file is missing", "config FILE"),
        ("cipher", "cipher has 0 arguments", "takes 1"),
        ("data-ciphers BF-CBC", "no cipher is left", "AES-256-GCM"),
        ("data-ciphers AES-256", "AES-256 is not supported", "AES-256-GCM"),
        ("data-ciphers ?BF-CBC", "no cipher is left", "AES-256-GCM"),
        ("auth SHA", "SHA is not supported", "SHA256"),
        ("auth MD5\ndata-ciphers AES-256-CBC", "need a digest", "SHA256"),
        ("auth none\ndata-ciphers AES-256-CBC", "need a digest", "SHA256"),
        ("auth none\ntls-auth ta.key", "need a digest", "tls-crypt"),
        ("comp-lzo maybe", "does not accept 'maybe'", "adaptive"),
        ("compress zstd", "does not accept 'zstd'", "lz4-v2"),
        ("proto tcp\nfragment 1300", "only over UDP", "proto udp"),
        ("fragment 67", "'67' is not", "68"),
        ("fragment 1300 fixed", "does not accept 'fixed'", "mtu"),
        ("secret static.key", "does not go with a static key", "certificates"),
        ("no-replay", "sent again", "remove"),
        ("plugin x.so", "not loaded", "hooks"),
        ("http-proxy p 8080", "carries TCP only", "proto tcp"),
        ("proto tcp\nhttp-proxy p 80 x ntlm", "NTLM is not supported", "auto"),
        ("proto tcp\nhttp-proxy p 80\nsocks-proxy p", "two proxies", "keep"),
        ("http-proxy-option EXT3 x", "unknown option 'EXT3'", "AGENT"),
        ("proto-force tcp", "no remote has the protocol", "remove"),
        ("pkcs12 x", "two certificates", "keep one"),
        ("<pkcs12>\n!\n</pkcs12>", "not Base64", "openssl base64"),
        ("ns-cert-type peer", "does not accept 'peer'", "server, client"),
        ("tls-version-min 1.4", "does not accept '1.4'", "1.2, 1.3"),
        ("tls-version-max 1.1", "TLS before 1.2", "remove"),
        ("tls-version-min 1.3\ntls-version-max 1.2", "no TLS version is left", "lower"),
        ("tls-crypt a\ntls-auth b", "two kinds of key", "keep the one"),
        ("tls-crypt-v2 a\ntls-crypt b", "two kinds of key", "keep the one"),
        ("key-direction 2", "does not accept '2'", "0, 1"),
        ("peer-fingerprint 00:11", "not a SHA-256 fingerprint", "openssl x509"),
        ("remote-cert-tls sever", "does not accept 'sever'", "server, client"),
        ("keepalive 10 15", "one lost packet", "twice"),
        ("tun-mtu 99", "'99' is not a number", "100 to 65535"),
        ("ifconfig-ipv6 fd00::1/129", "not an IPv6 network", "fd00:1::/64"),
        ("redirect-gateway def2", "unknown flag 'def2'", "def1"),
        ("dhcp-option DNS x", "name server", "10.8.0.1"),
        ("dns server 1 adress 10.0.0.1", "setting 'adress'", "address"),
        ("dns server 300 address 10.0.0.1", "'300'", "-128 to 127"),
        ("dns search-domains 'a b'", "not a domain", "example.org"),
        ("up x.sh", "forbids hooks", "script-security 2"),
        ("management /x unix\nmanagement-query-proxy", "proxies", "http-proxy"),
        ("metrics 80", "not ADDRESS:PORT", "127.0.0.1:9176"),
        ("setenv '' c", "the variable name is empty", "UV_NAME"),
        ("nobind\nlocal 192.0.2.1", "nobind contradicts", "remove nobind"),
        ("server 10.8.0.0 255.255.255.0", "both a client and a server", "keep"),
        ("iroute 10.0.0.0 255.0.0.0", "not allowed here", "client-config-dir"),
        ("verb \u{7}", "control character 0x07", "remove"),
        ("threads 0", "'0' is not a number", "1 to 256"),
        ("replay-window 0", "'0' is not a number", "1 to 65536"),
    ] {
        let text = format!("client\nremote h\n{line}\n{BLOCKS}");
        let Err(error) = outcome(&text) else { panic!("{line} is accepted") };
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
        ("client", "both a client and a server", "keep"),
        ("server 10.8.0.1 255.255.255.0", "outside its netmask", "10.8.0.0"),
        ("server 10.0.0.0 255.0.0.0", "8 to 65536", "255.255.0.0"),
        ("server-ipv6 fd00::/48", "not a valid server network", "/64"),
        ("server-ipv6 fd00::1/64", "not a valid server network", "/64"),
        ("ifconfig-pool 10.8.0.9 10.8.0.8", "1 to 65536", "lowest"),
        ("ifconfig-pool 10.8.0.8 10.8.0.9", "already defines", "nopool"),
        ("push 'route 1.1.1.1,ping 1'", "cannot be pushed", "comma"),
        ("ccd-exclusive", "would be refused", "client-config-dir"),
        (two, "anyone could connect", "auth-user-pass-verify"),
        ("username-as-common-name", "never asked for a password", "auth-user-pass-verify"),
        ("script-security 2\nauth-user-pass-verify x via-env", "environment", "via-file"),
        ("client-connect x", "forbids hooks", "script-security 2"),
        ("proto tcp-client", "cannot connect", "tcp-server"),
        ("port-share 127.0.0.1 80", "needs TCP", "tcp-server"),
        ("proto tcp\nport-share 127.0.0.1 0", "'0' is not a number", "1 to 65535"),
        ("stale-routes-check 0", "'0' is not a number", "from 1"),
        ("stale-routes-check 300 0", "'0' is not a number", "from 1"),
        ("server-bridge", "needs a TAP device", "dev tap"),
        ("dev tap\nserver-bridge", "does not go with `server`", "bridge networks"),
        ("server-bridge a b", "no, one or four", "10.8.0.128"),
        ("server-bridge 10.8.0.4 255.255.255.0 10.8.0.9 10.8.1.9", "is not in", "choose"),
        ("server-bridge 10.8.0.4 255.255.255.0 10.8.0.9 10.8.0.8", "1 to 65536", "lowest"),
        ("server-bridge gw", "does not accept", "nogw"),
        ("ifconfig-push-constraint 10.8.0.0 255.255.255.0", "not limited", "remove"),
        ("max-clients 0", "'0' is not a number", "1 to 16777214"),
        ("<connection>\nremote h\n</connection>", "connection is for a client", "remove"),
        ("auth-gen-token 1 2 3", "more than two times", "86400"),
    ] {
        let text = format!("server 10.8.0.0 255.255.255.0\n{line}\n{BLOCKS}");
        let Err(error) = outcome(&text) else { panic!("{line} is accepted") };
        assert!(error.message.contains(message), "{line}: {error}");
        assert!(error.hint.contains(hint), "{line}: {}", error.hint);
    }
}

#[test]
fn missing_settings_are_named() {
    let cut = |block: &str| {
        let (start, end) = (format!("<{block}>"), format!("</{block}>\n"));
        let (from, to) = (BLOCKS.find(&start).unwrap(), BLOCKS.find(&end).unwrap() + end.len());
        format!("{}{}", &BLOCKS[..from], &BLOCKS[to..])
    };
    let only_ca = BLOCKS.split_once("<cert>").unwrap().0;
    for (text, message) in [
        (String::new(), "neither a client nor a server"),
        ("dev tun\n".into(), "neither a client nor a server"),
        (format!("client\n{BLOCKS}"), "no server to connect to"),
        (format!("client\nremote h\n{}", cut("ca")), "no trusted peer"),
        (format!("client\nremote h\n{}", cut("key")), "the certificate has no key"),
        (format!("client\nremote h\n{}", cut("cert")), "the key has no certificate"),
        (format!("client\nremote h\n{only_ca}"), "no certificate and no password"),
        (format!("server 10.8.0.0 255.255.255.0\n{only_ca}"), "needs a certificate and a key"),
        (format!("tls-server\nduplicate-cn\n{BLOCKS}"), "a server for many clients"),
        (format!("tls-server\nverify-client-cert none\n{BLOCKS}"), "a server for many clients"),
        (format!("tls-server\nmanagement-client-auth\n{BLOCKS}"), "a server for many clients"),
        (format!("tls-server\nredirect-gateway def1\n{BLOCKS}"), "address is unknown"),
        (format!("tls-client\nremote h\nauth-user-pass\n{BLOCKS}"), "asks for a password"),
    ] {
        let error = outcome(&text).unwrap_err();
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(!error.hint.is_empty());
    }
}

#[test]
fn errors_have_file_and_line() {
    let error = outcome("client\n\n# x\r\n  port   'a b' \r\n").unwrap_err();
    let text = "/etc/vpn/x.conf:4: 'a b' is not a number that port takes: `port \"a b\"`";
    assert_eq!(error.to_string(), text);
    // In a block, the line number is that in the file.
    let error = outcome("client\n<connection>\nremote h\nport x\n</connection>\n").unwrap_err();
    assert_eq!((error.line, error.text.as_str()), (4, "port x"));
}

#[test]
fn ignore_unknown_option_allows_unknown_directives() {
    let text = format!("client\nremote h\nremote-cert-tls server\n{BLOCKS}");
    let allowed = format!("ignore-unknown-option blocky other\nblocky 1\nblocky 2\n{text}");
    let (_, warnings) = outcome(&allowed).unwrap();
    assert_eq!(warnings.len(), 1, "expected one warning: {warnings:?}");
    assert!(outcome(&format!("blocky 1\nignore-unknown-option blocky\n{text}")).is_err());
}

#[test]
fn warnings_are_not_repeated() {
    let text = format!("client\nremote h\nremote-cert-tls server\n{BLOCKS}");
    let (_, warnings) = outcome(&format!("{text}tun-ipv6\ntun-ipv6\n")).unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].to_string().ends_with("tun-ipv6 is ignored: the tunnel always carries IPv6")
    );
}
