//! Libraries in C beside this one on the emulated processor: compiled from a folder with their
//! source that the user names.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{BUILT, PROCESSOR};
use crate::Failure;
use crate::emulated::tools::compiled;
use crate::record::{self, Missing};

/// The compiler, and Debian's packages with it and its C library.
pub(super) const COMPILER: &str = "arm-none-eabi-gcc";
const PACKAGES: &str = "gcc-arm-none-eabi libnewlib-arm-none-eabi";

/// How it compiles: -Os is slower with both libraries.
pub(super) const OPTIMISATION: &str = "-O2";

/// A library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// BearSSL.
    BearSsl,
    /// mbed TLS, 2.28.
    MbedTls,
}

/// A library and the folder with its source.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) peer: Peer,
    folder: PathBuf,
    version: String,
}

impl Peer {
    /// All of them, in the order of the rows.
    pub(super) const ALL: [Self; 2] = [Self::BearSsl, Self::MbedTls];

    /// Returns its name in records.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::BearSsl => "BearSSL",
            Self::MbedTls => "mbed TLS",
        }
    }

    /// Returns its name on the command line, which is that of Debian's source package.
    pub(super) const fn package(self) -> &'static str {
        match self {
            Self::BearSsl => "bearssl",
            Self::MbedTls => "mbedtls",
        }
    }

    /// Returns the label of its row for an operation: the code that computes.
    pub(super) fn label(self, operation: &str) -> &'static str {
        match self {
            Self::BearSsl if operation.starts_with("rsa") => "i31",
            Self::BearSsl => "m31",
            Self::MbedTls => "bignum",
        }
    }

    /// Returns a header that its source has.
    const fn header(self) -> &'static str {
        match self {
            Self::BearSsl => "inc/bearssl.h",
            Self::MbedTls => "include/mbedtls/version.h",
        }
    }

    /// Returns its folders of headers, and those of the files that the operations need.
    const fn folders(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::BearSsl => (
                &["inc", "src"],
                &["src/codec", "src/ec", "src/hash", "src/int", "src/mac", "src/rand", "src/rsa"],
            ),
            Self::MbedTls => (&["include", "library"], &["library"]),
        }
    }

    /// Returns how to get the source.
    fn remedy(self) -> String {
        let package = self.package();
        format!(
            "`apt-get source {package}` where the system's sources have deb-src, or a release from \
             the project's page; then --peer-source {package}=DIR"
        )
    }

    /// Returns the entry of a record for a library whose source is not given.
    pub(super) fn missing(self) -> record::Peer {
        record::Peer {
            name: self.name().into(),
            version: None,
            missing: Some(Missing {
                reason: "its source is not given".into(),
                remedy: self.remedy(),
            }),
        }
    }
}

impl Source {
    /// Parses `PEER=DIR`, and checks that the folder has the library's source.
    ///
    /// # Errors
    /// If the peer is unknown, the folder has other content, or the version does not fit.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let names = Peer::ALL.map(Peer::package).map(|name| format!("{name}=DIR")).join(" or ");
        let hint = format!("use --peer-source {names}");
        let Some((name, folder)) = text.split_once('=') else {
            return Err(Failure::new(format!("'{text}' does not name a peer and a folder"), hint));
        };
        let Some(peer) = Peer::ALL.into_iter().find(|peer| peer.package() == name) else {
            return Err(Failure::new(format!("no peer for cortex-m4 is called '{name}'"), hint));
        };
        let header = peer.header();
        let text = fs::read_to_string(Path::new(folder).join(header)).map_err(|_| {
            let message =
                format!("no source of {} in '{folder}', which lacks {header}", peer.name());
            Failure::new(message, peer.remedy())
        })?;
        let folder = fs::canonicalize(folder).map_err(|error| {
            Failure::new(format!("cannot read '{folder}': {error}"), "name another folder")
        })?;
        let version = match peer {
            Peer::BearSsl => version_of_folder(&folder),
            Peer::MbedTls => version_in_header(&text),
        };
        if peer == Peer::MbedTls && !version.starts_with("2.28.") {
            return Err(Failure::new(
                format!("mbed TLS {version} has other functions than 2.28"),
                "name the source of a version 2.28, such as Debian 12's",
            ));
        }
        Ok(Self { peer, folder, version })
    }

    /// Returns the entry of a record.
    pub(super) fn record(&self) -> record::Peer {
        record::Peer {
            name: self.peer.name().into(),
            version: Some(self.version.clone()),
            missing: None,
        }
    }

    /// Returns its version.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Compiles the library with the program that runs its operations, and returns the program's
    /// path relative to the root of the repository.
    ///
    /// # Errors
    /// If the compiler is missing, or fails.
    pub(super) fn build(&self, root: &Path) -> Result<PathBuf, Failure> {
        let peer = self.peer;
        eprintln!("building {} {} with {COMPILER} {OPTIMISATION}", peer.name(), self.version);
        if Command::new(COMPILER).arg("--version").output().is_err() {
            let hint = format!("apt-get install {PACKAGES}");
            return Err(Failure::new(format!("{COMPILER} is missing"), hint));
        }
        let built = Path::new(BUILT).join("peers");
        write_vectors(root, &built)?;
        let own = root.join(PROCESSOR.folder).join("peers");
        let program = built.join(peer.package());
        let (headers, sources) = peer.folders();
        let mut command = Command::new(COMPILER);
        command.args([OPTIMISATION, "-mcpu=cortex-m4", "-mthumb", "-w", "-ffunction-sections"]);
        command.args(["-fdata-sections", "-Wl,--gc-sections", "-nostartfiles"]);
        command.args(["-specs=nosys.specs", "-DMBEDTLS_CONFIG_FILE=\"mbedtls_config.h\"", "-I"]);
        command.arg(&built).arg("-I").arg(&own).arg("-T").arg(own.join("memory.ld"));
        for folder in headers {
            command.arg("-I").arg(self.folder.join(folder));
        }
        command.arg(own.join("program.c")).arg(own.join(peer.package()).with_extension("c"));
        for folder in sources {
            command.args(c_files(&self.folder.join(folder))?);
        }
        command.arg("-o").arg(&program).current_dir(root);
        compiled(command, peer.name())?;
        Ok(program)
    }
}

