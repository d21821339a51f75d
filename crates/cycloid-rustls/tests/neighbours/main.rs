//! Small programs with the crates that people use rustls with: HTTP by hyper and reqwest, QUIC by
//! quinn. Both sides run on Cycloid, over the loopback interface.

#[path = "../support/mod.rs"]
mod support;

mod http;
mod quic;

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};

/// An address of the loopback interface with a free port.
const LOCAL: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Runs a program on one thread.
fn run<T>(program: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(program)
}
