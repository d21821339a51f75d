//! Functions for several messages with one key (PKCS #11 3.0).

use cryptoki_sys::*;
use cycloid_hsm_protocol::rpc::Usage;
use cycloid_hsm_protocol::{Code, Result};

use super::{Bytes, Length, Mechanism, Object, Parameter, Session, with_module};
use crate::memory::{self, Output};
use crate::operation::{Direction, is_last};
use crate::parameter::{MessageParameter, mechanism, message_cipher};

/// Checks the parameter of a message that is signed or verified: no mechanism defines one.
fn must_be_empty(length: CK_ULONG) -> Result<()> {
    if length == 0 { Ok(()) } else { Err(Code::MECHANISM_PARAM_INVALID.into()) }
}

/// Defines the functions of a direction of authenticated ciphers.
macro_rules! ciphers {
    ($direction:expr, $flag:expr => $init:ident $message:ident $begin:ident $next:ident $final:ident) => {
        functions! {
            fn $init(session: Session, how: Mechanism, key: Object) |module| {
                let session = module.session(session)?;
                if how.is_null() {
                    return session.operations().cancel_one($flag);
                }
                session.message_cipher_init($direction, message_cipher(how)?, key)
            }

            fn $message(
                session: Session,
                parameter: Parameter,
                parameter_length: CK_ULONG,
                associated: Bytes,
                associated_length: CK_ULONG,
                data: Bytes,
                length: CK_ULONG,
                output: Bytes,
                output_length: Length,
            ) |module| {
                let session = module.session(session)?;
                let output = &mut Output::new(output, output_length)?;
                let number = session.message_mechanism($direction)?;
                let parameter = MessageParameter::read(number, parameter, parameter_length)?;
                let associated = memory::slice(associated, associated_length)?;
                let data = memory::slice(data, length)?;
                session.message_cipher($direction, &parameter, associated, data, output)
            }

            fn $begin(
                session: Session,
                parameter: Parameter,
                parameter_length: CK_ULONG,
                associated: Bytes,
                associated_length: CK_ULONG,
            ) |module| {
                let session = module.session(session)?;
                let number = session.message_mechanism($direction)?;
                let parameter = MessageParameter::read(number, parameter, parameter_length)?;
                let associated = memory::slice(associated, associated_length)?;
                session.message_begin($direction, &parameter, associated)
            }

            fn $next(
                session: Session,
                parameter: Parameter,
                parameter_length: CK_ULONG,
                part: Bytes,
                length: CK_ULONG,
                output: Bytes,
                output_length: Length,
                flags: CK_FLAGS,
            ) |module| {
                let session = module.session(session)?;
                let output = &mut Output::new(output, output_length)?;
                let number = session.message_mechanism($direction)?;
                let parameter = match is_last(flags)? {
                    true => Some(MessageParameter::read(number, parameter, parameter_length)?),
                    false => None,
                };
                let part = memory::slice(part, length)?;
                session.message_next($direction, parameter.as_ref(), part, output)
            }

            fn $final(session: Session) |module| {
                module.session(session)?.message_cipher_final($direction)
            }
        }
    };
}

ciphers! {
    Direction::Encrypt, CKF_MESSAGE_ENCRYPT =>
    C_MessageEncryptInit C_EncryptMessage C_EncryptMessageBegin C_EncryptMessageNext
    C_MessageEncryptFinal
}

ciphers! {
    Direction::Decrypt, CKF_MESSAGE_DECRYPT =>
    C_MessageDecryptInit C_DecryptMessage C_DecryptMessageBegin C_DecryptMessageNext
    C_MessageDecryptFinal
}

functions! {
    fn C_MessageSignInit(session: Session, how: Mechanism, key: Object) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_MESSAGE_SIGN);
        }
        session.message_signature_init(Usage::Sign, mechanism(how)?, key)
    }

    fn C_SignMessage(
        session: Session,
        _parameter: Parameter,
        parameter_length: CK_ULONG,
        data: Bytes,
        length: CK_ULONG,
        signature: Bytes,
        signature_length: Length,
    ) |module| {
        let session = module.session(session)?;
        let output = &mut Output::new(signature, signature_length)?;
        must_be_empty(parameter_length)?;
        session.sign_message(memory::slice(data, length)?, output)
    }

    fn C_SignMessageBegin(
        session: Session,
        _parameter: Parameter,
        parameter_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        must_be_empty(parameter_length)?;
        session.message_signature_begin(Usage::Sign)
    }

    fn C_SignMessageNext(
        session: Session,
        _parameter: Parameter,
        parameter_length: CK_ULONG,
        part: Bytes,
        length: CK_ULONG,
        signature: Bytes,
        signature_length: Length,
    ) |module| {
        let session = module.session(session)?;
        must_be_empty(parameter_length)?;
        let part = memory::slice(part, length)?;
        // Only the last part has room for the length of the signature.
        match signature_length.is_null() {
            true => session.sign_message_next(part, None),
            false => {
                let output = &mut Output::new(signature, signature_length)?;
                session.sign_message_next(part, Some(output))
            }
        }
    }

    fn C_MessageSignFinal(session: Session) |module| {
        module.session(session)?.message_signature_final(Usage::Sign)
    }

    fn C_MessageVerifyInit(session: Session, how: Mechanism, key: Object) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_MESSAGE_VERIFY);
        }
        session.message_signature_init(Usage::Verify, mechanism(how)?, key)
    }

    fn C_VerifyMessage(
        session: Session,
        _parameter: Parameter,
        parameter_length: CK_ULONG,
        data: Bytes,
        length: CK_ULONG,
        signature: Bytes,
        signature_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        must_be_empty(parameter_length)?;
        let signature = memory::slice(signature, signature_length)?;
        session.verify_message(memory::slice(data, length)?, signature)
    }

    fn C_VerifyMessageBegin(
        session: Session,
        _parameter: Parameter,
        parameter_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        must_be_empty(parameter_length)?;
        session.message_signature_begin(Usage::Verify)
    }

    fn C_VerifyMessageNext(
        session: Session,
        _parameter: Parameter,
        parameter_length: CK_ULONG,
        part: Bytes,
        length: CK_ULONG,
        signature: Bytes,
        signature_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        must_be_empty(parameter_length)?;
        let part = memory::slice(part, length)?;
        let given = memory::slice(signature, signature_length)?;
        // Only the last part has a signature.
        session.verify_message_next(part, (!signature.is_null()).then_some(given))
    }

    fn C_MessageVerifyFinal(session: Session) |module| {
        module.session(session)?.message_signature_final(Usage::Verify)
    }
}
