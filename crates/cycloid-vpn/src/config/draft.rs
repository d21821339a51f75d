//! A configuration that is being read: takes directives one by one and interprets them together at
//! the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::proto::Role;
use crate::proto::static_key::Direction;

use super::client::Client;
use super::common::{Common, ManagementOptions};
use super::directives::{self, Action, place};
use super::error::{Error, Problem, Warning};
use super::lexer::{self, Directive};
use super::link::Protocol;
use super::per_client::PerClient;
use super::server::{Listen, Network, Pool6, Server};
use super::values::Call;

/// The largest configuration file, in bytes.
const MAX_FILE: u64 = 4 << 20;
/// The deepest nesting of `config`.
const MAX_DEPTH: usize = 10;

/// The kind of text that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// A client's or a server's file.
    Profile,
    /// A `<connection>` block.
    Connection,
    /// A file of `client-config-dir`, or the output of `client-connect`.
    PerClient,
    /// Options pushed by a server.
    Pushed,
}

/// The arguments of a `remote` line.
#[derive(Clone)]
pub(super) struct RemoteLine {
    pub(super) host: String,
    pub(super) port: Option<u16>,
    pub(super) protocol: Option<Protocol>,
}

#[derive(Default)]
pub(super) struct Draft {
    pub(super) common: Common,
    pub(super) client: Client,
    pub(super) server: Server,
    pub(super) per_client: PerClient,
    /// This end's TLS role, from `client`, `tls-client`, `server` or `tls-server`.
    pub(super) role: Option<Role>,
    pub(super) many: bool,
    /// The role that `tcp-client` or `tcp-server` requires.
    pub(super) tcp_role: Option<Role>,
    pub(super) key_direction: Option<Direction>,
    /// `remote` lines outside of a `<connection>`.
    pub(super) remotes: Vec<RemoteLine>,
    /// The `remote` line of the `<connection>` that is being read.
    pub(super) connection_remote: Option<RemoteLine>,
    pub(super) network: Option<Network>,
    pub(super) network_ipv6: Option<Pool6>,
    /// `keepalive`, in seconds.
    pub(super) keepalive: Option<(u32, u32)>,
    /// A server's `local` and `listen` lines, with optional port and protocol.
    pub(super) listen: Vec<(String, Option<u16>, Option<Protocol>)>,
    pub(super) topology_given: bool,
    pub(super) tun_mtu_given: bool,
    pub(super) mssfix_given: bool,
    pub(super) device_type: Option<String>,
    pub(super) management_options: ManagementOptions,
    pub(super) ignore_unknown: Vec<String>,
    pub(super) forward_compatible: bool,
    /// The first occurrence of each directive.
    pub(super) seen: BTreeMap<&'static str, Directive>,
    pub(super) warnings: Vec<Warning>,
    depth: usize,
    /// Number of files that `config` included.
    included: usize,
}

impl Draft {
    /// Adds the directives of a file's bytes.
    pub(super) fn text(&mut self, file: &Path, scope: Scope, bytes: &[u8]) -> Result<(), Error> {
        self.lines(&file.into(), 1, scope, bytes)
    }

    fn lines(
        &mut self,
        file: &Arc<Path>,
        first: u32,
        scope: Scope,
        bytes: &[u8],
    ) -> Result<(), Error> {
        for directive in lexer::directives(file, first, bytes)? {
            self.directive(scope, &directive)?;
        }
        Ok(())
    }

