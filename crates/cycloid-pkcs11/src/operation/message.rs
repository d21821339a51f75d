//! The message of an operation, collected from its parts.

use std::sync::Arc;

use cycloid_hsm_protocol::mechanism::Hash;
use cycloid_hsm_protocol::rpc::{Bytes, Request, Response, Secret, Usage, frame};
use cycloid_hsm_protocol::{Code, Error, Result};
use zeroize::Zeroizing;

use super::hasher::Hasher;
use super::key_use::Use;
use crate::application::{Application, unexpected};
use crate::key::is_mac;

/// The length of data in one request of a code over long data, in bytes.
const PIECE: usize = frame::MAX_LENGTH / 2;

/// The collected parts of a message: their digest if the mechanism hashes first, so that the
/// message need not be sent, otherwise the whole, or the end of a message whose start the daemon
/// has.
pub(super) enum Message {
    Hashed(Hasher),
    Whole(Parts),
    /// For a message authentication code.
    Authenticated {
        rest: Parts,
        begun: Option<Running>,
        usage: Usage,
    },
}

/// A message that is complete on this side.
pub(super) enum Complete {
    /// The message, or its digest, and whether it is the digest.
    Here(Zeroizing<Vec<u8>>, bool),
    /// The daemon has the start: its operation, and the end of the message.
    There(Running, Zeroizing<Vec<u8>>),
}

impl Message {
    /// Begins a message for a mechanism; `usage` is Sign or Verify.
    pub(super) fn new(mechanism: u32, usage: Usage) -> Self {
        match Hash::before(mechanism) {
            Some(hash) => Self::Hashed(Hasher::new(hash)),
            None if is_mac(mechanism) => {
                Self::Authenticated { rest: Parts::default(), begun: None, usage }
            }
            None => Self::Whole(Parts::default()),
        }
    }

    /// Adds a part. Parts that are too long to be collected go to the daemon.
    ///
    /// # Errors
    /// [`Code::DATA_LEN_RANGE`] if it becomes longer than the daemon accepts; the daemon's errors.
    pub(super) fn update(
        &mut self,
        application: &Arc<Application>,
        with: &Use,
        part: &[u8],
    ) -> Result<()> {
        match self {
            Self::Hashed(hasher) => {
                hasher.update(part);
                Ok(())
            }
            Self::Whole(parts) => parts.push(part),
            Self::Authenticated { rest, .. } if rest.len() + part.len() <= PIECE => rest.push(part),
            Self::Authenticated { rest, begun, usage } => {
                let running = match begun {
                    Some(running) => running,
                    None => begun.insert(Running::begin(application, with, *usage)?),
                };
                let (start, part) = part.split_at(part.len().min(PIECE - rest.len()));
                rest.push(start)?;
                let full = std::mem::take(rest).into_secret();
                let pieces = part.chunks(PIECE);
                let last = pieces.len().saturating_sub(1);
                running.update(with, &full)?;
                for (at, piece) in pieces.enumerate() {
                    match at == last {
                        true => rest.push(piece)?,
                        false => running.update(with, piece)?,
                    }
                }
                Ok(())
            }
        }
    }

    /// Ends the message.
    pub(super) fn finish(self) -> Complete {
        match self {
            Self::Hashed(hasher) => Complete::Here(Zeroizing::new(hasher.finish()), true),
            Self::Whole(parts) => Complete::Here(parts.0, false),
            Self::Authenticated { rest, begun: None, .. } => Complete::Here(rest.0, false),
            Self::Authenticated { rest, begun: Some(running), .. } => {
                Complete::There(running, rest.0)
            }
        }
    }
}

/// A code that the daemon computes over data of several requests. It is cancelled when dropped
/// before its end.
pub(super) struct Running {
    application: Arc<Application>,
    operation: u64,
    is_over: bool,
}

impl Running {
    fn begin(application: &Arc<Application>, with: &Use, usage: Usage) -> Result<Self> {
        with.needs_no_pin()?;
        let mechanism = with.mechanism.clone();
        let request = Request::MacBegin { key: with.handle, mechanism, usage };
        match with.judged(application, application.call(&request))? {
            Response::Number { value } => {
                Ok(Self { application: application.clone(), operation: value, is_over: false })
            }
            _ => Err(unexpected()),
        }
    }

    fn update(&mut self, with: &Use, data: &[u8]) -> Result<()> {
        let request = Request::MacUpdate { operation: self.operation, data: data.into() };
        let outcome = self.application.order(&request).map_err(gone);
        with.judged(&self.application, outcome)
    }

    /// Returns the code, with the end of the message.
    ///
    /// # Errors
    /// The daemon's errors; [`Code::FUNCTION_FAILED`] if it no longer has the message.
    pub(super) fn sign(mut self, rest: Zeroizing<Vec<u8>>) -> Result<Secret> {
        let request = self.finish(rest, None);
        self.application.data(&request).map_err(gone)
    }

    /// Verifies a code, with the end of the message.
    ///
    /// # Errors
    /// Those of [`sign`](Self::sign); [`Code::SIGNATURE_INVALID`].
    pub(super) fn verify(mut self, rest: Zeroizing<Vec<u8>>, signature: &[u8]) -> Result<()> {
        let request = self.finish(rest, Some(signature));
        self.application.order(&request).map_err(gone)
    }

    fn finish(&mut self, mut rest: Zeroizing<Vec<u8>>, signature: Option<&[u8]>) -> Request {
        self.is_over = true;
        Request::MacFinish {
            operation: self.operation,
            data: Bytes(std::mem::take(&mut *rest)),
            signature: signature.map(Bytes::from),
        }
    }
}

/// Maps the error for an operation that the daemon does not have: it is another daemon, or the
/// program has logged out.
fn gone(error: Error) -> Error {
    match error.code {
        Code::OPERATION_NOT_INITIALIZED => {
            Code::FUNCTION_FAILED.because("the daemon no longer has the start of the message")
        }
        _ => error,
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            self.application.cancel(self.operation);
        }
    }
}

/// Collected parts, wiped when dropped.
#[derive(Clone, Default)]
pub(super) struct Parts(Zeroizing<Vec<u8>>);

impl Parts {
    /// # Errors
    /// [`Code::DATA_LEN_RANGE`] if they become longer than a request can be.
    pub(super) fn push(&mut self, part: &[u8]) -> Result<()> {
        let length = self.0.len() + part.len();
        if length > frame::MAX_LENGTH {
            return Err(Code::DATA_LEN_RANGE.into());
        }
        if length > self.0.capacity() {
            // Reallocated explicitly, so that the old memory is wiped.
            let mut grown = Zeroizing::new(Vec::with_capacity(length.max(2 * self.0.capacity())));
            grown.extend_from_slice(&self.0);
            self.0 = grown;
        }
        self.0.extend_from_slice(part);
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_secret(self) -> Secret {
        Secret(self.0)
    }
}
