//! The operations of a session: at most one of each kind, from its Init to its end.
//!
//! An operation ends with its result and with every error except [`Code::BUFFER_TOO_SMALL`] and
//! errors in the arguments of the call itself. A query of the length does not end it (PKCS #11 3.0,
//! section 5.2).

mod authentication;
mod cipher;
mod digest;
mod find;
mod hasher;
mod key_use;
mod message;
mod message_cipher;
mod message_signature;
mod object;
mod saved;
mod sign;
mod state;
mod vectors;
mod verify;

pub(crate) use message_cipher::is_last;
pub(crate) use saved::MOST as MOST_SAVED;
pub(crate) use state::{Direction, Operations};
