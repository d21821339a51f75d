//! Faults in the memory of keys that are ready for use: each bit is flipped in turn, and whatever the
//! engine still releases is right.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use cycloid::bls12_381::signature::{self, Scheme};
use cycloid::scheme::ec::{self, P224, P256, P384, P521};
use cycloid::scheme::ecdsa::Signature;
use cycloid::scheme::{ed25519, rsa};
use getrandom::SysRng;
use rand_core::UnwrapErr;

use super::{Arena, Compute, Job, Kind, Outcome, Work, encode_pkcs1v15};
use crate::error::Code;
use crate::key::{Curve, PrivateKey};
use crate::mechanism::Hash;

/// Memory of this process, which the kernel changes behind the compiler's back.
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

/// Where a value is that has no pointers in it, and how many bytes it has.
fn place<T>(value: &T) -> (usize, usize) {
    (std::ptr::from_ref(value).addr(), size_of::<T>())
}

/// What a key is made of, less what it only points to.
fn memory_of(key: &PrivateKey) -> (usize, usize) {
    match key {
        PrivateKey::Rsa(key) => {
            let public = key.public();
            let limbs = rsa::private_key_limbs(public.bits());
            (public.modulus_limbs().as_ptr().addr(), 8 * limbs)
        }
        PrivateKey::P224(key) => place::<ec::PrivateKey<P224>>(key),
        PrivateKey::P256(key) => place::<ec::PrivateKey<P256>>(key),
        PrivateKey::P384(key) => place::<ec::PrivateKey<P384>>(key),
        PrivateKey::P521(key) => place::<ec::PrivateKey<P521>>(key),
        // With the public key beside it.
        PrivateKey::Ed25519(key) => place(&**key),
        PrivateKey::Bls(key) => place(&**key),
        PrivateKey::X25519(_) => unreachable!("it does not sign"),
    }
}

/// A copy of the key's public half, from before anything happened to it, as what verifies.
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
                    Work::SignPkcs1v15(info) => {
                        let mut encoded = vec![0; bits / 8];
                        let mut scratch = vec![0; rsa::encrypt_scratch_limbs(bits)];
                        public.raw_public_operation(signature, &mut encoded, &mut scratch).is_ok()
                            && Some(encoded) == encode_pkcs1v15(info, bits / 8)
                    }
                    Work::SignPss { digest, .. } => {
                        let pss = rsa::Pss::new(Hash::Sha256.into());
                        public.verify_pss_with(pss, digest, signature, &mut scratch).is_ok()
                    }
                    _ => unreachable!(),
                }
            })
        }
        PrivateKey::P224(key) => ecdsa!(key),
        PrivateKey::P256(key) => ecdsa!(key),
        PrivateKey::P384(key) => ecdsa!(key),
        PrivateKey::P521(key) => ecdsa!(key),
        PrivateKey::Ed25519(key) => {
            let public = ed25519::VerifyingKey::new(key.public().as_bytes()).unwrap();
            Box::new(move |work, signature| {
                let Work::Ed25519 { message, .. } = work else { unreachable!() };
                public.verify_strict(message, signature.try_into().unwrap()).is_ok()
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
        PrivateKey::X25519(_) => unreachable!("it does not sign"),
    }
}

/// Computes so many jobs with one key, side by side.
fn compute(
    compute: &mut Compute<'_>,
    key: &Arc<PrivateKey>,
    work: impl Fn() -> Work,
    count: usize,
) -> Vec<Outcome> {
    let outcomes: Arc<Mutex<Vec<Outcome>>> = Arc::default();
    let kind = Kind::of(key, &work()).unwrap();
    let job = |_| {
        let outcomes = outcomes.clone();
        let done = move |outcome| outcomes.lock().unwrap().push(outcome);
        Job::new(kind, key.clone(), work(), Instant::now(), done)
    };
    compute.run(kind, (0..count).map(job).collect());
    let outcomes = std::mem::take(&mut *outcomes.lock().unwrap());
    assert_eq!(outcomes.len(), count, "each answers");
    outcomes
}

/// Flips bits of a key, one at a time, `step` apart, and returns how many signatures were refused.
fn refused(key: PrivateKey, works: &[fn() -> Work], step: usize) -> usize {
    let (memory, arena) = (Memory::open(), Arena::new());
    let key = Arc::new(key);
    let (address, bytes) = memory_of(&key);
    let verifies = verifier(&key);
    let mut refused = 0;
    for count in [1, 8] {
        // Signs often, so that what is prepared for that is in use.
        let mut batches = Compute::new(&arena);
        for work in works {
            for _ in 0..3 {
                for outcome in compute(&mut batches, &key, work, 8) {
                    assert!(verifies(&work(), &outcome.unwrap()));
                }
            }
        }
        // Coprime to eight, so that all bits of a byte have their turn.
        assert!(step % 2 == 1);
        for (turn, bit) in (0..8 * bytes).step_by(step).enumerate() {
            let work = works[turn % works.len()];
            memory.flip(address, bit);
            let outcomes = compute(&mut batches, &key, work, count);
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
            // A sound key signs again.
            if turn % 16 == 0 {
                let sound = compute(&mut batches, &key, work, 1).remove(0).unwrap();
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
    // A third is the scalar. The rest is the public key, which is verified with as long as there are no
    // multiples of it.
    assert!(refused > 2 * bits / step, "{refused} of {}", 9 * bits / step);
    let (memory, arena) = (Memory::open(), Arena::new());
    for bit in (0..bits).step_by(61) {
        let key = Arc::new(fresh());
        memory.flip(memory_of(&key).0, bit);
        let outcome = compute(&mut Compute::new(&arena), &key, work, 1).remove(0);
        assert_eq!(outcome.unwrap_err().code, Code::DEVICE_ERROR, "bit {bit} of {bits}");
    }
}

#[test]
fn no_flipped_bit_of_an_ecdsa_key_makes_a_wrong_signature() {
    on_curve(Curve::P256, 1);
    on_curve(Curve::P224, 5);
    on_curve(Curve::P384, 11);
    on_curve(Curve::P521, 29);
}

/// Also where it is the public key that is hashed: from a signature by a wrong one and one by the right
/// one, the private key follows.
#[test]
fn no_flipped_bit_of_an_ed25519_key_makes_a_wrong_signature() {
    let key =
        PrivateKey::generate_ec(Curve::Ed25519, &mut UnwrapErr(SysRng)).expect("a sound generator");
    let work: fn() -> Work =
        || Work::Ed25519 { message: vec![7; 40], prehashed: false, context: vec![] };
    assert!(refused(key, &[work], 1) > 0);
}

#[test]
fn no_flipped_bit_of_a_bls_key_makes_a_wrong_signature() {
    let key = PrivateKey::generate_bls(&mut UnwrapErr(SysRng)).expect("a sound generator");
    assert!(refused(key, &[|| Work::Bls(vec![7; 40])], 3) > 0);
}

#[test]
fn no_flipped_bit_of_an_rsa_key_makes_a_wrong_signature() {
    let key = PrivateKey::generate_rsa(2048, 65537, &mut UnwrapErr(SysRng)).unwrap();
    let pss = || Work::SignPss {
        hash: Hash::Sha256,
        mask: Hash::Sha256,
        salt_length: 32,
        digest: vec![7; 32],
    };
    assert!(refused(key, &[|| Work::SignPkcs1v15(vec![7; 40]), pss], 31) > 0);
}
