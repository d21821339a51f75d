//! The libraries beside this one, which the program of operations contains.

use crate::Failure;
use crate::emulated::plan::Planned;
use crate::record::{self, Missing};

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// graviola.
    Graviola,
    /// AWS-LC.
    AwsLc,
    /// blst.
    Blst,
}

impl Peer {
    /// All of them, in the order of the rows.
    pub const ALL: [Self; 3] = [Self::Graviola, Self::AwsLc, Self::Blst];

    /// Parses `all`, `none`, or a list of names separated by commas.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn from_list(list: &str) -> Result<Vec<Self>, Failure> {
        match list {
            "all" => return Ok(Self::ALL.into()),
            "none" => return Ok(Vec::new()),
            _ => (),
        }
        let of_name = |name: &str| {
            Self::ALL.into_iter().find(|peer| peer.argument() == name.trim()).ok_or_else(|| {
                let known = Self::ALL.map(Self::argument).join(", ");
                let message = format!("no peer for {} is called '{name}'", super::NAME);
                Failure::new(message, format!("use all, none, or a list of {known}"))
            })
        };
        list.split(',').map(of_name).collect()
    }

    /// Returns its name in records.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Graviola => "graviola",
            Self::AwsLc => "AWS-LC",
            Self::Blst => "blst",
        }
    }

    /// Returns its name in the program's arguments and features, and on the command line.
    pub(super) const fn argument(self) -> &'static str {
        match self {
            Self::Graviola => "graviola",
            Self::AwsLc => "aws-lc",
            Self::Blst => "blst",
        }
    }

    /// Returns the packages of its versions.
    const fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Graviola => &["graviola"],
            Self::AwsLc => &["aws-lc-rs", "aws-lc-sys"],
            Self::Blst => &["blst"],
        }
    }

    /// Returns whether it has the operation of a table.
    pub(super) fn is_in(self, table: &Planned) -> bool {
        table.peers.contains(&self.name())
    }

    /// Returns its version in the text of the crate's `Cargo.lock`.
    pub(super) fn version(self, locked: &str) -> String {
        let of_package = |name: &&'static str| {
            let (_, rest) = locked.split_once(&format!("name = \"{name}\"\nversion = \""))?;
            Some((*name, rest.split_once('"')?.0))
        };
        let versions: Vec<(&str, &str)> = self.packages().iter().filter_map(of_package).collect();
        match versions[..] {
            [] => "of unknown version".into(),
            [(_, version)] => version.into(),
            [(_, version), (below, other), ..] => format!("{version} ({below} {other})"),
        }
    }

    /// Returns its entry of a record, from the versions of those that were measured.
    pub(super) fn record(self, measured: &[(&str, String)]) -> record::Peer {
        let version = measured.iter().find(|(name, _)| *name == self.name());
        let version = version.map(|(_, version)| version.clone());
        let missing = version.is_none().then(|| Missing {
            reason: "it was not asked for".into(),
            remedy: format!("--peers {}", self.argument()),
        });
        record::Peer { name: self.name().into(), version, missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_named() {
        assert_eq!(Peer::from_list("all").unwrap(), Peer::ALL);
        assert_eq!(Peer::from_list("none").unwrap(), []);
        assert_eq!(Peer::from_list("aws-lc, blst").unwrap(), [Peer::AwsLc, Peer::Blst]);
        let failure = Peer::from_list("openssl").unwrap_err();
        assert_eq!(failure.message, "no peer for aarch64 is called 'openssl'");
        assert_eq!(failure.hint, "use all, none, or a list of graviola, aws-lc, blst");
    }

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let locked = include_str!("../../../../cycloid-aarch64/Cargo.lock");
        for peer in Peer::ALL {
            let version = peer.version(locked);
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{version}");
        }
        assert!(Peer::AwsLc.version(locked).contains(" (aws-lc-sys 0."));
        assert_eq!(Peer::Blst.version(""), "of unknown version");
    }
}
