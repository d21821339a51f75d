//! Real programs use the provider: OpenSSL's own, curl, nginx, HAProxy and Python. The provider's
//! log proves for each operation that Cycloid computed it, or left it to the default provider.

#![allow(missing_docs, unreachable_pub)]
#![cfg(target_os = "linux")]

mod asynchronous;
mod configuration;
mod keys;
mod operations;
mod sequences;
mod support;
mod tls;
