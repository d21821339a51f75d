//! What `cycloid hsm` takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::{Common, HsmSuite};

/// A key manager: keys that never leave the daemon, used through PKCS #11.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid hsm init --label office       make a keystore; asks for two PINs
  cycloid hsm serve                     serve it until it is told to stop
  cycloid hsm key generate rsa-2048 --label ca
  cycloid hsm key list
  cycloid hsm bench                     what it does in a second, beside SoftHSM

Programs use the keys through libcycloid_pkcs11.so; docs/hsm.md shows how.")]
pub(crate) struct Hsm {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Where the daemon listens, a socket or, for a client, tls://HOST:PORT [default:
    /// $CYCLOID_HSM_SOCKET, or cycloid-hsm.sock in $XDG_RUNTIME_DIR, or /run/cycloid-hsm/socket].
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) socket: Option<PathBuf>,

    /// Where the keystore is [default: $CYCLOID_HSM_HOME, or cycloid-hsm in $XDG_DATA_HOME or
    /// ~/.local/share].
    #[arg(long, value_name = "DIRECTORY", global = true)]
    pub(crate) home: Option<PathBuf>,

    /// The database, sqlite:PATH or postgres://… [default: keys.db in the keystore's directory].
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) database: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a keystore and its token.
    Init(Init),
    /// Serve the token to the programs of this machine.
    Serve(Serve),
    /// Say how the daemon is.
    Status,
    /// Open a keystore that is locked: asks for its passphrase, or reads its key file.
    Unlock(Unlock),
    /// Close the keystore, and forget all keys; needs the security officer's PIN.
    Lock(Pin),
    /// Make, list and destroy keys; needs the user's PIN.
    Key(Key),
    /// Seal all records anew under a new master key; needs the security officer's PIN.
    Rotate(Pin),
    /// Seal all keys for another keystore or for custodians, and restore them.
    Backup(Backup),
    /// The audit log.
    Audit(Audit),
    /// Print the daemon's metrics, as Prometheus reads them.
    Metrics,
    /// Measure a daemon of its own beside SoftHSM: signatures a second, latencies, processor time.
    Bench(Bench),
    /// Keep a keystore and a daemon that are thrown away when standard input ends.
    #[command(hide = true)]
    ThrowAway(ThrowAway),
    /// Sign with a module as standard input says.
    #[command(hide = true)]
    Load(Load),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid hsm bench                               every key, 1 to 32 clients, beside SoftHSM
  cycloid hsm bench --key rsa-2048 --clients 16   one line of it
  cycloid hsm bench --full                        narrower intervals, and the start with 100,000 keys

