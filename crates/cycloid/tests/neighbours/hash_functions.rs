//! RSASSA-PSS and RSAES-OAEP with hash functions of other crates, compared with `openssl` and with
//! RFC 8017 on big integers.

use blake2::{Blake2b512, Blake2s256};
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{Error, HashFunction, Oaep, Pss, Restriction};
use md5::Md5;
use num_bigint::BigUint;
use ripemd::Ripemd160;
use sha2::{Digest, Sha256};
use sm3::Sm3;

use crate::support::Generator;
use crate::support::openssl::openssl;
use crate::{rsa_key, temporary};

const MESSAGE: &[u8] = b"a message";

/// The path of the tests' key.
fn key_file() -> String {
    format!("{}/tests/data/rsa/2048.pem", env!("CARGO_MANIFEST_DIR"))
}

/// Verifies a signature by `openssl` with the function of this name.
fn verifies_from_openssl<D: Digest>(name: &str) {
    let key = rsa_key();
    let sign = format!("dgst -{name} -sign {} -sigopt rsa_padding_mode:pss", key_file());
    let digest = D::digest(MESSAGE);
    for (salt_length, mask_name, mask_hash) in [
        (digest.len(), name, HashFunction::of::<D>()),
        (7, "sha1", Hash::Sha1.into()),
        (0, "ripemd160", HashFunction::of::<Ripemd160>()),
    ] {
        let pss = Pss { hash: HashFunction::of::<D>(), mask_hash, salt_length };
        let options =
            format!("-sigopt rsa_pss_saltlen:{salt_length} -sigopt rsa_mgf1_md:{mask_name}");
        let mut signature = openssl(&format!("{sign} {options}"), MESSAGE);
        let verify =
            |pss, signature: &[u8]| key.public_key().verify_pss_with(pss, &digest, signature);
        assert_eq!(verify(pss, &signature), Ok(()), "{name}, {mask_name}");
        let other = Pss { salt_length: salt_length + 1, ..pss };
        assert_eq!(verify(other, &signature), Err(Error::Signature));
        let other = Pss { mask_hash: HashFunction::of::<Sm3>(), ..pss };
        assert_eq!(verify(other, &signature), Err(Error::Signature));
        let short = &digest[..digest.len() - 1];
        let outcome = key.public_key().verify_pss_with(pss, short, &signature);
        assert_eq!(outcome, Err(Error::DigestLength));
        signature[100] ^= 1;
        assert_eq!(verify(pss, &signature), Err(Error::Signature));
    }
}

#[test]
fn signatures_by_openssl_verify() {
    verifies_from_openssl::<Ripemd160>("ripemd160");
    verifies_from_openssl::<Md5>("md5");
    // Digests of fewer than 28 bytes are for verifying alone.
    for (hash, digest) in
        [(HashFunction::of::<Md5>(), &[0; 16][..]), (HashFunction::of::<Ripemd160>(), &[0; 20])]
    {
        let outcome = rsa_key().sign_pss_with(Pss::of(hash), digest, &mut Generator::new(1));
        assert_eq!(outcome.map(|_| ()), Err(Error::HashRetired));
    }
}

/// MGF1 (RFC 8017, appendix B.2.1).
fn mgf1<D: Digest>(seed: &[u8], length: usize) -> Vec<u8> {
    let block = |counter: u32| D::new().chain_update(seed).chain_update(counter.to_be_bytes());
    (0..).flat_map(|counter| block(counter).finalize().to_vec()).take(length).collect()
}

/// Opens a signature with e = 65537 and returns the salt, by EMSA-PSS-VERIFY (RFC 8017, section
/// 9.1.2).
fn opened<D: Digest, M: Digest>(signature: &[u8]) -> Option<Vec<u8>> {
    let text = openssl(&format!("rsa -noout -modulus -in {}", key_file()), b"");
    let digits = text.trim_ascii().strip_prefix(b"Modulus=").unwrap();
    let modulus = BigUint::parse_bytes(digits, 16).unwrap();
    let power = BigUint::from_bytes_be(signature).modpow(&BigUint::from(65_537_u32), &modulus);
    let mut encoded = vec![0; signature.len()];
    let bytes = power.to_bytes_be();
    encoded[signature.len() - bytes.len()..].copy_from_slice(&bytes);
    let length = <D as Digest>::output_size();
    let (db, end) = encoded.split_at(encoded.len() - length - 1);
    let (h, trailer) = end.split_at(length);
    let mut db: Vec<u8> =
        db.iter().zip(mgf1::<M>(h, db.len())).map(|(byte, mask)| byte ^ mask).collect();
    db[0] &= 0x7f;
    let one = db.iter().position(|byte| *byte != 0)?;
    let salt = db[one + 1..].to_vec();
    let digest = D::digest(MESSAGE);
    let expected = D::new().chain_update([0; 8]).chain_update(digest).chain_update(&salt);
    (db[one] == 1 && trailer == [0xbc] && expected.finalize()[..] == *h).then_some(salt)
}

fn signs_as_specified<D: Digest, M: Digest>(salt_length: usize) {
    let (key, mut rng) = (rsa_key(), Generator::new(2));
    let pss =
        Pss { hash: HashFunction::of::<D>(), mask_hash: HashFunction::of::<M>(), salt_length };
    let digest = D::digest(MESSAGE);
    let signature = key.sign_pss_with(pss, &digest, &mut rng).unwrap();
    assert_eq!(opened::<D, M>(signature.as_ref()).unwrap().len(), salt_length);
    assert_eq!(key.public_key().verify_pss_with(pss, &digest, signature.as_ref()), Ok(()));
}

