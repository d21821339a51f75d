//! Paces the packets to one peer, if it loses those that come too fast.
//!
//! A train fills the receive buffer of a peer that reads packets one by one, such as OpenVPN, and
//! the excess is lost. The tunnel's protocol reports no loss, but the TCP connections inside repeat
//! what was lost, and the repetitions pass here. While they are many, packets leave at a limited
//! rate, which falls with each period of loss and rises without. Senders on this machine notice the
//! backpressure of the TUN device, so nothing else is lost instead.

use std::time::Duration;

/// The limit never falls below this rate, in packets per second: at lower rates a loss has other
/// causes, and TCP itself is slow enough.
const LEAST_RATE: f64 = 20_000.0;

/// A higher limit has no effect.
const MOST_RATE: f64 = 1_000_000.0;

/// The rate is judged after this time and this many packets.
const PERIOD: Duration = Duration::from_millis(20);
const PERIOD_PACKETS: u32 = 200;

/// Shares of repeated packets: above the first the rate falls, below the second it rises.
const MUCH_LOSS: f64 = 0.01;
const LITTLE_LOSS: f64 = 0.002;

/// Changes of the limit in each period.
const FALL: f64 = 0.9;
const RISE: f64 = 1.01;

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// The number of connections whose progress is known; each replaces another one with the same hash.
const FLOWS: usize = 8;

/// The state of one peer. Times are since the start of the data path.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// The limit, in packets per second.
    limit: Option<f64>,
    /// The time at which the packets so far are sent at the limited rate.
    next: Duration,
    since: Duration,
    packets: u32,
    repeated: u32,
    flows: [Flow; FLOWS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    hash: u32,
    /// The sequence number after the latest data.
    end: u32,
}

impl Pacer {
    /// Records data that is about to be sent as `count` packets.
    pub(super) fn record(&mut self, data: &TcpData, count: u32, now: Duration) {
        let flow = &mut self.flows[data.hash as usize % FLOWS];
        let is_repeated = flow.hash == data.hash && data.sequence.wrapping_sub(flow.end) > 1 << 31;
        if is_repeated {
            self.repeated += count;
        } else {
            *flow = Flow { hash: data.hash, end: data.sequence.wrapping_add(data.length) };
        }
        self.packets += count;
        let time = now.saturating_sub(self.since);
        if time >= PERIOD && self.packets >= PERIOD_PACKETS {
            self.judge(time);
            (self.since, self.packets, self.repeated) = (now, 0, 0);
        }
        if let Some(limit) = self.limit {
            self.next = self.next.max(now) + Duration::from_secs_f64(f64::from(count) / limit);
        }
    }

    fn judge(&mut self, time: Duration) {
        let rate = f64::from(self.packets) / time.as_secs_f64();
        let loss = f64::from(self.repeated) / f64::from(self.packets);
        // A period with a long gap says nothing about the rate.
        if loss > MUCH_LOSS && time < 10 * PERIOD {
            let limit = self.limit.unwrap_or(MOST_RATE).min(rate) * FALL;
            self.limit = Some(limit.max(LEAST_RATE));
        } else if loss < LITTLE_LOSS {
            self.limit = self.limit.map(|limit| limit * RISE).filter(|limit| *limit < MOST_RATE);
        }
    }

    /// Returns how long to wait before the next packet.
    pub(super) fn pause(&self, now: Duration) -> Duration {
        self.limit.map_or(Duration::ZERO, |_| self.next.saturating_sub(now)).min(LONGEST_PAUSE)
    }
}

/// The data of an inner TCP packet or super-packet.
#[derive(Debug)]
pub(super) struct TcpData {
    /// A hash of addresses and ports.
    hash: u32,
    sequence: u32,
    length: u32,
}

