//! An unreliable network in simulated time.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Dice;

/// Probabilities of faults, per mille.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weather {
    pub(crate) loss: u64,
    pub(crate) repeat: u64,
    pub(crate) delay: u64,
    pub(crate) corrupt: u64,
    pub(crate) cut: u64,
}

impl Weather {
    pub(crate) const FAIR: Self = Self { loss: 0, repeat: 0, delay: 0, corrupt: 0, cut: 0 };
    pub(crate) const ROUGH: Self =
        Self { loss: 100, repeat: 100, delay: 200, corrupt: 50, cut: 50 };
}

/// Packets in flight to `To`.
pub(crate) struct Network<To> {
    weather: Weather,
    flight: BTreeMap<(Duration, u64), (To, Vec<u8>)>,
    count: u64,
    /// All packets ever sent, if recorded.
    pub(crate) record: Option<Vec<(To, Vec<u8>)>>,
}

impl<To: Clone> Network<To> {
    pub(crate) fn new(weather: Weather) -> Self {
        Self { weather, flight: BTreeMap::new(), count: 0, record: None }
    }

    pub(crate) fn send(&mut self, now: Duration, to: To, packet: &[u8], dice: &mut Dice) {
        if let Some(record) = &mut self.record {
            record.push((to.clone(), packet.to_vec()));
        }
        let weather = self.weather;
        let copies = if dice.happens(weather.loss) {
            0
        } else if dice.happens(weather.repeat) {
            2
        } else {
            1
        };
        for _ in 0..copies {
            let mut packet = packet.to_vec();
            if dice.happens(weather.corrupt) && !packet.is_empty() {
                let at = dice.below(packet.len() as u64) as usize;
                packet[at] ^= 1 << dice.below(8);
            }
            if dice.happens(weather.cut) {
                packet.truncate(dice.below(packet.len() as u64 + 1) as usize);
            }
            let delay = if dice.happens(weather.delay) { dice.below(500) } else { 0 };
            let arrival = now + Duration::from_millis(10 + delay);
            self.count += 1;
            self.flight.insert((arrival, self.count), (to.clone(), packet));
        }
    }

    /// Changes the fault probabilities.
    pub(crate) fn change(&mut self, weather: Weather) {
        self.weather = weather;
    }

    /// Loses all packets in flight.
    pub(crate) fn lose_flight(&mut self) {
        self.flight.clear();
    }

    /// Returns the arrival time of the next packet.
    pub(crate) fn next_arrival(&self) -> Option<Duration> {
        self.flight.keys().next().map(|(time, _)| *time)
    }

    /// Returns a packet that has arrived by now.
    pub(crate) fn arrived(&mut self, now: Duration) -> Option<(To, Vec<u8>)> {
        let key = *self.flight.keys().next().filter(|(time, _)| *time <= now)?;
        self.flight.remove(&key)
    }
}
