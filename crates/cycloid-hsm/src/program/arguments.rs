//! The command line's arguments.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cycloid_hsm::legacy::Legacy;

/// Manage keys that never leave a daemon, for programs that use PKCS #11.
#[derive(Debug, Parser)]
#[command(name = "cycloid-hsm", version, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  cycloid-hsm init --label office       create a keystore; asks for two PINs
  cycloid-hsm serve                     serve it until stopped
  cycloid-hsm key generate rsa-2048 --label ca
  cycloid-hsm key list
  cycloid-hsm status                    what the daemon is doing

Programs use the keys through libcycloid_pkcs11.so; see docs/hsm.md.")]
pub(crate) struct Hsm {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// The daemon's socket, or, for a client, tls://HOST:PORT [default: $CYCLOID_HSM_SOCKET, or
    /// cycloid-hsm.sock in $XDG_RUNTIME_DIR, or /run/cycloid-hsm/socket].
    #[arg(long, value_name = "PATH", global = true)]
    pub(crate) socket: Option<PathBuf>,

    /// The keystore's directory [default: $CYCLOID_HSM_HOME, or cycloid-hsm in $XDG_DATA_HOME or
    /// ~/.local/share].
    #[arg(long, value_name = "DIRECTORY", global = true)]
    pub(crate) home: Option<PathBuf>,

    /// The database, sqlite:PATH or postgres://… [default: $CYCLOID_HSM_DATABASE, or keys.db in the
    /// keystore's directory]. Put a URL with a password into the variable: other users can read
    /// the arguments of a process.
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) database: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a keystore and its token.
    Init(Init),
    /// Serve the token to the programs on this machine.
    Serve(Serve),
    /// Show the daemon's status.
    Status,
    /// Unlock a locked keystore: asks for its passphrase, or reads its key file.
    Unlock(Unlock),
    /// Lock the keystore and wipe all keys from memory; needs the security officer's PIN.
    Lock(Pin),
    /// Generate, import, list, export and destroy keys; needs the user's PIN.
    Key(Key),
    /// Re-seal all records under a new master key; needs the security officer's PIN.
    Rotate(Pin),
    /// Back up all keys for another keystore or for custodians, and restore them.
    Backup(Backup),
    /// Show or verify the audit log.
    Audit(Audit),
    /// List the weak operations that programs may ask for, and allow or forbid them.
    Legacy(LegacyArguments),
    /// Find damage in the keystore, and make everything intact work again.
    Salvage(Salvage),
    /// List, restore or destroy what a salvage has set aside.
    Quarantine(Quarantine),
    /// Print the daemon's metrics in Prometheus format.
    Metrics,
    /// Store copies of the only private key, for a benchmark with many keys.
    #[command(hide = true)]
    Multiply(Multiply),
    /// Sign with temporary daemons, and print the times of every step as JSON.
    #[command(hide = true)]
    RecordSignatures(RecordSignatures),
}

#[derive(Debug, Args)]
pub(crate) struct Multiply {
    /// Number of copies.
    pub(crate) copies: usize,
}

#[derive(Debug, Args)]
pub(crate) struct RecordSignatures {
    /// An existing, empty directory for the keystore.
    pub(crate) directory: PathBuf,

    /// The kind of key.
    #[arg(long)]
    pub(crate) key: String,

    /// Number of signatures in each configuration, 100 to 1000000.
    #[arg(long, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) signatures: u32,

    /// Number of concurrent clients in the configuration with batches, 1 to 256. Its signatures
    /// are at least four for each client.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) clients: u16,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The token's label, as programs see it; at most 32 bytes.
    #[arg(long, default_value = "cycloid")]
    pub(crate) label: String,

    /// Protect the keystore with a passphrase instead of a key file: somebody must enter it
    /// whenever the daemon starts [default: $CYCLOID_HSM_PASSPHRASE, or ask].
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
    /// Start locked, even if a key file exists; `cycloid-hsm unlock` unlocks.
    #[arg(long)]
    pub(crate) locked: bool,

