//! Templates between C and the daemon, which differ in little: numbers of attributes are shorter there,
//! big integers have no leading zeros, and lists of attributes as values do not exist.

use cryptoki_sys::{CK_ULONG, CKF_ARRAY_ATTRIBUTE};
use cycloid_hsm::attribute::{Template, cka};
use cycloid_hsm::rpc::frame;
use cycloid_hsm::{Code, Result};

use crate::application::Application;
use crate::memory::Wanted;

/// The number of an attribute, unless none has it.
///
/// A value that is a list of attributes is a list of pointers, and means nothing to the daemon.
fn number(number: CK_ULONG) -> Option<u32> {
    let nested = number & CKF_ARRAY_ATTRIBUTE != 0 && number != cka::ALLOWED_MECHANISMS.into();
    u32::try_from(number).ok().filter(|_| !nested)
}

const fn is_big_integer(number: u32) -> bool {
    matches!(number, cka::MODULUS | cka::PUBLIC_EXPONENT..=cka::COEFFICIENT)
}

/// The template of these attributes.
///
/// # Errors
/// [`Code::ATTRIBUTE_TYPE_INVALID`], [`Code::ATTRIBUTE_VALUE_INVALID`]; [`Code::TEMPLATE_INCONSISTENT`] if
/// one stands there twice.
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

/// C_GetAttributeValue: gives what can be given, and an error if that is not all.
///
/// # Errors
/// [`Code::ATTRIBUTE_SENSITIVE`], [`Code::ATTRIBUTE_TYPE_INVALID`], [`Code::BUFFER_TOO_SMALL`] if that is
/// so of one attribute at least; those of the daemon, and then nothing was given.
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
