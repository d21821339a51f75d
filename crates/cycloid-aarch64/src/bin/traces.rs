//! Runs an operation with a secret: `traces OPERATION SECRET`, a letter. The plugin's hash of all
//! executed blocks and accesses must not depend on the letter. Without arguments, it lists the
//! operations.
//!
//! `leak-branch` and `leak-index` depend on the secret: whoever compares traces must find them.

use std::hint::black_box;

use cycloid::bls12_381::signature::{MinPk, Scheme, SecretKey};
use cycloid::bls12_381::{Cycloid, Fr, G1, G2, pairing};
use cycloid::internals::words::{self, Backend, Limb, Words};
use cycloid::scheme::ec::{self, Curve, P224, P256, P384, P521};
use cycloid::scheme::{Hash, ed25519, x25519};

/// An operation on 32 secret bytes.
type Operation = fn(&[u8; 32]);

/// The operations.
const OPERATIONS: [(&str, Operation); 15] = [
    ("leak-branch", leak_branch),
    ("leak-index", leak_index),
    ("words", |secret| Backend::best().run(OfWords(*secret))),
    ("p224-sign", |secret| sign::<P224>(&secret[4..])),
    ("p256-sign", |secret| sign::<P256>(secret)),
    ("p256-agree", |secret| agree::<P256>(secret)),
    ("p384-sign", |secret| sign::<P384>(&secret.repeat(2)[16..])),
    ("p384-agree", |secret| agree::<P384>(&secret.repeat(2)[16..])),
    ("p521-sign", |secret| sign::<P521>(&[&[0; 34], &secret[..]].concat())),
    ("ed25519-sign", |secret| _ = black_box(ed25519::SigningKey::from_seed(secret).sign(b"m"))),
    ("x25519-agree", |secret| {
        let key = x25519::PrivateKey::from(*secret);
        let mut nine = [0; 32];
        nine[0] = 9;
        drop(black_box(key.agree(&nine)));
    }),
    ("bls-scalars", |secret| {
        let (a, b) = (scalar(secret), Fr::from(3));
        black_box(((a * b - a).square() + b.double()).invert());
    }),
    ("bls-g1", |secret| _ = black_box((G1::generator() * scalar(secret)).to_affine())),
    ("bls-sign", |secret| {
        let key = SecretKey::<Cycloid, MinPk>::from_scalar(scalar(secret)).expect("a key");
        black_box(key.sign(Scheme::ProofOfPossession, b"message"));
    }),
    ("bls-pairing", |secret| {
        let scalar = scalar(secret);
        let (p, q) = (G1::generator() * scalar, G2::generator() * scalar);
        black_box(pairing(&p.to_affine(), &q.to_affine()));
    }),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        OPERATIONS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    let letter = arguments.next().expect("a secret").as_bytes()[0];
    let (_, run) = OPERATIONS.iter().find(|(of, _)| *of == name).expect("an operation");
    // Different in every byte.
    run(&core::array::from_fn(|i| letter.wrapping_mul(37).wrapping_add(91 * i as u8) & 0x7f));
}

fn leak_branch(secret: &[u8; 32]) {
    if black_box(secret[0]) & 1 == 0 {
        black_box(secret[1]);
        println!("even");
    }
}

fn leak_index(secret: &[u8; 32]) {
    let table = black_box([1u8; 256]);
    black_box(table[usize::from(black_box(secret[0]))]);
}

/// Returns a secret as a scalar of BLS12-381.
fn scalar(secret: &[u8; 32]) -> Fr<Cycloid> {
    Fr::from_bytes_wide(secret)
}

fn sign<C: Curve>(private: &[u8]) {
    let key = ec::PrivateKey::<C>::from_bytes(private).expect("a key");
    black_box(key.sign(Hash::Sha256, b"message"));
}

fn agree<C: Curve>(private: &[u8]) {
    let peer = ec::PrivateKey::<C>::from_bytes(&vec![1; private.len()]).expect("a key");
    let key = ec::PrivateKey::<C>::from_bytes(private).expect("a key");
    drop(black_box(key.agree(peer.public_key())));
}

/// Every operation of `Words` on secret numbers of several lengths.
struct OfWords([u8; 32]);

impl words::Task for OfWords {
    type Output = ();

    fn run<W: Words>(self, words: W) {
        let secret = u64::from_le_bytes(self.0[..8].try_into().expect("eight"));
        for n in 1..35 {
            let a: Vec<Limb> = (0..n as u64).map(|i| secret.wrapping_mul(i + 3)).collect();
            let mut m = vec![Limb::MAX; n];
            m[0] -= 58;
            let n0 = words::montgomery_n0(m[0]);
            let (mut wide, mut work, mut out) = (vec![0; 2 * n], vec![0; 2 * n], a.clone());
            words.mul(&mut wide, &a, &a);
            words.square(&mut wide, &a);
            words.add_mul_limb(&mut wide[..n], &a, secret);
            words.sub_mul_limb(&mut wide[..n], &a, secret);
            words.montgomery_mul(&mut out, &a, &mut work, &m, n0);
            words.montgomery_square_times(&mut out, 2, &mut work, &m, n0);
            words.lookup(&mut out, &a.repeat(4), (secret % 4) as usize);
            black_box(&out);
        }
    }
}
