//! The tables on the emulated processor: their names, rows, and the operations of the program.

use super::NAME;
use super::peers::Peer;
use crate::emulated::plan::{Planned, Row};

/// The suites that the processor can run.
pub const SUITES: [&str; 3] = ["rsa", "ec", "bls"];

/// The library's backends on the processor, the default first.
pub(super) const BACKENDS: [&str; 2] = ["aarch64", "portable"];

/// A peer's function.
type Function = (Peer, &'static str);

/// Returns all tables of the suites, with the rows of these peers.
pub(super) fn of(suites: &[&str], peers: &[Peer]) -> Vec<Planned> {
    let of_suite = |suite: &&str| match *suite {
        "rsa" => rsa(peers),
        "ec" => ec(peers),
        _ => bls(peers),
    };
    suites.iter().flat_map(of_suite).collect()
}

/// Adds the rows to a table: the library on each backend, and those of `peers` that have such a
/// function.
fn with_rows(
    mut table: Planned,
    (operation, function): (&str, &'static str),
    functions: &[Function],
    peers: &[Peer],
) -> Planned {
    let [default, portable] = BACKENDS;
    table.rows = vec![
        Row::ours(default, operation, function),
        Row::special(portable, operation, portable, function),
    ];
    table.peers = functions.iter().map(|(peer, _)| peer.name()).collect();
    for (peer, function) in functions.iter().filter(|(peer, _)| peers.contains(peer)) {
        let label = table.name.split(", ").next().unwrap_or_default().to_owned();
        table.rows.push(Row {
            // All of them state that they are, for secrets.
            constant_time: !operation.ends_with("verify"),
            ..Row::of_peer(peer.name(), operation, &label, function)
        });
    }
    table
}

fn table(suite: &'static str, group: &str, name: &str, operation: &'static str) -> Planned {
    Planned::new([NAME, "AArch64"], suite, group, name, operation)
}

fn rsa(peers: &[Peer]) -> Vec<Planned> {
    let of_length = |bits: u32| {
        let group = format!("RSA-{bits}");
        let table = |name, operation| {
            table("rsa", &group, name, operation)
                .with("key_bits", bits)
                .with("public_exponent", 65537)
        };
        let sign = with_rows(
            table("sign, PKCS #1 v1.5, SHA-256", "sign"),
            (&format!("rsa{bits}-sign"), "KeyPair::sign"),
            &[
                (Peer::Graviola, "rsa::SigningKey::sign_pkcs1_sha256"),
                (Peer::AwsLc, "RsaKeyPair::sign"),
            ],
            peers,
        );
        let verify = with_rows(
            table("verify, PKCS #1 v1.5, SHA-256", "verify"),
            (&format!("rsa{bits}-verify"), "PublicKey::verify"),
            &[
                (Peer::Graviola, "rsa::VerifyingKey::verify_pkcs1_sha256"),
                (Peer::AwsLc, "ParsedPublicKey::verify_sig"),
            ],
            peers,
        );
        [sign, verify]
    };
    [2048, 3072, 4096].into_iter().flat_map(of_length).collect()
}

fn ec(peers: &[Peer]) -> Vec<Planned> {
    use Peer::{AwsLc, Graviola};
    let curve = |curve: &'static str, operations: &[(&'static str, &'static str, &[Function])]| {
        let of_program = curve.replace('-', "").to_lowercase();
        let made = operations.iter().map(|(name, function, functions)| {
            let table = table("ec", curve, name, name).with("curve", curve);
            with_rows(table, (&format!("{of_program}-{name}"), function), functions, peers)
        });
        made.collect::<Vec<Planned>>()
    };
    let nist = |name, of_peer: &dyn Fn(Peer) -> bool| {
        let keep = |functions: &[Function]| -> Vec<Function> {
            functions.iter().copied().filter(|(peer, _)| of_peer(*peer)).collect()
        };
        let sign = keep(&[(Graviola, "ecdsa::SigningKey::sign"), (AwsLc, "EcdsaKeyPair::sign")]);
        let verify =
            [(Graviola, "ecdsa::VerifyingKey::verify"), (AwsLc, "ParsedPublicKey::verify_sig")];
        let agree =
            keep(&[(Graviola, "StaticPrivateKey::diffie_hellman"), (AwsLc, "agreement::agree")]);
        let operations = [
            ("sign", "PrivateKey::sign", &*sign),
            ("verify", "PublicKey::verify", &*keep(&verify)),
            ("agree", "PrivateKey::agree", &*agree),
        ];
        curve(name, &operations)
    };
    let mut tables = Vec::new();
    tables.extend(nist("P-224", &|_| false));
    tables.extend(nist("P-256", &|_| true));
    tables.extend(nist("P-384", &|_| true));
    tables.extend(nist("P-521", &|peer| peer == AwsLc));
    tables.extend(curve(
        "Ed25519",
        &[
            (
                "sign",
                "SigningKey::sign",
                &[(Graviola, "Ed25519SigningKey::sign"), (AwsLc, "Ed25519KeyPair::sign")],
            ),
            (
                "verify",
                "VerifyingKey::verify",
                &[
                    (Graviola, "Ed25519VerifyingKey::verify"),
                    (AwsLc, "ParsedPublicKey::verify_sig"),
                ],
            ),
        ],
    ));
    tables.extend(curve(
        "X25519",
        &[(
            "agree",
            "PrivateKey::agree",
            &[(Graviola, "StaticPrivateKey::diffie_hellman"), (AwsLc, "agreement::agree")],
        )],
    ));
    tables
}

fn bls(peers: &[Peer]) -> Vec<Planned> {
    let operations = [
        ("pairing", "bls-pairing", "pairing", "miller_loop, final_exp"),
        ("Miller loop", "bls-miller", "miller_loop", "miller_loop"),
        ("final exponentiation", "bls-final", "final_exponentiation", "final_exp"),
        ("G1 multiple", "bls-g1", "G1::multiply", "blst_p1_mult"),
        ("G2 multiple", "bls-g2", "G2::multiply", "blst_p2_mult"),
        ("sign, signatures in G2", "bls-sign", "SecretKey::sign", "min_pk::SecretKey::sign"),
        (
            "verify, signatures in G2",
            "bls-verify",
            "PublicKey::verify",
            "min_pk::Signature::verify",
        ),
    ];
    let one = |(name, operation, function, of_blst)| {
        let table = table("bls", "BLS12-381", name, name).with("curve", "BLS12-381");
        with_rows(table, (operation, function), &[(Peer::Blst, of_blst)], peers)
    };
    operations.map(one).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulated::plan::REFERENCE;
    use crate::record::LIBRARY;

    #[test]
    fn every_table_has_both_backends_and_stays_apart_from_the_host() {
        let planned = of(&SUITES, &[]);
        assert_eq!(planned.len(), 3 * 2 + 4 * 3 + 2 + 1 + 7);
        for table in &planned {
            assert!(table.group.ends_with(" on AArch64"));
            assert_eq!(table.parameters["target"], NAME);
            assert_eq!(table.rows[0].label, REFERENCE);
            for backend in BACKENDS {
                assert_eq!(table.operations(LIBRARY, Some(backend)).count(), 1);
            }
            assert_eq!(table.rows.len(), 2, "a peer that nobody asked for");
        }
        let titles: std::collections::BTreeSet<_> =
            planned.iter().map(|table| (&table.group, &table.name)).collect();
        assert_eq!(titles.len(), planned.len());
    }

    #[test]
    fn peers_have_rows_where_they_have_the_operation() {
        let peers = |tables: &[Planned]| -> Vec<usize> {
            tables.iter().map(|table| table.rows.len() - 2).collect()
        };
        assert_eq!(peers(&rsa(&Peer::ALL)), [2; 6]);
        assert_eq!(peers(&rsa(&[Peer::AwsLc, Peer::Blst])), [1; 6]);
        assert_eq!(peers(&ec(&Peer::ALL)), [0, 0, 0, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2]);
        assert_eq!(peers(&bls(&Peer::ALL)), [1; 7]);
        let missing = &ec(&[])[3];
        assert_eq!(missing.peers, ["graviola", "AWS-LC"]);
    }
}
