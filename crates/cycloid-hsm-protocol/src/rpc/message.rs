//! The messages of the protocol: the derives on these types are its schema, which
//! `docs/hsm-protocol.cddl` states for other languages.
//!
//! Messages are CBOR (RFC 8949). A message is an array of its number and its fields, in the order
//! of their numbers. A reader skips fields that it does not know and refuses messages that it does
//! not know, so a later release may add optional fields and messages without another
//! [`VERSION`](super::VERSION). A number is never used again for something else.
//!
//! Decoding copies each value once and allocates in proportion to the bytes that are present,
//! whatever lengths a message claims.

use std::fmt;

use minicbor::{Decode, Decoder, Encode};

use super::bytes::{Buffer, Bytes, Secret};
use super::version;
use crate::attribute::{Template, cka};
use crate::legacy::{Allowed, Legacy};
use crate::mechanism::Parameter;

/// The reason why a message cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is truncated, has trailing bytes, or contains an invalid value or length.
    Malformed,
    /// It, or a choice within it, has an unknown number: its sender is of a later release.
    Unknown,
    /// It is of version 1 of the protocol.
    Version1,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "malformed message",
            Self::Unknown => "unknown message: install daemon and program from the same release",
            Self::Version1 => "a message of protocol version 1",
        })
    }
}

impl std::error::Error for Unreadable {}

fn write(message: &impl Encode<()>, to: &mut Vec<u8>) {
    minicbor::encode(message, Buffer(to)).expect("a vector takes every message");
}

fn read<'a, T: Decode<'a, ()>>(message: &'a [u8]) -> Result<T, Unreadable> {
    let mut from = Decoder::new(message);
    match from.decode() {
        Ok(read) if from.position() == message.len() => Ok(read),
        Err(error) if error.is_unknown_variant() => Err(Unreadable::Unknown),
        _ => Err(Unreadable::Malformed),
    }
}

/// Adds the names of the messages to an enum.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident { $($fields:tt)* },)*
    }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$variant_meta])* $variant { $($fields)* },)*
        }

        impl $name {
            /// The names of the messages, for logs and metrics.
            pub const NAMES: &[&str] = &[$(stringify!($variant)),*];

            /// Returns the place of the message's name in [`NAMES`](Self::NAMES).
            pub const fn place(&self) -> usize {
                enum Place { $($variant),* }
                match self {
                    $(Self::$variant { .. } => Place::$variant as usize,)*
                }
            }

            /// Returns the name.
            pub const fn name(&self) -> &'static str {
                Self::NAMES[self.place()]
            }
        }
    };
}

/// The role of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum Role {
    /// Sets and resets PINs and administers; sees no private object.
    #[n(0)]
    SecurityOfficer,
    /// Uses and manages keys.
    #[n(1)]
    User,
    /// Sees everything except secrets; changes and uses nothing.
    #[n(2)]
    Auditor,
}

/// A mechanism of PKCS #11 with its parameter.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Mechanism {
    /// `CKM_…`.
    #[n(0)]
    pub number: u32,
    /// The parameter.
    #[n(1)]
    pub parameter: Parameter,
}

/// A line of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct AuditEntry {
    /// Counts from 1, without gaps.
    #[n(0)]
    pub sequence: u64,
    /// Milliseconds since 1970.
    #[n(1)]
    pub time: u64,
    /// The role and the peer.
    #[n(2)]
    pub who: String,
    /// The action, its object and its outcome.
    #[n(3)]
    pub what: String,
    /// HMAC-SHA-256 over this line and the one before it.
    #[n(4)]
    pub mac: Bytes,
}

/// A part of the objects that a search finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Page {
    /// Only objects with greater handles are returned: 0, or the last handle of the page before.
    #[n(0)]
    pub after: u64,
    /// The maximum number of objects; the daemon may return fewer.
    #[n(1)]
    pub most: u32,
}

/// One signature of a [`Request::SignMany`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Signing {
    /// The key.
    #[n(0)]
    pub key: u64,
    /// The mechanism.
    #[n(1)]
    pub mechanism: Mechanism,
    /// The data to sign.
    #[n(2)]
    pub data: Bytes,
    /// Whether `data` is already the digest that the mechanism would compute.
    #[n(3)]
    pub digested: bool,
}

