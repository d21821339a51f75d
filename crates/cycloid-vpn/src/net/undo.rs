//! The journal of changes to this machine, so that they can be undone: at the end, on a signal, and
//! at the next start after a crash.
//!
//! An entry is written before its change is made. So a crash leaves at worst an entry for a change
//! that never happened, and undoing that must be harmless. The file stays locked while its instance
//! runs: a process that gets the lock and finds entries follows a crash. The directory is cleared
//! at reboot, which also undoes the changes.
//!
//! Name servers have a journal of their own ([`Scope`]). A process that has dropped root can still
//! write its journal of network changes, and the next start undoes those as root. So that journal
//! has only entries that this process could have made itself, with its right to change the network.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use serde_json::{Map, Value, from_value, json};

use super::lock::Lock;
use super::netlink::Route;

/// The directory of journals.
pub const DIRECTORY: &str = "/run/cycloid-vpn";

/// The number of bytes of a journal that are read: of more than 10,000 changes. A process that has
/// dropped root could write more, to exhaust the memory of the next start.
const MAX_LENGTH: u64 = 1 << 20;

/// The undo operation of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Undoes an added route.
    DeleteRoute(Route),
    /// Undoes a deleted route.
    AddRoute(Route),
    /// Undoes an interface's settings in systemd-resolved.
    Resolved {
        /// The interface's name.
        interface: String,
    },
    /// Undoes a resolvconf record.
    Resolvconf {
        /// The record's name.
        record: String,
    },
    /// Removes a tunnel's lines from a file in resolv.conf's format.
    ResolverFile {
        /// The file.
        file: PathBuf,
    },
    /// Deletes an interface of the kind [`dco::KIND`](super::dco::KIND).
    DeleteLink {
        /// The interface's name.
        interface: String,
    },
    /// Deletes an nftables table.
    Firewall {
        /// The table's name.
        table: String,
    },
}

/// The kind of changes that a journal records. Entries of the other kind are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Routes, firewall and interfaces.
    Network,
    /// Name servers. Only a process that keeps its privileges writes this journal, and a file of
    /// another user is taken as empty.
    Names,
}

impl Scope {
    fn suffix(self) -> &'static str {
        match self {
            Self::Network => "journal",
            Self::Names => "names.journal",
        }
    }

    fn has(self, undo: &Undo) -> bool {
        let scope = match undo {
            Undo::Resolved { .. } | Undo::Resolvconf { .. } | Undo::ResolverFile { .. } => {
                Self::Names
            }
            Undo::DeleteRoute(_)
            | Undo::AddRoute(_)
            | Undo::DeleteLink { .. }
            | Undo::Firewall { .. } => Self::Network,
        };
        scope == self
    }
}

impl Undo {
    /// Returns an object with one field: the kind of the operation, and its operand.
    fn to_json(&self) -> Value {
        match self {
            Self::DeleteRoute(added) => json!({ "delete-route": route_to_json(added) }),
            Self::AddRoute(deleted) => json!({ "add-route": route_to_json(deleted) }),
            Self::Resolved { interface } => json!({ "resolved": interface }),
            Self::Resolvconf { record } => json!({ "resolvconf": record }),
            Self::ResolverFile { file } => json!({ "resolver-file": file.to_string_lossy() }),
            Self::DeleteLink { interface } => json!({ "delete-link": interface }),
            Self::Firewall { table } => json!({ "firewall": table }),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let object: Map<String, Value> = serde_json::from_str(line).ok()?;
        let (kind, operand) = object.into_iter().next()?;
        let text = || operand.as_str().map(str::to_owned);
        Some(match &*kind {
            "delete-route" => Self::DeleteRoute(route_from_json(&operand)?),
            "add-route" => Self::AddRoute(route_from_json(&operand)?),
            "resolved" => Self::Resolved { interface: text()? },
            "resolvconf" => Self::Resolvconf { record: text()? },
            "resolver-file" => Self::ResolverFile { file: text()?.into() },
            "delete-link" => Self::DeleteLink { interface: text()? },
            "firewall" => Self::Firewall { table: text().filter(|it| is_table(it))? },
            _ => return None,
        })
    }
}

/// Returns whether nft reads this as one name, and nothing else.
fn is_table(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json())
    }
}

fn route_to_json(route: &Route) -> Value {
    let Route { destination, gateway, interface, metric, source, protocol } = route;
    json!({
        "destination": destination.to_string(), "gateway": gateway, "interface": interface,
        "metric": metric, "source": source, "protocol": protocol,
    })
}

