//! Fault injection into the memory of prepared keys: single bits are flipped in turn, and every
//! result that the engine still releases must be correct. The tests flip a sample of the bits,
//! because all take minutes; the ignored one flips all.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use cycloid::bls12_381::signature::{self, Scheme};
use cycloid::scheme::ec::{
    self, BrainpoolP256, BrainpoolP384, BrainpoolP512, P192, P224, P256, P384, P521, Secp256k1,
};
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::{ed25519, rsa};
use getrandom::SysRng;
use rand_core::UnwrapErr;

use super::tests::outcomes;
use super::{EdwardsInput, Outcome, RsaInput, Work, Workspace, encode_pkcs1v15, library_hash};
use crate::Code;
use crate::key::{Curve, PrivateKey};
use crate::mechanism::Hash;

/// Write access to this process's memory through the kernel, invisible to the compiler.
struct Memory(File);

impl Memory {
    fn open() -> Self {
        Self(OpenOptions::new().read(true).write(true).open("/proc/self/mem").unwrap())
    }

    fn flip(&self, address: usize, bit: usize) {
        let at = (address + bit / 8) as u64;
        let mut byte = [0];
        self.0.read_exact_at(&mut byte, at).unwrap();
        byte[0] ^= 1 << (bit % 8);
        self.0.write_all_at(&byte, at).unwrap();
    }
}

/// Returns the address and the size of a value without pointers.
fn place<T>(value: &T) -> (usize, usize) {
    (std::ptr::from_ref(value).addr(), size_of::<T>())
}

/// Returns the memory of a key, without what it only points to.
fn memory_of(key: &PrivateKey) -> (usize, usize) {
    match key {
        PrivateKey::Rsa(key) => {
            let public = key.public();
            let limbs = rsa::private_key_limbs(public.bits());
            (public.modulus_limbs().as_ptr().addr(), 8 * limbs)
        }
        PrivateKey::P192(key) => place::<ec::PrivateKey<P192>>(key),
        PrivateKey::P224(key) => place::<ec::PrivateKey<P224>>(key),
        PrivateKey::P256(key) => place::<ec::PrivateKey<P256>>(key),
        PrivateKey::P384(key) => place::<ec::PrivateKey<P384>>(key),
        PrivateKey::P521(key) => place::<ec::PrivateKey<P521>>(key),
        PrivateKey::Secp256k1(key) => place::<ec::PrivateKey<Secp256k1>>(key),
        PrivateKey::BrainpoolP256(key) => place::<ec::PrivateKey<BrainpoolP256>>(key),
        PrivateKey::BrainpoolP384(key) => place::<ec::PrivateKey<BrainpoolP384>>(key),
        PrivateKey::BrainpoolP512(key) => place::<ec::PrivateKey<BrainpoolP512>>(key),
        // Includes the copy of the public key.
        PrivateKey::Ed25519(key) => place(&**key),
        PrivateKey::Ed448(key) => place(&**key),
        PrivateKey::Bls(key) => place(&**key),
        PrivateKey::X25519(_) | PrivateKey::Dh(_) => unreachable!("it does not sign"),
    }
}

/// A verifier with a copy of the public key made before any fault.
type Verify = Box<dyn Fn(&Work, &[u8]) -> bool>;

