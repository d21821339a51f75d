//! Checks that this provider offers everything that rustls's own default offers.
#![cfg(feature = "post-quantum")]

mod support;

use std::collections::BTreeSet;

use cycloid_rustls::{any_supported_key, default_provider};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, SignatureVerificationAlgorithm};
use rustls::{SignatureScheme, SupportedCipherSuite};
use support::Certificate;

/// Returns the names that ours lacks.
fn lacking<T: Ord + std::fmt::Debug>(ours: &[T], theirs: &[T]) -> Vec<String> {
    let ours: BTreeSet<_> = ours.iter().collect();
    theirs.iter().filter(|one| !ours.contains(one)).map(|one| format!("{one:?}")).collect()
}

fn names<T: std::fmt::Debug>(all: impl IntoIterator<Item = T>) -> Vec<String> {
    all.into_iter().map(|one| format!("{one:?}")).collect()
}

#[test]
fn no_group_is_missing_and_the_same_comes_first() {
    let [ours, theirs] = [default_provider(), aws_lc_rs::default_provider()]
        .map(|provider| names(provider.kx_groups.iter().map(|group| group.name())));
    assert_eq!(theirs[0], "X25519MLKEM768");
    assert_eq!(ours[0], theirs[0]);
    assert_eq!(lacking(&ours, &theirs), [""; 0]);
}

#[test]
fn no_cipher_suite_is_missing() {
    let [ours, theirs] = [default_provider(), aws_lc_rs::default_provider()]
        .map(|provider| names(provider.cipher_suites.iter().map(SupportedCipherSuite::suite)));
    assert_eq!(ours, theirs);
}

/// Returns the identifiers of the key and signature algorithms.
fn identifiers(algorithm: &&'static dyn SignatureVerificationAlgorithm) -> (Vec<u8>, Vec<u8>) {
    let [key, signature] = [algorithm.public_key_alg_id(), algorithm.signature_alg_id()];
    (key.as_ref().to_vec(), signature.as_ref().to_vec())
}

#[test]
fn no_verification_algorithm_is_missing_and_they_have_the_same_order() {
    let [ours, theirs] = [default_provider(), aws_lc_rs::default_provider()]
        .map(|provider| provider.signature_verification_algorithms);
    let [all, expected] =
        [ours, theirs].map(|table| table.all.iter().map(identifiers).collect::<Vec<_>>());
    assert_eq!(lacking(&all, &expected), [""; 0]);

    let [schemes, expected] = [ours, theirs].map(|table| names(table.supported_schemes()));
    assert_eq!(schemes, expected);
    for (scheme, algorithms) in theirs.mapping {
        let (_, mine) = ours.mapping.iter().find(|(mine, _)| mine == scheme).unwrap();
        let [mine, expected] =
            [mine, algorithms].map(|list| list.iter().map(identifiers).collect::<Vec<_>>());
        assert_eq!(mine, expected, "{scheme:?}");
    }
}

#[test]
fn no_private_key_type_and_no_signature_scheme_is_missing() {
    use ::aws_lc_rs::signature::{
        ML_DSA_44_SIGNING, ML_DSA_65_SIGNING, ML_DSA_87_SIGNING, PqdsaKeyPair,
    };

    let mut keys: Vec<PrivateKeyDer<'static>> =
        Certificate::all("defaults").iter().map(Certificate::key).collect();
    for algorithm in [&ML_DSA_44_SIGNING, &ML_DSA_65_SIGNING, &ML_DSA_87_SIGNING] {
        let key = PqdsaKeyPair::generate(algorithm).unwrap().to_pkcs8v1().unwrap();
        keys.push(PrivateKeyDer::Pkcs8(key.as_ref().to_vec().into()));
    }
    for key in &keys {
        let theirs = aws_lc_rs::sign::any_supported_type(key).unwrap();
        let ours = any_supported_key(key).unwrap();
        assert_eq!(ours.algorithm(), theirs.algorithm());
        assert_eq!(ours.public_key(), theirs.public_key());
        let mut schemes = 0;
        for number in 0..=u16::MAX {
            let scheme = SignatureScheme::from(number);
            if theirs.choose_scheme(&[scheme]).is_some() {
                schemes += 1;
                let signer = ours.choose_scheme(&[scheme]);
                assert!(signer.is_some(), "{:?} with {scheme:?}", ours.algorithm());
                assert!(signer.unwrap().sign(b"message").is_ok());
            }
        }
        assert!(schemes > 0);
        let all: Vec<_> = (0..=u16::MAX).map(SignatureScheme::from).collect();
        let [mine, expected] =
            [&ours, &theirs].map(|key| key.choose_scheme(&all).unwrap().scheme());
        assert_eq!(mine, expected);
    }
}
