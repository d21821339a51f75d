//! Nonces derived from the key and the digest (RFC 6979, section 3.2, with the variant of section
//! 3.6): HMAC_DRBG outputs, the first one that is a valid scalar.

use super::super::hash::DigestBytes;
use super::super::hash::eight::{Block, States, StatesOf};
use super::super::hmac::eight::{KeyedEight, KeyedWords};
use super::super::hmac::{Algorithm, Keyed};
use super::Hash;
use crate::machine::ct;
use crate::machine::lanes::sha::Sha2Word;
use crate::machine::lanes::{Backend, LANES};
use crate::math::curve::{Curve, Scalar};
use crate::scheme::ec::MAX_BYTES;

/// The generator of nonces for one key and one digest.
pub(super) struct Nonces {
    algorithm: Algorithm,
    /// K.
    keyed: Keyed,
    /// V.
    value: DigestBytes,
    /// Whether a nonce has been taken.
    used: bool,
}

impl Nonces {
    /// Runs steps b to g. `random` is k′ of section 3.6, or empty without it.
    pub(super) fn new<C: Curve>(
        algorithm: Algorithm,
        key: &Scalar<C>,
        digest: &Scalar<C>,
        random: &[u8],
    ) -> Self {
        let mut octets = [0; 2 * MAX_BYTES];
        let octets = &mut octets[..2 * C::BYTES];
        let (key_octets, digest_octets) = octets.split_at_mut(C::BYTES);
        key.to_bytes(key_octets);
        digest.to_bytes(digest_octets);
        let length = algorithm.digest_length();
        let mut nonces = Self {
            algorithm,
            keyed: algorithm.keyed(&DigestBytes::filled(0, length)),
            value: DigestBytes::filled(1, length),
            used: false,
        };
        for separator in [0, 1] {
            nonces.rekey(separator, &[octets, random]);
        }
        ct::wipe_bytes(octets);
        nonces
    }

    /// Runs step h.
    pub(super) fn next<C: Curve>(&mut self) -> Scalar<C> {
        self.next_where(Scalar::from_leftmost_bits_in_range)
    }

    /// Runs step h; `accept` decides which candidates are nonces.
    fn next_where<C: Curve>(
        &mut self,
        mut accept: impl FnMut(&[u8]) -> Option<Scalar<C>>,
    ) -> Scalar<C> {
        loop {
            if core::mem::replace(&mut self.used, true) {
                self.rekey(0, &[]);
            }
            let mut bytes = [0; MAX_BYTES];
            for part in bytes[..C::BYTES].chunks_mut(self.algorithm.digest_length()) {
                self.value = self.keyed.authenticate(&[&self.value]);
                part.copy_from_slice(&self.value[..part.len()]);
            }
            let nonce = accept(&bytes[..C::BYTES]);
            ct::wipe_bytes(&mut bytes);
            if let Some(nonce) = nonce {
                return nonce;
            }
        }
    }

    /// Computes K = HMAC_K(V ‖ separator ‖ parts), V = HMAC_K(V).
    fn rekey(&mut self, separator: u8, parts: &[&[u8]]) {
        let [first, second] =
            [parts.first(), parts.get(1)].map(|part| part.copied().unwrap_or(&[]));
        let key = self.keyed.authenticate(&[&self.value, &[separator], first, second]);
        self.keyed = self.algorithm.keyed(&key);
        self.value = self.keyed.authenticate(&[&self.value]);
    }
}

/// Returns the first of [`Nonces`] for each lane, eight side by side.
pub(super) fn first_nonces<C: Curve>(
    backend: Backend,
    hash: Hash,
    keys: [&Scalar<C>; LANES],
    digests: &[Scalar<C>; LANES],
    random: [&[u8]; LANES],
) -> [Scalar<C>; LANES] {
    let accept = |_, candidate: &[u8]| Scalar::from_leftmost_bits_in_range(candidate);
    first_nonces_where(backend, hash, keys, digests, random, accept)
}

