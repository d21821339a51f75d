//! The limit of answered initial packets.
//!
//! The source of an initial packet may be forged, so a server could be made to send answers to
//! somebody else. The limit applies to each network, which protects it, and leaves the others
//! alone. It does not apply to an address that has returned a cookie: its owner asks for the
//! answers.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::proto::cookie::CookieKey;
use crate::proto::{Error, Now};

/// The number of counters. Networks that share one share their limit; which do is secret.
const COUNTERS: usize = 4096;

/// How long an address that has returned a cookie is remembered, and how many such addresses.
const PROOF_TIME: Duration = Duration::from_secs(3600);
const MAX_PROVEN: usize = 4096;

/// The numbers of answered initial packets in the current period, and the addresses without a
/// limit.
#[derive(Default)]
pub(super) struct InitialRate {
    since: Duration,
    /// Empty until the first packet.
    counts: Vec<u32>,
    /// The time of each address's last cookie.
    proven: HashMap<IpAddr, Duration>,
}

impl InitialRate {
    /// Counts an initial packet. Fails if it must not be answered.
    pub(super) fn allow(
        &mut self,
        now: Now,
        key: &CookieKey,
        from: IpAddr,
        (limit, period): (u32, Duration),
    ) -> Result<(), Error> {
        if self.proven.get(&from).is_some_and(|at| now.monotonic < *at + PROOF_TIME) {
            return Ok(());
        }
        if now.monotonic >= self.since + period {
            self.since = now.monotonic;
            self.counts.clear();
        }
        self.counts.resize(COUNTERS, 0);
        let count = &mut self.counts[counter(key, from)];
        if *count >= limit {
            return Err(Error::Unexpected("too many initial packets in a short time"));
        }
        *count += 1;
        Ok(())
    }

    /// Records that this address has returned a cookie. The answer that carried it does not count:
    /// its receiver has asked for it.
    pub(super) fn prove(&mut self, now: Now, key: &CookieKey, address: IpAddr) {
        if self.proven.insert(address, now.monotonic).is_some() {
            return;
        }
        if let Some(count) = self.counts.get_mut(counter(key, address)) {
            *count = count.saturating_sub(1);
        }
        if self.proven.len() > MAX_PROVEN {
            let oldest = self.proven.iter().min_by_key(|(_, at)| **at).map(|(address, _)| *address);
            oldest.map(|address| self.proven.remove(&address));
        }
    }
}

/// Returns the counter of an address's network.
fn counter(key: &CookieKey, address: IpAddr) -> usize {
    key.fingerprint(network(address)) as usize % COUNTERS
}

/// Returns the network of an address: what one site usually has, 24 bits of IPv4 and 48 of IPv6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4((address.to_bits() & !0xff).into()),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 80 << 80).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Now {
        Now { monotonic: Duration::from_secs(seconds), unix: 0 }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_uses_up_only_its_own_limit() {
        let key = CookieKey::generate(&mut |bytes| bytes.fill(7));
        let allow = |rate: &mut InitialRate, seconds, from| {
            rate.allow(at(seconds), &key, address(from), (5, Duration::from_secs(10))).is_ok()
        };
        for (first, second, other) in [
            ("192.0.2.1", "192.0.2.77", "192.0.3.1"),
            ("2001:db8::1", "2001:db8:0:7::1", "2001:db8:1::1"),
        ] {
            let mut rate = InitialRate::default();
            let answered = (0..10).filter(|n| allow(&mut rate, 1, [first, second][n % 2])).count();
            assert_eq!(answered, 5);
            assert!(allow(&mut rate, 2, other));
            assert!(allow(&mut rate, 11, first), "the next period");
        }
    }

    #[test]
    fn an_address_that_has_returned_a_cookie_has_no_limit_for_an_hour() {
        let key = CookieKey::generate(&mut |bytes| bytes.fill(7));
        let (mut rate, limit) = (InitialRate::default(), (1, Duration::from_secs(10)));
        let allow = |rate: &mut InitialRate, seconds, from| {
            rate.allow(at(seconds), &key, address(from), limit).is_ok()
        };
        assert!(allow(&mut rate, 1, "192.0.2.1") && !allow(&mut rate, 1, "192.0.2.2"));
        // The returned cookie gives the answer back to the network.
        rate.prove(at(1), &key, address("192.0.2.1"));
        assert!((0..100).all(|_| allow(&mut rate, 2, "192.0.2.1")));
        assert!(allow(&mut rate, 2, "192.0.2.2") && !allow(&mut rate, 2, "192.0.2.3"));
        assert!(allow(&mut rate, 3700, "192.0.2.1") && !allow(&mut rate, 3700, "192.0.2.1"));
        // The number of such addresses is bounded; the one that was proven first is forgotten.
        for number in 0..2 * MAX_PROVEN as u32 {
            let own = Now { monotonic: Duration::from_millis(number.into()), unix: 0 };
            rate.prove(own, &key, IpAddr::V4((0x0a00_0000 + number).into()));
        }
        assert_eq!(rate.proven.len(), MAX_PROVEN);
        assert!(rate.proven.contains_key(&address("10.0.31.255")));
        assert!(!rate.proven.contains_key(&address("10.0.0.0")));
    }
}
