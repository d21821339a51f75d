//! The functions that C calls: each turns its arguments into values and slices, calls what does the work,
//! and writes the result.
//!
//! They are `unsafe` for the reason that all functions of C are: a pointer must be null, or lead to what
//! its length and the standard say, for as long as the call lasts. Everything else may be anything. None
//! of them ever unwinds into C. What each does is in PKCS #11 3.0, section 5; that a module is initialised
//! is looked at before anything else.

#![allow(missing_docs, clippy::missing_safety_doc, non_snake_case)]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cryptoki_sys::*;
use cycloid_hsm::mechanism::OFFERED;
use cycloid_hsm::rpc::frame::MAX_LENGTH;
use cycloid_hsm::rpc::{Request, Role, Secret};
use cycloid_hsm::{Code, Result};

use crate::memory::{self, Output, Wanted};
use crate::operation::Direction;
use crate::parameter::{self, mechanism};
use crate::state::{Module, finalize, initialize, module};
use crate::template::{self, template};
use crate::token::{self, PIN_LENGTHS, SLOT, check_slot};
use crate::{CKU_AUDITOR, code};

/// The most random bytes that are given at once.
const MAX_RANDOM: CK_ULONG = 1 << 24;

/// What C is told. A panic is a mistake of ours, and C a place that it cannot reach.
pub(crate) fn answer(call: impl FnOnce() -> Result<()>) -> CK_RV {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => CKR_OK,
        Ok(Err(error)) => error.code.0.into(),
        Err(_) => CKR_GENERAL_ERROR,
    }
}

/// What C is told of a call that needs the module.
fn with_module(call: impl FnOnce(&'static Module) -> Result<()>) -> CK_RV {
    answer(|| {
        let module = module()?;
        call(module).inspect_err(|error| {
            if error.code == Code::DEVICE_REMOVED {
                module.forget_lost();
            }
        })
    })
}

/// Functions that need the module, which the name in front of the body stands for.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) |$module:ident| $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
            // SAFETY: the caller keeps to the standard, as the head of this file has it.
            #[allow(unused_unsafe)]
            with_module(|$module| unsafe { $body })
        }
    )*};
}

/// Functions that the module has not, with the codes that say so.
macro_rules! absent {
    ($($code:expr => { $($name:ident($($type:ty),*))* })*) => {$($(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($(_: $type),*) -> CK_RV {
            with_module(|_| Err($code.into()))
        }
    )*)*};
}

