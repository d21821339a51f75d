//! The EVP interface of OpenSSL, which AWS-LC inherited: one adapter for both.
//!
//! The functions are those of `openssl/evp.h`, `rsa.h` and `x509.h`, with OpenSSL's types.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::ptr;

use super::Call;
use super::rsa::{Candidate, Input, PUBLIC_EXPONENT, Task, modulus_in_der};
use crate::Failure;

/// `EVP_PKEY`, `EVP_PKEY_CTX` and `EVP_MD`, as opaque types.
#[repr(C)]
pub(super) struct Key([u8; 0]);
#[repr(C)]
pub(super) struct Context([u8; 0]);
#[repr(C)]
pub(super) struct Hash([u8; 0]);

/// The functions of one library. They remain callable for the life of the process.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub(super) d2i_auto_private_key:
        unsafe extern "C" fn(*mut *mut Key, *mut *const u8, c_long) -> *mut Key,
    pub(super) i2d_public_key: unsafe extern "C" fn(*const Key, *mut *mut u8) -> c_int,
    pub(super) key_free: unsafe extern "C" fn(*mut Key),
    pub(super) context_new: unsafe extern "C" fn(*mut Key, *mut c_void) -> *mut Context,
    pub(super) context_new_id: unsafe extern "C" fn(c_int, *mut c_void) -> *mut Context,
    pub(super) context_free: unsafe extern "C" fn(*mut Context),
    pub(super) ctrl_str: unsafe extern "C" fn(*mut Context, *const c_char, *const c_char) -> c_int,
    pub(super) sha256: unsafe extern "C" fn() -> *const Hash,
    pub(super) set_signature_md: unsafe extern "C" fn(*mut Context, *const Hash) -> c_int,
    pub(super) sign_init: unsafe extern "C" fn(*mut Context) -> c_int,
    pub(super) sign:
        unsafe extern "C" fn(*mut Context, *mut u8, *mut usize, *const u8, usize) -> c_int,
    pub(super) verify_init: unsafe extern "C" fn(*mut Context) -> c_int,
    pub(super) verify:
        unsafe extern "C" fn(*mut Context, *const u8, usize, *const u8, usize) -> c_int,
    pub(super) decrypt_init: unsafe extern "C" fn(*mut Context) -> c_int,
    pub(super) decrypt:
        unsafe extern "C" fn(*mut Context, *mut u8, *mut usize, *const u8, usize) -> c_int,
    pub(super) keygen_init: unsafe extern "C" fn(*mut Context) -> c_int,
    pub(super) keygen: unsafe extern "C" fn(*mut Context, *mut *mut Key) -> c_int,
}

/// `EVP_PKEY_RSA`.
const RSA: c_int = 6;

/// Returns the implementation that both libraries have: with a context that is set up once.
pub(super) fn candidates(
    library: &'static str,
    functions: Functions,
    task: Task,
) -> Vec<Candidate> {
    let (function, prepare): (_, fn(Functions, &Input) -> Option<Call>) = match task {
        Task::Sign => ("EVP_PKEY_sign", |f, input| signer(f, input, &[])),
        Task::SignPss => ("EVP_PKEY_sign", |f, input| signer(f, input, &PSS)),
        Task::Verify => ("EVP_PKEY_verify", verifier),
        Task::DecryptOaep => ("EVP_PKEY_decrypt", |f, input| decrypter(f, input, &OAEP)),
        Task::DecryptPkcs1v15 => ("EVP_PKEY_decrypt", |f, input| decrypter(f, input, &[])),
        Task::Generate => ("EVP_PKEY_keygen", generator),
    };
    vec![Candidate {
        label: task.label(),
        function,
        constant_time: true,
        note: None,
        prepare: Box::new(move |input| {
            prepare(functions, input).ok_or_else(|| {
                let message = format!("{library}: cannot prepare {function}");
                Failure::new(message, "exclude it with --peers, or report this")
            })
        }),
    }]
}

/// Options of a context, as its functions take them.
type Options = [(&'static CStr, &'static CStr)];

const PSS: [(&CStr, &CStr); 2] = [(c"rsa_padding_mode", c"pss"), (c"rsa_pss_saltlen", c"digest")];

const OAEP: [(&CStr, &CStr); 2] = [(c"rsa_padding_mode", c"oaep"), (c"rsa_oaep_md", c"sha256")];

/// A key owned by the library.
struct OwnedKey {
    functions: Functions,
    key: *mut Key,
}

impl OwnedKey {
    fn from_pkcs1(functions: Functions, der: &[u8]) -> Option<Self> {
        let mut at = der.as_ptr();
        // SAFETY: reads exactly the bytes of the slice, and may advance the given pointer.
        let key = unsafe {
            (functions.d2i_auto_private_key)(ptr::null_mut(), &raw mut at, der.len() as c_long)
        };
        (!key.is_null()).then_some(Self { functions, key })
    }

    /// `RSAPublicKey` in DER.
    fn public_der(&self) -> Option<Vec<u8>> {
        // SAFETY: the key is live; without a buffer the function only returns the length.
        let length = unsafe { (self.functions.i2d_public_key)(self.key, ptr::null_mut()) };
        let mut der = vec![0; usize::try_from(length).ok()?];
        let mut at = der.as_mut_ptr();
        // SAFETY: writes the announced number of bytes, which is the length of the buffer.
        let written = unsafe { (self.functions.i2d_public_key)(self.key, &raw mut at) };
        (written == length).then_some(der)
    }
}

impl Drop for OwnedKey {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here; contexts hold their own
        // references.
        unsafe { (self.functions.key_free)(self.key) }
    }
}

/// A context for one kind of operation with one key.
struct OwnedContext {
    functions: Functions,
    context: *mut Context,
}

