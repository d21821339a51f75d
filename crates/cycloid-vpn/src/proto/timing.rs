//! The timers of a tunnel.

use std::time::Duration;

/// The timers of a tunnel. Zero turns a timer off if that makes sense.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// `hand-window`: time limit for establishing a session.
    pub handshake: Duration,
    /// `tran-window`: how long an old key still opens packets.
    pub transition: Duration,
    /// `reneg-sec`: lifetime of a key.
    pub renegotiate_after: Duration,
    /// The shortest lifetime of a key: each tunnel has its own between both, so that tunnels that
    /// began together do not renegotiate together. `None` is `renegotiate_after`.
    pub renegotiate_not_before: Option<Duration>,
    /// `reneg-bytes`, sum of both directions.
    pub renegotiate_bytes: u64,
    /// `reneg-pkts`, sum of both directions.
    pub renegotiate_packets: u64,
    /// `ping`: maximum interval without sending.
    pub ping: Duration,
    /// `ping-restart` or `ping-exit`: silence after which the peer counts as lost.
    pub silence: Duration,
    /// Whether a client exits after that silence: `ping-exit`. Otherwise it connects again.
    pub silence_exits: bool,
    /// `inactive`: period after which a tunnel that carried fewer than `inactive_bytes` is closed.
    pub inactive: Duration,
    /// See `inactive`.
    pub inactive_bytes: u64,
    /// `session-timeout`: time after which a client exits.
    pub session: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(60),
            transition: Duration::from_secs(3600),
            renegotiate_after: Duration::from_secs(3600),
            renegotiate_not_before: None,
            renegotiate_bytes: 0,
            renegotiate_packets: 0,
            ping: Duration::ZERO,
            silence: Duration::ZERO,
            silence_exits: false,
            inactive: Duration::ZERO,
            inactive_bytes: 0,
            session: Duration::ZERO,
        }
    }
}