    fn directive(&mut self, scope: Scope, directive: &Directive) -> Result<(), Error> {
        let wrong = |problem| directive.error(problem);
        match (directive.name.as_str(), &directive.block) {
            ("connection", Some(block)) => return self.connection(scope, directive, block),
            // A server must not make the client open files.
            ("config", None) if !directive.arguments.is_empty() && scope != Scope::Pushed => {
                return self.include(scope, directive);
            }
            // `setenv opt X …` means X, and X may be unknown.
            ("setenv", None) if directive.arguments.first().is_some_and(|name| name == "opt") => {
                let mut inner = directive.clone();
                if inner.arguments.len() > 1 {
                    inner.name = inner.arguments.remove(1);
                    inner.arguments.remove(0);
                    return match directives::find(&inner.name) {
                        Some(_) => self.directive(scope, &inner),
                        None => {
                            self.unknown_ignored(&inner);
                            Ok(())
                        }
                    };
                }
            }
            _ => {}
        }
        let Some(entry) = directives::find(&directive.name) else {
            let known = self.ignore_unknown.contains(&directive.name);
            if known || self.forward_compatible {
                self.unknown_ignored(directive);
                return Ok(());
            }
            return Err(wrong(unknown(directive)));
        };
        let here = match scope {
            Scope::Profile => place::CLIENT | place::SERVER,
            Scope::Connection => place::CONNECTION,
            Scope::PerClient => place::PER_CLIENT,
            Scope::Pushed => place::PUSHED,
        };
        if let Action::Refuse { reason, hint } = entry.action {
            return Err(wrong(Problem::new(reason, hint)));
        }
        if entry.place & here == 0 {
            let (place, hint) = match scope {
                Scope::Connection => {
                    ("in a <connection>", "move it outside, where it applies to all")
                }
                Scope::PerClient => ("for a single client", "move it to the server's file"),
                Scope::Pushed => ("in what a server pushes", "set it in the client's file"),
                Scope::Profile => {
                    ("here", "it applies to one client: move it to a file of client-config-dir")
                }
            };
            return Err(wrong(Problem::new(format!("not allowed {place}"), hint)));
        }
        self.check_shape(entry, directive).map_err(wrong)?;
        match entry.action {
            Action::Use(apply) => {
                let base = self.base(directive);
                apply(self, &Call { directive, scope, base: &base }).map_err(wrong)?;
            }
            Action::Ignore(reason) if !self.seen.contains_key(entry.name) => {
                self.warn(directive, format!("{} is ignored: {reason}", entry.name));
            }
            Action::Ignore(_) | Action::Refuse { .. } => {}
        }
        self.seen.entry(entry.name).or_insert_with(|| Directive {
            // The empty block is kept for error messages.
            block: directive.block.as_ref().map(|_| Vec::new().into()),
            ..directive.clone()
        });
        Ok(())
    }

    /// Checks the number of arguments, and whether a block is allowed.
    fn check_shape(&self, entry: &directives::Entry, directive: &Directive) -> Result<(), Problem> {
        let name = entry.name;
        if directive.block.is_some() {
            if entry.block {
                return Ok(());
            }
            return Err(Problem::new(
                format!("{name} cannot be a block"),
                format!("write it on one line: {name} …"),
            ));
        }
        let count = directive.arguments.len();
        if (entry.arguments.0..=entry.arguments.1).contains(&count) {
            return Ok(());
        }
        let takes = match entry.arguments {
            (0, 0) => "it takes none".to_owned(),
            (least, most) if least == most => format!("it takes {least}"),
            (least, usize::MAX) => format!("it takes {least} or more"),
            (least, most) => format!("it takes {least} to {most}"),
        };
        let quotes =
            if count > entry.arguments.1 { "; quote arguments that contain spaces" } else { "" };
        Err(Problem::new(format!("{name} has {count} arguments"), format!("{takes}{quotes}")))
    }

    fn unknown_ignored(&mut self, directive: &Directive) {
        let message = format!("{} is unknown, and ignored as the file asks", directive.name);
        if !self.warnings.iter().any(|warning| warning.message == message) {
            self.warn(directive, message);
        }
    }

    pub(super) fn warn(&mut self, directive: &Directive, message: impl Into<String>) {
        self.warnings.push(Warning {
            file: directive.file.to_path_buf(),
            line: directive.line,
            message: message.into(),
        });
    }

