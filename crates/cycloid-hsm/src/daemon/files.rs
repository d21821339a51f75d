//! The limit on open files, which bounds the number of connections: each is a file.

use rustix::process::{Resource, getrlimit};

use super::memory::raised;

/// The number of files besides authenticated connections: unauthenticated ones, the database, and
/// what the threads wait for.
const OTHERS: usize = 128;

/// Raises the soft limit on open files to the hard one, if possible.
pub fn raise_file_limit() {
    raised(Resource::Nofile);
}

/// Returns the maximum number of authenticated connections: `wanted`, or as many as the limit on
/// open files leaves room for. Without room, the next user's connection could not even be accepted,
/// so it would evict none of the user with the most.
pub(super) fn most_connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(wanted, |limit| wanted.min(room(limit)))
}

/// Returns the number of connections for which this limit on open files leaves room.
fn room(limit: u64) -> usize {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    limit - OTHERS.min(limit / 2)
}

#[cfg(test)]
mod tests {
    use super::room;

    #[test]
    fn connections_leave_room_for_other_files() {
        assert_eq!([0, 1, 100, 256, 1024].map(room), [0, 1, 50, 128, 896]);
        assert_eq!(room(u64::MAX), usize::MAX - 128);
    }
}
