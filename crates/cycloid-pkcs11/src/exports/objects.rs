//! Functions for objects, including keys, and for random numbers.

use std::fs::OpenOptions;
use std::io::Write;

use cryptoki_sys::*;
use cycloid_hsm_protocol::rpc::frame::MAX_LENGTH;
use cycloid_hsm_protocol::{Code, Result};

use super::{Bytes, Length, Object, Session, must_have_room, with_module};
use crate::code;
use crate::memory::{self, Output, Wanted};
use crate::parameter::mechanism;
use crate::template::{self, template};

/// The maximum number of random bytes per call.
const MAX_RANDOM: CK_ULONG = 1 << 24;

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
        let mut given = 0;
        session.find(most, |found| {
            // `find` passes at most as many objects as fit.
            memory::write(count, found.len() as CK_ULONG)?;
            Output::new(objects.wrapping_add(given), count)?.put(found)?;
            given += found.len();
            memory::write(count, given as CK_ULONG)
        })
    }

    fn C_FindObjectsFinal(session: Session) |module| {
        module.session(session)?.find_final()
    }
}

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
        session.wrap(mechanism(how)?, wrapping, key, &mut output)
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

    fn C_SeedRandom(session: Session, seed: Bytes, length: CK_ULONG) |module| {
        module.session(session)?;
        if length > MAX_RANDOM {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        seed_random(memory::slice(seed, length)?)
    }

    fn C_GenerateRandom(session: Session, random: Bytes, length: CK_ULONG) |module| {
        let session = module.session(session)?;
        if length > MAX_RANDOM || random.is_null() && length > 0 {
            return Err(Code::ARGUMENTS_BAD.into());
        }
        session.random(length as usize, |at, bytes| {
            // Within `length`, for which there is room.
            let mut room = bytes.len() as CK_ULONG;
            Output::new(random.add(at), &raw mut room)?.put(bytes)
        })
    }
}

/// Mixes bytes into the system's random generator, which the daemon on the same machine uses. They
/// add to its state and replace nothing.
fn seed_random(seed: &[u8]) -> Result<()> {
    let device = OpenOptions::new().write(true).open("/dev/urandom");
    let written = device.and_then(|mut device| device.write_all(seed));
    written.map_err(|_| code::RANDOM_SEED_NOT_SUPPORTED.into())
}
