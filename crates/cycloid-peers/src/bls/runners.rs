//! The operations by peers with a runner: jobs with the inputs of the library's cases, and checks
//! of their results. docs/runners.md has the encodings.

#[cfg(test)]
mod tests;

use cycloid::bls12_381::backend::{Group, SourceGroup};
use cycloid::bls12_381::{Affine, Cycloid, First, Fr, G1Affine, G2Affine, Projective, Second};
use cycloid_lab::peers::ResultCheck;
use cycloid_lab::peers::external::Job;
use cycloid_lab::peers::external::job::job;

use super::Part;
use super::cases::groups::TAG;
use super::cases::inputs::{MANY, message, rng};
use super::cases::{many, pairings};

/// An operation that a runner can be asked for.
pub(super) struct Asked {
    /// Its parameters.
    pub(super) job: Job,
    /// Returns the bytes that the library's case has as its result.
    decode: fn(&[u8]) -> Vec<u8>,
    /// An input that the operation must refuse, or find not to be a member.
    hostile: Option<Vec<u8>>,
}

impl Asked {
    /// Returns the check for a result: its bytes, or none if the runner accepts a hostile input.
    pub(super) fn check(&self) -> ResultCheck {
        let (decode, hostile) = (self.decode, self.hostile.clone());
        Box::new(move |call, result| {
            if let Some(hostile) = &hostile {
                let mut room = vec![0; hostile.len()];
                let is_refused = match call(hostile, &mut room) {
                    Ok(length) => room[..length] == [0],
                    Err(_) => true,
                };
                if !is_refused {
                    return Vec::new();
                }
            }
            decode(result).into_iter().map(u64::from).collect()
        })
    }
}

/// Returns the job for the case of that name; `None` if no runner is asked for it.
pub(super) fn ask(part: Part, name: &str, sums: &[u32]) -> Option<Asked> {
    match part {
        Part::Fr => of_scalars(name),
        Part::G1 => of_group::<First>(name),
        Part::G2 => of_group::<Second>(name),
        Part::Pairing => of_pairings(name),
        Part::Msm => sums
            .iter()
            .find_map(|sum| of_sum::<First>(name, *sum).or_else(|| of_sum::<Second>(name, *sum))),
        Part::Fft => of_transform(name),
        Part::Gt | Part::Signature | Part::Kzg => None,
    }
}

type Scalar = Fr<Cycloid>;

/// Encodes elements of Fr, big-endian, one after the other.
fn encoded(elements: &[Scalar]) -> Vec<u8> {
    let bytes = |element: &Scalar| element.to_bytes().into_iter().rev();
    elements.iter().flat_map(bytes).collect()
}

/// Decodes an element of Fr.
fn element(bytes: &[u8]) -> Option<Scalar> {
    let mut bytes: [u8; 32] = bytes.try_into().ok()?;
    bytes.reverse();
    Scalar::from_bytes(&bytes).ok()
}

/// Returns the library's encoding of an element: little-endian.
fn of_element(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().rev().copied().collect()
}

fn of_scalars(name: &str) -> Option<Asked> {
    let mut rng = rng();
    let mut random = || Scalar::random(&mut rng).expect("a sound generator");
    let asked = |operation, data: &[Scalar], second: &[Scalar], decode| {
        let job = job(operation, &encoded(data), &[("second", &encoded(second))]);
        Some(Asked { job, decode, hostile: None })
    };
    let many = |random: &mut dyn FnMut() -> Scalar| -> Vec<Scalar> {
        (0..MANY).map(|_| random()).collect()
    };
    if name == format!("inner product of {MANY}") {
        let (a, b) = (many(&mut random), many(&mut random));
        return asked("bls-fr-inner-product", &a, &b, of_element);
    }
    if name == format!("invert, of {MANY}") {
        // The library's case inverts its previous result, so it has this sum.
        let decode = |bytes: &[u8]| {
            let sum = element(bytes).and_then(|a| Some(a + a.invert_vartime()?));
            sum.map_or_else(Vec::new, |sum| sum.to_bytes().to_vec())
        };
        return asked("bls-fr-invert-many", &many(&mut random), &[], decode);
    }
    let (a, b) = (random().square(), random());
    match name {
        "multiply" => asked("bls-fr-multiply", &[a], &[b], of_element),
        "square" => asked("bls-fr-square", &[a], &[], of_element),
        "invert" | "invert, public" => asked("bls-fr-invert", &[a], &[], of_element),
        "square root" => asked("bls-fr-square-root", &[a], &[], |bytes: &[u8]| {
            // Both roots are correct.
            let root = element(bytes).map(|root| root.square().to_bytes().to_vec());
            root.unwrap_or_default()
        }),
        _ => None,
    }
}

fn of_transform(name: &str) -> Option<Asked> {
    let log: u32 = name.strip_prefix("Fr transform of 2^")?.parse().ok()?;
    let mut rng = rng();
    let random = |_| Scalar::random(&mut rng).expect("a sound generator");
    let values: Vec<Scalar> = (0..1_usize << log).map(random).collect();
    let job = job("bls-fr-transform", &encoded(&values), &[]);
    Some(Asked { job, decode: of_element, hostile: None })
}

