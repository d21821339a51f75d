//! Gives root up for `user` and `group`, and keeps the one right that a tunnel goes on needing: to
//! change the network.
//!
//! The kernel keeps privileges by thread. So this is for the time before there is a second one; all
//! that come later have what the first has.
//!
//! Source: openvpn(8), "--user" and "--group"; capabilities(7).

use std::fmt;
use std::fs;
use std::io;

use rustix::process::{Gid, Uid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_keep_capabilities,
    set_thread_groups, set_thread_res_gid, set_thread_res_uid,
};

/// Whom to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A user's number.
    pub user: Option<u32>,
    /// A group's number.
    pub group: Option<u32>,
}

/// Why privileges were not given up.
#[derive(Debug)]
pub enum Error {
    /// There is no such user or group here.
    Unknown(String),
    /// There are other threads, which would keep theirs.
    Threads(usize),
    /// The kernel's.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "there is no user or group {name:?}"),
            Self::Threads(count) => write!(f, "privileges cannot be given up by {count} threads"),
            Self::Io(error) => write!(f, "privileges cannot be given up: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl<E: Into<io::Error>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Io(error.into())
    }
}

impl Identity {
    /// Looks names up in `/etc/passwd` and `/etc/group`; a number stands for itself. With a user and no
    /// group, that user's group is taken.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`].
    pub fn find(user: Option<&str>, group: Option<&str>) -> Result<Self, Error> {
        let passwd = fs::read_to_string("/etc/passwd")?;
        let groups = fs::read_to_string("/etc/group")?;
        Self::find_in(user, group, &passwd, &groups)
    }

    fn find_in(
        user: Option<&str>,
        group: Option<&str>,
        passwd: &str,
        groups: &str,
    ) -> Result<Self, Error> {
        let unknown = |name: &str| Error::Unknown(name.to_owned());
        let entry = user.map(|user| (user, numbers(passwd, user)));
        let group = match (group, entry) {
            (Some(group), _) => Some(number(groups, group).ok_or_else(|| unknown(group))?),
            (None, entry) => entry.and_then(|(_, found)| found.and_then(|(_, group)| group)),
        };
        let user = match user {
            Some(user) => Some(number(passwd, user).ok_or_else(|| unknown(user))?),
            None => None,
        };
        Ok(Self { user, group })
    }
}

/// The third and the fourth field of the line of a name.
fn numbers(text: &str, name: &str) -> Option<(u32, Option<u32>)> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let found = fields.next()? == name;
        let mut fields = fields.skip(1);
        let id = fields.next()?.parse().ok()?;
        found.then(|| (id, fields.next().and_then(|group| group.parse().ok())))
    })
}

fn number(text: &str, name: &str) -> Option<u32> {
    numbers(text, name).map(|(id, _)| id).or_else(|| name.parse().ok())
}

/// Becomes somebody else, for good, and keeps no right but to change the network.
///
/// # Errors
///
/// See [`Error`]; after one the process must end, as it may have given up a part.
pub fn give_up(identity: Identity) -> Result<(), Error> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        return Err(Error::Threads(threads));
    }
    // u32::MAX means "no change" to the kernel.
    let real = |id: &u32| *id != u32::MAX;
    let kept = capabilities(None)?.permitted & CapabilitySet::NET_ADMIN;
    if let Some(group) = identity.group.filter(real) {
        let group = Gid::from_raw(group);
        set_thread_groups(&[group])?;
        set_thread_res_gid(group, group, group)?;
    }
    if let Some(user) = identity.user.filter(real) {
        let user = Uid::from_raw(user);
        set_keep_capabilities(true)?;
        set_thread_res_uid(user, user, user)?;
        set_keep_capabilities(false)?;
        let inheritable = CapabilitySet::empty();
        set_capabilities(None, CapabilitySets { effective: kept, permitted: kept, inheritable })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0:root:/root:/bin/bash\nopenvpn:x:101:105::/:/bin/false\nbad:x:y:z\n";
    const GROUPS: &str = "root:x:0:\nnogroup:x:65534:\nopenvpn:x:105:\n";

    #[test]
    fn names_and_numbers() {
        let find = |user, group| Identity::find_in(user, group, PASSWD, GROUPS);
        let identity = |user, group| Identity { user, group };
        assert_eq!(find(Some("openvpn"), None).unwrap(), identity(Some(101), Some(105)));
        assert_eq!(
            find(Some("openvpn"), Some("nogroup")).unwrap(),
            identity(Some(101), Some(65534))
        );
        assert_eq!(find(None, Some("7")).unwrap(), identity(None, Some(7)));
        assert_eq!(find(Some("1000"), None).unwrap(), identity(Some(1000), None));
        for (user, group) in [("bad", "root"), ("open", "root"), ("root", "open"), ("", "")] {
            assert!(matches!(find(Some(user), Some(group)), Err(Error::Unknown(_))), "{user}");
        }
    }

    #[test]
    fn not_with_threads() {
        // The harness and this test are two already.
        let identity = Identity { user: Some(65534), group: Some(65534) };
        assert!(matches!(give_up(identity), Err(Error::Threads(2..))));
    }
}
