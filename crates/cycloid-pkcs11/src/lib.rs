//! The PKCS #11 module, which programs load to use keys in the HSM's daemon.
//!
//! `libcycloid_pkcs11.so` exports the functions of PKCS #11 3.2, and the interface `PKCS 11` in the
//! versions 3.2, 3.0 and 2.40. It is a thin client: the daemon has the keys and the policy, and
//! computes with keys. The module has the sessions and the state of operations, and validates and
//! converts C's structures. It computes digests, including those that a signature mechanism needs,
//! so that long messages stay in the program.
//!
//! - **The daemon's address** is that of [`default_socket`](cycloid_hsm_protocol::rpc::default_socket) at
//!   C_Initialize; the environment variable `CYCLOID_HSM_SOCKET` sets it. For `tls://host:port`,
//!   `CYCLOID_HSM_CERTIFICATE`, `CYCLOID_HSM_KEY` and `CYCLOID_HSM_CA` name PEM files: the module's
//!   certificate and key, and the authorities that sign the daemon's certificate.
//! - **One slot**, number 0, with one token, the daemon's. If no daemon answers, the slot is empty.
//!   When the daemon goes away, the next call returns `CKR_DEVICE_REMOVED` and all sessions end;
//!   the next query of the slot, or the next session, connects to the daemon that listens then.
//!   C_WaitForSlotEvent waits for this, and for a keystore that is locked or unlocked.
//! - **Threads** may call every function at any time, and wait only for other threads that use the
//!   same session. Each call that needs the daemon has its own connection. The module uses the
//!   operating system's locks and creates no threads, so C_Initialize accepts a program's own
//!   mutexes but does not use them.
//! - **After `fork`** the child is not initialised: every function returns
//!   `CKR_CRYPTOKI_NOT_INITIALIZED` until C_Initialize. The parent's connections are not affected.
//! - **The module caches** the type, size and permitted uses of a key, from its first use until the
//!   module sees a change; the daemon checks each use again. So C_SignInit needs no request, and
//!   C_FindObjectsInit and C_Sign need one each.
//! - **Roles**: `CKU_SO` and `CKU_USER`, and [`CKU_AUDITOR`], who sees everything except secrets
//!   and changes nothing.
//! - If the daemon needs a message as a whole, the module collects its parts, up to one megabyte
//!   ([`MAX_LENGTH`](cycloid_hsm_protocol::rpc::frame::MAX_LENGTH)). Mechanisms that hash first have no
//!   limit, nor have AES-ECB, AES-CBC and AES-CTR, and message authentication codes: their data is
//!   sent in several requests.
//! - **Saved states** (C_GetOperationState) are those of digests. Other operations use keys, and
//!   their states are `CKR_STATE_UNSAVEABLE`.
//! - **Operations on messages** (C_EncryptMessage and the like) send each message to the daemon. The
//!   module generates their initialisation vectors; the first one starts at random.
//! - Not supported, with the standard's code for it: dual-function operations (C_DigestEncryptUpdate
//!   and the like), operations with recovery and, of version 3.2, encapsulation, asynchronous
//!   functions, and authenticated wrapping.

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("attribute values pass unchanged between C and the daemon: 64 bits, little-endian");

mod application;
mod code;
mod events;
pub mod exports;
mod interface;
mod key;
mod memory;
mod operation;
mod parameter;
mod process;
mod session;
mod state;
mod template;
mod token;

pub use interface::{C_GetFunctionList, C_GetInterface, C_GetInterfaceList};

/// The vendor-defined user type of the auditor, for C_Login.
pub const CKU_AUDITOR: cryptoki_sys::CK_USER_TYPE = 0x8359_4301;
