//! Tunnels with OpenVPN 2.7, whose program `CYCLOID_OPENVPN_2_7` names. Debian has none, so the
//! tests are ignored: run them with `--ignored`.

use crate::test_bed::{Protection, Settings, TestBed, WITH_OPENVPN, Who};

fn settings() -> Settings {
    let openvpn = std::env::var("CYCLOID_OPENVPN_2_7");
    let openvpn = openvpn.expect("CYCLOID_OPENVPN_2_7 names OpenVPN 2.7's program");
    Settings { openvpn, ..Settings::default() }
}

#[test]
#[ignore = "needs OpenVPN 2.7, which Debian lacks, in CYCLOID_OPENVPN_2_7"]
fn data_keys_change_by_epochs() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        for tcp in [false, true] {
            for cipher in ["AES-256-GCM", "AES-128-GCM", "CHACHA20-POLY1305"] {
                let settings = Settings { tcp, cipher, ..settings() };
                let mut gate = bed.start(server, true, &settings);
                let mut alice = bed.start(client, false, &settings);
                let what = format!("{server:?} and {client:?}, {settings:?}");
                bed.assert_reaches(&what, [&mut gate, &mut alice]);
                let peer = if server == Who::OpenVpn { &gate } else { &alice };
                assert!(peer.text().contains("aead-epoch"), "{what}\n{}", peer.text());
            }
        }
    }
}

#[test]
#[ignore = "needs OpenVPN 2.7, which Debian lacks, in CYCLOID_OPENVPN_2_7"]
fn a_cipher_without_epochs_still_works() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        let settings = Settings { cipher: "AES-256-CBC", ..settings() };
        let mut gate = bed.start(server, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("AES-256-CBC", [&mut gate, &mut alice]);
        assert!(!gate.text().contains("aead-epoch") && !alice.text().contains("aead-epoch"));
    }
}

#[test]
#[ignore = "needs OpenVPN 2.7, which Debian lacks, in CYCLOID_OPENVPN_2_7"]
fn epochs_point_to_point() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        let settings = Settings { point_to_point: true, ..settings() };
        let mut gate = bed.launch(server, true, &settings);
        let mut alice = bed.start(client, false, &settings);
        bed.assert_reaches("point to point", [&mut gate, &mut alice]);
        let peer = if server == Who::OpenVpn { &gate } else { &alice };
        assert!(peer.text().contains("epoch=1"), "{}", peer.text());
    }
}

#[test]
#[ignore = "needs OpenVPN 2.7, which Debian lacks, in CYCLOID_OPENVPN_2_7"]
fn keys_with_epochs_are_renewed_and_no_packet_is_lost() {
    let bed = TestBed::new();
    for (server, client) in WITH_OPENVPN {
        let (both, protection) = ("reneg-sec 3".into(), Protection::TlsCryptV2);
        let settings = Settings { both, protection, ..settings() };
        let gate = bed.start(server, true, &settings);
        let alice = bed.start(client, false, &settings);
        bed.assert_loses_nothing_in_renewals(&format!("{server:?}"), [&gate, &alice]);
    }
}
