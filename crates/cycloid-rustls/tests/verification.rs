//! Verification of signatures with odd keys and odd signatures: the same outcome as rustls's own
//! provider.

mod support;

use std::fs;

use cycloid_rustls::VERIFICATION_ALGORITHMS;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::SignatureVerificationAlgorithm;
use support::Certificate;

const MESSAGE: &[u8] = b"a message";

/// A public key as in a certificate's bit string, and its signatures.
struct Signed {
    public: Vec<u8>,
    signatures: Vec<Vec<u8>>,
}

impl Signed {
    /// Makes a key with `openssl`; the public key is in the last `length` bytes of its structure.
    fn new(place: &Certificate, options: &str, length: usize) -> Self {
        place.openssl(&format!("genpkey -quiet {options} -out odd.key"));
        place.openssl("pkey -in odd.key -pubout -outform DER -out odd.pub");
        let public = fs::read(place.path("odd.pub")).unwrap();
        let public = public[public.len() - length..].to_vec();
        fs::write(place.path("message"), MESSAGE).unwrap();
        let mut ways: Vec<String> = ["sha256", "sha384", "sha512"]
            .map(|hash| format!("-rawin -digest {hash}"))
            .into_iter()
            .collect();
        if options.contains("RSA") {
            let pss = ways.iter().map(|way| {
                format!("{way} -pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:digest")
            });
            // The longest hash does not fit into the shortest key.
            let fits = |way: &String| !(options.ends_with(":1024") && way.contains("sha512"));
            ways = pss.filter(fits).chain(ways.clone()).collect();
            let other = "-pkeyopt rsa_padding_mode:pss -pkeyopt rsa_pss_saltlen:20";
            ways.push(format!("-rawin -digest sha256 {other}"));
        }
        if options.contains("ED25519") {
            ways = vec!["-rawin".into()];
        }
        let sign = |way: String| {
            let files = "-sign -inkey odd.key -in message -out odd.signature";
            place.openssl(&format!("pkeyutl {files} {way}"));
            fs::read(place.path("odd.signature")).unwrap()
        };
        Self { public, signatures: ways.into_iter().map(sign).collect() }
    }
}

/// Returns spoiled forms of a key or signature: cut, extended, with changed bytes, and all zeros.
fn spoiled(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![
        bytes.to_vec(),
        Vec::new(),
        bytes[1..].to_vec(),
        bytes[..bytes.len() - 1].to_vec(),
        [bytes, &[0]].concat(),
        [&[0], bytes].concat(),
        vec![0; bytes.len()],
        vec![0xff; bytes.len()],
    ];
    let last = bytes.len() - 1;
    for (place, change) in (0..8.min(last))
        .chain([last / 2, last])
        .flat_map(|i| [(i, 0x01), (i, 0x02), (i, 0x80), (i, 0xff)])
    {
        let mut changed = bytes.to_vec();
        changed[place] ^= change;
        forms.push(changed);
    }
    forms
}

/// Returns other encodings of a point: compressed and hybrid, with either sign.
fn points(public: &[u8]) -> Vec<Vec<u8>> {
    let half = public.len() / 2;
    let mut forms: Vec<_> = [2, 3].map(|first| [&[first], &public[1..=half]].concat()).into();
    forms.extend([6, 7].map(|first| [&[first], &public[1..]].concat()));
    forms
}

/// Returns an ECDSA signature in other encodings: a long length, and padded or negative integers.
fn encodings(signature: &[u8]) -> Vec<Vec<u8>> {
    let header = if signature[1] & 0x80 == 0 { 2 } else { 3 };
    let body = &signature[header..];
    let r = usize::from(body[1]);
    let mut negative = body.to_vec();
    negative[2] |= 0x80;
    let padded = [&[2, r as u8 + 1, 0], &body[2..]].concat();
    let zero = [&[2, 1, 0], &body[2 + r..]].concat();
    let sequence = |body: &[u8]| match u8::try_from(body.len()).unwrap() {
        short @ ..128 => [&[0x30, short], body].concat(),
        long => [&[0x30, 0x81, long], body].concat(),
    };
    let mut long = [&[0x30, 0x82, 0, body.len() as u8], body].concat();
    if header == 2 {
        long = [&[0x30, 0x81, body.len() as u8], body].concat();
    }
    vec![sequence(&negative), sequence(&padded), sequence(&zero), long]
}

#[test]
fn odd_keys_and_signatures_are_judged_as_by_rustls() {
    let place = &Certificate::all("verification")[0];
    const RSA: &str = "-algorithm RSA -pkeyopt rsa_keygen_bits:";
    const EC: &str = "-algorithm EC -pkeyopt ec_paramgen_curve:";
    let cases = [
        ("RSA-1024", RSA, "1024", 140),
        ("RSA-2046", RSA, "2046", 269),
        ("RSA-2048", RSA, "2048", 270),
        ("RSA-2048, e = 3", RSA, "2048 -pkeyopt rsa_keygen_pubexp:3", 268),
        ("RSA-2056", RSA, "2056", 271),
        ("RSA-3000", RSA, "3000", 389),
        ("P-224", EC, "P-224", 57),
        ("P-256", EC, "P-256", 65),
        ("P-384", EC, "P-384", 97),
        ("P-521", EC, "P-521", 133),
        ("secp256k1", EC, "secp256k1", 65),
        ("Ed25519", "-algorithm ED25519", "", 32),
    ];
    let theirs = aws_lc_rs::default_provider().signature_verification_algorithms;
    let (mut accepted, mut algorithms) = (0, 0);
    let mut different = Vec::new();
    for (name, kind, size, length) in cases {
        let options = format!("{kind}{size}");
        let Signed { public, signatures } = Signed::new(place, &options, length);
        let mut pairs = Vec::new();
        let mut keys = spoiled(&public);
        if kind == EC {
            keys.extend(points(&public));
        }
        for signature in &signatures {
            pairs.extend(keys.iter().map(|key| (key.clone(), signature.clone())));
            let mut forms = spoiled(signature);
            if kind == EC {
                forms.extend(encodings(signature));
            }
            pairs.extend(forms.into_iter().map(|form| (public.clone(), form)));
        }
        for their in theirs.all {
            let is_same = |our: &&&dyn SignatureVerificationAlgorithm| {
                our.public_key_alg_id() == their.public_key_alg_id()
                    && our.signature_alg_id() == their.signature_alg_id()
            };
            // Without the feature `post-quantum`, ours has no ML-DSA.
            let Some(our) = VERIFICATION_ALGORITHMS.all.iter().find(is_same) else { continue };
            algorithms += 1;
            for (key, signature) in &pairs {
                let [ours, theirs] = [our, their]
                    .map(|algorithm| algorithm.verify_signature(key, MESSAGE, signature).is_ok());
                accepted += u32::from(ours);
                if ours != theirs {
                    different.push(format!(
                        "{name}, {our:?}: {ours}; key {:02x?} of {}, signature {:02x?} of {}",
                        &key[..key.len().min(8)],
                        key.len(),
                        &signature[..signature.len().min(8)],
                        signature.len()
                    ));
                }
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(accepted > 30 && algorithms >= 19 * cases.len(), "{accepted}, {algorithms}");
}
