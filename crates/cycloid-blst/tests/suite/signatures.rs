//! Signatures of both variants and all schemes: valid ones verify, and invalid ones are rejected.

use cycloid::bls12_381::backend::SourceGroup;
use cycloid::bls12_381::signature::{
    MinPk, MinSig, PublicKey, Scheme, SecretKey, Signature, SignatureBackend, Variant,
    aggregate_verify, batch_verify, fast_aggregate_verify, first_invalid,
};
use cycloid::bls12_381::{Affine, Backend, Error, Fr, Projective};
use num_bigint::BigUint;

use crate::support::{Generator, hex, on_every_backend, order};

pub(crate) const SCHEMES: [Scheme; 3] =
    [Scheme::Basic, Scheme::MessageAugmentation, Scheme::ProofOfPossession];

on_every_backend!(
    weighted_aggregates,
    single,
    tags,
    encodings,
    possession,
    aggregates,
    one_message,
    batches,
    key_generation,
    eip2333,
    secrets_stay,
);

/// Secret keys and their public keys.
type KeyPairs<B, V> = (Vec<SecretKey<B, V>>, Vec<PublicKey<B, V>>);

/// Returns deterministic keys.
pub(crate) fn keys<B: SignatureBackend<V>, V: Variant>(count: usize) -> KeyPairs<B, V> {
    let mut rng = Generator(30);
    let secret: Vec<_> =
        (0..count).map(|_| SecretKey::generate(&mut rng).expect("a sound generator")).collect();
    let public = secret.iter().map(SecretKey::public_key).collect();
    (secret, public)
}

fn single<B: Backend>() {
    single_of::<B, MinPk>();
    single_of::<B, MinSig>();
}

fn single_of<B: SignatureBackend<V>, V: Variant>() {
    let (secret, public) = keys::<B, V>(2);
    for scheme in SCHEMES {
        for message in [b"".as_slice(), b"message", &[0xa5; 300]] {
            let signature = secret[0].sign(scheme, message);
            assert_eq!(public[0].verify(scheme, message, &signature), Ok(()));
            let wrong = Err(Error::Verification);
            assert_eq!(public[1].verify(scheme, message, &signature), wrong);
            assert_eq!(public[0].verify(scheme, b"another", &signature), wrong);
            for other in SCHEMES.into_iter().filter(|other| *other != scheme) {
                assert_eq!(public[0].verify(other, message, &signature), wrong);
            }
            let negative = Signature::from_affine(-*signature.as_affine());
            assert_eq!(public[0].verify(scheme, message, &negative), wrong);
            let infinity = Signature::from_affine(Affine::identity());
            assert_eq!(public[0].verify(scheme, message, &infinity), wrong);
        }
    }
}

fn tags<B: Backend>() {
    tags_of::<B, MinPk>();
    tags_of::<B, MinSig>();
}

fn tags_of<B: SignatureBackend<V>, V: Variant>() {
    let (secret, public) = keys::<B, V>(1);
    let signature = secret[0].sign_with_tag(b"message", V::tag(Scheme::Basic));
    assert_eq!(signature, secret[0].sign(Scheme::Basic, b"message"));
    let long = [b't'; 300];
    let signature = secret[0].sign_with_tag(b"message", &long);
    assert_eq!(public[0].verify_with_tag(b"message", &long, &signature), Ok(()));
    let error = Err(Error::Verification);
    assert_eq!(public[0].verify_with_tag(b"message", &long[1..], &signature), error);
    // A signature with augmentation signs key and message, and has its own tag.
    let augmented = [public[0].to_bytes().as_ref(), b"message"].concat();
    let scheme = Scheme::MessageAugmentation;
    let signature = secret[0].sign_with_tag(&augmented, V::tag(scheme));
    assert_eq!(signature, secret[0].sign(scheme, b"message"));
}

fn encodings<B: Backend>() {
    encodings_of::<B, MinPk>();
    encodings_of::<B, MinSig>();
}

