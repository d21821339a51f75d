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
            let EdwardsInput { message, prehashed, context } = &*input;
            let digest = message.as_slice().try_into();
            let signed = match (*prehashed, digest) {
                (false, _) => key.sign(message, context),
                (true, Ok(digest)) => key.sign_prehashed(digest, context),
                (true, Err(_)) => {
                    *outcome = Some(Err(Code::DATA_LEN_RANGE.into()));
                    continue;
                }
            };
            *outcome = Some(match signed {
                Ok(signature) => {
                    let public = key.public();
                    let verified = match (*prehashed, digest) {
                        (true, Ok(digest)) => public.verify_prehashed(digest, context, &signature),
                        _ => public.verify(message, context, &signature),
                    };
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
