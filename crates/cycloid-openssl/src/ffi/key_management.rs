//! Key management: the objects that OpenSSL's keys consist of.
//!
//! An object holds a key of Cycloid's, the default provider's form of it, or both. Each is made
//! from the other when it is needed first.

mod object;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

pub(crate) use object::KeyObject;
use object::{Export, Own, import_default, into_raw};

use super::abi::{Callback, Dispatch, Param, key_management as number, operation, selection};
use super::boundary::{guarded, succeeds};
use super::default::{self, Object, Table};
use super::errors::Errors;
use super::large_stack::on_large_stack;
use super::params::{OwnedParams, Params, Requests};
use crate::failure::Failure;
use crate::key::ec::EcKey;
use crate::key::ed25519::Ed25519Key;
use crate::key::rsa::RsaKey;
use crate::key::x25519::X25519Key;
use crate::key::{Key, Reading};
use crate::log::{self, By};

/// An algorithm of keys by its name.
pub(crate) trait Kind: 'static {
    type Key: Key;
    /// The name of the keys.
    const NAME: &'static CStr;
    /// The name of the operation with such keys that OpenSSL numbers.
    fn operation_name(operation: c_int) -> &'static CStr;
}

macro_rules! kinds {
    ($($kind:ident: $key:ty, $name:literal, $list:ident, $operation:expr;)*) => {
        $(
            struct $kind {}

            impl Kind for $kind {
                type Key = $key;
                const NAME: &'static CStr = $name;

                fn operation_name(operation: c_int) -> &'static CStr {
                    let name: fn(c_int) -> &'static CStr = $operation;
                    name(operation)
                }
            }

            pub(crate) const $list: &[Dispatch] = Functions::<$kind>::ALL;
        )*
    };
}

kinds! {
    Rsa: RsaKey, c"RSA", RSA, |_| c"RSA";
    RsaPss: RsaKey, c"RSA-PSS", RSA_PSS, |_| c"RSA";
    Ec: EcKey, c"EC", EC, |asked| if asked == operation::KEY_EXCHANGE { c"ECDH" } else { c"ECDSA" };
    Ed25519: Ed25519Key, c"ED25519", ED25519, |_| c"ED25519";
    X25519: X25519Key, c"X25519", X25519, |_| c"X25519";
}

/// A key in the making.
struct Generation<K> {
    errors: Errors,
    selection: c_int,
    settings: OwnedParams,
    template: Option<Arc<KeyObject<K>>>,
}

/// The functions of a kind of keys.
struct Functions<T>(PhantomData<T>);

impl<T: Kind> Functions<T> {
    const ALL: &[Dispatch] = &[
        Dispatch { id: number::NEW, function: Self::new_object as *const c_void },
        Dispatch { id: number::FREE, function: Self::free as *const c_void },
        Dispatch { id: number::GEN_INIT, function: Self::gen_init as *const c_void },
        Dispatch {
            id: number::GEN_SET_TEMPLATE,
            function: Self::gen_set_template as *const c_void,
        },
        Dispatch { id: number::GEN_SET_PARAMS, function: Self::gen_set_params as *const c_void },
        Dispatch {
            id: number::GEN_SETTABLE_PARAMS,
            function: Self::gen_settable_params as *const c_void,
        },
        Dispatch { id: number::GEN, function: Self::generate as *const c_void },
        Dispatch { id: number::GEN_CLEANUP, function: Self::gen_cleanup as *const c_void },
        Dispatch { id: number::GET_PARAMS, function: Self::get_params as *const c_void },
        Dispatch { id: number::GETTABLE_PARAMS, function: Self::gettable_params as *const c_void },
        Dispatch { id: number::SET_PARAMS, function: Self::set_params as *const c_void },
        Dispatch { id: number::SETTABLE_PARAMS, function: Self::settable_params as *const c_void },
        Dispatch {
            id: number::QUERY_OPERATION_NAME,
            function: Self::query_operation_name as *const c_void,
        },
        Dispatch { id: number::HAS, function: Self::has as *const c_void },
        Dispatch { id: number::VALIDATE, function: Self::validate as *const c_void },
        Dispatch { id: number::MATCH, function: Self::matches as *const c_void },
        Dispatch { id: number::IMPORT, function: Self::import as *const c_void },
        Dispatch { id: number::IMPORT_TYPES, function: Self::import_types as *const c_void },
        Dispatch { id: number::EXPORT, function: Self::export as *const c_void },
        Dispatch { id: number::EXPORT_TYPES, function: Self::export_types as *const c_void },
        Dispatch { id: number::DUP, function: Self::dup as *const c_void },
        Dispatch { id: 0, function: std::ptr::null() },
    ];

