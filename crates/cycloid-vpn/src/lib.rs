//! An implementation of OpenVPN's protocol: a sans-I/O core, a parser of OpenVPN's configuration
//! files, and a client and a server for Linux.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@bench`] | measurements: the engine in memory and crowds of clients |
//! | [`config`] | OpenVPN 2.6 configuration files, and a small certificate authority that creates them |
//! | [`net`] | the Linux side: TUN device, sockets, data path threads, routes, DNS and firewall |
//! | [`proto`] | the protocol core: takes packets and the time, returns packets to send and keys to use |
//! | [`service`] | client and server programs: management, hooks, address pool, status, log |
//!
//! Source: the wire protocol of OpenVPN 2.6, described in draft-openvpn-wire-protocol.

pub mod bench;
pub mod config;
pub mod net;
pub mod proto;
pub mod service;
