//! The operations, written over the backend.

use std::hint::black_box;

use chacha20::ChaCha20Rng;
use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::signature::{
    MinPk, MinSig, PublicKey, Scheme, SecretKey, Signature, SignatureBackend, Variant,
    aggregate_verify, batch_verify, fast_aggregate_verify,
};
use cycloid::bls12_381::{
    Affine, Backend, CurvePoint, Domain, First, Fq12, Fr, G1, G1Affine, G2Affine, G2Prepared, Gt,
    Projective, Second, miller_loop, miller_loop_prepared, multi_pairing, pairing,
};
use rand_core::SeedableRng;

use super::{Case, Computed, Part};

/// Members of the lists of which many are done at a time.
const MANY: usize = 256;

/// Signatures that are verified at once.
const SIGNATURES: usize = 64;

const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([0xb1; 32])
}

/// The operations of a part, in the order of the table.
pub(super) fn of<B: Backend>(part: Part, sums: &[u32]) -> Vec<Case> {
    match part {
        Part::Fr => fr::<B>(),
        Part::G1 => group::<B, First>(),
        Part::G2 => group::<B, Second>(),
        Part::Gt => gt::<B>(),
        Part::Pairing => pairings::<B>(),
        Part::Signature => {
            let mut cases = signatures::<B, MinPk>("small keys");
            cases.extend(signatures::<B, MinSig>("small signatures"));
            cases
        }
        Part::Msm => {
            let of = |sum: &u32| [msm::<B, First>(*sum), msm::<B, Second>(*sum)];
            sums.iter().flat_map(of).collect()
        }
        Part::Fft => vec![fft::<B>(8), fft::<B>(12), fft::<B>(16), points::<B>(6)],
    }
}

/// A case of which `prepare` gives what is computed, and `bytes` tells the result.
fn case<R: 'static, C: FnMut() -> R + 'static>(
    name: impl Into<String>,
    function: &'static str,
    prepare: impl Fn() -> C + 'static,
    bytes: impl Fn(&R) -> Vec<u8> + Copy + 'static,
) -> Case {
    Case {
        name: name.into(),
        function,
        constant_time: !function.ends_with("_vartime"),
        operations_per_call: 1,
        scratch: 0,
        prepare: Box::new(move || {
            Box::new(Computed {
                compute: Box::new(prepare()),
                bytes: Box::new(bytes),
                result: None,
            })
        }),
    }
}

impl Case {
    fn of_several(self, operations: usize) -> Self {
        Self { operations_per_call: operations as u32, ..self }
    }

    fn with_scratch(self, scratch: usize) -> Self {
        Self { scratch, ..self }
    }

    /// Of what takes public values only.
    fn of_public(self) -> Self {
        Self { constant_time: false, ..self }
    }
}