named! {
    /// The requests.
    #[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
    #[cbor(flat)]
    // Most fields need no sentence of their own.
    #[allow(missing_docs)]
    pub enum Request {
        /// First message of a new application's first connection.
        #[n(0x01)] Hello { #[n(0)] version: u16, #[n(1)] name: String },
        /// First message of a further connection of an application.
        #[n(0x02)] Attach { #[n(0)] version: u16, #[n(1)] ticket: Secret },
        /// Describes the token.
        #[n(0x03)] Token {},
        /// Logs the application in with a role.
        #[n(0x04)] Login { #[n(0)] role: Role, #[n(1)] pin: Secret },
        /// Logs the application out.
        #[n(0x05)] Logout {},
        /// Destroys all objects, and sets the label and the security officer's PIN.
        #[n(0x06)] InitToken { #[n(0)] pin: Secret, #[n(1)] label: String },
        /// Sets the PIN of the user or the auditor; only the security officer may.
        #[n(0x07)] InitPin { #[n(0)] role: Role, #[n(1)] pin: Secret },
        /// Changes the PIN of the logged-in role or, without a login, of the user.
        #[n(0x08)] SetPin { #[n(0)] old: Secret, #[n(1)] new: Secret },
        /// Returns random bytes.
        #[n(0x09)] Random { #[n(0)] length: u32 },
        /// Authorizes one use of a key that requires the user's PIN before each.
        #[n(0x0a)] Authenticate { #[n(0)] key: u64, #[n(1)] pin: Secret },
        /// Asks for memory through which the connection's requests may go, too. Answered by Done,
        /// which a file accompanies.
        #[n(0x0b)] Share {},

        /// Finds the objects that have all these attributes: all of them, or one page.
        #[n(0x10)] Find { #[n(0)] template: Template, #[n(1)] page: Option<Page> },
        /// Returns values of attributes of an object.
        #[n(0x11)] Attributes { #[n(0)] object: u64, #[n(1)] numbers: Vec<u32> },
        /// Changes attributes of an object.
        #[n(0x12)] SetAttributes { #[n(0)] object: u64, #[n(1)] template: Template },
        /// Creates an object from given values.
        #[n(0x13)] Create { #[n(0)] template: Template },
        /// Copies an object.
        #[n(0x14)] Copy { #[n(0)] object: u64, #[n(1)] template: Template },
        /// Destroys an object.
        #[n(0x15)] Destroy { #[n(0)] object: u64 },
        /// Returns the number of bytes that an object takes.
        #[n(0x16)] Size { #[n(0)] object: u64 },
        /// Creates both halves of a private key given as PEM: PKCS #8, PKCS #1 or SEC 1.
        #[n(0x17)] Import { #[n(0)] pem: Secret, #[n(1)] template: Template },

        /// Generates a secret key.
        #[n(0x20)] Generate { #[n(0)] mechanism: Mechanism, #[n(1)] template: Template },
        /// Generates a key pair.
        #[n(0x21)] GeneratePair {
            #[n(0)] mechanism: Mechanism, #[n(1)] public: Template, #[n(2)] private: Template,
        },
        /// Signs.
        #[n(0x22)] Sign {
            #[n(0)] key: u64,
            #[n(1)] mechanism: Mechanism,
            #[n(2)] data: Bytes,
            #[n(3)] digested: bool,
        },
        /// Verifies.
        #[n(0x23)] Verify {
            #[n(0)] key: u64,
            #[n(1)] mechanism: Mechanism,
            #[n(2)] data: Bytes,
            #[n(3)] digested: bool,
            #[n(4)] signature: Bytes,
        },
        /// Encrypts.
        #[n(0x24)] Encrypt { #[n(0)] key: u64, #[n(1)] mechanism: Mechanism, #[n(2)] data: Secret },
        /// Decrypts.
        #[n(0x25)] Decrypt { #[n(0)] key: u64, #[n(1)] mechanism: Mechanism, #[n(2)] data: Bytes },
        /// Wraps a key with another. If the result is longer than the room for it, nothing changes,
        /// and the answer is Number: the length in bytes. A daemon that does not know this field
        /// wraps.
        #[n(0x26)] Wrap {
            #[n(0)] wrapping: u64,
            #[n(1)] mechanism: Mechanism,
            #[n(2)] key: u64,
            #[n(3)] room: Option<u64>,
        },
        /// Creates an object from a wrapped key.
        #[n(0x27)] Unwrap {
            #[n(0)] unwrapping: u64,
            #[n(1)] mechanism: Mechanism,
            #[n(2)] wrapped: Bytes,
            #[n(3)] template: Template,
        },
        /// Creates an object from a shared secret.
        #[n(0x28)] Derive {
            #[n(0)] base: u64, #[n(1)] mechanism: Mechanism, #[n(2)] template: Template,
        },
        /// Checks whether the key permits a use, as C_SignInit and its like must know.
        #[n(0x29)] Check { #[n(0)] key: u64, #[n(1)] mechanism: Mechanism, #[n(2)] usage: Usage },
        /// Makes many signatures, each with its own outcome.
        #[n(0x2a)] SignMany { #[n(0)] requests: Vec<Signing> },
        /// Begins a message authentication code over data of several requests; the usage is Sign or
        /// Verify. Answered by Number: the operation.
        #[n(0x2b)] MacBegin {
            #[n(0)] key: u64, #[n(1)] mechanism: Mechanism, #[n(2)] usage: Usage,
        },
        /// Continues it.
        #[n(0x2c)] MacUpdate { #[n(0)] operation: u64, #[n(1)] data: Bytes },
        /// Ends it with the last data: returns the code, or verifies the given one.
        #[n(0x2d)] MacFinish {
            #[n(0)] operation: u64, #[n(1)] data: Bytes, #[n(2)] signature: Option<Bytes>,
        },
        /// Ends it without a result.
        #[n(0x2e)] MacCancel { #[n(0)] operation: u64 },

        /// Returns the daemon's status.
        #[n(0x40)] Status {},
        /// Unlocks the keystore.
        #[n(0x41)] Unlock { #[n(0)] passphrase: Option<Secret>, #[n(1)] key_file: Option<Secret> },
        /// Locks the keystore and wipes all keys.
        #[n(0x42)] Lock {},
        /// Returns lines of the audit log, starting with number `from`.
        #[n(0x43)] Audit { #[n(0)] from: u64, #[n(1)] limit: u32 },
        /// Returns metrics as Prometheus text.
        #[n(0x44)] Metrics {},
        /// Makes a new master key, and re-seals all records under it.
        #[n(0x45)] RotateMasterKey {},
        /// Requires that each use of a key is logged, or no longer; only the security officer may.
        #[n(0x46)] LogUses { #[n(0)] required: bool },
        /// Allows a weak operation, or no longer; only the security officer may.
        #[n(0x47)] AllowLegacy { #[n(0)] weak: Legacy, #[n(1)] allowed: bool },
    }
}

