//! The command line's arguments.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A VPN that speaks OpenVPN's protocol.
#[derive(Debug, Parser)]
#[command(name = "cycloid-vpn", version, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  cycloid-vpn client client.ovpn                   connect, as root
  cycloid-vpn server server.conf                   accept clients, as root
  cycloid-vpn check client.ovpn                    explain a file and list its weak settings
  cycloid-vpn pki init                             create a CA in the directory pki
  cycloid-vpn pki server gate --host vpn.example   create a server profile, pki/gate.conf
  cycloid-vpn pki client alice                     create a client profile, pki/alice.ovpn
  cycloid-vpn genkey tls-crypt --output ta.key     create a control channel key")]
pub(crate) struct Vpn {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Connect to a server and stay connected.
    Client(Run),
    /// Serve clients.
    Server(Run),
    /// Connect many clients, report the time taken, and stay until standard input ends.
    #[command(hide = true)]
    Crowd(Crowd),
    /// Keep root for a client that drops it, whose socket is standard input.
    #[command(hide = true)]
    Helper,
    /// Explain a configuration file and list its weak settings.
    Check(Check),
    /// Generate a control channel key.
    Genkey(Genkey),
    /// Run a small certificate authority and create profiles for servers and clients.
    Pki(Pki),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Signals: SIGTERM and SIGINT stop it, SIGHUP reloads keys and certificates and reconnects, SIGUSR1 too,
but keeps the keys if persist-key is set, SIGUSR2 logs statistics. Every change to this machine is
undone on exit or, after a crash, at the next start.")]
pub(crate) struct Run {
    /// Configuration file (.ovpn or .conf).
    pub(crate) file: PathBuf,

    /// Instance name, if several run on this machine [default: the file's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Crowd {
    /// Client configuration file, used by all clients.
    pub(crate) file: PathBuf,

    /// Number of clients.
    #[arg(long)]
    pub(crate) count: usize,

    /// Number of handshakes in flight at once.
    #[arg(long)]
    pub(crate) at_once: usize,

    /// Then exchange packets for this many seconds, and count those of each client.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) exchange: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Client (.ovpn) or server configuration file.
    pub(crate) file: PathBuf,

    /// Write JSON: lines, warnings and failures.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid-vpn genkey tls-crypt --output ta.key
  cycloid-vpn genkey tls-crypt-v2-server --output server.key
  cycloid-vpn genkey tls-crypt-v2-client --server-key server.key --output alice.key")]
pub(crate) struct Genkey {
    /// Kind of key, named after its directive.
    pub(crate) kind: KeyKind,

    /// The server key that seals the client key.
    #[arg(long, value_name = "FILE", required_if_eq("kind", "tls-crypt-v2-client"))]
    pub(crate) server_key: Option<PathBuf>,

    /// Metadata sealed into a client key for tls-crypt-v2-verify, at most 733 bytes [default: the
    /// creation time].
    #[arg(long, value_name = "TEXT")]
    pub(crate) metadata: Option<String>,

    /// Output file, readable by its owner only; existing files are never overwritten [default:
    /// stdout].
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyKind {
    /// One shared key that authenticates.
    TlsAuth,
    /// One shared key that encrypts and authenticates.
    TlsCrypt,
    /// A server key, which seals and opens client keys.
    TlsCryptV2Server,
    /// A key for one client.
    TlsCryptV2Client,
    /// A server key for session tokens (auth-gen-token-secret).
    AuthToken,
}

#[derive(Debug, Args)]
pub(crate) struct Pki {
    #[command(subcommand)]
    pub(crate) command: PkiCommand,

    /// Directory of the authority.
    #[arg(long, value_name = "DIRECTORY", default_value = "pki", global = true)]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PkiCommand {
    /// Create a certificate authority.
    Init(Init),
    /// Create a server profile, NAME.conf, with its keys inline.
    Server(Server),
    /// Create a client profile, NAME.ovpn, for all existing servers, with its keys inline.
    Client(Client),
    /// Revoke a certificate and update crl.pem, which servers need to refuse it.
    Revoke(Name),
    /// List certificates: serial number, role, name and time of revocation.
    List,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Directory of the authority [default: that of --directory].
    pub(crate) place: Option<PathBuf>,

    /// Name in the authority's certificate.
    #[arg(long, default_value = "Cycloid VPN")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) certificate: Certificate<3650>,
}

#[derive(Debug, Args)]
pub(crate) struct Certificate<const DAYS: u32> {
    /// Kind of key.
    #[arg(long, value_name = "KIND", default_value = "p-256")]
    pub(crate) key: SigningKey,

    /// Validity of the certificate in days.
    #[arg(long, default_value_t = DAYS, value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub(crate) days: u32,
}

/// A key in a PKCS #11 token.
#[derive(Debug, Args)]
pub(crate) struct Token {
    /// Issue the certificate for this public key (PEM), whose private key is in a PKCS #11 token.
    /// The profile then names the token, and the certificate is in NAME.crt.
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    pub(crate) public_key: Option<PathBuf>,

    /// The token's module, for the profile.
    #[arg(
        long,
        value_name = "FILE",
        requires = "public_key",
        default_value = "/usr/lib/cycloid/libcycloid_pkcs11.so"
    )]
    pub(crate) module: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SigningKey {
    /// ECDSA on P-256.
    #[value(name = "p-256")]
    P256,
    /// Ed25519.
    Ed25519,
    /// RSA with 2048 bits, for old peers.
    #[value(name = "rsa-2048")]
    Rsa2048,
}

#[derive(Debug, Args)]
pub(crate) struct Server {
    /// Name of the server; its file is NAME.conf.
    pub(crate) name: String,

    /// Host name or address that clients connect to.
    #[arg(long)]
    pub(crate) host: String,

    /// Port.
    #[arg(long, default_value_t = 1194, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,

    /// Use TCP instead of UDP: slower, but it works where UDP is blocked.
    #[arg(long)]
    pub(crate) tcp: bool,

    /// IPv4 network inside the tunnel.
    #[arg(long, value_name = "NETWORK/BITS", default_value = "10.8.0.0/24", value_parser = network::<Ipv4Addr>)]
    pub(crate) network: (Ipv4Addr, u8),

    /// IPv6 network inside the tunnel [default: none].
    #[arg(long, value_name = "NETWORK/BITS", value_parser = network::<Ipv6Addr>)]
    pub(crate) network_ipv6: Option<(Ipv6Addr, u8)>,

    /// Route all client traffic through the tunnel.
    #[arg(long)]
    pub(crate) redirect: bool,

    /// Name servers for clients, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) dns: Vec<IpAddr>,

    #[command(flatten)]
    pub(crate) certificate: Certificate<825>,

    #[command(flatten)]
    pub(crate) token: Token,
}

#[derive(Debug, Args)]
pub(crate) struct Client {
    /// Name of the client; its file is NAME.ovpn.
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) certificate: Certificate<825>,

    #[command(flatten)]
    pub(crate) token: Token,
}

#[derive(Debug, Args)]
pub(crate) struct Name {
    /// Name in the certificate.
    pub(crate) name: String,
}

fn network<A: std::str::FromStr>(text: &str) -> Result<(A, u8), String> {
    let parsed = text
        .split_once('/')
        .and_then(|(address, bits)| Some((address.parse().ok()?, bits.parse().ok()?)));
    parsed.ok_or_else(|| "expected NETWORK/BITS".to_owned())
}