fn fr<B: Backend>() -> Vec<Case> {
    /// Of one or two elements.
    fn unary<B: Backend, R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Fr<B>, Fr<B>) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut rng = rng();
            // A square, so that it has a root.
            let (a, b) = (Fr::random(&mut rng).square(), Fr::random(&mut rng));
            move || compute(black_box(a), black_box(b))
        };
        case(name, function, prepare, bytes)
    }
    let bytes = |a: &Fr<B>| a.to_bytes().to_vec();
    let option = |a: &Option<Fr<B>>| a.map_or_else(Vec::new, |a| a.to_bytes().to_vec());
    let list = || -> (Vec<Fr<B>>, Vec<Fr<B>>) {
        let mut rng = rng();
        let mut random = || (0..MANY).map(|_| Fr::random(&mut rng)).collect();
        (random(), random())
    };
    vec![
        unary("add", "Fr::add", |a, b| a + b, bytes),
        unary("subtract", "Fr::sub", |a, b| a - b, bytes),
        unary("negate", "Fr::neg", |a, _| -a, bytes),
        unary("double", "Fr::double", |a, _| a.double(), bytes),
        unary("multiply", "Fr::mul", |a, b| a * b, bytes),
        unary("square", "Fr::square", |a, _| a.square(), bytes),
        unary("invert", "Fr::invert", |a, _| a.invert(), option),
        unary("invert, public", "Fr::invert_vartime", |a, _| a.invert_vartime(), option),
        unary("divide", "Fr::divide", |a, b| a.divide(&b), option),
        unary("power", "Fr::pow", |a, b| a.pow(&b.to_integer()), bytes),
        unary("power, public", "Fr::pow_vartime", |a, b| a.pow_vartime(&b.to_integer()), bytes),
        unary("Legendre symbol", "Fr::legendre", |a: Fr<B>, _| a.legendre(), |s| vec![*s as u8]),
        unary("square root", "Fr::sqrt_vartime", |a, _| a.sqrt_vartime(), option),
        unary("equality", "Fr::eq", |a: Fr<B>, b| a == b, |same| vec![u8::from(*same)]),
        unary("to bytes", "Fr::to_bytes", |a: Fr<B>, _| a.to_bytes(), |bytes| bytes.to_vec()),
        case(
            "from bytes",
            "Fr::from_bytes",
            || {
                let bytes = Fr::<B>::random(&mut rng()).to_bytes();
                move || Fr::<B>::from_bytes(black_box(&bytes)).ok()
            },
            option,
        ),
        case(
            format!("inner product of {MANY}"),
            "Fr::inner_product",
            move || {
                let (a, b) = list();
                move || Fr::inner_product(black_box(&a), black_box(&b)).ok()
            },
            option,
        ),
        case(
            format!("invert, of {MANY}"),
            "Fr::invert_many",
            move || {
                let (mut a, mut scratch) = list();
                move || {
                    let done = Fr::invert_many(black_box(&mut a), &mut scratch);
                    done.ok().map(|()| a[0].square())
                }
            },
            // Every run inverts what the last one left.
            |a: &Option<Fr<B>>| vec![u8::from(a.is_some())],
        )
        .of_several(MANY)
        .with_scratch(MANY * size_of::<Fr<B>>()),
    ]
}

/// A member as bytes.
fn encoded<B: Backend + Group<G>, G: SourceGroup>(point: &Projective<B, G>) -> Vec<u8> {
    point.to_affine().to_compressed().as_ref().to_vec()
}

fn encoded_affine<B: Backend + Group<G>, G: SourceGroup>(point: &Affine<B, G>) -> Vec<u8> {
    point.to_compressed().as_ref().to_vec()
}

