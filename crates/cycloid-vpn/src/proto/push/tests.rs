use proptest::prelude::*;

use super::*;

fn read(options: &str) -> Result<PushReply, Error> {
    PushParser::default().take(options).map(|reply| reply.expect("one message"))
}

/// Encodes a reply and parses its messages.
fn again(reply: &PushReply) -> PushReply {
    let texts = reply.to_texts();
    let mut parser = PushParser::default();
    for (at, text) in texts.iter().enumerate() {
        assert!(text.len() <= MAX_MESSAGE);
        let options = text.strip_prefix(COMMAND).expect("a push reply");
        let reply = parser.take(options.strip_prefix(',').unwrap_or(options));
        if let Some(reply) = reply.expect("well-formed") {
            assert_eq!(at, texts.len() - 1);
            return reply;
        }
    }
    panic!("the last message ends the reply");
}

fn full() -> PushReply {
    PushReply {
        ifconfig: Some(([10, 8, 0, 2].into(), [255, 255, 255, 0].into())),
        ifconfig_ipv6: Some(("fd00::2".parse().unwrap(), 64, "fd00::1".parse().ok())),
        tun_mtu: Some(1400),
        peer_id: Some(7),
        cipher: Some("AES-256-GCM".into()),
        protocol: Protocol {
            cc_exit: true,
            tls_ekm: true,
            dynamic_tls_crypt: true,
            aead_epoch: false,
        },
        framing: Some(Framing::StubV2),
        compresses: false,
        ping: Some(10),
        ping_restart: Some(60),
        ping_exit: Some(70),
        inactive: Some((600, 1 << 40)),
        session_timeout: Some(3600),
        explicit_exit_notify: Some(1),
        auth_token: Some(Zeroizing::new("SESS_ID_AT_xyz==".into())),
        auth_token_user: Some("jörg".into()),
        options: vec!["route 10.0.0.0 255.0.0.0".into(), "topology subnet".into()],
    }
}

/// The reply of OpenVPN 2.6.14 to its own client with `server 10.8.0.0 255.255.255.0`.
#[test]
fn a_reply_of_openvpn() {
    let reply = read(
        "route-gateway 10.8.0.1,topology subnet,ping 10,ping-restart 60,\
         ifconfig 10.8.0.2 255.255.255.0,peer-id 0,cipher AES-256-GCM,\
         protocol-flags cc-exit tls-ekm dyn-tls-crypt,tun-mtu 1500",
    )
    .expect("well-formed");
    assert_eq!(reply.options(), ["route-gateway 10.8.0.1", "topology subnet"]);
    assert_eq!((reply.ping, reply.ping_restart), (Some(10), Some(60)));
    assert_eq!(reply.ifconfig, full().ifconfig);
    assert_eq!(reply.peer_id, Some(0));
    assert_eq!(reply.cipher.as_deref(), Some("AES-256-GCM"));
    assert_eq!(reply.protocol, full().protocol);
    assert_eq!(reply.tun_mtu, Some(1500));
}

#[test]
fn replies_round_trip() {
    assert_eq!(again(&full()), full());
    assert_eq!(again(&PushReply::default()), PushReply::default());
    assert_eq!(PushReply::default().to_texts()[0].as_str(), "PUSH_REPLY");
    let exporter = Protocol { tls_ekm: true, ..Protocol::default() };
    let reply = PushReply { protocol: exporter, ..PushReply::default() };
    assert_eq!(reply.to_texts()[0].as_str(), "PUSH_REPLY,key-derivation tls-ekm");
    assert_eq!(again(&reply), reply);
}

#[test]
fn long_replies_are_split_into_messages() {
    let mut reply = full();
    for net in 0..200 {
        reply.add(&format!("route 10.{net}.0.0 255.255.0.0")).expect("an option");
    }
    assert!(reply.to_texts().len() > 5);
    assert_eq!(again(&reply), reply);
}

#[test]
fn every_typed_option_is_parsed() {
    for name in TYPED {
        let _ = PushReply::default().read_typed(name, &["x"]);
    }
}

