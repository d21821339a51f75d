//! The messages: what is asked and what is answered. The whole protocol is in the two tables below;
//! `docs/hsm-protocol.md` is made from them.

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
        // The table says it all: most fields need no sentence of their own.
        #[allow(missing_docs)]
        pub enum $name {
            $($(#[$vdoc])* $variant { $($(#[$fdoc])* $field: $type,)* },)*
        }

        impl $name {
            /// The table of the schema.
            pub fn schema() -> Vec<Row> {
                vec![$(($number, stringify!($variant),
                    vec![$((stringify!($field), <$type>::schema())),*])),*]
            }

            /// The name, for logs and metrics.
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

            /// Reads what [`write`](Self::write) wrote, to the last byte.
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

/// Declares something that is one of a few, by a byte.
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
    /// Who is logged in.
    Role:
    /// Makes and resets PINs, administers; sees no private object.
    0 SecurityOfficer,
    /// Uses and manages keys.
    1 User,
    /// Sees everything but secrets, changes and uses nothing.
    2 Auditor,
}

fields! {
    /// A mechanism of PKCS #11 with its parameter.
    struct Mechanism {
        /// `CKM_…`.
        number: u32,
        /// What it takes besides key and data.
        parameter: Parameter,
    }

    /// A line of the audit log.
    struct AuditEntry {
        /// From 1, without gaps.
        sequence: u64,
        /// Milliseconds since 1970.
        time: u64,
        /// Who: role and peer.
        who: String,
        /// What was done, to what, and what became of it.
        what: String,
        /// HMAC-SHA-256 over the line and the one before it.
        mac: Bytes,
    }

    /// A signature that was asked for among many.
    struct Signing {
        /// The key.
        key: u64,
        /// How.
        mechanism: Mechanism,
        /// Of what.
        data: Bytes,
        /// `data` is the digest that the mechanism would make.
        digested: bool,
    }
}

messages! {
    /// What is asked.
    Request:
    /// The first message on a connection, of an application that has none yet.
    0x01 Hello { version: u16, name: String }
    /// The first message on a further connection of an application.
    0x02 Attach { version: u16, ticket: Secret }
    /// About the token.
    0x03 Token {}
    /// The application becomes one of a role.
    0x04 Login { role: Role, pin: Secret }
    /// It ceases to be.
    0x05 Logout {}
    /// Destroys all objects and sets label and security officer's PIN.
    0x06 InitToken { pin: Secret, label: String }
    /// The security officer gives the user, or the auditor, a PIN.
    0x07 InitPin { role: Role, pin: Secret }
    /// Whoever is logged in, or the user, changes the PIN.
    0x08 SetPin { old: Secret, new: Secret }
    /// Random bytes.
    0x09 Random { length: u32 }
    /// The user's PIN once more, for one use of a key that asks for it before each.
    0x0a Authenticate { key: u64, pin: Secret }

    /// Objects that have all these attributes.
    0x10 Find { template: Template }
    /// Values of attributes of an object.
    0x11 Attributes { object: u64, numbers: Vec<u32> }
    /// Changes attributes of an object.
    0x12 SetAttributes { object: u64, template: Template }
    /// Makes an object of values that are given.
    0x13 Create { template: Template }
    /// Makes an object like another.
    0x14 Copy { object: u64, template: Template }
    /// Destroys an object.
    0x15 Destroy { object: u64 }
    /// The number of bytes that an object takes.
    0x16 Size { object: u64 }
    /// Makes the two halves of a private key that is given as PEM (PKCS #8).
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
    /// A key, wrapped by another.
    0x26 Wrap { wrapping: u64, mechanism: Mechanism, key: u64 }
    /// Makes an object of a wrapped key.
    0x27 Unwrap { unwrapping: u64, mechanism: Mechanism, wrapped: Bytes, template: Template }
    /// Makes an object of a shared secret.
    0x28 Derive { base: u64, mechanism: Mechanism, template: Template }
    /// Whether the key may be used so: what C_SignInit and its like must know.
    0x29 Check { key: u64, mechanism: Mechanism, usage: Usage }
    /// Many signatures, each with its own outcome.
    0x2a SignMany { requests: Vec<Signing> }

    /// How the daemon is.
    0x40 Status {}
    /// Opens the keystore.
    0x41 Unlock { passphrase: Option<Secret>, key_file: Option<Secret> }
    /// Closes it and forgets all keys.
    0x42 Lock {}
    /// Lines of the audit log, from one on.
    0x43 Audit { from: u64, limit: u32 }
    /// Metrics as Prometheus text.
    0x44 Metrics {}
    /// A new master key, and all records sealed anew.
    0x45 RotateMasterKey {}
}

choice! {
    /// What a key is to be used for.
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
    /// About the token.
    struct TokenInfo {
        /// At most 32 bytes.
        label: String,
        /// 16 characters.
        serial: String,
        /// Whether a security officer's PIN is set.
        initialized: bool,
        /// Whether a user's PIN is set.
        user_pin: bool,
        /// Wrong PINs of the user since the last right one.
        user_failures: u32,
        /// Wrong PINs of the security officer since the last right one.
        officer_failures: u32,
        /// Whether the keystore is locked.
        locked: bool,
        /// Who is logged in.
        role: Option<u8>,
        /// Version of the daemon.
        daemon: String,
    }

    /// What is known of an attribute of an object.
    struct AttributeValue {
        /// Its number.
        number: u32,
        /// 0, or ATTRIBUTE_SENSITIVE or ATTRIBUTE_TYPE_INVALID.
        code: u32,
        /// Its value, where the code is 0.
        value: Bytes,
    }

    /// What became of one signature among many.
    struct Signed {
        /// 0, or why not.
        code: u32,
        /// The signature, where the code is 0.
        signature: Bytes,
    }
}

messages! {
    /// What is answered.
    Response:
    /// It was refused: a code, and a sentence for a person, which may be empty.
    0x00 Refused { code: u32, detail: String }
    /// It was done.
    0x01 Done {}
    /// To Hello and Attach.
    0x02 Welcome { version: u16, ticket: Secret }
    /// To Token.
    0x03 Token { info: TokenInfo }
    /// One object.
    0x04 Object { object: u64 }
    /// A public and a private key.
    0x05 Pair { public: u64, private: u64 }
    /// Objects, in the order of their numbers.
    0x06 Objects { objects: Vec<u64> }
    /// Attributes, in the order they were asked for.
    0x07 Attributes { values: Vec<AttributeValue> }
    /// Bytes: a signature, a ciphertext, a message.
    0x08 Data { data: Secret }
    /// A number.
    0x09 Number { value: u64 }
    /// Text for a person.
    0x0a Text { text: String }
    /// Lines of the audit log.
    0x0b Audit { entries: Vec<AuditEntry> }
    /// Signatures, in the order they were asked for.
    0x0c SignedMany { outcomes: Vec<Signed> }
}
