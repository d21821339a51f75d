//! The tables on the emulated processor: their names, rows, and the operations of the programs.

use cycloid::modular::Strategy;

use super::peers::{COMPILER, OPTIMISATION, Peer};
use super::{MEGAHERTZ, NAME, Request, classic};
use crate::emulated::plan::{Planned, Row};

/// The suites that the processor can run.
pub const SUITES: [&str; 3] = ["modexp", "rsa", "ec"];

/// The library's backend on the processor.
pub(super) const BACKEND: &str = "armv7e-m";

/// The program without an operation, whose flash is subtracted from the others'.
pub(super) const EMPTY: &str = "flash-empty";

/// Returns a table without rows.
fn table(suite: &'static str, group: &str, name: &str, operation: &'static str) -> Planned {
    Planned::new([NAME, "Cortex-M4"], suite, group, name, operation)
        .with("megahertz", MEGAHERTZ)
        .with("wait_states", 0)
}

/// Adds to a table the row of each peer that is measured and has the operation.
fn beside(mut table: Planned, peers: &[Peer], functions: [Option<&'static str>; 2]) -> Planned {
    table.peers = Peer::ALL.map(Peer::name).into();
    for (peer, function) in Peer::ALL.into_iter().zip(functions) {
        let Some(function) = function.filter(|_| peers.contains(&peer)) else { continue };
        let name = table.rows[0].operation.clone();
        table.rows.push(Row {
            // BearSSL states that these functions are constant-time.
            constant_time: peer == Peer::BearSsl && !name.ends_with("verify"),
            ..Row::of_peer(peer.name(), &name, peer.label(&name), function)
        });
    }
    if !peers.is_empty() {
        table.notes.push(format!("the peers are compiled by {COMPILER} with {OPTIMISATION}"));
    }
    table
}

/// Returns the requested tables.
pub(super) fn of(request: &Request) -> Vec<Planned> {
    let peers: Vec<Peer> = request.sources.iter().map(|source| source.peer).collect();
    let of_suite = |suite: &&str| match *suite {
        "modexp" => vec![modexp(&request.strategies)],
        "rsa" => rsa(&peers),
        _ => ec(&peers),
    };

    request.suites.iter().flat_map(of_suite).collect()
}

fn modexp(strategies: &[Strategy]) -> Planned {
    let name = "CRT private key, exponent length = modulus length (2 × 1024 bits)";
    let operation = "two modular exponentiations of half the size";
    let mut planned = table("modexp", "RSA-2048", name, operation)
        .with("key_bits", 2048)
        .with("modulus_bits", 1024)
        .with("exponent_bits", 1024)
        .with("crt", true);
    let chosen = Strategy::ALL.iter().enumerate().filter(|(_, one)| strategies.contains(one));
    planned.rows.extend(chosen.map(|(i, strategy)| Row {
        group: strategy.reduction.to_string(),
        constant_time: strategy.is_constant_time(),
        classic: classic::row(*strategy),
        ..Row::special(
            BACKEND,
            &format!("crt:{i}"),
            &strategy.exponentiation.to_string(),
            "Strategy::pow_vartime",
        )
    }));
    planned.rows.push(Row::ours(BACKEND, "crt-pow", "modular::pow"));
    let least = Row::special(BACKEND, "crt-pow-least", "least scratch", "modular::pow");
    planned.rows.push(least);
    planned.notes = vec![
        "a row is both halves of a private operation, one after the other, without the \
         recombination; scratch is that of one half, which the other half reuses"
            .into(),
        "the default and least scratch get moduli prepared for Montgomery multiplication; the \
         strategies take them unprepared"
            .into(),
        "classic: known figures of the classic table, from a Cortex-M4F at 180 MHz, which ran from \
         flash with wait states; the model here has none. Unknown figures are not shown"
            .into(),
    ];
    planned
}

fn rsa(peers: &[Peer]) -> Vec<Planned> {
    let table = |name, operation| {
        table("rsa", "RSA-2048", name, operation)
            .with("key_bits", 2048)
            .with("public_exponent", 65537)
    };
    let mut sign = table("sign, PKCS #1 v1.5, SHA-256", "sign");
    let (function, flash) = ("Context::sign_pkcs1v15", Some("flash-rsa"));
    sign.rows = vec![
        Row::ours(BACKEND, "rsa-sign", function).with_flash(flash),
        Row::special(BACKEND, "rsa-sign-least", "least scratch", function).with_flash(flash),
        Row::special(BACKEND, "rsa-sign-first", "first signature", function).with_flash(flash),
    ];
    sign.notes = vec![
        "Cycloid's signatures are blinded and checked; the first signature of a context draws the \
         blinding. mbed TLS blinds and checks, too; BearSSL does neither"
            .into(),
    ];
    let functions = [Some("br_rsa_i31_pkcs1_sign"), Some("mbedtls_rsa_pkcs1_sign")];
    let sign = beside(sign, peers, functions);
    let mut verify = table("verify, PKCS #1 v1.5, SHA-256", "verify");
    verify.rows = vec![
        Row::ours(BACKEND, "rsa-verify", "PublicKey::verify_pkcs1v15")
            .with_flash(Some("flash-rsa-verify")),
    ];
    let functions = [Some("br_rsa_i31_pkcs1_vrfy"), Some("mbedtls_rsa_pkcs1_verify")];
    vec![sign, beside(verify, peers, functions)]
}

fn ec(peers: &[Peer]) -> Vec<Planned> {
    type Functions = [Option<&'static str>; 2];
    type Own<'a> = (&'a str, &'static str);
    let table = |curve, name, (operation, function): Own<'_>, flash, functions: Functions| {
        let mut table = table("ec", curve, name, name).with("curve", curve);
        table.rows = vec![Row::ours(BACKEND, operation, function).with_flash(flash)];
        match functions {
            [None, None] => table,
            functions => beside(table, peers, functions),
        }
    };
    let (p256, x25519, ed25519) = (Some("flash-p256"), Some("flash-x25519"), Some("flash-ed25519"));
    let multiple = Some("mbedtls_ecp_mul");
    let shared = Some("mbedtls_ecdh_compute_shared");
    let key = [Some("br_ec_p256_m31.mulgen"), multiple];
    let sign = [Some("br_ecdsa_i31_sign_raw"), Some("mbedtls_ecdsa_sign_det_ext")];
    let verify = [Some("br_ecdsa_i31_vrfy_raw"), Some("mbedtls_ecdsa_verify")];
    let agree = [Some("br_ec_p256_m31.mul"), shared];
    let x_key = [Some("br_ec_c25519_m31.mulgen"), multiple];
    let x_agree = [Some("br_ec_c25519_m31.mul"), shared];
    let none = [None, None];
    vec![
        table("P-256", "key", ("p256-key", "PrivateKey::from_bytes"), None, key),
        table("P-256", "sign", ("p256-sign", "PrivateKey::sign"), p256, sign),
        table("P-256", "verify", ("p256-verify", "PublicKey::verify"), p256, verify),
        table("P-256", "agree", ("p256-agree", "PrivateKey::agree"), None, agree),
        table("X25519", "key", ("x25519-key", "PrivateKey::public_key"), x25519, x_key),
        table("X25519", "agree", ("x25519-agree", "PrivateKey::agree"), x25519, x_agree),
        table("Ed25519", "key", ("ed25519-key", "SigningKey::from_seed"), ed25519, none),
        table("Ed25519", "sign", ("ed25519-sign", "SigningKey::sign"), ed25519, none),
        table("Ed25519", "verify", ("ed25519-verify", "VerifyingKey::verify"), ed25519, none),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulated::plan::REFERENCE;

    #[test]
    fn all_strategies_are_planned_and_every_table_has_its_reference() {
        let all = Request {
            suites: SUITES.to_vec(),
            strategies: Strategy::ALL.to_vec(),
            flash: true,
            sources: Vec::new(),
        };
        let planned = of(&all);
        assert_eq!(planned[0].rows.len(), 36 + 2);
        assert_eq!(planned.len(), 1 + 2 + 9);
        for table in &planned {
            assert!(table.rows.iter().any(|row| row.label == REFERENCE));
            assert!(table.group.ends_with(" on Cortex-M4"));
            assert_eq!(table.parameters["target"], NAME);
        }
        let one = Request { strategies: Strategy::ALL[30..31].to_vec(), ..all };
        assert_eq!(of(&one)[0].rows[0].operation, "crt:30");
    }

    #[test]
    fn peers_have_rows_where_they_have_the_operation() {
        let peers = |tables: Vec<Planned>| -> Vec<usize> {
            let of_peers = |table: &Planned| {
                Peer::ALL.map(|peer| table.operations(peer.name(), None).count()).iter().sum()
            };
            tables.iter().map(of_peers).collect()
        };
        assert_eq!(peers(rsa(&Peer::ALL)), [2, 2]);
        assert_eq!(peers(rsa(&[Peer::BearSsl])), [1, 1]);
        assert_eq!(peers(ec(&Peer::ALL)), [2, 2, 2, 2, 2, 2, 0, 0, 0]);
        assert_eq!(peers(ec(&[])), [0; 9]);
    }
}
