//! Finite-field Diffie-Hellman in batches.

use cycloid::scheme::dh::{self, Validation};
use zeroize::Zeroizing;

use super::job::{Job, Operation};
use super::operation::{fault, side_by_side};
use super::workspace::Workspace;
use crate::key::DhKey;
use crate::{Code, Error};

/// Agreement with a peer's public value, which is checked in full (NIST SP 800-56A rev. 3, section
/// 5.6.2.3.1).
pub(crate) enum Dh {}

impl Operation for Dh {
    type Key = DhKey;
    type Input = Vec<u8>;
    type Output = Zeroizing<Vec<u8>>;

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
        struct Place<'a> {
            job: &'a mut Job<Dh>,
            key: dh::PrivateKey<'a, Vec<u64>>,
            secret: Zeroizing<Vec<u8>>,
            agreed: Result<(), dh::Error>,
        }
        let keys: Vec<_> = jobs.iter().map(|job| job.key.clone()).collect();
        let most = |length: fn(&DhKey) -> usize| keys.iter().map(|key| length(key)).max();
        let bits = most(DhKey::group_bits).unwrap_or(dh::MIN_BITS);
        let exponent_bits = most(DhKey::exponent_bits).unwrap_or(0);
        let mut scratch = vec![0; dh::batch_scratch_limbs(bits, exponent_bits)];
        let mut places = Vec::with_capacity(jobs.len());
        for (job, key) in jobs.iter_mut().zip(&keys) {
            match key.prepared() {
                Ok(prepared) => places.push(Place {
                    job,
                    secret: Zeroizing::new(vec![0; prepared.group().length()]),
                    key: prepared,
                    agreed: Err(dh::Error::NotDone),
                }),
                Err(_) => job.outcome = Some(Err(fault())),
            }
        }
        side_by_side(
            &mut places,
            |Place { job, key, secret, agreed }| {
                Some((dh::Job::agree(key, &job.input, Validation::Full, secret), agreed))
            },
            |lanes| dh::run_batch(lanes, &mut scratch),
            |agreed, lane| *agreed = lane.outcome(),
        );
        for Place { job, secret, agreed, .. } in places {
            job.outcome = Some(agreed.map(|()| secret).map_err(refusal));
        }
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        output
    }
}

fn refusal(error: dh::Error) -> Error {
    match error {
        dh::Error::PublicRange | dh::Error::PublicSubgroup | dh::Error::SharedSecret => {
            Code::PUBLIC_KEY_INVALID.because("the peer's public value is not one of the group")
        }
        _ => fault(),
    }
}
