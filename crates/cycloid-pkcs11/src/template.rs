//! Converts templates between C and the daemon. The daemon's attribute numbers are shorter, its big
//! integers have no leading zeros, and it has no nested attribute lists.

use cryptoki_sys::{CK_ULONG, CKF_ARRAY_ATTRIBUTE};
use cycloid_hsm_protocol::attribute::{Template, cka};
use cycloid_hsm_protocol::rpc::frame;
use cycloid_hsm_protocol::{Code, Result};

use crate::application::Application;
use crate::memory::Wanted;

/// Returns the number of an attribute, unless it is out of range.
///
/// A value that is a list of attributes is a list of pointers, which means nothing to the daemon.
fn number(number: CK_ULONG) -> Option<u32> {
    let nested =
        number & CKF_ARRAY_ATTRIBUTE != 0 && number != CK_ULONG::from(cka::ALLOWED_MECHANISMS);
    u32::try_from(number).ok().filter(|_| !nested)
}

const fn is_big_integer(number: u32) -> bool {
    matches!(number, cka::MODULUS | cka::PUBLIC_EXPONENT..=cka::COEFFICIENT)
}

/// Converts a list of attributes to a template.
///
/// # Errors
/// [`Code::ATTRIBUTE_TYPE_INVALID`], [`Code::ATTRIBUTE_VALUE_INVALID`];
/// [`Code::TEMPLATE_INCONSISTENT`] if an attribute occurs twice.
pub(crate) fn template(attributes: &[(CK_ULONG, &[u8])]) -> Result<Template> {
    let mut list = Vec::with_capacity(attributes.len());
    for (given, value) in attributes {
        let number = number(*given).ok_or(Code::ATTRIBUTE_TYPE_INVALID)?;
        if value.len() > frame::MAX_LENGTH {
            return Err(Code::ATTRIBUTE_VALUE_INVALID.into());
        }
        let zeros = value.iter().take_while(|byte| **byte == 0).count();
        let zeros = if is_big_integer(number) { zeros } else { 0 };
        list.push((number, value[zeros..].to_vec()));
    }
    Template::from_list(list)
}

/// Implements C_GetAttributeValue: writes all available values, and returns an error if some are
/// not.
///
/// # Errors
/// [`Code::ATTRIBUTE_SENSITIVE`], [`Code::ATTRIBUTE_TYPE_INVALID`], [`Code::BUFFER_TOO_SMALL`] if
/// that holds for at least one attribute; the daemon's errors, in which case nothing was written.
pub(crate) fn values(application: &Application, object: u64, wanted: &mut Wanted) -> Result<()> {
    let given: Vec<Option<u32>> = wanted.numbers().into_iter().map(number).collect();
    let numbers: Vec<u32> = given.iter().copied().flatten().collect();
    let mut values = application.attributes(object, numbers)?.into_iter();
    let mut outcome = Ok(());
    for (at, number) in given.iter().enumerate() {
        let known = number.and_then(|_| values.next());
        let code = known.as_ref().map_or(Code::ATTRIBUTE_TYPE_INVALID, |value| Code(value.code));
        let value = known.as_ref().filter(|value| value.code == 0);
        let put = wanted.put(at, value.map(|value| value.value.0.as_slice()));
        if value.is_none() {
            outcome = Err(code.into());
        } else if put.is_err() && outcome.is_ok() {
            outcome = put;
        }
    }
    outcome
}