/// A use of a key, named for the function that begins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
#[cbor(index_only)]
pub enum Usage {
    /// C_SignInit.
    #[n(0)]
    Sign,
    /// C_VerifyInit.
    #[n(1)]
    Verify,
    /// C_EncryptInit.
    #[n(2)]
    Encrypt,
    /// C_DecryptInit.
    #[n(3)]
    Decrypt,
}

/// The state of the token.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct TokenInfo {
    /// At most 32 bytes.
    #[n(0)]
    pub label: String,
    /// 16 characters.
    #[n(1)]
    pub serial: String,
    /// Whether a security officer's PIN is set.
    #[n(2)]
    pub initialized: bool,
    /// Whether a user's PIN is set.
    #[n(3)]
    pub user_pin: bool,
    /// The user's wrong PINs since the last right one.
    #[n(4)]
    pub user_failures: u32,
    /// The security officer's wrong PINs since the last right one.
    #[n(5)]
    pub officer_failures: u32,
    /// Whether the keystore is locked.
    #[n(6)]
    pub locked: bool,
    /// The logged-in role.
    #[n(7)]
    pub role: Option<u8>,
    /// The version of the daemon.
    #[n(8)]
    pub daemon: String,
    /// The weak operations (`Legacy`) that the security officer allows: the sum of two to the power
    /// of the number of each.
    #[n(9)]
    pub legacy: Option<u32>,
}

impl TokenInfo {
    /// Returns the weak operations that the security officer allows.
    pub fn allowed(&self) -> Allowed {
        Allowed::from_bits(self.legacy.unwrap_or_default())
    }
}

/// An attribute of an object, as far as it can be read.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct AttributeValue {
    /// Its number.
    #[n(0)]
    pub number: u32,
    /// 0, or ATTRIBUTE_SENSITIVE or ATTRIBUTE_TYPE_INVALID.
    #[n(1)]
    pub code: u32,
    /// Its value, if the code is 0.
    #[n(2)]
    pub value: Bytes,
}