/// Like [`first_nonces`]; `accept` decides in which lanes the first candidate is the nonce.
fn first_nonces_where<C: Curve>(
    backend: Backend,
    hash: Hash,
    keys: [&Scalar<C>; LANES],
    digests: &[Scalar<C>; LANES],
    random: [&[u8]; LANES],
    accept: impl Fn(usize, &[u8]) -> Option<Scalar<C>>,
) -> [Scalar<C>; LANES] {
    let mut octets = [[0; 2 * MAX_BYTES]; LANES];
    for (octets, (key, digest)) in octets.iter_mut().zip(keys.iter().zip(digests)) {
        let (key_octets, digest_octets) = octets[..2 * C::BYTES].split_at_mut(C::BYTES);
        key.to_bytes(key_octets);
        digest.to_bytes(digest_octets);
    }
    let octets_of: [&[u8]; LANES] = octets.each_ref().map(|octets| &octets[..2 * C::BYTES]);
    let start = States::new(hash).filter(|start| {
        let longest = longest_message(start.block_length());
        let length = hash.digest_length() + 1 + 2 * C::BYTES + random[0].len();
        length <= longest && random.iter().all(|other| other.len() == random[0].len())
    });
    let mut bytes = match start {
        Some(States::Narrow(start)) => candidates(backend, hash, &start, octets_of, random),
        Some(States::Wide(start)) => candidates(backend, hash, &start, octets_of, random),
        None => candidates_of_any(backend, hash, octets_of, random),
    };
    ct::wipe_bytes(octets.as_flattened_mut());
    let nonces = core::array::from_fn(|lane| {
        let nonce = accept(lane, &bytes[lane][..C::BYTES]);
        // In a lane whose candidate is out of range, the single form starts over and skips it.
        nonce.unwrap_or_else(|| {
            Nonces::new(Algorithm::of(hash), keys[lane], &digests[lane], random[lane]).next()
        })
    });
    ct::wipe_bytes(bytes.as_flattened_mut());
    nonces
}

/// The first candidate of each lane, as long as half of the octets.
type Candidates = [[u8; MAX_BYTES]; LANES];

/// Returns the first candidates, with messages of any lengths and any hash function.
fn candidates_of_any(
    backend: Backend,
    hash: Hash,
    octets: [&[u8]; LANES],
    random: [&[u8]; LANES],
) -> Candidates {
    let length = hash.digest_length();
    let zeros = DigestBytes::filled(0, length);
    let mut keyed = KeyedEight::new(Some(backend), hash, [&zeros; LANES]);
    let mut values = [(); LANES].map(|()| DigestBytes::filled(1, length));
    for separator in [[0], [1]] {
        let messages: [[&[u8]; 4]; LANES] =
            core::array::from_fn(|lane| [&*values[lane], &separator, octets[lane], random[lane]]);
        let keys = keyed.authenticate(messages.each_ref().map(|parts| &parts[..]));
        keyed = KeyedEight::new(Some(backend), hash, keys.each_ref().map(|key| &**key));
        values = next_values(&keyed, &values);
    }
    let mut bytes = [[0; MAX_BYTES]; LANES];
    let needed = octets[0].len() / 2;
    for from in (0..needed).step_by(length) {
        values = next_values(&keyed, &values);
        for (bytes, value) in bytes.iter_mut().zip(&values) {
            let part = &mut bytes[from..needed.min(from + length)];
            part.copy_from_slice(&value[..part.len()]);
        }
    }
    bytes
}

/// Returns the same, if [`Messages`] have room for the messages: K, V and messages as words, lane
/// by lane.
#[inline(never)]
fn candidates<W: Sha2Word>(
    backend: Backend,
    hash: Hash,
    start: &StatesOf<W>,
    octets: [&[u8]; LANES],
    random: [&[u8]; LANES],
) -> Candidates {
    let length = hash.digest_length() / size_of::<W>();
    let mut messages = Messages::new(length, octets, random);
    let mut keyed = KeyedWords::new(backend, start, length, &[[W::from_number(0); LANES]; 8]);
    let mut values = [[W::from_leading(u64::from_ne_bytes([1; 8])); LANES]; 8];
    for separator in [0, 1] {
        let mut keys = keyed.authenticate(messages.blocks(&values, separator));
        keyed = KeyedWords::new(backend, start, length, &keys);
        W::wipe(&mut keys);
        values = keyed.authenticate_codes(&values);
    }
    let mut bytes = [[0; MAX_BYTES]; LANES];
    let needed = octets[0].len() / 2;
    for from in (0..needed).step_by(hash.digest_length()) {
        values = keyed.authenticate_codes(&values);
        for (lane, bytes) in bytes.iter_mut().enumerate() {
            let end = needed.min(from + hash.digest_length());
            let parts = bytes[from..end].chunks_mut(size_of::<W>());
            parts.zip(&values).for_each(|(part, value)| value[lane].write(part));
        }
    }
    W::wipe(&mut values);
    bytes
}

