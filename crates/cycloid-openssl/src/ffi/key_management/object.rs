//! A key object: a key of Cycloid's, the default provider's form of it, or both.

use std::ffi::{CStr, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::abi::{Callback, Param, key_management as number, operation, selection};
use super::super::boundary::succeeds;
use super::super::default::{self, Object, Table};
use super::super::errors::Errors;
use super::super::large_stack::on_large_stack;
use super::super::params::Params;
use crate::failure::Failure;
use crate::key::{Key, Reading};

/// A key object.
pub(crate) struct KeyObject<K> {
    name: &'static CStr,
    pub(super) errors: Errors,
    forms: Mutex<Forms<K>>,
}

// SAFETY: the provider that errors are raised through lives until all its objects are gone.
unsafe impl<K: Key> Send for KeyObject<K> {}
// SAFETY: as above.
unsafe impl<K: Key> Sync for KeyObject<K> {}

/// The forms of one key.
pub(super) struct Forms<K> {
    pub(super) own: Own<K>,
    pub(super) default: Option<Arc<Object>>,
}

pub(super) enum Own<K> {
    /// Nobody has asked yet.
    Unknown,
    /// The key is only for the default provider.
    None,
    Is(Arc<K>),
}

impl<K: Key> KeyObject<K> {
    pub(super) fn new(
        name: &'static CStr,
        errors: Errors,
        own: Own<K>,
        default: Option<Object>,
    ) -> Arc<Self> {
        let forms = Mutex::new(Forms { own, default: default.map(Arc::new) });
        Arc::new(Self { name, errors, forms })
    }

    /// Returns the object at an address from OpenSSL.
    ///
    /// # Safety
    /// The address is null, or one of [`into_raw`] for the same `K`, not yet freed.
    pub(crate) unsafe fn at<'a>(address: *const c_void) -> Option<&'a Self> {
        // SAFETY: by the caller's word.
        unsafe { address.cast::<Self>().as_ref() }
    }

    /// Like [`at`](Self::at), as a share of the object's ownership.
    ///
    /// # Safety
    /// As [`at`](Self::at).
    pub(crate) unsafe fn share(address: *const c_void) -> Option<Arc<Self>> {
        if address.is_null() {
            return None;
        }
        // SAFETY: the address is from `Arc::into_raw`, and OpenSSL holds a share.
        unsafe {
            Arc::increment_strong_count(address.cast::<Self>());
            Some(Arc::from_raw(address.cast()))
        }
    }

    /// Returns the name of the kind of key.
    pub(crate) const fn name(&self) -> &'static CStr {
        self.name
    }

    pub(super) fn forms(&self) -> MutexGuard<'_, Forms<K>> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn table(&self) -> Option<&'static Table> {
        let table = default::table(operation::KEY_MANAGEMENT, self.name);
        if table.is_none() {
            self.errors.raise(Failure::NoDefault, "");
        }
        table
    }

    /// Returns the key as Cycloid's, if it is one that Cycloid computes with.
    pub(crate) fn own(&self) -> Option<Arc<K>> {
        let mut forms = self.forms();
        if matches!(forms.own, Own::Unknown) {
            let read = read_back(forms.default.as_ref()?);
            forms.own = read.map_or(Own::None, |key| Own::Is(Arc::new(key)));
        }
        match &forms.own {
            Own::Is(key) => Some(Arc::clone(key)),
            Own::Unknown | Own::None => None,
        }
    }

    /// Returns the default provider's form of the key; an empty one if there is none yet.
    pub(crate) fn default(&self) -> Option<Arc<Object>> {
        type New = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
        let mut forms = self.forms();
        if let Some(default) = &forms.default {
            return Some(Arc::clone(default));
        }
        let table = self.table()?;
        // SAFETY: the function has this type and takes the provider's context.
        let empty = unsafe {
            let new = table.function::<New>(number::NEW)?;
            Object::own(table, new(table.context()), number::FREE)?
        };
        if let Own::Is(key) = &forms.own
            && key.parts() != 0
            && !key.write().with(|params| import_default(&empty, key.parts(), params))
        {
            return None;
        }
        let default = Arc::new(empty);
        forms.default = Some(Arc::clone(&default));
        Some(default)
    }

    /// Returns the key if only Cycloid has it so far.
    pub(super) fn only_own(&self) -> Option<Arc<K>> {
        match &*self.forms() {
            Forms { own: Own::Is(key), default: None } => Some(Arc::clone(key)),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(&*self.forms(), Forms { own: Own::Unknown, default: None })
    }
}

pub(super) fn into_raw<K>(object: Arc<KeyObject<K>>) -> *mut c_void {
    Arc::into_raw(object).cast_mut().cast()
}

pub(super) fn import_default(object: &Object, selected: c_int, params: Params<'_>) -> bool {
    type Import = unsafe extern "C" fn(*mut c_void, c_int, *const Param) -> c_int;
    // SAFETY: the function has this type; object and parameters are valid.
    unsafe {
        let import = object.table().function::<Import>(number::IMPORT);
        import.is_some_and(|import| import(object.as_ptr(), selected, params.as_ptr()) == 1)
    }
}

pub(super) type Export = unsafe extern "C" fn(*mut c_void, c_int, Callback, *mut c_void) -> c_int;

/// Reads a key of the default provider's.
pub(super) fn read_back<K: Key>(object: &Object) -> Option<K> {
    unsafe extern "C" fn receive<K: Key>(params: *const Param, place: *mut c_void) -> c_int {
        succeeds(|| {
            // SAFETY: the default provider passes an array, and the place given below.
            let (params, place) =
                unsafe { (Params::from_raw(params), &mut *place.cast::<Option<K>>()) };
            *place = on_large_stack(|| K::read(&params, selection::ALL, Reading::ForUse));
            true
        })
    }
    let mut key: Option<K> = None;
    // SAFETY: the function has this type; `receive` takes the place of a key.
    unsafe {
        let export = object.table().function::<Export>(number::EXPORT)?;
        export(object.as_ptr(), selection::ALL, receive::<K>, (&raw mut key).cast());
    }
    key
}