    unsafe extern "C" fn new_object(provider: *mut c_void) -> *mut c_void {
        guarded(std::ptr::null_mut(), || {
            into_raw(KeyObject::<T::Key>::new(T::NAME, Errors::of(provider), Own::Unknown, None))
        })
    }

    unsafe extern "C" fn free(object: *mut c_void) {
        guarded((), || {
            if !object.is_null() {
                // SAFETY: OpenSSL gives its share back.
                unsafe { drop(Arc::from_raw(object.cast::<KeyObject<T::Key>>())) };
            }
        });
    }

    unsafe extern "C" fn has(object: *const c_void, selected: c_int) -> c_int {
        type Has = unsafe extern "C" fn(*const c_void, c_int) -> c_int;
        succeeds(|| {
            // SAFETY: OpenSSL passes an object of this kind.
            let Some(object) = (unsafe { KeyObject::<T::Key>::at(object) }) else { return false };
            if let Some(own) = object.only_own() {
                // Other parameters are always there, even if empty.
                return selected & T::Key::POSSIBLE & !own.parts() == 0;
            }
            let Some(default) = object.default() else { return false };
            // SAFETY: the function has this type; the object is valid.
            unsafe {
                let has = default.table().function::<Has>(number::HAS);
                has.is_some_and(|has| has(default.as_ptr(), selected) == 1)
            }
        })
    }

    unsafe extern "C" fn validate(object: *const c_void, selected: c_int, check: c_int) -> c_int {
        type Validate = unsafe extern "C" fn(*const c_void, c_int, c_int) -> c_int;
        succeeds(|| {
            // SAFETY: OpenSSL passes an object of this kind.
            let Some(object) = (unsafe { KeyObject::<T::Key>::at(object) }) else { return false };
            if T::Key::READ_IS_VALID
                && selected & selection::PRIVATE_KEY == 0
                && let Some(own) = object.only_own()
            {
                return selected & T::Key::POSSIBLE & !own.parts() == 0;
            }
            let Some(default) = object.default() else { return false };
            // SAFETY: the function has this type; the object is valid.
            unsafe {
                let validate = default.table().function::<Validate>(number::VALIDATE);
                validate.is_some_and(|validate| validate(default.as_ptr(), selected, check) == 1)
            }
        })
    }

    unsafe extern "C" fn matches(a: *const c_void, b: *const c_void, selected: c_int) -> c_int {
        type Match = unsafe extern "C" fn(*const c_void, *const c_void, c_int) -> c_int;
        succeeds(|| {
            // SAFETY: OpenSSL passes objects of this kind.
            let (a, b) = unsafe { (KeyObject::<T::Key>::at(a), KeyObject::<T::Key>::at(b)) };
            let (Some(a), Some(b)) =
                (a.and_then(KeyObject::default), b.and_then(KeyObject::default))
            else {
                return false;
            };
            // SAFETY: the function has this type; the objects are valid.
            unsafe {
                let matches = a.table().function::<Match>(number::MATCH);
                matches.is_some_and(|matches| matches(a.as_ptr(), b.as_ptr(), selected) == 1)
            }
        })
    }

