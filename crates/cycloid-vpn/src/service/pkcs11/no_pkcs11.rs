//! The stand-in for tokens in a program without the feature `pkcs11`.

use super::{KeyName, Login};
use crate::config::Token;
use crate::proto::tls::External;
use crate::service::Failure;

/// Certificates in tokens; there are none.
pub(in crate::service) enum Certificates {}

/// A certificate in a token; there is none.
pub(in crate::service) enum Found {}

impl Certificates {
    pub(in crate::service) fn read(
        _: &Token,
        _: &mut dyn FnMut(&str, bool) -> Result<Login, Failure>,
    ) -> Result<Self, Failure> {
        Err(missing())
    }

    pub(super) fn find_token(_: &Token, _: &KeyName) -> Result<(), Failure> {
        Err(missing())
    }

    pub(in crate::service) fn names(&self) -> Vec<(String, String)> {
        match *self {}
    }

    pub(in crate::service) fn choose(self, _: &KeyName) -> Result<Found, Failure> {
        match self {}
    }
}

fn missing() -> Failure {
    Failure::new("pkcs11-providers: this program was built without PKCS #11")
        .hint("build it with `cargo build --release -p cycloid-vpn --features pkcs11`")
}

impl Found {
    pub(in crate::service) fn token_label(&self) -> &str {
        match *self {}
    }

    pub(in crate::service) fn asks_itself(&self) -> bool {
        match *self {}
    }

    pub(in crate::service) fn is_logged_in(&self) -> bool {
        match *self {}
    }

    pub(in crate::service) fn open(self, _: Option<Login>) -> Result<External, Failure> {
        match self {}
    }
}
