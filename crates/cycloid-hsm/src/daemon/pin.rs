//! PINs: hashed with argon2id, and protected by a delay that doubles with each wrong attempt.
//!
//! An attempt is *counted before it is judged*, in a transaction of the store. So a power cut gains
//! an attacker nothing, and several daemons on one database together judge no more attempts than
//! one would.
//!
//! The delay needs no clock that daemons share or that anyone can set. The store contains the
//! number of the latest attempt, and each daemon measures, by its own monotonic clock, how long it
//! has known that number. No daemon can have known it for longer than it has existed. A daemon that
//! has just started, or that learns of an attempt late, waits longer, never shorter: a restart
//! begins the delay again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Params, Version};
use rand_core::{Rng, UnwrapErr};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::rpc::Bytes;
use crate::rpc::Role;
use crate::store::encoding::{Malformed, Value};
use crate::store::{Store, Write};
use crate::{Code, Result};

/// The allowed lengths of a PIN in bytes.
pub const LENGTHS: std::ops::RangeInclusive<usize> = 4..=255;

/// The number of wrong PINs without a delay.
const FREE_FAILURES: u32 = 3;

/// The longest delay, in seconds.
const LONGEST_WAIT: u64 = 15 * 60;

/// A stored PIN verifier.
struct Verifier {
    /// The number of attempts since the last right PIN.
    failures: u32,
    /// The generation that the latest attempt made, which is unique.
    attempt: u64,
    /// The memory in KiB and the passes of argon2id.
    memory: u32,
    passes: u32,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

const ROLES: [Role; 3] = [Role::SecurityOfficer, Role::User, Role::Auditor];

const fn name(role: Role) -> &'static str {
    match role {
        Role::SecurityOfficer => "pin.officer",
        Role::User => "pin.user",
        Role::Auditor => "pin.auditor",
    }
}

/// The memory in KiB and the passes for new PINs: OWASP's second recommendation for argon2id. A PIN
/// is checked at every login; the store's own key has a higher cost.
const COST: (u32, u32) = (19 * 1024, 2);

impl Verifier {
    /// Parses a setting; `None` if there is no PIN.
    fn parse(setting: Option<Vec<u8>>) -> Result<Option<Self>> {
        let bytes = setting.unwrap_or_default();
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut from = bytes.as_slice();
        let from = &mut from;
        let parse = |from: &mut &[u8]| {
            Ok(Self {
                failures: u32::read(from)?,
                attempt: u64::read(from)?,
                memory: u32::read(from)?,
                passes: u32::read(from)?,
                salt: Bytes::read(from)?.0,
                hash: Bytes::read(from)?.0,
            })
        };
        parse(from)
            .map(Some)
            .map_err(|Malformed| Code::DEVICE_ERROR.because("the stored PIN verifier is corrupt"))
    }

    fn read(store: &Store, role: Role) -> Result<Option<Self>> {
        Self::parse(store.setting(name(role))?)
    }

    fn read_in(write: &mut Write<'_>, role: Role) -> Result<Option<Self>> {
        Self::parse(write.setting(name(role))?)
    }

    fn store(&self, write: &mut Write<'_>, role: Role) -> Result<()> {
        let mut bytes = Vec::new();
        self.failures.write(&mut bytes);
        self.attempt.write(&mut bytes);
        self.memory.write(&mut bytes);
        self.passes.write(&mut bytes);
        Bytes(self.salt.clone()).write(&mut bytes);
        Bytes(self.hash.clone()).write(&mut bytes);
        write.set_setting(name(role), &bytes)
    }

    /// Hashes the PIN with argon2id (RFC 9106).
    fn derive(&self, pin: &[u8]) -> Result<Zeroizing<[u8; 32]>> {
        let broken = |_| Code::DEVICE_ERROR.because("the stored PIN verifier is corrupt");
        let params = Params::new(self.memory, self.passes, 1, Some(32)).map_err(broken)?;
        let mut hash = Zeroizing::new([0; 32]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(pin, &self.salt, &mut *hash)
            .map_err(broken)?;
        Ok(hash)
    }
}

/// Checks the length of a PIN.
///
/// # Errors
/// [`Code::PIN_LEN_RANGE`].
pub(super) fn check_length(pin: &[u8]) -> Result<()> {
    if LENGTHS.contains(&pin.len()) {
        Ok(())
    } else {
        Err(Code::PIN_LEN_RANGE.because("a PIN must have 4 to 255 bytes"))
    }
}

/// A hashed PIN to be set.
pub struct Fresh(Verifier);

impl Fresh {
    /// Hashes a PIN.
    ///
    /// # Errors
    /// [`Code::PIN_LEN_RANGE`].
    pub fn new(pin: &[u8]) -> Result<Self> {
        check_length(pin)?;
        let mut salt = vec![0; 16];
        UnwrapErr(getrandom::SysRng).fill_bytes(&mut salt);
        let (memory, passes) = COST;
        let hash = Vec::new();
        let mut verifier = Verifier { failures: 0, attempt: 0, memory, passes, salt, hash };
        verifier.hash = verifier.derive(pin)?.to_vec();
        Ok(Self(verifier))
    }

    /// Sets the PIN, and resets the role's failures.
    ///
    /// # Errors
    /// The store's errors.
    pub fn set(mut self, write: &mut Write<'_>, role: Role) -> Result<()> {
        self.0.attempt = write.generation().0;
        self.0.store(write, role)
    }
}

/// Omits the hash, which is no secret to the store, but should not be logged.
impl std::fmt::Debug for Fresh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fresh")
    }
}

/// Removes a PIN, so that nobody can log in as that role.
///
/// # Errors
/// The store's errors.
pub fn remove(write: &mut Write<'_>, role: Role) -> Result<()> {
    write.set_setting(name(role), &[])
}

