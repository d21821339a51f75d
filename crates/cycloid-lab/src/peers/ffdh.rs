//! The Diffie-Hellman interface of OpenSSL, which AWS-LC inherited: one adapter for both.
//!
//! The functions are those of `openssl/dh.h`, with OpenSSL's types.

use std::ffi::{c_int, c_long};
use std::ptr;

use super::Call;
use super::bn::{self, Number};
use super::dh::{Candidate, Input, Task};
use crate::Failure;

/// `DH`, as an opaque type.
#[repr(C)]
pub(super) struct Dh([u8; 0]);

/// The functions of one library. They remain callable for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) numbers: bn::Functions,
    /// Returns `NID_ffdhe2048` and so on, which differ between the libraries.
    pub(super) nid: fn(usize) -> Option<c_int>,
    pub(super) new_by_nid: unsafe extern "C" fn(c_int) -> *mut Dh,
    pub(super) new: unsafe extern "C" fn() -> *mut Dh,
    pub(super) free: unsafe extern "C" fn(*mut Dh),
    /// Takes ownership of p, q and g.
    pub(super) set_group:
        unsafe extern "C" fn(*mut Dh, *mut Number, *mut Number, *mut Number) -> c_int,
    pub(super) set_length: unsafe extern "C" fn(*mut Dh, c_long) -> c_int,
    /// Takes ownership of public value and exponent.
    pub(super) set_key: unsafe extern "C" fn(*mut Dh, *mut Number, *mut Number) -> c_int,
    pub(super) public_value: unsafe extern "C" fn(*const Dh) -> *const Number,
    pub(super) generate: unsafe extern "C" fn(*mut Dh) -> c_int,
    pub(super) compute: unsafe extern "C" fn(*mut u8, *const Number, *mut Dh) -> c_int,
}

/// The two ways to set up a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// By name: the library knows the order and checks public values with it.
    Named,
    /// By p and g alone: the library checks only the range of public values.
    Numbers,
}

/// Returns the implementations of a task in the group of a length, which both libraries have.
pub(super) fn candidates(
    library: &'static str,
    functions: Functions,
    task: Task,
    bits: usize,
) -> Vec<Candidate> {
    if (functions.nid)(bits).is_none() {
        return Vec::new();
    }
    let candidate = |label, function, group, note| Candidate {
        label,
        function,
        note,
        prepare: Box::new(move |input: &Input| {
            let call = match task {
                Task::Agree => agreement(functions, group, input),
                Task::Generate => generator(functions, group, input),
            };
            call.ok_or_else(|| {
                let message = format!("{library}: cannot prepare {function}");
                Failure::new(message, "exclude it with --peers, or report this")
            })
        }),
    };
    let (function, note) = match task {
        Task::Agree => ("DH_compute_key_padded", NOTE_AGREE),
        Task::Generate => ("DH_generate_key", NOTE_GENERATE),
    };
    vec![
        candidate("named group", function, Group::Named, Some(note)),
        candidate("p and g", function, Group::Numbers, Some(note)),
    ]
}

const NOTE_AGREE: &str = "'named group' and 'p and g' are two ways to set up DH in OpenSSL and \
    AWS-LC; in a named group, AWS-LC also raises the public value to the order of the group";

const NOTE_GENERATE: &str = "OpenSSL and AWS-LC need a new DH object for each key, which starts \
    without a prepared modulus; in a named group, AWS-LC uses exponents as long as the modulus";

/// A number owned by the library.
struct OwnedNumber {
    functions: bn::Functions,
    number: *mut Number,
}

impl OwnedNumber {
    fn new(functions: bn::Functions, bytes: &[u8]) -> Option<Self> {
        // SAFETY: reads exactly the bytes of the slice, and allocates a new number.
        let number =
            unsafe { (functions.bin2bn)(bytes.as_ptr(), bytes.len() as c_int, ptr::null_mut()) };
        (!number.is_null()).then_some(Self { functions, number })
    }

