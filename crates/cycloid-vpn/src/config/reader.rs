//! Reads text into a draft, directive by directive.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directives::{self, Action, Entry};
use super::draft::Draft;
use super::error::{Error, Problem, Warning};
use super::lexer::{self, Directive};
use super::per_client::PerClient;
use super::place::{self, Scope};
use super::push::may_be_pushed;
use super::values::Call;

/// The largest configuration file, in bytes.
const MAX_FILE: u64 = 4 << 20;
/// Refused directives that OpenVPN 2.6 does not know either. `setenv opt` lets it ignore them.
const GONE: [&str; 4] = ["keysize", "management-client-pf", "ncp-disable", "no-iv"];
/// The deepest nesting of `config`.
const MAX_DEPTH: usize = 10;

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
                    let known = directives::find(&inner.name);
                    return match known.filter(|entry| !GONE.contains(&entry.name)) {
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
        let announces = directive.arguments.first().is_some_and(|word| word == "[inline]");
        if announces && entry.block && scope == Scope::Profile {
            self.announced.push(directive.clone());
            // `tls-auth [inline] 1`
            if let ("tls-auth" | "secret", Some(direction)) =
                (entry.name, directive.arguments.get(1))
            {
                let (name, arguments) = ("key-direction".to_owned(), vec![direction.clone()]);
                return self.directive(scope, &Directive { name, arguments, ..directive.clone() });
            }
            return Ok(());
        }
        match entry.action {
            Action::Use(apply) => {
                let base = self.base(directive);
                apply(self, &Call { directive, scope, base: &base, may_be_pushed })
                    .map_err(wrong)?;
            }
            Action::Ignore(reason) if !self.seen.contains_key(entry.name) => {
                self.warn(directive, format!("{} is ignored: {reason}", entry.name));
            }
            Action::Ignore(_) | Action::Refuse { .. } => {}
        }
        // The latest line is the one that applies. The empty block is kept for error messages.
        let block = directive.block.as_ref().map(|_| Vec::new().into());
        self.seen.insert(entry.name, Directive { block, ..directive.clone() });
        Ok(())
    }

    /// Checks the number of arguments, and whether a block is allowed.
    fn check_shape(&self, entry: &Entry, directive: &Directive) -> Result<(), Problem> {
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
        let plural = if count == 1 { "" } else { "s" };
        Err(Problem::new(
            format!("{name} has {count} argument{plural}"),
            format!("{takes}{quotes}"),
        ))
    }

    fn unknown_ignored(&mut self, directive: &Directive) {
        let message = format!("{} is unknown, and ignored as the file asks", directive.name);
        if !self.warnings.iter().any(|warning| warning.message == message) {
            self.warn(directive, message);
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
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "run as a user that may read it",
            _ => "name an existing file",
        };
        Problem::new(format!("cannot read the file: {error}"), hint)
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

impl PerClient {
    /// Reads a file.
    ///
    /// # Errors
    /// An unreadable file or an invalid directive.
    pub fn read(path: &Path) -> Result<(Self, Vec<Warning>), Error> {
        let bytes = read(path).map_err(|problem| problem.at(path, 0, ""))?;
        Self::parse(path, &bytes)
    }

    /// Parses the text of a file. `file` is used in messages only.
    ///
    /// # Errors
    /// An invalid directive.
    pub fn parse(file: &Path, text: &[u8]) -> Result<(Self, Vec<Warning>), Error> {
        let mut draft = Draft::default();
        draft.text(file, Scope::PerClient, text)?;
        Ok((draft.per_client, draft.warnings))
    }
}
