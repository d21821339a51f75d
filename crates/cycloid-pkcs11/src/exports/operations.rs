//! Functions for encryption, decryption, digests and signatures, in one call or in parts.

use cryptoki_sys::*;
use cycloid_hsm_protocol::{Code, Result};

use super::{Bytes, Length, Object, Session, with_module};
use crate::memory::{self, Output};
use crate::operation::Direction;
use crate::parameter::{self, mechanism};

/// The maximum length of a signature that is given before its message, in bytes. No mechanism has
/// longer ones.
const MAX_SIGNATURE: CK_ULONG = 1 << 12;

/// Runs a call of an operation, which ends the operation if an argument is invalid. PKCS #11 3.0
/// says so of every error but a buffer that is too small (sections 5.8 to 5.13); other errors end
/// the operation where they arise.
fn ended_by_bad_arguments(
    session: &crate::session::Session,
    kind: CK_FLAGS,
    call: impl FnOnce() -> Result<()>,
) -> Result<()> {
    call().inspect_err(|error| {
        if error.code == Code::ARGUMENTS_BAD {
            session.operations().cancel(kind);
        }
    })
}

functions! {
    fn C_EncryptInit(session: Session, how: *mut CK_MECHANISM, key: Object) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_ENCRYPT);
        }
        session.cipher_init(Direction::Encrypt, mechanism(how)?, key)
    }

    fn C_Encrypt(
        session: Session,
        data: Bytes,
        length: CK_ULONG,
        output: Bytes,
        output_length: Length,
    ) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_ENCRYPT, || {
            let output = &mut Output::new(output, output_length)?;
            session.cipher(Direction::Encrypt, memory::slice(data, length)?, output)
        })
    }

    fn C_EncryptUpdate(
        session: Session,
        part: Bytes,
        length: CK_ULONG,
        output: Bytes,
        output_length: Length,
    ) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_ENCRYPT, || {
            let output = &mut Output::new(output, output_length)?;
            session.cipher_update(Direction::Encrypt, memory::slice(part, length)?, output)
        })
    }

    fn C_EncryptFinal(session: Session, output: Bytes, output_length: Length) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_ENCRYPT, || {
            session.cipher_final(Direction::Encrypt, &mut Output::new(output, output_length)?)
        })
    }

    fn C_DecryptInit(session: Session, how: *mut CK_MECHANISM, key: Object) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_DECRYPT);
        }
        session.cipher_init(Direction::Decrypt, mechanism(how)?, key)
    }

    fn C_Decrypt(
        session: Session,
        data: Bytes,
        length: CK_ULONG,
        output: Bytes,
        output_length: Length,
    ) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_DECRYPT, || {
            let output = &mut Output::new(output, output_length)?;
            session.cipher(Direction::Decrypt, memory::slice(data, length)?, output)
        })
    }

    fn C_DecryptUpdate(
        session: Session,
        part: Bytes,
        length: CK_ULONG,
        output: Bytes,
        output_length: Length,
    ) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_DECRYPT, || {
            let output = &mut Output::new(output, output_length)?;
            session.cipher_update(Direction::Decrypt, memory::slice(part, length)?, output)
        })
    }

    fn C_DecryptFinal(session: Session, output: Bytes, output_length: Length) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_DECRYPT, || {
            session.cipher_final(Direction::Decrypt, &mut Output::new(output, output_length)?)
        })
    }

    fn C_DigestInit(session: Session, how: *mut CK_MECHANISM) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_DIGEST);
        }
        session.digest_init(parameter::number(how)?)
    }

    fn C_Digest(
        session: Session,
        data: Bytes,
        length: CK_ULONG,
        digest: Bytes,
        digest_length: Length,
    ) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_DIGEST, || {
            let output = &mut Output::new(digest, digest_length)?;
            session.digest(memory::slice(data, length)?, output)
        })
    }

    fn C_DigestUpdate(session: Session, part: Bytes, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_DIGEST, || {
            session.digest_update(memory::slice(part, length)?)
        })
    }

    fn C_DigestKey(session: Session, key: Object) |module| {
        module.session(session)?.digest_key(key)
    }

    fn C_DigestFinal(session: Session, digest: Bytes, digest_length: Length) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_DIGEST, || {
            session.digest_final(&mut Output::new(digest, digest_length)?)
        })
    }

    fn C_SignInit(session: Session, how: *mut CK_MECHANISM, key: Object) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_SIGN);
        }
        session.sign_init(mechanism(how)?, key)
    }

    fn C_Sign(
        session: Session,
        data: Bytes,
        length: CK_ULONG,
        signature: Bytes,
        signature_length: Length,
    ) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_SIGN, || {
            let output = &mut Output::new(signature, signature_length)?;
            session.sign(memory::slice(data, length)?, output)
        })
    }

    fn C_SignUpdate(session: Session, part: Bytes, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_SIGN, || {
            session.sign_update(memory::slice(part, length)?)
        })
    }

    fn C_SignFinal(session: Session, signature: Bytes, signature_length: Length) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_SIGN, || {
            session.sign_final(&mut Output::new(signature, signature_length)?)
        })
    }

    fn C_VerifyInit(session: Session, how: *mut CK_MECHANISM, key: Object) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_VERIFY);
        }
        session.verify_init(mechanism(how)?, key, None)
    }

    fn C_Verify(
        session: Session,
        data: Bytes,
        length: CK_ULONG,
        signature: Bytes,
        signature_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_VERIFY, || {
            let signature = memory::slice(signature, signature_length)?;
            session.verify(memory::slice(data, length)?, signature)
        })
    }

    fn C_VerifyUpdate(session: Session, part: Bytes, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_VERIFY, || {
            session.verify_update(memory::slice(part, length)?)
        })
    }

    fn C_VerifyFinal(session: Session, signature: Bytes, signature_length: CK_ULONG) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_VERIFY, || {
            session.verify_final(memory::slice(signature, signature_length)?)
        })
    }

    fn C_VerifySignatureInit(
        session: Session,
        how: *mut CK_MECHANISM,
        key: Object,
        signature: Bytes,
        signature_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_VERIFY);
        }
        let how = mechanism(how)?;
        if signature_length > MAX_SIGNATURE {
            return Err(Code::SIGNATURE_LEN_RANGE.into());
        }
        session.verify_init(how, key, Some(memory::slice(signature, signature_length)?))
    }

    fn C_VerifySignature(session: Session, data: Bytes, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_VERIFY, || {
            session.verify_signature(memory::slice(data, length)?)
        })
    }

    fn C_VerifySignatureUpdate(session: Session, part: Bytes, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        ended_by_bad_arguments(&session, CKF_VERIFY, || {
            session.verify_signature_update(memory::slice(part, length)?)
        })
    }

    fn C_VerifySignatureFinal(session: Session) |module| {
        module.session(session)?.verify_signature_final()
    }
}
