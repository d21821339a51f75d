//! The messages of the protocol: the two tables below, of requests and of responses, define it
//! completely, and `docs/hsm-protocol.md` is generated from them.

use super::codec::{Bytes, Malformed, Secret, Value};
use crate::attribute::Template;
use crate::mechanism::Parameter;

/// One message of a table in the schema: number, name, and its fields with their types.
pub type Row = (u16, &'static str, Vec<(&'static str, String)>);

macro_rules! fields {
    ($($(#[$doc:meta])* struct $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $type,)*
        }

        impl Value for $name {
            fn schema() -> String {
                let fields: &[String] = &[$(format!("{} {}", stringify!($field), <$type>::schema())),*];
                format!("({})", fields.join(", "))
            }

            fn write(&self, to: &mut Vec<u8>) {
                $(self.$field.write(to);)*
            }

            fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
                Ok(Self { $($field: <$type>::read(from)?,)* })
            }
        }
    )*};
}

macro_rules! messages {
    ($(#[$doc:meta])* $name:ident: $($(#[$vdoc:meta])* $number:literal $variant:ident
        { $($(#[$fdoc:meta])* $field:ident: $type:ty),* $(,)? })*) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        // The table documents each message as a whole; most fields need no sentence of their own.
        #[allow(missing_docs)]
        pub enum $name {
            $($(#[$vdoc])* $variant { $($(#[$fdoc])* $field: $type,)* },)*
        }

        impl $name {
            /// Returns the schema's table.
            pub fn schema() -> Vec<Row> {
                vec![$(($number, stringify!($variant),
                    vec![$((stringify!($field), <$type>::schema())),*])),*]
            }

            /// Returns the name, for logs and metrics.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => stringify!($variant),)*
                }
            }

            /// Appends the number, two bytes, and the fields.
            pub fn write(&self, to: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        <u16 as Value>::write(&$number, to);
                        $($field.write(to);)*
                    })*
                }
            }

            /// Decodes a message that [`write`](Self::write) encoded; trailing bytes are an error.
            ///
            /// # Errors
            /// [`Malformed`].
            pub fn read(mut from: &[u8]) -> Result<Self, Malformed> {
                let from = &mut from;
                let message = match u16::read(from)? {
                    $($number => Self::$variant { $($field: <$type>::read(from)?),* },)*
                    _ => return Err(Malformed),
                };
                if from.is_empty() { Ok(message) } else { Err(Malformed) }
            }
        }
    };
}

/// Declares an enum that is encoded as one byte.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident: $($(#[$vdoc:meta])* $number:literal $variant:ident),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$vdoc])* $variant = $number,)*
        }

        impl Value for $name {
            fn schema() -> String {
                let choices: &[String] = &[$(format!("{} {}", $number, stringify!($variant))),*];
                format!("u8: {}", choices.join(", "))
            }

            fn write(&self, to: &mut Vec<u8>) {
                to.push(*self as u8);
            }

            fn read(from: &mut &[u8]) -> Result<Self, Malformed> {
                match u8::read(from)? {
                    $($number => Ok(Self::$variant),)*
                    _ => Err(Malformed),
                }
            }
        }
    };
}

choice! {
    /// The role of a login.
    Role:
    /// Sets and resets PINs and administers; sees no private object.
    0 SecurityOfficer,
    /// Uses and manages keys.
    1 User,
    /// Sees everything except secrets; changes and uses nothing.
    2 Auditor,
}

fields! {
    /// A mechanism of PKCS #11 with its parameter.
    struct Mechanism {
        /// `CKM_…`.
        number: u32,
        /// The parameter.
        parameter: Parameter,
    }

    /// A line of the audit log.
    struct AuditEntry {
        /// Counts from 1, without gaps.
        sequence: u64,
        /// Milliseconds since 1970.
        time: u64,
        /// The role and the peer.
        who: String,
        /// The action, its object and its outcome.
        what: String,
        /// HMAC-SHA-256 over this line and the one before it.
        mac: Bytes,
    }

    /// One signature of a [`Request::SignMany`].
    struct Signing {
        /// The key.
        key: u64,
        /// The mechanism.
        mechanism: Mechanism,
        /// The data to sign.
        data: Bytes,
        /// Whether `data` is already the digest that the mechanism would compute.
        digested: bool,
    }
}

