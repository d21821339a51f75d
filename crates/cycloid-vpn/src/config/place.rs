//! The places where a directive can stand.

/// The kind of text that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// A client's or a server's file.
    Profile,
    /// A `<connection>` block.
    Connection,
    /// A file of `client-config-dir`, or the output of `client-connect`.
    PerClient,
    /// Options pushed by a server.
    Pushed,
}

// Bits for the places where a directive is allowed.

/// A client's file.
pub(super) const CLIENT: u8 = 1;
/// A server's file.
pub(super) const SERVER: u8 = 2;
/// A `<connection>` block.
pub(super) const CONNECTION: u8 = 4;
/// The settings of a single client.
pub(super) const PER_CLIENT: u8 = 8;
/// Options pushed by a server.
pub(super) const PUSHED: u8 = 16;

pub(super) const BOTH: u8 = CLIENT | SERVER;