#[test]
fn signatures_are_those_of_the_specification() {
    signs_as_specified::<Blake2b512, Blake2b512>(64);
    signs_as_specified::<Blake2s256, Ripemd160>(0);
    signs_as_specified::<Sm3, Md5>(20);
    // The longest salt, and one more.
    signs_as_specified::<Sm3, Sm3>(256 - 32 - 2);
    let pss = Pss { salt_length: 256 - 32 - 1, ..Pss::of(HashFunction::of::<Sm3>()) };
    let outcome = rsa_key().sign_pss_with(pss, &[0; 32], &mut Generator::new(3));
    assert_eq!(outcome.map(|_| ()), Err(Error::SaltTooLong));
}

/// Encrypts by each side and decrypts by the other.
fn agrees_in_oaep<D: Digest, M: Digest>(name: &str, mask_name: &str) {
    let (key, mut rng) = (rsa_key(), Generator::new(4));
    let oaep = Oaep {
        mask_hash: HashFunction::of::<M>(),
        label: b"label",
        ..Oaep::of(HashFunction::of::<D>())
    };
    let options = format!(
        "-inkey {} -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:{name} \
         -pkeyopt rsa_mgf1_md:{mask_name} -pkeyopt rsa_oaep_label:6c6162656c",
        key_file()
    );
    let longest = oaep.longest_message(256);
    assert_eq!(longest, 256 - 2 * <D as Digest>::output_size() - 2);
    for message in [&[][..], MESSAGE, &[0x5a; 256][..longest]] {
        let ciphertext = key.public_key().encrypt_oaep(&oaep, message, &mut rng).unwrap();
        let file = temporary(&format!("{name}-{mask_name}-{}", message.len()), &ciphertext);
        let found = openssl(&format!("pkeyutl -decrypt {options} -in {file}"), b"");
        assert_eq!(found, message, "{name}, {mask_name}");
        let mut ciphertext = openssl(&format!("pkeyutl -encrypt {options}"), message);
        assert_eq!(key.decrypt_oaep(&oaep, &ciphertext, &mut rng).unwrap().as_slice(), message);
        let other = Oaep { label: b"other", ..oaep };
        let outcome = key.decrypt_oaep(&other, &ciphertext, &mut rng);
        assert_eq!(outcome.unwrap_err(), Error::Decryption);
        ciphertext[9] ^= 4;
        let outcome = key.decrypt_oaep(&oaep, &ciphertext, &mut rng);
        assert_eq!(outcome.unwrap_err(), Error::Decryption);
    }
    let given = longest + 1;
    let outcome = key.public_key().encrypt_oaep(&oaep, &vec![0; given], &mut rng);
    assert_eq!(outcome, Err(Error::MessageTooLong { longest, given }));
}

#[test]
fn openssl_and_cycloid_agree_in_oaep() {
    agrees_in_oaep::<Sm3, Sm3>("sm3", "sm3");
    agrees_in_oaep::<Ripemd160, Blake2s256>("ripemd160", "blake2s256");
    agrees_in_oaep::<Blake2b512, Md5>("blake2b512", "md5");
}

#[test]
fn a_known_function_by_its_crate_is_the_same() {
    let (key, mut rng) = (rsa_key(), Generator::new(5));
    let digest = Sha256::digest(MESSAGE);
    let [known, other] = [Pss::of(Hash::Sha256.into()), Pss::of(HashFunction::of::<Sha256>())];
    for (sign, verify) in [(known, other), (other, known)] {
        let signature = key.sign_pss_with(sign, &digest, &mut rng).unwrap();
        let outcome = key.public_key().verify_pss_with(verify, &digest, signature.as_ref());
        assert_eq!(outcome, Ok(()));
        let pss = Pss::new(Hash::Sha256);
        assert_eq!(key.public_key().verify_pss_with(pss, &digest, signature.as_ref()), Ok(()));
    }
    let oaep = Oaep::of(HashFunction::of::<Sha256>());
    let ciphertext = key.public_key().encrypt_oaep(&oaep, MESSAGE, &mut rng).unwrap();
    let found = key.decrypt_oaep(&Oaep::new(Hash::Sha256), &ciphertext, &mut rng).unwrap();
    assert_eq!(found.as_slice(), MESSAGE);
    let shake = Oaep::of(Hash::Shake128.into());
    let outcome = key.public_key().encrypt_oaep(&shake, MESSAGE, &mut rng);
    assert_eq!(outcome, Err(Error::HashUnsuitable));
}

#[test]
fn a_restricted_key_names_known_functions() {
    let (mut key, mut rng) = (rsa_key(), Generator::new(6));
    let digest = Sha256::digest(MESSAGE);
    let pss = Pss::of(HashFunction::of::<Sha256>());
    key = key.restricted(Restriction::Pss).unwrap();
    let signature = key.sign_pss_with(pss, &digest, &mut rng).unwrap();
    let allowed = Pss::new(Hash::Sha256);
    let refused = Err(Error::RestrictedPss { allowed });
    key = key.restricted(Restriction::PssWith(allowed)).unwrap();
    assert_eq!(key.sign_pss_with(pss, &digest, &mut rng).map(|_| ()), refused);
    let outcome = key.public_key().verify_pss_with(pss, &digest, signature.as_ref());
    assert_eq!(outcome, refused);
    let known = Pss::of(Hash::Sha256.into());
    assert_eq!(key.public_key().verify_pss_with(known, &digest, signature.as_ref()), Ok(()));
}

#[test]
fn a_function_is_printed_by_its_length() {
    let functions = [HashFunction::of::<Sm3>(), HashFunction::from(Hash::Sha256)];
    assert_eq!(format!("{functions:?}"), "[rsa::HashFunction(32 bytes), Sha256]");
    assert_eq!(HashFunction::of::<Blake2b512>().digest_length(), 64);
}
