//! OpenVPN's protocol: a core without I/O or clock, the configuration files of the field, and a
//! client and a server for Linux on them.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@bench`] | the engine in memory and crowds of clients, to be measured |
//! | [`config`] | configuration files as OpenVPN 2.6 has them, and a small authority that makes them |
//! | [`net`] | the Linux side: TUN device, sockets, the threads between them; routes, names, firewall |
//! | [`proto`] | the protocol: what arrives and what time it is goes in, what to send and which keys to use comes out |
//! | [`service`] | what is around it in a program: management, hooks, pool, status, log |
//!
//! Source: the wire protocol as OpenVPN 2.6 speaks it, for which draft-openvpn-wire-protocol is the
//! description.

pub mod bench;
pub mod config;
pub mod net;
pub mod proto;
pub mod service;
