//! Turns errors of the keystore and its daemon into messages with hints.

use std::path::Path;

use cycloid_command::Stop;
use cycloid_hsm::rpc::{HUNG_UP, TLS_FAILED};
use cycloid_hsm::store::Trouble;
use cycloid_hsm::{Code, Error};

/// The hint for a keystore that only a backup brings back.
const RESTORE: &str = "stop the daemon, keep the damaged database, make a new keystore with \
    `cycloid-hsm init --home NEW`, and restore the newest backup with `cycloid-hsm backup restore`";

/// The hint for a locked keystore.
pub(super) const UNLOCK: &str =
    "unlock it with `cycloid-hsm unlock`, or with `cycloid-hsm unlock --key-file FILE`";

/// The hint for a TLS connection that cannot be made.
pub(super) const PEM_FILES: &str = "the address is tls://HOST:PORT; CYCLOID_HSM_CERTIFICATE and \
    CYCLOID_HSM_KEY name this client's PEM files, and CYCLOID_HSM_CA that of the daemon's authority";

/// Turns an error of the keystore or its daemon into a message with a hint.
pub(super) fn refused(error: &Error) -> Stop {
    if let Some(trouble) = Trouble::of(error) {
        return Stop::failed(
            error.to_string(),
            match trouble {
                Trouble::Absent => {
                    "make one with `cycloid-hsm init`, or name its directory with --home"
                }
                Trouble::Forbidden => {
                    "run the command as the keystore's owner; its directory must be writable"
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
        Code::DEVICE_ERROR if error.detail.starts_with("the keystore is locked") => UNLOCK,
        Code::DEVICE_ERROR if error.detail.starts_with("the database failed") => {
            "check that the database can be reached and written, and that its disk is not full"
        }
        Code::ARGUMENTS_BAD if error.detail.starts_with("the database must be") => {
            "name it with --database or CYCLOID_HSM_DATABASE"
        }
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
        (Code::PIN_INCORRECT, None) => Stop::failed(
            "the passphrase does not open this keystore",
            "enter the passphrase again; a key file opens it with --key-file FILE",
        ),
        _ => refused(error),
    }
}

fn unreachable(error: &Error) -> Stop {
    if error.detail.contains(HUNG_UP) {
        return Stop::failed(
            error.to_string(),
            "it serves its own user, root and the users of `serve --users`; if you are one of them, see whether it still runs",
        );
    }
    if error.detail.starts_with(TLS_FAILED) {
        return Stop::failed(error.to_string(), PEM_FILES);
    }
    let chosen = ["CYCLOID_HSM_SOCKET", "XDG_RUNTIME_DIR"];
    let hint = match chosen.iter().any(|name| std::env::var_os(name).is_some()) {
        true => "start it with `cycloid-hsm serve`, or name its socket with --socket",
        false => {
            "neither CYCLOID_HSM_SOCKET nor XDG_RUNTIME_DIR is set: name the daemon's socket with --socket, or start it with `cycloid-hsm serve`"
        }
    };
    Stop::failed(error.to_string(), hint)
}
