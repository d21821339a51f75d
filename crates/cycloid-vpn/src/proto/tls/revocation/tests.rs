//! Tests of chains with an intermediate authority, checked by a client and by a server.

mod draft;

use std::fs;
use std::process::Command;
use std::time::Duration;

use rcgen::{CrlDistributionPoint, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::client::danger::ServerCertVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateRevocationListDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;

use super::super::identity::fingerprint;
use super::super::reasons::in_words;
use super::super::verifier::{PeerRules, Usage, Verifier};
use super::{RevocationList, RevokedSerials};
use crate::proto::Role;
use draft::{Authority, Certificate, Draft, entry, extension, tlv};

/// 1 November 2026.
const NOW: u64 = 1_793_491_200;

/// Returns the verdict of a client and of a server about this chain, which must be equal.
#[track_caller]
fn judge(rules: &PeerRules, chain: &[&Certificate]) -> Result<(), String> {
    let (peer, above) = chain.split_first().unwrap();
    let above: Vec<_> = above.iter().map(|&it| it.clone()).collect();
    let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW));
    let verifier = |role| Verifier::new(role, rules.clone()).unwrap();
    let name = ServerName::try_from("openvpn.invalid").unwrap();
    let server = verifier(Role::Client).verify_server_cert(peer, &above, &name, b"", now);
    let client = verifier(Role::Server).verify_client_cert(peer, &above, now);
    let server = server.map(drop).map_err(|error| in_words(&error));
    let client = client.map(drop).map_err(|error| in_words(&error));
    assert_eq!(server, client);
    server
}

#[track_caller]
fn refused(rules: &PeerRules, chain: &[&Certificate], why: &str) {
    let reason = judge(rules, chain).expect_err("the chain must be refused");
    assert!(reason.contains(why), "{reason}");
}

#[track_caller]
fn accepted(rules: &PeerRules, chain: &[&Certificate]) {
    assert_eq!(judge(rules, chain), Ok(()));
}

/// A root, an intermediate authority, and a peer below it.
struct Chain {
    root: Authority,
    middle: Authority,
    peer: Certificate,
}

const MIDDLE: u64 = 5;
const PEER: u64 = 0x00c0_ffee;

impl Chain {
    fn new() -> Self {
        let root = Authority::root("root", 1);
        let middle = root.below("middle", MIDDLE, |_| ());
        let peer = middle.issue(PEER, |_| ());
        Self { root, middle, peer }
    }

    fn rules(&self, lists: &[RevocationList]) -> PeerRules {
        PeerRules {
            authorities: vec![self.root.certificate()],
            revocation: lists.to_vec(),
            usage: Usage::Required,
            ..PeerRules::default()
        }
    }

    #[track_caller]
    fn refused(&self, lists: &[RevocationList], why: &str) {
        refused(&self.rules(lists), &[&self.peer, self.middle.0.der()], why);
    }

    #[track_caller]
    fn accepted(&self, lists: &[RevocationList]) {
        accepted(&self.rules(lists), &[&self.peer, self.middle.0.der()]);
    }
}

const REVOKED_ABOVE: &str = "the authority above it, CN=middle, is revoked";
const REVOKED: &str = "the peer's certificate is revoked";
const NO_LIST: &str = "no revocation list of its authority CN=middle";

#[test]
fn a_revoked_authority_invalidates_its_peers() {
    let chain = Chain::new();
    let Chain { root, middle, peer } = &chain;
    chain.accepted(&[]);
    chain.accepted(&[root.list(&[99]), middle.list(&[MIDDLE])]);
    chain.refused(&[root.list(&[99, MIDDLE]), middle.list(&[])], REVOKED_ABOVE);
    chain.refused(&[middle.list(&[PEER]), root.list(&[MIDDLE])], REVOKED_ABOVE);
    chain.refused(&[root.list(&[MIDDLE])], REVOKED_ABOVE);
    // Listing the intermediate in `ca` does not help.
    for authorities in
        [[root.certificate(), middle.certificate()], [middle.certificate(), root.certificate()]]
    {
        let rules = |lists: &[RevocationList]| PeerRules {
            authorities: authorities.to_vec(),
            ..chain.rules(lists)
        };
        let middle_der = middle.certificate();
        for given in [&[peer][..], &[peer, &middle_der], &[peer, root.0.der(), &middle_der]] {
            accepted(&rules(&[root.list(&[]), middle.list(&[])]), given);
            refused(&rules(&[root.list(&[MIDDLE]), middle.list(&[])]), given, REVOKED_ABOVE);
        }
    }
}

