//! Turns errors of the keystore and its daemon into messages with hints.

use cycloid_command::Stop;
use cycloid_hsm::{Code, Error};

/// Turns an error of the keystore or its daemon into a message with a hint.
pub(super) fn refused(error: &Error) -> Stop {
    let hint = match error.code {
        Code::DEVICE_REMOVED => {
            "start it with `cycloid-hsm serve`, or name its socket with --socket"
        }
        Code::PIN_INCORRECT => "try again; too many wrong PINs delay the next attempt",
        Code::PIN_LOCKED => "wait, then try again",
        Code::USER_PIN_NOT_INITIALIZED => "initialize the token with `cycloid-hsm init`",
        Code::PIN_LEN_RANGE => "choose a PIN of another length; nothing was created",
        Code::TOKEN_NOT_RECOGNIZED => "restart the daemon after an update",
        _ => "see the daemon's log and `cycloid-hsm status`",
    };
    Stop::failed(error.to_string(), hint)
}