/// The outcome of one signature of a [`Request::SignMany`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Signed {
    /// 0, or the reason of a refusal.
    #[n(0)]
    pub code: u32,
    /// The signature, if the code is 0.
    #[n(1)]
    pub signature: Bytes,
}

named! {
    /// The responses.
    #[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
    #[cbor(flat)]
    // Most fields need no sentence of their own.
    #[allow(missing_docs)]
    pub enum Response {
        /// The request was refused: a code, and a detail for people, which may be empty.
        #[n(0x00)] Refused { #[n(0)] code: u32, #[n(1)] detail: String },
        /// The request was carried out.
        #[n(0x01)] Done {},
        /// Answers Hello and Attach.
        #[n(0x02)] Welcome { #[n(0)] version: u16, #[n(1)] ticket: Secret },
        /// Answers Token.
        #[n(0x03)] Token { #[n(0)] info: TokenInfo },
        /// One object.
        #[n(0x04)] Object { #[n(0)] object: u64 },
        /// A public and a private key.
        #[n(0x05)] Pair { #[n(0)] public: u64, #[n(1)] private: u64 },
        /// Objects, sorted by handle; and for a page, whether objects follow.
        #[n(0x06)] Objects { #[n(0)] objects: Vec<u64>, #[n(1)] more: Option<bool> },
        /// Attributes, in the order of the request.
        #[n(0x07)] Attributes { #[n(0)] values: Vec<AttributeValue> },
        /// Bytes: a signature, a ciphertext, a message.
        #[n(0x08)] Data { #[n(0)] data: Secret },
        /// A number.
        #[n(0x09)] Number { #[n(0)] value: u64 },
        /// Text for people.
        #[n(0x0a)] Text { #[n(0)] text: String },
        /// Lines of the audit log.
        #[n(0x0b)] Audit { #[n(0)] entries: Vec<AuditEntry> },
        /// Signatures, in the order of the request.
        #[n(0x0c)] SignedMany { #[n(0)] outcomes: Vec<Signed> },
    }
}

impl Request {
    /// Returns whether the request may be sent again, to another daemon on the same database, after
    /// a daemon went away that may have carried it out. What lived in that daemon's memory is gone.
    pub fn may_be_repeated(&self) -> bool {
        match self {
            Self::Sign { .. }
            | Self::SignMany { .. }
            | Self::Verify { .. }
            | Self::Encrypt { .. }
            | Self::Decrypt { .. }
            | Self::Wrap { .. }
            | Self::Check { .. }
            | Self::MacBegin { .. }
            | Self::Find { .. }
            | Self::Attributes { .. }
            | Self::Size { .. }
            | Self::Random { .. }
            | Self::Token {}
            | Self::Login { .. }
            | Self::Status {}
            | Self::Metrics {}
            | Self::Audit { .. } => true,
            Self::Create { template }
            | Self::Copy { template, .. }
            | Self::Generate { template, .. }
            | Self::Derive { template, .. }
            | Self::Unwrap { template, .. } => !template.is(cka::TOKEN),
            Self::GeneratePair { public, private, .. } => {
                !public.is(cka::TOKEN) && !private.is(cka::TOKEN)
            }
            _ => false,
        }
    }

    /// Appends the encoding.
    pub fn write(&self, to: &mut Vec<u8>) {
        write(self, to);
    }

    /// Decodes a request.
    ///
    /// # Errors
    /// [`Unreadable`]; [`Unreadable::Version1`] for Hello and Attach alone, which come first.
    pub fn read(message: &[u8]) -> Result<Self, Unreadable> {
        if version::is_greeting_1(message) { Err(Unreadable::Version1) } else { read(message) }
    }
}

impl Response {
    /// Appends the encoding.
    pub fn write(&self, to: &mut Vec<u8>) {
        write(self, to);
    }

    /// Decodes an answer.
    ///
    /// # Errors
    /// [`Unreadable`]; [`Unreadable::Version1`] for Refused alone: a daemon of version 1 answers
    /// nothing else to a program of a later version.
    pub fn read(message: &[u8]) -> Result<Self, Unreadable> {
        if version::is_refusal_1(message) { Err(Unreadable::Version1) } else { read(message) }
    }
}
