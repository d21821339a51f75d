//! PINs: argon2id, and a delay that doubles with each wrong one.
//!
//! Failures are counted in the store before a PIN is looked at, so that pulling the plug gains nothing.

use argon2::{Algorithm, Argon2, Params, Version};
use rand_core::{Rng, UnwrapErr};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::error::{Code, Result};
use crate::rpc::Role;
use crate::rpc::codec::{Bytes, Value};
use crate::store::Store;

/// Bytes of a PIN.
pub const LENGTHS: std::ops::RangeInclusive<usize> = 4..=255;

/// Wrong PINs before the delay begins.
const FREE_FAILURES: u32 = 3;

/// The longest delay, in seconds.
const LONGEST_DELAY: u64 = 15 * 60;

/// What is stored of a PIN.
struct Verifier {
    failures: u32,
    /// Milliseconds since 1970.
    last_failure: u64,
    /// Kibibytes and passes of argon2id.
    memory: u32,
    passes: u32,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

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
    fn read(store: &Store, role: Role) -> Result<Option<Self>> {
        let bytes = store.setting(name(role))?.unwrap_or_default();
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut from = bytes.as_slice();
        let from = &mut from;
        let parse = |from: &mut &[u8]| {
            Ok(Self {
                failures: u32::read(from)?,
                last_failure: u64::read(from)?,
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

    fn write(&self, store: &Store, role: Role) -> Result<()> {
        let mut bytes = Vec::new();
        self.failures.write(&mut bytes);
        self.last_failure.write(&mut bytes);
        self.memory.write(&mut bytes);
        self.passes.write(&mut bytes);
        Bytes(self.salt.clone()).write(&mut bytes);
        Bytes(self.hash.clone()).write(&mut bytes);
        store.set_setting(name(role), &bytes)
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

/// Sets a PIN, and forgets its failures.
///
/// # Errors
/// [`Code::PIN_LEN_RANGE`]; those of the store.
pub fn set(store: &Store, role: Role, pin: &[u8]) -> Result<()> {
    check_length(pin)?;
    let mut salt = vec![0; 16];
    UnwrapErr(getrandom::SysRng).fill_bytes(&mut salt);
    let mut verifier = Verifier {
        failures: 0,
        last_failure: 0,
        memory: COST.0,
        passes: COST.1,
        salt,
        hash: Vec::new(),
    };
    verifier.hash = verifier.derive(pin)?.to_vec();
    verifier.write(store, role)
}

/// Takes a PIN away: nobody logs in as that role.
///
/// # Errors
/// Those of the store.
pub fn remove(store: &Store, role: Role) -> Result<()> {
    store.set_setting(name(role), &[])
}

/// Whether the role has a PIN.
///
/// # Errors
/// Those of the store.
pub fn is_set(store: &Store, role: Role) -> Result<bool> {
    Ok(Verifier::read(store, role)?.is_some())
}

/// Wrong PINs since the last right one.
///
/// # Errors
/// Those of the store.
pub fn failures(store: &Store, role: Role) -> Result<u32> {
    Ok(Verifier::read(store, role)?.map_or(0, |verifier| verifier.failures))
}

/// Seconds to wait after so many wrong PINs.
const fn delay(failures: u32) -> u64 {
    if failures < FREE_FAILURES {
        return 0;
    }
    let doubled = 1u64 << if failures - FREE_FAILURES < 20 { failures - FREE_FAILURES } else { 20 };
    if doubled < LONGEST_DELAY { doubled } else { LONGEST_DELAY }
}

/// Checks a PIN, at `now`, in milliseconds since 1970.
///
/// # Errors
/// [`Code::USER_PIN_NOT_INITIALIZED`]; [`Code::PIN_LOCKED`] while the delay lasts, whatever the PIN;
/// [`Code::PIN_INCORRECT`].
pub fn check(store: &Store, role: Role, pin: &[u8], now: u64) -> Result<()> {
    let Some(mut verifier) = Verifier::read(store, role)? else {
        return Err(Code::USER_PIN_NOT_INITIALIZED.into());
    };
    let wait = delay(verifier.failures) * 1000;
    let passed = now.saturating_sub(verifier.last_failure);
    if passed < wait {
        let seconds = (wait - passed).div_ceil(1000);
        return Err(
            Code::PIN_LOCKED.because(format!("there were too many wrong PINs: wait {seconds} s"))
        );
    }
    let failures = verifier.failures;
    verifier.failures = failures.saturating_add(1);
    verifier.last_failure = now;
    verifier.write(store, role)?;
    let hash = verifier.derive(pin)?;
    if !bool::from(hash.as_slice().ct_eq(&verifier.hash)) {
        return Err(Code::PIN_INCORRECT.into());
    }
    (verifier.failures, verifier.last_failure) = (0, 0);
    verifier.write(store, role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_quarter_of_an_hour() {
        let delays: Vec<u64> = (0..8).map(delay).collect();
        assert_eq!(delays, [0, 0, 0, 1, 2, 4, 8, 16]);
        assert_eq!(delay(u32::MAX), LONGEST_DELAY);
    }

    #[test]
    fn wrong_pins_are_counted_and_delay_the_next_even_if_it_is_right() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("keys.db").display());
        let store = Store::create(&url, &crate::store::Unlocking::key_file(&[7; 32])).unwrap();
        let code =
            |pin: &[u8], now| check(&store, Role::User, pin, now).map_err(|error| error.code);
        assert_eq!(code(b"1234", 0), Err(Code::USER_PIN_NOT_INITIALIZED));
        set(&store, Role::User, b"1234").unwrap();
        let mut now = 1_000_000;
        for count in 1..=3 {
            assert_eq!(code(b"4321", now), Err(Code::PIN_INCORRECT));
            assert_eq!(failures(&store, Role::User), Ok(count));
        }
        // One second, then two; a try that comes too early does not count.
        assert_eq!(code(b"1234", now + 999), Err(Code::PIN_LOCKED));
        assert_eq!(failures(&store, Role::User), Ok(3));
        now += 1000;
        assert_eq!(code(b"4321", now), Err(Code::PIN_INCORRECT));
        assert_eq!(code(b"1234", now + 1999), Err(Code::PIN_LOCKED));
        assert_eq!(code(b"1234", now + 2000), Ok(()));
        assert_eq!(failures(&store, Role::User), Ok(0));
        assert_eq!(
            set(&store, Role::User, b"123").map_err(|error| error.code),
            Err(Code::PIN_LEN_RANGE)
        );
        assert_eq!(code(b"1234", now), Ok(()));
    }
}
