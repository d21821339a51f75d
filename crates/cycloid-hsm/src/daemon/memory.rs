//! The memory of a daemon: out of the swap, out of core files, and closed to other processes.
//!
//! Keys that are ready for use are on the heap, and pass through stacks and the buffers of the database's
//! driver. So all memory of the process is locked, whatever is in it.

use std::fmt;
use std::io;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit,
};
use rustix::thread::{CapabilitySet, capabilities};

/// Whether this process's memory is locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// All of it, now and later: nothing of it is ever swapped out.
    Locked,
    /// It is not, and why.
    Unlocked(String),
}

impl Default for Memory {
    fn default() -> Self {
        Self::Unlocked("nobody asked for it".into())
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

/// Keeps this process out of core files, and from being read by others of the same user.
///
/// # Errors
/// Those of the kernel.
pub fn forbid_dumps() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Locks all memory of this process, and what it will map later, where the kernel locks as much as a
/// process asks for.
///
/// Under a limit it locks nothing: once the limit was reached, memory could not be had at all, and a
/// daemon that cannot allocate ends.
pub fn lock_memory() -> Memory {
    let limit = raised(getrlimit(Resource::Memlock));
    if let Some(bytes) = limit.current
        && !is_exempt()
    {
        let text = format!("RLIMIT_MEMLOCK is {} KiB and must be unlimited", bytes >> 10);
        return Memory::Unlocked(text);
    }
    // Pages are locked when they are first touched: what is only reserved takes no memory.
    match mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT) {
        Ok(()) => Memory::Locked,
        Err(error) => Memory::Unlocked(format!("mlockall: {error}")),
    }
}

/// The limit, as high as this process may set it.
fn raised(limit: Rlimit) -> Rlimit {
    let highest = Rlimit { current: limit.maximum, ..limit };
    match limit != highest && setrlimit(Resource::Memlock, highest).is_ok() {
        true => highest,
        false => limit,
    }
}

/// Whether the limit does not hold for this process: a capability, but one that the kernel knows of. Those
/// of a container's own users say nothing here.
fn is_exempt() -> bool {
    let capable =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    let whole = |map: String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    capable && std::fs::read_to_string("/proc/self/uid_map").is_ok_and(whole)
}
