//! The VPN: its packet engine in memory, compared with the bare ciphers, and whole tunnels,
//! compared with OpenVPN's in the same network namespaces.

mod engine;
mod handshakes;
mod packets;
mod shares;
mod testbed;
#[cfg(test)]
mod tests;
mod tunnels;
mod wire_guard;

use std::sync::Mutex;
use std::time::Duration;

use cycloid_lab::Failure;
use cycloid_lab::peers::Found;
use cycloid_lab::suite::vpn::{DESCRIPTOR, Part, parts_from_list};
use cycloid_lab::suite::{self, Constructors, Descriptor, Effort, Plan, Suite};
use cycloid_vpn::bench::{CIPHERS, Shape};

use engine::{Engine, Work};
use tunnels::{PAIRS, Pace, Running};

/// The constructors of the suite.
pub const CONSTRUCTORS: Constructors = Constructors {
    chosen: |chosen, _| {
        let mut suite = Vpn::new(chosen.defaulted("part", parts_from_list)?);
        suite.rounds = chosen.number("rounds").map(|rounds| rounds as usize);
        suite.seconds = chosen.number("seconds");
        Ok(Box::new(suite))
    },
    usual: |_| Ok(Box::new(Vpn::new(Part::ALL.into()))),
    // Packets in memory need no other process.
    alone: Some(|_| Box::new(Vpn::new(vec![Part::Engine]))),
};

/// The choice of VPN measurements.
pub struct Vpn {
    /// The parts.
    pub parts: Vec<Part>,
    /// The number of rounds, if other than the default for the effort.
    pub rounds: Option<usize>,
    /// The duration of a stream in seconds, if other than the default.
    pub seconds: Option<u32>,
    /// The reason for omitting tunnels, if they are omitted.
    left_out: Option<Failure>,
    /// The running processes, from the first table on.
    running: Mutex<Option<Running>>,
}

impl Vpn {
    /// Selects these parts. Omits tunnels if this machine cannot create them, and
    /// [`left_out`](Suite::left_out) then returns the reason.
    pub fn new(parts: Vec<Part>) -> Self {
        let tunnels = parts.iter().any(|part| *part != Part::Engine);
        Self {
            left_out: if tunnels { testbed::possible().err() } else { None },
            parts,
            rounds: None,
            seconds: None,
            running: Mutex::default(),
        }
    }

    fn engines(&self, effort: Effort) -> Vec<Engine> {
        let (ciphers, shapes): (usize, &[Shape]) = match effort {
            Effort::Quick => (2, &[Shape::Packets(1400)]),
            Effort::Plain => (2, &[Shape::Packets(64), Shape::Packets(1400), Shape::SuperPacket]),
            Effort::Full => (
                CIPHERS.len(),
                &[
                    Shape::Packets(64),
                    Shape::Packets(512),
                    Shape::Packets(1400),
                    Shape::SuperPacket,
                ],
            ),
        };
        let shapes_of = |cipher| shapes.iter().map(move |shape| (cipher, *shape));
        let engines = CIPHERS.into_iter().take(ciphers).flat_map(shapes_of);
        engines
            .flat_map(|(cipher, shape)| Work::ALL.map(|work| Engine { cipher, shape, work }))
            .collect()
    }
}

impl Suite for Vpn {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn left_out(&self) -> Option<(&'static str, &Failure)> {
        self.left_out.as_ref().map(|failure| ("tunnels", failure))
    }

    fn plan<'a>(&'a self, effort: Effort, peers: &'a [Found]) -> Vec<Plan<'a>> {
        let mut plans: Vec<Plan<'a>> = Vec::new();
        if self.parts.contains(&Part::Engine) {
            let time = match effort {
                Effort::Quick => 0.1,
                Effort::Plain => 0.25,
                Effort::Full => 2.0,
            };
            let time = Duration::from_secs_f64(time);
            plans.extend(self.engines(effort).into_iter().map(|engine| Plan {
                title: format!("{}: {}", engine.cipher.name(), engine.name()),
                time,
                work: suite::Work::Subjects(Box::new(move || {
                    engine.prepare(time, peers, self.left_out.as_ref())
                })),
            }));
        }
        if self.left_out.is_some() {
            return plans;
        }
        let pace = Pace::of(effort, self.rounds, self.seconds);
        // Cycloid at only one end is for users who replace one end first.
        let pairs = move |tcp: bool| match effort {
            Effort::Quick => 2,
            Effort::Plain if tcp => 2,
            // The last pair supports only UDP.
            _ if tcp => PAIRS.len() - 1,
            _ => PAIRS.len(),
        };
        let ways: &[(bool, bool)] = match effort {
            Effort::Quick => &[(false, true)],
            Effort::Plain => &[(false, true), (true, true)],
            Effort::Full => &[(false, true), (false, false), (true, true), (true, false)],
        };
        if self.parts.contains(&Part::Tunnels) {
            plans.extend(ways.iter().map(|(tcp, up)| Plan {
                title: tunnels::title(*tcp, *up),
                time: pace.of_streams(pairs(*tcp)),
                work: suite::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_streams(*tcp, *up, pairs(*tcp), pace, peers, progress)
                })),
            }));
        }
        if self.parts.contains(&Part::Packets) && effort != Effort::Quick {
            plans.push(Plan {
                title: "small packets".into(),
                time: pace.of_rates(),
                work: suite::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_packets(pace, peers, progress)
                })),
            });
        }
        if self.parts.contains(&Part::Start) && effort != Effort::Quick {
            plans.push(Plan {
                title: "start of a client".into(),
                time: pace.of_starts(),
                work: suite::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_starts(pace, peers, progress)
                })),
            });
        }
        if self.parts.contains(&Part::Handshakes) && effort != Effort::Quick {
            let clients = if effort == Effort::Full { 1000 } else { 300 };
            plans.push(Plan {
                title: "clients that connect".into(),
                time: pace.of_many_clients(clients),
                work: suite::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_handshakes(clients, pace, peers, progress)
                })),
            });
        }
        if self.parts.contains(&Part::Shares) && effort != Effort::Quick {
            let clients = if effort == Effort::Full { 1000 } else { 300 };
            plans.push(Plan {
                title: "shares of clients".into(),
                time: pace.of_many_clients(clients) + pace.of_exchanges(),
                work: suite::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_shares(clients, pace, peers, progress)
                })),
            });
        }
        plans
    }
}