    /// Warns at a directive's line if it is present, otherwise for the whole file.
    pub(super) fn warn_of(&mut self, name: &str, file: &Path, message: impl Into<String>) {
        match self.seen.get(name).cloned() {
            Some(directive) => self.warn(&directive, message),
            None => self.warnings.push(Warning {
                file: file.to_owned(),
                line: 0,
                message: message.into(),
            }),
        }
    }

    /// Returns the base of a directive's relative paths: `cd`, otherwise the directory of its file.
    fn base(&self, directive: &Directive) -> PathBuf {
        match &self.common.process.directory {
            Some(directory) => directory.clone(),
            None => directive.file.parent().unwrap_or(Path::new("")).to_owned(),
        }
    }

    /// Reads a `<connection>`, which inherits the settings above it.
    fn connection(
        &mut self,
        scope: Scope,
        directive: &Directive,
        block: &[u8],
    ) -> Result<(), Error> {
        if scope != Scope::Profile {
            let hint = "put connections side by side in a client's file";
            return Err(directive.error(Problem::new("not allowed here", hint)));
        }
        let outside = (self.common.link.clone(), self.key_direction);
        let given = (self.tun_mtu_given, self.mssfix_given);
        self.lines(&directive.file, directive.line + 1, Scope::Connection, block)?;
        let Some(remote) = self.connection_remote.take() else {
            let problem =
                Problem::new("the connection has no remote", "add `remote HOST PORT PROTOCOL`");
            return Err(directive.error(problem));
        };
        let remote = self.remote(remote).map_err(|problem| directive.error(problem))?;
        self.client.remotes.push(remote);
        (self.common.link, self.key_direction) = outside;
        (self.tun_mtu_given, self.mssfix_given) = given;
        self.seen
            .entry("connection")
            .or_insert_with(|| Directive { block: Some(Vec::new().into()), ..directive.clone() });
        Ok(())
    }

    /// Reads a `config FILE` line.
    fn include(&mut self, scope: Scope, directive: &Directive) -> Result<(), Error> {
        if self.depth == MAX_DEPTH || self.included == 100 {
            let problem = Problem::new(
                format!("more than {MAX_DEPTH} nested or 100 included files"),
                "check whether a file includes itself",
            );
            return Err(directive.error(problem));
        }
        let path = self.base(directive).join(&directive.arguments[0]);
        let bytes = read(&path).map_err(|Problem { message, hint }| {
            directive.error(Problem::new(format!("{}: {message}", path.display()), hint))
        })?;
        self.depth += 1;
        self.included += 1;
        self.text(&path, scope, &bytes)?;
        self.depth -= 1;
        Ok(())
    }
}

/// Reads a configuration file. The problem does not name it.
pub(super) fn read(path: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, Problem> {
    let cannot = |error: std::io::Error| {
        Problem::new(format!("cannot read the file: {error}"), "name an existing file")
    };
    let file = File::open(path).map_err(cannot)?;
    let length = file.metadata().map_err(cannot)?.len().min(MAX_FILE);
    let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(length as usize + 1));
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Problem::new(
            format!("the file has more than {MAX_FILE} bytes"),
            "name a configuration file",
        ));
    }
    Ok(bytes)
}

fn unknown(directive: &Directive) -> Problem {
    let hint = match directives::nearest(&directive.name) {
        Some(name) => format!("did you mean {name}?"),
        None if directive.name.starts_with("</") => "no block of this name is open".into(),
        None => "remove it, or add `ignore-unknown-option NAME` above it".into(),
    };
    Problem::new("unknown directive", hint)
}

impl Listen {
    /// Returns the socket of a `local` or `listen` line; the file's port and protocol are the
    /// defaults.
    pub(super) fn from_line(
        line: (String, Option<u16>, Option<Protocol>),
        port: Option<u16>,
        protocol: Protocol,
    ) -> Self {
        let host = Some(line.0).filter(|host| host != "*");
        Self::new(host, line.1.or(port), line.2.unwrap_or(protocol))
    }
}