fn encodings_of<B: SignatureBackend<V>, V: Variant>() {
    let (secret, public) = keys::<B, V>(1);
    let key = public[0];
    assert_eq!(PublicKey::from_bytes(key.to_bytes().as_ref()), Ok(key));
    assert_eq!(PublicKey::from_bytes(key.to_uncompressed().as_ref()), Ok(key));
    assert_eq!(PublicKey::from_affine(*key.as_affine()), Ok(key));
    let signature = secret[0].sign(Scheme::Basic, b"message");
    assert_eq!(Signature::from_bytes(signature.to_bytes().as_ref()), Ok(signature));
    assert_eq!(Signature::from_bytes(signature.to_uncompressed().as_ref()), Ok(signature));
    let again = SecretKey::<B, V>::from_bytes(&secret[0].to_bytes()).expect("a key");
    assert_eq!(again.public_key(), key);

    let infinity = Affine::<B, V::Keys>::identity().to_compressed();
    assert_eq!(PublicKey::<B, V>::from_bytes(infinity.as_ref()), Err(Error::Infinity));
    assert_eq!(PublicKey::<B, V>::from_affine(Affine::identity()), Err(Error::Infinity));
    let needed = V::Keys::COMPRESSED.as_ref().len();
    let error = Err(Error::Length { needed, given: 0 });
    assert_eq!(PublicKey::<B, V>::from_bytes(&[]), error);

    let error = |bytes: &[u8]| SecretKey::<B, V>::from_bytes(bytes).err();
    assert_eq!(error(&[0; 32]), Some(Error::ZeroKey));
    assert_eq!(error(&[0xff; 32]), Some(Error::NotCanonical));
    assert_eq!(error(&order().to_bytes_be()), Some(Error::NotCanonical));
    assert_eq!(error(&(order() - 1_u32).to_bytes_be()), None);
    assert_eq!(error(&[1; 31]), Some(Error::Length { needed: 32, given: 31 }));
    assert_eq!(SecretKey::<B, V>::from_scalar(Fr::ZERO).err(), Some(Error::ZeroKey));
}

fn possession<B: Backend>() {
    possession_of::<B, MinPk>();
    possession_of::<B, MinSig>();
}

fn possession_of<B: SignatureBackend<V>, V: Variant>() {
    let (secret, public) = keys::<B, V>(2);
    let proof = secret[0].prove_possession();
    assert_eq!(public[0].verify_possession(&proof), Ok(()));
    assert_eq!(public[1].verify_possession(&proof), Err(Error::Verification));
    // A signature on the key as a message is not a proof of possession, because the tags differ.
    for scheme in SCHEMES {
        let signature = secret[0].sign(scheme, public[0].to_bytes().as_ref());
        assert_eq!(public[0].verify_possession(&signature), Err(Error::Verification));
    }
}

fn aggregates<B: Backend>() {
    aggregates_of::<B, MinPk>();
    aggregates_of::<B, MinSig>();
}

/// From one signature to more than two chunks.
fn aggregates_of<B: SignatureBackend<V>, V: Variant>() {
    let (secret, public) = keys::<B, V>(33);
    let texts: Vec<String> = (0..33).map(|i| format!("message {i}")).collect();
    let messages: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    for scheme in SCHEMES {
        let signatures: Vec<_> =
            secret.iter().zip(&messages).map(|(key, message)| key.sign(scheme, message)).collect();
        for n in [1, 2, 3, 7, 8, 9, 14, 15, 16, 17, 33] {
            let signature = Signature::aggregate(&signatures[..n]).expect("not empty");
            let verify = |public: &[_], messages: &[&[u8]]| {
                aggregate_verify(scheme, public, messages, &signature)
            };
            assert_eq!(verify(&public[..n], &messages[..n]), Ok(()), "{n}");
            let mut wrong = messages[..n].to_vec();
            wrong[n - 1] = b"another";
            assert_eq!(verify(&public[..n], &wrong), Err(Error::Verification));
            let mut wrong = public[..n].to_vec();
            wrong[n / 2] = public[(n / 2 + 1) % 33];
            assert_eq!(verify(&wrong, &messages[..n]), Err(Error::Verification));
            if n > 1 {
                let error = Err(Error::Verification);
                assert_eq!(verify(&public[1..n], &messages[1..n]), error);
            }
        }
    }
}

fn one_message<B: Backend>() {
    one_message_of::<B, MinPk>();
    one_message_of::<B, MinSig>();
}

