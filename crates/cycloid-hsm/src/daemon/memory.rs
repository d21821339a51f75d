//! Protects the daemon's memory: from swapping, from core files, and from other processes.
//!
//! Prepared keys are on the heap, and keys pass through stacks and the buffers of the database
//! driver. So all memory of the process is locked, whatever it contains.

use std::fmt;
use std::io;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};
use rustix::thread::{CapabilitySet, capabilities};

/// The state of this process's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// All current and future memory is locked, and never swapped out.
    Locked,
    /// Memory is not locked, for this reason.
    Unlocked(String),
}

impl Default for Memory {
    fn default() -> Self {
        Self::Unlocked("not requested".into())
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Locked => f.write_str("locked"),
            Self::Unlocked(why) => write!(f, "not locked, keys may be swapped out: {why}"),
        }
    }
}

/// Excludes this process from core files, and from being read by other processes of the same user.
///
/// # Errors
/// The kernel's errors.
pub fn forbid_dumps() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Locks all current and future memory of this process, if the kernel sets no limit.
///
/// Under a limit, nothing is locked: once the limit was reached, every allocation would fail, and a
/// daemon that cannot allocate aborts.
pub fn lock_memory() -> Memory {
    let limit = raised(Resource::Memlock);
    if let Some(bytes) = limit.current
        && !is_exempt()
    {
        let text = format!("RLIMIT_MEMLOCK is {} KiB and must be unlimited", bytes >> 10);
        return Memory::Unlocked(text);
    }
    // Pages are locked when first touched, so merely reserved memory takes none.
    match mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT) {
        Ok(()) => Memory::Locked,
        Err(error) => Memory::Unlocked(format!("mlockall: {error}")),
    }
}

/// Raises the soft limit to the hard limit, if possible, and returns the resulting limits.
pub(super) fn raised(resource: Resource) -> Rlimit {
    let limit = getrlimit(resource);
    let highest = Rlimit { current: limit.maximum, ..limit };
    match limit != highest && setrlimit(resource, highest).is_ok() {
        true => highest,
        false => limit,
    }
}

/// Returns whether the limit does not apply to this process: it has CAP_IPC_LOCK in the initial
/// user namespace. A capability within a container's user namespace does not count.
fn is_exempt() -> bool {
    let capable =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    let whole = |map: String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    capable && std::fs::read_to_string("/proc/self/uid_map").is_ok_and(whole)
}