fn verifier(key: &PrivateKey) -> Verify {
    macro_rules! ecdsa {
        ($key:ident) => {{
            let public = *$key.public_key();
            Box::new(move |work, signature| {
                let Work::Ecdsa(digest) = work else { unreachable!() };
                let signature = Signature::from_fixed(signature);
                signature.is_ok_and(|signature| public.verify_prehashed(digest, &signature).is_ok())
            })
        }};
    }
    match key {
        PrivateKey::Rsa(key) => {
            let public = key.public();
            let (bits, exponent) = (public.bits(), public.exponent().to_be_bytes());
            let modulus: Vec<u8> =
                public.modulus_limbs().iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
            let memory = vec![0; rsa::public_key_limbs(bits)].into_boxed_slice();
            let mut scratch = vec![0; rsa::verify_scratch_limbs(bits)];
            let public = rsa::PublicKey::new(&modulus, &exponent, memory, &mut scratch).unwrap();
            Box::new(move |work, signature| {
                let mut scratch = vec![0; rsa::verify_scratch_limbs(bits)];
                match work {
                    Work::Rsa(RsaInput::SignPkcs1v15(info)) => {
                        let mut encoded = vec![0; bits / 8];
                        let mut scratch = vec![0; rsa::encrypt_scratch_limbs(bits)];
                        public.raw_public_operation(signature, &mut encoded, &mut scratch).is_ok()
                            && Some(encoded) == encode_pkcs1v15(info, bits / 8)
                    }
                    Work::Rsa(RsaInput::SignPss { digest, .. }) => {
                        let pss = rsa::Pss::new(library_hash(Hash::Sha256));
                        public.verify_pss_with(pss, digest, signature, &mut scratch).is_ok()
                    }
                    _ => unreachable!(),
                }
            })
        }
        PrivateKey::P192(key) => ecdsa!(key),
        PrivateKey::P224(key) => ecdsa!(key),
        PrivateKey::P256(key) => ecdsa!(key),
        PrivateKey::P384(key) => ecdsa!(key),
        PrivateKey::P521(key) => ecdsa!(key),
        PrivateKey::Secp256k1(key) => ecdsa!(key),
        PrivateKey::BrainpoolP256(key) => ecdsa!(key),
        PrivateKey::BrainpoolP384(key) => ecdsa!(key),
        PrivateKey::BrainpoolP512(key) => ecdsa!(key),
        PrivateKey::Ed25519(key) => {
            let public = ed25519::VerifyingKey::new(key.public().as_bytes()).unwrap();
            Box::new(move |work, signature| {
                let Work::EdDsa(EdwardsInput { message, .. }) = work else { unreachable!() };
                public.verify_strict(message, signature.try_into().unwrap()).is_ok()
            })
        }
        PrivateKey::Ed448(key) => {
            let public = *key.public();
            Box::new(move |work, signature| {
                let Work::EdDsa(EdwardsInput { message, context, .. }) = work else {
                    unreachable!()
                };
                public.verify(message, context, signature.try_into().unwrap()).is_ok()
            })
        }
        PrivateKey::Bls(key) => {
            let public = *key.public();
            Box::new(move |work, signature| {
                let Work::Bls(message) = work else { unreachable!() };
                let signature = signature::Signature::from_bytes(signature).unwrap();
                public.verify(Scheme::ProofOfPossession, message, &signature).is_ok()
            })
        }
        PrivateKey::X25519(_) | PrivateKey::Dh(_) => unreachable!("it does not sign"),
    }
}

/// Computes `count` jobs with one key in lanes.
fn compute(
    workspace: &mut Workspace,
    key: &PrivateKey,
    work: impl Fn() -> Work,
    count: usize,
) -> Vec<Outcome> {
    outcomes(workspace, (0..count).map(|_| (key.clone(), work())))
}

/// Flips single bits of a key, `step` apart, and returns the number of refused signatures.
fn refused(key: PrivateKey, works: &[fn() -> Work], step: usize) -> usize {
    let memory = Memory::open();
    let (address, bytes) = memory_of(&key);
    let verifies = verifier(&key);
    let mut refused = 0;
    for count in [1, 8, 16] {
        // Many signatures, so that the table for frequent use exists.
        let mut workspace = Workspace::default();
        for work in works {
            for _ in 0..3 {
                for outcome in compute(&mut workspace, &key, work, 8) {
                    assert!(verifies(&work(), &outcome.unwrap()));
                }
            }
        }
        // An odd step reaches all bits of a byte.
        assert!(step % 2 == 1);
        for (turn, bit) in (0..8 * bytes).step_by(step).enumerate() {
            let work = works[turn % works.len()];
            memory.flip(address, bit);
            let outcomes = compute(&mut workspace, &key, work, count);
            memory.flip(address, bit);
            for outcome in outcomes {
                match outcome {
                    Ok(signature) => {
                        assert!(verifies(&work(), &signature), "bit {bit} of {}", 8 * bytes);
                    }
                    Err(error) => {
                        assert_eq!(error.code, Code::DEVICE_ERROR);
                        refused += 1;
                    }
                }
            }
            // The restored key signs again.
            if turn % 16 == 0 {
                let sound = compute(&mut workspace, &key, work, 1).remove(0).unwrap();
                assert!(verifies(&work(), &sound));
            }
        }
    }
    refused
}

fn on_curve(curve: Curve, step: usize) {
    let fresh =
        || PrivateKey::generate_ec(curve, &mut UnwrapErr(SysRng)).expect("a sound generator");
    let work: fn() -> Work = || Work::Ecdsa(vec![7; 32]);
    let key = fresh();
    let bits = 8 * memory_of(&key).1;
    let refused = refused(key, &[work], step);
    // A third of the memory is the scalar. The rest is the public key, which verifies until the
    // table of multiples exists.
    assert!(refused > 2 * bits / step, "{refused} of {}", 25 * bits / step);
    let memory = Memory::open();
    for bit in (0..bits).step_by(61) {
        let key = fresh();
        memory.flip(memory_of(&key).0, bit);
        let outcome = compute(&mut Workspace::default(), &key, work, 1).remove(0);
        assert_eq!(outcome.unwrap_err().code, Code::DEVICE_ERROR, "bit {bit} of {bits}");
    }
}