fn group<B: Backend + Group<G>, G: SourceGroup>() -> Vec<Case> {
    /// Of two members and a scalar.
    fn of<B: Backend + Group<G>, G: SourceGroup, R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Projective<B, G>, Projective<B, G>, Fr<B>) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut rng = rng();
            let (p, q) = (Projective::random(&mut rng), Projective::random(&mut rng));
            let k = Fr::random(&mut rng);
            move || compute(black_box(p), black_box(q), black_box(k))
        };
        case(name, function, prepare, bytes)
    }
    let point = encoded::<B, G>;
    let optional =
        |point: &Option<Affine<B, G>>| point.as_ref().map_or_else(Vec::new, encoded_affine);
    let first = |points: &Vec<Projective<B, G>>| encoded(&points[0]);
    let random = || -> Affine<B, G> { Affine::random(&mut rng()) };
    let many = || -> (Vec<Projective<B, G>>, Vec<Fr<B>>) {
        let mut rng = rng();
        let points = (0..MANY).map(|_| Projective::random(&mut rng)).collect();
        (points, (0..MANY).map(|_| Fr::random(&mut rng)).collect())
    };
    let affine =
        move || -> Vec<Affine<B, G>> { many().0.iter().map(Projective::to_affine).collect() };
    vec![
        of::<B, G, _>("add", "Projective::add", |p, q, _| p + q, point),
        case(
            "add affine",
            "Projective::add_affine",
            || {
                let mut rng = rng();
                let p = Projective::<B, G>::random(&mut rng);
                let q = Affine::random(&mut rng);
                move || black_box(p).add_affine(black_box(&q))
            },
            point,
        ),
        of::<B, G, _>("double", "Projective::double", |p, _, _| p.double(), point),
        of::<B, G, _>("negate", "Projective::neg", |p, _, _| -p, point),
        of::<B, G, _>("equality", "Projective::eq", |p, q, _| p == q, |same| vec![u8::from(*same)]),
        of::<B, G, _>("multiply", "Projective::multiply", |p, _, k| p.multiply(&k), point),
        of::<B, G, _>(
            "multiply, public",
            "Projective::multiply_vartime",
            |p, _, k| p.multiply_vartime(&k),
            point,
        ),
        of::<B, G, _>(
            "multiply generator",
            "Projective::multiply_generator",
            |_, _, k| Projective::multiply_generator(&k),
            point,
        ),
        case(
            format!("multiply, of {MANY}"),
            "Projective::multiply_many",
            move || {
                let (points, scalars) = many();
                move || {
                    let mut points = points.clone();
                    let _ = Projective::multiply_many(&mut points, &scalars);
                    points
                }
            },
            first,
        )
        .of_several(MANY),
        case(
            format!("multiply, public, of {MANY}"),
            "Projective::multiply_many_vartime",
            move || {
                let (points, scalars) = many();
                move || {
                    let mut points = points.clone();
                    let _ = Projective::multiply_many_vartime(&mut points, &scalars);
                    points
                }
            },
            first,
        )
        .of_several(MANY),
        case(
            format!("sum of {MANY}, affine"),
            "Projective::sum_affine",
            move || {
                let points = affine();
                move || Projective::sum_affine(black_box(&points))
            },
            point,
        ),
        of::<B, G, _>(
            "to affine",
            "Projective::to_affine",
            |p, _, _| p.to_affine(),
            encoded_affine,
        ),
        case(
            format!("to affine, of {MANY}"),
            "Projective::to_affine_many",
            move || {
                let points = many().0;
                move || {
                    let mut affine = vec![Affine::identity(); MANY];
                    let _ = Projective::to_affine_many(black_box(&points), &mut affine);
                    affine
                }
            },
            |affine: &Vec<Affine<B, G>>| encoded_affine(&affine[0]),
        )
        .of_several(MANY),
        case(
            "is a member",
            "CurvePoint::is_member",
            move || {
                let point = CurvePoint::from(random());
                move || black_box(&point).is_member()
            },
            |member: &bool| vec![u8::from(*member)],
        )
        .of_public(),
        case(
            "compress",
            "Affine::to_compressed",
            move || {
                let point = random();
                move || black_box(&point).to_compressed()
            },
            |bytes: &G::Compressed| bytes.as_ref().to_vec(),
        )
        .of_public(),
        case(
            "decompress",
            "Affine::from_compressed",
            move || {
                let bytes = random().to_compressed();
                move || Affine::<B, G>::from_compressed(black_box(bytes.as_ref())).ok()
            },
            optional,
        )
        .of_public(),
        case(
            "decompress, unchecked",
            "Affine::from_compressed_unchecked",
            move || {
                let bytes = random().to_compressed();
                move || Affine::<B, G>::from_compressed_unchecked(black_box(bytes.as_ref())).ok()
            },
            optional,
        )
        .of_public(),
        case(
            format!("decompress, of {MANY}"),
            "Affine::from_compressed_many",
            move || {
                let bytes: Vec<_> = affine().iter().map(Affine::to_compressed).collect();
                move || {
                    let mut points = vec![Ok(Affine::<B, G>::identity()); MANY];
                    let _ = Affine::from_compressed_many(black_box(&bytes), &mut points);
                    points[0].ok()
                }
            },
            optional,
        )
        .of_public()
        .of_several(MANY),
        case(
            "hash to curve",
            "Projective::hash_to_curve",
            || || Projective::<B, G>::hash_to_curve(black_box(&[7; 32]), TAG),
            point,
        )
        .of_public(),
        case(
            "encode to curve",
            "Projective::encode_to_curve",
            || || Projective::<B, G>::encode_to_curve(black_box(&[7; 32]), TAG),
            point,
        )
        .of_public(),
        case(
            format!("hash to curve, of {MANY}"),
            "Projective::hash_to_curve_many",
            || {
                let texts: Vec<[u8; 32]> = (0..MANY).map(|i| [i as u8; 32]).collect();
                move || {
                    let messages: Vec<&[u8]> = texts.iter().map(<[u8; 32]>::as_slice).collect();
                    let mut points = vec![Projective::<B, G>::identity(); MANY];
                    let _ = Projective::hash_to_curve_many(&messages, TAG, &mut points);
                    points
                }
            },
            first,
        )
        .of_public()
        .of_several(MANY),
    ]
}

