//! PINs: argon2id, and a wait that doubles with each wrong one.
//!
//! An attempt is *counted before it is judged*, in a transaction of the store: so pulling the plug gains
//! nothing, and daemons on one database that are asked at once judge no more attempts than one would.
//!
//! The wait needs no clock that the daemons agree on, and none that can be set. The store has the number
//! of the latest attempt, and each daemon measures by a clock of its own, which only goes forward, how
//! long it has known that number. No daemon can have known it for longer than it is there. Who starts, or
//! hears of an attempt late, waits longer, never shorter: a restart begins the wait anew.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use argon2::{Algorithm, Argon2, Params, Version};
use rand_core::{Rng, UnwrapErr};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::error::{Code, Result};
use crate::rpc::Role;
use crate::rpc::codec::{Bytes, Value};
use crate::store::{Store, Write};

/// Bytes of a PIN.
pub const LENGTHS: std::ops::RangeInclusive<usize> = 4..=255;

/// Wrong PINs before the wait begins.
const FREE_FAILURES: u32 = 3;

/// The longest wait, in seconds.
const LONGEST_WAIT: u64 = 15 * 60;

/// What is stored of a PIN.
struct Verifier {
    /// Attempts since the last right one.
    failures: u32,
    /// The generation that the latest attempt made, which no other attempt has.
    attempt: u64,
    /// Kibibytes and passes of argon2id.
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

/// Kibibytes and passes for new PINs: OWASP's second recommendation for argon2id. A PIN is checked at
/// every login, and the store's own key is protected by more.
const COST: (u32, u32) = (19 * 1024, 2);

impl Verifier {
    /// What a setting holds; `None` where there is no PIN.
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
        parse(from).map(Some).map_err(|_: crate::rpc::Malformed| {
            Code::DEVICE_ERROR.because("what is stored of a PIN is not sound")
        })
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

    /// argon2id (RFC 9106) of the PIN.
    fn derive(&self, pin: &[u8]) -> Result<Zeroizing<[u8; 32]>> {
        let broken = |_| Code::DEVICE_ERROR.because("what is stored of a PIN is not sound");
        let params = Params::new(self.memory, self.passes, 1, Some(32)).map_err(broken)?;
        let mut hash = Zeroizing::new([0; 32]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(pin, &self.salt, &mut *hash)
            .map_err(broken)?;
        Ok(hash)
    }
}

/// Whether a PIN can be that long.
///
/// # Errors
/// [`Code::PIN_LEN_RANGE`].
pub(super) fn check_length(pin: &[u8]) -> Result<()> {
    if LENGTHS.contains(&pin.len()) {
        Ok(())
    } else {
        Err(Code::PIN_LEN_RANGE.because("a PIN has 4 to 255 bytes"))
    }
}

/// A PIN that is to be set, hashed.
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

    /// Sets it, and forgets the failures of the one before.
    ///
    /// # Errors
    /// Those of the store.
    pub fn set(mut self, write: &mut Write<'_>, role: Role) -> Result<()> {
        self.0.attempt = write.generation().0;
        self.0.store(write, role)
    }
}

/// Its hash is no secret to the store, but nobody else's business.
impl std::fmt::Debug for Fresh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fresh")
    }
}

/// Takes a PIN away: nobody logs in as that role.
///
/// # Errors
/// Those of the store.
pub fn remove(write: &mut Write<'_>, role: Role) -> Result<()> {
    write.set_setting(name(role), &[])
}

/// Whether the role has a PIN.
///
/// # Errors
/// Those of the store.
pub fn is_set(store: &Store, role: Role) -> Result<bool> {
    Ok(Verifier::read(store, role)?.is_some())
}

/// Refuses where the role has a PIN by now.
///
/// # Errors
/// [`Code::FUNCTION_FAILED`]; those of the store.
pub(super) fn needs_none(write: &mut Write<'_>, role: Role) -> Result<()> {
    match Verifier::read_in(write, role)? {
        None => Ok(()),
        Some(_) => Err(Code::FUNCTION_FAILED.because("somebody else set the PIN meanwhile")),
    }
}

/// Wrong PINs since the last right one.
///
/// # Errors
/// Those of the store.
pub fn failures(store: &Store, role: Role) -> Result<u32> {
    Ok(Verifier::read(store, role)?.map_or(0, |verifier| verifier.failures))
}

/// The wait after so many wrong PINs.
const fn wait(failures: u32) -> Duration {
    if failures < FREE_FAILURES {
        return Duration::ZERO;
    }
    let doubled = 1u64 << if failures - FREE_FAILURES < 20 { failures - FREE_FAILURES } else { 20 };
    Duration::from_secs(if doubled < LONGEST_WAIT { doubled } else { LONGEST_WAIT })
}

/// The latest attempt of a role that this daemon knows of.
#[derive(Clone, Copy)]
struct Known {
    attempt: u64,
    /// Since when, by this daemon's clock.
    since: Duration,
}

/// Judges PINs, as one daemon of any number.
pub struct Judge {
    known: Mutex<[Option<Known>; 3]>,
    /// Time since some moment.
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Judge")
    }
}

impl Default for Judge {
    /// By the system's clock that nobody sets, CLOCK_MONOTONIC.
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

    /// How long the role's latest attempt is known, now that it is this one.
    fn age(&self, role: Role, attempt: u64) -> Duration {
        let at = ROLES.iter().position(|other| *other == role).expect("there are no other roles");
        let slot = &mut self.known()[at];
        let now = (self.clock)();
        let known = match *slot {
            Some(known) if known.attempt == attempt => known,
            _ => *slot.insert(Known { attempt, since: now }),
        };
        // A clock that went back has measured nothing.
        now.saturating_sub(known.since)
    }

    /// Takes notice of attempts that other daemons counted, from when on their wait runs here.
    ///
    /// # Errors
    /// Those of the store.
    pub fn observe(&self, store: &Store) -> Result<()> {
        for role in ROLES {
            if let Some(verifier) = Verifier::read(store, role)? {
                self.age(role, verifier.attempt);
            }
        }
        Ok(())
    }

    /// Counts an attempt, with a line of `who` in the audit log that begins with `what`, and then judges
    /// the PIN. It stays counted as wrong until [`Right::settle`].
    ///
    /// # Errors
    /// [`Code::USER_PIN_NOT_INITIALIZED`]; [`Code::PIN_LOCKED`] while the wait lasts, whatever the PIN;
    /// [`Code::PIN_INCORRECT`]; those of the store, and then nothing was judged.
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
                let text = format!("there were too many wrong PINs: wait {seconds} s");
                return Err(Code::PIN_LOCKED.because(text));
            }
            verifier.failures = verifier.failures.saturating_add(1);
            verifier.attempt = write.generation().0;
            verifier.store(write, role)?;
            let count = verifier.failures;
            write.audit(who, &format!("{what}: attempt {count} since the last right PIN"))?;
            Ok(verifier)
        })?;
        // Once it is there: what is known from here on is not known for too long.
        self.age(role, verifier.attempt);
        let hash = verifier.derive(pin)?;
        if bool::from(hash.as_slice().ct_eq(&verifier.hash)) {
            Ok(Right { role, verifier })
        } else {
            Err(Code::PIN_INCORRECT.into())
        }
    }
}

/// A PIN that was right.
#[must_use = "it counts as wrong until it is settled"]
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
    /// Forgets the failures, in the transaction of what the PIN was given for.
    ///
    /// # Errors
    /// [`Code::PIN_INCORRECT`] if the role has another PIN by now, or none.
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

#[cfg(test)]
mod tests;
