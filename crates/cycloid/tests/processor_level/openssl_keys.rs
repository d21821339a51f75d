//! RSA keys exchanged with the `openssl` command: each side reads the other's output.

use crate::support::Generator;
use crate::support::openssl::{openssl, run};
use cycloid::scheme::rsa::{
    Context, Error, MAX_BITS, PrivateKey, Pss, PublicKey, Restriction, context_limbs,
    generate_scratch_limbs, pem_scratch_limbs, private_key_limbs, private_key_pem_length,
    public_key_limbs, public_key_pem_length, verify_scratch_limbs,
};
use cycloid::scheme::{FormatError, Hash};

type Private = PrivateKey<Vec<u64>>;
type Public = PublicKey<Vec<u64>>;

fn file(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/rsa/{name}.pem", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const LENGTHS: [usize; 5] = [2048, 2050, 3072, 4096, 8192];

fn private(read: impl FnOnce(Vec<u64>, &mut [u64]) -> Result<Private, Error>) -> Private {
    try_private(read).unwrap()
}

fn try_private(
    read: impl FnOnce(Vec<u64>, &mut [u64]) -> Result<Private, Error>,
) -> Result<Private, Error> {
    read(vec![0; private_key_limbs(MAX_BITS)], &mut vec![0; pem_scratch_limbs(MAX_BITS)])
}

fn public(read: impl FnOnce(Vec<u64>, &mut [u64]) -> Result<Public, Error>) -> Public {
    read(vec![0; public_key_limbs(MAX_BITS)], &mut vec![0; pem_scratch_limbs(MAX_BITS)]).unwrap()
}

/// Asserts that a private key is the one in a PEM text of OpenSSL's.
#[track_caller]
fn assert_same(key: &Private, pem: &[u8]) {
    let mut text = vec![0; private_key_pem_length(MAX_BITS)];
    assert_eq!(key.to_pkcs8_pem(&mut text).unwrap().as_bytes(), pem);
}

#[track_caller]
fn assert_same_public(key: &Public, pem: &[u8]) {
    let mut text = vec![0; public_key_pem_length(MAX_BITS)];
    assert_eq!(key.to_spki_pem(&mut text).unwrap().as_bytes(), pem);
}

#[test]
fn keys_written_by_openssl_are_read() {
    for bits in LENGTHS {
        let pem = file(&bits.to_string());
        assert_same(&private(|m, s| PrivateKey::from_pkcs8_pem(&pem, m, s)), &pem);
        let written = openssl("rsa -traditional", &pem);
        assert_same(&private(|m, s| PrivateKey::from_pkcs1_pem(&written, m, s)), &pem);
        let written = openssl("rsa -traditional -outform DER", &pem);
        assert_same(&private(|m, s| PrivateKey::from_pkcs1_der(&written, m, s)), &pem);
        let written = openssl("pkcs8 -topk8 -nocrypt -outform DER", &pem);
        assert_same(&private(|m, s| PrivateKey::from_pkcs8_der(&written, m, s)), &pem);

        let written = openssl("rsa -pubout", &pem);
        let public_pem = written.clone();
        assert_same_public(&public(|m, s| PublicKey::from_spki_pem(&written, m, s)), &public_pem);
        let written = openssl("rsa -pubout -outform DER", &pem);
        assert_same_public(&public(|m, s| PublicKey::from_spki_der(&written, m, s)), &public_pem);
        let written = openssl("rsa -RSAPublicKey_out", &pem);
        assert_same_public(&public(|m, s| PublicKey::from_pkcs1_pem(&written, m, s)), &public_pem);
        let written = openssl("rsa -RSAPublicKey_out -outform DER", &pem);
        assert_same_public(&public(|m, s| PublicKey::from_pkcs1_der(&written, m, s)), &public_pem);
    }
}

/// Asserts that OpenSSL reads a key of ours in all its forms.
fn assert_openssl_reads(key: &Private) {
    let mut buffer = vec![0; private_key_pem_length(MAX_BITS)];
    let pem = key.to_pkcs8_pem(&mut buffer).unwrap().as_bytes().to_vec();
    let checked = |arguments: &str, input: &[u8]| {
        let output = openssl(&format!("{arguments} -check -noout"), input);
        let output = String::from_utf8_lossy(&output);
        assert!(["Key is valid", "RSA key ok"].iter().any(|ok| output.contains(ok)), "{output}");
    };
    checked("pkey", &pem);
    // OpenSSL takes ten seconds to check a long key, so it checks one form, and reads the others.
    let read = |arguments: &str, input: &[u8]| {
        if key.bits() <= 4096 {
            checked(arguments, input);
        } else {
            openssl(&format!("{arguments} -noout"), input);
        }
    };
    read("rsa", key.to_pkcs1_pem(&mut buffer).unwrap().as_bytes());
    read("pkey -inform DER", key.to_pkcs8_der(&mut buffer).unwrap());
    read("rsa -inform DER", key.to_pkcs1_der(&mut buffer).unwrap());
    assert_eq!(openssl("pkey", key.to_pkcs1_der(&mut buffer).unwrap()), pem);

    // The public key that OpenSSL derives equals the one in the file.
    let derived = openssl("pkey -pubout", &pem);
    let public = key.public();
    assert_eq!(public.to_spki_pem(&mut buffer).unwrap().as_bytes(), derived);
    let spki = public.to_spki_der(&mut buffer).unwrap();
    assert_eq!(openssl("pkey -pubin -inform DER", spki), derived);
    let pkcs1 = public.to_pkcs1_pem(&mut buffer).unwrap().as_bytes();
    assert_eq!(openssl("rsa -RSAPublicKey_in", pkcs1), derived);
    let pkcs1 = public.to_pkcs1_der(&mut buffer).unwrap();
    assert_eq!(openssl("rsa -RSAPublicKey_in -inform DER", pkcs1), derived);
}

#[test]
fn openssl_reads_written_keys() {
    for bits in LENGTHS {
        let pem = file(&bits.to_string());
        assert_openssl_reads(&private(|m, s| PrivateKey::from_pem(&pem, m, s)));
    }
}

#[test]
fn openssl_reads_generated_keys() {
    for (bits, exponent) in [(2048, 65537), (2050, 0xffff_fffb)] {
        let mut scratch = vec![0; generate_scratch_limbs(bits)];
        let memory = vec![0; private_key_limbs(bits)];
        let key =
            PrivateKey::generate(bits, exponent, memory, &mut Generator::new(1), &mut scratch)
                .unwrap();
        assert_openssl_reads(&key);
    }
}

#[test]
fn fresh_keys_of_openssl() {
    for arguments in ["genrsa 2048", "genrsa -3 2048", "genrsa -F4 2304"] {
        let pem = openssl(arguments, b"");
        assert_same(&private(|m, s| PrivateKey::from_pem(&pem, m, s)), &pem);
    }
}

/// Returns options of `openssl genpkey` for the hash functions and the salt of an RSASSA-PSS key,
/// and the resulting restriction.
fn restrictions() -> Vec<(String, Restriction)> {
    let mut all = vec![(String::new(), Restriction::Pss)];
    for (hash, mask_hash, salt_length) in [
        (Hash::Sha1, Hash::Sha1, 20),
        (Hash::Sha256, Hash::Sha256, 32),
        (Hash::Sha256, Hash::Sha256, 20),
        (Hash::Sha384, Hash::Sha384, 0),
        (Hash::Sha512, Hash::Sha256, 64),
        (Hash::Sha224, Hash::Sha512, 100),
    ] {
        let name = |hash: Hash| format!("{hash:?}").to_lowercase();
        let options = format!(
            "-pkeyopt rsa_pss_keygen_md:{} -pkeyopt rsa_pss_keygen_mgf1_md:{} \
             -pkeyopt rsa_pss_keygen_saltlen:{salt_length}",
            name(hash),
            name(mask_hash)
        );
        all.push((options, Restriction::PssWith(Pss { hash, mask_hash, salt_length })));
    }
    all
}

#[test]
fn keys_for_pss_stay_restricted() {
    for (i, (options, restriction)) in restrictions().into_iter().enumerate() {
        let made =
            format!("genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 {options}");
        let pem = openssl(&made, b"");
        let key = private(|m, s| PrivateKey::from_pem(&pem, m, s));
        assert_eq!(key.restriction(), restriction, "{options}");
        assert_same(&key, &pem);
        let der = openssl("pkey -outform DER", &pem);
        assert_same(&private(|m, s| PrivateKey::from_der(&der, m, s)), &pem);

        // The public key, from OpenSSL's output and from ours.
        let spki = openssl("pkey -pubout", &pem);
        let public = public(|m, s| PublicKey::from_pem(&spki, m, s));
        assert_eq!(public.restriction(), restriction);
        assert_same_public(&public, &spki);
        let mut buffer = vec![0; public_key_pem_length(MAX_BITS)];
        assert_eq!(key.public().to_spki_pem(&mut buffer).unwrap().as_bytes(), spki);

        // A permitted and a forbidden signature, from each side.
        let pss = match restriction {
            Restriction::PssWith(pss) => pss,
            _ => Pss::new(Hash::Sha256),
        };
        let name = |hash: Hash| format!("{hash:?}").to_lowercase();
        let hash = name(pss.hash);
        let length = pss.salt_length;
        let mask = name(pss.mask_hash);
        let sigopt = format!(
            "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:{length} \
             -sigopt rsa_mgf1_md:{mask}"
        );
        let private_path = temporary(&format!("pss-private-{i}.pem"), &pem);
        let public_path = temporary(&format!("pss-public-{i}.pem"), &spki);
        let mut memory = vec![0; context_limbs(2048)];
        let mut context = Context::new(&key, Generator::new(3), &mut memory).unwrap();
        let mut signature = vec![0; 256];
        let mut scratch = vec![0; verify_scratch_limbs(2048)];
        let digest = crate::support::digest(pss.hash, b"message");

        let signed = openssl(&format!("dgst -{hash} {sigopt} -sign {private_path}"), b"message");
        public.verify_pss_with(pss, &digest, &signed, &mut scratch).unwrap();
        if matches!(pss.hash, Hash::Sha256 | Hash::Sha384 | Hash::Sha512) {
            context.sign_pss_with(pss, &digest, &mut signature).unwrap();
            let path = temporary(&format!("pss-signature-{i}"), &signature);
            let verify = format!("dgst -{hash} {sigopt} -verify {public_path} -signature {path}");
            openssl(&verify, b"message");
        }
        let outcome = context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature);
        assert_eq!(outcome, Err(Error::Restricted));
        let pkcs1 = format!("dgst -sha256 -sigopt rsa_padding_mode:pkcs1 -sign {private_path}");
        assert!(run(&pkcs1, b"message").is_none());
        if let Restriction::PssWith(allowed) = restriction {
            let other = Pss { salt_length: length + 1, ..Pss::new(Hash::Sha384) };
            let outcome = context.sign_pss_with(other, &[1; 48], &mut signature);
            let refused = allowed.hash != Hash::Sha384;
            assert_eq!(outcome == Err(Error::RestrictedPss { allowed }), refused, "{options}");
            if length > 0 {
                let short = Pss { salt_length: length - 1, ..pss };
                let outcome = public.verify_pss_with(short, &digest, &signed, &mut scratch);
                assert_eq!(outcome, Err(Error::RestrictedPss { allowed }));
            }
        }
    }
}

