//! The interface of OpenSSL for curves over prime fields, which AWS-LC inherited: one adapter for
//! both.
//!
//! The functions are those of `openssl/ec.h`, `ecdsa.h` and `ecdh.h`, with OpenSSL's types. They
//! are faster than the same operations through `EVP_PKEY`.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use super::Call;
use super::bn::{self, Pool};
use super::ec::{Candidate, Curve, Encoding, Input, Task, refused};

/// `EC_KEY`, `EC_GROUP` and `EC_POINT`, as opaque types.
#[repr(C)]
pub(super) struct Key([u8; 0]);
#[repr(C)]
pub(super) struct Group([u8; 0]);
#[repr(C)]
pub(super) struct Point([u8; 0]);

/// The functions of one library. They remain callable for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) numbers: bn::Functions,
    pub(super) new_by_nid: unsafe extern "C" fn(c_int) -> *mut Key,
    pub(super) free: unsafe extern "C" fn(*mut Key),
    pub(super) group: unsafe extern "C" fn(*const Key) -> *const Group,
    pub(super) set_private: unsafe extern "C" fn(*mut Key, *const bn::Number) -> c_int,
    pub(super) set_public: unsafe extern "C" fn(*mut Key, *const Point) -> c_int,
    pub(super) public: unsafe extern "C" fn(*const Key) -> *const Point,
    pub(super) generate: unsafe extern "C" fn(*mut Key) -> c_int,
    pub(super) point_new: unsafe extern "C" fn(*const Group) -> *mut Point,
    pub(super) point_free: unsafe extern "C" fn(*mut Point),
    pub(super) point_read:
        unsafe extern "C" fn(*const Group, *mut Point, *const u8, usize, *mut Pool) -> c_int,
    pub(super) point_write: unsafe extern "C" fn(
        *const Group,
        *const Point,
        c_uint,
        *mut u8,
        usize,
        *mut Pool,
    ) -> usize,
    pub(super) sign:
        unsafe extern "C" fn(c_int, *const u8, c_int, *mut u8, *mut c_uint, *mut Key) -> c_int,
    pub(super) verify:
        unsafe extern "C" fn(c_int, *const u8, c_int, *const u8, c_int, *mut Key) -> c_int,
    pub(super) agree:
        unsafe extern "C" fn(*mut c_void, usize, *const Point, *const Key, *const c_void) -> c_int,
}

/// `POINT_CONVERSION_UNCOMPRESSED`.
const UNCOMPRESSED: c_uint = 4;

/// Returns `NID_secp224r1` and so on, which are the same in both libraries.
const fn nid(curve: Curve) -> Option<c_int> {
    match curve {
        Curve::P224 => Some(713),
        Curve::P256 => Some(415),
        Curve::P384 => Some(715),
        Curve::P521 => Some(716),
        Curve::Ed25519 | Curve::X25519 => None,
    }
}

/// Returns the implementation of a task on a curve, which both libraries have.
pub(super) fn candidates(functions: Functions, task: Task, curve: Curve) -> Vec<Candidate> {
    let (function, prepare): (_, fn(Functions, &Input) -> Option<Call>) = match task {
        Task::Generate => ("EC_KEY_generate_key, EC_POINT_point2oct", generator),
        Task::Sign => ("ECDSA_sign", signer),
        Task::Verify => ("ECDSA_verify", verifier),
        Task::Agree => ("EC_POINT_oct2point, ECDH_compute_key", agreement),
    };
    if nid(curve).is_none() {
        return Vec::new();
    }
    let prepare =
        move |input: &Arc<Input>| prepare(functions, input).ok_or_else(|| refused(function));
    vec![Candidate::new(task, function, Encoding::Der, prepare)]
}

/// A key on a curve; initially empty.
struct OwnedKey {
    functions: Functions,
    key: *mut Key,
}

impl OwnedKey {
    fn new(functions: Functions, curve: Curve) -> Option<Self> {
        // SAFETY: takes only the number of a curve.
        let key = unsafe { (functions.new_by_nid)(nid(curve)?) };
        (!key.is_null()).then_some(Self { functions, key })
    }

    /// Creates a key with the input's key pair.
    fn of(functions: Functions, input: &Input) -> Option<Self> {
        let key = Self::new(functions, input.curve)?;
        let mut public = key.point()?;
        public.read(&input.public)?;
        let private = &input.private;
        // SAFETY: reads exactly the bytes of the slices; the key is live and copies number and
        // point, and the number is freed only here.
        let set = unsafe {
            let length = private.len() as c_int;
            let number = (functions.numbers.bin2bn)(private.as_ptr(), length, ptr::null_mut());
            let set = (functions.set_private)(key.key, number);
            (functions.numbers.number_free)(number);
            set & (functions.set_public)(key.key, public.point)
        };
        (set == 1).then_some(key)
    }

