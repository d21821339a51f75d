//! Programs that use OpenSSL, with the provider and without: the description of the suite. The crate
//! `cycloid-peers` measures it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::descriptor::{Choice, Descriptor, Value};
use super::repeat::{numbers, option};
use crate::Failure;
use crate::peers::Family;

/// The description of the suite.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "openssl",
    title: "OpenSSL's programs",
    about: "OpenSSL's programs: `openssl speed` and HAProxy, with Cycloid's provider and without",
    examples: "",
    family: Family::Provider,
    options: &[Choice {
        name: "clients",
        help: "Numbers of clients of HAProxy, 1 to 256, separated by commas [default: 64, with \
               --full 1,8,64]",
        value: Value::Text("LIST"),
    }],
    constructors: None,
    repeat: |tables| option("clients", numbers(tables, "clients")).into_iter().collect(),
};

/// Programs that run in one temporary directory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Programs {
    /// The files in the directory: names and contents.
    pub files: Vec<(String, String)>,
    /// The programs.
    pub programs: Vec<Program>,
}

/// A program with its arguments and environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Its name or path.
    pub name: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that it gets besides those of the lab.
    pub environment: Vec<(String, String)>,
}

/// The first message of a process that keeps [`Programs`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Running {
    /// The directory, which is removed at the end.
    pub directory: PathBuf,
    /// The process IDs, in the order of the programs.
    pub processes: Vec<u32>,
}

/// Parses numbers of clients, 1 to 256, separated by commas.
///
/// # Errors
/// The first invalid item.
pub fn clients_from_list(list: &str) -> Result<Vec<usize>, Failure> {
    let number = |text: &str| {
        text.trim().parse().ok().filter(|number| (1..=256).contains(number)).ok_or_else(|| {
            Failure::new(
                format!("'{text}' is not a number of clients"),
                "--clients takes numbers from 1 to 256, separated by commas",
            )
        })
    };
    list.split(',').map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_clients() {
        assert_eq!(clients_from_list("1, 16").unwrap(), [1, 16]);
        for list in ["0", "257", "x", ""] {
            let failure = clients_from_list(list).unwrap_err();
            assert_eq!(failure.message, format!("'{list}' is not a number of clients"));
        }
    }
}
