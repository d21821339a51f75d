//! Drops root privileges for `user` and `group`, except the capability to change the network, which
//! a tunnel keeps needing.
//!
//! The kernel keeps privileges per thread. So this must run before a second thread starts; later
//! threads inherit the result.
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

/// The user and group to switch to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user id.
    pub user: Option<u32>,
    /// The group id.
    pub group: Option<u32>,
}

/// The error of dropping privileges.
#[derive(Debug)]
pub enum Error {
    /// An unknown user or group.
    Unknown(String),
    /// Other threads exist and would keep their privileges.
    Threads(usize),
    /// The kernel's error.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "this machine has no user or group `{name}`"),
            Self::Threads(count) => write!(f, "cannot drop privileges with {count} threads"),
            Self::Io(error) => write!(f, "cannot drop privileges: {error}"),
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
    /// Looks up names in `/etc/passwd` and `/etc/group`; a numeric id is accepted too. A user
    /// without a group implies that user's primary group.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`].
    pub fn find(user: Option<&str>, group: Option<&str>) -> Result<Self, Error> {
        let passwd = fs::read_to_string("/etc/passwd")?;
        let groups = fs::read_to_string("/etc/group")?;
        Self::find_in(user, group, &passwd, &groups)
    }

    /// Returns whether a process of root loses its privileges by the switch.
    pub fn is_unprivileged(self) -> bool {
        self.user.is_some_and(|user| is_real(user) && user != 0)
    }

    fn find_in(
        user: Option<&str>,
        group: Option<&str>,
        passwd: &str,
        groups: &str,
    ) -> Result<Self, Error> {
        let unknown = |name: &str| Error::Unknown(name.to_owned());
        let entry = user.map(|user| (user, numbers(passwd, user)));
        // One group of two names: files of one distribution run on another.
        let other_name = |group: &str| match group {
            "nobody" => number(groups, "nogroup"),
            "nogroup" => number(groups, "nobody"),
            _ => None,
        };
        let found = |group| number(groups, group).or_else(|| other_name(group));
        let group = match (group, entry) {
            (Some(group), _) => Some(found(group).ok_or_else(|| unknown(group))?),
            (None, entry) => entry.and_then(|(_, found)| found.and_then(|(_, group)| group)),
        };
        let user = match user {
            Some(user) => Some(number(passwd, user).ok_or_else(|| unknown(user))?),
            None => None,
        };
        Ok(Self { user, group })
    }
}

/// Returns the third and fourth field of a name's line.
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

/// Returns whether the kernel takes this as an id: the greatest number means "no change" to it.
fn is_real(id: u32) -> bool {
    id != u32::MAX
}

/// Switches to another user for good, and keeps only the capability to change the network.
///
/// # Errors
///
/// See [`Error`]. After an error the process must end, since it may have dropped part of its
/// privileges.
pub fn give_up(identity: Identity) -> Result<(), Error> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        return Err(Error::Threads(threads));
    }
    let kept = capabilities(None)?.permitted & CapabilitySet::NET_ADMIN;
    if let Some(group) = identity.group.filter(|id| is_real(*id)) {
        let group = Gid::from_raw(group);
        set_thread_groups(&[group])?;
        set_thread_res_gid(group, group, group)?;
    }
    if let Some(user) = identity.user.filter(|id| is_real(*id)) {
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
        assert_eq!(find(None, Some("nobody")).unwrap(), identity(None, Some(65534)));
        let fedora = Identity::find_in(None, Some("nogroup"), PASSWD, "nobody:x:99:\n");
        assert_eq!(fedora.unwrap(), identity(None, Some(99)));
        assert_eq!(find(None, Some("7")).unwrap(), identity(None, Some(7)));
        assert_eq!(find(Some("1000"), None).unwrap(), identity(Some(1000), None));
        for (user, group) in [("bad", "root"), ("open", "root"), ("root", "open"), ("", "")] {
            assert!(matches!(find(Some(user), Some(group)), Err(Error::Unknown(_))), "{user}");
        }
    }

    #[test]
    fn only_another_user_than_root_is_unprivileged() {
        let identity = |user, group| Identity { user, group };
        assert!(identity(Some(65534), None).is_unprivileged());
        for user in [None, Some(0), Some(u32::MAX)] {
            assert!(!identity(user, Some(65534)).is_unprivileged(), "{user:?}");
        }
    }

    #[test]
    fn privileges_stay_with_several_threads() {
        // The test harness and this test already are two threads.
        let identity = Identity { user: Some(65534), group: Some(65534) };
        assert!(matches!(give_up(identity), Err(Error::Threads(2..))));
    }
}