/// Returns the files in C of a folder, in order.
fn c_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| {
        let message = format!("cannot read {}: {error}", folder.display());
        Failure::new(message, "name the folder of a whole source with --peer-source")
    })?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|name| name == "c")).collect();
    files.sort();
    Ok(files)
}

/// Writes the inputs of the operations and their results as a header in C.
fn write_vectors(root: &Path, built: &Path) -> Result<(), Failure> {
    let path = root.join(PROCESSOR.folder).join("src/vectors.rs");
    let folder = root.join(built);
    let failed = |error: std::io::Error| {
        Failure::new(
            format!("cannot write vectors.h from {}: {error}", path.display()),
            "see above",
        )
    };
    let vectors = fs::read_to_string(&path).map_err(failed)?;
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::write(folder.join("vectors.h"), c_vectors(&vectors)).map_err(failed)
}

/// Translates the arrays of bytes among Rust's constants to C.
fn c_vectors(rust: &str) -> String {
    let array = |text: &str| {
        let (name, rest) = text.split_once(": [u8; ")?;
        let (length, rest) = rest.split_once("] = [")?;
        let (bytes, _) = rest.split_once(']')?;
        (!name.contains(':'))
            .then(|| format!("static const unsigned char {name}[{length}] = {{{bytes}}};\n"))
    };
    rust.split("pub const ").filter_map(array).collect()
}

/// Returns the version at the end of a folder's name, as in `bearssl-0.6`: its source has none.
fn version_of_folder(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let version =
        name.rsplit('-').next().filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    version.map_or_else(|| "of unknown version".into(), str::to_owned)
}

/// Returns the version that mbed TLS states in its header.
fn version_in_header(text: &str) -> String {
    let version = text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("#define MBEDTLS_VERSION_STRING ")?;
        Some(rest.trim().trim_matches('"').to_owned())
    });
    version.unwrap_or_else(|| "of unknown version".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_checked() {
        let refused = |text: &str| Source::parse(text).unwrap_err();
        assert_eq!(refused("bearssl").message, "'bearssl' does not name a peer and a folder");
        assert_eq!(refused("wolfssl=x").message, "no peer for cortex-m4 is called 'wolfssl'");
        let empty = tempfile::tempdir().unwrap();
        let path = empty.path().display();
        let failure = refused(&format!("bearssl={path}"));
        assert!(failure.message.ends_with("which lacks inc/bearssl.h"), "{failure}");
        assert!(failure.hint.contains("apt-get source bearssl"), "{}", failure.hint);
        fs::create_dir_all(empty.path().join("include/mbedtls")).unwrap();
        let header = empty.path().join("include/mbedtls/version.h");
        fs::write(&header, "#define MBEDTLS_VERSION_STRING         \"3.6.2\"\n").unwrap();
        let failure = refused(&format!("mbedtls={path}"));
        assert_eq!(failure.message, "mbed TLS 3.6.2 has other functions than 2.28");
        fs::write(&header, "#define MBEDTLS_VERSION_STRING         \"2.28.3\"\n").unwrap();
        assert_eq!(Source::parse(&format!("mbedtls={path}")).unwrap().version(), "2.28.3");
    }

    #[test]
    fn bytes_become_constants_in_c() {
        let rust = "/// n: [u8; 2].\npub const N: [u8; 2] = [\n    1, 2,\n];\n\
                    pub const LIMBS: [u64; 1] = [3];\npub const M: [u8; 1] = [4];\n";
        let c = "static const unsigned char N[2] = {\n    1, 2,\n};\n\
                 static const unsigned char M[1] = {4};\n";
        assert_eq!(c_vectors(rust), c);
    }

    #[test]
    fn versions() {
        assert_eq!(version_of_folder(Path::new("/x/bearssl-0.6")), "0.6");
        assert_eq!(version_of_folder(Path::new("/x/bearssl")), "of unknown version");
        assert_eq!(version_in_header(""), "of unknown version");
    }
}
