//! The times of a connection, and a data channel outside of this program.

use std::time::Duration;

use super::{Client, ClientEnd};
use crate::proto::data::{Cipher, Framing};
use crate::proto::push::PushReply;
use crate::proto::timing::Timing;
use crate::proto::{Error, IDLE, SILENT};

/// The most bytes under an AES key outside of this program, where nothing counts its blocks: half
/// of its usage limit of 2³⁶ blocks.
const BYTE_LIMIT: u64 = 1 << 39;

impl Client {
    /// Returns the interval of pings and the silence after which the server counts as lost, for a
    /// data channel outside of this program. Zero is never.
    pub fn keepalive(&self) -> (Duration, Duration) {
        self.keepalive
    }

    /// Sets the times that the server pushes; the others are those of the settings.
    pub(super) fn take_times(&mut self, reply: &PushReply) {
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        let own = self.settings.timing;
        let (inactive, inactive_bytes) = match reply.inactive {
            Some((inactive, bytes)) => (seconds(inactive), bytes),
            None => (own.inactive, own.inactive_bytes),
        };
        let (silence, silence_exits) = match (reply.ping_restart, reply.ping_exit) {
            (Some(silence), _) => (seconds(silence), false),
            (None, Some(silence)) => (seconds(silence), true),
            (None, None) => (own.silence, own.silence_exits),
        };
        let mut timing = Timing {
            ping: reply.ping.map_or(own.ping, seconds),
            silence,
            silence_exits,
            inactive,
            inactive_bytes,
            ..own
        };
        if self.settings.offload {
            self.keepalive = (timing.ping, timing.silence);
            (timing.ping, timing.silence) = (Duration::ZERO, Duration::ZERO);
            timing.renegotiate_bytes = match timing.renegotiate_bytes {
                0 => BYTE_LIMIT,
                bytes => bytes.min(BYTE_LIMIT),
            };
        }
        *self.tunnel.timing_mut() = timing;
    }

    /// Returns how long a session may last, or zero.
    pub(super) fn session_time(&self, reply: &PushReply) -> Duration {
        let pushed = reply.session_timeout.map(|seconds| Duration::from_secs(seconds.into()));
        pushed.unwrap_or(self.settings.timing.session)
    }

    /// Returns the end of a connection by this error: some timers make the program exit.
    pub(super) fn end_by(&mut self, error: Error) -> ClientEnd {
        match error {
            Error::TimedOut(IDLE) => ClientEnd::Expired("inactive"),
            Error::TimedOut(SILENT) if self.tunnel.timing_mut().silence_exits => {
                ClientEnd::Expired("ping-exit")
            }
            error => ClientEnd::Failed(error),
        }
    }

    /// Checks that a data channel outside of this program can do what the server has chosen.
    pub(super) fn check_offload(&self, reply: &PushReply, cipher: Cipher) -> Result<(), Error> {
        if !self.settings.offload {
            return Ok(());
        }
        let framing = reply.framing.unwrap_or(self.settings.framing);
        let problem = match () {
            () if !cipher.is_aead() => format!("the cipher {}", cipher.name()),
            () if reply.peer_id.is_none() => "packets without a peer id".into(),
            () if reply.protocol.aead_epoch => "data keys by epochs".into(),
            () if framing != Framing::None => "a framing for compression".into(),
            () if self.settings.fragment.is_some() => "fragments".into(),
            () => return Ok(()),
        };
        Err(Error::Incompatible(format!(
            "the kernel's data channel does not have {problem}, which the server chose"
        )))
    }
}
