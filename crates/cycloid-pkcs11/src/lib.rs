//! The PKCS #11 module: what existing programs load to use keys that the HSM's daemon keeps.
//!
//! `libcycloid_pkcs11.so` exports the functions of PKCS #11 3.0, and gives them as the interface
//! `PKCS 11` in the versions 3.0 and 2.40. It is a thin client: keys, policy and computations with keys
//! are the daemon's; here are sessions, the course of operations, and the conversion of C's structures,
//! of which none is believed. Digests are made here, and so are those that a mechanism signs, so that long
//! messages do not travel.
//!
//! - **Where the daemon is**: [`default_socket`](cycloid_hsm::rpc::default_socket) says, at
//!   C_Initialize; the environment variable `CYCLOID_HSM_SOCKET` sets it. With `tls://host:port` there,
//!   `CYCLOID_HSM_CERTIFICATE`, `CYCLOID_HSM_KEY` and `CYCLOID_HSM_CA` name files (PEM): what the module
//!   shows to the daemon, and who vouches for the daemon.
//! - **One slot**, number 0, with one token, the daemon's. Where no daemon answers the slot is empty.
//!   Where the daemon goes away, a call that notices gives `CKR_DEVICE_REMOVED`, all sessions are gone, and
//!   the next look at the slot, or the next session, finds the daemon that listens then.
//! - **Threads** may call everything at any time and wait only for others that use the same session. Each
//!   call that needs the daemon has a connection of its own. The module locks by the operating system's
//!   means and makes no threads, so C_Initialize accepts a program's own mutexes and does not use them.
//! - **After `fork`** the child is not initialised: every function gives
//!   `CKR_CRYPTOKI_NOT_INITIALIZED` until C_Initialize, which leaves the parent's connections alone.
//! - **What the module remembers** of a key is its type, size and permitted uses, from its first use on
//!   until the module sees it change; the daemon judges each use again. So C_SignInit costs nothing, and
//!   C_FindObjectsInit and C_Sign a question each.
//! - **Roles**: `CKU_SO` and `CKU_USER`, and [`CKU_AUDITOR`], who sees everything but secrets and changes
//!   nothing.
//! - Parts of a message that must go to the daemon whole are put together here, up to one megabyte
//!   ([`MAX_LENGTH`](cycloid_hsm::rpc::frame::MAX_LENGTH)). With the mechanisms that hash first there is no
//!   limit.
//! - Not supported, by the code that the standard has for it: operations on messages (C_EncryptMessage and
//!   the like), two operations in one (C_DigestEncryptUpdate and the like), operations with recovery,
//!   saved states of operations, C_DigestKey, and waiting for a slot to change.

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!(
    "attribute values pass between C and the daemon as they are: 64 bits, little-endian"
);

mod application;
mod code;
pub mod exports;
mod interface;
mod key;
mod memory;
mod operation;
mod parameter;
mod session;
mod state;
mod template;
mod token;

pub use interface::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};

/// The vendor-defined user type of the auditor, for C_Login.
pub const CKU_AUDITOR: cryptoki_sys::CK_USER_TYPE = 0x8359_4301;
