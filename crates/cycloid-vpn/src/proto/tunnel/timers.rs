//! The tunnel's timers: pings, silence, the limits of a key, and the end of a handshake.

use std::time::Duration;

use super::{Failure, Sink, Tunnel};
use crate::proto::session::Session;
use crate::proto::{Error, IDLE, Now, Random, SILENT, data};

/// Intervals of checking a key with and without a traffic limit. Within `WATCH_INTERVAL`, no link
/// can use up the rest of a key that already asks for renegotiation.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);
const WATCH_INTERVAL: Duration = Duration::from_secs(10);

/// How long a peer may take to answer after this end was paused. A renegotiation asks it twice.
const RESUME_TIME: Duration = Duration::from_secs(4);

impl Tunnel {
    /// Handles due timers, except retransmissions, which [`transmit`](Self::transmit) handles.
    pub(in crate::proto) fn tick(
        &mut self,
        now: Now,
        random: &mut Random<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Failure> {
        let time = now.monotonic;
        if self.end.is_some_and(|end| time >= end) {
            return Err(Failure::Ended(Error::TimedOut("the scheduled end of the connection")));
        }
        if self.handshake_end().is_some_and(|end| time >= end) {
            let error = Error::TimedOut("TLS key negotiation was not finished in time");
            match self.next.as_deref().map(Session::key_id) {
                Some(key_id) if self.keeps_key(key_id) => self.fail_renegotiation(now, error),
                _ => return Err(Failure::Ended(error)),
            }
        }
        if self.failed.as_ref().is_some_and(|failed| time >= failed.key_expires) {
            return Err(Failure::Ended(Error::TimedOut(
                "the key has expired, and no renegotiation has succeeded",
            )));
        }
        if let Some(failed) = self.failed.as_mut().filter(|failed| time >= failed.retry) {
            failed.session = None;
        }
        if self.old.as_ref().is_some_and(|(.., end)| time >= *end) {
            self.forget_old(sink);
        }
        if self.established.is_some() {
            if self.watch(now, sink)? {
                self.renegotiate(now, random).map_err(Failure::Ended)?;
            }
            let waits = self.failed.as_ref().is_some_and(|failed| time < failed.retry);
            if !waits && self.is_key_used_up(time) {
                self.renegotiate(now, random).map_err(Failure::Ended)?;
            }
        }
        Ok(())
    }

    /// Sends pings, and detects a lost peer. Returns whether to ask the peer for a sign of life.
    fn watch(&mut self, now: Now, sink: &mut dyn Sink) -> Result<bool, Failure> {
        let (time, timing) = (now.monotonic, &self.timing);
        let traffic = sink.traffic();
        let activity = &mut self.activity;
        let unwatched = time.saturating_sub(activity.checked);
        let mut asks = false;
        if traffic.received_packets != activity.traffic.received_packets {
            activity.received = activity.received.max(time.saturating_sub(traffic.received_ago));
            activity.excused = false;
        }
        if activity.heard > activity.received {
            activity.received = activity.heard;
            activity.excused = false;
        }
        if traffic.sent_packets != activity.traffic.sent_packets {
            activity.sent = activity.sent.max(time.saturating_sub(traffic.sent_ago));
        }
        activity.traffic = traffic;
        activity.checked = time;
        if !timing.silence.is_zero() && time >= activity.received + timing.silence {
            // If the whole process was paused, packets received meanwhile may not be counted yet.
            if unwatched <= WATCH_INTERVAL + timing.silence / 2 || activity.excused {
                return Err(Failure::Ended(Error::TimedOut(SILENT)));
            }
            let left = RESUME_TIME.min(timing.silence / 2);
            (activity.excused, asks) = (true, true);
            activity.received = time - timing.silence + left;
        }
        if !timing.inactive.is_zero() && time >= activity.used + timing.inactive {
            if traffic.inner_bytes - activity.used_bytes <= timing.inactive_bytes {
                return Err(Failure::Ended(Error::TimedOut(IDLE)));
            }
            activity.used = time;
            activity.used_bytes = traffic.inner_bytes;
        }
        let is_due = time >= activity.sent + timing.ping || activity.ping_is_due;
        if !timing.ping.is_zero() && is_due {
            activity.ping_is_due = false;
            sink.send_data(&data::PING);
            activity.sent = time;
            activity.traffic = sink.traffic();
        }
        Ok(asks)
    }

    /// Returns the lifetime of this tunnel's keys; zero is unlimited.
    fn key_lifetime(&self) -> Duration {
        let most = self.timing.renegotiate_after;
        let least = self.timing.renegotiate_not_before.map_or(most, |least| least.min(most));
        // The session id is random. It is public, and so is the time of a renegotiation.
        let [high, low, ..] = *self.local.as_bytes();
        most - (most - least) * u16::from_be_bytes([high, low]).into() / u32::from(u16::MAX)
    }

    fn is_key_used_up(&self, time: Duration) -> bool {
        let timing = &self.timing;
        let (now, then) = (&self.activity.traffic, &self.activity.at_key);
        let bytes = now.sent_bytes + now.received_bytes - then.sent_bytes - then.received_bytes;
        let packets =
            now.sent_packets + now.received_packets - then.sent_packets - then.received_packets;
        let reached = |limit: u64, value: u64| limit > 0 && value >= limit;
        let lifetime = self.key_lifetime();
        let old =
            !lifetime.is_zero() && self.established.is_some_and(|since| time >= since + lifetime);
        old || reached(timing.renegotiate_bytes, bytes)
            || reached(timing.renegotiate_packets, packets)
            || self.sealer.as_ref().is_some_and(|sealer| sealer.wants_rekey())
    }

    /// Returns when to call [`tick`](Self::tick) and [`transmit`](Self::transmit) next.
    pub(in crate::proto) fn deadline(&self) -> Option<Duration> {
        let timing = &self.timing;
        let some = |from: Duration, span: Duration| (!span.is_zero()).then(|| from + span);
        let mut all = vec![
            self.end,
            self.current.deadline(),
            self.next.as_deref().and_then(Session::deadline),
            self.failed.as_ref().and_then(|failed| failed.session.as_ref()?.deadline()),
            self.handshake_end(),
            self.old.as_ref().map(|(_, session, end)| {
                session.deadline().map_or(*end, |deadline| deadline.min(*end))
            }),
        ];
        if let Some(since) = self.established {
            let counts = timing.renegotiate_bytes > 0 || timing.renegotiate_packets > 0;
            let period = if counts { COUNT_INTERVAL } else { WATCH_INTERVAL };
            all.extend([
                some(since, self.key_lifetime())
                    .filter(|_| self.next.is_none())
                    .map(|due| self.failed.as_ref().map_or(due, |failed| due.max(failed.retry))),
                self.failed.as_ref().map(|failed| failed.key_expires),
                some(self.activity.sent, timing.ping)
                    .map(|due| if self.activity.ping_is_due { Duration::ZERO } else { due }),
                some(self.activity.received, timing.silence),
                some(self.activity.used, timing.inactive),
                Some(self.activity.checked + period),
            ]);
        }
        all.into_iter().flatten().min()
    }
}
