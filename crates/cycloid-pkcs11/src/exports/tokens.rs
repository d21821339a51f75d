//! Functions for the token, sessions and logins.

use std::ffi::c_void;

use cryptoki_sys::*;
use cycloid_hsm_protocol::mechanism::all_offered_under;
use cycloid_hsm_protocol::rpc::{Request, Role, Secret};
use cycloid_hsm_protocol::{Code, Result};

use super::{Bytes, Length, Object, Session, must_have_room, with_module};
use crate::memory::{self, Output};
use crate::operation::MOST_SAVED;
use crate::state::Module;
use crate::token::{self, PIN_LENGTHS, SLOT, check_slot};
use crate::{CKU_AUDITOR, code};

/// Reads a PIN.
///
/// # Errors
/// [`Code::ARGUMENTS_BAD`] for a null pointer: the token has no PIN pad of its own.
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
    // SAFETY: guaranteed by the caller.
    unsafe { memory::slice(pointer, length) }
}

/// Reads a PIN that is to be set.
///
/// # Safety
/// As for [`memory::slice()`].
unsafe fn new_pin(pointer: *const CK_UTF8CHAR, length: CK_ULONG) -> Result<Secret> {
    // SAFETY: guaranteed by the caller.
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
        CKU_SO => Some(Role::SecurityOfficer),
        CKU_USER => Some(Role::User),
        CKU_AUDITOR => Some(Role::Auditor),
        CKU_CONTEXT_SPECIFIC => None,
        _ => return Err(Code::USER_TYPE_INVALID.into()),
    };
    // SAFETY: guaranteed by the caller.
    let pin = unsafe { pin(pointer, length) }.map_err(|error| match error.code {
        // No PIN has this length.
        Code::PIN_LEN_RANGE => Code::PIN_INCORRECT.into(),
        _ => error,
    })?;
    match role {
        Some(role) => module.sessions.login(&session, role, pin),
        None => session.authenticate(pin),
    }
}

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
        memory::write(info, token::slot_info(module.connected().is_ok()))
    }

    fn C_GetTokenInfo(slot: CK_SLOT_ID, info: *mut CK_TOKEN_INFO) |module| {
        check_slot(slot)?;
        let state = module.ask(token::state)?;
        memory::write(info, token::token_info(&state, module.sessions.count()))
    }

    fn C_GetMechanismList(
        slot: CK_SLOT_ID,
        list: *mut CK_MECHANISM_TYPE,
        count: Length,
    ) |module| {
        check_slot(slot)?;
        let mut list = Output::new(list, count)?;
        let offered = all_offered_under(module.ask(token::state)?.allowed());
        list.put(&offered.iter().map(|offered| offered.number.into()).collect::<Vec<_>>())
    }

    fn C_GetMechanismInfo(
        slot: CK_SLOT_ID,
        number: CK_MECHANISM_TYPE,
        info: *mut CK_MECHANISM_INFO,
    ) |module| {
        check_slot(slot)?;
        let allowed = module.ask(token::state)?.allowed();
        memory::write(info, token::mechanism_info(allowed, number)?)
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
        let application = &session.application;
        application.order(&Request::SetPin { old, new: new.clone() })?;
        application.changed_pin(&new);
        Ok(())
    }

    fn C_WaitForSlotEvent(flags: CK_FLAGS, slot: *mut CK_SLOT_ID, reserved: *mut c_void) |module| {
        if slot.is_null() || !reserved.is_null() || flags & !CKF_DONT_BLOCK != 0 {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        module.wait_for_event(flags & CKF_DONT_BLOCK == 0)?;
        memory::write(slot, SLOT)
    }
}

// Sessions and logins.
functions! {
    fn C_OpenSession(
        slot: CK_SLOT_ID,
        flags: CK_FLAGS,
        _application: *mut c_void,
        _notify: CK_NOTIFY,
        session: *mut CK_SESSION_HANDLE,
    ) |module| {
        check_slot(slot)?;
        if flags & CKF_ASYNC_SESSION != 0 {
            return Err(code::SESSION_ASYNC_NOT_SUPPORTED.into());
        }
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

    fn C_GetOperationState(session: Session, state: Bytes, length: Length) |module| {
        module.session(session)?.save(&mut Output::new(state, length)?)
    }

    fn C_SetOperationState(
        session: Session,
        state: Bytes,
        length: CK_ULONG,
        encryption_key: Object,
        authentication_key: Object,
    ) |module| {
        let session = module.session(session)?;
        must_have_room(state)?;
        if length > MOST_SAVED as CK_ULONG {
            return Err(code::SAVED_STATE_INVALID.into());
        }
        session.restore(memory::slice(state, length)?, [encryption_key, authentication_key])
    }

    fn C_GetSessionValidationFlags(
        session: Session,
        kind: CK_SESSION_VALIDATION_FLAGS_TYPE,
        flags: *mut CK_FLAGS,
    ) |module| {
        module.session(session)?;
        if kind != CKS_LAST_VALIDATION_OK {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        // The module is not validated, so no operation is.
        memory::write(flags, 0)
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
        // Roles have no user names.
        if name_length != 0 {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        login(module, session, user, pin, length)
    }

    fn C_Logout(session: Session) |module| {
        module.session(session)?.application.logout()
    }
}