    /// Allocates a point of the curve.
    fn point(&self) -> Option<OwnedPoint> {
        let functions = self.functions;
        // SAFETY: the key is live, and has a curve.
        let (group, point) = unsafe {
            let group = (functions.group)(self.key);
            (group, (functions.point_new)(group))
        };
        (!point.is_null()).then_some(OwnedPoint { functions, group, point })
    }

    fn generate(&mut self) -> Result<(), &'static str> {
        // SAFETY: the key is live, and has a curve.
        let done = unsafe { (self.functions.generate)(self.key) };
        if done == 1 { Ok(()) } else { Err("EC_KEY_generate_key failed") }
    }

    fn sign(&mut self, digest: &[u8], signature: &mut [u8]) -> Result<usize, &'static str> {
        // The callers' buffers fit the longest signature: two numbers and the DER header.
        let mut length = signature.len() as c_uint;
        // SAFETY: reads the digest, and writes at most the length of the longest signature.
        let done = unsafe {
            (self.functions.sign)(
                0,
                digest.as_ptr(),
                digest.len() as c_int,
                signature.as_mut_ptr(),
                &raw mut length,
                self.key,
            )
        };
        if done == 1 { Ok(length as usize) } else { Err("ECDSA_sign failed") }
    }

    fn verify(&mut self, digest: &[u8], signature: &[u8]) -> Result<usize, &'static str> {
        // SAFETY: reads exactly the bytes of the two slices.
        let done = unsafe {
            (self.functions.verify)(
                0,
                digest.as_ptr(),
                digest.len() as c_int,
                signature.as_ptr(),
                signature.len() as c_int,
                self.key,
            )
        };
        if done == 1 { Ok(0) } else { Err("invalid signature") }
    }

    /// Computes the secret shared with the owner of `public`; `point` is scratch for the public
    /// key.
    fn agree(
        &self,
        point: &mut OwnedPoint,
        public: &[u8],
        shared: &mut [u8],
    ) -> Result<usize, &'static str> {
        point.read(public).ok_or("invalid public key")?;
        // SAFETY: key and point are live, and at most the length of the buffer is written.
        let length = unsafe {
            let room = shared.as_mut_ptr().cast();
            (self.functions.agree)(room, shared.len(), point.point, self.key, ptr::null())
        };
        usize::try_from(length).ok().filter(|length| *length > 0).ok_or("ECDH_compute_key failed")
    }

    /// Writes the public key, uncompressed.
    fn public(&self, public: &mut [u8]) -> Result<(), &'static str> {
        // SAFETY: the key is live, and at most the length of the buffer is written.
        let written = unsafe {
            (self.functions.point_write)(
                (self.functions.group)(self.key),
                (self.functions.public)(self.key),
                UNCOMPRESSED,
                public.as_mut_ptr(),
                public.len(),
                ptr::null_mut(),
            )
        };
        if written == public.len() { Ok(()) } else { Err("cannot read the public key") }
    }
}

impl Drop for OwnedKey {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here.
        unsafe { (self.functions.free)(self.key) }
    }
}

/// A point of a curve, which belongs to a key that lives as long.
struct OwnedPoint {
    functions: Functions,
    group: *const Group,
    point: *mut Point,
}

impl OwnedPoint {
    /// Decodes the point if it is on the curve.
    fn read(&mut self, encoded: &[u8]) -> Option<()> {
        // SAFETY: curve and point are live, and exactly the bytes of the slice are read.
        let read = unsafe {
            let (bytes, length) = (encoded.as_ptr(), encoded.len());
            (self.functions.point_read)(self.group, self.point, bytes, length, ptr::null_mut())
        };
        (read == 1).then_some(())
    }
}

impl Drop for OwnedPoint {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here.
        unsafe { (self.functions.point_free)(self.point) }
    }
}

fn signer(functions: Functions, input: &Input) -> Option<Call> {
    let mut key = OwnedKey::of(functions, input)?;
    Some(Box::new(move |digest, signature| key.sign(digest, signature)))
}

fn verifier(functions: Functions, input: &Input) -> Option<Call> {
    let (mut key, digest) = (OwnedKey::of(functions, input)?, input.digest.clone());
    Some(Box::new(move |signature, _| key.verify(&digest, signature)))
}

fn agreement(functions: Functions, input: &Input) -> Option<Call> {
    let key = OwnedKey::of(functions, input)?;
    let mut point = key.point()?;
    Some(Box::new(move |other, shared| key.agree(&mut point, other, shared)))
}

fn generator(functions: Functions, input: &Input) -> Option<Call> {
    let mut key = OwnedKey::new(functions, input.curve)?;
    let mut point = key.point()?;
    let length = input.curve.public_bytes();
    let mut public = vec![0; length];
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            key.generate()?;
            // Both libraries leave the point in projective coordinates until it is written.
            return key.public(&mut public).map(|()| 0);
        }
        let (public, shared) = output.split_at_mut(length);
        key.public(public)?;
        Ok(length + key.agree(&mut point, other, shared)?)
    }))
}
