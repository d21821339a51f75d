//! ZCash's encodings: zkcrypto's test points, every combination of flags, and all kinds of invalid
//! encodings.

use cycloid::bls12_381::backend::{First, Group, Second, SourceGroup};
use cycloid::bls12_381::{Affine, Backend, CurvePoint, Error, Projective};
use num_bigint::BigUint;

use crate::support::{Generator, curve_points, members, modulus, on_every_backend, read};

on_every_backend!(multiples_of_the_generator, flags, lengths, many_at_once, both_signs);

fn multiples_of_the_generator<B: Backend>() {
    zkcrypto::<B, First>("g1");
    zkcrypto::<B, Second>("g2");
}

/// The files contain 0·G, 1·G, …, 999·G.
fn zkcrypto<B: Backend + Group<G>, G: SourceGroup>(name: &str) {
    let file = |form| read(&format!("zkcrypto-bls12-381/{name}_{form}_valid_test_vectors.dat"));
    let (compressed, uncompressed) = (file("compressed"), file("uncompressed"));
    let (short, long) = (G::COMPRESSED.as_ref().len(), G::UNCOMPRESSED.as_ref().len());
    assert_eq!((compressed.len(), uncompressed.len()), (1000 * short, 1000 * long));
    let mut expected = Projective::<B, G>::identity();
    for (compressed, uncompressed) in compressed.chunks(short).zip(uncompressed.chunks(long)) {
        let point = expected.to_affine();
        assert_eq!(point.to_compressed().as_ref(), compressed);
        assert_eq!(point.to_uncompressed().as_ref(), uncompressed);
        assert_eq!(Affine::from_compressed(compressed), Ok(point));
        assert_eq!(Affine::from_uncompressed(uncompressed), Ok(point));
        assert_eq!(Affine::from_compressed_unchecked(compressed), Ok(point));
        assert_eq!(Affine::from_uncompressed_unchecked(uncompressed), Ok(point));
        assert_eq!(Affine::from_bytes(compressed), Ok(point));
        assert_eq!(Affine::from_bytes(uncompressed), Ok(point));
        expected = expected.add_affine(&Affine::generator());
    }
}

fn flags<B: Backend>() {
    flags_of::<B, First>();
    flags_of::<B, Second>();
}

/// All eight combinations of flags, with a point and with infinity.
fn flags_of<B: Backend + Group<G>, G: SourceGroup>() {
    let point = Affine::<B, G>::random(&mut Generator(8)).expect("a sound generator");
    for flags in 0..8 {
        let with_flags = |encoding: &[u8]| {
            let mut bytes = encoding.to_vec();
            bytes[0] = bytes[0] & 0x1f | flags << 5;
            bytes
        };
        let encoding = with_flags(point.to_compressed().as_ref());
        let decoded = Affine::<B, G>::from_compressed(&encoding);
        match flags {
            0b100 | 0b101 => assert!(decoded == Ok(point) || decoded == Ok(-point)),
            0b110 => assert_eq!(decoded, Err(Error::NotCanonical)),
            _ => assert_eq!(decoded, Err(Error::Flags), "{flags:03b}"),
        }
        let decoded =
            Affine::<B, G>::from_uncompressed(&with_flags(point.to_uncompressed().as_ref()));
        match flags {
            0b000 => assert_eq!(decoded, Ok(point)),
            0b010 => assert_eq!(decoded, Err(Error::NotCanonical)),
            _ => assert_eq!(decoded, Err(Error::Flags), "{flags:03b}"),
        }
        let decoded = Affine::<B, G>::from_compressed(&with_flags(G::COMPRESSED.as_ref()));
        match flags {
            0b110 => assert_eq!(decoded, Ok(Affine::identity())),
            // x = 0 belongs to a point of order 3 on the curve over Fp.
            0b100 | 0b101 => {
                let error = if G::DEGREE == 1 { Error::NotInGroup } else { Error::NotOnCurve };
                assert_eq!(decoded, Err(error));
            }
            _ => assert_eq!(decoded, Err(Error::Flags), "{flags:03b}"),
        }
        let decoded = Affine::<B, G>::from_uncompressed(&with_flags(G::UNCOMPRESSED.as_ref()));
        match flags {
            0b010 => assert_eq!(decoded, Ok(Affine::identity())),
            0b000 => assert_eq!(decoded, Err(Error::NotOnCurve), "(0, 0) is not infinity"),
            _ => assert_eq!(decoded, Err(Error::Flags), "{flags:03b}"),
        }
    }
}