type Session = CK_SESSION_HANDLE;
type Object = CK_OBJECT_HANDLE;
type Bytes = *mut CK_BYTE;
type Length = *mut CK_ULONG;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_Initialize(arguments: *mut c_void) -> CK_RV {
    answer(|| {
        if !arguments.is_null() {
            // SAFETY: the caller keeps to the standard.
            let given: CK_C_INITIALIZE_ARGS = unsafe { memory::read(arguments.cast())? };
            let mutexes = [
                given.CreateMutex.is_some(),
                given.DestroyMutex.is_some(),
                given.LockMutex.is_some(),
                given.UnlockMutex.is_some(),
            ];
            if !given.pReserved.is_null() || mutexes.iter().any(|one| *one != mutexes[0]) {
                return Err(Code::ARGUMENTS_BAD.into());
            }
        }
        initialize()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_Finalize(reserved: *mut c_void) -> CK_RV {
    answer(|| {
        module()?;
        if !reserved.is_null() {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        finalize()
    })
}

/// A PIN.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`]: the token has no way of its own to ask for one.
///
/// # Safety
/// As for [`memory::slice()`].
unsafe fn pin<'a>(pointer: *const CK_UTF8CHAR, length: CK_ULONG) -> Result<&'a [u8]> {
    if pointer.is_null() {
        return Err(Code::ARGUMENTS_BAD.into());
    }
    if length > *PIN_LENGTHS.end() as CK_ULONG {
        return Err(Code::PIN_LEN_RANGE.into());
    }
    // SAFETY: the caller promises it.
    unsafe { memory::slice(pointer, length) }
}

/// A PIN that is to become one.
///
/// # Safety
/// As for [`memory::slice()`].
unsafe fn new_pin(pointer: *const CK_UTF8CHAR, length: CK_ULONG) -> Result<Secret> {
    // SAFETY: the caller promises it.
    let pin = unsafe { pin(pointer, length)? };
    if !PIN_LENGTHS.contains(&pin.len()) {
        return Err(Code::PIN_LEN_RANGE.into());
    }
    if std::str::from_utf8(pin).is_err() {
        return Err(Code::PIN_INVALID.into());
    }
    Ok(Secret::new(pin))
}

/// # Safety
/// As for [`memory::slice()`].
unsafe fn login(
    module: &Module,
    session: Session,
    user: CK_USER_TYPE,
    pointer: *const CK_UTF8CHAR,
    length: CK_ULONG,
) -> Result<()> {
    let session = module.session(session)?;
    let role = match user {
        CKU_SO => Role::SecurityOfficer,
        CKU_USER => Role::User,
        CKU_AUDITOR => Role::Auditor,
        _ => return Err(Code::USER_TYPE_INVALID.into()),
    };
    // SAFETY: the caller promises it.
    let pin = unsafe { pin(pointer, length) }.map_err(|error| match error.code {
        // No PIN is that long.
        Code::PIN_LEN_RANGE => Code::PIN_INCORRECT.into(),
        _ => error,
    })?;
    module.sessions.login(&session, role, pin)
}

// The token.
functions! {
    fn C_GetInfo(info: *mut CK_INFO) |_module| {
        memory::write(info, token::module_info())
    }

    fn C_GetSlotList(present: CK_BBOOL, list: *mut CK_SLOT_ID, count: Length) |module| {
        let mut list = Output::new(list, count)?;
        let listed = present == CK_FALSE || module.connected().is_ok();
        list.put(if listed { &[SLOT] } else { &[] })
    }

    fn C_GetSlotInfo(slot: CK_SLOT_ID, info: *mut CK_SLOT_INFO) |module| {
        check_slot(slot)?;
        memory::write(info, token::slot_info(module))
    }

    fn C_GetTokenInfo(slot: CK_SLOT_ID, info: *mut CK_TOKEN_INFO) |module| {
        check_slot(slot)?;
        memory::write(info, token::token_info(module)?)
    }

    fn C_GetMechanismList(
        slot: CK_SLOT_ID,
        list: *mut CK_MECHANISM_TYPE,
        count: Length,
    ) |module| {
        check_slot(slot)?;
        let mut list = Output::new(list, count)?;
        module.connected()?;
        list.put(&OFFERED.iter().map(|offered| offered.number.into()).collect::<Vec<_>>())
    }

    fn C_GetMechanismInfo(
        slot: CK_SLOT_ID,
        number: CK_MECHANISM_TYPE,
        info: *mut CK_MECHANISM_INFO,
    ) |module| {
        check_slot(slot)?;
        module.connected()?;
        memory::write(info, token::mechanism_info(number)?)
    }

    fn C_InitToken(
        slot: CK_SLOT_ID,
        pin: *mut CK_UTF8CHAR,
        pin_length: CK_ULONG,
        label: *mut CK_UTF8CHAR,
    ) |module| {
        check_slot(slot)?;
        let pin = new_pin(pin, pin_length)?;
        let label: [u8; 32] = memory::read(label.cast())?;
        let label = std::str::from_utf8(&label).map_err(|_| Code::ARGUMENTS_BAD)?;
        let label = label.trim_end_matches(' ').to_owned();
        if module.sessions.count().0 > 0 {
            return Err(Code::SESSION_EXISTS.into());
        }
        let application = module.connected()?;
        application.forget_all();
        application.order(&Request::InitToken { pin, label })
    }

    fn C_InitPIN(session: Session, pin: *mut CK_UTF8CHAR, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        let pin = new_pin(pin, length)?;
        session.must_write()?;
        if *session.application.role() != Some(Role::SecurityOfficer) {
            return Err(Code::USER_NOT_LOGGED_IN.into());
        }
        session.application.order(&Request::InitPin { role: Role::User, pin })
    }

    fn C_SetPIN(
        session: Session,
        old: *mut CK_UTF8CHAR,
        old_length: CK_ULONG,
        new: *mut CK_UTF8CHAR,
        new_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        let (old, new) = (Secret::new(pin(old, old_length)?), new_pin(new, new_length)?);
        session.must_write()?;
        session.application.order(&Request::SetPin { old, new })
    }

    fn C_WaitForSlotEvent(flags: CK_FLAGS, slot: *mut CK_SLOT_ID, reserved: *mut c_void) |_module| {
        if slot.is_null() || !reserved.is_null() {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        match flags {
            CKF_DONT_BLOCK => Err(code::NO_EVENT.into()),
            _ => Err(Code::FUNCTION_NOT_SUPPORTED.into()),
        }
    }
}

// Sessions.
functions! {
    fn C_OpenSession(
        slot: CK_SLOT_ID,
        flags: CK_FLAGS,
        _application: *mut c_void,
        _notify: CK_NOTIFY,
        session: *mut CK_SESSION_HANDLE,
    ) |module| {
        check_slot(slot)?;
        if flags & CKF_SERIAL_SESSION == 0 {
            return Err(code::SESSION_PARALLEL_NOT_SUPPORTED.into());
        }
        if session.is_null() {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        let read_write = flags & CKF_RW_SESSION != 0;
        memory::write(session, module.sessions.open(module.connected()?, read_write)?)
    }

    fn C_CloseSession(session: Session) |module| {
        module.sessions.close(session)
    }

    fn C_CloseAllSessions(slot: CK_SLOT_ID) |module| {
        check_slot(slot)?;
        module.sessions.close_all();
        Ok(())
    }

    fn C_GetSessionInfo(session: Session, info: *mut CK_SESSION_INFO) |module| {
        memory::write(info, module.session(session)?.info())
    }

    fn C_SessionCancel(session: Session, flags: CK_FLAGS) |module| {
        module.session(session)?.operations().cancel(flags);
        Ok(())
    }

    fn C_Login(
        session: Session,
        user: CK_USER_TYPE,
        pin: *mut CK_UTF8CHAR,
        length: CK_ULONG,
    ) |module| {
        login(module, session, user, pin, length)
    }

    fn C_LoginUser(
        session: Session,
        user: CK_USER_TYPE,
        pin: *mut CK_UTF8CHAR,
        length: CK_ULONG,
        _name: *mut CK_UTF8CHAR,
        name_length: CK_ULONG,
    ) |module| {
        // The roles have no names but their types.
        if name_length != 0 {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        login(module, session, user, pin, length)
    }

    fn C_Logout(session: Session) |module| {
        module.session(session)?.application.logout()
    }
}

// Objects.
functions! {
    fn C_CreateObject(
        session: Session,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        object: *mut Object,
    ) |module| {
        let session = module.session(session)?;
        let template = template(&memory::attributes(attributes, count)?)?;
        must_have_room(object)?;
        memory::write(object, session.create(template)?)
    }

    fn C_CopyObject(
        session: Session,
        original: Object,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        object: *mut Object,
    ) |module| {
        let session = module.session(session)?;
        let template = template(&memory::attributes(attributes, count)?)?;
        must_have_room(object)?;
        memory::write(object, session.copy(original, template)?)
    }

    fn C_DestroyObject(session: Session, object: Object) |module| {
        module.session(session)?.destroy_object(object)
    }

    fn C_GetObjectSize(session: Session, object: Object, size: Length) |module| {
        let session = module.session(session)?;
        must_have_room(size)?;
        memory::write(size, session.object_size(object)?)
    }

    fn C_GetAttributeValue(
        session: Session,
        object: Object,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        template::values(&session.application, object, &mut Wanted::new(attributes, count)?)
    }

    fn C_SetAttributeValue(
        session: Session,
        object: Object,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        session.set_attributes(object, template(&memory::attributes(attributes, count)?)?)
    }

    fn C_FindObjectsInit(
        session: Session,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        session.find_init(template(&memory::attributes(attributes, count)?)?)
    }

    fn C_FindObjects(
        session: Session,
        objects: *mut Object,
        most: CK_ULONG,
        count: Length,
    ) |module| {
        let session = module.session(session)?;
        if objects.is_null() || count.is_null() {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        session.find(most, |found| {
            // As many as are given have room, by the promise of `most`.
            memory::write(count, found.len() as CK_ULONG)?;
            Output::new(objects, count)?.put(found)
        })
    }

    fn C_FindObjectsFinal(session: Session) |module| {
        module.session(session)?.find_final()
    }
}

/// # Errors
/// [`Code::ARGUMENTS_BAD`] if a result has no place: it is looked at before anything is done.
fn must_have_room<T>(place: *mut T) -> Result<()> {
    if place.is_null() { Err(Code::ARGUMENTS_BAD.into()) } else { Ok(()) }
}

// Operations.
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
        let output = &mut Output::new(output, output_length)?;
        session.cipher(Direction::Encrypt, memory::slice(data, length)?, output)
    }

    fn C_EncryptUpdate(
        session: Session,
        part: Bytes,
        length: CK_ULONG,
        output: Bytes,
        output_length: Length,
    ) |module| {
        let session = module.session(session)?;
        let output = &mut Output::new(output, output_length)?;
        session.cipher_update(Direction::Encrypt, memory::slice(part, length)?, output)
    }

    fn C_EncryptFinal(session: Session, output: Bytes, output_length: Length) |module| {
        let session = module.session(session)?;
        session.cipher_final(Direction::Encrypt, &mut Output::new(output, output_length)?)
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
        let output = &mut Output::new(output, output_length)?;
        session.cipher(Direction::Decrypt, memory::slice(data, length)?, output)
    }

    fn C_DecryptUpdate(
        session: Session,
        part: Bytes,
        length: CK_ULONG,
        output: Bytes,
        output_length: Length,
    ) |module| {
        let session = module.session(session)?;
        let output = &mut Output::new(output, output_length)?;
        session.cipher_update(Direction::Decrypt, memory::slice(part, length)?, output)
    }

    fn C_DecryptFinal(session: Session, output: Bytes, output_length: Length) |module| {
        let session = module.session(session)?;
        session.cipher_final(Direction::Decrypt, &mut Output::new(output, output_length)?)
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
        let output = &mut Output::new(digest, digest_length)?;
        session.digest(memory::slice(data, length)?, output)
    }

    fn C_DigestUpdate(session: Session, part: Bytes, length: CK_ULONG) |module| {
        module.session(session)?.digest_update(memory::slice(part, length)?)
    }

    fn C_DigestFinal(session: Session, digest: Bytes, digest_length: Length) |module| {
        module.session(session)?.digest_final(&mut Output::new(digest, digest_length)?)
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
        let output = &mut Output::new(signature, signature_length)?;
        session.sign(memory::slice(data, length)?, output)
    }

    fn C_SignUpdate(session: Session, part: Bytes, length: CK_ULONG) |module| {
        module.session(session)?.sign_update(memory::slice(part, length)?)
    }

    fn C_SignFinal(session: Session, signature: Bytes, signature_length: Length) |module| {
        module.session(session)?.sign_final(&mut Output::new(signature, signature_length)?)
    }

    fn C_VerifyInit(session: Session, how: *mut CK_MECHANISM, key: Object) |module| {
        let session = module.session(session)?;
        if how.is_null() {
            return session.operations().cancel_one(CKF_VERIFY);
        }
        session.verify_init(mechanism(how)?, key)
    }

    fn C_Verify(
        session: Session,
        data: Bytes,
        length: CK_ULONG,
        signature: Bytes,
        signature_length: CK_ULONG,
    ) |module| {
        let session = module.session(session)?;
        let signature = memory::slice(signature, signature_length)?;
        session.verify(memory::slice(data, length)?, signature)
    }

    fn C_VerifyUpdate(session: Session, part: Bytes, length: CK_ULONG) |module| {
        module.session(session)?.verify_update(memory::slice(part, length)?)
    }

    fn C_VerifyFinal(session: Session, signature: Bytes, signature_length: CK_ULONG) |module| {
        module.session(session)?.verify_final(memory::slice(signature, signature_length)?)
    }
}

// Keys.
functions! {
    fn C_GenerateKey(
        session: Session,
        how: *mut CK_MECHANISM,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        key: *mut Object,
    ) |module| {
        let session = module.session(session)?;
        let template = template(&memory::attributes(attributes, count)?)?;
        must_have_room(key)?;
        memory::write(key, session.generate(mechanism(how)?, template)?)
    }

    fn C_GenerateKeyPair(
        session: Session,
        how: *mut CK_MECHANISM,
        public_attributes: *mut CK_ATTRIBUTE,
        public_count: CK_ULONG,
        private_attributes: *mut CK_ATTRIBUTE,
        private_count: CK_ULONG,
        public: *mut Object,
        private: *mut Object,
    ) |module| {
        let session = module.session(session)?;
        let public_template = template(&memory::attributes(public_attributes, public_count)?)?;
        let private_template = template(&memory::attributes(private_attributes, private_count)?)?;
        must_have_room(public)?;
        must_have_room(private)?;
        let how = mechanism(how)?;
        let made = session.generate_pair(how, public_template, private_template)?;
        memory::write(public, made.0)?;
        memory::write(private, made.1)
    }

    fn C_WrapKey(
        session: Session,
        how: *mut CK_MECHANISM,
        wrapping: Object,
        key: Object,
        wrapped: Bytes,
        wrapped_length: Length,
    ) |module| {
        let session = module.session(session)?;
        let mut output = Output::new(wrapped, wrapped_length)?;
        output.put(&session.wrap(mechanism(how)?, wrapping, key)?)
    }

    fn C_UnwrapKey(
        session: Session,
        how: *mut CK_MECHANISM,
        unwrapping: Object,
        wrapped: Bytes,
        wrapped_length: CK_ULONG,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        key: *mut Object,
    ) |module| {
        let session = module.session(session)?;
        if wrapped_length > MAX_LENGTH as CK_ULONG {
            return Err(Code::WRAPPED_KEY_LEN_RANGE.into());
        }
        let wrapped = memory::slice(wrapped, wrapped_length)?;
        let template = template(&memory::attributes(attributes, count)?)?;
        must_have_room(key)?;
        memory::write(key, session.unwrap(mechanism(how)?, unwrapping, wrapped, template)?)
    }

    fn C_DeriveKey(
        session: Session,
        how: *mut CK_MECHANISM,
        base: Object,
        attributes: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        key: *mut Object,
    ) |module| {
        let session = module.session(session)?;
        let template = template(&memory::attributes(attributes, count)?)?;
        must_have_room(key)?;
        memory::write(key, session.derive(mechanism(how)?, base, template)?)
    }

    fn C_SeedRandom(session: Session, _seed: Bytes, _length: CK_ULONG) |module| {
        module.session(session)?;
        Err(code::RANDOM_SEED_NOT_SUPPORTED.into())
    }

    fn C_GenerateRandom(session: Session, random: Bytes, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        if length > MAX_RANDOM || random.is_null() && length > 0 {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        session.random(length as usize, |at, bytes| {
            // Within `length`, which has room.
            let mut room = bytes.len() as CK_ULONG;
            Output::new(random.add(at), &raw mut room)?.put(bytes)
        })
    }
}

type Mechanism = *mut CK_MECHANISM;
type Parameter = *mut c_void;

absent! {
    Code::FUNCTION_NOT_SUPPORTED => {
        C_GetOperationState(Session, Bytes, Length)
        C_SetOperationState(Session, Bytes, CK_ULONG, Object, Object)
        C_DigestKey(Session, Object)
        C_SignRecoverInit(Session, Mechanism, Object)
        C_SignRecover(Session, Bytes, CK_ULONG, Bytes, Length)
        C_VerifyRecoverInit(Session, Mechanism, Object)
        C_VerifyRecover(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DigestEncryptUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptDigestUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_SignEncryptUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptVerifyUpdate(Session, Bytes, CK_ULONG, Bytes, Length)
        C_MessageEncryptInit(Session, Mechanism, Object)
        C_EncryptMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_EncryptMessageBegin(Session, Parameter, CK_ULONG, Bytes, CK_ULONG)
        C_EncryptMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length, CK_FLAGS)
        C_MessageEncryptFinal(Session)
        C_MessageDecryptInit(Session, Mechanism, Object)
        C_DecryptMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_DecryptMessageBegin(Session, Parameter, CK_ULONG, Bytes, CK_ULONG)
        C_DecryptMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length, CK_FLAGS)
        C_MessageDecryptFinal(Session)
        C_MessageSignInit(Session, Mechanism, Object)
        C_SignMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_SignMessageBegin(Session, Parameter, CK_ULONG)
        C_SignMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, Length)
        C_MessageSignFinal(Session)
        C_MessageVerifyInit(Session, Mechanism, Object)
        C_VerifyMessage(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG)
        C_VerifyMessageBegin(Session, Parameter, CK_ULONG)
        C_VerifyMessageNext(Session, Parameter, CK_ULONG, Bytes, CK_ULONG, Bytes, CK_ULONG)
        C_MessageVerifyFinal(Session)
    }
    code::FUNCTION_NOT_PARALLEL => {
        C_GetFunctionStatus(Session)
        C_CancelFunction(Session)
    }
}
