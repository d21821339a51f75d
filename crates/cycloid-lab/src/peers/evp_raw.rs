//! OpenSSL's Ed25519 and X25519, which are available only through `EVP_PKEY`.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use super::Call;
use super::ec::{Candidate, Curve, Encoding, Input, Task, refused};
use super::evp::{Context, Key};

/// `EVP_MD_CTX`, as an opaque type.
#[repr(C)]
pub(super) struct Digest([u8; 0]);

/// A function that imports a key.
pub(super) type NewKey = unsafe extern "C" fn(c_int, *mut c_void, *const u8, usize) -> *mut Key;

/// A function that initialises a context for signatures.
pub(super) type Init = unsafe extern "C" fn(
    *mut Digest,
    *mut *mut Context,
    *const c_void,
    *mut c_void,
    *mut Key,
) -> c_int;

/// OpenSSL's functions. They remain callable for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) new_private: NewKey,
    pub(super) new_public: NewKey,
    pub(super) public: unsafe extern "C" fn(*const Key, *mut u8, *mut usize) -> c_int,
    pub(super) key_free: unsafe extern "C" fn(*mut Key),
    pub(super) digest_new: unsafe extern "C" fn() -> *mut Digest,
    pub(super) digest_free: unsafe extern "C" fn(*mut Digest),
    pub(super) sign_init: Init,
    pub(super) sign:
        unsafe extern "C" fn(*mut Digest, *mut u8, *mut usize, *const u8, usize) -> c_int,
    pub(super) verify_init: Init,
    pub(super) verify:
        unsafe extern "C" fn(*mut Digest, *const u8, usize, *const u8, usize) -> c_int,
    pub(super) context_new: unsafe extern "C" fn(*mut Key, *mut c_void) -> *mut Context,
    pub(super) context_new_id: unsafe extern "C" fn(c_int, *mut c_void) -> *mut Context,
    pub(super) context_free: unsafe extern "C" fn(*mut Context),
    pub(super) derive_init: unsafe extern "C" fn(*mut Context) -> c_int,
    pub(super) derive_peer: unsafe extern "C" fn(*mut Context, *mut Key) -> c_int,
    pub(super) derive: unsafe extern "C" fn(*mut Context, *mut u8, *mut usize) -> c_int,
    pub(super) keygen_init: unsafe extern "C" fn(*mut Context) -> c_int,
    pub(super) keygen: unsafe extern "C" fn(*mut Context, *mut *mut Key) -> c_int,
}

/// `EVP_PKEY_X25519` or `EVP_PKEY_ED25519`.
const fn id(curve: Curve) -> Option<c_int> {
    match curve {
        Curve::X25519 => Some(1034),
        Curve::Ed25519 => Some(1087),
        _ => None,
    }
}

/// Returns the implementation of a task on a curve.
pub(super) fn candidates(functions: Functions, task: Task, curve: Curve) -> Vec<Candidate> {
    let (function, prepare): (_, fn(Functions, &Input) -> Option<Call>) = match task {
        Task::Generate => ("EVP_PKEY_keygen", generator),
        Task::Sign => ("EVP_DigestSign", signer),
        Task::Verify => ("EVP_DigestVerify", verifier),
        Task::Agree => ("EVP_PKEY_derive_set_peer, EVP_PKEY_derive", agreement),
    };
    if id(curve).is_none() {
        return Vec::new();
    }
    let prepare =
        move |input: &Arc<Input>| prepare(functions, input).ok_or_else(|| refused(function));
    vec![Candidate::new(task, function, Encoding::Fixed, prepare)]
}

/// A key owned by the library.
struct OwnedKey {
    functions: Functions,
    key: *mut Key,
}

impl OwnedKey {
    fn new(functions: Functions, new: NewKey, curve: Curve, bytes: &[u8]) -> Option<Self> {
        // SAFETY: reads exactly the bytes of the slice.
        let key = unsafe { new(id(curve)?, ptr::null_mut(), bytes.as_ptr(), bytes.len()) };
        (!key.is_null()).then_some(Self { functions, key })
    }

    fn public(&self, public: &mut [u8]) -> Result<(), &'static str> {
        let mut length = public.len();
        // SAFETY: the key is live, and at most the length of the buffer is written.
        let done =
            unsafe { (self.functions.public)(self.key, public.as_mut_ptr(), &raw mut length) };
        if done == 1 && length == public.len() { Ok(()) } else { Err("cannot read the public key") }
    }
}

impl Drop for OwnedKey {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here; contexts hold their own
        // references.
        unsafe { (self.functions.key_free)(self.key) }
    }
}

/// A context for signatures with one key.
struct OwnedDigest {
    functions: Functions,
    digest: *mut Digest,
    init: Init,
    /// Whether the library refuses a context that has been used, as OpenSSL 3.5 does, so that it is
    /// initialised again for each operation.
    renews: bool,
}

impl OwnedDigest {
    fn new(functions: Functions, init: Init, key: &OwnedKey) -> Option<Self> {
        // SAFETY: takes no arguments.
        let digest = unsafe { (functions.digest_new)() };
        if digest.is_null() {
            return None;
        }
        let digest = Self { functions, digest, init, renews: false };
        // SAFETY: context and key are live, and the context takes its own reference.
        let done =
            unsafe { init(digest.digest, ptr::null_mut(), ptr::null(), ptr::null_mut(), key.key) };
        (done == 1).then_some(digest)
    }