#[test]
fn malformed_options_are_errors() {
    for option in [
        "ping",
        "ping x",
        "ping -1",
        "ping-restart 99999999999",
        "tun-mtu 99",
        "tun-mtu 65536",
        "peer-id 16777215",
        "peer-id -1",
        "cipher",
        "ifconfig 10.8.0.2",
        "ifconfig 10.8.0.256 255.255.255.0",
        "ifconfig-ipv6 fd00::2",
        "ifconfig-ipv6 fd00::2/129",
        "ifconfig-ipv6 fd00::2/64 x",
        "inactive 1 x",
        "compress zstd",
        "comp-lzo maybe",
        "protocol-flags cc-exit unheard-of",
        "key-derivation x",
        "auth-token",
        "auth-token-user *",
        "auth-token-user G1sySg==",
    ] {
        let name = option.split(' ').next().expect("a name");
        let error = read(&format!("route 10.0.0.0,{option}")).expect_err(option);
        assert!(matches!(error, Error::Push(said) if said == name), "{option}: {error:?}");
    }
    assert_eq!(read("push-continuation 3"), Err(Error::Push("push-continuation")));
}

#[test]
fn options_with_separators_are_rejected() {
    let mut reply = PushReply::default();
    let long = "x".repeat(MAX_OPTION + 1);
    for option in ["route 10.0.0.0,cipher none", "echo a\nb", "echo a\0", &long] {
        assert_eq!(reply.add(option), Err(Error::Push("option")), "{option}");
    }
    assert_eq!(reply.add("ping 7"), Ok(()));
    assert_eq!(reply.add("ping x"), Err(Error::Push("ping")));
    assert_eq!((reply.ping, reply.options()), (Some(7), &[][..]));
}

#[test]
fn replies_without_an_end_are_refused() {
    let mut parser = PushParser::default();
    let piece = format!("{},push-continuation 2", ["route 10.0.0.0"; 60].join(","));
    let refused = (0..1000).find_map(|_| parser.take(&piece).err());
    assert_eq!(refused, Some(Error::Push("push-continuation")));
    assert_eq!(
        parser.take("ping 1"),
        Ok(Some(PushReply { ping: Some(1), ..PushReply::default() }))
    );
}

#[test]
fn a_filter_ignores_and_rejects_options() {
    let mut parser = PushParser::default();
    let keep = |option: &str| match option {
        "redirect-gateway def1" => Err(Error::Incompatible("not wanted".into())),
        _ => Ok(!option.starts_with("route")),
    };
    let reply = parser.take_if("route 10.0.0.0,topology subnet", keep).expect("taken");
    assert_eq!(reply.expect("whole").options(), ["topology subnet"]);
    assert!(parser.take_if("redirect-gateway def1", keep).is_err());
}

#[test]
fn debug_shows_no_token() {
    assert!(!format!("{:?}", full()).contains("SESS_ID"));
}

proptest! {
    #[test]
    fn nothing_panics(
        name in prop_oneof![prop::sample::select(&TYPED[..]), Just("push-continuation")],
        rest in "\\PC{0,30}",
        mut pieces in proptest::collection::vec("[a-z0-9./ ,-]{0,20}", 0..4),
    ) {
        pieces.push(format!("{name} {rest}"));
        let mut parser = PushParser::default();
        for piece in pieces {
            if let Ok(Some(reply)) = parser.take(&piece) {
                // This end never compresses, so it does not push that.
                prop_assert_eq!(again(&reply), PushReply { compresses: false, ..reply });
            }
        }
    }
}

#[test]
fn a_server_that_compresses_is_recognised() {
    for (option, framing, compresses) in [
        ("comp-lzo", Framing::Prefix, true),
        ("comp-lzo yes", Framing::Prefix, true),
        ("comp-lzo adaptive", Framing::Prefix, true),
        ("comp-lzo no", Framing::Prefix, false),
        ("compress lzo", Framing::Prefix, true),
        ("compress lz4", Framing::Swap, true),
        ("compress lz4-v2", Framing::StubV2, true),
        ("compress stub-v2", Framing::StubV2, false),
    ] {
        let reply = read(option).expect(option);
        assert_eq!((reply.framing, reply.compresses), (Some(framing), compresses), "{option}");
        // A server here does not push it.
        let mut own = PushReply::default();
        assert_eq!(own.add(option).is_err(), compresses, "{option}");
    }
}
