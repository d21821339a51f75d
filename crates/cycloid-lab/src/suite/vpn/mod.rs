//! The VPN: its packet engine in memory, compared with the bare ciphers, and whole tunnels,
//! compared with OpenVPN's in the same network namespaces.

mod engine;
mod handshakes;
mod testbed;
#[cfg(test)]
mod tests;
mod tunnels;
mod wire_guard;

use std::sync::Mutex;
use std::time::Duration;

use cycloid_vpn::bench::{CIPHERS, Shape};

use super::descriptor::{Choice, Descriptor, Value};
use super::{Effort, Plan, Suite};
use crate::Failure;
use crate::peers::{Family, Found};
use engine::{Engine, Work};
pub use handshakes::Gathered;
pub use testbed::Namespaces;
use tunnels::{PAIRS, Pace, Running};

/// A part of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Packets in memory.
    Engine,
    /// Streams through tunnels.
    Tunnels,
    /// The time until a starting client's tunnel is up.
    Start,
    /// The cost of each client in a server.
    Handshakes,
}

impl Part {
    /// All parts, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Engine, Self::Tunnels, Self::Start, Self::Handshakes];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Tunnels => "tunnels",
            Self::Start => "start",
            Self::Handshakes => "handshakes",
        }
    }
}

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "vpn",
    title: "VPN",
    about: "The VPN: packets in memory and, as root, whole tunnels next to OpenVPN's",
    examples: "",
    family: Family::Vpn,
    options: &[
        Choice {
            name: "part",
            help: "Parts: engine (packets in memory), tunnels, start (a client's startup), \
                   handshakes (a server's cost per client), separated by commas; all",
            value: Value::Default("LIST", "all"),
        },
        Choice {
            name: "rounds",
            help: "Number of rounds of each tunnel [default: 3, with --full 9]",
            value: Value::Number("COUNT", 100),
        },
        Choice {
            name: "seconds",
            help: "Duration of a stream in seconds [default: 1, with --full 5]",
            value: Value::Number("SECONDS", 600),
        },
    ],
    chosen: |chosen, _| {
        let mut suite = Vpn::new(chosen.defaulted("part", Vpn::parts_from_list)?);
        suite.rounds = chosen.number("rounds").map(|rounds| rounds as usize);
        suite.seconds = chosen.number("seconds");
        Ok(Box::new(suite))
    },
    usual: |_| Ok(Box::new(Vpn::new(Part::ALL.into()))),
    // Packets in memory need no other process.
    alone: Some(|_| Box::new(Vpn::new(vec![Part::Engine]))),
    repeat: |_| Vec::new(),
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

    /// Parses a list of parts: `all`, or names separated by commas.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn parts_from_list(list: &str) -> Result<Vec<Part>, Failure> {
        if list == "all" {
            return Ok(Part::ALL.into());
        }
        let part = |name: &str| {
            Part::ALL.into_iter().find(|part| part.name() == name.trim()).ok_or_else(|| {
                let names = Part::ALL.map(Part::name).join(", ");
                Failure::new(
                    format!("no part is called '{name}'"),
                    format!("--part takes {names}, separated by commas, or all"),
                )
            })
        };
        list.split(',').map(part).collect()
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
                work: super::Work::Subjects(Box::new(move || {
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
                work: super::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_streams(*tcp, *up, pairs(*tcp), pace, peers, progress)
                })),
            }));
        }
        if self.parts.contains(&Part::Start) && effort != Effort::Quick {
            plans.push(Plan {
                title: "start of a client".into(),
                time: pace.of_starts(),
                work: super::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_starts(pace, peers, progress)
                })),
            });
        }
        if self.parts.contains(&Part::Handshakes) && effort != Effort::Quick {
            let clients = if effort == Effort::Full { 1000 } else { 300 };
            plans.push(Plan {
                title: "clients that connect".into(),
                time: pace.of_many_clients(clients),
                work: super::Work::Itself(Box::new(move |progress: &mut dyn FnMut(f64)| {
                    self.measure_handshakes(clients, pace, peers, progress)
                })),
            });
        }
        plans
    }
}