    /// Performs an operation, after another initialisation where the library needs that.
    fn perform(&mut self, mut operation: impl FnMut(&Self) -> bool) -> bool {
        if self.renews {
            return self.renew() && operation(self);
        }
        if operation(self) {
            return true;
        }
        // Either it failed, or the library refuses a used context.
        self.renews = self.renew() && operation(self);
        self.renews
    }

    /// Initialises the context again, with the same key.
    fn renew(&self) -> bool {
        let (none, context) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the context is live and has a key, which it keeps without another one.
        (unsafe { (self.init)(self.digest, context, ptr::null(), ptr::null_mut(), none) }) == 1
    }

    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize, &'static str> {
        let mut length = 0;
        let done = self.perform(|this| {
            length = signature.len();
            // SAFETY: reads the message, and writes at most the given length.
            let done = unsafe {
                (this.functions.sign)(
                    this.digest,
                    signature.as_mut_ptr(),
                    &raw mut length,
                    message.as_ptr(),
                    message.len(),
                )
            };
            done == 1
        });
        if done { Ok(length) } else { Err("EVP_DigestSign failed") }
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<usize, &'static str> {
        let done = self.perform(|this| {
            // SAFETY: reads exactly the bytes of the two slices.
            let done = unsafe {
                (this.functions.verify)(
                    this.digest,
                    signature.as_ptr(),
                    signature.len(),
                    message.as_ptr(),
                    message.len(),
                )
            };
            done == 1
        });
        if done { Ok(0) } else { Err("invalid signature") }
    }
}

impl Drop for OwnedDigest {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here.
        unsafe { (self.functions.digest_free)(self.digest) }
    }
}

/// A context for generating keys, or for agreement with one key.
struct OwnedContext {
    functions: Functions,
    context: *mut Context,
}

impl OwnedContext {
    fn agreeing(functions: Functions, key: &OwnedKey) -> Option<Self> {
        // SAFETY: the key is live, and the context takes its own reference.
        let context = unsafe { (functions.context_new)(key.key, ptr::null_mut()) };
        if context.is_null() {
            return None;
        }
        let context = Self { functions, context };
        // SAFETY: the context is live.
        let done = unsafe { (functions.derive_init)(context.context) };
        (done == 1).then_some(context)
    }

    fn generating(functions: Functions, curve: Curve) -> Option<Self> {
        // SAFETY: takes only the number of a curve.
        let context = unsafe { (functions.context_new_id)(id(curve)?, ptr::null_mut()) };
        if context.is_null() {
            return None;
        }
        let context = Self { functions, context };
        // SAFETY: the context is live.
        let done = unsafe { (functions.keygen_init)(context.context) };
        (done == 1).then_some(context)
    }

    fn generate(&mut self) -> Option<OwnedKey> {
        let mut key = ptr::null_mut();
        // SAFETY: writes a new key to an empty slot.
        let done = unsafe { (self.functions.keygen)(self.context, &raw mut key) };
        (done == 1).then_some(OwnedKey { functions: self.functions, key })
    }

    fn agree(&mut self, public: &[u8], shared: &mut [u8]) -> Result<usize, &'static str> {
        let f = self.functions;
        let peer =
            OwnedKey::new(f, f.new_public, Curve::X25519, public).ok_or("invalid public key")?;
        let mut length = shared.len();
        // SAFETY: context and key are live, and at most the given length is written.
        let done = unsafe {
            (f.derive_peer)(self.context, peer.key) == 1
                && (f.derive)(self.context, shared.as_mut_ptr(), &raw mut length) == 1
        };
        if done { Ok(length) } else { Err("EVP_PKEY_derive failed") }
    }
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here.
        unsafe { (self.functions.context_free)(self.context) }
    }
}

fn private(functions: Functions, input: &Input) -> Option<OwnedKey> {
    OwnedKey::new(functions, functions.new_private, input.curve, &input.private)
}

fn signer(functions: Functions, input: &Input) -> Option<Call> {
    let key = private(functions, input)?;
    let mut context = OwnedDigest::new(functions, functions.sign_init, &key)?;
    let message = input.message;
    Some(Box::new(move |_, signature| context.sign(&message, signature)))
}

fn verifier(functions: Functions, input: &Input) -> Option<Call> {
    let key = OwnedKey::new(functions, functions.new_public, input.curve, &input.public)?;
    let mut context = OwnedDigest::new(functions, functions.verify_init, &key)?;
    let message = input.message;
    Some(Box::new(move |signature, _| context.verify(&message, signature)))
}

fn agreement(functions: Functions, input: &Input) -> Option<Call> {
    let key = private(functions, input)?;
    let mut context = OwnedContext::agreeing(functions, &key)?;
    Some(Box::new(move |other, shared| context.agree(other, shared)))
}

fn generator(functions: Functions, input: &Input) -> Option<Call> {
    let (curve, message) = (input.curve, input.message);
    let mut context = OwnedContext::generating(functions, curve)?;
    let mut made: Option<OwnedKey> = None;
    Some(Box::new(move |other, output| {
        if other.is_empty() {
            made = context.generate();
            return if made.is_some() { Ok(0) } else { Err("EVP_PKEY_keygen failed") };
        }
        let key = made.as_ref().ok_or("no key was generated")?;
        let (public, proof) = output.split_at_mut(curve.public_bytes());
        key.public(public)?;
        let length = if curve == Curve::X25519 {
            let context = OwnedContext::agreeing(functions, key);
            context.ok_or("key agreement with the generated key failed")?.agree(other, proof)?
        } else {
            let context = OwnedDigest::new(functions, functions.sign_init, key);
            context.ok_or("signing with the generated key failed")?.sign(&message, proof)?
        };
        Ok(curve.public_bytes() + length)
    }))
}
