//! Programs that people have, with a real daemon: each does its work with keys of the token, and
//! another implementation checks what comes out.

mod dnssec;
mod gnutls;
mod opendnssec;
mod opensc;
mod openssl;
#[path = "../support/mod.rs"]
mod support;