fn route_from_json(route: &Value) -> Option<Route> {
    let field = |name: &str| route[name].clone();
    Some(Route {
        destination: field("destination").as_str()?.parse().ok()?,
        gateway: from_value(field("gateway")).ok()?,
        interface: from_value(field("interface")).ok()?,
        metric: from_value(field("metric")).ok()?,
        source: from_value(field("source")).ok()?,
        protocol: from_value(field("protocol")).ok()?,
    })
}

/// The locked journal of one instance.
#[derive(Debug)]
pub struct Journal {
    scope: Scope,
    file: File,
    /// The entries, each with its offset in the file.
    entries: Vec<(u64, Undo)>,
    length: u64,
    /// Shows other tunnels that this tunnel's lines in resolv.conf are in use.
    resolver: Option<Lock>,
}

/// The error of opening a journal.
#[derive(Debug)]
pub enum OpenError {
    /// The instance is already running.
    Running,
    /// The file cannot be created, read or locked.
    Io(io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => f.write_str("an instance of this name is already running"),
            Self::Io(error) => write!(f, "cannot open the journal of changes: {error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Journal {
    /// Opens and locks an instance's journal of this scope. Existing entries are from a crash: call
    /// [`undo`](Self::undo) before making changes.
    ///
    /// # Errors
    ///
    /// See [`OpenError`].
    pub fn open(directory: &Path, instance: &str, scope: Scope) -> Result<Self, OpenError> {
        DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
        let path = directory.join(format!("{}.{}", file_name(instance), scope.suffix()));
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(rustix::io::Errno::WOULDBLOCK) => return Err(OpenError::Running),
            outcome => outcome.map_err(io::Error::from)?,
        }
        if scope == Scope::Names && file.metadata()?.uid() != geteuid().as_raw() {
            file.set_len(0)?;
        }
        let mut bytes = Vec::new();
        (&file).take(MAX_LENGTH).read_to_end(&mut bytes)?;
        let mut entries = Vec::new();
        let mut length = 0;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            // An incomplete line from a crash during writing belongs to no change.
            let Some(entry) = line.strip_suffix(b"\n") else { break };
            let undo = std::str::from_utf8(entry).ok().and_then(Undo::parse);
            entries.extend(undo.filter(|undo| scope.has(undo)).map(|undo| (length, undo)));
            length += line.len() as u64;
        }
        file.set_len(length)?;
        Ok(Self { scope, file, entries, length, resolver: None })
    }

    /// Records how to undo the next change.
    ///
    /// # Errors
    ///
    /// The file cannot be written; then the change must not be made.
    pub fn record(&mut self, undo: Undo) -> io::Result<()> {
        debug_assert!(self.scope.has(&undo), "{undo} is in the wrong journal");
        let line = format!("{}\n", undo.to_json());
        self.file.write_all(line.as_bytes())?;
        self.entries.push((self.length, undo));
        self.length += line.len() as u64;
        Ok(())
    }

    /// Removes the last entry, whose change failed.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn forget_last(&mut self) -> io::Result<()> {
        if let Some((start, _)) = self.entries.pop() {
            self.length = start;
            self.file.set_len(start)?;
        }
        Ok(())
    }

    /// Records an entry and makes its change. Removes the entry if the change fails.
    ///
    /// # Errors
    ///
    /// An error of the change or the file.
    pub fn change(
        &mut self,
        undo: Undo,
        change: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        self.record(undo)?;
        change().or_else(|error| self.forget_last().and(Err(error)))
    }

    /// Keeps a lock until [`release`](Self::release), or until its resolv.conf lines are removed.
    pub(super) fn hold(&mut self, lock: Lock) {
        self.resolver = Some(lock);
    }

    pub(super) fn release(&mut self) {
        self.resolver = None;
    }

    /// Returns whether there is nothing to undo.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries in the order of their changes.
    pub fn entries(&self) -> impl Iterator<Item = &Undo> {
        self.entries.iter().map(|(_, undo)| undo)
    }

    /// Undoes the entries that `chosen` selects by `perform`, latest first, and returns the failed
    /// ones.
    pub(super) fn undo_by(
        &mut self,
        chosen: impl Fn(&Undo) -> bool,
        mut perform: impl FnMut(&Undo) -> io::Result<()>,
    ) -> Vec<(Undo, io::Error)> {
        let mut failed = Vec::new();
        let mut kept = Vec::new();
        for (_, undo) in std::mem::take(&mut self.entries).into_iter().rev() {
            if !chosen(&undo) {
                kept.push(undo);
                continue;
            }
            if matches!(undo, Undo::ResolverFile { .. }) {
                self.release();
            }
            if let Err(error) = perform(&undo) {
                kept.push(undo.clone());
                failed.push((undo, error));
            }
        }
        // Undoing twice is harmless, so the file is updated only at the end.
        self.length = 0;
        if let Err(error) = self.file.set_len(0) {
            failed.extend(kept.first().cloned().map(|undo| (undo, error)));
        }
        for undo in kept.into_iter().rev() {
            if let Err(error) = self.record(undo.clone()) {
                failed.push((undo, error));
            }
        }
        failed
    }
}

