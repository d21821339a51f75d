//! The daemon: sockets, applications, and what is done with their requests.

mod application;
mod connection;
mod cryptography;
mod handler;
mod index;
mod metrics;
mod objects;
pub mod pin;
mod server;
mod sessions;
mod token;

pub use handler::Daemon;
pub use server::{Server, Settings};