    unsafe extern "C" fn import(
        object: *mut c_void,
        selected: c_int,
        params: *const Param,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes an object of this kind, and an array.
            let (object, params) =
                unsafe { (KeyObject::<T::Key>::at(object), Params::from_raw(params)) };
            let Some(object) = object else { return false };
            if object.is_empty()
                && let Some(key) =
                    on_large_stack(|| T::Key::read(&params, selected, Reading::Whole))
            {
                object.forms().own = Own::Is(Arc::new(key));
                return true;
            }
            let Some(default) = object.default() else { return false };
            object.forms().own = Own::Unknown;
            import_default(&default, selected, params)
        })
    }

    unsafe extern "C" fn export(
        object: *mut c_void,
        selected: c_int,
        callback: Callback,
        argument: *mut c_void,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes an object of this kind.
            let object = unsafe { KeyObject::<T::Key>::at(object) };
            let Some(default) = object.and_then(KeyObject::default) else { return false };
            // SAFETY: the function has this type; the object is valid, and the callback OpenSSL's.
            unsafe {
                let export = default.table().function::<Export>(number::EXPORT);
                export.is_some_and(|export| {
                    export(default.as_ptr(), selected, callback, argument) == 1
                })
            }
        })
    }

    unsafe extern "C" fn dup(object: *const c_void, selected: c_int) -> *mut c_void {
        type Dup = unsafe extern "C" fn(*const c_void, c_int) -> *mut c_void;
        guarded(std::ptr::null_mut(), || {
            // SAFETY: OpenSSL passes an object of this kind.
            let Some(object) = (unsafe { KeyObject::<T::Key>::at(object) }) else {
                return std::ptr::null_mut();
            };
            if let Some(own) = object.only_own()
                && let Some(part) = own.part(selected)
            {
                let own = Own::Is(Arc::new(part));
                return into_raw(KeyObject::new(T::NAME, object.errors, own, None));
            }
            let copy = object.default().and_then(|default| {
                // SAFETY: the function has this type; the object is valid, and its copy ours.
                unsafe {
                    let table = default.table();
                    let dup = table.function::<Dup>(number::DUP)?;
                    Object::own(table, dup(default.as_ptr(), selected), number::FREE)
                }
            });
            copy.map_or(std::ptr::null_mut(), |copy| {
                let (errors, own) = (object.errors, Own::<T::Key>::Unknown);
                into_raw(KeyObject::new(T::NAME, errors, own, Some(copy)))
            })
        })
    }

    unsafe extern "C" fn get_params(object: *mut c_void, params: *mut Param) -> c_int {
        type Get = unsafe extern "C" fn(*mut c_void, *mut Param) -> c_int;
        succeeds(|| {
            // SAFETY: OpenSSL passes an object of this kind, and an array.
            let (object, mut requests) =
                unsafe { (KeyObject::<T::Key>::at(object), Requests::from_raw(params)) };
            let Some(object) = object else { return false };
            if let Some(own) = object.only_own() {
                let mut filled = requests.iter().map(|mut request| own.fill(&mut request));
                let all = filled.try_fold(true, |all, one| one.map(|one| all && one));
                // If a value is unknown here, the default provider fills all of them.
                if let Some(all) = all {
                    return all;
                }
            }
            let Some(default) = object.default() else { return false };
            // SAFETY: the function has this type; object and array are valid.
            unsafe {
                let get = default.table().function::<Get>(number::GET_PARAMS);
                get.is_some_and(|get| get(default.as_ptr(), requests.as_ptr()) == 1)
            }
        })
    }

    unsafe extern "C" fn set_params(object: *mut c_void, params: *const Param) -> c_int {
        type Set = unsafe extern "C" fn(*mut c_void, *const Param) -> c_int;
        succeeds(|| {
            // SAFETY: OpenSSL passes an object of this kind, and an array.
            let (object, params) =
                unsafe { (KeyObject::<T::Key>::at(object), Params::from_raw(params)) };
            let Some(object) = object else { return false };
            if params.is_empty() {
                return true;
            }
            if let Some(own) = object.only_own()
                && let Some(changed) = on_large_stack(|| own.changed(&params))
            {
                object.forms().own = Own::Is(Arc::new(changed));
                return true;
            }
            let Some(default) = object.default() else { return false };
            object.forms().own = Own::Unknown;
            // SAFETY: the function has this type; object and array are valid.
            unsafe {
                let set = default.table().function::<Set>(number::SET_PARAMS);
                set.is_some_and(|set| set(default.as_ptr(), params.as_ptr()) == 1)
            }
        })
    }

    unsafe extern "C" fn query_operation_name(operation: c_int) -> *const c_char {
        guarded(std::ptr::null(), || T::operation_name(operation).as_ptr())
    }

    unsafe extern "C" fn gen_init(
        provider: *mut c_void,
        selected: c_int,
        params: *const Param,
    ) -> *mut c_void {
        guarded(std::ptr::null_mut(), || {
            // SAFETY: OpenSSL passes an array.
            let settings = OwnedParams::copy_of(unsafe { Params::from_raw(params) });
            let errors = Errors::of(provider);
            let generation =
                Generation::<T::Key> { errors, selection: selected, settings, template: None };
            Box::into_raw(Box::new(generation)).cast()
        })
    }

    unsafe extern "C" fn gen_set_template(making: *mut c_void, template: *mut c_void) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a generation and an object of this kind.
            unsafe {
                let making = &mut *making.cast::<Generation<T::Key>>();
                making.template = KeyObject::share(template);
                making.template.is_some()
            }
        })
    }

    unsafe extern "C" fn gen_set_params(making: *mut c_void, params: *const Param) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a generation of this kind, and an array.
            let (making, params) =
                unsafe { (&mut *making.cast::<Generation<T::Key>>(), Params::from_raw(params)) };
            making.settings.update(OwnedParams::copy_of(params));
            true
        })
    }

    unsafe extern "C" fn generate(
        making: *mut c_void,
        callback: Option<Callback>,
        argument: *mut c_void,
    ) -> *mut c_void {
        guarded(std::ptr::null_mut(), || {
            // SAFETY: OpenSSL passes a generation of this kind.
            let making = unsafe { &*making.cast::<Generation<T::Key>>() };
            let name = T::NAME.to_str().unwrap_or("");
            let template = making.template.as_ref().map(|template| template.own());
            if !matches!(template, Some(None)) {
                let template = template.flatten();
                let generated = making.settings.with(|settings| {
                    on_large_stack(|| {
                        T::Key::generate(name, making.selection, &settings, template.as_deref())
                    })
                });
                if let Some(outcome) = generated {
                    return match outcome {
                        Ok(key) => {
                            log::write(By::Cycloid, "generate", name);
                            let own = Own::Is(Arc::new(key));
                            into_raw(KeyObject::new(T::NAME, making.errors, own, None))
                        }
                        Err(error) => {
                            making.errors.raise(error.failure, &error.details);
                            std::ptr::null_mut()
                        }
                    };
                }
            }
            log::write(By::Default, "generate", name);
            making.by_default(T::NAME, callback, argument).map_or(std::ptr::null_mut(), |key| {
                let own = Own::<T::Key>::Unknown;
                into_raw(KeyObject::new(T::NAME, making.errors, own, Some(key)))
            })
        })
    }

    unsafe extern "C" fn gen_cleanup(making: *mut c_void) {
        guarded((), || {
            if !making.is_null() {
                // SAFETY: OpenSSL gives the generation back.
                unsafe { drop(Box::from_raw(making.cast::<Generation<T::Key>>())) };
            }
        });
    }

    unsafe extern "C" fn gen_settable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
        type List = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *const Param;
        guarded(std::ptr::null(), || {
            let list = |table: &Table| {
                // SAFETY: the function has this type. It needs no generation.
                unsafe {
                    let list = table.function::<List>(number::GEN_SETTABLE_PARAMS)?;
                    Some(list(std::ptr::null_mut(), table.context()))
                }
            };
            let table = default::table(operation::KEY_MANAGEMENT, T::NAME);
            table.and_then(list).unwrap_or(std::ptr::null())
        })
    }

    unsafe extern "C" fn gettable_params(_: *mut c_void) -> *const Param {
        Self::listed(number::GETTABLE_PARAMS)
    }

    unsafe extern "C" fn settable_params(_: *mut c_void) -> *const Param {
        Self::listed(number::SETTABLE_PARAMS)
    }

    /// Returns the default provider's list of parameters.
    fn listed(id: c_int) -> *const Param {
        type List = unsafe extern "C" fn(*mut c_void) -> *const Param;
        guarded(std::ptr::null(), || {
            // SAFETY: both functions have this type.
            let list =
                |table: &Table| unsafe { Some(table.function::<List>(id)?(table.context())) };
            let table = default::table(operation::KEY_MANAGEMENT, T::NAME);
            table.and_then(list).unwrap_or(std::ptr::null())
        })
    }

    unsafe extern "C" fn import_types(selected: c_int) -> *const Param {
        Self::types(number::IMPORT_TYPES, selected)
    }

    unsafe extern "C" fn export_types(selected: c_int) -> *const Param {
        Self::types(number::EXPORT_TYPES, selected)
    }

    /// Returns the default provider's list of the parameters of selected parts.
    fn types(id: c_int, selected: c_int) -> *const Param {
        type Types = unsafe extern "C" fn(c_int) -> *const Param;
        guarded(std::ptr::null(), || {
            let types = |table: &Table| {
                // SAFETY: both functions have this type.
                unsafe { Some(table.function::<Types>(id)?(selected)) }
            };
            let table = default::table(operation::KEY_MANAGEMENT, T::NAME);
            table.and_then(types).unwrap_or(std::ptr::null())
        })
    }
}

