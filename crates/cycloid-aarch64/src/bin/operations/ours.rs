//! The operations of Cycloid, and single field operations.

use std::hint::black_box;

use cycloid::bls12_381::signature::{MinPk, Scheme, SecretKey};
use cycloid::bls12_381::{Cycloid, Fr, G1, G1Affine, G2, G2Affine, miller_loop, pairing};
use cycloid::internals::field::{self, CurveArithmetic, CurvePrime, Prime};
use cycloid::internals::words;
use cycloid::scheme::ec::{self, Curve, P224, P256, P384, P521};
use cycloid::scheme::rsa::{self, SignatureScheme};
use cycloid::scheme::{Hash, ed25519, x25519};

use crate::{MESSAGE, Operation, PRIVATE, RSA, SCALAR, long_private, longest_private};
use cycloid_aarch64::random::Repeatable;

/// Returns the operation with that name.
pub fn operation(name: &str) -> Option<Operation> {
    let (of, what) = name.split_once('-')?;
    Some(match of {
        "p224" => ecdsa::<P224>(what, &PRIVATE[4..], Hash::Sha224)?,
        "p256" => ecdsa::<P256>(what, &PRIVATE, Hash::Sha256)?,
        "p384" => ecdsa::<P384>(what, &long_private(), Hash::Sha384)?,
        "p521" => ecdsa::<P521>(what, &longest_private(), Hash::Sha512)?,
        "ed25519" => edwards(what)?,
        "x25519" => {
            let key = x25519::PrivateKey::from(PRIVATE);
            let peer = x25519::PrivateKey::from([7; 32]).public_key();
            Box::new(move || drop(black_box(key.agree(&peer))))
        }
        "bls" => bls(what)?,
        "field" => {
            let (prime, what) = what.split_once('-')?;
            match prime {
                "p256" => field::<field::P256>(what)?,
                "p384" => field::<field::P384>(what)?,
                "p521" => field::<field::P521>(what)?,
                "p224" => field::<field::P224>(what)?,
                "p25519" => field::<field::P25519>(what)?,
                _ => return None,
            }
        }
        of => rivest(what, RSA.iter().find(|(name, _)| *name == of)?.1)?,
    })
}

fn ecdsa<C: Curve + 'static>(what: &str, private: &[u8], hash: Hash) -> Option<Operation> {
    let key = ec::PrivateKey::<C>::from_bytes(private).ok()?;
    let public = *key.public_key();
    let signature = key.sign(hash, MESSAGE);
    public.verify(hash, MESSAGE, &signature).ok()?;
    Some(match what {
        "sign" => Box::new(move || drop(black_box(key.sign(hash, MESSAGE)))),
        "verify" => Box::new(move || public.verify(hash, MESSAGE, &signature).expect("valid")),
        "agree" => Box::new(move || drop(black_box(key.agree(&public)))),
        _ => return None,
    })
}

fn edwards(what: &str) -> Option<Operation> {
    let key = ed25519::SigningKey::from_seed(&PRIVATE);
    let public = *key.verifying_key();
    let signature = key.sign(MESSAGE);
    Some(match what {
        "sign" => Box::new(move || _ = black_box(key.sign(MESSAGE))),
        "verify" => Box::new(move || public.verify(MESSAGE, &signature).expect("valid")),
        _ => return None,
    })
}

/// The operations on BLS12-381.
fn bls(what: &str) -> Option<Operation> {
    let (p, q) = (G1Affine::<Cycloid>::generator(), G2Affine::generator());
    let scalar = Fr::<Cycloid>::from_be_bytes(&SCALAR).ok()?;
    let key = SecretKey::<Cycloid, MinPk>::from_bytes(&SCALAR).ok()?;
    let public = key.public_key();
    let signature = key.sign(Scheme::ProofOfPossession, MESSAGE);
    public.verify(Scheme::ProofOfPossession, MESSAGE, &signature).ok()?;
    Some(match what {
        "pairing" => Box::new(move || _ = black_box(pairing(&p, &q))),
        "miller" => Box::new(move || _ = black_box(miller_loop(&[p], &[q]))),
        "final" => {
            let value = miller_loop(&[p], &[q]).ok()?;
            Box::new(move || _ = black_box(value.final_exponentiation()))
        }
        "g1" => {
            let point = G1::from(p).double();
            Box::new(move || _ = black_box(point.multiply(&scalar)))
        }
        "g2" => {
            let point = G2::from(q).double();
            Box::new(move || _ = black_box(point.multiply(&scalar)))
        }
        "sign" => Box::new(move || _ = black_box(key.sign(Scheme::ProofOfPossession, MESSAGE))),
        "verify" => Box::new(move || {
            public.verify(Scheme::ProofOfPossession, MESSAGE, &signature).expect("valid");
        }),
        _ => return None,
    })
}

fn rivest(what: &str, der: &[u8]) -> Option<Operation> {
    let key = rsa::KeyPair::from_der(der).ok()?;
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let mut random = Repeatable(1);
    let signature = key.sign(scheme, MESSAGE, &mut random).ok()?;
    let public = key.public_key().clone();
    public.verify(scheme, MESSAGE, signature.as_ref()).ok()?;
    Some(match what {
        "sign" => Box::new(move || drop(black_box(key.sign(scheme, MESSAGE, &mut random)))),
        "verify" => {
            Box::new(move || public.verify(scheme, MESSAGE, signature.as_ref()).expect("valid"))
        }
        _ => return None,
    })
}

struct Field<'a>(&'a str);

impl<P: CurvePrime> field::CurveTask<P> for Field<'_> {
    type Output = Option<Operation>;

    fn run<A: CurveArithmetic<P>>(self, f: A) -> Option<Operation> {
        let mut number = <P as Prime>::Words::default_of();
        number.as_mut()[0] = 3;
        let mut a = f.load(&[number]);
        let b = f.square(&a);
        Some(match self.0 {
            "mul" => Box::new(move || f.mul_in_place(&mut a, &b)),
            "square" => Box::new(move || a = f.square(&a)),
            "add" => Box::new(move || a = f.add(&a, &b)),
            "sub" => Box::new(move || a = f.sub(&a, &b)),
            "double" => {
                let mut point = [a, b, a];
                Box::new(move || point = f.double_times(&point, 1))
            }
            "addition" => {
                let mut point = [a, b, a, a, b];
                Box::new(move || {
                    let [x, y, z, ..] = point;
                    point = f.add_affine(&[x, y, z], &[b, a]);
                })
            }
            _ => return None,
        })
    }
}

/// Zero, for the limbs of any number.
trait DefaultOf {
    fn default_of() -> Self;
}

impl<L: field::Limbs> DefaultOf for L {
    fn default_of() -> Self {
        L::ZERO
    }
}

fn field<P: CurvePrime>(what: &str) -> Option<Operation> {
    P::run_one_curve(words::Backend::best(), Field(what))
}
