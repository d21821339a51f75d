//! Key exchange: contexts that agree on a secret, here or in the default provider.

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::sync::Arc;

use super::abi::{Dispatch, Param, exchange as number, operation};
use super::boundary::{guarded, succeeds};
use super::context::{Numbers, Settings, deliver, duplicate, listed, new_default, pass_params};
use super::default::Object;
use super::errors::Errors;
use super::key_management::KeyObject;
use super::params::Params;
use crate::failure::Failure;
use crate::log::{self, By};
use crate::scheme::Agreement;

const NUMBERS: Numbers = Numbers {
    operation: operation::KEY_EXCHANGE,
    new: number::NEW_CONTEXT,
    free: number::FREE_CONTEXT,
    dup: number::DUP_CONTEXT,
    get_params: number::GET_PARAMS,
    set_params: number::SET_PARAMS,
    gettable_params: number::GETTABLE_PARAMS,
    settable_params: number::SETTABLE_PARAMS,
};

pub(crate) const ECDH: &[Dispatch] = Functions::<crate::scheme::agreement::Ecdh>::ALL;
pub(crate) const X25519: &[Dispatch] = Functions::<crate::scheme::agreement::X25519>::PLAIN;

/// The context of an agreement.
struct Context<A: Agreement> {
    errors: Errors,
    key: Option<Arc<KeyObject<A::Key>>>,
    peer: Option<Arc<KeyObject<A::Key>>>,
    settings: Settings,
    state: State<A>,
}

enum State<A> {
    NotBegun,
    Own(A),
    Default(Object),
}

type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *const Param) -> c_int;
type SetPeer = unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Derive = unsafe extern "C" fn(*mut c_void, *mut u8, *mut usize, usize) -> c_int;

impl<A: Agreement> Context<A> {
    /// Leaves the operation to the default provider.
    fn leave(&mut self) -> bool {
        let left = self.replay();
        let succeeded = left.is_some();
        self.state = left.map_or(State::NotBegun, State::Default);
        succeeded
    }

    /// Returns a context of the default provider in the state of this one.
    fn replay(&self) -> Option<Object> {
        let key = self.key.as_ref()?.default()?;
        let object = new_default(self.errors, &NUMBERS, A::NAME, None)?;
        let table = object.table();
        // SAFETY: the functions have these types; objects and array are valid.
        unsafe {
            let init = table.function::<Init>(number::INIT)?;
            let begun = self.settings.replay(&object, NUMBERS.set_params, |params| {
                init(object.as_ptr(), key.as_ptr(), params.as_ptr()) == 1
            });
            if !begun {
                return None;
            }
            if let Some(peer) = &self.peer {
                let set = table.function::<SetPeer>(number::SET_PEER)?;
                if set(object.as_ptr(), peer.default()?.as_ptr()) != 1 {
                    return None;
                }
            }
        }
        Some(object)
    }
}

/// The functions of an agreement.
struct Functions<A>(PhantomData<A>);

macro_rules! dispatch {
    ($($name:ident: [$($id:ident $function:ident),* $(,)?])*) => {
        $(
            const $name: &[Dispatch] = &[
                $(Dispatch { id: number::$id, function: Self::$function as *const c_void },)*
                Dispatch { id: 0, function: std::ptr::null() },
            ];
        )*
    };
}

impl<A: Agreement> Functions<A> {
    dispatch! {
        ALL: [
            NEW_CONTEXT new_context, FREE_CONTEXT free, DUP_CONTEXT dup, INIT init, SET_PEER set_peer,
            DERIVE derive, SET_PARAMS set_params, SETTABLE_PARAMS settable_params,
            GET_PARAMS get_params, GETTABLE_PARAMS gettable_params,
        ]
        PLAIN: [
            NEW_CONTEXT new_context, FREE_CONTEXT free, DUP_CONTEXT dup, INIT init, SET_PEER set_peer,
            DERIVE derive,
        ]
    }

    unsafe extern "C" fn new_context(provider: *mut c_void) -> *mut c_void {
        guarded(std::ptr::null_mut(), || {
            let context = Context::<A> {
                errors: Errors::of(provider),
                key: None,
                peer: None,
                settings: Settings::default(),
                state: State::NotBegun,
            };
            Box::into_raw(Box::new(context)).cast()
        })
    }

    unsafe extern "C" fn free(context: *mut c_void) {
        guarded((), || {
            if !context.is_null() {
                // SAFETY: OpenSSL gives the context back.
                unsafe { drop(Box::from_raw(context.cast::<Context<A>>())) };
            }
        });
    }

    unsafe extern "C" fn dup(context: *mut c_void) -> *mut c_void {
        guarded(std::ptr::null_mut(), || {
            // SAFETY: OpenSSL passes a context of this agreement.
            let context = unsafe { &*context.cast::<Context<A>>() };
            let state = match &context.state {
                State::NotBegun => Some(State::NotBegun),
                State::Own(agreement) => Some(State::Own(agreement.clone())),
                State::Default(object) => duplicate(object, &NUMBERS).map(State::Default),
            };
            state.map_or(std::ptr::null_mut(), |state| {
                let copy = Context {
                    errors: context.errors,
                    key: context.key.clone(),
                    peer: context.peer.clone(),
                    settings: context.settings.clone(),
                    state,
                };
                Box::into_raw(Box::new(copy)).cast()
            })
        })
    }

