//! The BIGNUM interface of OpenSSL, which AWS-LC inherited: one adapter for both.
//!
//! The functions are those of `openssl/bn.h`, with OpenSSL's types.

use std::ffi::c_int;
use std::ptr;

use super::bytes::{from_bytes, to_bytes};
use super::modexp::{Candidate, Input, Prepare};
use crate::Failure;
use crate::measure::{Operation, heap};

/// `BIGNUM`, `BN_CTX` and `BN_MONT_CTX`, as opaque types.
#[repr(C)]
pub(super) struct Number([u8; 0]);
#[repr(C)]
pub(super) struct Pool([u8; 0]);
#[repr(C)]
pub(super) struct Montgomery([u8; 0]);

/// `BN_mod_exp_mont` and functions with the same arguments: result, base, exponent, modulus.
pub(super) type ModExp = unsafe extern "C" fn(
    *mut Number,
    *const Number,
    *const Number,
    *const Number,
    *mut Pool,
    *mut Montgomery,
) -> c_int;

/// Two exponentiations in one call: result, base, exponent, modulus and prepared modulus, twice.
pub(super) type ModExpTwo = unsafe extern "C" fn(
    *mut Number,
    *const Number,
    *const Number,
    *const Number,
    *mut Montgomery,
    *mut Number,
    *const Number,
    *const Number,
    *const Number,
    *mut Montgomery,
    *mut Pool,
) -> c_int;

/// The functions of one library. They remain callable for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) number_new: unsafe extern "C" fn() -> *mut Number,
    pub(super) number_free: unsafe extern "C" fn(*mut Number),
    pub(super) bin2bn: unsafe extern "C" fn(*const u8, c_int, *mut Number) -> *mut Number,
    pub(super) bn2binpad: unsafe extern "C" fn(*const Number, *mut u8, c_int) -> c_int,
    pub(super) pool_new: unsafe extern "C" fn() -> *mut Pool,
    pub(super) pool_free: unsafe extern "C" fn(*mut Pool),
    pub(super) montgomery_new: unsafe extern "C" fn() -> *mut Montgomery,
    pub(super) montgomery_set:
        unsafe extern "C" fn(*mut Montgomery, *const Number, *mut Pool) -> c_int,
    pub(super) montgomery_free: unsafe extern "C" fn(*mut Montgomery),
    pub(super) mod_exp_consttime: ModExp,
    pub(super) mod_exp: ModExp,
}

/// Returns the two implementations that both libraries have.
pub(super) fn candidates(library: &'static str, functions: Functions) -> Vec<Candidate> {
    let candidate = |label, function, constant_time, mod_exp| Candidate {
        label,
        function,
        constant_time,
        note: None,
        prepare: Prepare::One(Box::new(move |input| {
            let (operation, heap) = heap::measure(|| -> Result<_, Failure> {
                let mut one = One {
                    pool: Context::new(library, functions)?,
                    arguments: Arguments::new(library, functions, input)?,
                    mod_exp,
                    heap_held: None,
                };
                // The first call fills the pool.
                one.run().map_err(|message| failure(library, message))?;
                Ok(one)
            });
            let mut operation = operation?;
            operation.heap_held = heap.map(|heap| heap.held_bytes.max(0) as u64);
            Ok(Box::new(operation))
        })),
    };
    vec![
        candidate("constant-time", "BN_mod_exp_mont_consttime", true, functions.mod_exp_consttime),
        candidate("variable-time", "BN_mod_exp_mont", false, functions.mod_exp),
    ]
}

/// Returns the call for two exponentiations, if the library has it.
pub(super) fn candidate_two(
    library: &'static str,
    function: &'static str,
    functions: Functions,
    mod_exp: ModExpTwo,
) -> Candidate {
    Candidate {
        label: "both at once",
        function,
        constant_time: true,
        note: None,
        prepare: Prepare::Two(Box::new(move |first, second| {
            let (operation, heap) = heap::measure(|| -> Result<_, Failure> {
                let mut two = Two {
                    pool: Context::new(library, functions)?,
                    first: Arguments::new(library, functions, first)?,
                    second: Arguments::new(library, functions, second)?,
                    mod_exp,
                    heap_held: None,
                };
                two.run().map_err(|message| failure(library, message))?;
                Ok(two)
            });
            let mut operation = operation?;
            operation.heap_held = heap.map(|heap| heap.held_bytes.max(0) as u64);
            Ok(Box::new(operation))
        })),
    }
}

fn failure(library: &str, message: &str) -> Failure {
    Failure::new(format!("{library}: {message}"), "exclude it with --peers, or report this")
}

