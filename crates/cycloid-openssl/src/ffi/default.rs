//! OpenSSL's own provider `default`, in a library context of our own. It does what Cycloid leaves
//! to it: unusual keys, parameters and paddings.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::sync::OnceLock;

use super::abi::{Algorithm, Callback, operation};
use super::libcrypto::Providers;

/// The default provider.
pub(crate) struct Default {
    functions: Providers,
    provider: *mut c_void,
    tables: Vec<((c_int, &'static CStr), Table)>,
}

// SAFETY: OpenSSL's providers and their tables may be used by any thread.
unsafe impl Send for Default {}
// SAFETY: as above.
unsafe impl Sync for Default {}

/// The functions of one algorithm of the default provider, by number.
pub(crate) struct Table {
    functions: [*const c_void; Self::NUMBERS],
    /// What the provider's constructors take.
    context: *mut c_void,
}

// SAFETY: functions and context may be used by any thread.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

/// What Cycloid may leave to the default provider.
const NEEDED: [(c_int, &CStr); 11] = [
    (operation::KEY_MANAGEMENT, c"RSA"),
    (operation::KEY_MANAGEMENT, c"RSA-PSS"),
    (operation::KEY_MANAGEMENT, c"EC"),
    (operation::KEY_MANAGEMENT, c"ED25519"),
    (operation::KEY_MANAGEMENT, c"X25519"),
    (operation::SIGNATURE, c"RSA"),
    (operation::SIGNATURE, c"ECDSA"),
    (operation::SIGNATURE, c"ED25519"),
    (operation::KEY_EXCHANGE, c"ECDH"),
    (operation::KEY_EXCHANGE, c"X25519"),
    (operation::ASYMMETRIC_CIPHER, c"RSA"),
];

static DEFAULT: OnceLock<Option<Default>> = OnceLock::new();

/// Returns the functions of an algorithm, or `None` if libcrypto has none.
pub(crate) fn table(operation: c_int, name: &CStr) -> Option<&'static Table> {
    let default = DEFAULT.get_or_init(load).as_ref()?;
    let mut tables = default.tables.iter();
    tables.find(|(key, _)| *key == (operation, name)).map(|(_, table)| table)
}

/// Calls `callback` with each capability of a kind.
///
/// # Safety
/// `callback` may be called with `argument`.
pub(crate) unsafe fn capabilities(kind: &CStr, callback: Callback, argument: *mut c_void) -> bool {
    let Some(default) = DEFAULT.get_or_init(load) else {
        return false;
    };
    // SAFETY: the provider is loaded; the caller vouches for the callback.
    unsafe {
        (default.functions.capabilities)(default.provider, kind.as_ptr(), callback, argument) == 1
    }
}

fn load() -> Option<Default> {
    let functions = Providers::load()?;
    // SAFETY: the functions are libcrypto's. Neither context nor provider is ever freed. A provider
    // is queried for its own operations; its lists live as long as it does.
    unsafe {
        let context = (functions.new_context)();
        if context.is_null() {
            return None;
        }
        let provider = (functions.load)(context, c"default".as_ptr());
        if provider.is_null() {
            return None;
        }
        let context = (functions.context)(provider);
        let table = |(operation, name): (c_int, &'static CStr)| {
            let mut no_cache = 0;
            let first = (functions.query)(provider, operation, &raw mut no_cache);
            Some(((operation, name), Table::of(find(first, name)?, context)))
        };
        let tables = NEEDED.into_iter().filter_map(table).collect();
        Some(Default { functions, provider, tables })
    }
}

/// Returns the algorithm whose first name is `name`.
///
/// # Safety
/// `next` is null or a list that ends with a null name.
unsafe fn find(mut next: *const Algorithm, name: &CStr) -> Option<&'static Algorithm> {
    // SAFETY: `next` stays within the list.
    unsafe {
        while !next.is_null() && !(*next).names.is_null() {
            let names = CStr::from_ptr((*next).names).to_bytes();
            if names.split(|byte| *byte == b':').next() == Some(name.to_bytes()) {
                return Some(&*next);
            }
            next = next.add(1);
        }
    }
    None
}

impl Table {
    /// The numbers of functions are smaller than this.
    const NUMBERS: usize = 64;

    /// # Safety
    /// The algorithm's functions end with the number 0.
    unsafe fn of(algorithm: &Algorithm, context: *mut c_void) -> Self {
        let mut functions = [std::ptr::null(); Self::NUMBERS];
        let mut next = algorithm.implementation;
        // SAFETY: `next` stays within the list.
        unsafe {
            while (*next).id != 0 {
                let id = usize::try_from((*next).id).unwrap_or(usize::MAX);
                if let Some(place) = functions.get_mut(id) {
                    *place = (*next).function;
                }
                next = next.add(1);
            }
        }
        Self { functions, context }
    }

    /// Returns what the provider's constructors take.
    pub(crate) const fn context(&self) -> *mut c_void {
        self.context
    }

    /// Returns the function with a number.
    ///
    /// # Safety
    /// `F` is the type of the function pointer with that number.
    pub(crate) unsafe fn function<F: Copy>(&self, id: c_int) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
        let address = *self.functions.get(usize::try_from(id).ok()?)?;
        // SAFETY: the address is that of a function of type `F`, by the caller's word.
        (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
    }
}

/// An object of the default provider: a key or the context of an operation. Dropped by its own
/// function.
pub(crate) struct Object {
    table: &'static Table,
    address: *mut c_void,
    free: c_int,
    not_shared: PhantomData<*mut c_void>,
}

// SAFETY: OpenSSL's objects may be moved to other threads. A shared key is only read by the default
// provider, which locks what it changes; contexts are never shared.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Object {
    /// Takes ownership of an object, or returns `None` for null.
    ///
    /// # Safety
    /// The object is one of `table`, whose function `free` takes it alone.
    pub(crate) unsafe fn own(
        table: &'static Table,
        address: *mut c_void,
        free: c_int,
    ) -> Option<Self> {
        (!address.is_null()).then_some(Self { table, address, free, not_shared: PhantomData })
    }

    /// Returns the object for OpenSSL.
    pub(crate) const fn as_ptr(&self) -> *mut c_void {
        self.address
    }

    /// Returns the functions of the object.
    pub(crate) const fn table(&self) -> &'static Table {
        self.table
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: `free` has this type and takes the object, which is used no more.
        unsafe {
            let free = self.table.function::<unsafe extern "C" fn(*mut c_void)>(self.free);
            if let Some(free) = free {
                free(self.address);
            }
        }
    }
}

/// Creates the context of an operation.
pub(crate) fn new_context(
    table: &'static Table,
    new: c_int,
    free: c_int,
    properties: Option<&CStr>,
) -> Option<Object> {
    type New = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;
    let properties = properties.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: `new` has this type for signatures; exchanges and ciphers ignore the second argument.
    unsafe {
        let create = table.function::<New>(new)?;
        Object::own(table, create(table.context(), properties), free)
    }
}
