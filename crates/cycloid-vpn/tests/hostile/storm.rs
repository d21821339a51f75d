//! Runs two cores over a network that loses, duplicates, delays, corrupts and truncates packets,
//! with many seeds.
//!
//! `CYCLOID_VPN_SEEDS` sets the number of seeds, shared among the kinds of protection. A failure
//! reports its seed; `CYCLOID_VPN_SEED` runs a single one. TLS draws its own random numbers, so
//! runs with the same seed are similar but not identical.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use cycloid_vpn::proto::Error;
use cycloid_vpn::proto::client::{ClientEnd, ClientSettings};
use cycloid_vpn::proto::data::Cipher;
use cycloid_vpn::proto::server::{ServerEnd, ServerSettings};

use crate::support::Dice;
use crate::support::authority::Authority;
use crate::support::network::Weather;
use crate::support::simulation::{World, now};
use crate::{KINDS, Kind};

/// The results of a storm.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    connections: u64,
    keys: u64,
    delivered: u64,
}

#[test]
fn nothing_but_time_is_lost_on_a_hostile_network() {
    let number = |name| std::env::var(name).ok().map(|it| it.parse::<u64>().expect("a number"));
    let seeds = match number("CYCLOID_VPN_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CYCLOID_VPN_SEEDS").unwrap_or(SEEDS),
    };
    let authority = Authority::new("authority");
    let prepared = KINDS.map(|kind| kind.settings(&authority, 1));
    let next = AtomicU64::new(seeds.start);
    let totals: Vec<Tally> = std::thread::scope(|scope| {
        let work = || {
            let mut total = Tally::default();
            loop {
                let seed = next.fetch_add(1, Relaxed);
                if seed >= seeds.end {
                    return total;
                }
                let index = seed as usize % KINDS.len();
                let (client, server) = &prepared[index];
                let tally = catch_unwind(AssertUnwindSafe(|| {
                    Storm::new(seed, KINDS[index], client, server).run()
                }));
                let Ok(tally) = tally else { panic!("seed {seed}, {:?}", KINDS[index]) };
                total.connections += tally.connections;
                total.keys += tally.keys;
                total.delivered += tally.delivered;
            }
        };
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.map(|thread| thread.join().expect("see above")).to_vec()
    });
    let sum = |of: fn(&Tally) -> u64| totals.iter().map(of).sum::<u64>();
    let (connections, keys) = (sum(|it| it.connections), sum(|it| it.keys));
    let (delivered, count) = (sum(|it| it.delivered), seeds.end - seeds.start);
    eprintln!("{count} storms: {connections} connections, {keys} keys, {delivered} packets");
    // The storms must be neither so bad that nothing passes nor so mild that nothing happens.
    assert!(connections >= count && delivered >= 20 * count && keys > count);
}

const SEEDS: u64 = 200;

struct Storm {
    kind: Kind,
    world: World,
    client: ClientSettings,
    sent: [u32; 2],
    seen: [HashSet<u32>; 2],
    tally: Tally,
}

/// Directions of packets.
const TO_SERVER: usize = 0;
const TO_CLIENT: usize = 1;

impl Storm {
    fn new(seed: u64, kind: Kind, client: &ClientSettings, server: &ServerSettings) -> Self {
        let mut dice = Dice(!seed);
        let weather = Weather {
            loss: dice.below(250),
            repeat: dice.below(250),
            delay: dice.below(400),
            corrupt: dice.below(120),
            cut: dice.below(80),
        };
        let (mut client, mut server) = (client.clone(), server.clone());
        let ciphers = [Cipher::Aes256Gcm, Cipher::Aes128Gcm, Cipher::ChaCha20Poly1305];
        client.ciphers = vec![ciphers[dice.below(3) as usize]];
        for timing in [&mut client.timing, &mut server.timing] {
            timing.handshake = Duration::from_secs(60);
            timing.renegotiate_after = Duration::from_secs(1 + dice.below(15));
            timing.transition = Duration::from_secs(1 + dice.below(10));
            timing.renegotiate_packets = dice.below(2) * 50;
            timing.ping = Duration::from_secs(3);
            timing.silence = Duration::from_secs(60);
        }
        let world = World::new(seed, weather, client.clone(), server);
        let seen = [HashSet::new(), HashSet::new()];
        Self { kind, world, client, sent: [0; 2], seen, tally: Tally::default() }
    }