    /// Numeric ids of users that may connect besides the daemon's own and root, separated by
    /// commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) users: Vec<u32>,

    /// Serve other machines too, over TLS, at this address and port.
    #[arg(long, value_name = "ADDRESS", requires_all = ["certificate", "key", "client_ca"])]
    pub(crate) listen_tls: Option<SocketAddr>,

    /// The daemon's certificate, followed by its intermediate certificates (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_tls")]
    pub(crate) certificate: Option<PathBuf>,

    /// The certificate's private key (PEM).
    #[arg(long, value_name = "FILE", requires = "listen_tls")]
    pub(crate) key: Option<PathBuf>,

    /// The authorities that sign client certificates (PEM); other clients are refused.
    #[arg(long, value_name = "FILE", requires = "listen_tls")]
    pub(crate) client_ca: Option<PathBuf>,

    /// Number of worker threads [default: one for each processor].
    #[arg(long, value_name = "COUNT", default_value_t = 0, hide_default_value = true,
        value_parser = clap::value_parser!(u16).range(..=1024))]
    pub(crate) workers: u16,

    /// With PostgreSQL: after this many seconds without contact to the database, use no stored key,
    /// because another daemon may have destroyed it.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..=86400))]
    pub(crate) stale_after: u32,

    /// Number of unwrapped keys to cache; 0 unwraps the key for each use.
    #[arg(long, value_name = "COUNT", default_value_t = 4096)]
    pub(crate) prepared_keys: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Unlock {
    /// The keystore's key file [default: the passphrase, from $CYCLOID_HSM_PASSPHRASE, or ask].
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Pin {
    /// A file with the PIN [default: $CYCLOID_HSM_PIN, or ask].
    #[arg(long, value_name = "FILE", alias = "officer-pin-file")]
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
    /// Generate a key inside the keystore.
    Generate(Generate),
    /// Import a private key from a PEM file, encrypted or not.
    Import(Import),
    /// Print a public key as PEM.
    Export(Select),
    /// Destroy a key: both halves of a pair, or a single object.
    Delete(Delete),
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// The kind of key: rsa-2048, rsa-3072, rsa-4096 (if allowed, rsa-1024 and rsa-1536), p-192,
    /// p-224, p-256, p-384, p-521, secp256k1, brainpool-p256r1, brainpool-p384r1, brainpool-p512r1,
    /// ed25519, ed448, x25519, bls12-381, aes-128, aes-256; for Diffie-Hellman, ffdhe2048 or
    /// modp2048 (likewise 3072, 4096, 6144 and 8192).
    pub(crate) kind: String,

    /// The key's label.
    #[arg(long)]
    pub(crate) label: String,

    /// The key's identifier, in hexadecimal digits [default: random].
    #[arg(long, value_name = "HEX")]
    pub(crate) id: Option<String>,

    /// Allow other keys to wrap this one; without this flag it never leaves the keystore.
    #[arg(long)]
    pub(crate) extractable: bool,

    /// Maximum number of signatures in a second.
    #[arg(long, value_name = "COUNT")]
    pub(crate) rate_limit: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The PEM file: a key of PKCS #8, PKCS #1 or SEC 1, or an encrypted one of PKCS #8.
    pub(crate) file: PathBuf,

    /// A file with the passphrase of an encrypted key [default: ask].
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,

    /// The key's label.
    #[arg(long)]
    pub(crate) label: String,

    /// The key's identifier, in hexadecimal digits [default: random].
    #[arg(long, value_name = "HEX")]
    pub(crate) id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Select {
    /// The key's label.
    pub(crate) label: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid-hsm key delete ca                   show what would be destroyed, and ask
  cycloid-hsm key delete ca --id 01           if several keys have the label ca
  cycloid-hsm key delete ca --object 7 --yes  one object, by its number in `key list`

The private and the public key of a pair, with the same label and identifier, are destroyed
together. Certificates and data with the same label stay, unless no key has that label, or
--object names them. The destroyed objects are printed as `key list` prints them, and their
number on standard error.")]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) select: Select,

    /// The key's identifier, in hexadecimal digits; needed if several keys have the label.
    #[arg(long, value_name = "HEX")]
    pub(crate) id: Option<String>,

    /// The number of the one object to destroy, which may be half of a pair.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) object: Option<u64>,

    /// Destroy without asking; required when there is no terminal.
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
    /// Print the log: number, time (UTC), who, what; needs the security officer's PIN.
    Show(AuditShow),
    /// Verify the log's hash chain and print its head; keep the head elsewhere.
    Verify(AuditVerify),
    /// Turn the log of key uses on or off; needs the security officer's PIN.
    Uses(AuditUses),
}

#[derive(Debug, Args)]
pub(crate) struct AuditUses {
    /// With `on`, no key signs, decrypts, derives or unwraps before the log says so.
    pub(crate) required: Switch,

    #[command(flatten)]
    pub(crate) pin: Pin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid-hsm legacy list                    name, whether it is allowed, what it is
  cycloid-hsm legacy allow short-rsa-keys    RSA keys of 1024 to 2047 bits
  cycloid-hsm legacy allow sha1-signatures   signatures with SHA-1, by RSA and ECDSA
  cycloid-hsm legacy allow raw-rsa           RSA operations without padding (CKM_RSA_X_509)
  cycloid-hsm legacy forbid raw-rsa

Everything is forbidden at first. `allow` and `forbid` need the security officer's PIN, apply at once
at every daemon on the database, and are logged. A forbidden short key stays, and is not used.")]
pub(crate) struct LegacyArguments {
    #[command(subcommand)]
    pub(crate) command: LegacyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LegacyCommand {
    /// List the weak operations, and whether they are allowed.
    List,
    /// Allow a weak operation; needs the security officer's PIN.
    Allow(Change),
    /// Forbid a weak operation again; needs the security officer's PIN.
    Forbid(Change),
}

#[derive(Debug, Args)]
pub(crate) struct Change {
    /// The name of the weak operation.
    #[arg(value_parser = weak())]
    pub(crate) name: Legacy,

    #[command(flatten)]
    pub(crate) pin: Pin,
}

/// Parses the name of a weak operation.
fn weak() -> impl TypedValueParser<Value = Legacy> {
    let values = Legacy::ALL.map(|weak| PossibleValue::new(weak.name()).help(weak.description()));
    PossibleValuesParser::new(values).map(|name| {
        let named = |weak: &Legacy| weak.name() == name;
        Legacy::ALL.into_iter().find(named).expect("the parser has checked the name")
    })
}

#[derive(Debug, Args)]
pub(crate) struct AuditShow {
    #[command(flatten)]
    pub(crate) pin: Pin,

    /// Print each line as a JSON object, with the time in seconds since 1970.
    #[arg(long)]
    pub(crate) json: bool,
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
  cycloid-hsm salvage check                      list the damage; changes nothing
  cycloid-hsm salvage repair                     set damaged rows aside, after a question
  cycloid-hsm salvage repair --reverted keep     accept rows that are earlier states of themselves

Both need the key file or the passphrase, and work without a daemon. A repair also needs the
security officer's PIN, and that no daemon runs. It moves damaged rows into the table `quarantine`
and describes the remaining rows in a new manifest. If the old manifest proves that these are
complete and current, `check` says so. Otherwise the repair accepts that somebody with access to the
database may have deleted or reverted some of them before. The audit log records the decision.

`check` exits with 1 if there is damage. It prints a line for each: the kind of damage (damaged,
missing, surplus or reverted), the row with its label, and the consequence.")]
pub(crate) struct Salvage {
    #[command(subcommand)]
    pub(crate) command: SalvageCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SalvageCommand {
    /// List the damage; changes nothing.
    Check,
    /// Set damaged rows aside, and make the others work again; needs the security officer's PIN.
    Repair(Repair),
}

#[derive(Debug, Args)]
pub(crate) struct Repair {
    #[command(flatten)]
    pub(crate) pin: Pin,

    /// A file with a new PIN of the security officer, if the PIN itself is lost [default: ask].
    #[arg(long, value_name = "FILE")]
    pub(crate) new_officer_pin_file: Option<PathBuf>,

    /// The token's label, if the label itself is lost; at most 32 bytes.
    #[arg(long, default_value = "cycloid")]
    pub(crate) label: String,

    /// The decision about authentic rows that are reverted or surplus: keep them as they are, or
    /// set them aside too.
    #[arg(long, value_name = "DECISION")]
    pub(crate) reverted: Option<Reverted>,

    /// Repair without asking; required when there is no terminal.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Reverted {
    /// Accept them as they are.
    Keep,
    /// Set them aside.
    SetAside,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid-hsm quarantine list
  cycloid-hsm quarantine restore 3                                an authentic row
  cycloid-hsm quarantine restore 3 --from sqlite:/copies/keys.db  from a copy of the same keystore
  cycloid-hsm quarantine destroy 3

`list` prints a line for each row: its number in the quarantine, whether its seal opens, the row with
its label, and the reason why it was set aside.")]
pub(crate) struct Quarantine {
    #[command(subcommand)]
    pub(crate) command: QuarantineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineCommand {
    /// List the rows that were set aside.
    List,
    /// Put a row back, if its seal opens; needs the security officer's PIN.
    Restore(QuarantineRestore),
    /// Destroy a row that was set aside; needs the security officer's PIN.
    Destroy(QuarantineDestroy),
}

#[derive(Debug, Args)]
pub(crate) struct QuarantineRestore {
    /// The row's number in the quarantine.
    pub(crate) number: u64,

    /// Read the row from another copy of this keystore's database.
    #[arg(long, value_name = "URL")]
    pub(crate) from: Option<String>,

    #[command(flatten)]
    pub(crate) pin: Pin,
}

#[derive(Debug, Args)]
pub(crate) struct QuarantineDestroy {
    /// The row's number in the quarantine.
    pub(crate) number: u64,

    #[command(flatten)]
    pub(crate) pin: Pin,

    /// Destroy without asking; required when there is no terminal.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid-hsm backup key                              on the keystore that will restore: print its backup key
  cycloid-hsm backup make --to KEY keys.backup        on the keystore with the keys
  cycloid-hsm backup restore keys.backup              on the first keystore, which must be empty

  cycloid-hsm backup split --needed 2 --shares 3      a backup key whose private half goes to custodians
  cycloid-hsm backup restore keys.backup --share-file a --share-file b")]
pub(crate) struct Backup {
    #[command(subcommand)]
    pub(crate) command: BackupCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Print this keystore's backup key: this keystore can restore backups made for it.
    Key,
    /// Make a backup key, and print its private half in shares.
    Split(Split),
    /// Write a backup of all objects, whether or not a daemon runs.
    Make(Make),
    /// Restore all objects of a backup into an empty keystore.
    Restore(Restore),
}

#[derive(Debug, Args)]
pub(crate) struct Split {
    /// Number of shares needed to restore.
    #[arg(long, value_name = "COUNT")]
    pub(crate) needed: u8,

    /// Total number of shares.
    #[arg(long, value_name = "COUNT")]
    pub(crate) shares: u8,
}

#[derive(Debug, Args)]
pub(crate) struct Make {
    /// The backup key that can restore this backup.
    #[arg(long, value_name = "KEY")]
    pub(crate) to: String,

    /// The file to write; it must not exist.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The backup file.
    pub(crate) file: PathBuf,

    /// A file with a custodian's share; repeat for each share [default: this keystore's own key].
    #[arg(long, value_name = "FILE")]
    pub(crate) share_file: Vec<PathBuf>,
}
