//! Measures how a server divides its time among many clients that all want more than they get.

use serde::Deserialize;

use super::Vpn;
use super::handshakes::{AT_ONCE, SERVERS};
use super::testbed::{Testbed, Who, failed};
use super::tunnels::Pace;
use cycloid_lab::Failure;
use cycloid_lab::measure::statistics;
use cycloid_lab::peers::Found;
use cycloid_lab::process::Process;
use cycloid_lab::record::{Parameters, Table};

/// The distance from the mean at which a share counts as unfair.
const FAR: f64 = 0.2;

const WHAT: &str = "VPN: round trips of 64 bytes between clients and the server's address in the tunnel, all clients \
    together. Each keeps four packets in flight over UDP, so all want more than they get. A share is the \
    number of a client's round trips in proportion to the mean; shares are medians of the rounds";

/// A client process's message.
#[derive(Deserialize)]
struct Message {
    answers: Vec<u64>,
}

/// The result of an exchange.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    /// Round trips per second, of all clients.
    rate: f64,
    shares: Shares,
}

/// The shares of the clients, in proportion to the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    least: f64,
    most: f64,
    /// The part of the clients whose share is within [`FAR`] of the mean.
    fair: f64,
}

impl Shares {
    /// Returns `None` without an answer.
    fn of(answers: &[u64]) -> Option<Self> {
        let mean = answers.iter().sum::<u64>() as f64 / answers.len() as f64;
        if answers.is_empty() || mean <= 0.0 {
            return None;
        }
        let shares = || answers.iter().map(|count| *count as f64 / mean);
        let fair = shares().filter(|share| (share - 1.0).abs() <= FAR).count();
        Some(Self {
            least: shares().fold(f64::INFINITY, f64::min),
            most: shares().fold(0.0, f64::max),
            fair: fair as f64 / answers.len() as f64,
        })
    }
}

impl Vpn {
    /// Measures the shares of this many clients in each server.
    pub(super) fn measure_shares(
        &self,
        clients: usize,
        pace: Pace,
        peers: &[Found],
        progress: &mut dyn FnMut(f64),
    ) -> Result<Table, Failure> {
        let seconds = pace.of_exchange();
        let measure = |testbed: &mut Testbed, who| exchange(testbed, who, clients, seconds);
        self.servers_in_turns(pace, peers, progress, measure, |pairs, turns| {
            let notes = pairs.there.iter().zip(&turns.of).map(|(pair, exchanges)| {
                let median = |value: fn(&Shares) -> f64| {
                    let values: Vec<f64> = exchanges.iter().map(|it| value(&it.shares)).collect();
                    statistics::median(&values)
                };
                format!(
                    "{}: shares of {clients} clients from {:.2} to {:.2} of the mean, {:.1} % of them within {:.0} %",
                    SERVERS[*pair].0,
                    median(|shares| shares.least),
                    median(|shares| shares.most),
                    100.0 * median(|shares| shares.fair),
                    100.0 * FAR,
                )
            });
            let notes = [WHAT.to_owned()].into_iter().chain(notes).collect();
            let parameters = Parameters::from([
                ("transport".into(), "UDP".into()),
                ("clients".into(), clients.into()),
                ("packet_bytes".into(), 64.into()),
            ]);
            let group = format!("round trips of {clients} clients at once");
            let times = turns.map(|exchange| 1e9 / exchange.rate);
            let mut table = pairs.table(group, "round trip of a client", parameters, times);
            table.notes = notes;
            table
        })
    }
}

fn exchange(
    testbed: &mut Testbed,
    who: Who,
    clients: usize,
    seconds: u32,
) -> Result<Exchange, Failure> {
    let (_server, profile) = testbed.server(who)?;
    let line = format!(
        "{} crowd {} --count {clients} --at-once {AT_ONCE} --exchange {seconds}",
        testbed.program.display(),
        profile.display()
    );
    let mut process =
        Process::start(&mut testbed.command(1, &line)).map_err(|said| failed(&said))?;
    let Message { answers } = process.hear().map_err(|said| failed(&said))?;
    let shares = Shares::of(&answers).ok_or_else(|| failed("the server has answered nothing"))?;
    let total: u64 = answers.iter().sum();
    Ok(Exchange { rate: total as f64 / f64::from(seconds), shares })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_in_proportion_to_the_mean() {
        assert_eq!(Shares::of(&[5; 10]), Some(Shares { least: 1.0, most: 1.0, fair: 1.0 }));
        assert_eq!(
            Shares::of(&[50, 100, 100, 150]),
            Some(Shares { least: 0.5, most: 1.5, fair: 0.5 })
        );
        assert_eq!(Shares::of(&[]), None);
        assert_eq!(Shares::of(&[0, 0]), None);
    }
}
