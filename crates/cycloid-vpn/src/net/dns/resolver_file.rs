//! Manages the C library's resolv.conf, which all tunnels of a machine share.
//!
//! While a tunnel is up, these files are next to `resolv.conf`:
//!
//! | file | holds |
//! |---|---|
//! | `resolv.conf.cycloid-vpn` | the original |
//! | `resolv.conf.cycloid-vpn.N` | a tunnel's interface and its lines; the latest tunnel has the greatest N |
//!
//! `resolv.conf` is always generated from these: the original, with each tunnel's lines on top in
//! order. So tunnels can end in any order, and the last one restores the original. A running tunnel
//! locks its file. A killed tunnel leaves an unlocked file, which the next change by any tunnel
//! removes. This also works after a power loss, which clears the journal. The directory is locked
//! during a change.
//!
//! If another program changes `resolv.conf` meanwhile, its version is left alone and becomes the
//! original of the next tunnel.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::super::lock::Lock;
use super::super::undo::{Journal, Undo, replace_file};

/// The first line of a generated file starts with this.
const MARK: &str = "# Written by cycloid-vpn for ";
/// Timeout for a concurrent change by another tunnel, which takes milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Puts a tunnel's lines on top of the others. Replaces earlier lines of the same journal.
///
/// # Errors
///
/// A file error; then the tunnel has no lines there.
pub(super) fn add(
    path: &Path,
    interface: &str,
    lines: &str,
    journal: &mut Journal,
) -> io::Result<()> {
    journal.release();
    let shared = Shared::open(path)?;
    let number = shared.tunnels()?.last().map_or(1, |last| last.number + 1);
    shared.keep_original()?;
    crash_point();
    journal.record(Undo::ResolverFile { file: path.to_owned() })?;
    crash_point();
    let written = shared.write_tunnel(number, interface, lines).and_then(|lock| {
        journal.hold(lock);
        crash_point();
        shared.settle()
    });
    written.or_else(|error| {
        journal.release();
        shared.settle()?;
        journal.forget_last().and(Err(error))
    })
}

/// Removes the lines of tunnels that no longer run.
///
/// # Errors
///
/// A file error.
pub(crate) fn settle(path: &Path) -> io::Result<()> {
    if !path.parent().is_some_and(Path::is_dir) {
        return Ok(());
    }
    Shared::open(path)?.settle()
}

/// A tunnel's lines.
struct Tunnel {
    number: u32,
    interface: String,
    lines: String,
}

/// The files, locked against concurrent changes.
struct Shared<'a> {
    path: &'a Path,
    directory: &'a Path,
    /// The name `resolv.conf.cycloid-vpn`.
    name: String,
    _turn: Lock,
}

