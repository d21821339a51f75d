//! Which key may wrap which, and what a key may still do afterwards.
//!
//! A template may request every use. Five rules keep the value of a sensitive key inside, whatever
//! sequence of calls a logged-in user makes (`tests/policy` searches all short ones). A sixth one
//! keeps others from ending a use:
//!
//! 1. A sensitive key is wrapped only under a [keeper](is_keeper): a key that was generated inside
//!    and never could leave, or that the officer trusts. The value of any other key may be known
//!    outside, and so may that of a short RSA key, which can be factored.
//! 2. A key that has wrapped a sensitive key serves keys from then on: it no longer encrypts or
//!    decrypts data. So does an AES key that has unwrapped a sensitive key, and a key that the
//!    officer trusts. This holds for the value, in every object that has it or ever gets it. The
//!    fresh AES key within a message of `CKM_RSA_AES_KEY_WRAP` has wrapped a key, too, and unwraps
//!    one when the message is unwrapped.
//! 3. An unwrapped key is sensitive. The only exception is an unwrapping key that may decrypt: then
//!    unwrapping to a readable key is the same as decrypting and importing.
//! 4. RSA without padding is decryption, also where it is called a signature. So is a signature of
//!    `CKM_RSA_PKCS` on [data that leaves little of the padding](is_raw).
//! 5. Protection never decreases, in changes ([`change`](super::change)) and copies.
//! 6. Only the user makes a value serve keys, and the officer by trust: a program without a PIN
//!    could otherwise stop a key from decrypting, for good.
//!
//! Keys are wrapped only by modes for which data that the same key encrypted before is of no use.
//! So not by AES-GCM, with C_WrapKeyAuthenticated: a key may encrypt until it first wraps a key,
//! and the encryption of a block of zeros is the key of GCM's hash function. With it, wrapped keys
//! can be altered and shortened, and a shortened key can be guessed.
//!
//! Sources: Clulow, On the security of PKCS #11 (2003); Bortolozzo, Centenaro, Focardi and Steel,
//! Attacking and fixing PKCS #11 security tokens (2010); Fröschle and Steel, Analysing PKCS #11 key
//! management APIs with unbounded fresh data (2009).

use super::Object;
use crate::attribute::{Template, cka, cko};
use crate::{Code, Result};

/// The shortest RSA modulus that is too long to be factored, in bytes.
const SOUND_MODULUS: usize = 256;

/// Returns whether a key with these attributes may wrap sensitive keys: its value is known only
/// inside, or the officer vouches for it. The value of a short RSA key can be computed outside.
///
/// For a public key, these attributes are those of its private half.
fn is_keeper(attributes: &Template) -> bool {
    let short = attributes.get(cka::MODULUS).is_some_and(|modulus| modulus.len() < SOUND_MODULUS);
    attributes.is(cka::TRUSTED) || attributes.is(cka::ALWAYS_SENSITIVE) && !short
}

/// Returns whether the user may read a key's value.
fn is_readable(attributes: &Template) -> bool {
    !attributes.is(cka::SENSITIVE) && attributes.is(cka::EXTRACTABLE)
}

/// Checks whether `wrapping` may wrap `key`. Returns whether it thereby serves keys.
///
/// # Errors
/// [`Code::KEY_NOT_WRAPPABLE`], [`Code::KEY_UNEXTRACTABLE`].
pub(crate) fn wrap(wrapping: &Object, key: &Object) -> Result<bool> {
    if !key.has_secret() {
        return Err(Code::KEY_NOT_WRAPPABLE.into());
    }
    if !key.attributes.is(cka::EXTRACTABLE) {
        return Err(Code::KEY_UNEXTRACTABLE.into());
    }
    if key.attributes.is(cka::WRAP_WITH_TRUSTED) && !wrapping.attributes.is(cka::TRUSTED) {
        return Err(Code::KEY_NOT_WRAPPABLE.because("only a trusted key may wrap this key"));
    }
    if is_readable(&key.attributes) {
        return Ok(false);
    }
    if !is_keeper(&wrapping.attributes) {
        return Err(Code::KEY_NOT_WRAPPABLE.because(
            "the key is sensitive, and the value of the wrapping key may be known outside: wrap it \
             under a key that was generated in this token and always sensitive (of 2048 bits or more \
             if RSA), or ask the security officer to set CKA_TRUSTED, which needs CKA_PRIVATE false: \
             the officer sees no private objects",
        ));
    }
    Ok(true)
}

