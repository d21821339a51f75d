//! When a tunnel does things by itself.

use std::time::Duration;

/// When things happen by themselves. Zero turns a thing off where that makes sense.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// `hand-window`: a session must be established within.
    pub handshake: Duration,
    /// `tran-window`: how long an old key opens packets.
    pub transition: Duration,
    /// `reneg-sec`: a key's life.
    pub renegotiate_after: Duration,
    /// `reneg-bytes`, both ways together.
    pub renegotiate_bytes: u64,
    /// `reneg-pkts`, both ways together.
    pub renegotiate_packets: u64,
    /// `ping`: something is sent at least so often.
    pub ping: Duration,
    /// `ping-restart` or `ping-exit`: the peer is gone when nothing came for so long.
    pub silence: Duration,
    /// `inactive`: the tunnel is closed when it carried fewer than `inactive_bytes` in so long.
    pub inactive: Duration,
    /// See `inactive`.
    pub inactive_bytes: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(60),
            transition: Duration::from_secs(3600),
            renegotiate_after: Duration::from_secs(3600),
            renegotiate_bytes: 0,
            renegotiate_packets: 0,
            ping: Duration::ZERO,
            silence: Duration::ZERO,
            inactive: Duration::ZERO,
            inactive_bytes: 0,
        }
    }
}