    unsafe extern "C" fn init(
        context: *mut c_void,
        key: *mut c_void,
        params: *const Param,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this agreement, a key and an array.
            let (context, key, params) = unsafe {
                (
                    &mut *context.cast::<Context<A>>(),
                    KeyObject::<A::Key>::share(key),
                    Params::from_raw(params),
                )
            };
            if key.is_some() {
                context.key = key;
            }
            let Some(key) = &context.key else {
                return context.errors.raise(Failure::NoKey, "");
            };
            context.peer = None;
            context.settings = Settings::beginning(params);
            let begun = key.own().filter(|_| params.is_empty()).and_then(A::begin);
            match begun {
                Some(agreement) => {
                    context.state = State::Own(agreement);
                    true
                }
                None => context.leave(),
            }
        })
    }

    unsafe extern "C" fn set_peer(context: *mut c_void, peer: *mut c_void) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this agreement, and a key.
            let (context, peer) =
                unsafe { (&mut *context.cast::<Context<A>>(), KeyObject::<A::Key>::share(peer)) };
            let Some(peer) = peer else {
                return context.errors.raise(Failure::NoPeer, "");
            };
            match &mut context.state {
                State::NotBegun => context.errors.raise(Failure::NotInitialised, ""),
                State::Default(object) => {
                    // SAFETY: the function has this type; the objects are valid.
                    unsafe {
                        let set = object.table().function::<SetPeer>(number::SET_PEER);
                        let peer = peer.default();
                        set.zip(peer)
                            .is_some_and(|(set, peer)| set(object.as_ptr(), peer.as_ptr()) == 1)
                    }
                }
                State::Own(agreement) => {
                    let set = peer.own().is_some_and(|peer| agreement.set_peer(peer));
                    if !set {
                        return context.errors.raise(Failure::Peer, "");
                    }
                    context.peer = Some(peer);
                    true
                }
            }
        })
    }

    unsafe extern "C" fn derive(
        context: *mut c_void,
        output: *mut u8,
        length: *mut usize,
        room: usize,
    ) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this agreement.
            let context = unsafe { &*context.cast::<Context<A>>() };
            let name = A::NAME.to_str().unwrap_or("");
            match &context.state {
                State::NotBegun => context.errors.raise(Failure::NotInitialised, ""),
                State::Default(object) => {
                    if !output.is_null() {
                        log::write(By::Default, "derive", name);
                    }
                    // SAFETY: the function has this type; the memory is the caller's.
                    unsafe {
                        let derive = object.table().function::<Derive>(number::DERIVE);
                        derive.is_some_and(|derive| {
                            derive(object.as_ptr(), output, length, room) == 1
                        })
                    }
                }
                State::Own(agreement) => {
                    if output.is_null() {
                        // SAFETY: OpenSSL passes room for the length.
                        unsafe { *length = agreement.length() };
                        return true;
                    }
                    match agreement.derive() {
                        Ok(secret) => {
                            log::write(By::Cycloid, "derive", name);
                            let most = if A::TRUNCATES && room > 0 { room } else { usize::MAX };
                            let secret = &secret[..secret.len().min(most)];
                            // SAFETY: the memory is the caller's.
                            unsafe { deliver(context.errors, secret, output, length, room) }
                        }
                        Err(error) => context.errors.raise(error.failure, &error.details),
                    }
                }
            }
        })
    }

    unsafe extern "C" fn set_params(context: *mut c_void, params: *const Param) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this agreement, and an array.
            let (context, params) =
                unsafe { (&mut *context.cast::<Context<A>>(), Params::from_raw(params)) };
            match &context.state {
                State::Default(object) => pass_params(object, NUMBERS.set_params, params.as_ptr()),
                _ if params.is_empty() => true,
                State::NotBegun => context.errors.raise(Failure::NotInitialised, ""),
                State::Own(_) => {
                    // A setting that the default provider also refuses changes nothing.
                    let left = context.replay();
                    let set =
                        |object: &Object| pass_params(object, NUMBERS.set_params, params.as_ptr());
                    let Some(object) = left.filter(set) else { return false };
                    context.state = State::Default(object);
                    true
                }
            }
        })
    }

    unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
        succeeds(|| {
            // SAFETY: OpenSSL passes a context of this agreement.
            let context = unsafe { &*context.cast::<Context<A>>() };
            if let State::Default(object) = &context.state {
                return pass_params(object, NUMBERS.get_params, params);
            }
            let same = context.replay();
            same.is_some_and(|object| pass_params(&object, NUMBERS.get_params, params))
        })
    }

    unsafe extern "C" fn gettable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
        guarded(std::ptr::null(), || listed(&NUMBERS, A::NAME, NUMBERS.gettable_params))
    }

    unsafe extern "C" fn settable_params(_: *mut c_void, _: *mut c_void) -> *const Param {
        guarded(std::ptr::null(), || listed(&NUMBERS, A::NAME, NUMBERS.settable_params))
    }
}
