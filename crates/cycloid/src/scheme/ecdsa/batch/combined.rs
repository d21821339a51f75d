//! Verifies the signatures of a batch together, just after they were made.
//!
//! The signer knows the points R of the nonces, with both coordinates, so each signature (r, s) of a
//! digest e by the key Q is an equation: it is valid if R = (e/s)·G + (r/s)·Q and r is the x
//! coordinate of R. [`all_hold_vartime`] tests the equations together, with 2^64 possible factors.
//!
//! The factors are bits of a digest of all equations. So they are fixed after the equations, as the
//! test requires, and need no random generator. A wrong signature escapes with a probability of
//! 2^−64, and only a fault makes one: whoever induces faults would have to induce 2^64 of them.

use super::{Group, Points, Signing, multipliers};
use crate::machine::words;
use crate::math::curve::{
    Curve, Equation, Equations, Factor, Scalar, TOGETHER, Words, all_hold_vartime,
};
use crate::scheme::Hash;
use crate::scheme::ec::MAX_BYTES;

/// Returns whether all signatures that are to be verified are right. `false` may also mean that this
/// cannot be said of all together.
// By itself, so that its arrays take no stack while signatures are made.
#[inline(never)]
pub(super) fn all_are_right<C: Curve>(
    jobs: &Group<'_, Signing<'_, C>, TOGETHER>,
    points: &Points<C>,
) -> bool {
    let made = |lane: usize| {
        let job = jobs[lane].as_deref()?;
        Some((job, job.verify?, job.outcome.as_ref().ok()?))
    };
    let s: [_; TOGETHER] = core::array::from_fn(|lane| {
        made(lane).map_or_else(Scalar::one, |(_, _, signature)| signature.s().clone())
    });
    let inverses = Scalar::invert_first(&s, jobs.iter().flatten().count());
    let mut equations: Equations<'_, C> = [const { None }; TOGETHER];
    for lane in 0..TOGETHER {
        let Some((job, verifier, signature)) = made(lane) else { continue };
        let (Some(sum), Ok(multiples)) = (points[lane], verifier.multiples) else { return false };
        // The signature and the public key determine the point.
        sum.mark_public();
        // r is public too.
        if !sum.x_scalar().equal(signature.r()).reveal() {
            return false;
        }
        let [u1, u2] = multipliers(job.digest.bytes(), signature, &inverses[lane]);
        let point = verifier.key.point();
        equations[lane] = Some(Equation { sum, u1, u2, point, multiples });
    }
    if equations.iter().all(Option::is_none) {
        return true;
    }
    all_hold_vartime(&equations, &factors(&equations))
}

