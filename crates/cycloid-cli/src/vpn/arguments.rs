//! What `cycloid vpn` takes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::{Common, VpnSuite};

/// A VPN that speaks OpenVPN's protocol.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid vpn client client.ovpn                   connect, as root
  cycloid vpn server server.conf                   take clients in, as root
  cycloid vpn check client.ovpn                    what a file does, and what is weak in it
  cycloid vpn pki init                             make an authority, in the directory pki
  cycloid vpn pki server gate --host vpn.example   make a server's profile, pki/gate.conf
  cycloid vpn pki client alice                     make a client's profile, pki/alice.ovpn
  cycloid vpn genkey tls-crypt --output ta.key     make a key for the control channel")]
pub(crate) struct Vpn {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Connect to a server, as a client's file says, and stay connected.
    Client(Run),
    /// Take clients in, as a server's file says.
    Server(Run),
    /// Measure packets in memory beside the bare ciphers, and whole tunnels beside OpenVPN's.
    Bench(Bench),
    /// Keep network namespaces and keys that are thrown away when standard input ends.
    #[command(hide = true)]
    ThrowAway,
    /// Connect many clients, say so, and stay until standard input ends.
    #[command(hide = true)]
    Crowd(Crowd),
    /// Say what a configuration file would do, and what is weak in it.
    Check(Check),
    /// Make a key that protects the control channel.
    Genkey(Genkey),
    /// Keep a small certificate authority, and make profiles of servers and clients.
    Pki(Pki),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Signals: SIGTERM and SIGINT end it, SIGUSR1 connects anew, SIGHUP reads keys and certificates anew,
SIGUSR2 writes statistics. All that was changed on this machine is taken back at the end, or, after a
crash, at the next start.")]
pub(crate) struct Run {
    /// The file: .ovpn or .conf.
    pub(crate) file: PathBuf,

    /// What this one is called among several on a machine [default: the file's name].
    #[arg(long, value_name = "NAME")]
    pub(crate) instance: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid vpn bench                                 packets in memory, and as root whole tunnels
  cycloid vpn bench --part engine                   packets in memory
  cycloid vpn bench --part handshakes               what each client costs a server
  cycloid vpn bench --full --part tunnels           both transports, both directions, long streams
  cycloid vpn bench --part tunnels --seconds 10     streams of ten seconds

The same as cycloid bench vpn. Namespaces and keys are its own, and thrown away.")]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) suite: VpnSuite,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Crowd {
    /// A client's file, for all of them.
    pub(crate) file: PathBuf,

    /// How many clients.
    #[arg(long)]
    pub(crate) count: usize,

    /// How many of them begin before one is connected.
    #[arg(long)]
    pub(crate) at_once: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A client's (.ovpn) or a server's file.
    pub(crate) file: PathBuf,

    /// Write an object for programs: lines, warnings and failures.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid vpn genkey tls-crypt --output ta.key
  cycloid vpn genkey tls-crypt-v2-server --output server.key
  cycloid vpn genkey tls-crypt-v2-client --server-key server.key --output alice.key")]
pub(crate) struct Genkey {
    /// For which directive.
    pub(crate) kind: KeyKind,

    /// The server's key, which opens the client's.
    #[arg(long, value_name = "FILE", required_if_eq("kind", "tls-crypt-v2-client"))]
    pub(crate) server_key: Option<PathBuf>,

    /// What a client's key tells the server, for tls-crypt-v2-verify, in at most 733 bytes [default:
    /// when it was made].
    #[arg(long, value_name = "TEXT")]
    pub(crate) metadata: Option<String>,

    /// Where to write it, for its owner alone; nothing is written over [default: stdout].
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyKind {
    /// One key for all, which authenticates.
    TlsAuth,
    /// One key for all, which encrypts.
    TlsCrypt,
    /// A server's key, which opens those of its clients.
    TlsCryptV2Server,
    /// A client's own key.
    TlsCryptV2Client,
    /// A server's key for tokens, for auth-gen-token-secret.
    AuthToken,
}

#[derive(Debug, Args)]
pub(crate) struct Pki {
    #[command(subcommand)]
    pub(crate) command: PkiCommand,

    /// Where the authority is.
    #[arg(long, value_name = "DIRECTORY", default_value = "pki", global = true)]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PkiCommand {
    /// Make an authority.
    Init(Init),
    /// Make the profile of a server, NAME.conf, with all its keys.
    Server(Server),
    /// Make the profile of a client of all servers there are, NAME.ovpn, with all its keys.
    Client(Client),
    /// Revoke a certificate: servers with the new crl.pem let nobody in with it.
    Revoke(Name),
    /// List the certificates: serial number, what for, name, and since when revoked.
    List,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Where it is to be [default: that of --directory].
    pub(crate) place: Option<PathBuf>,

    /// What it is called in its certificate.
    #[arg(long, default_value = "Cycloid VPN")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) certificate: Certificate<3650>,
}

#[derive(Debug, Args)]
pub(crate) struct Certificate<const DAYS: u32> {
    /// What kind of key.
    #[arg(long, value_name = "KIND", default_value = "p-256")]
    pub(crate) key: SigningKey,

    /// How long the certificate is good.
    #[arg(long, default_value_t = DAYS, value_parser = clap::value_parser!(u32).range(1..=36500))]
    pub(crate) days: u32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SigningKey {
    /// ECDSA on P-256.
    #[value(name = "p-256")]
    P256,
    /// Ed25519.
    Ed25519,
    /// RSA of 2048 bits, for old peers.
    #[value(name = "rsa-2048")]
    Rsa2048,
}

#[derive(Debug, Args)]
pub(crate) struct Server {
    /// What the server is called; its file is NAME.conf.
    pub(crate) name: String,

    /// The name or address by which clients reach it.
    #[arg(long)]
    pub(crate) host: String,

    /// Its port.
    #[arg(long, default_value_t = 1194, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,

    /// TCP instead of UDP: slower, but it passes where UDP does not.
    #[arg(long)]
    pub(crate) tcp: bool,

    /// The network inside.
    #[arg(long, value_name = "NETWORK/BITS", default_value = "10.8.0.0/24", value_parser = network::<Ipv4Addr>)]
    pub(crate) network: (Ipv4Addr, u8),

    /// The network inside, of IPv6 [default: none].
    #[arg(long, value_name = "NETWORK/BITS", value_parser = network::<Ipv6Addr>)]
    pub(crate) network_ipv6: Option<(Ipv6Addr, u8)>,

    /// All traffic of clients goes through the tunnel.
    #[arg(long)]
    pub(crate) redirect: bool,

    /// Name servers for clients, separated by commas.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) dns: Vec<IpAddr>,

    #[command(flatten)]
    pub(crate) certificate: Certificate<825>,
}

#[derive(Debug, Args)]
pub(crate) struct Client {
    /// What the client is called; its file is NAME.ovpn.
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) certificate: Certificate<825>,
}

#[derive(Debug, Args)]
pub(crate) struct Name {
    /// Whose certificate.
    pub(crate) name: String,
}

fn network<A: std::str::FromStr>(text: &str) -> Result<(A, u8), String> {
    let parsed = text
        .split_once('/')
        .and_then(|(address, bits)| Some((address.parse().ok()?, bits.parse().ok()?)));
    parsed.ok_or_else(|| "write it as NETWORK/BITS".to_owned())
}