fn gt<B: Backend>() -> Vec<Case> {
    fn of<B: Backend, R: 'static>(
        name: &str,
        function: &'static str,
        compute: fn(Gt<B>, Gt<B>, Fr<B>) -> R,
        bytes: fn(&R) -> Vec<u8>,
    ) -> Case {
        let prepare = move || {
            let mut rng = rng();
            let (a, b, k) = (Gt::random(&mut rng), Gt::random(&mut rng), Fr::random(&mut rng));
            move || compute(black_box(a), black_box(b), black_box(k))
        };
        case(name, function, prepare, bytes)
    }
    let member = |a: &Gt<B>| a.to_bytes().to_vec();
    let element = |a: &Fq12<B>| a.to_bytes().to_vec();
    vec![
        of("Fq12 multiply", "Fq12::mul", |a, b, _| Fq12::from(a) * Fq12::from(b), element),
        of("Fq12 square", "Fq12::square", |a, _, _| Fq12::from(a).square(), element),
        of(
            "Fq12 invert",
            "Fq12::invert",
            |a, _, _| Fq12::from(a).invert(),
            |a: &Option<Fq12<B>>| a.map_or_else(Vec::new, |a| a.to_bytes().to_vec()),
        ),
        of("multiply", "Gt::mul", |a, b, _| a * b, member),
        of("square", "Gt::square", |a, _, _| a.square(), member),
        of("invert", "Gt::invert", |a, _, _| a.invert(), member),
        of("power", "Gt::pow", |a, _, k| a.pow(&k), member),
        of("power, public", "Gt::pow_vartime", |a, _, k| a.pow_vartime(&k), member),
        of(
            "is a member",
            "Fq12::is_in_gt",
            |a: Gt<B>, _, _| Fq12::from(a).is_in_gt(),
            |member| vec![u8::from(*member)],
        )
        .of_public(),
    ]
}

/// Pairs of members.
fn pairs<B: Backend>(n: usize) -> (Vec<G1Affine<B>>, Vec<G2Affine<B>>) {
    let mut rng = rng();
    let p = (0..n).map(|_| G1Affine::random(&mut rng)).collect();
    (p, (0..n).map(|_| G2Affine::random(&mut rng)).collect())
}

fn pairings<B: Backend>() -> Vec<Case> {
    // Before the final exponentiation backends may differ.
    let raw = |value: &Option<Fq12<B>>| {
        let member = value.and_then(|value| value.final_exponentiation());
        member.map_or_else(Vec::new, |member| member.to_bytes().to_vec())
    };
    let member = |value: &Gt<B>| value.to_bytes().to_vec();
    let optional = |value: &Option<Gt<B>>| value.map_or_else(Vec::new, |v| v.to_bytes().to_vec());
    let mut cases: Vec<Case> = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 64]
        .into_iter()
        .map(|n| {
            let prepare = move || {
                let (p, q) = pairs::<B>(n);
                move || miller_loop(black_box(&p), black_box(&q)).ok()
            };
            case(format!("Miller loop of {n}"), "miller_loop", prepare, raw)
        })
        .collect();
    cases.extend([1, 8].map(|n| {
        let prepare = move || {
            let (p, q) = pairs::<B>(n);
            let lines: Vec<G2Prepared<B>> = q.into_iter().map(G2Prepared::from).collect();
            move || {
                let lines: [Option<&G2Prepared<B>>; 8] = std::array::from_fn(|i| lines.get(i));
                let lines: [&G2Prepared<B>; 8] =
                    lines.map(|line| line.or(lines[0]).expect("one at least"));
                miller_loop_prepared(black_box(&p), &lines[..n]).ok()
            }
        };
        case(format!("Miller loop of {n}, prepared"), "miller_loop_prepared", prepare, raw)
    }));
    cases.extend([
        case(
            "final exponentiation",
            "Fq12::final_exponentiation",
            || {
                let (p, q) = pairs::<B>(1);
                let value = miller_loop(&p, &q).unwrap_or(Fq12::one());
                move || black_box(value).final_exponentiation()
            },
            optional,
        ),
        case(
            "pairing",
            "pairing",
            || {
                let (p, q) = pairs::<B>(1);
                move || pairing(black_box(&p[0]), black_box(&q[0]))
            },
            member,
        ),
        case(
            "pairing of 6",
            "multi_pairing",
            || {
                let (p, q) = pairs::<B>(6);
                move || multi_pairing(black_box(&p), black_box(&q)).ok()
            },
            optional,
        ),
    ]);
    cases.into_iter().map(Case::of_public).collect()
}

