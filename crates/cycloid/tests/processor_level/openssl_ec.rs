//! EC keys, ECDSA and ECDH compared with the command `openssl`: each side reads, verifies and
//! agrees with the other's output.

use crate::support::Generator;
use crate::support::openssl::{openssl, run};
use cycloid::scheme::ec::{
    BrainpoolP256, BrainpoolP384, BrainpoolP512, Curve, Error, P192, P224, P256, P384, P521,
    PrivateKey, PublicKey, Secp256k1, private_key_pem_length,
};
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::{FormatError, Hash};

/// Returns OpenSSL's name of a curve.
fn name<C: Curve>() -> &'static str {
    match C::NAME {
        "P-192" => "prime192v1",
        "P-224" => "secp224r1",
        "P-256" => "prime256v1",
        "P-384" => "secp384r1",
        "P-521" => "secp521r1",
        other => other,
    }
}

fn fresh<C: Curve>() -> Vec<u8> {
    openssl(&format!("ecparam -name {} -genkey", name::<C>()), b"")
}

/// Writes a file to the tests' own directory and returns its path.
fn temporary<C: Curve>(name: &str, contents: &[u8]) -> String {
    let path = format!("{}/ec-{}-{name}", env!("CARGO_TARGET_TMPDIR"), C::NAME);
    std::fs::write(&path, contents).unwrap();
    path
}

/// Returns a key of ours in every form, as OpenSSL writes it.
fn pkcs8_pem<C: Curve>(key: &PrivateKey<C>) -> Vec<u8> {
    key.to_pkcs8_pem(&mut vec![0; private_key_pem_length::<C>()]).unwrap().into()
}

fn sec1_pem<C: Curve>(key: &PrivateKey<C>) -> Vec<u8> {
    key.to_sec1_pem(&mut vec![0; private_key_pem_length::<C>()]).unwrap().into()
}

fn spki_pem<C: Curve>(key: &PublicKey<C>) -> Vec<u8> {
    key.to_spki_pem(&mut vec![0; private_key_pem_length::<C>()]).unwrap().into()
}

fn read<C: Curve>() {
    let fresh = fresh::<C>();
    let key = PrivateKey::<C>::from_pem(&fresh).unwrap();
    let pkcs8 = openssl("pkcs8 -topk8 -nocrypt", &fresh);
    assert_eq!(pkcs8_pem(&key), pkcs8);
    assert!(fresh.ends_with(&sec1_pem(&key)));
    let der = openssl("pkcs8 -topk8 -nocrypt -outform DER", &fresh);
    for again in [
        PrivateKey::<C>::from_pkcs8_pem(&pkcs8),
        PrivateKey::from_sec1_pem(&fresh),
        PrivateKey::from_pkcs8_der(&der),
        PrivateKey::from_sec1_der(&openssl("ec -outform DER", &fresh)),
        PrivateKey::from_pem(openssl("ec -no_public", &fresh)),
        PrivateKey::from_pem(openssl("ec -conv_form compressed", &fresh)),
    ] {
        assert_eq!(pkcs8_pem(&again.unwrap()), pkcs8);
    }
    let public = openssl("ec -pubout", &fresh);
    assert_eq!(spki_pem(key.public_key()), public);
    let compressed = openssl("ec -pubout -conv_form compressed", &fresh);
    assert_ne!(compressed, public);
    for again in [
        PublicKey::<C>::from_spki_pem(&public),
        PublicKey::from_spki_pem(&compressed),
        PublicKey::from_spki_der(&openssl("ec -pubout -outform DER", &fresh)),
    ] {
        assert_eq!(again.unwrap(), *key.public_key());
    }
}

fn written<C: Curve>() {
    let key = PrivateKey::<C>::generate(&mut Generator::new(C::BITS as u64)).unwrap();
    for pem in [pkcs8_pem(&key), sec1_pem(&key)] {
        let checked = openssl("pkey -check -noout", &pem);
        let checked = String::from_utf8_lossy(&checked);
        assert!(checked.contains("Key is valid"), "{checked}");
        assert_eq!(openssl("pkey", &pem), pkcs8_pem(&key));
        assert_eq!(openssl("pkey -pubout", &pem), spki_pem(key.public_key()));
    }
    let mut der = vec![0; private_key_pem_length::<C>()];
    assert_eq!(openssl("ec -inform DER", key.to_sec1_der(&mut der).unwrap()), sec1_pem(&key));
    let spki = key.public_key().to_spki_der(&mut der).unwrap();
    assert_eq!(openssl("pkey -pubin -inform DER", spki), spki_pem(key.public_key()));
}

