//! Comparison with crates that compute one digest.

use std::vec::Vec;

use super::*;
use crate::machine::lanes::tests::backends;

fn digest_eight(
    backend: Option<Backend>,
    hash: Hash,
    messages: [&[&[u8]]; LANES],
) -> [DigestBytes; LANES] {
    let states = States::new(hash).expect("not SHA-1");
    let messages = messages.map(|parts| Some(parts.iter().copied()));
    states.finish(backend, messages, hash.digest_length())
}

#[test]
fn eight_agree_with_one_at_all_lengths() {
    let bytes: Vec<u8> = (0..1000u32).map(|i| (i * i + 7 * i) as u8).collect();
    for hash in [Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512] {
        for backend in backends().into_iter().map(Some).chain([None]) {
            for length in 0..=300 {
                // Lengths differ between lanes; messages have one, three and no parts.
                let parts: [Vec<&[u8]>; LANES] = core::array::from_fn(|lane| {
                    let message = &bytes[lane..][..(length + 43 * lane) % 301];
                    let (first, rest) = message.split_at(message.len() / 3);
                    match lane {
                        3 => Vec::from([first, &[][..], rest]),
                        7 if message.is_empty() => Vec::new(),
                        _ => Vec::from([message]),
                    }
                });
                let digests = digest_eight(backend, hash, parts.each_ref().map(|parts| &parts[..]));
                for (parts, digest) in parts.iter().zip(&digests) {
                    assert_eq!(**digest, *hash.digest(parts), "{hash:?} {length}");
                }
            }
        }
    }
}

#[test]
fn lanes_that_end_early_keep_their_state() {
    let bytes = [0x5a; 1000];
    for hash in [Hash::Sha256, Hash::Sha512] {
        for backend in backends() {
            let parts: [[&[u8]; 1]; LANES] = core::array::from_fn(|lane| {
                [&bytes[..if lane % 2 == 0 { 1000 - lane } else { lane }]]
            });
            let digests =
                digest_eight(Some(backend), hash, parts.each_ref().map(|parts| &parts[..]));
            for (parts, digest) in parts.iter().zip(&digests) {
                assert_eq!(**digest, *hash.digest(parts));
            }
        }
    }
}

#[test]
fn lanes_without_a_message_change_nothing() {
    for backend in backends() {
        let states = States::new(Hash::Sha256).expect("not SHA-1");
        let messages: [Option<core::iter::Once<&[u8]>>; LANES] =
            core::array::from_fn(|lane| (lane % 3 == 1).then(|| core::iter::once(&[7; 200][..])));
        let digests = states.finish(Some(backend), messages, 32);
        for lane in [1, 4, 7] {
            assert_eq!(*digests[lane], *Hash::Sha256.digest(&[&[7; 200]]));
        }
    }
}
