//! Signatures with Ed448, one by one.

use cycloid::scheme::ed448::{self, SIGNATURE_LENGTH};
use zeroize::Zeroizing;

use super::job::{Job, Operation};
use super::operation::{EdwardsInput, fault};
use super::workspace::Workspace;
use crate::Code;
use crate::key::Ed448Key;

/// Signatures with Ed448.
pub(crate) enum Ed448 {}

impl Operation for Ed448 {
    type Key = Ed448Key;
    type Input = EdwardsInput;
    type Output = [u8; SIGNATURE_LENGTH];

    fn compute(_: &mut Workspace, jobs: &mut [Job<Self>]) {
        for Job { key, input, outcome, .. } in jobs {
            let EdwardsInput { message, prehashed, context } = input;
            *outcome = Some(match key.sign(message, context) {
                // Ed448ph hashes with SHAKE256, which no client computes.
                _ if *prehashed => Err(Code::MECHANISM_PARAM_INVALID.into()),
                Ok(signature) => {
                    let verified = key.public().verify(message, context, &signature);
                    verified.map(|()| signature).map_err(|_| fault())
                }
                Err(ed448::Error::ContextTooLong) => Err(Code::MECHANISM_PARAM_INVALID.into()),
                Err(_) => Err(fault()),
            });
        }
    }

    fn to_bytes(output: Self::Output) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(output.to_vec())
    }
}
