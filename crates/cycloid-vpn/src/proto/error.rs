//! Why a packet, or what a peer says inside TLS, is not taken.
//!
//! None of these says anything of a key or of what was decrypted.

use std::fmt;

/// Why something that came from the peer is not taken, or why nothing can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Ends before what it must hold.
    Short,
    /// Longer than it may be, or goes on behind its end.
    Long,
    /// An opcode that does not exist, or not in this place.
    Opcode(u8),
    /// A key id that this packet cannot have.
    KeyId(u8),
    /// A session id of zeros only.
    SessionId,
    /// More acknowledgements than a packet may hold.
    Acknowledgements,
    /// A reset that is not the first message of its session.
    Sequence,
    /// Was not made with the key of the control channel.
    Authentication,
    /// Came before, or is too old to tell.
    Replay,
    /// A wrapped client key (tls-crypt-v2) that is malformed or not of this server.
    WrappedKey,
    /// Protected in a way that this end has no key for.
    NoKey,
    /// All packet ids of a key are used up.
    Exhausted,
    /// A key-method message that is malformed; says in which part.
    KeyMethod(&'static str),
    /// Text that is not UTF-8, or with control characters in it.
    Text,
    /// An option pushed by a server that is malformed; says which.
    Push(&'static str),
    /// Not what it says it is; says what is wrong.
    Malformed(&'static str),
    /// Not from whom it says it is: a tag does not verify, a session is not known.
    NotAuthentic(&'static str),
    /// What the peer may not do now.
    Unexpected(&'static str),
    /// TLS ended the connection.
    Tls(String),
    /// What both ends were told to do does not go together.
    Incompatible(String),
    /// A key, a certificate or a setting that cannot be used.
    Configuration(String),
    /// The peer did not answer in time.
    TimedOut(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the packet is too short"),
            Self::Long => f.write_str("the packet is too long"),
            Self::Opcode(opcode) => write!(f, "opcode {opcode} has no place here"),
            Self::KeyId(id) => write!(f, "key id {id} has no place here"),
            Self::SessionId => f.write_str("the session id is zero"),
            Self::Acknowledgements => f.write_str("the packet has too many acknowledgements"),
            Self::Sequence => f.write_str("a reset comes in mid-session"),
            Self::Authentication => f.write_str("the packet is not authentic"),
            Self::Replay => f.write_str("the packet came before"),
            Self::WrappedKey => f.write_str("the wrapped client key is not valid"),
            Self::NoKey => f.write_str("there is no key for the packet's protection"),
            Self::Exhausted => f.write_str("the packet ids are used up"),
            Self::KeyMethod(part) => write!(f, "the key-method message has a malformed {part}"),
            Self::Text => f.write_str("the text has characters that it may not have"),
            Self::Push(option) => write!(f, "the pushed option {option} is malformed"),
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::NotAuthentic(what) => write!(f, "not authentic: {what}"),
            Self::Unexpected(what) => write!(f, "unexpected: {what}"),
            Self::Tls(what) => write!(f, "TLS: {what}"),
            Self::Incompatible(what) => {
                write!(f, "the peer's settings do not go with ours: {what}")
            }
            Self::Configuration(what) => f.write_str(what),
            Self::TimedOut(what) => write!(f, "timed out: {what}"),
        }
    }
}

impl std::error::Error for Error {}
