//! Turns errors of the keystore and its daemon into messages with hints.

use std::path::Path;

use cycloid_command::Stop;
use cycloid_hsm::store::Trouble;
use cycloid_hsm::{Code, Error};

/// The hint for a keystore that only a backup brings back.
const RESTORE: &str = "stop the daemon, keep the damaged database, make a new keystore with \
    `cycloid-hsm init --home NEW`, and restore the newest backup with `cycloid-hsm backup restore`";

/// Turns an error of the keystore or its daemon into a message with a hint.
pub(super) fn refused(error: &Error) -> Stop {
    if let Some(trouble) = Trouble::of(error) {
        return Stop::failed(
            error.to_string(),
            match trouble {
                Trouble::Absent => {
                    "make one with `cycloid-hsm init`, or name its directory with --home"
                }
                Trouble::Tampered => "`cycloid-hsm salvage check` lists the damage",
                Trouble::KeysLost | Trouble::DamagedFile => RESTORE,
            },
        );
    }
    let hint = match error.code {
        Code::DEVICE_REMOVED => return unreachable(error),
        _ if error.detail.contains("`cycloid-hsm legacy allow") => {
            "`cycloid-hsm legacy list` shows what is allowed"
        }
        Code::PIN_INCORRECT => "try again; too many wrong PINs delay the next attempt",
        Code::PIN_LOCKED => "wait, then try again",
        Code::USER_PIN_NOT_INITIALIZED => {
            "the security officer sets the user's PIN, for example with `pkcs11-tool --init-pin`"
        }
        Code::PIN_LEN_RANGE => "choose a PIN of another length; nothing was created",
        Code::TOKEN_NOT_RECOGNIZED => "restart the daemon after an update",
        _ => "see the daemon's log and `cycloid-hsm status`",
    };
    Stop::failed(error.to_string(), hint)
}

/// Reports credentials that open no slot of a keystore: no PIN is involved.
pub(super) fn not_unlocked(error: &Error, key_file: Option<&Path>) -> Stop {
    match (error.code, key_file) {
        (Code::PIN_INCORRECT, Some(path)) => Stop::failed(
            format!("the key file {} does not open this keystore", path.display()),
            "use the key file that `cycloid-hsm init` made with this database; if it is the one, the database is damaged: restore the newest backup into a new keystore",
        ),
        (Code::PIN_INCORRECT, None) => {
            Stop::failed("the passphrase does not open this keystore", "enter the passphrase again")
        }
        _ => refused(error),
    }
}

fn unreachable(error: &Error) -> Stop {
    let chosen = ["CYCLOID_HSM_SOCKET", "XDG_RUNTIME_DIR"];
    let hint = match chosen.iter().any(|name| std::env::var_os(name).is_some()) {
        true => "start it with `cycloid-hsm serve`, or name its socket with --socket",
        false => {
            "neither CYCLOID_HSM_SOCKET nor XDG_RUNTIME_DIR is set: name the daemon's socket with --socket, or start it with `cycloid-hsm serve`"
        }
    };
    Stop::failed(error.to_string(), hint)
}
