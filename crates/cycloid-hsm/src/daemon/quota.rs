//! Limits on the objects in memory (`CKA_TOKEN` false).
//!
//! An application has a limit, so that a program with a leak fails alone. A user has one, because a
//! user may start many applications, and all users together have one, which is a bound for the
//! daemon.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::attribute::{cka, ckk, cko};
use crate::key::Curve;
use crate::object::Object;
use crate::{Code, Result};

/// The maximum number of objects of an application.
const MOST_OBJECTS: usize = 4096;

/// The maximum number of bytes of an application, of a user, and in all.
const LIMITS: Limits = Limits { application: 32 << 20, user: 128 << 20, all: 512 << 20 };

/// The memory of an object besides its contents: the object itself and its place in the index.
const OVERHEAD: usize = 1024;

#[derive(Clone, Copy, Debug)]
struct Limits {
    application: usize,
    user: usize,
    all: usize,
}

/// Returns an upper estimate of the memory of an object in bytes, with its prepared key.
pub(super) fn weight(object: &Object) -> usize {
    let attributes = &object.attributes;
    let values: usize = attributes.iter().map(|(_, value)| 64 + value.len()).sum();
    // The index has a copy of each.
    let indexed: usize = [cka::LABEL, cka::ID]
        .into_iter()
        .filter_map(|number| attributes.get(number))
        .map(|value| 64 + value.len())
        .sum();
    // A secret key has another copy when it is used.
    let secret = object.session_secret.as_ref().map_or(0, |secret| 2 * secret.len());
    OVERHEAD + values + indexed + secret + prepared(object)
}

/// Returns an upper estimate of the memory of a prepared key in bytes.
fn prepared(object: &Object) -> usize {
    match (object.class(), object.key_type()) {
        (cko::PRIVATE_KEY, ckk::EC) => {
            let curve = object.attributes.get(cka::EC_PARAMS).map(Curve::from_parameters);
            // The multiples of the public point: 18 KiB for coordinates of 32 bytes.
            let bytes = curve.and_then(Result::ok).map_or(66, Curve::bytes);
            18 * bytes * bytes + 1024
        }
        (cko::PRIVATE_KEY | cko::PUBLIC_KEY, ckk::RSA) => 8 << 10,
        (cko::PRIVATE_KEY | cko::PUBLIC_KEY, _) => 1024,
        _ => 0,
    }
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    by_user: HashMap<String, usize>,
}

/// The memory that all applications use.
#[derive(Debug)]
pub(super) struct Quota {
    limits: Limits,
    used: Mutex<Used>,
}

impl Default for Quota {
    fn default() -> Self {
        Self { limits: LIMITS, used: Mutex::default() }
    }
}

impl Quota {
    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the account of an application of a user.
    pub(super) fn account(self: &Arc<Self>, user: String) -> Account {
        Account { quota: self.clone(), user, bytes: 0, objects: 0 }
    }
}

/// The memory that an application uses. All of it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Account {
    quota: Arc<Quota>,
    user: String,
    bytes: usize,
    objects: usize,
}

impl Account {
    /// Counts an object.
    ///
    /// # Errors
    /// [`Code::DEVICE_MEMORY`] if that exceeds a limit; nothing is counted then.
    pub(super) fn add(&mut self, object: &Object) -> Result<()> {
        if self.objects >= MOST_OBJECTS {
            return Err(Code::DEVICE_MEMORY.because("too many objects in memory"));
        }
        self.change(0, weight(object))?;
        self.objects += 1;
        Ok(())
    }

    /// Counts an object in place of another.
    ///
    /// # Errors
    /// [`Code::DEVICE_MEMORY`] if it is larger and exceeds a limit; the other counts on then.
    pub(super) fn replace(&mut self, old: &Object, new: &Object) -> Result<()> {
        self.change(weight(old), weight(new))
    }

    /// Counts an object no longer.
    pub(super) fn remove(&mut self, object: &Object) {
        self.objects -= 1;
        let bytes = weight(object);
        self.change(bytes, 0).expect("less memory exceeds no limit");
    }