/// One of the keys of a batch of every size is faulty: only its signature is refused.
#[test]
fn the_neighbours_of_a_faulty_ecdsa_key_get_their_signatures() {
    let memory = Memory::open();
    let keys: Vec<PrivateKey> = (0..17)
        .map(|_| PrivateKey::generate_ec(Curve::P256, &mut UnwrapErr(SysRng)).unwrap())
        .collect();
    let work = |i: usize| Work::Ecdsa(vec![i as u8; 32]);
    // Many signatures, so that the tables for frequent use exist.
    for _ in 0..20 {
        let all = keys.iter().enumerate().map(|(i, key)| (key.clone(), work(i)));
        assert!(outcomes(&mut Workspace::default(), all).iter().all(Result::is_ok));
    }
    let verifies: Vec<Verify> = keys.iter().map(verifier).collect();
    for count in [1, 2, 7, 8, 9, 15, 16, 17] {
        for faulty in [0, count / 2, count - 1] {
            let (address, bytes) = memory_of(&keys[faulty]);
            let mut refused = 0;
            // In the scalar, and in both coordinates, which a table replaces.
            for bit in [5, 5 + 8 * bytes / 3, 5 + 16 * bytes / 3] {
                memory.flip(address, bit);
                let jobs = (0..count).map(|i| (keys[i].clone(), work(i)));
                let outcomes = outcomes(&mut Workspace::default(), jobs);
                memory.flip(address, bit);
                for (i, outcome) in outcomes.into_iter().enumerate() {
                    match outcome {
                        Ok(signature) => assert!(verifies[i](&work(i), &signature)),
                        Err(error) => {
                            assert_eq!((error.code, i), (Code::DEVICE_ERROR, faulty));
                            refused += 1;
                        }
                    }
                }
            }
            assert_eq!(refused, 1, "of {count}, {faulty} is faulty");
        }
    }
}

#[test]
fn a_bit_flip_in_an_ecdsa_key_never_releases_a_wrong_signature() {
    on_curve(Curve::P256, 7);
    on_curve(Curve::P224, 19);
    on_curve(Curve::P384, 29);
    on_curve(Curve::P521, 61);
    on_curve(Curve::Secp256k1, 23);
    on_curve(Curve::BrainpoolP512, 83);
}

/// Includes the public key, which is hashed: a signature with a wrong public key and one with the
/// right key together reveal the private key.
fn on_edwards(curve: Curve, step: usize) {
    let key = PrivateKey::generate_ec(curve, &mut UnwrapErr(SysRng)).expect("a sound generator");
    let work: fn() -> Work =
        || Work::EdDsa(EdwardsInput { message: vec![7; 40], prehashed: false, context: vec![] });
    assert!(refused(key, &[work], step) > 0);
}

#[test]
fn a_bit_flip_in_an_ed25519_key_never_releases_a_wrong_signature() {
    on_edwards(Curve::Ed25519, 7);
}

#[test]
fn a_bit_flip_in_an_ed448_key_never_releases_a_wrong_signature() {
    on_edwards(Curve::Ed448, 17);
}

fn in_bls(step: usize) {
    let key = PrivateKey::generate_bls(&mut UnwrapErr(SysRng)).expect("a sound generator");
    assert!(refused(key, &[|| Work::Bls(vec![7; 40])], step) > 0);
}

#[test]
fn a_bit_flip_in_a_bls_key_never_releases_a_wrong_signature() {
    in_bls(23);
}

fn in_rsa(step: usize) {
    let key = PrivateKey::generate_rsa(2048, 65537, &mut UnwrapErr(SysRng)).unwrap();
    let pss = || {
        Work::Rsa(RsaInput::SignPss {
            hash: Hash::Sha256,
            mask: Hash::Sha256,
            salt_length: 32,
            digest: vec![7; 32],
        })
    };
    assert!(refused(key, &[|| Work::Rsa(RsaInput::SignPkcs1v15(vec![7; 40])), pss], step) > 0);
}

#[test]
fn a_bit_flip_in_an_rsa_key_never_releases_a_wrong_signature() {
    in_rsa(61);
}

#[test]
#[ignore = "it takes many minutes; the tests above flip a sample of the bits"]
fn no_bit_flip_on_a_curve_releases_a_wrong_signature() {
    use Curve::{BrainpoolP512, P224, P256, P384, P521, Secp256k1};
    for curve in [P224, P256, P384, P521, Secp256k1, BrainpoolP512] {
        on_curve(curve, 1);
    }
    on_edwards(Curve::Ed25519, 1);
    on_edwards(Curve::Ed448, 1);
    in_bls(1);
}

#[test]
#[ignore = "it takes many minutes; a test above flips a sample of the bits"]
fn no_bit_flip_in_an_rsa_key_releases_a_wrong_signature() {
    in_rsa(1);
}