/// The messages V ‖ separator ‖ octets ‖ random of all lanes, of one length, with the padding of a
/// hash function that has absorbed one block before.
struct Messages<W: Sha2Word> {
    words: [[W; LANES]; MESSAGE_WORDS],
    /// Words of V.
    length: usize,
    blocks: usize,
}

/// Words of four blocks. Those of SHA-512 use two: so many bytes.
const MESSAGE_WORDS: usize = 64;
const MESSAGE_BYTES: usize = 256;

/// Returns the length of the longest messages, in bytes, for blocks of `block` bytes: those leave
/// room for the end bit and the length in two words.
const fn longest_message(block: usize) -> usize {
    MESSAGE_BYTES - 1 - block / 8
}

impl<W: Sha2Word> Messages<W> {
    fn new(length: usize, octets: [&[u8]; LANES], random: [&[u8]; LANES]) -> Self {
        let size = size_of::<W>();
        let after_value = length * size + 1;
        let end = after_value + octets[0].len() + random[0].len();
        let blocks = (end + 1 + 2 * size).div_ceil(W::BLOCK);
        let mut words = [[W::from_number(0); LANES]; MESSAGE_WORDS];
        let mut bytes = [0; MESSAGE_BYTES];
        bytes[end] = 0x80;
        for lane in 0..LANES {
            let (octets_bytes, random_bytes) =
                bytes[after_value..end].split_at_mut(octets[lane].len());
            octets_bytes.copy_from_slice(octets[lane]);
            random_bytes.copy_from_slice(random[lane]);
            let used = 16 * blocks;
            for (word, bytes) in words[..used].iter_mut().zip(bytes.chunks_exact(size)) {
                word[lane] = W::read(bytes);
            }
        }
        let bits = 8 * (W::BLOCK + end);
        words[16 * blocks - 1] = [W::from_number(bits as u32); LANES];
        ct::wipe_bytes(&mut bytes);
        Self { words, length, blocks }
    }

    /// Returns the messages with these V, and with the separator 0 at the first call, 1 at the second.
    fn blocks(&mut self, values: &[[W; LANES]; 8], separator: u64) -> &[Block<W>] {
        self.words[..self.length].copy_from_slice(&values[..self.length]);
        for word in &mut self.words[self.length] {
            *word = *word ^ W::from_leading(separator << 56);
        }
        &self.words.as_chunks().0[..self.blocks]
    }
}

impl<W: Sha2Word> Drop for Messages<W> {
    fn drop(&mut self) {
        W::wipe(&mut self.words);
    }
}

