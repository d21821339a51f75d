//! Encodings of BLS12-381: decoding any bytes gives an error, or a value that encodes to the same
//! bytes.

#![no_main]

use std::sync::LazyLock;

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::signature::{MinPk, MinSig, PublicKey, SecretKey, Signature};
use cycloid::bls12_381::{Affine, Backend, CurvePoint, Error, Fq12, Fr, Gt, Projective};
use cycloid_blst::Blst;
use cycloid_fuzz::Input;
use libfuzzer_sys::fuzz_target;

/// Values in every format, because random bytes rarely are valid.
static ENCODINGS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut encodings = [points::<Blst, First>(), points::<Blst, Second>()].concat();
    encodings.push(Fr::<Blst>::from(7).to_bytes().to_vec());
    encodings.push(Gt::<Blst>::generator().to_bytes().to_vec());
    encodings.push(b"0x1234567890".to_vec());
    encodings
});

fn points<B: Backend + Group<G>, G: SourceGroup>() -> Vec<Vec<u8>> {
    let generator = Projective::<B, G>::generator();
    let points = [Projective::identity(), generator, -generator.double()];
    let encodings = points.map(|point| {
        let point = point.to_affine();
        [point.to_compressed().as_ref().to_vec(), point.to_uncompressed().as_ref().to_vec()]
    });
    encodings.concat()
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let encoding = match input.byte() {
        0 => bytes.get(1..).unwrap_or_default().to_vec(),
        which => input.changed(&ENCODINGS[usize::from(which) % ENCODINGS.len()]),
    };
    decode::<Blst>(&encoding);
});

fn decode<B: Backend>(bytes: &[u8]) {
    decode_point::<B, First>(bytes);
    decode_point::<B, Second>(bytes);
    if let Ok(key) = PublicKey::<B, MinPk>::from_bytes(bytes) {
        assert!(!key.as_affine().is_identity());
    }
    if let Ok(key) = PublicKey::<B, MinSig>::from_bytes(bytes) {
        assert!(!key.as_affine().is_identity());
    }
    let signature = Signature::<B, MinPk>::from_bytes(bytes).map(|s| *s.as_affine());
    assert_eq!(signature, Affine::from_bytes(bytes));
    if let Ok(key) = SecretKey::<B, MinPk>::from_bytes(bytes) {
        assert_eq!(key.to_bytes(), bytes);
    }
    if let Ok(scalar) = Fr::<B>::from_bytes(bytes) {
        assert_eq!(scalar.to_bytes(), bytes);
        assert_eq!(scalar.to_string().parse(), Ok(scalar));
    }
    assert_eq!(Fr::<B>::from_bytes_wide(bytes), reduced(bytes));
    if let Ok(Ok(scalar)) = std::str::from_utf8(bytes).map(str::parse::<Fr<B>>) {
        assert_eq!(Ok(scalar), Fr::from_bytes(&scalar.to_bytes()));
    }
    if let Ok(element) = Fq12::<B>::from_bytes(bytes) {
        assert_eq!(element.to_bytes(), bytes);
        assert_eq!(Gt::try_from(element), Gt::from_bytes(bytes));
    }
}

/// Horner's rule, byte by byte.
fn reduced<B: Backend>(bytes: &[u8]) -> Fr<B> {
    bytes.iter().rev().fold(Fr::ZERO, |sum, b| sum * Fr::from(256) + Fr::from(u64::from(*b)))
}

fn decode_point<B: Backend + Group<G>, G: SourceGroup>(bytes: &[u8]) {
    let any = CurvePoint::<B, G>::from_compressed(bytes);
    let member = Affine::<B, G>::from_compressed(bytes);
    assert_eq!(member, any.and_then(|point| point.to_member()));
    assert_eq!(Affine::<B, G>::from_compressed_unchecked(bytes).is_ok(), any.is_ok());
    if let Ok(point) = any {
        assert_eq!(point.to_compressed().as_ref(), bytes);
        assert_eq!(CurvePoint::from_uncompressed(point.to_uncompressed().as_ref()), Ok(point));
        assert_eq!(member.is_err(), !point.is_member());
    }
    let any = CurvePoint::<B, G>::from_uncompressed(bytes);
    if let Ok(point) = any {
        assert_eq!(point.to_uncompressed().as_ref(), bytes);
        assert_eq!(CurvePoint::from_compressed(point.to_compressed().as_ref()), Ok(point));
    }
    let mut encoding = G::COMPRESSED;
    if encoding.as_ref().len() == bytes.len() {
        encoding.as_mut().copy_from_slice(bytes);
        let mut results = [Err(Error::Empty)];
        let done = Affine::<B, G>::from_compressed_many(&[encoding], &mut results);
        assert_eq!((done, results[0]), (Ok(()), member));
    }
}