fn refused<C: Curve>() {
    let fresh = fresh::<C>();
    let error = |pem: &[u8]| PrivateKey::<C>::from_pem(pem).unwrap_err();
    for explicit in [
        openssl("ec -param_enc explicit", &fresh),
        openssl(&format!("ecparam -name {} -genkey -param_enc explicit", name::<C>()), b""),
    ] {
        assert_eq!(error(&explicit), Error::Format(FormatError::ExplicitParameters));
        let pkcs8 = openssl("pkcs8 -topk8 -nocrypt", &explicit);
        assert_eq!(error(&pkcs8), Error::Format(FormatError::ExplicitParameters));
        let public = openssl("ec -pubout -param_enc explicit", &explicit);
        assert_eq!(
            PublicKey::<C>::from_spki_pem(&public),
            Err(Error::Format(FormatError::ExplicitParameters))
        );
    }
    let others = ["secp256k1", "brainpoolP256r1", "prime192v1", "secp224k1"];
    for other in others.into_iter().filter(|other| *other != name::<C>()) {
        let other = openssl(&format!("ecparam -name {other} -genkey"), b"");
        assert_eq!(error(&other), Error::Format(FormatError::OtherCurve));
        assert_eq!(
            error(&openssl("pkcs8 -topk8 -nocrypt", &other)),
            Error::Format(FormatError::OtherCurve)
        );
        let public = openssl("ec -pubout", &other);
        assert_eq!(
            PublicKey::<C>::from_spki_pem(&public),
            Err(Error::Format(FormatError::OtherCurve))
        );
    }
    for cipher in ["-v2 aes-256-cbc", "-scrypt"] {
        let arguments = format!("pkcs8 -topk8 -passout pass:cycloid {cipher}");
        assert_eq!(
            error(&openssl(&arguments, &fresh)),
            Error::Format(FormatError::Encrypted),
            "{cipher}"
        );
        let der = openssl(&format!("{arguments} -outform DER"), &fresh);
        assert_eq!(
            PrivateKey::<C>::from_der(&der).unwrap_err(),
            Error::Format(FormatError::Encrypted),
            "{cipher}"
        );
    }
    let traditional = openssl("ec -aes256 -passout pass:cycloid", &fresh);
    assert_eq!(error(&traditional), Error::Format(FormatError::Encrypted));
    let edwards = openssl("genpkey -algorithm ED25519", b"");
    assert_eq!(error(&edwards), Error::Format(FormatError::Algorithm));
    let public = openssl("pkey -pubout", &edwards);
    assert_eq!(PublicKey::<C>::from_spki_pem(&public), Err(Error::Format(FormatError::Algorithm)));
}

const HASHES: [(Hash, &str); 9] = [
    (Hash::Sha1, "sha1"),
    (Hash::Sha224, "sha224"),
    (Hash::Sha256, "sha256"),
    (Hash::Sha384, "sha384"),
    (Hash::Sha512, "sha512"),
    (Hash::Sha512_224, "sha512-224"),
    (Hash::Sha512_256, "sha512-256"),
    (Hash::Sha3_256, "sha3-256"),
    (Hash::Sha3_512, "sha3-512"),
];

fn signatures<C: Curve>() {
    let ours = PrivateKey::<C>::generate(&mut Generator::new(C::BITS as u64 + 1)).unwrap();
    let private = temporary::<C>("private.pem", &sec1_pem(&ours));
    let public = temporary::<C>("public.pem", &spki_pem(ours.public_key()));
    for (hash, name) in HASHES {
        for message in [&b""[..], b"message", &[0xa5; 1000]] {
            let signed = openssl(&format!("dgst -{name} -sign {private}"), message);
            let signature = Signature::<C>::from_der(&signed).unwrap();
            assert_eq!(signature.to_der()[..], signed);
            assert_eq!(ours.public_key().verify(hash, message, &signature), Ok(()));
            let other = ours.public_key().verify(hash, b"massage", &signature);
            assert_eq!(other, Err(Error::Verification));

            for signature in [ours.sign(hash, message), ours.sign(hash, message).normalize_s()] {
                let path = temporary::<C>("signature", &signature.to_der());
                let verify = format!("dgst -{name} -verify {public} -signature {path}");
                openssl(&verify, message);
                assert!(run(&verify, b"massage").is_none());
            }
        }
    }
}

fn agreement<C: Curve>() {
    let theirs = fresh::<C>();
    let ours = PrivateKey::<C>::generate(&mut Generator::new(C::BITS as u64 + 2)).unwrap();
    let private = temporary::<C>("theirs.pem", &theirs);
    let public = temporary::<C>("ours.pem", &spki_pem(ours.public_key()));
    let peer = PublicKey::<C>::from_spki_pem(openssl("ec -pubout", &theirs)).unwrap();
    let secret = openssl(&format!("pkeyutl -derive -inkey {private} -peerkey {public}"), b"");
    assert_eq!(ours.agree(&peer)[..], secret);
    // OpenSSL's key, read here.
    let same = PrivateKey::<C>::from_pem(&theirs).unwrap();
    assert_eq!(same.agree(ours.public_key())[..], secret);
}

macro_rules! on_every_curve {
    ($($test:ident => $body:ident;)+) => {$(
        #[test]
        fn $test() {
            $body::<P224>();
            $body::<P256>();
            $body::<P384>();
            $body::<P521>();
            $body::<P192>();
            $body::<Secp256k1>();
            $body::<BrainpoolP256>();
            $body::<BrainpoolP384>();
            $body::<BrainpoolP512>();
        }
    )+};
}

on_every_curve! {
    keys_written_by_openssl_are_read => read;
    openssl_reads_written_keys => written;
    unsupported_keys_have_their_own_errors => refused;
    signatures_both_ways => signatures;
    secrets_both_ways => agreement;
}
