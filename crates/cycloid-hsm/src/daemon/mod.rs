//! The daemon: sockets, applications, and request handling.

mod admission;
mod application;
mod connection;
mod cryptography;
mod files;
mod handle;
mod handler;
mod index;
mod legacy;
mod logins;
mod memory;
mod metrics;
mod objects;
pub mod pin;
mod quota;
mod rates;
mod running;
mod server;
mod sessions;
mod slots;
mod tasks;
#[cfg(test)]
mod tests;
mod token;
mod unlocking;
mod uses;
mod watch;
mod wire;

pub use files::raise_file_limit;
pub use handler::Daemon;
pub use memory::{Memory, forbid_dumps, lock_memory};
pub use server::{Server, Settings};
pub use wire::Tls;

use crate::Result;
use crate::rpc::Role;
use crate::store::{Cost, Store, Unlocking, Write};

/// Checks a token's label, before a keystore is created for it.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`](crate::Code::ARGUMENTS_BAD).
pub fn check_label(label: &str) -> Result<()> {
    sessions::check_label(label)
}

/// Sets a token's label, in place of a lost one.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`](crate::Code::ARGUMENTS_BAD); those of the store.
pub fn set_label(write: &mut Write<'_>, label: &str) -> Result<()> {
    sessions::set_label(write, label)
}

/// Creates a keystore with a token: its label and its PINs, in one transaction. After every error
/// but [`Code::GENERAL_ERROR`](crate::Code::GENERAL_ERROR), the database has no such keystore.
///
/// # Errors
/// [`Code::PIN_LEN_RANGE`](crate::Code::PIN_LEN_RANGE); those of [`Store::create_filled`].
pub fn create(
    url: &str,
    unlocking: &Unlocking,
    label: &str,
    officer_pin: &[u8],
    user_pin: &[u8],
) -> Result<Store> {
    let (officer, user) = (pin::Fresh::new(officer_pin)?, pin::Fresh::new(user_pin)?);
    Store::create_filled(url, unlocking, Cost::DEFAULT, |write| {
        sessions::set_label(write, label)?;
        officer.set(write, Role::SecurityOfficer)?;
        user.set(write, Role::User)?;
        write.audit("operator", &format!("the token {label:?} was created"))
    })
}