/// Returns a factor for each equation; that of the first one is 1.
fn factors<C: Curve>(equations: &Equations<'_, C>) -> [Factor; TOGETHER] {
    let mut state = Hash::Sha256.digest(&[b"cycloid ECDSA batch"]);
    for equation in equations.iter().flatten() {
        let Equation { sum, u1, u2, point, .. } = equation;
        let numbers: [&Words<C>; 6] =
            [sum.x(), sum.y(), u1.words(), u2.words(), point.x(), point.y()];
        let mut bytes = [0; 6 * MAX_BYTES];
        let mut places = bytes.chunks_exact_mut(C::BYTES);
        for number in numbers {
            words::to_be_bytes(places.next().expect("there is room for six"), number.as_ref());
        }
        state = Hash::Sha256.digest(&[&state, &bytes[..6 * C::BYTES]]);
    }
    let mut factors = [Factor::ONE; TOGETHER];
    for (number, four) in factors.chunks_mut(4).enumerate() {
        let digest = Hash::Sha256.digest(&[&state, &[number as u8]]);
        for (factor, bytes) in four.iter_mut().zip(digest.chunks_exact(8)) {
            *factor = Factor::from_bits(u64::from_le_bytes(bytes.try_into().expect("of eight")));
        }
    }
    if let Some(first) = equations.iter().position(Option::is_some) {
        factors[first] = Factor::ONE;
    }
    factors
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::super::{Job, next_group, run_batch_with, sign_each, signings};
    use super::*;
    use crate::math::curve::AffinePoint;
    use crate::scheme::ec::{
        Error, P192, P224, P256, P384, P521, PreparedPublicKey, PrivateKey, Secp256k1,
        prepared_key_limbs,
    };

    fn key<C: Curve>(seed: u8) -> PrivateKey<C> {
        let mut bytes = std::vec![seed; C::BYTES];
        bytes[0] = 0;
        PrivateKey::from_bytes(&bytes).unwrap()
    }

    fn prepared<C: Curve>(key: &PrivateKey<C>) -> PreparedPublicKey<C, Vec<u64>> {
        let memory = std::vec![0; prepared_key_limbs::<C>()];
        PreparedPublicKey::new(*key.public_key(), memory).unwrap()
    }

    /// Signatures made together, by equal and by different keys, with and without tables, are those
    /// made alone; those by another key than the one that verifies are not released.
    fn together<C: Curve>() {
        let keys: Vec<PrivateKey<C>> = (1..4).map(key).collect();
        let tables: Vec<_> = keys.iter().map(prepared).collect();
        for count in [1, 2, 3, 8, 15, 16, 18] {
            for wrong in [None, Some(0), Some(count - 1)] {
                let digests: Vec<_> = (0..count).map(|i| [i as u8; 32]).collect();
                let mut jobs: Vec<_> = (0..count)
                    .map(|i| {
                        let job = Job::sign_prehashed(&keys[i % 3], Hash::Sha256, &digests[i]);
                        match i % 4 {
                            _ if wrong == Some(i) => {
                                job.verify_after_sign_with(&tables[(i + 1) % 3])
                            }
                            0 | 1 => job.verify_after_sign_with(&tables[i % 3]),
                            2 => job.verify_after_sign(),
                            _ => job,
                        }
                    })
                    .collect();
                run_batch_with(None, &mut jobs);
                for (i, job) in jobs.iter().enumerate() {
                    let alone = keys[i % 3].sign_prehashed(Hash::Sha256, &digests[i]);
                    let expected = if wrong == Some(i) { Err(Error::Fault) } else { Ok(alone) };
                    assert_eq!(job.signature(), expected, "{} {i} of {count}", C::NAME);
                }
            }
        }
    }

    #[test]
    fn signatures_are_made_and_verified_together() {
        together::<P192>();
        together::<P224>();
        together::<P256>();
        together::<P384>();
        together::<P521>();
        together::<Secp256k1>();
    }

    /// The equations of as many signatures as are tested together, by two keys.
    fn equations<'a>(
        keys: &'a [PrivateKey<P256>; 2],
        table: &'a PreparedPublicKey<P256, Vec<u64>>,
    ) -> Equations<'a, P256> {
        let digest = [0x3c; 32];
        let mut jobs: Vec<_> = (0..TOGETHER)
            .map(|i| Job::sign_hedged(&keys[i % 2], Hash::Sha256, &digest, &RANDOM[i..]))
            .collect();
        let mut group = next_group(&mut signings(&mut jobs)).unwrap();
        let points = sign_each(&mut group);
        core::array::from_fn(|i| {
            let signature = jobs[i].signature().unwrap();
            let [u1, u2] = multipliers(&digest, &signature, &signature.s().invert());
            let sum = points[i]?;
            assert!(sum.x_scalar().equal(signature.r()).reveal());
            let (point, multiples) = match i % 2 {
                0 => (table.public_key().point(), table.multiples().ok()),
                _ => (keys[1].public_key().point(), None),
            };
            Some(Equation { sum, u1, u2, point, multiples })
        })
    }

    /// Makes an equation wrong; the scalar is 1.
    type Change = fn(&mut Equation<'_, P256>, &Scalar<P256>);

    const RANDOM: [u8; TOGETHER] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

    #[test]
    fn no_wrong_equation_passes() {
        let keys = [key(5), key(6)];
        let table = prepared(&keys[0]);
        let fresh = || equations(&keys, &table);
        let holds =
            |equations: &Equations<'_, P256>| all_hold_vartime(equations, &factors(equations));
        assert!(holds(&fresh()));
        let one = Scalar::<P256>::one();
        for lane in 0..TOGETHER {
            let without: Equations<'_, P256> = {
                let mut all = fresh();
                all[lane] = None;
                all
            };
            assert!(holds(&without));
            let changes: [Change; 4] = [
                |it, _| it.sum = it.sum.negate(),
                |it, one| it.u1 = it.u1.add(one),
                |it, one| it.u2 = it.u2.add(one),
                // No longer on the curve.
                |it, _| it.sum.limbs_mut()[1][0] ^= 1,
            ];
            for (number, change) in changes.into_iter().enumerate() {
                let mut wrong = fresh();
                change(wrong[lane].as_mut().unwrap(), &one);
                assert!(!holds(&wrong), "change {number} in lane {lane}");
            }
        }
        // The point of another key.
        let mut wrong = fresh();
        let other: AffinePoint<P256> = *key::<P256>(7).public_key().point();
        wrong[1].as_mut().unwrap().point = &other;
        assert!(!holds(&wrong));
    }

    /// Two errors that cancel each other: only the factors tell.
    #[test]
    fn errors_that_cancel_each_other_are_found_by_the_factors() {
        let keys = [key(5), key(6)];
        let table = prepared(&keys[0]);
        let mut wrong = equations(&keys, &table);
        let one = Scalar::<P256>::one();
        for (lane, change) in [(2, one.clone()), (5, one.negate())] {
            let equation = wrong[lane].as_mut().unwrap();
            equation.u1 = equation.u1.add(&change);
        }
        let ones = [Factor::ONE; TOGETHER];
        assert!(all_hold_vartime(&wrong, &ones));
        assert!(!all_hold_vartime(&wrong, &factors(&wrong)));
    }
}
