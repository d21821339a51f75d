//! The VPN: its packet engine, and whole tunnels: the description of the suite. The crate
//! `cycloid-peers` measures it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::descriptor::{Choice, Descriptor, Value};
use crate::Failure;
use crate::peers::Family;

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
            help: "Parts: engine (packets in memory), tunnels, packets (small ones), start (a \
                   client's startup), handshakes (a server's cost per client), shares (how evenly \
                   it serves many), separated by commas; all",
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
    constructors: None,
    repeat: |_| Vec::new(),
};

/// A part of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Packets in memory.
    Engine,
    /// Streams through tunnels.
    Tunnels,
    /// The highest rate of small packets.
    Packets,
    /// The time until a starting client's tunnel is up.
    Start,
    /// The cost of each client in a server.
    Handshakes,
    /// The shares of many clients of a server.
    Shares,
}

impl Part {
    /// All parts, in the order of the tables.
    pub const ALL: [Self; 6] =
        [Self::Engine, Self::Tunnels, Self::Packets, Self::Start, Self::Handshakes, Self::Shares];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Tunnels => "tunnels",
            Self::Packets => "packets",
            Self::Start => "start",
            Self::Handshakes => "handshakes",
            Self::Shares => "shares",
        }
    }
}

/// The first message of a process that keeps namespaces and keys.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Namespaces {
    /// A directory that is removed at the end, with `pki/gate.conf` and `pki/alice.ovpn` in it.
    pub directory: PathBuf,
    /// The server's namespace and the client's, at 10.99.0.1 and 10.99.0.2.
    pub namespaces: [String; 2],
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_parts() {
        assert_eq!(parts_from_list("all").unwrap(), Part::ALL);
        assert_eq!(parts_from_list("start, engine").unwrap(), [Part::Start, Part::Engine]);
        for list in ["", "engine,", "x"] {
            assert!(parts_from_list(list).is_err(), "{list}");
        }
    }
}