/// Encodes points, compressed, one after the other.
fn compressed<G: SourceGroup>(points: &[Affine<Cycloid, G>]) -> Vec<u8>
where
    Cycloid: Group<G>,
{
    points.iter().flat_map(|point| point.to_compressed().as_ref().to_vec()).collect()
}

/// Returns the encoding of a point of the curve that is not a member of the group.
fn outsider<G: SourceGroup>() -> Vec<u8>
where
    Cycloid: Group<G>,
{
    let length = Affine::<Cycloid, G>::identity().to_compressed().as_ref().len();
    let candidates = (1..=u8::MAX).map(|x| {
        let mut bytes = vec![0; length];
        (bytes[0], bytes[length - 1]) = (0x80, x);
        bytes
    });
    let is_outside = |bytes: &Vec<u8>| {
        Affine::<Cycloid, G>::from_compressed_unchecked(bytes).is_ok()
            && Affine::<Cycloid, G>::from_compressed(bytes).is_err()
    };
    candidates.into_iter().find(is_outside).expect("half of all x are on the curve")
}

fn of_group<G: SourceGroup>(name: &str) -> Option<Asked>
where
    Cycloid: Group<G>,
{
    let mut rng = rng();
    let mut random =
        || Projective::<Cycloid, G>::random(&mut rng).expect("a sound generator").to_affine();
    let asked = |operation: &str, data: &[u8], bytes: &[(&str, &[u8])]| {
        let mut job = job(operation, data, bytes);
        job.insert("group".into(), G::NAME.into());
        Some(Asked { job, decode: <[u8]>::to_vec, hostile: None })
    };
    let hostile = |asked: Option<Asked>| Some(Asked { hostile: Some(outsider::<G>()), ..asked? });
    if name.ends_with(&format!("of {MANY}")) {
        let points: Vec<_> = (0..MANY).map(|_| random()).collect();
        let random = |_| Scalar::random(&mut rng).expect("a sound generator");
        let scalars: Vec<Scalar> = (0..MANY).map(random).collect();
        if !name.starts_with("multiply") {
            return None;
        }
        let points = compressed(&points);
        let asked = asked("bls-multiply-many", &encoded(&scalars), &[("points", &points)])?;
        // The library's case has the first multiple as its result.
        let decode = |bytes: &[u8]| {
            let length = Affine::<Cycloid, G>::identity().to_compressed().as_ref().len();
            bytes.get(..length).map_or_else(Vec::new, <[u8]>::to_vec)
        };
        return Some(Asked { decode, ..asked });
    }
    let (p, q) = (compressed(&[random()]), compressed(&[random()]));
    let k = encoded(&[Scalar::random(&mut rng).expect("a sound generator")]);
    match name {
        "add" => asked("bls-add", &p, &[("second", &q)]),
        "add affine" => asked("bls-add-affine", &p, &[("second", &q)]),
        "double" => asked("bls-double", &p, &[]),
        "multiply" | "multiply, public" => asked("bls-multiply", &k, &[("point", &p)]),
        "multiply generator" => asked("bls-multiply-generator", &k, &[]),
        "to affine" => asked("bls-to-affine", &p, &[]),
        "is a member" => hostile(asked("bls-is-member", &p, &[])),
        "compress" => asked("bls-compress", &p, &[]),
        "decompress" => hostile(asked("bls-decompress", &p, &[])),
        "decompress, unchecked" => asked("bls-decompress-unchecked", &p, &[]),
        "hash to curve" => asked("bls-hash", message(7), &[("tag", TAG)]),
        _ => None,
    }
}

fn of_sum<G: SourceGroup>(name: &str, log: u32) -> Option<Asked>
where
    Cycloid: Group<G>,
{
    if name != many::sum_name::<G>(log) {
        return None;
    }
    let (points, scalars) = many::sum_inputs::<Cycloid, G>(log);
    let points = compressed(&points);
    let mut job = job("bls-sum-of-multiples", &encoded(&scalars), &[("points", &points)]);
    job.insert("group".into(), G::NAME.into());
    Some(Asked { job, decode: <[u8]>::to_vec, hostile: None })
}

fn of_pairings(name: &str) -> Option<Asked> {
    let (operation, n) = match name {
        "final exponentiation" => ("bls-final-exponentiation", 1),
        "pairing" => ("bls-pairing", 1),
        "pairing of 6" => ("bls-pairing", 6),
        _ => ("bls-miller-loop", name.strip_prefix("Miller loop of ")?.parse().ok()?),
    };
    let (p, q): (Vec<G1Affine<Cycloid>>, Vec<G2Affine<Cycloid>>) = pairings::pairs(n);
    let job = job(operation, &[], &[("p", &compressed(&p)), ("q", &compressed(&q))]);
    // The library's coordinates are little-endian.
    let decode = |bytes: &[u8]| bytes.chunks(48).flat_map(|c| c.iter().rev().copied()).collect();
    Some(Asked { job, decode, hostile: None })
}