impl<K: Key> Generation<K> {
    /// Begins the generation in the default provider.
    fn begin_by_default(&self, name: &'static CStr) -> Option<Object> {
        type Init = unsafe extern "C" fn(*mut c_void, c_int, *const Param) -> *mut c_void;
        type Template = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
        let Some(table) = default::table(operation::KEY_MANAGEMENT, name) else {
            self.errors.raise(Failure::NoDefault, "");
            return None;
        };
        // SAFETY: the functions have these types; the objects are valid.
        unsafe {
            let init = table.function::<Init>(number::GEN_INIT)?;
            let made = self
                .settings
                .with(|settings| init(table.context(), self.selection, settings.as_ptr()));
            let made = Object::own(table, made, number::GEN_CLEANUP)?;
            if let Some(template) = &self.template {
                let set = table.function::<Template>(number::GEN_SET_TEMPLATE)?;
                if set(made.as_ptr(), template.default()?.as_ptr()) != 1 {
                    return None;
                }
            }
            Some(made)
        }
    }

    /// Generates the key in the default provider.
    fn by_default(
        &self,
        name: &'static CStr,
        callback: Option<Callback>,
        argument: *mut c_void,
    ) -> Option<Object> {
        type Gen = unsafe extern "C" fn(*mut c_void, Option<Callback>, *mut c_void) -> *mut c_void;
        let made = self.begin_by_default(name)?;
        // SAFETY: the function has this type; the callback is OpenSSL's, and the key ours.
        unsafe {
            let generate = made.table().function::<Gen>(number::GEN)?;
            let key = generate(made.as_ptr(), callback, argument);
            Object::own(made.table(), key, number::FREE)
        }
    }
}