fn one_message_of<B: SignatureBackend<V>, V: Variant>() {
    let (secret, public) = keys::<B, V>(70);
    let scheme = Scheme::ProofOfPossession;
    let signatures: Vec<_> = secret.iter().map(|key| key.sign(scheme, b"message")).collect();
    for n in [1, 2, 9, 63, 64, 65, 70] {
        let signature = Signature::aggregate(&signatures[..n]).expect("not empty");
        let verify = |n, message| fast_aggregate_verify(&public[..n], message, &signature);
        assert_eq!(verify(n, b"message"), Ok(()));
        assert_eq!(verify(n, b"another"), Err(Error::Verification));
        assert!(verify(n - 1, b"message").is_err());
        let key = PublicKey::aggregate(&public[..n]).expect("not infinity");
        assert_eq!(key.verify(scheme, b"message", &signature), Ok(()));
        // The same through the general function, which here accepts equal messages.
        let messages = vec![b"message".as_slice(); n];
        assert_eq!(aggregate_verify(scheme, &public[..n], &messages, &signature), Ok(()));
    }
}

fn batches<B: Backend>() {
    batches_of::<B, MinPk>();
    batches_of::<B, MinSig>();
}

fn batches_of<B: SignatureBackend<V>, V: Variant>() {
    let mut rng = Generator(31);
    let (secret, public) = keys::<B, V>(17);
    let texts: Vec<String> = (0..17).map(|i| format!("message {}", i / 2)).collect();
    let messages: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    for scheme in SCHEMES {
        let signatures: Vec<_> =
            secret.iter().zip(&messages).map(|(key, message)| key.sign(scheme, message)).collect();
        // The schemes differ only in how a message is hashed, so one has every count.
        let counts: &[usize] =
            if scheme == Scheme::Basic { &[1, 2, 3, 7, 8, 15, 16, 17] } else { &[1, 2, 9] };
        for &n in counts {
            let mut verify = |signatures: &[_]| {
                batch_verify(scheme, &public[..n], &messages[..n], signatures, &mut rng)
            };
            let mut weights = Generator(34);
            let mut first = |signatures: &[_]| {
                first_invalid(scheme, &public[..n], &messages[..n], signatures, &mut weights)
            };
            assert_eq!(verify(&signatures[..n]), Ok(()), "{n}");
            for wrong in [0, n / 2, n - 1] {
                let mut signatures = signatures[..n].to_vec();
                signatures[wrong] = secret[wrong].sign(scheme, b"another");
                assert_eq!(verify(&signatures), Err(Error::Verification));
                assert_eq!(first(&signatures), Ok(Some(wrong)));
                signatures[n - 1] = secret[n - 1].sign(scheme, b"another");
                assert_eq!(first(&signatures), Ok(Some(wrong)));
            }
            assert_eq!(first(&signatures[..n]), Ok(None));
            if n > 1 {
                // Errors that cancel each other in an aggregate.
                let mut signatures = signatures[..n].to_vec();
                let error = Projective::<B, V::Signatures>::generator();
                let [first, last] =
                    [0, n - 1].map(|i| Projective::from(*signatures[i].as_affine()));
                signatures[0] = Signature::from_affine((first + error).to_affine());
                signatures[n - 1] = Signature::from_affine((last - error).to_affine());
                assert_eq!(verify(&signatures), Err(Error::Verification));
                if scheme != Scheme::Basic {
                    let sum = Signature::aggregate(&signatures).expect("not empty");
                    assert_eq!(
                        aggregate_verify(scheme, &public[..n], &messages[..n], &sum),
                        Ok(())
                    );
                }
            }
        }
    }
}

fn key_generation<B: Backend>() {
    let material = [7; 32];
    let key = |material: &[u8], info: &[u8]| SecretKey::<B, MinPk>::key_gen(material, info);
    assert_eq!(key(&material[1..], b"").err(), Some(Error::KeyMaterialTooShort));
    let first = key(&material, b"").expect("enough").to_bytes();
    assert_ne!(first, key(&material, b"info").expect("enough").to_bytes());
    assert_ne!(first, key(&[8; 32], b"").expect("enough").to_bytes());
    // The draft's own salt is hashed before use.
    use sha2::Digest;
    let salt = sha2::Sha256::digest(b"BLS-SIG-KEYGEN-SALT-");
    let salted = SecretKey::<B, MinPk>::key_gen_with_salt(&material, b"", &salt);
    assert_eq!(first, salted.expect("enough").to_bytes());
}

