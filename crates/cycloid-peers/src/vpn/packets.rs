//! Small packets: the highest rate at which a tunnel loses fewer than two in a hundred. Each round
//! searches it by bisection among fixed rates.

use std::sync::PoisonError;
use std::time::Instant;

use super::Vpn;
use super::testbed::Datagrams;
use super::tunnels::{PAIRS, Pace, Pairs, started};
use crate::turns::take;
use cycloid_lab::Failure;
use cycloid_lab::peers::Found;
use cycloid_lab::record::{Parameters, Table};
use cycloid_lab::suite::subjects::rounded;

/// The bytes in a datagram inside the tunnel, without the headers of UDP and IP.
const BYTES: u32 = 64;

/// The loss in percent that a rate must stay below.
const LOSS: f64 = 2.0;

/// The share of a rate that must be sent for it to count: a sender on a busy machine falls behind.
const SENT: f64 = 0.95;

/// The lowest rate in packets per second, and the ratio of each to the one before.
const LOWEST: f64 = 2_000.0;
const STEP: f64 = 1.1;

/// The number of rates; the highest is above a million.
const RATES: u32 = 68;

const WHAT: &str = "VPN: datagrams of 64 bytes through a tunnel over UDP, at the highest rate of which fewer than 2 % \
    are lost: by the tunnel, or by iperf3 itself, whose receive buffer has the size that the system \
    permits (net.core.rmem_max), up to 4 MiB. Both ends, \
    iperf3 and the kernel share the processors of this machine";

impl Vpn {
    /// Measures the rate of small packets from the client to the server.
    pub(super) fn measure_packets(
        &self,
        pace: Pace,
        peers: &[Found],
        progress: &mut dyn FnMut(f64),
    ) -> Result<Table, Failure> {
        let pairs = Pairs::new(&PAIRS[..2], peers);
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = started(&mut running)?;
        running.bring_up(false, &pairs.there)?;
        let begin = Instant::now();
        let turns = take(&pairs.there, pace.rounds, progress, |pair| {
            let tunnel = running.tunnel(false, pair);
            highest(|rate| running.testbed.datagrams(tunnel, BYTES, rate, pace.of_datagrams()))
        })?;
        let parameters = Parameters::from([
            ("transport".into(), "UDP".into()),
            ("packet_bytes".into(), BYTES.into()),
        ]);
        let group = format!("packets of {BYTES} bytes over UDP, fewer than {LOSS} % lost");
        let times = turns.map(|rate| 1e9 / rate);
        let mut table = pairs.table(group, "small packet through a tunnel", parameters, times);
        table.rounds = pace.rounds;
        table.seconds = rounded(begin.elapsed().as_secs_f64(), 2);
        table.notes = vec![WHAT.into()];
        Ok(table)
    }
}

/// Returns the highest rate, in packets per second, that is carried; at least [`LOWEST`].
fn highest(mut send: impl FnMut(f64) -> Result<Datagrams, Failure>) -> Result<f64, Failure> {
    let rate = |index: u32| LOWEST * STEP.powi(index as i32);
    // Rate `carried` is carried, and rate `failed` is not.
    let (mut carried, mut failed) = (0, RATES);
    while failed - carried > 1 {
        let middle = carried.midpoint(failed);
        let sent = send(rate(middle))?;
        if sent.per_second >= SENT * rate(middle) && sent.lost_percent < LOSS {
            carried = middle;
        } else {
            failed = middle;
        }
    }
    Ok(rate(carried))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_rate_is_found() {
        // A tunnel that carries 50,000, of a sender that reaches 200,000.
        for (most, fastest, expected) in
            [(50_000.0, 200_000.0, 50_000.0), (90_000.0, 60_000.0, 60_000.0 / SENT)]
        {
            let mut tries = 0;
            let found = highest(|rate| {
                tries += 1;
                let per_second = rate.min(fastest);
                let lost = 100.0 * (1.0 - most / per_second);
                Ok(Datagrams { per_second, lost_percent: lost.max(0.0) })
            });
            let found = found.unwrap();
            assert!(found < expected * STEP && found > expected / STEP, "{found}");
            assert!(tries <= 7, "{tries}");
        }
        let nothing = highest(|_| Ok(Datagrams { per_second: 0.0, lost_percent: 100.0 }));
        assert_eq!(nothing.unwrap(), LOWEST);
    }
}
