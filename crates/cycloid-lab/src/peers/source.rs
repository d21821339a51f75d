//! Folders that a user names for peers: `--peer-source PEER=DIR`, for a build of a library that
//! replaces the system's, or for the source of one that no package registry has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::Peer;
use crate::Failure;

/// A peer that a user can name a folder for.
#[derive(Debug)]
pub(super) struct Kind {
    peer: Peer,
    /// Its name on the command line.
    name: &'static str,
    /// The file that messages name as missing.
    lacks: &'static str,
    /// Files that identify the folder: any of them suffices.
    files: &'static [&'static str],
    /// How to get it.
    remedy: &'static str,
}

/// Where builds and installations of OpenSSL have the library.
const FILES_OF_OPENSSL: [&str; 3] =
    ["libcrypto.so.3", "lib/libcrypto.so.3", "lib64/libcrypto.so.3"];

/// The peers, in the order of the tables.
static KINDS: [Kind; 4] = [
    Kind {
        peer: Peer::OpenSsl,
        name: "openssl",
        lacks: "libcrypto.so.3",
        files: &FILES_OF_OPENSSL,
        remedy: "build OpenSSL 3 with ./Configure enable-ec_nistp_64_gcc_128 && make build_libs, and \
                 name its folder",
    },
    Kind {
        peer: Peer::Mcl,
        name: "mcl",
        lacks: "include/mcl/bls12_381.hpp",
        files: &["include/mcl/bls12_381.hpp"],
        remedy: "git clone https://github.com/herumi/mcl, then --peer-source mcl=DIR",
    },
    Kind {
        peer: Peer::Vroom,
        name: "vroom",
        lacks: "src/pairing.hpp",
        files: &["src/pairing.hpp"],
        remedy: "git clone https://github.com/SimonLangowski/VROOM, then --peer-source vroom=DIR",
    },
    Kind {
        peer: Peer::CryptoMb,
        name: "crypto-mb",
        lacks: "include/crypto_mb/x25519.h",
        files: &["include/crypto_mb/x25519.h"],
        remedy: "git clone https://github.com/intel/cryptography-primitives, then --peer-source \
                 crypto-mb=DIR/sources/ippcp/crypto_mb",
    },
];

/// A peer and its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    peer: Peer,
    folder: PathBuf,
}

/// The folders of this process.
static GIVEN: OnceLock<Vec<Source>> = OnceLock::new();

impl Source {
    /// Parses `PEER=DIR`, and checks that the folder has what the peer needs.
    ///
    /// # Errors
    /// If the peer is unknown, or the folder has other content.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let names = KINDS.each_ref().map(|kind| format!("{}=DIR", kind.name)).join(", ");
        let hint = format!(
            "use --peer-source with {names}; with --target cortex-m4, bearssl=DIR or mbedtls=DIR"
        );
        let Some((name, folder)) = text.split_once('=') else {
            return Err(Failure::new(format!("'{text}' does not name a peer and a folder"), hint));
        };
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            return Err(Failure::new(format!("no peer with a source is called '{name}'"), hint));
        };
        let lacks = || {
            let message =
                format!("no {} in '{folder}', which lacks {}", kind.peer.name(), kind.lacks);
            Failure::new(message, kind.remedy)
        };
        let folder = fs::canonicalize(folder).map_err(|_| lacks())?;
        let source = Self { peer: kind.peer, folder };
        kind.file(&source.folder).map(|_| source).ok_or_else(lacks)
    }

    /// Parses the values of all options.
    ///
    /// # Errors
    /// The first invalid value, or a peer that is named twice.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Self>, Failure> {
        let mut sources: Vec<Self> = Vec::new();
        for text in texts {
            let source = Self::parse(text)?;
            if sources.iter().any(|other| other.peer == source.peer) {
                return Err(Failure::new(
                    format!("--peer-source names {} twice", source.peer.name()),
                    "name one folder of it",
                ));
            }
            sources.push(source);
        }
        Ok(sources)
    }
}

impl Kind {
    /// Returns the file that identifies the folder.
    fn file(&self, folder: &Path) -> Option<PathBuf> {
        self.files.iter().map(|file| folder.join(file)).find(|file| file.is_file())
    }
}

/// Sets the folders of this process, before any peer is searched for.
pub fn set(sources: Vec<Source>) {
    let _ = GIVEN.set(sources);
}

/// Returns the folder of a peer, if the user named one.
pub(super) fn folder(peer: Peer) -> Option<&'static Path> {
    GIVEN.get()?.iter().find(|source| source.peer == peer).map(|source| &*source.folder)
}

/// Returns how to get a peer's source.
pub(super) fn remedy(peer: Peer) -> &'static str {
    KINDS.iter().find(|kind| kind.peer == peer).map_or("", |kind| kind.remedy)
}

/// Returns the identifying file of a peer's folder, if the user named one.
pub(super) fn file(peer: Peer) -> Option<PathBuf> {
    let kind = KINDS.iter().find(|kind| kind.peer == peer)?;
    kind.file(folder(peer)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_the_library_is_refused_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("openssl={}", folder.path().display());
        let failure = Source::parse(&text).unwrap_err();
        assert!(failure.message.starts_with("no OpenSSL in '"), "{failure}");
        assert!(failure.message.ends_with("which lacks libcrypto.so.3"), "{failure}");
        assert!(failure.hint.contains("make build_libs"), "{}", failure.hint);
        let failure = Source::parse("openssl=/nonexistent").unwrap_err();
        assert!(failure.message.ends_with("which lacks libcrypto.so.3"), "{failure}");
    }

    #[test]
    fn the_library_is_found_where_builds_and_installations_have_it() {
        for place in ["", "lib", "lib64"] {
            let folder = tempfile::tempdir().unwrap();
            let library = folder.path().join(place).join("libcrypto.so.3");
            fs::create_dir_all(library.parent().unwrap()).unwrap();
            fs::write(&library, "").unwrap();
            let source = Source::parse(&format!("openssl={}", folder.path().display())).unwrap();
            assert_eq!(source.peer, Peer::OpenSsl);
            assert_eq!(
                KINDS[0].file(&source.folder).unwrap().canonicalize().unwrap(),
                library.canonicalize().unwrap()
            );
        }
    }

    #[test]
    fn unknown_peers_and_repeated_ones_are_refused() {
        let failure = Source::parse("nss=/tmp").unwrap_err();
        assert_eq!(failure.message, "no peer with a source is called 'nss'");
        assert!(failure.hint.contains("openssl=DIR"), "{}", failure.hint);
        assert!(Source::parse("openssl").unwrap_err().message.contains("does not name"));
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("libcrypto.so.3"), "").unwrap();
        let text = format!("openssl={}", folder.path().display());
        let failure = Source::parse_all(&[text.clone(), text]).unwrap_err();
        assert_eq!(failure.message, "--peer-source names OpenSSL twice");
    }
}