messages! {
    /// The requests.
    Request:
    /// First message of a new application's first connection.
    0x01 Hello { version: u16, name: String }
    /// First message of a further connection of an application.
    0x02 Attach { version: u16, ticket: Secret }
    /// Describes the token.
    0x03 Token {}
    /// Logs the application in with a role.
    0x04 Login { role: Role, pin: Secret }
    /// Logs the application out.
    0x05 Logout {}
    /// Destroys all objects, and sets the label and the security officer's PIN.
    0x06 InitToken { pin: Secret, label: String }
    /// Sets the PIN of the user or the auditor; only the security officer may.
    0x07 InitPin { role: Role, pin: Secret }
    /// Changes the PIN of the logged-in role or, without a login, of the user.
    0x08 SetPin { old: Secret, new: Secret }
    /// Returns random bytes.
    0x09 Random { length: u32 }
    /// Authorizes one use of a key that requires the user's PIN before each.
    0x0a Authenticate { key: u64, pin: Secret }

    /// Finds the objects that have all these attributes.
    0x10 Find { template: Template }
    /// Returns values of attributes of an object.
    0x11 Attributes { object: u64, numbers: Vec<u32> }
    /// Changes attributes of an object.
    0x12 SetAttributes { object: u64, template: Template }
    /// Creates an object from given values.
    0x13 Create { template: Template }
    /// Copies an object.
    0x14 Copy { object: u64, template: Template }
    /// Destroys an object.
    0x15 Destroy { object: u64 }
    /// Returns the number of bytes that an object takes.
    0x16 Size { object: u64 }
    /// Creates both halves of a private key given as PEM (PKCS #8).
    0x17 Import { pem: Secret, template: Template }

    /// Generates a secret key.
    0x20 Generate { mechanism: Mechanism, template: Template }
    /// Generates a key pair.
    0x21 GeneratePair { mechanism: Mechanism, public: Template, private: Template }
    /// Signs.
    0x22 Sign { key: u64, mechanism: Mechanism, data: Bytes, digested: bool }
    /// Verifies.
    0x23 Verify { key: u64, mechanism: Mechanism, data: Bytes, digested: bool, signature: Bytes }
    /// Encrypts.
    0x24 Encrypt { key: u64, mechanism: Mechanism, data: Secret }
    /// Decrypts.
    0x25 Decrypt { key: u64, mechanism: Mechanism, data: Bytes }
    /// Wraps a key with another.
    0x26 Wrap { wrapping: u64, mechanism: Mechanism, key: u64 }
    /// Creates an object from a wrapped key.
    0x27 Unwrap { unwrapping: u64, mechanism: Mechanism, wrapped: Bytes, template: Template }
    /// Creates an object from a shared secret.
    0x28 Derive { base: u64, mechanism: Mechanism, template: Template }
    /// Checks whether the key permits a use, as C_SignInit and its like must know.
    0x29 Check { key: u64, mechanism: Mechanism, usage: Usage }
    /// Makes many signatures, each with its own outcome.
    0x2a SignMany { requests: Vec<Signing> }

    /// Returns the daemon's status.
    0x40 Status {}
    /// Unlocks the keystore.
    0x41 Unlock { passphrase: Option<Secret>, key_file: Option<Secret> }
    /// Locks the keystore and wipes all keys.
    0x42 Lock {}
    /// Returns lines of the audit log, starting with number `from`.
    0x43 Audit { from: u64, limit: u32 }
    /// Returns metrics as Prometheus text.
    0x44 Metrics {}
    /// Makes a new master key, and re-seals all records under it.
    0x45 RotateMasterKey {}
}

choice! {
    /// A use of a key, named for the function that begins it.
    Usage:
    /// C_SignInit.
    0 Sign,
    /// C_VerifyInit.
    1 Verify,
    /// C_EncryptInit.
    2 Encrypt,
    /// C_DecryptInit.
    3 Decrypt,
}

fields! {
    /// The state of the token.
    struct TokenInfo {
        /// At most 32 bytes.
        label: String,
        /// 16 characters.
        serial: String,
        /// Whether a security officer's PIN is set.
        initialized: bool,
        /// Whether a user's PIN is set.
        user_pin: bool,
        /// The user's wrong PINs since the last right one.
        user_failures: u32,
        /// The security officer's wrong PINs since the last right one.
        officer_failures: u32,
        /// Whether the keystore is locked.
        locked: bool,
        /// The logged-in role.
        role: Option<u8>,
        /// The version of the daemon.
        daemon: String,
    }

    /// An attribute of an object, as far as it can be read.
    struct AttributeValue {
        /// Its number.
        number: u32,
        /// 0, or ATTRIBUTE_SENSITIVE or ATTRIBUTE_TYPE_INVALID.
        code: u32,
        /// Its value, if the code is 0.
        value: Bytes,
    }

    /// The outcome of one signature of a [`Request::SignMany`].
    struct Signed {
        /// 0, or the reason of a refusal.
        code: u32,
        /// The signature, if the code is 0.
        signature: Bytes,
    }
}

messages! {
    /// The responses.
    Response:
    /// The request was refused: a code, and a detail for people, which may be empty.
    0x00 Refused { code: u32, detail: String }
    /// The request was carried out.
    0x01 Done {}
    /// Answers Hello and Attach.
    0x02 Welcome { version: u16, ticket: Secret }
    /// Answers Token.
    0x03 Token { info: TokenInfo }
    /// One object.
    0x04 Object { object: u64 }
    /// A public and a private key.
    0x05 Pair { public: u64, private: u64 }
    /// Objects, sorted by handle.
    0x06 Objects { objects: Vec<u64> }
    /// Attributes, in the order of the request.
    0x07 Attributes { values: Vec<AttributeValue> }
    /// Bytes: a signature, a ciphertext, a message.
    0x08 Data { data: Secret }
    /// A number.
    0x09 Number { value: u64 }
    /// Text for people.
    0x0a Text { text: String }
    /// Lines of the audit log.
    0x0b Audit { entries: Vec<AuditEntry> }
    /// Signatures, in the order of the request.
    0x0c SignedMany { outcomes: Vec<Signed> }
}