/// Keys, messages and signatures.
struct Signed<B: SignatureBackend<V>, V: Variant> {
    secret: Vec<SecretKey<B, V>>,
    public: Vec<PublicKey<B, V>>,
    messages: Vec<[u8; 32]>,
    signatures: Vec<Signature<B, V>>,
}

impl<B: SignatureBackend<V>, V: Variant> Signed<B, V> {
    fn new(n: usize) -> Self {
        let mut rng = rng();
        let secret: Vec<SecretKey<B, V>> = (0..n).map(|_| SecretKey::generate(&mut rng)).collect();
        let public = secret.iter().map(SecretKey::public_key).collect();
        let messages: Vec<[u8; 32]> = (0..n).map(|i| [i as u8; 32]).collect();
        let pairs = secret.iter().zip(&messages);
        let signatures = pairs.map(|(key, message)| key.sign(Scheme::Basic, message)).collect();
        Self { secret, public, messages, signatures }
    }

    fn messages(&self) -> Vec<&[u8]> {
        self.messages.iter().map(<[u8; 32]>::as_slice).collect()
    }
}

fn signatures<B: SignatureBackend<V>, V: Variant>(variant: &str) -> Vec<Case> {
    let right = |result: &bool| vec![u8::from(*result)];
    let name = |what: &str| format!("{what}, {variant}");
    let key_bytes = |key: &PublicKey<B, V>| key.to_bytes().as_ref().to_vec();
    let signature_bytes = |signature: &Signature<B, V>| signature.to_bytes().as_ref().to_vec();
    vec![
        case(
            name("public key"),
            "SecretKey::public_key",
            || {
                let signed = Signed::<B, V>::new(1);
                move || black_box(&signed.secret[0]).public_key()
            },
            key_bytes,
        ),
        case(
            name("sign"),
            "SecretKey::sign",
            || {
                let signed = Signed::<B, V>::new(1);
                move || signed.secret[0].sign(Scheme::Basic, black_box(&signed.messages[0]))
            },
            signature_bytes,
        ),
        case(
            name("verify"),
            "PublicKey::verify",
            || {
                let Signed { public, messages, signatures, .. } = Signed::<B, V>::new(1);
                move || {
                    let signature = black_box(&signatures[0]);
                    public[0].verify(Scheme::Basic, &messages[0], signature).is_ok()
                }
            },
            right,
        )
        .of_public(),
        case(
            name(&format!("aggregate {SIGNATURES}")),
            "Signature::aggregate",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                move || Signature::aggregate(black_box(&signed.signatures)).ok()
            },
            |sum: &Option<Signature<B, V>>| {
                sum.map_or_else(Vec::new, |sum| sum.to_bytes().as_ref().to_vec())
            },
        )
        .of_public(),
        case(
            name(&format!("verify aggregate of {SIGNATURES}")),
            "aggregate_verify",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                let sum = Signature::aggregate(&signed.signatures);
                move || {
                    let messages = signed.messages();
                    sum.is_ok_and(|sum| {
                        aggregate_verify(Scheme::Basic, &signed.public, &messages, &sum).is_ok()
                    })
                }
            },
            right,
        )
        .of_public()
        .of_several(SIGNATURES),
        case(
            name(&format!("verify one message of {SIGNATURES}")),
            "fast_aggregate_verify",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                let sign = |key: &SecretKey<B, V>| key.sign(Scheme::ProofOfPossession, b"message");
                let signatures: Vec<_> = signed.secret.iter().map(sign).collect();
                let sum = Signature::aggregate(&signatures);
                move || {
                    let verify =
                        |sum| fast_aggregate_verify(&signed.public, b"message", &sum).is_ok();
                    sum.is_ok_and(verify)
                }
            },
            right,
        )
        .of_public(),
        case(
            name(&format!("verify {SIGNATURES}")),
            "batch_verify",
            || {
                let signed = Signed::<B, V>::new(SIGNATURES);
                let mut rng = rng();
                move || {
                    let Signed { public, signatures, .. } = &signed;
                    let messages = signed.messages();
                    batch_verify(Scheme::Basic, public, &messages, signatures, &mut rng).is_ok()
                }
            },
            right,
        )
        .of_public()
        .of_several(SIGNATURES),
    ]
}