/// A `BN_CTX`.
struct Context {
    functions: Functions,
    pool: *mut Pool,
}

impl Context {
    fn new(library: &str, functions: Functions) -> Result<Self, Failure> {
        // SAFETY: takes no arguments.
        let pool = unsafe { (functions.pool_new)() };
        if pool.is_null() {
            return Err(failure(library, "BN_CTX_new failed"));
        }
        Ok(Self { functions, pool })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: allocated by `BN_CTX_new`, freed only here.
        unsafe { (self.functions.pool_free)(self.pool) }
    }
}

/// The numbers of one exponentiation, the prepared modulus, and space for the result.
struct Arguments {
    functions: Functions,
    result: *mut Number,
    base: *mut Number,
    exponent: *mut Number,
    modulus: *mut Number,
    montgomery: *mut Montgomery,
    bytes: usize,
}

impl Arguments {
    fn new(library: &str, functions: Functions, input: &Input) -> Result<Self, Failure> {
        let context = Context::new(library, functions)?;
        let number = |limbs: &[u64]| {
            let bytes = to_bytes(limbs);
            // SAFETY: reads exactly the bytes of the slice, and allocates a new number.
            unsafe { (functions.bin2bn)(bytes.as_ptr(), bytes.len() as c_int, ptr::null_mut()) }
        };
        let arguments = Self {
            functions,
            // SAFETY: takes no arguments.
            result: unsafe { (functions.number_new)() },
            base: number(&input.base),
            exponent: number(&input.exponent),
            modulus: number(&input.modulus),
            // SAFETY: takes no arguments.
            montgomery: unsafe { (functions.montgomery_new)() },
            bytes: input.modulus.len() * 8,
        };
        let numbers = [arguments.result, arguments.base, arguments.exponent, arguments.modulus];
        if numbers.iter().any(|number| number.is_null()) || arguments.montgomery.is_null() {
            return Err(failure(library, "out of memory"));
        }
        // SAFETY: none of the three is null, and all were allocated by the same library.
        let set = unsafe {
            (functions.montgomery_set)(arguments.montgomery, arguments.modulus, context.pool)
        };
        if set == 1 { Ok(arguments) } else { Err(failure(library, "BN_MONT_CTX_set failed")) }
    }

    fn output(&self) -> Vec<u64> {
        let mut bytes = vec![0; self.bytes];
        // SAFETY: writes at most the given number of bytes, which is the length of the buffer.
        let written = unsafe {
            (self.functions.bn2binpad)(self.result, bytes.as_mut_ptr(), self.bytes as c_int)
        };
        if written < 0 { Vec::new() } else { from_bytes(&bytes) }
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        // SAFETY: each pointer was allocated by the same library, or is null, which these functions
        // allow; freed only here.
        unsafe {
            (self.functions.montgomery_free)(self.montgomery);
            for number in [self.result, self.base, self.exponent, self.modulus] {
                (self.functions.number_free)(number);
            }
        }
    }
}

struct One {
    pool: Context,
    arguments: Arguments,
    mod_exp: ModExp,
    heap_held: Option<u64>,
}

impl Operation for One {
    fn run(&mut self) -> Result<(), &'static str> {
        let a = &self.arguments;
        // SAFETY: all live as long as `self`. Only the result, the pool and the prepared modulus
        // may be written, and nothing else refers to them.
        let done = unsafe {
            (self.mod_exp)(a.result, a.base, a.exponent, a.modulus, self.pool.pool, a.montgomery)
        };
        if done == 1 { Ok(()) } else { Err("the exponentiation failed") }
    }

    fn output(&self) -> Vec<u64> {
        self.arguments.output()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}

struct Two {
    pool: Context,
    first: Arguments,
    second: Arguments,
    mod_exp: ModExpTwo,
    heap_held: Option<u64>,
}

impl Operation for Two {
    fn run(&mut self) -> Result<(), &'static str> {
        let (a, b) = (&self.first, &self.second);
        // SAFETY: as for `One`, and the two exponentiations share no number.
        let done = unsafe {
            (self.mod_exp)(
                a.result,
                a.base,
                a.exponent,
                a.modulus,
                a.montgomery,
                b.result,
                b.base,
                b.exponent,
                b.modulus,
                b.montgomery,
                self.pool.pool,
            )
        };
        if done == 1 { Ok(()) } else { Err("the exponentiation failed") }
    }

    fn output(&self) -> Vec<u64> {
        [self.first.output(), self.second.output()].concat()
    }

    fn heap_held(&self) -> Option<u64> {
        self.heap_held
    }
}