#[test]
fn a_peer_of_another_authority_is_refused_in_words() {
    const UNKNOWN: &str = "no authority of `ca` has issued the peer's certificate";
    let chain = Chain::new();
    // One has another name; the other one the same name, with another key.
    for other in ["other", "root"].map(|name| Authority::root(name, 1)) {
        let rules = PeerRules { authorities: vec![other.certificate()], ..chain.rules(&[]) };
        refused(&rules, &[&chain.peer, chain.middle.0.der()], UNKNOWN);
    }
}

#[test]
fn a_revoked_peer_below_an_authority_is_refused() {
    let chain = Chain::new();
    let Chain { root, middle, .. } = &chain;
    chain.refused(&[root.list(&[]), middle.list(&[1, PEER, 2])], REVOKED);
    chain.accepted(&[root.list(&[PEER]), middle.list(&[PEER - 1, PEER + 1])]);
}

#[test]
fn only_the_peers_own_authority_must_have_a_list() {
    let chain = Chain::new();
    let other = Authority::root("other", 1);
    chain.accepted(&[chain.middle.list(&[])]);
    chain.refused(&[chain.root.list(&[])], NO_LIST);
    chain.refused(&[other.list(&[])], NO_LIST);
    chain.accepted(&[other.list(&[MIDDLE, PEER]), chain.middle.list(&[])]);
}

#[test]
fn a_list_must_be_in_force() {
    let chain = Chain::new();
    let Chain { root, middle, .. } = &chain;
    let [good_root, good_middle] = [root, middle].map(|authority| authority.list(&[]));
    let old = |authority| Draft::of(authority).updated("250101000000Z", Some("261031235959Z"));
    let early = |authority| Draft::of(authority).updated("261101000001Z", Some("350101000000Z"));
    let endless = |authority| Draft::of(authority).updated("261101000000Z", None);
    let last = |authority| Draft::of(authority).updated("250101000000Z", Some("261101000000Z"));
    for (lists, why) in [
        ([good_root.clone(), old(middle).list()], "of its authority CN=middle has expired"),
        ([old(root).list(), good_middle.clone()], "of its authority CN=root has expired"),
        ([good_root, early(middle).list()], "of its authority CN=middle is not valid yet"),
        ([early(root).list(), good_middle], "of its authority CN=root is not valid yet"),
    ] {
        chain.refused(&lists, why);
    }
    chain.accepted(&[endless(root).list(), last(middle).list()]);
    chain.refused(&[endless(root).revoking(&[MIDDLE]).list(), last(middle).list()], REVOKED_ABOVE);
    // An expired list next to a valid one has no effect.
    chain.accepted(&[old(middle).revoking(&[PEER]).list(), middle.list(&[])]);
}

#[test]
fn the_newer_of_two_lists_applies() {
    let chain = Chain::new();
    let newer = |serials: &[u64]| {
        Draft::of(&chain.middle)
            .updated("260601000000Z", Some("350101000000Z"))
            .revoking(serials)
            .list()
    };
    let older = |serials: &[u64]| chain.middle.list(serials);
    chain.refused(&[newer(&[PEER]), older(&[])], REVOKED);
    chain.refused(&[older(&[]), newer(&[PEER])], REVOKED);
    chain.accepted(&[older(&[PEER]), newer(&[])]);
    chain.accepted(&[newer(&[]), older(&[PEER])]);
    chain.refused(&[older(&[]), older(&[PEER])], REVOKED);
}

#[test]
fn a_list_signed_by_another_key_is_ignored() {
    let chain = Chain::new();
    let Chain { root, middle, .. } = &chain;
    let forged = |authority, signer| Draft::of(authority).signed_by(signer).list();
    let unsigned = "is not signed by that authority's key";
    chain.refused(&[forged(middle, root)], unsigned);
    chain.refused(&[forged(root, middle), middle.list(&[])], unsigned);
    // It has no effect next to a valid list either.
    let forged = Draft::of(middle).signed_by(root).revoking(&[PEER]).list();
    chain.accepted(&[forged, middle.list(&[])]);
}

