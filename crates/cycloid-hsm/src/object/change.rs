//! Changes and copies of objects: they never reduce protection or add uses.

use zeroize::Zeroizing;

use super::policy::trust;
use super::rules::{DEVICE, USAGES, check_form};
use super::{New, Object};
use crate::attribute::{Template, cka, cko};
use crate::rpc::Role;
use crate::{Code, Error, Result};

fn read_only(number: u32) -> Error {
    Code::ATTRIBUTE_READ_ONLY.because(format!("attribute {number:#x} cannot be changed this way"))
}

/// Returns the attributes after a change (C_SetAttributeValue).
///
/// # Errors
/// [`Code::ACTION_PROHIBITED`] if the object may not be changed; [`Code::ATTRIBUTE_READ_ONLY`] for
/// an attribute that cannot be changed, or not in that direction.
pub(crate) fn changed(object: &Object, changes: &Template, role: Option<Role>) -> Result<Template> {
    if !object.attributes.is(cka::MODIFIABLE) {
        return Err(Code::ACTION_PROHIBITED.because("the object cannot be changed"));
    }
    apply(object, changes, role, false)
}

/// Returns a copy (C_CopyObject); `secret` is the original's.
///
/// # Errors
/// As [`changed`]. In addition, a copy may be stored elsewhere and may become private.
pub(crate) fn copied(object: &Object, changes: &Template, secret: Option<&[u8]>) -> Result<New> {
    if !object.attributes.is(cka::COPYABLE) {
        return Err(Code::ACTION_PROHIBITED.because("the object cannot be copied"));
    }
    let mut attributes = apply(object, changes, None, true)?;
    // Only the original was trusted.
    if attributes.get(cka::TRUSTED).is_some() {
        attributes.set_bool(cka::TRUSTED, false);
    }
    Ok(New { attributes, secret: secret.map(|secret| Zeroizing::new(secret.to_vec())) })
}

fn apply(object: &Object, changes: &Template, role: Option<Role>, copy: bool) -> Result<Template> {
    for (number, _) in changes.iter() {
        if DEVICE.contains(&number) {
            return Err(read_only(number));
        }
    }
    check_form(object.class(), object.key_type(), changes)?;
    let is_key = matches!(object.class(), cko::PUBLIC_KEY | cko::PRIVATE_KEY | cko::SECRET_KEY);
    let mut attributes = object.attributes.clone();
    for (number, value) in changes.iter() {
        let (was, is) = (object.attributes.get(number), value);
        if was == Some(is) {
            continue;
        }
        let becomes_true = is == [1];
        let allowed = match number {
            cka::LABEL | cka::ID | cka::SUBJECT | cka::START_DATE | cka::END_DATE => true,
            cka::ISSUER | cka::SERIAL_NUMBER | cka::APPLICATION | cka::OBJECT_ID => !is_key,
            cka::VALUE => object.class() == cko::DATA,
            cka::SENSITIVE | cka::WRAP_WITH_TRUSTED => becomes_true,
            cka::EXTRACTABLE => !becomes_true,
            _ if USAGES.contains(&number) => !becomes_true,
            cka::COPYABLE | cka::MODIFIABLE => !becomes_true,
            cka::TRUSTED if role == Some(Role::SecurityOfficer) => {
                if becomes_true {
                    trust(object)?;
                }
                true
            }
            cka::TOKEN => copy,
            cka::PRIVATE => copy && becomes_true,
            _ => false,
        };
        if !allowed {
            return Err(read_only(number));
        }
        attributes.set(number, value);
    }
    Ok(attributes)
}
