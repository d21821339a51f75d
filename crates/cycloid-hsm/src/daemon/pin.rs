//! PINs: hashed with argon2id, and protected by delays after wrong attempts.
//!
//! Each *asker*, a user or the holder of a certificate, has a delay of its own, which doubles with
//! each wrong PIN. So nobody locks out somebody else. All askers without a right PIN so far share a
//! budget of wrong PINs, thirty at first and then one per quarter of an hour: many identities
//! together guess no faster than one. An asker that has given the right PIN before does not need
//! the budget.
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
//!
//! argon2id takes tens of milliseconds. After a right PIN, the daemon remembers a
//! digest of it under a key that exists in its memory alone. The next login with the same PIN
//! compares digests; a stolen database contains argon2id's hash as before.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Params, Version};
use rand_core::{Rng, UnwrapErr};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::mechanism::Hash;
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

/// The number of wrong PINs that all askers without a right one have together, before they wait
/// for [`LONGEST_WAIT`] per attempt.
const BUDGET: u32 = 30;

/// The maximum number of askers that a verifier distinguishes.
const MOST_ASKERS: usize = 64;

/// The identity of an asker: the start of the SHA-256 digest of its name.
pub type Asker = [u8; 16];

/// Returns the identity of the asker with this name.
pub fn asker(name: &str) -> Asker {
    let digest = crate::crypto::digest(Hash::Sha256, name.as_bytes());
    *digest.first_chunk().expect("a digest has 32 bytes")
}

/// All askers without a right PIN.
pub(super) const STRANGERS: Asker = [0; 16];

/// The attempts of one asker.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attempts {
    asker: Asker,
    /// The number of wrong PINs since the last right one.
    failures: u32,
    /// The generation that the latest attempt made, which is unique.
    attempt: u64,
    /// Whether it has given the right PIN since that was set.
    known: bool,
}

/// A stored PIN verifier.
#[derive(Clone)]
struct Verifier {
    /// The number of wrong PINs of strangers that still count.
    failures: u32,
    /// The generation in which `failures` changed last.
    attempt: u64,
    askers: Vec<Attempts>,
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

fn askers(from: &mut &[u8]) -> Result<Vec<Attempts>, Malformed> {
    let count = u32::read(from)?;
    let asker = |_| {
        let (asker, rest) = from.split_first_chunk().ok_or(Malformed)?;
        *from = rest;
        let (failures, attempt) = (u32::read(from)?, u64::read(from)?);
        Ok(Attempts { asker: *asker, failures, attempt, known: u32::read(from)? != 0 })
    };
    (0..count).map(asker).collect()
}

impl Verifier {
    /// Returns the attempts of an asker, who is entered if absent. Among too many, the one with the
    /// oldest attempt is forgotten, strangers first: their budget remains.
    fn of(&mut self, asker: Asker) -> &mut Attempts {
        let found = self.askers.iter().position(|other| other.asker == asker);
        let at = found.unwrap_or_else(|| {
            if self.askers.len() >= MOST_ASKERS {
                let all = self.askers.iter().enumerate();
                let oldest = all.min_by_key(|(_, other)| (other.known, other.attempt));
                let oldest = oldest.map_or(0, |(at, _)| at);
                self.askers.swap_remove(oldest);
            }
            self.askers.push(Attempts { asker, failures: 0, attempt: 0, known: false });
            self.askers.len() - 1
        });
        &mut self.askers[at]
    }

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
                // Verifiers of older versions end here.
                askers: if from.is_empty() { Vec::new() } else { askers(from)? },
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
        (self.askers.len() as u32).write(&mut bytes);
        for asker in &self.askers {
            bytes.extend_from_slice(&asker.asker);
            asker.failures.write(&mut bytes);
            asker.attempt.write(&mut bytes);
            u32::from(asker.known).write(&mut bytes);
        }
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
        let (hash, askers) = (Vec::new(), Vec::new());
        let mut verifier = Verifier { failures: 0, attempt: 0, memory, passes, salt, hash, askers };
        verifier.hash = verifier.derive(pin)?.to_vec();
        Ok(Self(verifier))
    }

    /// Sets the PIN, and resets the role's failures. All askers are strangers until they give it.
    ///
    /// # Errors
    /// The store's errors.
    pub fn set(mut self, write: &mut Write<'_>, role: Role) -> Result<()> {
        self.0.attempt = write.generation().0;
        self.0.store(write, role)
    }