#[test]
fn authorities_with_the_same_name_have_separate_lists() {
    let [one, two] = [1, 2].map(|serial| Authority::root("root", serial));
    let peers = [&one, &two].map(|root| root.issue(PEER, |_| ()));
    for version_1 in [false, true] {
        let list = |authority, serials: &[u64]| {
            let draft = Draft::of(authority).revoking(serials);
            if version_1 { draft.of_version_1().list() } else { draft.list() }
        };
        let lists = [list(&one, &[]), list(&two, &[PEER])];
        for lists in [lists.to_vec(), lists.iter().rev().cloned().collect()] {
            let rules = PeerRules {
                authorities: vec![one.certificate(), two.certificate()],
                revocation: lists,
                ..PeerRules::default()
            };
            accepted(&rules, &[&peers[0]]);
            refused(&rules, &[&peers[1]], REVOKED);
        }
    }
    // A key identifier in the list tells which of the two authorities it is for.
    let key = anchor_key_identifier(&one);
    let named = Draft::of(&one).with(extension(35, false, &tlv(0x30, &[&tlv(0x80, &[&key])])));
    let rules = |list| PeerRules {
        authorities: vec![two.certificate()],
        revocation: vec![list],
        ..PeerRules::default()
    };
    refused(&rules(named.list()), &[&peers[1]], "no revocation list");
    refused(&rules(one.list(&[])), &[&peers[1]], "is not signed by");
}

fn anchor_key_identifier(authority: &Authority) -> Vec<u8> {
    super::Link::of(authority.0.der()).unwrap().key_identifier.expect("rcgen writes one")
}

#[test]
fn names_match_despite_case_and_spaces() {
    let root = Authority::root("Acme  Root", 1);
    let respelt = Authority::root("ACME root", 1);
    let peer = root.issue(PEER, |_| ());
    let list = Draft::of(&respelt).signed_by(&root).revoking(&[PEER]).list();
    let rules = PeerRules {
        authorities: vec![root.certificate()],
        revocation: vec![list],
        ..PeerRules::default()
    };
    refused(&rules, &[&peer], REVOKED);
}

#[test]
fn a_root_is_checked_too() {
    let chain = Chain::new();
    let Chain { root, middle, peer } = &chain;
    let lists = [root.list(&[MIDDLE]), middle.list(&[])];
    let given = [peer, middle.0.der(), root.0.der()];
    refused(&chain.rules(&lists), &given, REVOKED_ABOVE);
    accepted(&chain.rules(&[root.list(&[]), middle.list(&[])]), &given);
    // A root that revoked itself.
    let lists = [root.list(&[1]), middle.list(&[])];
    refused(&chain.rules(&lists), &given, "its authority CN=root is revoked");
}

#[test]
fn an_anchor_that_is_not_a_root_is_checked_by_name() {
    let chain = Chain::new();
    let Chain { root, middle, peer } = &chain;
    let rules = |lists: &[RevocationList]| PeerRules {
        authorities: vec![middle.certificate()],
        ..chain.rules(lists)
    };
    accepted(&rules(&[middle.list(&[])]), &[peer]);
    accepted(&rules(&[middle.list(&[]), root.list(&[])]), &[peer]);
    let lists = [middle.list(&[]), root.list(&[MIDDLE])];
    refused(&rules(&lists), &[peer], "its authority CN=middle is revoked");
}

#[test]
fn a_reissued_authority_is_another_certificate() {
    let root = Authority::root("root", 1);
    let key = KeyPair::generate().unwrap();
    let same = || KeyPair::from_pem(&key.serialize_pem()).unwrap();
    let before = root.below_with("middle", MIDDLE, same(), |_| ());
    let anew = root.below_with("middle", 6, same(), |_| ());
    let peer = before.issue(PEER, |_| ());
    let rules = PeerRules {
        authorities: vec![root.certificate()],
        revocation: vec![root.list(&[MIDDLE]), before.list(&[])],
        ..PeerRules::default()
    };
    refused(&rules, &[&peer, before.0.der()], REVOKED_ABOVE);
    accepted(&rules, &[&peer, before.0.der(), anew.0.der()]);
}

#[test]
fn an_authority_must_be_allowed_to_sign_lists() {
    let root = Authority::root("root", 1);
    let middle = root.below("middle", MIDDLE, |it| {
        it.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    });
    let chain = Chain { peer: middle.issue(PEER, |_| ()), root, middle };
    chain.accepted(&[]);
    chain.refused(&[chain.middle.list(&[])], "the authority may not sign lists");
}