/// Computes V = HMAC_K(V).
fn next_values(keyed: &KeyedEight, values: &[DigestBytes; LANES]) -> [DigestBytes; LANES] {
    let parts = values.each_ref().map(|value| [&**value]);
    keyed.authenticate(parts.each_ref().map(|parts| &parts[..]))
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::machine::lanes::tests::backends;
    use crate::math::curve::{P224, P256, P521};

    fn eight_agree_with_one<C: Curve>() {
        let scalars: [Scalar<C>; LANES] =
            core::array::from_fn(|lane| Scalar::from_leftmost_bits(&[7 * lane as u8 + 1; 60]));
        let keys = core::array::from_fn(|lane| &scalars[(lane + 3) % LANES]);
        let bytes: [u8; 300] = core::array::from_fn(|i| (7 * i) as u8);
        for hash in HASHES {
            // Of one length the messages are words, up to the longest that has room for them.
            let block = States::new(hash).map_or(0, |start| start.block_length());
            let before = hash.digest_length() + 1 + 2 * C::BYTES;
            let longest = longest_message(block).checked_sub(before);
            let ends = longest.map_or([0, 0], |longest| [longest, longest + 1]);
            let equal = [0, 1, 31, 32].into_iter().chain(ends).map(|length| [length; LANES]);
            let different = core::array::from_fn(|lane| lane / 2 * 33);
            for lengths in equal.chain([different]) {
                let random = core::array::from_fn(|lane| &bytes[lane..lane + lengths[lane]]);
                for backend in backends() {
                    let nonces = first_nonces(backend, hash, keys, &scalars, random);
                    for lane in 0..LANES {
                        let (key, digest) = (keys[lane], &scalars[lane]);
                        let one =
                            Nonces::new(Algorithm::of(hash), key, digest, random[lane]).next();
                        assert!(nonces[lane].equal(&one).reveal(), "{hash:?} {lengths:?} {lane}");
                    }
                }
            }
        }
    }

    const HASHES: [Hash; 5] = [Hash::Sha1, Hash::Sha224, Hash::Sha256, Hash::Sha384, Hash::Sha512];

    /// Returns the first candidates of RFC 6979, section 3.2, before the check in step h.3; each is
    /// refused there, so that K and V advance.
    fn candidates<C: Curve>(
        hash: Hash,
        key: &Scalar<C>,
        digest: &Scalar<C>,
        random: &[u8],
    ) -> [Vec<u8>; 4] {
        let octets = |scalar: &Scalar<C>| {
            let mut octets = vec![0; C::BYTES];
            scalar.to_bytes(&mut octets);
            octets
        };
        let hmac = |k: &[u8], message: &[u8]| {
            Algorithm::of(hash).keyed(k).authenticate(&[message]).to_vec()
        };
        let input = [octets(key), octets(digest), random.to_vec()].concat();
        let mut v = vec![1; hash.digest_length()];
        let mut k = vec![0; hash.digest_length()];
        k = hmac(&k, &[&v, &[0][..], &input].concat());
        v = hmac(&k, &v);
        k = hmac(&k, &[&v, &[1][..], &input].concat());
        v = hmac(&k, &v);
        core::array::from_fn(|_| {
            let mut t = Vec::new();
            while t.len() < C::BYTES {
                v = hmac(&k, &v);
                t.extend(&v);
            }
            k = hmac(&k, &[&v[..], &[0]].concat());
            v = hmac(&k, &v);
            t.truncate(C::BYTES);
            t
        })
    }

    fn after_refusals<C: Curve>() {
        let [key, digest] = [3, 5].map(|byte| Scalar::<C>::from_leftmost_bits(&[byte; 70]));
        for hash in HASHES {
            for random in [&[][..], b"random"] {
                let candidates = candidates(hash, &key, &digest, random);
                let scalars = candidates.each_ref().map(|candidate| {
                    Scalar::<C>::from_leftmost_bits_in_range(candidate).expect("nearly all are")
                });
                // Takes nonces one after the other, as happens if r or s is 0.
                let mut nonces = Nonces::new(Algorithm::of(hash), &key, &digest, random);
                for scalar in &scalars {
                    assert!(nonces.next::<C>().equal(scalar).reveal(), "{} {hash:?}", C::NAME);
                }
                // The first two candidates are out of range.
                let mut seen = Vec::new();
                let third = Nonces::new(Algorithm::of(hash), &key, &digest, random)
                    .next_where::<C>(|candidate| {
                        seen.push(candidate.to_vec());
                        (seen.len() == 3).then(|| Scalar::from_leftmost_bits(candidate))
                    });
                assert_eq!(seen, candidates[..3]);
                assert!(third.equal(&scalars[2]).reveal());
            }
        }
    }

    /// RFC 6979, section 3.2, step h.3: the nonce after a refused candidate.
    #[test]
    fn the_next_nonce_after_one_that_is_refused() {
        after_refusals::<P224>();
        after_refusals::<P256>();
        after_refusals::<P521>();
    }

    /// Among eight lanes, only those with a candidate out of range use the single form.
    #[test]
    fn lanes_whose_first_candidate_is_refused() {
        let scalars: [Scalar<P256>; LANES] =
            core::array::from_fn(|lane| Scalar::from_leftmost_bits(&[7 * lane as u8 + 1; 60]));
        let keys = core::array::from_fn(|lane| &scalars[(lane + 3) % LANES]);
        for backend in backends() {
            for refused in [[0].as_slice(), &[2, 5], &[7], &[0, 1, 2, 3, 4, 5, 6, 7]] {
                let accept = |lane, bytes: &[u8]| {
                    // Different expected values show which lanes used the single form.
                    let two = Scalar::one().add(&Scalar::one());
                    let taken = Scalar::from_leftmost_bits_in_range(bytes)?.mul(&two);
                    (!refused.contains(&lane)).then_some(taken)
                };
                let (hash, random) = (Hash::Sha256, [&b"random"[..]; LANES]);
                let nonces = first_nonces_where(backend, hash, keys, &scalars, random, accept);
                for lane in 0..LANES {
                    let one =
                        Nonces::new(Algorithm::of(hash), keys[lane], &scalars[lane], random[lane])
                            .next();
                    let twice = one.add(&one);
                    let expected = if refused.contains(&lane) { &one } else { &twice };
                    assert!(nonces[lane].equal(expected).reveal(), "{lane} of {refused:?}");
                }
            }
        }
    }

    #[test]
    fn eight_agree_with_one_on_short_and_long_curves() {
        eight_agree_with_one::<P224>();
        eight_agree_with_one::<P256>();
        eight_agree_with_one::<P521>();
    }
}