    /// Sets the PIN in place of one that `asker` has just given. It knows the new one, too, so
    /// wrong PINs of strangers do not keep it out.
    ///
    /// # Errors
    /// The store's errors.
    pub(super) fn change(mut self, write: &mut Write<'_>, role: Role, asker: Asker) -> Result<()> {
        let attempt = write.generation().0;
        self.0.askers = vec![Attempts { asker, failures: 0, attempt, known: true }];
        self.set(write, role)
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

/// Returns the number of an asker's wrong PINs since its last right one.
///
/// # Errors
/// The store's errors.
pub fn failures(store: &Store, role: Role, asker: Asker) -> Result<u32> {
    let verifier = Verifier::read(store, role)?;
    Ok(verifier.map_or(0, |mut verifier| verifier.of(asker).failures))
}

/// Returns the delay after this many wrong PINs.
pub(super) const fn wait(failures: u32) -> Duration {
    if failures < FREE_FAILURES {
        return Duration::ZERO;
    }
    let doubled = 1u64 << if failures - FREE_FAILURES < 20 { failures - FREE_FAILURES } else { 20 };
    Duration::from_secs(if doubled < LONGEST_WAIT { doubled } else { LONGEST_WAIT })
}

/// The latest attempt that this daemon knows of.
#[derive(Clone, Copy)]
struct Known {
    attempt: u64,
    /// When this daemon first saw it, by its own clock.
    since: Duration,
}

/// The right PIN of a role, as far as this daemon has seen it.
#[derive(Clone)]
struct Remembered {
    /// Names the verifier: a PIN that is set anew has another salt.
    salt: Vec<u8>,
    /// HMAC-SHA-256 of the PIN, by a key that exists in this process alone.
    digest: Zeroizing<Vec<u8>>,
}

/// Judges PINs, together with any number of other daemons on the same store.
pub struct Judge {
    known: Mutex<HashMap<(Role, Asker), Known>>,
    remembered: Mutex<HashMap<Role, Remembered>>,
    key: Zeroizing<[u8; 32]>,
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

/// An attempt that was counted, and not yet judged.
#[must_use = "an attempt that is not judged counts as wrong"]
pub struct Counted {
    role: Role,
    asker: Asker,
    /// Whether the strangers' budget paid for it.
    stranger: bool,
    verifier: Verifier,
}

impl Judge {
    fn with_clock(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        UnwrapErr(getrandom::SysRng).fill_bytes(&mut *key);
        let (known, remembered) = (Mutex::default(), Mutex::default());
        Self { known, remembered, key, clock: Box::new(clock) }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(Role, Asker), Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remembered(&self) -> MutexGuard<'_, HashMap<Role, Remembered>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long this daemon has known an asker's latest attempt, `attempt`.
    fn age(&self, role: Role, asker: Asker, attempt: u64) -> Duration {
        let now = (self.clock)();
        let mut known = self.known();
        let known = known.entry((role, asker)).or_insert(Known { attempt, since: now });
        if known.attempt != attempt {
            *known = Known { attempt, since: now };
        }
        // If the clock went back, no time has passed.
        now.saturating_sub(known.since)
    }

    /// Notes the latest attempts of a verifier: their delays start here now.
    fn note(&self, role: Role, verifier: &Verifier) {
        let all = &verifier.askers;
        // An asker that the store has forgotten is a new one.
        self.known().retain(|(of, asker), _| {
            *of != role || *asker == STRANGERS || all.iter().any(|other| other.asker == *asker)
        });
        self.age(role, STRANGERS, verifier.attempt);
        for other in all {
            self.age(role, other.asker, other.attempt);
        }
    }

    /// Notes the attempts that other daemons counted; their delays start here now.
    ///
    /// # Errors
    /// The store's errors.
    pub fn observe(&self, store: &Store) -> Result<()> {
        for role in ROLES {
            if let Some(verifier) = Verifier::read(store, role)? {
                self.note(role, &verifier);
            }
        }
        Ok(())
    }

    /// Returns the rest of an asker's delay, and whether it is a stranger. Wrong PINs of strangers
    /// that have become too old to count are forgiven.
    fn rest(&self, role: Role, asker: Asker, verifier: &mut Verifier) -> (Duration, bool) {
        let own = verifier.of(asker).clone();
        let rest = wait(own.failures).saturating_sub(self.age(role, asker, own.attempt));
        if own.known {
            return (rest, false);
        }
        let age = self.age(role, STRANGERS, verifier.attempt);
        let forgiven = u32::try_from(age.as_secs() / LONGEST_WAIT).unwrap_or(u32::MAX);
        verifier.failures = verifier.failures.saturating_sub(forgiven);
        if verifier.failures < BUDGET {
            return (rest, true);
        }
        (rest.max(Duration::from_secs(LONGEST_WAIT).saturating_sub(age)), true)
    }

    /// Counts an attempt, with a line of `who` in the audit log that starts with `what`. It counts
    /// as wrong until [`Right::settle`].
    ///
    /// # Errors
    /// [`Code::USER_PIN_NOT_INITIALIZED`]; [`Code::PIN_LOCKED`] during the delay, whatever the PIN;
    /// the store's errors, in which case the PIN is not judged.
    pub fn count(
        &self,
        store: &Store,
        role: Role,
        asker: Asker,
        who: &str,
        what: &str,
    ) -> Result<Counted> {
        let (verifier, stranger) = store.write(|write| {
            let Some(mut verifier) = Verifier::read_in(write, role)? else {
                return Err(Code::USER_PIN_NOT_INITIALIZED.into());
            };
            let (rest, stranger) = self.rest(role, asker, &mut verifier);
            if !rest.is_zero() {
                let seconds = rest.as_millis().div_ceil(1000);
                let text = format!("too many wrong PINs: wait {seconds} s");
                return Err(Code::PIN_LOCKED.because(text));
            }
            let generation = write.generation().0;
            if stranger {
                verifier.failures = verifier.failures.saturating_add(1);
                verifier.attempt = generation;
            }
            let own = verifier.of(asker);
            own.failures = own.failures.saturating_add(1);
            own.attempt = generation;
            let count = own.failures;
            verifier.store(write, role)?;
            write.audit(who, &format!("{what}: attempt {count} since the last right PIN"))?;
            Ok((verifier, stranger))
        })?;
        // Noted only after the commit, so the measured age is never too long.
        self.note(role, &verifier);
        Ok(Counted { role, asker, stranger, verifier })
    }

    /// Judges the PIN of a counted attempt. This takes tens of milliseconds.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`].
    pub fn judge(&self, counted: Counted, pin: &[u8]) -> Result<Right> {
        let verifier = &counted.verifier;
        let hash = verifier.derive(pin)?;
        if !bool::from(hash.as_slice().ct_eq(&verifier.hash)) {
            return Err(Code::PIN_INCORRECT.into());
        }
        let (role, salt) = (counted.role, verifier.salt.clone());
        let digest = self.digest(role, pin);
        self.remembered().insert(role, Remembered { salt, digest });
        Ok(Right(counted))
    }

    /// Returns whether an asker has not given the right PIN so far.
    ///
    /// # Errors
    /// The store's errors.
    pub(super) fn is_stranger(store: &Store, role: Role, asker: Asker) -> Result<bool> {
        let verifier = Verifier::read(store, role)?;
        let is_known = |own: &Attempts| own.asker == asker && own.known;
        Ok(!verifier.is_some_and(|verifier| verifier.askers.iter().any(is_known)))
    }

    fn digest(&self, role: Role, pin: &[u8]) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(crate::crypto::hmac(Hash::Sha256, &*self.key, &[&[role as u8], pin]))
    }

    /// Returns whether this is the right PIN of an asker without wrong ones, as far as that can be
    /// said without hashing. Such a PIN need not be counted. `false` says nothing about the PIN.
    ///
    /// # Errors
    /// The store's errors.
    pub fn recognizes(&self, store: &Store, role: Role, asker: Asker, pin: &[u8]) -> Result<bool> {
        let Some(remembered) = self.remembered().get(&role).cloned() else { return Ok(false) };
        let Some(verifier) = Verifier::read(store, role)? else { return Ok(false) };
        let trusted = |own: &&Attempts| own.asker == asker && own.known && own.failures == 0;
        let digest = self.digest(role, pin);
        Ok(verifier.askers.iter().find(trusted).is_some()
            && verifier.salt == remembered.salt
            && bool::from(digest.ct_eq(&remembered.digest)))
    }
}

/// A right PIN, whose attempt still counts as wrong.
#[must_use = "the attempt counts as wrong until it is settled"]
pub struct Right(Counted);

impl std::fmt::Debug for Right {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Right({:?})", self.0.role)
    }
}

impl Right {
    /// Resets the asker's failures, in the transaction of the action that the PIN authorizes.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`] if the PIN was changed or removed meanwhile.
    pub fn settle(self, write: &mut Write<'_>) -> Result<()> {
        let Counted { role, asker, stranger, verifier } = self.0;
        let now = Verifier::read_in(write, role)?;
        let same = |now: &Verifier| (&now.salt, &now.hash) == (&verifier.salt, &verifier.hash);
        match now.filter(same) {
            None => Err(Code::PIN_INCORRECT.because("the PIN was changed meanwhile")),
            Some(mut now) => {
                now.failures = now.failures.saturating_sub(u32::from(stranger));
                let own = now.of(asker);
                (own.failures, own.known) = (0, true);
                now.store(write, role)
            }
        }
    }
}

pub mod offline;
#[cfg(test)]
mod tests;