#[test]
fn a_list_has_a_scope() {
    let root = Authority::root("root", 1);
    let point = |name: &str| CrlDistributionPoint { uris: vec![name.into()] };
    let middle = root.below("middle", MIDDLE, |_| ());
    let peer = middle.issue(PEER, |it| it.crl_distribution_points = vec![point("http://a/1")]);
    let chain = Chain { root, middle, peer };
    let scoped = |authority, scope: &[u8]| {
        Draft::of(authority).with(extension(28, true, &tlv(0x30, &[scope])))
    };
    let at = |uri: &str| tlv(0xa0, &[&tlv(0xa0, &[&tlv(0x86, &[uri.as_bytes()])])]);
    let (users, authorities) = (b"\x81\x01\xff", b"\x82\x01\xff");
    let Chain { root, middle, .. } = &chain;
    chain.accepted(&[scoped(root, authorities).list(), scoped(middle, users).list()]);
    let lists =
        [scoped(root, authorities).revoking(&[MIDDLE]).list(), scoped(middle, users).list()];
    chain.refused(&lists, REVOKED_ABOVE);
    let lists = [scoped(root, authorities).list(), scoped(middle, users).revoking(&[PEER]).list()];
    chain.refused(&lists, REVOKED);
    let other = "does not cover this kind of certificate";
    chain.refused(&[scoped(middle, authorities).list()], other);
    chain.refused(&[scoped(root, users).list(), middle.list(&[])], other);
    chain.accepted(&[scoped(middle, &at("http://a/1")).list()]);
    chain.refused(&[scoped(middle, &at("http://a/1")).revoking(&[PEER]).list()], REVOKED);
    chain.refused(&[scoped(middle, &at("http://a/2")).list()], other);
    // A list of one scope does not replace a list of another.
    let newer = scoped(middle, authorities).updated("260601000000Z", None).list();
    chain.refused(&[newer, middle.list(&[PEER])], REVOKED);
}

