//! The stand-in for tokens in a program without the feature `pkcs11`.

use super::{KeyName, Login};
use crate::config::Token;
use crate::proto::tls::External;
use crate::service::Failure;

/// A certificate in a token; there is none.
pub(in crate::service) enum Found {}

impl Found {
    pub(super) fn find(_: &Token, name: &KeyName) -> Result<Self, Failure> {
        Err(Failure::new(format!("{name}: this program was built without PKCS #11"))
            .hint("build it with `cargo build --release -p cycloid-vpn --features pkcs11`"))
    }

    pub(in crate::service) fn token_label(&self) -> &str {
        match *self {}
    }

    pub(in crate::service) fn asks_itself(&self) -> bool {
        match *self {}
    }

    pub(in crate::service) fn open(self, _: Login) -> Result<External, Failure> {
        match self {}
    }
}