/// Returns whether an unwrapped key may be readable, as its template asks. `serves_keys` states
/// whether the value of the unwrapping key serves keys.
pub(crate) fn unwraps_readable(
    unwrapping: &Object,
    serves_keys: bool,
    template: &Template,
) -> bool {
    // A list of mechanisms may allow unwrapping without allowing decryption.
    let decrypts = unwrapping.attributes.is(cka::DECRYPT)
        && unwrapping.attributes.get(cka::ALLOWED_MECHANISMS).is_none();
    let asked = template.get(cka::SENSITIVE) == Some(&[0]);
    asked && decrypts && !serves_keys
}

/// Checks whether a private key may do RSA without padding, `CKM_RSA_X_509`, or with
/// [hardly any](is_raw). By whichever function a program requests it, it decrypts every ciphertext
/// and makes every signature. So the key must permit both, and what a key does not permit cannot be
/// added, to a copy neither. That its value does not serve keys is checked as for every decryption.
///
/// # Errors
/// [`Code::KEY_FUNCTION_NOT_PERMITTED`].
pub(crate) fn raw_rsa(key: &Object) -> Result<()> {
    if key.attributes.is(cka::DECRYPT) && key.attributes.is(cka::SIGN) {
        return Ok(());
    }
    Err(Code::KEY_FUNCTION_NOT_PERMITTED.because(
        "RSA without padding, or with much data under CKM_RSA_PKCS, decrypts and signs at once: the \
         key must permit both (CKA_DECRYPT and CKA_SIGN)",
    ))
}

/// Returns whether a signature of `CKM_RSA_PKCS` on this many bytes of the caller's choice, under a
/// modulus of `modulus` bytes, is as good as RSA without padding.
///
/// For a ciphertext c, chosen data x and y with c · pad(x) = pad(y) exist if the data has half of
/// the modulus, and lattice reduction finds them at once: the signatures of both then open c (de
/// Jonge and Chaum, Attacks on some RSA signatures, 1985). With more signatures, a third suffices
/// (Lenstra and Shparlinski, Selective forgery of RSA signatures with fixed-pattern padding, 2002),
/// and a quarter for forgeries (Coron, Naccache and Tibouchi, Another look at affine-padding RSA
/// signatures, 2012). TLS before 1.2 signs 36 bytes, whatever the modulus.
pub(crate) const fn is_raw(chosen: usize, modulus: usize) -> bool {
    chosen > 36 && 4 * chosen > modulus
}

/// Returns whether a key serves keys once it has unwrapped a sensitive key. A private RSA key does
/// not: anybody can wrap for it, and programs decrypt and unwrap messages from outside alike.
pub(crate) fn unwrapping_serves_keys(unwrapping: &Object) -> bool {
    unwrapping.class() == cko::SECRET_KEY
}

/// Checks whether the officer may trust a key.
///
/// # Errors
/// [`Code::ACTION_PROHIBITED`] if the user may read its value.
pub(crate) fn trust(key: &Object) -> Result<()> {
    if key.class() == cko::SECRET_KEY && is_readable(&key.attributes) {
        return Err(Code::ACTION_PROHIBITED
            .because("a key whose value may be read cannot be trusted: make it sensitive first"));
    }
    Ok(())
}

/// The error for data that a key no longer encrypts or decrypts.
pub(crate) fn serves_keys_only() -> crate::Error {
    Code::KEY_FUNCTION_NOT_PERMITTED.because(
        "the key has wrapped a sensitive key or is trusted to, so it no longer encrypts or decrypts \
         data: use another key for data",
    )
}
