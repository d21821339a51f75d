//! A temporary directory with configurations, and HAProxy twice in it, with each provider.
//!
//! A separate process keeps both, and ends HAProxy and removes the directory as soon as its standard
//! input ends, which happens when [`Place`] is dropped or this process ends for whatever reason.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cycloid_lab::process::Process;
use cycloid_lab::suite::openssl::{Program, Programs, Running};
use cycloid_lab::{Failure, programs};

use crate::tls::kind::Certificate;

/// Who computes for OpenSSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    Cycloid,
    Default,
}

impl Provider {
    const ALL: [Self; 2] = [Self::Cycloid, Self::Default];

    /// Returns the name of its files.
    const fn name(self) -> &'static str {
        match self {
            Self::Cycloid => "cycloid",
            Self::Default => "default",
        }
    }

    /// Returns OpenSSL's configuration.
    fn configuration(self, module: &Path) -> String {
        let module = module.display();
        match self {
            Self::Default => String::new(),
            Self::Cycloid => format!(
                "openssl_conf = init\n[init]\nproviders = list\n[list]\ncycloid = cycloid_sect\n\
                 default = default_sect\n[default_sect]\nactivate = 1\n[cycloid_sect]\n\
                 module = {module}\nactivate = 1\n"
            ),
        }
    }

    /// Returns HAProxy's configuration: asynchronous where the provider is, and no session is
    /// resumed.
    fn proxy(self) -> String {
        let name = self.name();
        let asynchronous = match self {
            Self::Cycloid => " ssl-mode-async\n",
            Self::Default => "",
        };
        let mut text = format!(
            "global\n{asynchronous} maxconn 1000\n tune.ssl.cachesize 0\n\
             defaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 60s\n"
        );
        for certificate in CERTIFICATES {
            let file = file(certificate);
            text += &format!(
                "frontend {file}\n bind unix@{name}-{file}.socket ssl crt {file}.pem no-tls-tickets\n \
                 http-request return status 200 content-type text/plain string hello\n"
            );
        }
        text
    }
}

/// The certificates that HAProxy serves.
const CERTIFICATES: [Certificate; 2] = [Certificate::Rsa2048, Certificate::P256];

/// Returns the name of a certificate's files.
const fn file(certificate: Certificate) -> &'static str {
    match certificate {
        Certificate::Rsa2048 => "rsa-2048",
        Certificate::P256 => "p-256",
        Certificate::P384 => "p-384",
        Certificate::Ed25519 => "ed25519",
    }
}

/// Checks that the provider and OpenSSL's program exist.
///
/// # Errors
/// Names what is missing, and the way to get it.
pub(super) fn possible() -> Result<(), Failure> {
    programs::possible(programs::PROVIDER)?;
    starts("openssl", "version")
}

/// Checks that HAProxy exists.
///
/// # Errors
/// The way to get it.
pub(super) fn proxy() -> Result<(), Failure> {
    starts("haproxy", "-v")
}

fn starts(program: &str, option: &str) -> Result<(), Failure> {
    match Command::new(program).arg(option).stdin(Stdio::null()).output() {
        Ok(_) => Ok(()),
        Err(_) => {
            let message = format!("{program} is not installed");
            Err(Failure::new(message, format!("apt install {program}")))
        }
    }
}

/// The directory, and HAProxy in it.
pub(super) struct Place {
    running: Running,
    _keeper: Process,
}

impl Place {
    /// Makes the directory, and starts HAProxy if it is wanted.
    pub(super) fn new(proxy: bool) -> Result<Self, Failure> {
        let module = programs::find(programs::PROVIDER)?;
        let mut wanted = Programs::default();
        for certificate in CERTIFICATES {
            let [own, _, key] = certificate.files().map(String::from_utf8_lossy);
            wanted.files.push((format!("{}.pem", file(certificate)), format!("{own}{key}")));
        }
        for provider in Provider::ALL {
            let name = provider.name();
            wanted.files.push((format!("{name}.cnf"), provider.configuration(&module)));
            wanted.files.push((format!("{name}.cfg"), provider.proxy()));
            if proxy {
                wanted.programs.push(Program {
                    name: "haproxy".into(),
                    arguments: ["-db", "-f", &format!("{name}.cfg")].map(Into::into).into(),
                    environment: vec![("OPENSSL_CONF".into(), format!("{name}.cnf"))],
                });
            }
        }
        let mut command = Command::new(programs::own()?);
        command.args(["helper", "programs"]);
        command.arg(serde_json::to_string(&wanted).expect("it is data"));
        let failed = |message: String| {
            Failure::new(
                format!("cannot start HAProxy: {message}"),
                "this is a defect of the program; please report it",
            )
        };
        let mut keeper = Process::start(&mut command).map_err(failed)?;
        let running = keeper.hear().map_err(failed)?;
        Ok(Self { running, _keeper: keeper })
    }

    /// Returns the process ID of a provider's HAProxy.
    pub(super) fn process(&self, provider: Provider) -> Option<u32> {
        self.running.processes.get(provider as usize).copied()
    }

    /// Returns the socket at which a provider's HAProxy serves a certificate.
    pub(super) fn socket(&self, provider: Provider, certificate: Certificate) -> PathBuf {
        self.running.directory.join(format!("{}-{}.socket", provider.name(), file(certificate)))
    }

    /// Returns OpenSSL's program with a provider.
    pub(super) fn openssl(&self, provider: Provider) -> Command {
        let mut command = Command::new("openssl");
        command.stdin(Stdio::null()).current_dir(&self.running.directory);
        command.env("OPENSSL_CONF", format!("{}.cnf", provider.name()));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_haproxy_has_its_own_provider_and_sockets() {
        let [ours, theirs] = Provider::ALL.map(Provider::proxy);
        assert!(ours.contains(" ssl-mode-async\n") && !theirs.contains("async"));
        assert!(ours.contains("unix@cycloid-rsa-2048.socket"));
        assert!(theirs.contains("unix@default-p-256.socket"));
        assert_eq!(Provider::Default.configuration(Path::new("/m.so")), "");
        assert!(Provider::Cycloid.configuration(Path::new("/m.so")).contains("module = /m.so\n"));
        assert_eq!(Provider::ALL.map(|provider| provider as usize), [0, 1]);
    }
}