impl TcpData {
    /// Returns `None` for other packets, and for those without data. Does not look behind extension
    /// headers of IPv6.
    pub(super) fn of(inner: &[u8]) -> Option<Self> {
        const TCP: u8 = 6;
        let (protocol, addresses, start) = match inner.first()? >> 4 {
            4 => (*inner.get(9)?, inner.get(12..20)?, usize::from(inner[0] & 15) * 4),
            6 => (*inner.get(6)?, inner.get(8..40)?, 40),
            _ => return None,
        };
        let header = inner.get(start..start + 20)?;
        let data = start + usize::from(header[12] >> 4) * 4;
        let length = u32::try_from(inner.len().checked_sub(data)?).ok().filter(|it| *it > 0)?;
        if protocol != TCP {
            return None;
        }
        let words = addresses.chunks_exact(4).chain(header[..4].chunks_exact(4));
        let hash = words.fold(0_u32, |hash, word| {
            let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
            (hash ^ word).wrapping_mul(0x9e37_79b1).rotate_left(15)
        });
        let sequence = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
        Some(Self { hash, sequence, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the data of a TCP packet.
    fn data(port: u16, sequence: u32) -> TcpData {
        TcpData::of(&packet(port, sequence)).expect("data")
    }

    /// Returns a TCP packet of 1000 bytes of data.
    fn packet(port: u16, sequence: u32) -> Vec<u8> {
        let mut packet = vec![0; 40 + 1000];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        packet[32] = 5 << 4;
        packet
    }

    /// Sends packets at this rate for a time, each `every`-th twice. Returns the time after.
    fn send(pacer: &mut Pacer, rate: u64, from: Duration, time: Duration, every: u64) -> Duration {
        let count = rate * time.as_millis() as u64 / 1000;
        let mut sequence = u32::MAX - 50_000;
        for number in 0..count {
            let now = from + Duration::from_nanos(number * 1_000_000_000 / rate);
            pacer.record(&data(7, sequence), 1, now);
            if number % every == 1 {
                pacer.record(&data(7, sequence), 1, now);
            }
            sequence = sequence.wrapping_add(1000);
        }
        from + time
    }

    #[test]
    fn loss_limits_the_rate_and_its_absence_ends_the_limit() {
        let mut pacer = Pacer::default();
        let seconds = Duration::from_secs;
        let now = send(&mut pacer, 100_000, seconds(1), seconds(2), u64::MAX);
        assert!(pacer.limit.is_none() && pacer.pause(now).is_zero());
        let now = send(&mut pacer, 100_000, now, Duration::from_millis(100), 20);
        let limit = pacer.limit.expect("a limit");
        assert!((40_000.0..95_000.0).contains(&limit), "{limit}");
        // Forty packets more than the rate permits cause a pause.
        pacer.next = now;
        (0..40).for_each(|number| pacer.record(&data(8, number * 1000), 1, now));
        let pause = pacer.pause(now).as_secs_f64();
        assert!((pause - 40.0 / limit).abs() < 0.00005, "{pause}");
        let now = send(&mut pacer, 100_000, now, seconds(20), u64::MAX);
        assert!(pacer.limit.is_none(), "{:?}", pacer.limit);
        // At low rates nothing is limited further.
        send(&mut pacer, 5_000, now, seconds(5), 10);
        assert_eq!(pacer.limit, Some(LEAST_RATE));
    }

    #[test]
    fn only_data_of_tcp_counts() {
        let mut pure = packet(7, 5);
        pure.truncate(40);
        let mut udp = packet(7, 5);
        udp[9] = 17;
        for inner in [&pure[..], &udp, &packet(7, 5)[..39], &[], &[0x60; 45]] {
            assert!(TcpData::of(inner).is_none());
        }
        // Connections do not disturb each other.
        let mut pacer = Pacer::default();
        for port in 0..1000 {
            pacer.record(&data(port, 70_000 - 60 * u32::from(port)), 1, Duration::ZERO);
        }
        assert_eq!((pacer.packets, pacer.repeated), (1000, 0));
    }
}