#[test]
fn partial_and_unknown_lists_are_rejected() {
    let root = Authority::root("root", 1);
    let draft = || Draft::of(&root);
    let scoped = |scope: &[u8]| draft().with(extension(28, true, &tlv(0x30, &[scope])));
    let of_entry = |number, critical, value: &[u8]| Draft {
        entries: vec![entry(9, &[extension(number, critical, value)])],
        ..draft()
    };
    let sha1 = b"\x30\x09\x06\x07\x2a\x86\x48\xce\x3d\x04\x01";
    let cases = [
        (draft().with(extension(27, true, b"\x02\x01\x01")), "CN=root is a delta list"),
        (scoped(b"\x84\x01\xff"), "CN=root is an indirect list"),
        (of_entry(29, true, b"\x30\x00"), "CN=root is an indirect list"),
        (scoped(b"\x83\x02\x06\x40"), "a list of some reasons only"),
        (scoped(b"\x85\x01\xff"), "a list of attribute certificates"),
        (draft().with(extension(99, true, b"\x05\x00")), "critical extension"),
        (of_entry(99, true, b"\x05\x00"), "critical extension"),
        (draft().of_version_1().with(extension(20, false, b"\x02\x01\x01")), "version"),
        (of_entry(21, false, b"\x0a\x01\x01").of_version_1(), "version"),
        (Draft { version: b"\x02\x01\x02", ..draft() }, "version"),
        (Draft { algorithm: sha1, ..draft() }, "untrusted signature algorithm"),
        (draft().updated("a day", None), "malformed"),
    ];
    for (draft, why) in cases {
        let error = RevocationList::from_der(&draft.der()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert!(!error.hint.is_empty());
    }
    let good = draft().der();
    for bytes in [&[][..], b"\x30\x00", &good[..good.len() - 1], &[&good[..], &[0]].concat()] {
        assert!(RevocationList::from_der(bytes).is_err());
    }
    // Non-critical extensions are ignored.
    for draft in
        [draft().with(extension(99, false, b"\x05\x00")), of_entry(21, true, b"\x0a\x01\x01")]
    {
        assert!(RevocationList::from_der(&draft.der()).is_ok());
    }
    for (pem, why) in [
        ("", "no revocation list in PEM"),
        ("-----BEGIN X509 CRL-----\n*\n-----END X509 CRL-----\n", "is not valid PEM"),
        ("-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n", "malformed"),
    ] {
        let error = RevocationList::from_pem(pem.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn version_1_lists_apply_like_version_2() {
    let chain = Chain::new();
    let Chain { root, middle, .. } = &chain;
    let list =
        |authority, serials: &[u64]| Draft::of(authority).of_version_1().revoking(serials).list();
    chain.accepted(&[list(root, &[99]), list(middle, &[99])]);
    chain.refused(&[list(root, &[MIDDLE]), middle.list(&[])], REVOKED_ABOVE);
    chain.refused(&[root.list(&[]), list(middle, &[99, PEER])], REVOKED);
    let late = Draft::of(middle).of_version_1().updated("250101000000Z", Some("260101000000Z"));
    chain.refused(&[late.list()], "has expired");
    let forged = Draft::of(middle).of_version_1().signed_by(root).list();
    chain.refused(&[forged], "is not signed by");
}

/// Lists by plain `openssl ca -gencrl`, without and with `crl_extensions`.
#[test]
fn openssl_lists_are_parsed() {
    let directory = tempfile::tempdir().unwrap();
    let root = Authority::root("root", 1);
    let peer = root.issue(PEER, |_| ());
    let path = |name: &str| directory.path().join(name);
    fs::write(path("ca.pem"), root.0.pem()).unwrap();
    fs::write(path("ca.key"), root.0.key().serialize_pem()).unwrap();
    fs::write(
        path("ca.cnf"),
        "[ca]\ndefault_ca=it\n[it]\ndatabase=index\ncrlnumber=number\ndefault_md=sha256\n\
         default_crl_days=30\n[second]\nauthorityKeyIdentifier=keyid\n",
    )
    .unwrap();
    for (version, arguments) in [(1, &[][..]), (2, &["-crlexts", "second"])] {
        for revoked in [false, true] {
            let line = "R\t350101000000Z\t250101000000Z\tC0FFEE\tunknown\t/CN=peer\n";
            fs::write(path("index"), if revoked { line } else { "" }).unwrap();
            fs::write(path("number"), "01\n").unwrap();
            if version == 1 {
                fs::remove_file(path("number")).unwrap();
                let config = fs::read_to_string(path("ca.cnf")).unwrap();
                fs::write(path("one.cnf"), config.replace("crlnumber=number\n", "")).unwrap();
            }
            let config = if version == 1 { "one.cnf" } else { "ca.cnf" };
            let output = Command::new("openssl")
                .current_dir(&directory)
                .args(["ca", "-config", config, "-gencrl", "-cert", "ca.pem", "-keyfile", "ca.key"])
                .args(["-crl_lastupdate", "261001000000Z", "-crl_nextupdate", "270101000000Z"])
                .args(arguments)
                .output()
                .expect("openssl is needed");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let list = RevocationList::from_pem(&output.stdout).unwrap();
            assert_eq!(list[0].issuer().to_string(), "CN=root");
            let rules = PeerRules {
                authorities: vec![root.certificate()],
                revocation: list,
                ..PeerRules::default()
            };
            match revoked {
                true => refused(&rules, &[&peer], REVOKED),
                false => accepted(&rules, &[&peer]),
            }
            let text = String::from_utf8(output.stdout).unwrap();
            let der = CertificateRevocationListDer::from_pem_slice(text.as_bytes());
            assert_eq!(der.unwrap().windows(3).any(|it| it == b"\x02\x01\x01"), version == 2);
        }
    }
}

#[test]
fn serial_numbers_are_checked_along_the_whole_chain() {
    let chain = Chain::new();
    let given = [&chain.peer, chain.middle.0.der()];
    let rules = |revoked: u64| PeerRules {
        revoked_serials: Some(RevokedSerials::new(move |serial| serial == revoked.to_string())),
        ..chain.rules(&[])
    };
    accepted(&rules(99), &given);
    refused(&rules(PEER), &given, REVOKED);
    refused(&rules(MIDDLE), &given, REVOKED_ABOVE);
    refused(&rules(1), &given, "its authority CN=root is revoked");
    // Without an authority, a peer is identified by its fingerprint.
    let fingerprint = fingerprint(&chain.peer);
    let alone = |revoked| PeerRules {
        authorities: Vec::new(),
        fingerprints: vec![fingerprint],
        ..rules(revoked)
    };
    accepted(&alone(99), &[&chain.peer]);
    refused(&alone(PEER), &[&chain.peer], REVOKED);
}

#[test]
fn intermediate_authorities_need_no_purpose() {
    let root = Authority::root("root", 1);
    let both = [ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    for (of_middle, of_peer, good) in [
        (&[][..], &both[..], true),
        (&both, &both, true),
        (&both, &[], false),
        (&[], &[], false),
        (&[], &[ExtendedKeyUsagePurpose::CodeSigning], false),
        (&[ExtendedKeyUsagePurpose::CodeSigning], &both, false),
    ] {
        let middle = root.below("middle", MIDDLE, |it| it.extended_key_usages = of_middle.to_vec());
        let peer = middle.issue(PEER, |it| it.extended_key_usages = of_peer.to_vec());
        let rules = PeerRules {
            authorities: vec![root.certificate()],
            usage: Usage::Required,
            ..PeerRules::default()
        };
        let judged = judge(&rules, &[&peer, middle.0.der()]);
        assert_eq!(judged.is_ok(), good, "{of_middle:?} {of_peer:?}: {judged:?}");
    }
}
