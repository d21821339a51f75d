//! Common programs with a real daemon: each works with keys of the token, and another
//! implementation verifies the results.

mod dnssec;
mod gnutls;
mod java;
mod opendnssec;
mod opensc;
mod openssl;
mod python;
#[path = "../support/mod.rs"]
mod support;