#[test]
fn unsupported_keys_have_their_own_errors() {
    let read = |file: &[u8]| try_private(|m, s| PrivateKey::from_pem(file, m, s)).err();
    let read_der = |file: &[u8]| try_private(|m, s| PrivateKey::from_der(file, m, s)).err();
    let pem = file("2048");
    for cipher in ["-v2 aes-256-cbc", "-v1 PBE-SHA1-3DES", "-scrypt"] {
        let arguments = format!("pkcs8 -topk8 -passout pass:cycloid {cipher}");
        assert_eq!(
            read(&openssl(&arguments, &pem)),
            Some(Error::Format(FormatError::Encrypted)),
            "{cipher}"
        );
        let der = openssl(&format!("{arguments} -outform DER"), &pem);
        assert_eq!(read_der(&der), Some(Error::Format(FormatError::Encrypted)), "{cipher}");
    }
    let traditional = openssl("rsa -traditional -aes256 -passout pass:cycloid", &pem);
    assert_eq!(read(&traditional), Some(Error::Format(FormatError::Encrypted)));

    // RSASSA-PSS with SHA-512/256, and with SHAKE128 in its place, which MGF1 does not use.
    let restricted = openssl(
        "genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 \
         -pkeyopt rsa_pss_keygen_md:sha512-256 -pkeyopt rsa_pss_keygen_mgf1_md:sha512-256",
        b"",
    );
    let shake = |mut der: Vec<u8>| {
        const SHA512_256: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x02\x06";
        let places = der.windows(SHA512_256.len()).enumerate();
        let places: Vec<_> =
            places.filter(|(_, part)| *part == SHA512_256).map(|(i, _)| i).collect();
        assert_eq!(places.len(), 2);
        places.iter().for_each(|i| der[i + SHA512_256.len() - 1] = 11);
        der
    };
    let der = openssl("pkey -outform DER", &restricted);
    assert_eq!(read_der(&der), None);
    assert_eq!(read_der(&shake(der)), Some(Error::PssParameters));
    let mut scratch = vec![0; pem_scratch_limbs(2048)];
    let der = openssl("pkey -pubout -outform DER", &restricted);
    let mut public = |der: &[u8]| {
        PublicKey::from_spki_der(der, vec![0; public_key_limbs(2048)], &mut scratch).err()
    };
    assert_eq!(public(&der), None);
    assert_eq!(public(&shake(der)), Some(Error::PssParameters));
    let curve = openssl("pkey -pubout", &file("p256"));
    let outcome = PublicKey::from_pem(&curve, vec![0; public_key_limbs(2048)], &mut scratch);
    assert_eq!(outcome.unwrap_err(), Error::Format(FormatError::Algorithm));
}