The same as cycloid bench hsm. Keystore and daemon are its own, and thrown away.")]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) suite: HsmSuite,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct ThrowAway {
    /// Keys in the keystore to begin with.
    #[arg(long, default_value_t = 0)]
    pub(crate) keys: usize,

    /// How often the daemon is started.
    #[arg(long, default_value_t = 1)]
    pub(crate) starts: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Load {
    /// The PKCS #11 module.
    #[arg(long)]
    pub(crate) module: PathBuf,

    /// The process that computes for it.
    #[arg(long)]
    pub(crate) service: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// What programs call the token by, 32 bytes at most.
    #[arg(long, default_value = "cycloid")]
    pub(crate) label: String,

    /// Open the keystore by a passphrase that is asked for, instead of a key file: someone must be
    /// there whenever the daemon starts.
    #[arg(long)]
    pub(crate) passphrase: bool,

    /// A file with the security officer's PIN [default: ask].
    #[arg(long, value_name = "FILE")]
    pub(crate) officer_pin_file: Option<PathBuf>,

    /// A file with the user's PIN [default: ask].
    #[arg(long, value_name = "FILE")]
    pub(crate) pin_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Start locked, until `cycloid hsm unlock`, even if there is a key file.
    #[arg(long)]
    pub(crate) locked: bool,

    /// Users, by number, that may connect beside the daemon's own and root, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) users: Vec<u32>,

    /// Serve other machines too, by TLS, at an address with a port.
    #[arg(long, value_name = "ADDRESS", requires_all = ["certificate", "key", "client_ca"])]
    pub(crate) listen_tls: Option<SocketAddr>,

    /// The daemon's certificate, and those between it and its authority (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_tls")]
    pub(crate) certificate: Option<PathBuf>,

    /// The private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_tls")]
    pub(crate) key: Option<PathBuf>,

    /// The authorities whose certificates clients show (PEM); nobody else is served.
    #[arg(long, value_name = "FILE", requires = "listen_tls")]
    pub(crate) client_ca: Option<PathBuf>,

    /// Threads that compute [default: one for each processor].
    #[arg(long, value_name = "COUNT", default_value_t = 0, hide_default_value = true)]
    pub(crate) workers: usize,

    /// Keys that are kept unwrapped and prepared; 0 unwraps for each use.
    #[arg(long, value_name = "COUNT", default_value_t = 4096)]
    pub(crate) prepared_keys: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Unlock {
    /// The key file that opens it [default: ask for the passphrase].
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Pin {
    /// A file with the PIN [default: $CYCLOID_HSM_PIN, or ask].
    #[arg(long, value_name = "FILE")]
    pub(crate) pin_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Key {
    #[command(subcommand)]
    pub(crate) command: KeyCommand,

    /// A file with the user's PIN [default: $CYCLOID_HSM_PIN, or ask].
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) pin_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// List keys, certificates and data.
    List,
    /// Generate a key inside: it never leaves.
    Generate(Generate),
    /// Take in a private key from a PEM file (PKCS #8).
    Import(Import),
    /// Print the public half of a key as PEM.
    Export(Select),
    /// Destroy a key: both halves of a pair, or one object.
    Delete(Delete),
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// rsa-2048, rsa-3072, rsa-4096, p-224, p-256, p-384, p-521, ed25519, x25519, bls12-381, aes-128,
    /// aes-256.
    pub(crate) kind: String,

    /// What it is found by.
    #[arg(long)]
    pub(crate) label: String,

    /// Its identifier, in hexadecimal digits [default: a random one].
    #[arg(long, value_name = "HEX")]
    pub(crate) id: Option<String>,

    /// Let it be wrapped by other keys; otherwise it never leaves.
    #[arg(long)]
    pub(crate) extractable: bool,

    /// Signatures that it makes in a second at most.
    #[arg(long, value_name = "COUNT")]
    pub(crate) rate_limit: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The file.
    pub(crate) file: PathBuf,

    /// What it is found by.
    #[arg(long)]
    pub(crate) label: String,

    /// Its identifier, in hexadecimal digits [default: a random one].
    #[arg(long, value_name = "HEX")]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Select {
    /// The label of the key.
    pub(crate) label: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid hsm key delete ca                   shows what would go, and asks
  cycloid hsm key delete ca --id 01           where several keys are called ca
  cycloid hsm key delete ca --object 7 --yes  one object, by its number in `key list`

The private and the public key of one pair, with one label and one identifier, go together.
Certificates and data that are called the same stay, unless there is no such key, or --object
names them. What went is printed as `key list` prints it, and how many on standard error.")]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) select: Select,

    /// The identifier of the key, in hexadecimal digits; needed where the label is not enough.
    #[arg(long, value_name = "HEX")]
    pub(crate) id: Option<String>,

    /// The number of the one object that is to go, which may be half of a pair.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) object: Option<u64>,

    /// Do not ask. Without a terminal nothing is destroyed unless this is given.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Print the log; needs the security officer's PIN.
    Show(Pin),
    /// Check every line of the log against the one before it, and print the head, which is worth
    /// keeping elsewhere.
    Verify(AuditVerify),
}

#[derive(Debug, Args)]
pub(crate) struct AuditVerify {
    /// A head that was printed earlier: the log must still contain it.
    #[arg(long, value_name = "HEAD")]
    pub(crate) head: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid hsm backup key                              on the keystore that is to restore: its backup key
  cycloid hsm backup make --to KEY keys.backup        on the keystore that has the keys
  cycloid hsm backup restore keys.backup              on the first again, which has no objects yet

  cycloid hsm backup split --needed 2 --shares 3      a backup key whose private half is with custodians
  cycloid hsm backup restore keys.backup --share-file a --share-file b")]
pub(crate) struct Backup {
    #[command(subcommand)]
    pub(crate) command: BackupCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Print this keystore's backup key: backups that are made for it are restored here.
    Key,
    /// Make a backup key, and print its private half in shares.
    Split(Split),
    /// Write a backup of all objects, whether or not a daemon runs.
    Make(Make),
    /// Make all objects of a backup, in a keystore that has none.
    Restore(Restore),
}

#[derive(Debug, Args)]
pub(crate) struct Split {
    /// How many shares restore.
    #[arg(long, value_name = "COUNT")]
    pub(crate) needed: u8,

    /// How many shares there are.
    #[arg(long, value_name = "COUNT")]
    pub(crate) shares: u8,
}

#[derive(Debug, Args)]
pub(crate) struct Make {
    /// The backup key that restores.
    #[arg(long, value_name = "KEY")]
    pub(crate) to: String,

    /// The file to write, which must not be there.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The backup.
    pub(crate) file: PathBuf,

    /// A file with a custodian's share; once for each share [default: this keystore's own key].
    #[arg(long, value_name = "FILE")]
    pub(crate) share_file: Vec<PathBuf>,
}