    fn run(mut self) -> Tally {
        self.connect();
        for _ in 0..30 {
            for _ in 0..self.world.dice.below(4) {
                self.send();
            }
            self.world.run_until(Duration::from_secs(1), |_| false);
            self.collect();
            if self.world.client_side.end.is_some() {
                self.connect();
            }
        }
        self.calm();
        self.tally
    }

    /// Reconnects until it succeeds, like the client program.
    fn connect(&mut self) {
        for attempt in 0..100 {
            if self.tally.connections > 0 || attempt > 0 {
                self.collect();
                self.tally.keys += u64::from(self.world.client_side.path.keys_installed);
                self.world.reconnect(self.client.clone());
            }
            let connected = self.world.connect();
            self.check_ends();
            if connected {
                self.tally.connections += 1;
                return;
            }
        }
        panic!("no connection in a hundred attempts");
    }

    /// Sends a unique packet in each direction.
    fn send(&mut self) {
        let length = 4 + self.world.dice.below(1400) as usize;
        let inner = |number: u32| {
            let mut inner = vec![number as u8; length];
            inner[..4].copy_from_slice(&number.to_be_bytes());
            inner
        };
        self.world.client_sends(&inner(self.sent[TO_SERVER]));
        self.sent[TO_SERVER] += 1;
        let peer = self.world.peer();
        self.world.server_sends(peer, &inner(self.sent[TO_CLIENT]));
        self.sent[TO_CLIENT] += 1;
    }

    /// Checks that every received packet was sent, is intact, and arrives once.
    fn collect(&mut self) {
        let mut arrived = vec![(TO_CLIENT, std::mem::take(&mut self.world.client_side.path.inbox))];
        for path in self.world.server_side.paths.values_mut() {
            arrived.push((TO_SERVER, std::mem::take(&mut path.inbox)));
        }
        for (direction, packets) in arrived {
            for packet in packets {
                let (number, rest) = packet.split_first_chunk().expect("a number");
                let number = u32::from_be_bytes(*number);
                assert!(number < self.sent[direction], "{number} was never sent");
                assert!(rest.iter().all(|byte| *byte == number as u8), "{number} was changed");
                assert!(self.seen[direction].insert(number), "{number} came twice");
                self.tally.delivered += 1;
            }
        }
        self.check_ends();
    }

    /// If packets are authenticated before TLS, a connection can only fail by timeout.
    fn check_ends(&self) {
        if self.kind == Kind::Plain {
            return;
        }
        if let Some(end) = &self.world.client_side.end {
            assert!(matches!(end, ClientEnd::Failed(Error::TimedOut(_))), "{end:?}");
        }
        for (_, end) in &self.world.server_side.ended {
            assert!(matches!(end, ServerEnd::Failed(Error::TimedOut(_))), "{end:?}");
        }
    }

    /// After the storm every packet arrives, under this key and the next.
    fn calm(&mut self) {
        self.world.network.change(Weather::FAIR);
        self.world.run_until(Duration::from_secs(70), |world| world.client_side.end.is_some());
        self.collect();
        let gone = |world: &World| {
            world.client_side.end.is_some() || !world.server_side.paths.contains_key(&world.peer())
        };
        if gone(&self.world) {
            self.connect();
        }
        for _ in 0..2 {
            let before = [self.seen[TO_SERVER].len(), self.seen[TO_CLIENT].len()];
            for _ in 0..5 {
                self.send();
                self.world.run_until(Duration::from_millis(100), |_| false);
            }
            self.collect();
            for direction in [TO_SERVER, TO_CLIENT] {
                assert_eq!(self.seen[direction].len(), before[direction] + 5, "lost in calm");
            }
            let moment = now(self.world.time);
            let World { dice, client, client_side, .. } = &mut self.world;
            let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
            client.renegotiate(moment, random, client_side).expect("begun");
            self.world.run_until(Duration::from_secs(3), |_| false);
        }
        self.tally.keys += u64::from(self.world.client_side.path.keys_installed);
    }
}
