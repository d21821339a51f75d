//! RSA keys that own their memory: the same results as keys in the caller's memory, on any thread.

use crate::support::openssl::openssl;
use cycloid::scheme::rsa::{
    Context, DigestInfo, Error, KeyError, KeyPair, Oaep, OwnedPublicKey, PrivateComponents, Pss,
    Restriction, SignatureScheme, context_limbs,
};
use cycloid::scheme::{FormatError, Hash};
use getrandom::SysRng;
use rand_core::UnwrapErr;

const RNG: UnwrapErr<SysRng> = UnwrapErr(SysRng);

const SCHEMES: [SignatureScheme; 4] = [
    SignatureScheme::Pkcs1v15(Hash::Sha256),
    SignatureScheme::Pkcs1v15(Hash::Sha512),
    SignatureScheme::pss(Hash::Sha384),
    SignatureScheme::Pss(Pss { hash: Hash::Sha256, mask_hash: Hash::Sha1, salt_length: 3 }),
];

fn pem(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/rsa/{name}.pem", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

#[test]
fn keys_of_every_length_sign_verify_and_decrypt() {
    for bits in ["2048", "2050", "8192"] {
        let key = KeyPair::from_pem(pem(bits)).unwrap();
        let public = key.public_key();
        assert_eq!(public.bits().to_string(), bits);
        for scheme in SCHEMES {
            let signature = key.sign(scheme, b"message", &mut RNG.clone()).unwrap();
            public.verify(scheme, b"message", &signature).unwrap();
            assert_eq!(public.verify(scheme, b"massage", &signature), Err(Error::Signature));
            let mut wrong = signature.to_vec();
            wrong[9] ^= 1;
            assert_eq!(public.verify(scheme, b"message", &wrong), Err(Error::Signature));
            assert_eq!(public.verify(scheme, b"message", &wrong[1..]), Err(Error::Signature));
        }
        let oaep = Oaep { label: b"label", ..Oaep::new(Hash::Sha256) };
        for message in [&b""[..], b"x", &[7; 190]] {
            let mut sent = public.encrypt_oaep(&oaep, message, &mut RNG.clone()).unwrap();
            assert_eq!(**key.decrypt_oaep(&oaep, &sent, &mut RNG.clone()).unwrap(), *message);
            sent[77] ^= 1;
            let outcome = key.decrypt_oaep(&oaep, &sent, &mut RNG.clone());
            assert_eq!(outcome.unwrap_err(), Error::Decryption);
            let mut sent = public.encrypt_pkcs1v15(message, &mut RNG.clone()).unwrap();
            assert_eq!(**key.decrypt_pkcs1v15(&sent, &mut RNG.clone()).unwrap(), *message);
            sent[77] ^= 1;
            let synthetic = key.decrypt_pkcs1v15(&sent, &mut RNG.clone()).unwrap();
            assert_eq!(synthetic, key.decrypt_pkcs1v15(&sent, &mut RNG.clone()).unwrap());
        }
    }
}

#[test]
fn signatures_are_those_of_a_context() {
    let key = KeyPair::from_pem(pem("2048")).unwrap();
    let mut memory = vec![0; context_limbs(2048)];
    let mut context = Context::new(key.private_key(), RNG, &mut memory).unwrap();
    let mut expected = [0; 256];
    // More than the uses of one blinding.
    for message in 0..70_u32 {
        let message = message.to_be_bytes();
        context.sign_pkcs1v15(Hash::Sha256, &message, &mut expected).unwrap();
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        assert_eq!(*key.sign(scheme, &message, &mut RNG.clone()).unwrap(), expected);
    }
}

#[test]
fn threads_share_a_key() {
    let key = KeyPair::from_pem(pem("2048")).unwrap();
    let threads = (0..20_u8).map(|thread| {
        let key = key.clone();
        std::thread::spawn(move || {
            for round in 0..10 {
                let scheme = SCHEMES[usize::from(thread) % SCHEMES.len()];
                let message = [thread, round];
                let signature = key.sign(scheme, &message, &mut RNG.clone()).unwrap();
                key.public_key().verify(scheme, &message, &signature).unwrap();
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn keys_are_written_and_read_again() {
    let key = KeyPair::generate(2048, &mut RNG.clone()).unwrap();
    key.check_primes(4, &mut RNG.clone()).unwrap();
    let text = key.to_pkcs8_pem();
    let der = key.to_pkcs8_der();
    let with_line_ends = text.replace('\n', "\r\n");
    for again in [
        KeyPair::from_pem(&*text).unwrap(),
        KeyPair::from_pem(with_line_ends).unwrap(),
        KeyPair::from_der(&der).unwrap(),
    ] {
        assert_eq!(again.public_key(), key.public_key());
        assert_eq!(again.to_pkcs8_der(), der);
    }
    let public = key.public_key();
    let der = public.to_spki_der();
    assert_eq!(OwnedPublicKey::from_der(&der).unwrap(), *public);
    assert_eq!(OwnedPublicKey::from_pem(public.to_spki_pem()).unwrap(), *public);
    assert_ne!(KeyPair::from_pem(pem("2048")).unwrap().public_key(), public);
    assert_eq!(format!("{key:?}"), "rsa::KeyPair(2048 bits, e = 65537)");
}

#[test]
fn bad_keys_are_errors() {
    for bits in [0, 1024, 2046, 2049, 16386, usize::MAX] {
        let outcome = KeyPair::generate(bits, &mut RNG.clone());
        assert_eq!(outcome.unwrap_err(), Error::GeneratedLength { bits }, "{bits}");
    }
    let der = KeyPair::from_pem(pem("2048")).unwrap().to_pkcs8_der();
    for length in 0..der.len() {
        assert!(KeyPair::from_der(&der[..length]).is_err(), "{length}");
    }
    assert_eq!(KeyPair::from_pem("no PEM").unwrap_err(), Error::Format(FormatError::Pem));
    assert_eq!(KeyPair::from_pem("").unwrap_err(), Error::Format(FormatError::Pem));
    assert_eq!(
        OwnedPublicKey::from_components(&[], &[3]).unwrap_err(),
        Error::Key(KeyError::ModulusLength { bits: 0 })
    );
    let parts = PrivateComponents {
        modulus: &[0x81; 256],
        public_exponent: &[3],
        private_exponent: &[5],
        prime1: &[7],
        prime2: &[9],
        exponent1: &[11],
        exponent2: &[13],
        coefficient: &[15],
        other_primes: &[],
    };
    assert_eq!(KeyPair::from_components(&parts).unwrap_err(), Error::Key(KeyError::Primes));
}

#[test]
fn wrong_uses_are_errors() {
    let key = KeyPair::from_pem(pem("2048")).unwrap();
    let rng = &mut RNG.clone();
    let sign = |scheme, digest: &[u8]| key.sign_prehashed(scheme, digest, &mut RNG.clone());
    let sha256 = SignatureScheme::Pkcs1v15(Hash::Sha256);
    assert_eq!(sign(sha256, &[1; 31]).unwrap_err(), Error::DigestLength);
    let retired = SignatureScheme::pss(Hash::Sha1);
    assert_eq!(sign(retired, &[1; 20]).unwrap_err(), Error::HashRetired);
    let long = SignatureScheme::Pss(Pss { salt_length: 223, ..Pss::new(Hash::Sha256) });
    assert_eq!(sign(long, &[1; 32]).unwrap_err(), Error::SaltTooLong);
    for length in [0, 255, 257] {
        let outcome = key.decrypt_pkcs1v15(&vec![1; length], rng);
        assert_eq!(outcome.unwrap_err(), Error::Length { needed: 256, given: length });
    }
    // The key works after all errors.
    let signature = key.sign(sha256, b"message", rng).unwrap();
    key.public_key().verify(sha256, b"message", &signature).unwrap();
}

#[test]
fn a_restriction_stays_with_the_key() {
    let allowed = Pss::new(Hash::Sha384);
    let plain = KeyPair::from_pem(pem("2048")).unwrap();
    let key = plain.clone().restricted(Restriction::PssWith(allowed)).unwrap();
    let key = KeyPair::from_der(&key.to_pkcs8_der()).unwrap();
    assert_eq!(key.public_key().restriction(), Restriction::PssWith(allowed));
    let signature = key.sign(SignatureScheme::Pss(allowed), b"message", &mut RNG.clone()).unwrap();
    key.public_key().verify(SignatureScheme::Pss(allowed), b"message", &signature).unwrap();
    for (scheme, error) in [
        (SignatureScheme::Pkcs1v15(Hash::Sha384), Error::Restricted),
        (SignatureScheme::pss(Hash::Sha256), Error::RestrictedPss { allowed }),
    ] {
        assert_eq!(key.sign(scheme, b"message", &mut RNG.clone()).unwrap_err(), error);
        assert_eq!(key.public_key().verify(scheme, b"message", &signature), Err(error));
    }
    assert_ne!(plain.public_key(), key.public_key());
}

#[test]
fn shake_is_for_pss_only() {
    let key = KeyPair::from_pem(pem("2048")).unwrap();
    let public = key.public_key();
    for hash in [Hash::Shake128, Hash::Shake256] {
        let pss = SignatureScheme::pss(hash);
        let signature = key.sign(pss, b"message", &mut RNG.clone()).unwrap();
        assert_eq!(public.verify(pss, b"message", &signature), Ok(()));
        assert_eq!(public.verify(pss, b"massage", &signature), Err(Error::Signature));

        let refused = Err(Error::HashUnsuitable);
        let pkcs1v15 = SignatureScheme::Pkcs1v15(hash);
        assert_eq!(key.sign(pkcs1v15, b"", &mut RNG.clone()).map(drop), refused);
        assert_eq!(public.verify(pkcs1v15, b"message", &signature), refused);
        for oaep in [Oaep::new(hash), Oaep { mask_hash: hash, ..Oaep::new(Hash::Sha256) }] {
            let encrypted = public.encrypt_oaep(&oaep, b"", &mut RNG.clone());
            assert_eq!(encrypted.map(drop), refused);
            let decrypted = key.decrypt_oaep(&oaep, &[1; 256], &mut RNG.clone());
            assert_eq!(decrypted.map(drop), refused);
        }
    }
}

#[test]
fn digests_by_any_hash_function() {
    use md5::Md5;
    use sha2::{Digest, Sha256};

    let key = KeyPair::from_pem(pem("2048")).unwrap();
    let rng = &mut RNG.clone();
    let info = DigestInfo::of(Sha256::new_with_prefix(b"message")).unwrap();
    let signature = key.sign_digest_info(&info, rng).unwrap();
    // The same encoding as that of the known function.
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    assert_eq!(key.sign(scheme, b"message", rng).unwrap(), signature);
    key.public_key().verify_digest_info(&info, &signature).unwrap();
    let other = DigestInfo::of(Sha256::new_with_prefix(b"massage")).unwrap();
    let outcome = key.public_key().verify_digest_info(&other, &signature);
    assert_eq!(outcome, Err(Error::Signature));

    // A hash function that the library does not know, as OpenSSL signs it; too short to sign.
    let info = DigestInfo::of(Md5::new_with_prefix(b"message")).unwrap();
    assert_eq!(key.sign_digest_info(&info, rng).unwrap_err(), Error::HashRetired);
    let path = format!("{}/tests/data/rsa/2048.pem", env!("CARGO_MANIFEST_DIR"));
    let signature = openssl(&format!("dgst -md5 -sign {path}"), b"message");
    key.public_key().verify_digest_info(&info, &signature).unwrap();

    let restricted = KeyPair::from_pem(pem("pss")).unwrap();
    let info = DigestInfo::of(Sha256::new_with_prefix(b"message")).unwrap();
    assert_eq!(restricted.sign_digest_info(&info, rng).unwrap_err(), Error::Restricted);
    let outcome = restricted.public_key().verify_digest_info(&info, &signature);
    assert_eq!(outcome, Err(Error::Restricted));
}