impl<'a> Shared<'a> {
    fn open(path: &'a Path) -> io::Result<Self> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ErrorKind::InvalidInput.into());
        };
        let name = format!("{}.cycloid-vpn", name.to_string_lossy());
        let end = Instant::now() + LOCK_TIMEOUT;
        loop {
            if let Some(turn) = Lock::take(File::open(directory)?)? {
                return Ok(Self { path, directory, name, _turn: turn });
            }
            if Instant::now() > end {
                let text = format!("another tunnel is changing {}", path.display());
                return Err(io::Error::new(ErrorKind::TimedOut, text));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn original(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    fn of_tunnel(&self, number: u32) -> PathBuf {
        self.directory.join(format!("{}.{number}", self.name))
    }

    /// Returns the running tunnels in order, and removes the files of others.
    fn tunnels(&self) -> io::Result<Vec<Tunnel>> {
        let mut tunnels = Vec::new();
        for entry in fs::read_dir(self.directory)? {
            let name = entry?.file_name();
            let number =
                name.to_str().and_then(|it| it.strip_prefix(&self.name)?.strip_prefix('.'));
            let number = number.and_then(|it| it.parse().ok());
            let Some(number) = number.filter(|it: &u32| *it > 0) else { continue };
            let path = self.of_tunnel(number);
            let opened = OpenOptions::new().read(true).custom_flags(no_follow()).open(&path);
            let mut file = match opened {
                // The number has another spelling, such as a leading zero, so no tunnel wrote this
                // file.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened?,
            };
            if Lock::take(file.try_clone()?)?.is_some() {
                fs::remove_file(&path)?;
                crash_point();
                continue;
            }
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            let (interface, lines) = text.split_once('\n').unwrap_or_default();
            let (interface, lines) = (interface.to_owned(), lines.to_owned());
            tunnels.push(Tunnel { number, interface, lines });
        }
        tunnels.sort_unstable_by_key(|tunnel| tunnel.number);
        Ok(tunnels)
    }

    fn write_tunnel(&self, number: u32, interface: &str, lines: &str) -> io::Result<Lock> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o644)
            .custom_flags(no_follow())
            .open(self.of_tunnel(number))?;
        crash_point();
        let lock = Lock::take(file)?.ok_or(ErrorKind::ResourceBusy)?;
        lock.file().write_all(format!("{interface}\n{lines}").as_bytes())?;
        Ok(lock)
    }

    /// Saves the current file as the original, unless it was generated.
    fn keep_original(&self) -> io::Result<()> {
        let current = fs::read(self.path)?;
        let kept = read(&self.original())?;
        if kept.is_some_and(|kept| is_ours(&current, &kept)) {
            return Ok(());
        }
        // The saved original is missing: use what the generated file kept of it.
        let line = current.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let text = if current.starts_with(MARK.as_bytes()) { &current[line..] } else { &current };
        let metadata = fs::metadata(self.path)?;
        replace_file(&self.original(), text, metadata.mode() & 0o777)?;
        // Without the right to change the owner, the copy belongs to this process.
        let _ = chown(self.original(), Some(metadata.uid()), Some(metadata.gid()));
        Ok(())
    }

    /// Regenerates the file from the original and the running tunnels. Restores the original if
    /// none runs.
    fn settle(&self) -> io::Result<()> {
        let tunnels = self.tunnels()?;
        let original = self.original();
        let Some(kept) = read(&original)? else { return Ok(()) };
        let is_ours = read(self.path)?.is_some_and(|current| is_ours(&current, &kept));
        if !is_ours {
            return if tunnels.is_empty() { fs::remove_file(original) } else { Ok(()) };
        }
        if !tunnels.is_empty() {
            let mode = fs::metadata(self.path)?.mode() & 0o777;
            return replace_file(self.path, contents(&kept, &tunnels).as_bytes(), mode);
        }
        // A separately mounted file cannot be replaced by rename.
        fs::rename(&original, self.path).or_else(|_| {
            fs::write(self.path, &kept)?;
            crash_point();
            fs::remove_file(&original)
        })
    }
}

/// Returns whether the file was generated here. A process killed during an in-place write may leave
/// a prefix of a generated file or of the original; both count.
fn is_ours(current: &[u8], original: &[u8]) -> bool {
    let mark = MARK.as_bytes();
    current.starts_with(mark) || mark.starts_with(current) || original.starts_with(current)
}

fn contents(original: &[u8], tunnels: &[Tunnel]) -> String {
    let interfaces: Vec<_> = tunnels.iter().map(|tunnel| &*tunnel.interface).collect();
    let text =
        tunnels.iter().fold(String::from_utf8_lossy(original).into_owned(), |text, tunnel| {
            on_top(&text, &tunnel.lines)
        });
    format!(
        "{MARK}{}; the original is saved next to it and restored at the end.\n{text}",
        interfaces.join(", ")
    )
}

/// Returns a tunnel's servers and domains on top of `before`. A missing kind keeps the lines of
/// `before`; options always stay.
fn on_top(before: &str, lines: &str) -> String {
    let has = |word: &str| lines.lines().any(|line| line.starts_with(word));
    let (servers, domains) = (has("nameserver"), has("search"));
    let kept = before.lines().filter(|line| match line.split_whitespace().next() {
        Some("nameserver") => !servers,
        Some("search" | "domain") => !domains,
        Some("options" | "sortlist") => true,
        _ => false,
    });
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    format!("{lines}{kept}")
}

/// Returns `None` if the file does not exist.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

fn no_follow() -> i32 {
    OFlags::NOFOLLOW.bits().cast_signed()
}

/// The points where tests kill a tunnel.
#[cfg(not(test))]
fn crash_point() {}

#[cfg(test)]
use tests::crash_point;

#[cfg(test)]
mod tests;
