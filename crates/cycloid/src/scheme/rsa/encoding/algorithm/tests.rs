//! RSASSA-PSS key files: all forms of parameters, unsupported ones, and writing a key with the
//! parameters it was read with.

use std::vec;
use std::vec::Vec;

use super::super::tests::{
    NULL, PSS, PSS_KEY, PSS_SHA256_KEY, decoded, from_der, from_pem, info, memory, pkcs8,
    public_from_der, scratch, spki, tlv,
};
use super::super::{PublicKey, private_key_der_length, private_key_pem_length};
use super::{Error, Hash, Pss, Restriction};
use crate::scheme::FormatError;

#[test]
fn a_key_for_pss_stays_restricted() {
    let sha256 = Pss::new(Hash::Sha256);
    for (pem, restriction) in
        [(PSS_KEY, Restriction::Pss), (PSS_SHA256_KEY, Restriction::PssWith(sha256))]
    {
        let der = decoded(pem);
        let key = from_pem(pem).unwrap();
        assert_eq!((key.restriction(), pkcs8(&key)), (restriction, der.clone()));
        assert!(der.len() <= private_key_der_length(2048));
        let mut text = vec![0; private_key_pem_length(2048)];
        assert_eq!(key.to_pkcs8_pem(&mut text).unwrap(), pem);
        assert_eq!(from_der(&der).unwrap().restriction(), restriction);

        let public = key.public();
        let der = spki(&public);
        let again = public_from_der(&der).unwrap();
        assert_eq!((again.restriction(), spki(&again)), (restriction, der));
        let text = public.to_spki_pem(&mut text).unwrap();
        let again = PublicKey::from_pem(text, memory(), &mut scratch()).unwrap();
        assert_eq!(again.restriction(), restriction);
    }
}

/// Returns a field tagged [0] EXPLICIT and so on.
fn tagged(number: u8, contents: &[u8]) -> Vec<u8> {
    tlv(0xa0 | number, &[contents])
}

