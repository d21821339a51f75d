//! The files that a process executes code from, and where they are mapped.

use std::fs::{self, Metadata};
use std::time::UNIX_EPOCH;

/// A range of addresses with code from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFile {
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
    /// The position in the file of the code at `start`, in bytes.
    pub offset: u64,
    /// The state of the file; `None` if it is not an ordinary file, or no longer at its path.
    pub identity: Option<Identity>,
    /// The file's path, or a name of the kernel such as `[vdso]`.
    pub path: String,
}

/// The state of a file. It tells whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its size in bytes.
    pub bytes: u64,
    /// The time of its last change, in seconds since 1970.
    pub modified: u64,
}

impl Identity {
    /// Returns the state of an ordinary file, or `None` for anything else.
    pub fn of(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_secs();
        metadata.is_file().then_some(Self { bytes: metadata.len(), modified })
    }
}

impl MappedFile {
    /// Returns whether `address` is in the range.
    pub fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// Returns the executable mappings of this process by ascending address, or nothing if the system
/// does not report them.
pub fn mapped_files() -> Vec<MappedFile> {
    let maps = fs::read("/proc/self/maps").unwrap_or_default();
    String::from_utf8_lossy(&maps).lines().filter_map(mapped_file).collect()
}

/// Parses a line of `/proc/self/maps` and looks up the state of its file. Returns `None` for a
/// mapping without code or without a file.
fn mapped_file(line: &str) -> Option<MappedFile> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let executable = fields.next()?.contains('x');
    let offset = fields.next()?;
    let path = fields.nth(2)?.trim_start();
    if !executable || path.is_empty() {
        return None;
    }
    let number = |digits| u64::from_str_radix(digits, 16).ok();
    // The kernel marks a file that was removed or replaced.
    let (path, removed) =
        path.strip_suffix(" (deleted)").map_or((path, false), |path| (path, true));
    // The text format has no place for control characters, so such a file counts as unknown.
    let printable = path.replace(char::is_control, "?");
    let present = path.starts_with('/') && !removed && printable == path;
    Some(MappedFile {
        start: number(start)?,
        end: number(end)?,
        offset: number(offset)?,
        identity: if present {
            fs::metadata(path).ok().as_ref().and_then(Identity::of)
        } else {
            None
        },
        path: printable,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_parsed() {
        let file = |path: &str| MappedFile {
            start: 0x7f00_1000,
            end: 0x7f00_3000,
            offset: 0x1000,
            identity: None,
            path: path.into(),
        };
        let line = |permissions: &str, path: &str| {
            format!("7f001000-7f003000 {permissions} 00001000 fe:01 1234      {path}")
        };
        let absent = "/absent/a name with spaces.so";
        assert_eq!(mapped_file(&line("r-xp", absent)), Some(file(absent)));
        assert_eq!(mapped_file(&line("r-xp", "[vdso]")), Some(file("[vdso]")));
        let replaced = format!("{} (deleted)", env!("CARGO_MANIFEST_PATH"));
        let expected = file(env!("CARGO_MANIFEST_PATH"));
        assert_eq!(mapped_file(&line("r-xp", &replaced)), Some(expected));
        assert_eq!(mapped_file(&line("r-xp", "/a\tb\x7f")), Some(file("/a?b?")));
        assert_eq!(mapped_file(&line("rw-p", absent)), None);
        for line in ["", "7f", "7f001000-7f003000 r-xp 00000000 00:00 0", &line("r-xp", "")] {
            assert_eq!(mapped_file(line), None, "{line:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_test_is_in_a_file_of_known_state() {
        let here = this_test_is_in_a_file_of_known_state as fn() as usize as u64;
        let files = mapped_files();
        let file = files.iter().find(|file| file.contains(here)).unwrap();
        let program = std::env::current_exe().unwrap();
        assert_eq!(file.path, program.to_str().unwrap());
        assert_eq!(file.identity, Identity::of(&fs::metadata(program).unwrap()));
        assert!(file.identity.is_some());
        assert!(files.is_sorted_by(|a, b| a.end <= b.start), "{files:?}");
    }
}