impl OwnedContext {
    /// Creates a context with a key, or for generating one.
    fn new(
        functions: Functions,
        key: Option<&OwnedKey>,
        init: unsafe extern "C" fn(*mut Context) -> c_int,
        options: &Options,
    ) -> Option<Self> {
        // SAFETY: the key is live, and the context takes its own reference.
        let context = unsafe {
            match key {
                Some(key) => (functions.context_new)(key.key, ptr::null_mut()),
                None => (functions.context_new_id)(RSA, ptr::null_mut()),
            }
        };
        if context.is_null() {
            return None;
        }
        let context = Self { functions, context };
        // SAFETY: the context is live, and the texts end in a zero byte.
        let done = unsafe {
            init(context.context) == 1
                && options.iter().all(|(name, value)| {
                    (functions.ctrl_str)(context.context, name.as_ptr(), value.as_ptr()) == 1
                })
        };
        done.then_some(context)
    }

    fn set_sha256(self) -> Option<Self> {
        let f = self.functions;
        // SAFETY: the context is live, and the hash function lives as long as the library.
        let set = unsafe { (f.set_signature_md)(self.context, (f.sha256)()) };
        (set == 1).then_some(self)
    }

    // These methods take the whole context, so that a closure that calls them owns all of it.

    fn sign(&mut self, digest: &[u8], signature: &mut [u8]) -> Result<usize, &'static str> {
        let mut length = signature.len();
        // SAFETY: reads the digest, and writes at most the given length.
        let done = unsafe {
            (self.functions.sign)(
                self.context,
                signature.as_mut_ptr(),
                &raw mut length,
                digest.as_ptr(),
                digest.len(),
            )
        };
        if done == 1 { Ok(length) } else { Err("EVP_PKEY_sign failed") }
    }

    fn verify(&mut self, signature: &[u8], digest: &[u8]) -> Result<usize, &'static str> {
        // SAFETY: reads exactly the bytes of the two slices.
        let done = unsafe {
            (self.functions.verify)(
                self.context,
                signature.as_ptr(),
                signature.len(),
                digest.as_ptr(),
                digest.len(),
            )
        };
        if done == 1 { Ok(0) } else { Err("invalid signature") }
    }

    fn decrypt(&mut self, ciphertext: &[u8], message: &mut [u8]) -> Result<usize, &'static str> {
        let mut length = message.len();
        // SAFETY: reads the ciphertext, and writes at most the given length.
        let done = unsafe {
            (self.functions.decrypt)(
                self.context,
                message.as_mut_ptr(),
                &raw mut length,
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        };
        if done == 1 { Ok(length) } else { Err("EVP_PKEY_decrypt failed") }
    }

    fn generate(&mut self) -> Option<OwnedKey> {
        let mut key = ptr::null_mut();
        // SAFETY: writes a new key to an empty slot.
        let done = unsafe { (self.functions.keygen)(self.context, &raw mut key) };
        (done == 1).then_some(OwnedKey { functions: self.functions, key })
    }
}

impl Drop for OwnedContext {
    fn drop(&mut self) {
        // SAFETY: allocated by the same library, freed only here.
        unsafe { (self.functions.context_free)(self.context) }
    }
}

fn signer(functions: Functions, input: &Input, options: &Options) -> Option<Call> {
    let key = OwnedKey::from_pkcs1(functions, &input.key.pkcs1)?;
    let context = OwnedContext::new(functions, Some(&key), functions.sign_init, options)?;
    let mut context = context.set_sha256()?;
    Some(Box::new(move |digest, signature| context.sign(digest, signature)))
}

fn verifier(functions: Functions, input: &Input) -> Option<Call> {
    let key = OwnedKey::from_pkcs1(functions, &input.key.pkcs1)?;
    let context = OwnedContext::new(functions, Some(&key), functions.verify_init, &[])?;
    let mut context = context.set_sha256()?;
    let digest = input.digest;
    Some(Box::new(move |signature, _| context.verify(signature, &digest)))
}

fn decrypter(functions: Functions, input: &Input, options: &Options) -> Option<Call> {
    let key = OwnedKey::from_pkcs1(functions, &input.key.pkcs1)?;
    let mut context = OwnedContext::new(functions, Some(&key), functions.decrypt_init, options)?;
    Some(Box::new(move |ciphertext, message| context.decrypt(ciphertext, message)))
}

fn generator(functions: Functions, input: &Input) -> Option<Call> {
    let bits = std::ffi::CString::new(input.key.bits.to_string()).ok()?;
    let mut context = OwnedContext::new(functions, None, functions.keygen_init, &[])?;
    // SAFETY: the context is live, and the texts end in a zero byte.
    let set = unsafe {
        (functions.ctrl_str)(context.context, c"rsa_keygen_bits".as_ptr(), bits.as_ptr())
    };
    if set != 1 {
        return None;
    }
    // Both libraries use this exponent by default.
    assert_eq!(PUBLIC_EXPONENT, 65537);
    let mut made: Option<OwnedKey> = None;
    Some(Box::new(move |digest, output| {
        if digest.is_empty() {
            made = context.generate();
            return if made.is_some() { Ok(0) } else { Err("EVP_PKEY_keygen failed") };
        }
        let mut sign = || {
            let key = made.as_ref()?;
            let der = key.public_der()?;
            let modulus = modulus_in_der(&der)?;
            let context = OwnedContext::new(functions, Some(key), functions.sign_init, &[])?;
            let mut context = context.set_sha256()?;
            let (first, second) = output.split_at_mut_checked(modulus.len())?;
            first.copy_from_slice(modulus);
            Some(modulus.len() + context.sign(digest, second).ok()?)
        };
        sign().ok_or("signing with the generated key failed")
    }))
}
