//! Setups that are refused, and lists that do not belong together.

use cycloid::bls12_381::{self, Cycloid, G1, G2};
use cycloid_kzg::{BLOB_BYTES, CELL_BYTES, Error, Settings};

#[test]
fn setups() {
    let (first, second) = ([G1::<Cycloid>::generator(); 1], [G2::<Cycloid>::generator(); 1]);
    let first = first.map(|point| point.to_affine().to_compressed());
    let second = second.map(|point| point.to_affine().to_compressed());
    let new = |first: &[[u8; 48]], second: &[[u8; 96]]| {
        Settings::<Cycloid>::new(first, second).map(|_| ()).err()
    };
    for (n, m) in [(0, 0), (4095, 65), (4096, 64), (4097, 65), (4096, 66)] {
        assert_eq!(new(&vec![first[0]; n], &vec![second[0]; m]), Some(Error::Setup), "{n} {m}");
    }
    // A point of the curve outside the group.
    let outside = (0..=u8::MAX).map(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        bytes
    });
    let error = |bytes: &[u8; 48]| bls12_381::G1Affine::<Cycloid>::from_compressed(bytes).err();
    let mut outside = outside.filter(|bytes| error(bytes) == Some(bls12_381::Error::NotInGroup));
    let outside = outside.next().expect("most points are outside");
    let mut wrong = vec![first[0]; 4096];
    wrong[4095] = outside;
    let error = Error::Encoding(bls12_381::Error::NotInGroup);
    assert_eq!(new(&wrong, &vec![second[0]; 65]), Some(error));
}

/// Mainnet's points in a wrong order, from another setup, or in Lagrange form.
#[test]
fn points_that_are_not_powers() {
    let (bytes, length) = (include_bytes!("../data/mainnet.bin"), 48 * 4096);
    let (first, second) = (bytes[..length].as_chunks().0, bytes[length..].as_chunks().0);
    let mut setups = vec![(first.to_vec(), second.to_vec()); 9];
    setups[0].0.swap(0, 1);
    setups[1].0.swap(4094, 4095);
    setups[2].0.reverse();
    setups[3].0[2000] = first[2001];
    setups[4].0[4095] = first[0];
    setups[5].1.swap(63, 64);
    setups[6].1[64] = second[1];
    // τ = 1, with only one of the groups; τ = 0.
    setups[7].1.fill(second[0]);
    let infinity = |bytes: &mut [u8]| {
        bytes.fill(0);
        bytes[0] = 0xc0;
    };
    setups[8].0[1..].iter_mut().for_each(|point| infinity(point));
    setups[8].1[1..].iter_mut().for_each(|point| infinity(point));
    for (i, (first, second)) in setups.iter().enumerate() {
        let outcome = Settings::<Cycloid>::new(first, second).map(|_| ());
        assert_eq!(outcome, Err(Error::Powers), "setup {i}");
    }
    assert!(Settings::<Cycloid>::new(first, second).is_ok());
}

#[test]
fn lists() {
    let settings = Settings::<Cycloid>::mainnet();
    let (blob, cell, point) = (vec![0; BLOB_BYTES], vec![0; CELL_BYTES], infinity());
    let none: [Vec<u8>; 0] = [];
    assert_eq!(settings.verify_blobs(&none, &none, &none), Ok(()));
    assert_eq!(settings.verify_cells(&none, &[], &none, &none), Ok(()));
    let blobs = [blob.clone(), blob.clone()];
    let points = [point.clone(), point.clone()];
    assert_eq!(settings.verify_blobs(&blobs, &points, &points), Ok(()));
    assert_eq!(settings.verify_blobs(&blobs[..1], &points, &points), Err(Error::Counts));
    assert_eq!(settings.verify_blobs(&blobs, &points, &points[..1]), Err(Error::Counts));
    let cells = [cell.clone(), cell.clone()];
    assert_eq!(settings.verify_cells(&points, &[0, 127], &cells, &points), Ok(()));
    assert_eq!(settings.verify_cells(&points, &[0], &cells, &points), Err(Error::Counts));
    for index in [128, 1 << 32, u64::MAX] {
        let outcome = settings.verify_cells(&points, &[0, index], &cells, &points);
        assert_eq!(outcome, Err(Error::CellIndex));
    }
    let all = vec![cell; 129];
    let recover = |indices: &[u64], count: usize| settings.recover(indices, &all[..count]).err();
    let indices: Vec<u64> = (0..129).collect();
    assert_eq!(recover(&indices[..63], 63), Some(Error::CellCount));
    assert_eq!(recover(&indices, 129), Some(Error::CellCount));
    assert_eq!(recover(&indices[..64], 65), Some(Error::Counts));
    assert_eq!(recover(&indices[65..], 64), Some(Error::CellIndex));
    let mut unsorted = indices[..64].to_vec();
    unsorted.swap(3, 4);
    assert_eq!(recover(&unsorted, 64), Some(Error::Order));
    assert_eq!(recover(&[7; 64], 64), Some(Error::Order));
    // The cells of the zero blob.
    let (cells, proofs) = settings.recover(&indices[..64], &all[..64]).expect("half of the cells");
    assert!(cells.as_flattened().iter().all(|byte| *byte == 0));
    assert!(proofs.iter().all(|proof| *proof == *point));
}

/// Returns infinity, compressed.
fn infinity() -> Vec<u8> {
    let mut point = vec![0; 48];
    point[0] = 0xc0;
    point
}