/// Writes a file to the tests' own directory and returns its path.
fn temporary(name: &str, contents: &[u8]) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, contents).unwrap();
    path
}

#[test]
fn signatures_with_keys_from_files() {
    for bits in [2048, 2050, 4096] {
        let pem = file(&bits.to_string());
        let key = private(|m, s| PrivateKey::from_pem(&pem, m, s));
        let mut buffer = vec![0; private_key_pem_length(bits)];
        let public = key.public().to_spki_pem(&mut buffer).unwrap().as_bytes().to_vec();
        let public_path = temporary(&format!("public-{bits}.pem"), &public);
        let private = key.to_pkcs1_pem(&mut buffer).unwrap().as_bytes();
        let private_path = temporary(&format!("private-{bits}.pem"), private);

        let mut memory = vec![0; context_limbs(bits)];
        let mut context = Context::new(&key, Generator::new(3), &mut memory).unwrap();
        let mut signature = vec![0; bits.div_ceil(8)];
        let mut scratch = vec![0; verify_scratch_limbs(bits)];
        let pss = "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest";

        context.sign_pkcs1v15(Hash::Sha256, b"message", &mut signature).unwrap();
        let path = temporary(&format!("pkcs1v15-{bits}"), &signature);
        openssl(&format!("dgst -sha256 -verify {public_path} -signature {path}"), b"message");
        context.sign_pss(Hash::Sha384, b"message", &mut signature).unwrap();
        let path = temporary(&format!("pss-{bits}"), &signature);
        openssl(&format!("dgst -sha384 {pss} -verify {public_path} -signature {path}"), b"message");
        let wrong =
            run(&format!("dgst -sha384 {pss} -verify {public_path} -signature {path}"), b"");
        assert!(wrong.is_none());

        let signed = openssl(&format!("dgst -sha512 -sign {private_path}"), b"message");
        key.public().verify_pkcs1v15(Hash::Sha512, b"message", &signed, &mut scratch).unwrap();
        let signed = openssl(&format!("dgst -sha256 {pss} -sign {private_path}"), b"message");
        key.public().verify_pss(Hash::Sha256, b"message", &signed, &mut scratch).unwrap();
    }
}