fn lengths<B: Backend>() {
    lengths_of::<B, First>();
    lengths_of::<B, Second>();
}

fn lengths_of<B: Backend + Group<G>, G: SourceGroup>() {
    let (short, long) = (G::COMPRESSED.as_ref().len(), G::UNCOMPRESSED.as_ref().len());
    for given in 0..=long + 1 {
        let mut bytes = vec![0; given];
        bytes.iter_mut().take(1).for_each(|byte| *byte = 0xc0);
        let error = |needed| Err(Error::Length { needed, given });
        let decoded = Affine::<B, G>::from_compressed(&bytes);
        assert_eq!(decoded, if given == short { Ok(Affine::identity()) } else { error(short) });
        if given != long {
            assert_eq!(Affine::<B, G>::from_uncompressed(&bytes), error(long));
            assert_eq!(Affine::<B, G>::from_bytes(&bytes), decoded);
        }
    }
}

fn many_at_once<B: Backend>() {
    many_of::<B, First>();
    many_of::<B, Second>();
}

/// Valid and invalid encodings mixed, of every number up to more than two chunks.
fn many_of<B: Backend + Group<G>, G: SourceGroup>() {
    let mut encodings: Vec<G::Compressed> =
        members::<B, G>(20).iter().map(Affine::to_compressed).collect();
    for (i, point) in curve_points::<B, G>(6).iter().enumerate() {
        encodings.insert(3 * i, point.to_compressed());
    }
    let mut too_large = G::COMPRESSED;
    too_large.as_mut().fill(0xff);
    too_large.as_mut()[0] = 0x9f;
    encodings.insert(7, too_large);
    encodings.insert(11, G::COMPRESSED);
    for x in 0..8 {
        let mut bytes = G::COMPRESSED;
        let last = bytes.as_ref().len() - 1;
        bytes.as_mut()[last] = x;
        bytes.as_mut()[0] = 0xa0;
        encodings.insert(4 * usize::from(x), bytes);
    }
    for n in 0..=encodings.len() {
        let encodings = &encodings[..n];
        let mut results = vec![Err(Error::Empty); n];
        Affine::<B, G>::from_compressed_many(encodings, &mut results).expect("equal lengths");
        let expected = encodings.iter().map(|bytes| Affine::from_compressed(bytes.as_ref()));
        assert!(expected.eq(results));
    }
    let errors: Vec<_> = encodings
        .iter()
        .filter_map(|bytes| Affine::<B, G>::from_compressed(bytes.as_ref()).err())
        .collect();
    for error in [Error::Flags, Error::NotCanonical, Error::NotOnCurve, Error::NotInGroup] {
        assert!(errors.contains(&error), "{error}");
    }
    assert_eq!(
        Affine::<B, G>::from_compressed_many(&encodings[..1], &mut []),
        Err(Error::Counts { first: 1, other: 0 })
    );
}

fn both_signs<B: Backend>() {
    signs_of::<B, First>();
    signs_of::<B, Second>();
}

/// The flag is set for the larger y; in Fp2 the coefficient of u decides.
fn signs_of<B: Backend + Group<G>, G: SourceGroup>() {
    let half = (modulus() - 1_u32) / 2_u32;
    for point in curve_points::<B, G>(20) {
        let (_, y) = point.coordinates().expect("not infinity");
        let coefficients: Vec<BigUint> =
            y.as_ref().chunks(48).map(BigUint::from_bytes_be).collect();
        let first = coefficients.iter().find(|c| **c != BigUint::ZERO).expect("y is not 0");
        let larger = *first > half;
        let bytes = point.to_compressed();
        assert_eq!(bytes.as_ref()[0] & 0x20 != 0, larger);
        assert_eq!(CurvePoint::from_compressed(bytes.as_ref()), Ok(point));
        let negative = (-point).to_compressed();
        assert_eq!(negative.as_ref()[0] ^ bytes.as_ref()[0], 0x20);
        assert_eq!(CurvePoint::from_uncompressed(point.to_uncompressed().as_ref()), Ok(point));
    }
}