#[test]
fn parameters_of_pss() {
    const SHA1: &[u8] = b"\x06\x05\x2b\x0e\x03\x02\x1a";
    const SHA2: &[u8] = b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02";
    const MGF1: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x08";
    let sha2 = |which: u8| [SHA2, &[which]].concat();
    let hash = |oid: &[u8]| tlv(0x30, &[oid, NULL]);
    let mask = |hash: &[u8]| tlv(0x30, &[MGF1, hash]);
    let salt = |length: &[u8]| tagged(2, &tlv(2, &[length]));
    let allowed = |hash, mask_hash, salt_length| Some(Pss { hash, mask_hash, salt_length });
    use Hash::{Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_256};

    let [of_sha1, of_224, of_256, of_384, of_512] =
        [SHA1.to_vec(), sha2(4), sha2(1), sha2(2), sha2(3)].map(|oid| hash(&oid));
    let both = |hash: &[u8]| [tagged(0, hash), tagged(1, &mask(hash))].concat();
    let absent = tlv(0x30, &[&sha2(1)]);
    // Canonical forms, written as they were read.
    for (parameters, pss) in [
        (vec![], allowed(Sha1, Sha1, 20)),
        (salt(&[32]), allowed(Sha1, Sha1, 32)),
        (tagged(0, &of_256), allowed(Sha256, Sha1, 20)),
        (tagged(1, &mask(&of_384)), allowed(Sha1, Sha384, 20)),
        ([both(&of_224), salt(&[28])].concat(), allowed(Sha224, Sha224, 28)),
        ([both(&of_256), salt(&[32])].concat(), allowed(Sha256, Sha256, 32)),
        ([both(&of_384), salt(&[0])].concat(), allowed(Sha384, Sha384, 0)),
        ([both(&of_512), salt(&[0, 190])].concat(), allowed(Sha512, Sha512, 190)),
        (
            [tagged(0, &of_512), tagged(1, &mask(&of_256)), salt(&[64])].concat(),
            allowed(Sha512, Sha256, 64),
        ),
        (
            [both(&tlv(0x30, &[&sha2(6)])), salt(&[32])].concat(),
            allowed(Sha512_256, Sha512_256, 32),
        ),
        #[cfg(feature = "sha3")]
        (
            [both(&tlv(0x30, &[&sha2(9)])), salt(&[48])].concat(),
            allowed(Hash::Sha3_384, Hash::Sha3_384, 48),
        ),
    ] {
        let file = info(0, &[PSS, &tlv(0x30, &[&parameters])], &[]);
        let key = from_der(&file).unwrap();
        assert_eq!(key.restriction(), Restriction::PssWith(pss.unwrap()));
        assert_eq!(pkcs8(&key), file);
    }
    // Other accepted forms (RFC 4055, section 2.1): absent instead of NULL, and explicit defaults.
    let default = [both(&of_sha1), salt(&[20]), tagged(3, &[2, 1, 1])].concat();
    let without_null = [tagged(0, &absent), tagged(1, &mask(&absent)), salt(&[32])].concat();
    for (parameters, pss) in [
        (default, allowed(Sha1, Sha1, 20)),
        (without_null, allowed(Sha256, Sha256, 32)),
        (tagged(3, &[2, 1, 1]), allowed(Sha1, Sha1, 20)),
    ] {
        let key = from_der(&info(0, &[PSS, &tlv(0x30, &[&parameters])], &[])).unwrap();
        assert_eq!(key.restriction(), Restriction::PssWith(pss.unwrap()));
        assert_eq!(from_der(&pkcs8(&key)).unwrap().restriction(), key.restriction());
    }

    let unknown: &[u8] = b"\x06\x01\x2a";
    let error = Error::PssParameters;
    for (parameters, error) in [
        // SHAKE128, and something that is not a hash function.
        (tagged(0, &hash(&sha2(11))), error),
        (tagged(0, &hash(unknown)), error),
        (tagged(0, &tlv(0x30, &[&sha2(1), b"\x02\x01\x05"])), error),
        (tagged(1, &tlv(0x30, &[unknown, &of_256])), error),
        (tagged(1, &tlv(0x30, &[MGF1])), error),
        (tagged(1, &mask(NULL)), error),
        (tagged(1, &mask(&hash(&sha2(11)))), error),
        // Another trailer value.
        (tagged(3, &[2, 1, 2]), error),
        (salt(&[0x80]), error),
        (salt(&[0, 32]), error),
        (salt(&[1, 0, 0]), error),
        (salt(&[]), error),
        ([salt(&[32]), tagged(0, &of_256)].concat(), error),
        ([salt(&[32]), salt(&[32])].concat(), error),
        ([salt(&[32]), NULL.to_vec()].concat(), error),
        (tagged(4, NULL), error),
        (vec![0xa0], Error::Format(FormatError::Der)),
        // A salt that does not fit.
        ([both(&of_512), salt(&[0, 191])].concat(), Error::SaltTooLong),
        ([both(&of_512), salt(&[0x7f, 0xff])].concat(), Error::SaltTooLong),
    ] {
        let algorithm: &[&[u8]] = &[PSS, &tlv(0x30, &[&parameters])];
        let outcome = from_der(&info(0, algorithm, &[])).err();
        // Malformed DER may already be detected when the file is parsed.
        assert!([Some(error), Some(Error::PssParameters)].contains(&outcome), "{parameters:x?}");
    }
}

#[cfg(feature = "sha3")]
#[test]
fn keys_for_pss_with_shake() {
    let oid = |last: u8| [b"\x06\x08\x2b\x06\x01\x05\x05\x07\x06".as_slice(), &[last]].concat();
    for (last, hash) in [(30, Hash::Shake128), (31, Hash::Shake256)] {
        let file = info(0, &[&oid(last)], &[]);
        let key = from_der(&file).unwrap();
        assert_eq!(key.restriction(), Restriction::PssWith(Pss::new(hash)));
        assert_eq!(pkcs8(&key), file);
        let public = public_from_der(&spki(&key.public())).unwrap();
        assert_eq!(public.restriction(), key.restriction());
        assert_eq!(from_der(&info(0, &[&oid(last), NULL], &[])).err(), Some(Error::PssParameters));
        // Nothing but these parameters has an identifier.
        for pss in [
            Pss { salt_length: 20, ..Pss::new(hash) },
            Pss { mask_hash: Hash::Sha256, ..Pss::new(hash) },
            Pss { mask_hash: hash, ..Pss::new(Hash::Sha256) },
        ] {
            let narrowed = Restriction::None.narrowed(Restriction::PssWith(pss), 2048);
            assert_eq!(narrowed, Err(Error::PssParameters));
        }
    }
}
