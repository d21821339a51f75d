//! The slot, its token, and the module's description of itself.

use cryptoki_sys::{
    CK_EFFECTIVELY_INFINITE, CK_INFO, CK_MECHANISM_INFO, CK_SLOT_ID, CK_SLOT_INFO, CK_TOKEN_INFO,
    CK_UNAVAILABLE_INFORMATION, CK_VERSION, CKF_LOGIN_REQUIRED, CKF_MESSAGE_DECRYPT,
    CKF_MESSAGE_ENCRYPT, CKF_MESSAGE_SIGN, CKF_MESSAGE_VERIFY, CKF_MULTI_MESSAGE,
    CKF_REMOVABLE_DEVICE, CKF_RNG, CKF_SO_PIN_COUNT_LOW, CKF_TOKEN_INITIALIZED, CKF_TOKEN_PRESENT,
    CKF_USER_PIN_COUNT_LOW, CKF_USER_PIN_INITIALIZED,
};
use cycloid_hsm_protocol::legacy::Allowed;
use cycloid_hsm_protocol::mechanism::{ckf, ckm, offered_under};
use cycloid_hsm_protocol::rpc::message::TokenInfo;
use cycloid_hsm_protocol::rpc::{Request, Response};
use cycloid_hsm_protocol::{Code, Result};

use crate::application::{Application, unexpected};

/// The only slot.
pub(crate) const SLOT: CK_SLOT_ID = 0;

/// The minimum and maximum length of a PIN in bytes.
pub(crate) const PIN_LENGTHS: std::ops::RangeInclusive<usize> = 4..=255;

/// The latest version of the standard that the module implements.
pub(crate) const LATEST: CK_VERSION = CK_VERSION { major: 3, minor: 2 };

const MANUFACTURER: &str = "Cycloid";
const NO_VERSION: CK_VERSION = CK_VERSION { major: 0, minor: 0 };

/// # Errors
/// [`Code::SLOT_ID_INVALID`] for another slot.
pub(crate) fn check_slot(slot: CK_SLOT_ID) -> Result<()> {
    if slot == SLOT { Ok(()) } else { Err(Code::SLOT_ID_INVALID.into()) }
}

/// Pads text with blanks, or truncates it at a character boundary.
fn padded<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let mut padded = [b' '; LENGTH];
    let fits = |end: &usize| *end <= LENGTH && text.is_char_boundary(*end);
    let end = (0..=text.len()).rev().find(fits).unwrap_or(0);
    padded[..end].copy_from_slice(&text.as_bytes()[..end]);
    padded
}

/// Returns the first two numbers of a version.
fn version(text: &str) -> CK_VERSION {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    CK_VERSION { major: next(), minor: next() }
}

/// Implements C_GetInfo.
pub(crate) fn module_info() -> CK_INFO {
    CK_INFO {
        cryptokiVersion: LATEST,
        manufacturerID: padded(MANUFACTURER),
        flags: 0,
        libraryDescription: padded("Cycloid HSM module"),
        libraryVersion: version(env!("CARGO_PKG_VERSION")),
    }
}

/// Implements C_GetSlotInfo.
pub(crate) fn slot_info(present: bool) -> CK_SLOT_INFO {
    CK_SLOT_INFO {
        slotDescription: padded("Cycloid HSM daemon"),
        manufacturerID: padded(MANUFACTURER),
        // The standard allows only removable tokens to be absent.
        flags: CKF_REMOVABLE_DEVICE | if present { CKF_TOKEN_PRESENT } else { 0 },
        hardwareVersion: NO_VERSION,
        firmwareVersion: NO_VERSION,
    }
}

/// Asks the daemon for the state of the token.
///
/// # Errors
/// The daemon's errors.
pub(crate) fn state(application: &Application) -> Result<TokenInfo> {
    match application.call(&Request::Token {})? {
        Response::Token { info } => Ok(info),
        _ => Err(unexpected()),
    }
}

/// Implements C_GetTokenInfo, with the number of open sessions and of read-write ones among them.
pub(crate) fn token_info(
    info: &TokenInfo,
    (sessions, read_write): (usize, usize),
) -> CK_TOKEN_INFO {
    let flags = [
        (true, CKF_RNG | CKF_LOGIN_REQUIRED),
        (info.initialized, CKF_TOKEN_INITIALIZED),
        (info.user_pin, CKF_USER_PIN_INITIALIZED),
        (info.user_failures > 0, CKF_USER_PIN_COUNT_LOW),
        (info.officer_failures > 0, CKF_SO_PIN_COUNT_LOW),
    ];
    CK_TOKEN_INFO {
        label: padded(&info.label),
        manufacturerID: padded(MANUFACTURER),
        model: padded("Cycloid HSM"),
        serialNumber: padded(&info.serial),
        flags: flags.iter().filter(|(is, _)| *is).fold(0, |flags, (_, flag)| flags | flag),
        ulMaxSessionCount: CK_EFFECTIVELY_INFINITE,
        ulSessionCount: sessions as _,
        ulMaxRwSessionCount: CK_EFFECTIVELY_INFINITE,
        ulRwSessionCount: read_write as _,
        ulMaxPinLen: *PIN_LENGTHS.end() as _,
        ulMinPinLen: *PIN_LENGTHS.start() as _,
        ulTotalPublicMemory: CK_UNAVAILABLE_INFORMATION,
        ulFreePublicMemory: CK_UNAVAILABLE_INFORMATION,
        ulTotalPrivateMemory: CK_UNAVAILABLE_INFORMATION,
        ulFreePrivateMemory: CK_UNAVAILABLE_INFORMATION,
        hardwareVersion: NO_VERSION,
        firmwareVersion: version(&info.daemon),
        utcTime: [b' '; 16],
    }
}

/// Implements C_GetMechanismInfo.
///
/// # Errors
/// [`Code::MECHANISM_INVALID`] if it is not supported while these weak operations are allowed.
pub(crate) fn mechanism_info(allowed: Allowed, number: u64) -> Result<CK_MECHANISM_INFO> {
    let offered = u32::try_from(number).ok().and_then(|number| offered_under(allowed, number));
    let offered = offered.ok_or(Code::MECHANISM_INVALID)?;
    let uses = |flag: u32| offered.flags & flag != 0;
    let authenticated = matches!(offered.number, ckm::AES_GCM | ckm::AES_CCM);
    let signs_messages = offered.number != ckm::AES_GMAC;
    let of_messages = [
        (authenticated, CKF_MESSAGE_ENCRYPT | CKF_MESSAGE_DECRYPT | CKF_MULTI_MESSAGE),
        (signs_messages && uses(ckf::SIGN), CKF_MESSAGE_SIGN | CKF_MULTI_MESSAGE),
        (signs_messages && uses(ckf::VERIFY), CKF_MESSAGE_VERIFY | CKF_MULTI_MESSAGE),
    ];
    let of_messages = of_messages.iter().filter(|(is, _)| *is);
    Ok(CK_MECHANISM_INFO {
        ulMinKeySize: offered.sizes.0.into(),
        ulMaxKeySize: offered.sizes.1.into(),
        flags: of_messages.fold(offered.flags.into(), |flags, (_, flag)| flags | flag),
    })
}