    /// Frees `old` bytes, which are counted, and counts `new` ones.
    fn change(&mut self, old: usize, new: usize) -> Result<()> {
        let limits = self.quota.limits;
        let mut used = self.quota.used();
        let of_user = used.by_user.get(&self.user).copied().unwrap_or(0);
        for (bytes, limit, what) in [
            (self.bytes, limits.application, "this program"),
            (of_user, limits.user, "this user"),
            (used.all, limits.all, "all programs"),
        ] {
            if new > old && bytes - old + new > limit {
                return Err(Code::DEVICE_MEMORY
                    .because(format!("the objects in memory of {what} take too much memory")));
            }
        }
        used.all = used.all - old + new;
        match of_user - old + new {
            0 => drop(used.by_user.remove(&self.user)),
            bytes => drop(used.by_user.insert(self.user.clone(), bytes)),
        }
        drop(used);
        self.bytes = self.bytes - old + new;
        Ok(())
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.change(self.bytes, 0).expect("less memory exceeds no limit");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::Template;

    fn object(bytes: usize) -> Object {
        let mut attributes = Template::new();
        attributes.set(cka::VALUE, vec![7; bytes]);
        Object::new(1, 1, attributes, None)
    }

    fn quota(application: usize, user: usize, all: usize) -> Arc<Quota> {
        Quota { limits: Limits { application, user, all }, used: Mutex::default() }.into()
    }

    #[test]
    fn each_limit_holds_and_what_goes_is_free_again() {
        // An object of 12 bytes has a weight of 1100.
        assert_eq!(weight(&object(12)), 1100);
        let quota = quota(2200, 3300, 4400);
        let refused = |account: &mut Account, bytes| account.add(&object(bytes)).unwrap_err();
        let [mut one, mut two] = [(); 2].map(|()| quota.account("user 1".into()));
        let mut other = quota.account("user 2".into());
        one.add(&object(12)).unwrap();
        assert_eq!(refused(&mut one, 13).code, Code::DEVICE_MEMORY);
        one.add(&object(12)).unwrap();
        assert!(refused(&mut one, 0).detail.contains("this program"));
        two.add(&object(12)).unwrap();
        assert!(refused(&mut two, 0).detail.contains("this user"));
        other.add(&object(12)).unwrap();
        assert!(refused(&mut other, 0).detail.contains("all programs"));
        one.remove(&object(12));
        other.add(&object(12)).unwrap();
        assert!(refused(&mut two, 0).detail.contains("all programs"));
        // In place of another, only the difference counts.
        two.replace(&object(12), &object(12)).unwrap();
        let code = two.replace(&object(12), &object(13)).unwrap_err().code;
        assert_eq!(code, Code::DEVICE_MEMORY);
        two.replace(&object(12), &object(0)).unwrap();
        two.replace(&object(0), &object(12)).unwrap();
        // An application's end frees everything.
        drop(other);
        two.add(&object(12)).unwrap();
        assert!(refused(&mut two, 0).detail.contains("this program"));
        drop((one, two));
        assert!(quota.used().all == 0 && quota.used().by_user.is_empty());
    }

    #[test]
    fn the_weight_of_a_prepared_key_is_above_its_tables() {
        use cycloid::scheme::ec::{P224, P256, P384, P521, prepared_key_limbs};
        for (curve, limbs) in [
            (Curve::P224, prepared_key_limbs::<P224>()),
            (Curve::P256, prepared_key_limbs::<P256>()),
            (Curve::P384, prepared_key_limbs::<P384>()),
            (Curve::P521, prepared_key_limbs::<P521>()),
        ] {
            let mut attributes = Template::new();
            attributes.set_number(cka::CLASS, cko::PRIVATE_KEY.into());
            attributes.set_number(cka::KEY_TYPE, ckk::EC.into());
            attributes.set(cka::EC_PARAMS, curve.parameters());
            let weight = prepared(&Object::new(1, 1, attributes, None));
            assert!(weight >= 8 * limbs, "{curve:?}: {weight} for {limbs} limbs");
        }
    }
}