    /// Returns the number and gives up ownership.
    fn given_away(self) -> *mut Number {
        let number = self.number;
        std::mem::forget(self);
        number
    }
}

impl Drop for OwnedNumber {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here.
        unsafe { (self.functions.number_free)(self.number) }
    }
}

/// A group, and optionally a key in it.
struct OwnedDh {
    functions: Functions,
    dh: *mut Dh,
}

impl OwnedDh {
    fn new(functions: Functions, group: Group, input: &Input) -> Option<Self> {
        // SAFETY: takes only the number of a group.
        let dh = unsafe {
            match group {
                Group::Named => (functions.new_by_nid)((functions.nid)(input.bits)?),
                Group::Numbers => (functions.new)(),
            }
        };
        if dh.is_null() {
            return None;
        }
        let dh = Self { functions, dh };
        if group == Group::Numbers {
            let p = OwnedNumber::new(functions.numbers, &input.prime)?.given_away();
            let g = OwnedNumber::new(functions.numbers, &[2])?.given_away();
            // SAFETY: the group is live, and takes ownership of two numbers that nothing else owns.
            if unsafe { (functions.set_group)(dh.dh, p, ptr::null_mut(), g) } != 1 {
                return None;
            }
        }
        // SAFETY: the group is live.
        let set = unsafe { (functions.set_length)(dh.dh, input.exponent_bits as c_long) };
        (set == 1).then_some(dh)
    }

    /// Computes the secret shared with the owner of `public`, as long as p.
    fn agree(&self, public: &[u8], shared: &mut [u8]) -> Option<usize> {
        let public = OwnedNumber::new(self.functions.numbers, public)?;
        // SAFETY: key and number are live, and as many bytes as p has are written; the callers'
        // buffers are twice as long.
        let length =
            unsafe { (self.functions.compute)(shared.as_mut_ptr(), public.number, self.dh) };
        usize::try_from(length).ok().filter(|length| *length > 0)
    }
}

impl Drop for OwnedDh {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here.
        unsafe { (self.functions.free)(self.dh) }
    }
}

fn agreement(functions: Functions, group: Group, input: &Input) -> Option<Call> {
    let dh = OwnedDh::new(functions, group, input)?;
    let exponent = OwnedNumber::new(functions.numbers, &input.exponent)?.given_away();
    // SAFETY: the group is live, and takes ownership of a number that nothing else owns.
    if unsafe { (functions.set_key)(dh.dh, ptr::null_mut(), exponent) } != 1 {
        return None;
    }
    Some(Box::new(move |public, shared| {
        dh.agree(public, shared).ok_or("DH_compute_key_padded failed")
    }))
}

fn generator(functions: Functions, group: Group, input: &Input) -> Option<Call> {
    let input = input.clone();
    let length = input.prime.len();
    let mut made: Option<OwnedDh> = None;
    Some(Box::new(move |public, output| {
        if public.is_empty() {
            let dh = OwnedDh::new(functions, group, &input).ok_or("cannot set up the group")?;
            // SAFETY: the group is live.
            let done = unsafe { (functions.generate)(dh.dh) };
            made = Some(dh);
            return if done == 1 { Ok(0) } else { Err("DH_generate_key failed") };
        }
        let mut agree = || {
            let dh = made.as_ref()?;
            let (own, shared) = output.split_at_mut_checked(length)?;
            // SAFETY: the public value lives as long as the key, and at most the length of the
            // buffer is written.
            let written = unsafe {
                let number = (functions.public_value)(dh.dh);
                (functions.numbers.bn2binpad)(number, own.as_mut_ptr(), length as c_int)
            };
            (usize::try_from(written) == Ok(length)).then_some(())?;
            Some(length + dh.agree(public, shared)?)
        };
        agree().ok_or("key agreement with the generated key failed")
    }))
}