/// The test cases 0 to 3 of EIP-2333.
fn eip2333<B: Backend>() {
    let cases = [
        (
            "c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c9\
             2f2cf141630c7a3c4ab7c81b2f001698e7463b04",
            "6083874454709270928345386274498605044986640685124978867557563392430687146096",
            0,
            "20397789859736650942317412262472558107875392172444076792671091975210932703118",
        ),
        (
            "3141592653589793238462643383279502884197169399375105820974944592",
            "29757020647961307431480504535336562678282505419141012933316116377660817309383",
            3_141_592_653,
            "25457201688850691947727629385191704516744796114925897962676248250929345014287",
        ),
        (
            "0099FF991111002299DD7744EE3355BBDD8844115566CC55663355668888CC00",
            "27580842291869792442942448775674722299803720648445448686099262467207037398656",
            4_294_967_295,
            "29358610794459428860402234341874281240803786294062035874021252734817515685787",
        ),
        (
            "d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3",
            "19022158461524446591288038168518313374041767046816487870552872741050760015818",
            42,
            "31372231650479070279774297061823572166496564838472787488249775572789064611981",
        ),
    ];
    for (seed, master, index, child) in cases {
        let key = SecretKey::<B, MinPk>::derive_master(&hex(seed)).expect("32 bytes");
        assert_eq!(BigUint::from_bytes_be(&key.to_bytes()).to_string(), master);
        let derived = key.derive_child(index);
        assert_eq!(BigUint::from_bytes_be(&derived.to_bytes()).to_string(), child);
        let path = SecretKey::<B, MinPk>::derive_path(&hex(seed), &[index]).expect("32 bytes");
        assert_eq!(path.to_bytes(), derived.to_bytes());
    }
    let error = SecretKey::<B, MinPk>::derive_master(&[1; 31]).err();
    assert_eq!(error, Some(Error::KeyMaterialTooShort));
}

fn secrets_stay<B: Backend>() {
    let (secret, _) = keys::<B, MinPk>(1);
    assert_eq!(format!("{:?}", secret[0]), "SecretKey");
}

fn weighted_aggregates<B: Backend>() {
    weighted_aggregates_of::<B, MinPk>();
    weighted_aggregates_of::<B, MinSig>();
}

fn weighted_aggregates_of<B: SignatureBackend<V>, V: Variant>() {
    let mut rng = Generator(33);
    let (secret, public) = keys::<B, V>(18);
    let scheme = Scheme::ProofOfPossession;
    let signatures: Vec<_> = secret.iter().map(|key| key.sign(scheme, b"message")).collect();
    for n in [1, 2, 15, 16, 17, 18] {
        let mut weights: Vec<_> =
            (0..n).map(|_| Fr::<B>::random(&mut rng).expect("a sound generator")).collect();
        weights[n / 2] = Fr::from(n as u64);
        let sum = Signature::weighted_aggregate(&signatures[..n], &weights).expect("a sum");
        let expected = signatures.iter().zip(&weights);
        let expected: Projective<B, V::Signatures> =
            expected.map(|(s, weight)| Projective::from(*s.as_affine()) * *weight).sum();
        assert_eq!(*sum.as_affine(), expected.to_affine());
        let key = PublicKey::weighted_aggregate(&public[..n], &weights).expect("a sum");
        assert_eq!(key.verify(scheme, b"message", &sum), Ok(()));
        weights[0] += Fr::ONE;
        let key = PublicKey::weighted_aggregate(&public[..n], &weights).expect("a sum");
        assert_eq!(key.verify(scheme, b"message", &sum), Err(Error::Verification));
    }
    let counts = Err(Error::Counts { first: 2, other: 1 });
    assert_eq!(Signature::weighted_aggregate(&signatures[..2], &[Fr::ONE]).map(drop), counts);
    assert_eq!(PublicKey::weighted_aggregate(&public[..2], &[Fr::ONE]).map(drop), counts);
    assert_eq!(Signature::<B, V>::weighted_aggregate(&[], &[]).map(drop), Err(Error::Empty));
    let same = [public[0], public[0]];
    let zero = PublicKey::weighted_aggregate(&same, &[Fr::ONE, -Fr::ONE]).map(drop);
    assert_eq!(zero, Err(Error::Infinity));
}