/// Returns a file name for an instance name.
fn file_name(instance: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-@".contains(c);
    instance.chars().map(|c| if plain(c) { c } else { '_' }).take(128).collect()
}

/// Replaces a file's contents, atomically if its directory allows that, otherwise in place (a
/// separately mounted file cannot be replaced).
pub(crate) fn replace_file(path: &Path, contents: &[u8], mode: u32) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".cycloid-vpn.new");
    let fresh = path.with_file_name(name);
    let written = (|| {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(&fresh)?;
        file.write_all(contents)?;
        // Restores permission bits that the umask removed.
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&fresh, path)
    })();
    written.or_else(|_| {
        let _ = fs::remove_file(&fresh);
        fs::write(path, contents)
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn network_changes() -> Vec<Undo> {
        let route = Route { interface: Some(3), ..Route::to("10.1.0.0/16".parse().unwrap()) };
        let default = Route {
            gateway: Some("fe80::1".parse().unwrap()),
            interface: Some(2),
            metric: Some(1024),
            source: Some("2001:db8::7".parse().unwrap()),
            protocol: Some(16),
            ..Route::to("::/0".parse().unwrap())
        };
        vec![
            Undo::DeleteRoute(route),
            Undo::AddRoute(default),
            Undo::Firewall { table: "cycloid_vpn_x".into() },
            Undo::DeleteLink { interface: "tun0".into() },
        ]
    }

    fn name_changes() -> Vec<Undo> {
        vec![
            Undo::Resolved { interface: "tun0".into() },
            Undo::Resolvconf { record: "tun0.cycloid-vpn".into() },
            Undo::ResolverFile { file: "/a\tb\n%/resolv.conf".into() },
        ]
    }

    /// Reopens a closed journal. A thread that forked meanwhile may hold it briefly.
    fn reopen(directory: &Path, instance: &str, scope: Scope) -> Journal {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            match Journal::open(directory, instance, scope) {
                Err(OpenError::Running) => assert!(Instant::now() < end, "the lock stays held"),
                outcome => return outcome.unwrap(),
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn changes_left_by_a_crash_are_undone_in_reverse() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Journal::open(directory.path(), "a/../b", Scope::Network);
        let mut journal = open().unwrap();
        assert!(journal.is_empty());
        assert!(matches!(open(), Err(OpenError::Running)));
        let all = network_changes();
        all.iter().for_each(|undo| journal.record(undo.clone()).unwrap());
        journal.file.write_all(br#"{"firewall":"cut o"#).unwrap();
        drop(journal);

        let mut journal = reopen(directory.path(), "a/../b", Scope::Network);
        assert_eq!(journal.entries().cloned().collect::<Vec<_>>(), all);
        let mut undone = Vec::new();
        let failed = journal.undo_by(
            |undo| !matches!(undo, Undo::Firewall { .. }),
            |undo| match undo {
                Undo::AddRoute(_) => Err(io::ErrorKind::PermissionDenied.into()),
                undo => {
                    undone.push(undo.clone());
                    Ok(())
                }
            },
        );
        assert_eq!(undone, [&all[3], &all[0]].map(Clone::clone));
        assert_eq!(failed.len(), 1);
        drop(journal);

        let journal = reopen(directory.path(), "a/../b", Scope::Network);
        assert_eq!(journal.entries().collect::<Vec<_>>(), [&all[1], &all[2]]);
    }

    #[test]
    fn a_journal_is_read_up_to_a_limit_and_past_what_is_no_text() {
        let directory = tempfile::tempdir().unwrap();
        let all = network_changes();
        let mut journal = Journal::open(directory.path(), "x", Scope::Network).unwrap();
        journal.record(all[0].clone()).unwrap();
        journal.file.write_all(b"\xff\xfe{}\n").unwrap();
        journal.record(all[1].clone()).unwrap();
        journal.file.write_all(&vec![b' '; 2 << 20]).unwrap();
        journal.file.write_all(b"\n").unwrap();
        journal.record(all[2].clone()).unwrap();
        drop(journal);

        let mut journal = reopen(directory.path(), "x", Scope::Network);
        assert_eq!(journal.entries().collect::<Vec<_>>(), [&all[0], &all[1]]);
        assert!(journal.file.metadata().unwrap().len() < 1000);
        journal.record(all[2].clone()).unwrap();
        drop(journal);
        let journal = reopen(directory.path(), "x", Scope::Network);
        assert_eq!(journal.entries().collect::<Vec<_>>(), [&all[0], &all[1], &all[2]]);
    }

    #[test]
    fn a_journal_has_no_entries_of_the_other_scope() {
        let directory = tempfile::tempdir().unwrap();
        for (scope, own, others) in [
            (Scope::Network, network_changes(), name_changes()),
            (Scope::Names, name_changes(), network_changes()),
        ] {
            let mut journal = Journal::open(directory.path(), "x", scope).unwrap();
            // As a process writes that was taken over after it had dropped root.
            for undo in own.iter().zip(&others).flat_map(|(own, other)| [own, other]) {
                journal.file.write_all(format!("{}\n", undo.to_json()).as_bytes()).unwrap();
            }
            drop(journal);
            let journal = reopen(directory.path(), "x", scope);
            let entries: Vec<_> = journal.entries().collect();
            assert_eq!(entries, own.iter().take(others.len()).collect::<Vec<_>>());
            assert!(Journal::open(directory.path(), "y", scope).unwrap().is_empty());
        }
    }

    /// Without root, a test cannot give a file away, and nothing is tested here.
    #[test]
    fn name_servers_in_the_journal_of_another_user_are_ignored() {
        if !geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        for (scope, change) in
            [(Scope::Names, &name_changes()[0]), (Scope::Network, &network_changes()[0])]
        {
            let mut journal = Journal::open(directory.path(), "x", scope).unwrap();
            journal.record(change.clone()).unwrap();
            drop(journal);
            assert!(!reopen(directory.path(), "x", scope).is_empty());
            let path = directory.path().join(format!("x.{}", scope.suffix()));
            std::os::unix::fs::chown(path, Some(65534), None).unwrap();
            let is_ignored = reopen(directory.path(), "x", scope).is_empty();
            assert_eq!(is_ignored, scope == Scope::Names);
        }
    }

    #[test]
    fn a_change_that_fails_leaves_no_entry() {
        let directory = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(directory.path(), "x", Scope::Network).unwrap();
        let [first, second] = [0, 1].map(|at| network_changes()[at].clone());
        journal.change(first.clone(), || Ok(())).unwrap();
        let failure = journal.change(second.clone(), || Err(io::ErrorKind::AlreadyExists.into()));
        assert_eq!(failure.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        journal.record(second.clone()).unwrap();
        drop(journal);
        let journal = reopen(directory.path(), "x", Scope::Network);
        assert_eq!(journal.entries().collect::<Vec<_>>(), [&first, &second]);
    }

    #[test]
    fn foreign_lines_are_ignored() {
        for line in [
            "",
            "x",
            "{}",
            "[1]",
            r#"{"firewall":1}"#,
            r#"{"firewall":""}"#,
            r#"{"firewall":"x; include \"/etc/shadow\""}"#,
            r#"{"unknown":"x"}"#,
            r#"{"delete-route":"10.0.0.0/8"}"#,
            r#"{"delete-route":{"destination":"10.0.0.0/33"}}"#,
            r#"{"delete-route":{"destination":"10.0.0.0/8","metric":-1}}"#,
        ] {
            assert_eq!(Undo::parse(line), None, "{line}");
        }
        let shortest = r#"{"delete-route":{"destination":"10.0.0.0/8"}}"#;
        let route = Route::to("10.0.0.0/8".parse().unwrap());
        assert_eq!(Undo::parse(shortest), Some(Undo::DeleteRoute(route)));
    }

    #[test]
    fn a_file_is_replaced_with_its_mode() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("f");
        fs::write(&path, "old, and longer").unwrap();
        replace_file(&path, b"new", 0o640).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }
}