/// Returns whether the role has a PIN.
///
/// # Errors
/// The store's errors.
pub fn is_set(store: &Store, role: Role) -> Result<bool> {
    Ok(Verifier::read(store, role)?.is_some())
}

/// Fails if the role has a PIN by now.
///
/// # Errors
/// [`Code::FUNCTION_FAILED`]; the store's errors.
pub(super) fn needs_none(write: &mut Write<'_>, role: Role) -> Result<()> {
    match Verifier::read_in(write, role)? {
        None => Ok(()),
        Some(_) => Err(Code::FUNCTION_FAILED.because("somebody else set the PIN meanwhile")),
    }
}

/// Returns the number of wrong PINs since the last right one.
///
/// # Errors
/// The store's errors.
pub fn failures(store: &Store, role: Role) -> Result<u32> {
    Ok(Verifier::read(store, role)?.map_or(0, |verifier| verifier.failures))
}

/// Returns the delay after this many wrong PINs.
const fn wait(failures: u32) -> Duration {
    if failures < FREE_FAILURES {
        return Duration::ZERO;
    }
    let doubled = 1u64 << if failures - FREE_FAILURES < 20 { failures - FREE_FAILURES } else { 20 };
    Duration::from_secs(if doubled < LONGEST_WAIT { doubled } else { LONGEST_WAIT })
}

/// The latest attempt of a role that this daemon knows.
#[derive(Clone, Copy)]
struct Known {
    attempt: u64,
    /// When this daemon first saw it, by its own clock.
    since: Duration,
}

/// Judges PINs, together with any number of other daemons on the same store.
pub struct Judge {
    known: Mutex<[Option<Known>; 3]>,
    /// Returns the time since an arbitrary moment.
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Judge")
    }
}

impl Default for Judge {
    /// Uses CLOCK_MONOTONIC, which nobody can set.
    fn default() -> Self {
        let start = Instant::now();
        Self::with_clock(move || start.elapsed())
    }
}

impl Judge {
    fn with_clock(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { known: Mutex::default(), clock: Box::new(clock) }
    }

    fn known(&self) -> MutexGuard<'_, [Option<Known>; 3]> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long this daemon has known the role's latest attempt, `attempt`.
    fn age(&self, role: Role, attempt: u64) -> Duration {
        let at = ROLES.iter().position(|other| *other == role).expect("the list has all roles");
        let slot = &mut self.known()[at];
        let now = (self.clock)();
        let known = match *slot {
            Some(known) if known.attempt == attempt => known,
            _ => *slot.insert(Known { attempt, since: now }),
        };
        // If the clock went back, no time has passed.
        now.saturating_sub(known.since)
    }

    /// Notes the attempts that other daemons counted; their delays start here now.
    ///
    /// # Errors
    /// The store's errors.
    pub fn observe(&self, store: &Store) -> Result<()> {
        for role in ROLES {
            if let Some(verifier) = Verifier::read(store, role)? {
                self.age(role, verifier.attempt);
            }
        }
        Ok(())
    }

    /// Counts an attempt, with a line of `who` in the audit log that starts with `what`, and then
    /// judges the PIN. The attempt counts as wrong until [`Right::settle`].
    ///
    /// # Errors
    /// [`Code::USER_PIN_NOT_INITIALIZED`]; [`Code::PIN_LOCKED`] during the delay, whatever the PIN;
    /// [`Code::PIN_INCORRECT`]; the store's errors, in which case the PIN was not judged.
    pub fn judge(
        &self,
        store: &Store,
        role: Role,
        pin: &[u8],
        who: &str,
        what: &str,
    ) -> Result<Right> {
        let verifier = store.write(|write| {
            let Some(mut verifier) = Verifier::read_in(write, role)? else {
                return Err(Code::USER_PIN_NOT_INITIALIZED.into());
            };
            let wait = wait(verifier.failures);
            let rest = wait.saturating_sub(self.age(role, verifier.attempt));
            if !rest.is_zero() {
                let seconds = rest.as_millis().div_ceil(1000);
                let text = format!("too many wrong PINs: wait {seconds} s");
                return Err(Code::PIN_LOCKED.because(text));
            }
            verifier.failures = verifier.failures.saturating_add(1);
            verifier.attempt = write.generation().0;
            verifier.store(write, role)?;
            let count = verifier.failures;
            write.audit(who, &format!("{what}: attempt {count} since the last right PIN"))?;
            Ok(verifier)
        })?;
        // Noted only after the commit, so the measured age is never too long.
        self.age(role, verifier.attempt);
        let hash = verifier.derive(pin)?;
        if bool::from(hash.as_slice().ct_eq(&verifier.hash)) {
            Ok(Right { role, verifier })
        } else {
            Err(Code::PIN_INCORRECT.into())
        }
    }
}

/// A right PIN, whose attempt still counts as wrong.
#[must_use = "the attempt counts as wrong until it is settled"]
pub struct Right {
    role: Role,
    verifier: Verifier,
}

impl std::fmt::Debug for Right {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Right({:?})", self.role)
    }
}

impl Right {
    /// Resets the failures, in the transaction of the action that the PIN authorizes.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`] if the PIN was changed or removed meanwhile.
    pub fn settle(self, write: &mut Write<'_>) -> Result<()> {
        let now = Verifier::read_in(write, self.role)?;
        let same =
            |now: &Verifier| (&now.salt, &now.hash) == (&self.verifier.salt, &self.verifier.hash);
        match now.filter(same) {
            None => Err(Code::PIN_INCORRECT.because("the PIN was changed meanwhile")),
            Some(mut now) => {
                now.failures = 0;
                now.store(write, self.role)
            }
        }
    }
}

pub mod offline;
#[cfg(test)]
mod tests;