fn msm<B: Backend + Group<G>, G: SourceGroup>(log: u32) -> Case {
    let n = 1_usize << log;
    let scratch = Projective::<B, G>::multi_scalar_scratch(n);
    let prepare = move || {
        let mut rng = rng();
        // Each point is the last and a random one: a random multiple takes long.
        let step = Projective::<B, G>::random(&mut rng);
        let first = Projective::random(&mut rng);
        let points = std::iter::successors(Some(first), |point| Some(point.double() + step));
        let points: Vec<_> = points.take(n).collect();
        let mut affine = vec![Affine::identity(); n];
        let _ = Projective::to_affine_many(&points, &mut affine);
        let scalars: Vec<Fr<B>> = (0..n).map(|_| Fr::random(&mut rng)).collect();
        let mut scratch = vec![0; scratch];
        move || {
            Projective::multi_scalar_multiply_vartime(
                black_box(&affine),
                black_box(&scalars),
                &mut scratch,
            )
            .ok()
        }
    };
    let bytes = |sum: &Option<Projective<B, G>>| sum.as_ref().map_or_else(Vec::new, encoded);
    let name = format!("{} sum of 2^{log} multiples", G::NAME);
    case(name, "Projective::multi_scalar_multiply_vartime", prepare, bytes)
        .with_scratch(scratch * size_of::<u64>())
}

fn fft<B: Backend>(log: u32) -> Case {
    let n = 1_usize << log;
    let prepare = move || {
        let mut rng = rng();
        let values: Vec<Fr<B>> = (0..n).map(|_| Fr::random(&mut rng)).collect();
        let mut room = values.clone();
        let domain = Domain::new(n, vec![Fr::ZERO; n / 2]);
        move || {
            room.copy_from_slice(&values);
            let done = domain.as_ref().map(|domain| domain.fft(&mut room));
            matches!(done, Ok(Ok(()))).then(|| room[1])
        }
    };
    let bytes = |value: &Option<Fr<B>>| value.map_or_else(Vec::new, |v| v.to_bytes().to_vec());
    case(format!("Fr transform of 2^{log}"), "Domain::fft", prepare, bytes)
        .with_scratch(n / 2 * size_of::<Fr<B>>())
}

fn points<B: Backend>(log: u32) -> Case {
    let n = 1_usize << log;
    let prepare = move || {
        let mut rng = rng();
        let values: Vec<G1<B>> = (0..n).map(|_| G1::random(&mut rng)).collect();
        let mut room = values.clone();
        let domain = Domain::new(n, vec![Fr::ZERO; n / 2]);
        move || {
            room.copy_from_slice(&values);
            let done = domain.as_ref().map(|domain| domain.fft_points(&mut room));
            matches!(done, Ok(Ok(()))).then(|| room[1])
        }
    };
    let bytes = |value: &Option<G1<B>>| value.as_ref().map_or_else(Vec::new, encoded);
    case(format!("G1 transform of 2^{log}"), "Domain::fft_points", prepare, bytes)
        .of_public()
        .with_scratch(n / 2 * size_of::<Fr<B>>())
}
