//! The command line's arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use cycloid_lab::suite::Effort;

use crate::compare::Compare;
use crate::helper::Helper;
use crate::history::History;
use crate::profile::arguments::Profile;
use crate::report::Report;
use cycloid_command::Stop;

/// Constant-time cryptography, and benchmarks of its cost.
#[derive(Debug, Parser)]
#[command(name = "cycloid", version, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  cycloid bench                     every table, with the peers
  cycloid bench --quick             the same in less time
  cycloid bench modexp --help       the options of one suite
  cycloid compare old.json new.json what changed by more than noise
  cycloid profile ec p256-sign      where an operation spends its time
  cycloid report                    an HTML page with the tables and plots

Services, in programs of their own:
  cycloid hsm                       keep keys in a daemon, for programs that use PKCS #11
  cycloid vpn                       connect to peers that speak the OpenVPN protocol")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure time, memory and allocations, next to the peers.
    Bench(Bench),
    /// Compare two records: what became faster or slower by more than noise.
    Compare(Compare),
    /// Record results over time and flag outliers.
    History(History),
    /// Show where time is spent: flat profile, call graph, flame graph, differences.
    Profile(Box<Profile>),
    /// Make one HTML page of results: plots, tables, flame graphs.
    Report(Report),
    /// Do a part of a benchmark's work.
    #[command(hide = true)]
    Helper(Helper),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid bench                                 every suite, with the default sizes
  cycloid bench --quick --json > results.json   for programs; --save does both
  cycloid bench ec --csv > results.csv          for spreadsheets, one line per row
  cycloid bench modexp --bits 2048 --full       one table, as precisely as possible
  cycloid bench rsa --operation sign,verify     some tables of a suite
  cycloid bench ec --instructions               count instructions too, with valgrind")]
pub(crate) struct Bench {
    /// A suite [default: all].
    #[command(subcommand)]
    pub(crate) suite: Option<Suite>,

    #[command(flatten)]
    pub(crate) common: Common,

    /// Also count instructions and bytes of executed machine code, with valgrind's callgrind, for
    /// the portable backend and for ADX.
    ///
    /// Each row runs once more under valgrind; a row that takes too long is left out, and --full
    /// allows it more time. Work in other processes, as in hsm and in vpn's tunnels, is not
    /// counted. The counts are exact, so `cycloid compare` reports any difference.
    #[arg(long, global = true, help_heading = "Options of every suite")]
    pub(crate) instructions: bool,

    /// Count in this process, under callgrind, and print the counts.
    #[arg(long, hide = true, global = true, value_name = "LEVEL", requires = "instructions")]
    pub(crate) count_at: Option<String>,
}

/// Options that every suite takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every suite")]
pub(crate) struct Common {
    /// Take less time: fewer sizes and samples, well under a minute.
    #[arg(long, global = true, conflicts_with = "full")]
    pub(crate) quick: bool,

    /// Take more time: many samples, some minutes.
    #[arg(long, global = true)]
    pub(crate) full: bool,

    /// Use at most this instruction set: portable, adx, avx512, ifma [default: all available].
    ///
    /// Limits the library's own code; peers choose for themselves. The environment variable
    /// CYCLOID_CPU does the same.
    #[arg(long, value_name = "LEVEL", global = true)]
    pub(crate) cpu: Option<String>,

    /// Peers to measure: openssl, gmp, aws-lc, crypto-bigint, ring, graviola, dalek, rustcrypto,
    /// zkcrypto, arkworks, mirage-crypto, softhsm, openvpn, wireguard-go, separated by commas; all;
    /// none.
    #[arg(long, value_name = "LIST", default_value = "all", global = true)]
    pub(crate) peers: String,

    /// Print the record as comma-separated values instead of tables, one row per line.
    #[arg(long, global = true, conflicts_with_all = ["json", "markdown"])]
    pub(crate) csv: bool,

    /// Print the record as JSON instead of tables.
    #[arg(long, global = true, conflicts_with = "markdown")]
    pub(crate) json: bool,

    /// Print the record as Markdown instead of tables, one section per table.
    #[arg(long, global = true)]
    pub(crate) markdown: bool,

    /// Also write the record as JSON to a file.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) save: Option<PathBuf>,

    /// Keep every sample in the record.
    #[arg(long, global = true)]
    pub(crate) samples: bool,
}

impl Common {
    pub(crate) const fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Plain,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// Modular exponentiation: 36 strategies, the default, eight at once, the peers.
    Modexp(ModExp),
    /// RSA: sign, verify, decrypt and generate keys, with much memory and with little.
    Rsa(Rsa),
    /// Diffie-Hellman in the groups of RFC 7919: shared secrets and keys.
    Dh(Dh),
    /// Elliptic curves: sign, verify, agree, generate keys, one and eight at once.
    Ec(Ec),
    /// BLS12-381: groups, pairings, signatures, sums and transforms, on each backend.
    Bls(Bls),
    /// TLS: full handshakes of rustls on Cycloid, on AWS-LC and on ring.
    #[cfg(feature = "tls")]
    Tls,
    /// The HSM: signatures through PKCS #11 for many clients, next to SoftHSM.
    Hsm(HsmSuite),
    /// The VPN: packets in memory and, as root, whole tunnels next to OpenVPN's.
    Vpn(VpnSuite),
}

/// The options of the VPN suite.
#[derive(Debug, Args)]
pub(crate) struct VpnSuite {
    /// Parts: engine (packets in memory), tunnels, start (a client's startup), handshakes (a
    /// server's cost per client), separated by commas; all.
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub(crate) part: String,

    /// Number of rounds of each tunnel [default: 3, with --full 9].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: Option<u32>,

    /// Duration of a stream in seconds [default: 1, with --full 5].
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: Option<u32>,
}

/// The options of the HSM suite.
#[derive(Debug, Args)]
pub(crate) struct HsmSuite {
    /// Kinds of key: rsa-2048, rsa-4096, p-256, ed25519, separated by commas; all [default: all].
    #[arg(long, value_name = "LIST")]
    pub(crate) key: Option<String>,

    /// Numbers of concurrent clients, 1 to 256, separated by commas [default: 1,2,4,8,16,32].
    #[arg(long, value_name = "LIST")]
    pub(crate) clients: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid bench modexp --bits 2048                       one size
  cycloid bench modexp --bits 2048,4096 --crt            as RSA private keys use it
  cycloid bench modexp --exponent 65537                  as RSA public keys use it
  cycloid bench modexp --exponent 256                    exponents of 256 bits
  cycloid bench modexp --strategy 'montgomery fw,fast'   some rows
  cycloid bench modexp --cpu portable --peers none       plain Rust only")]
pub(crate) struct ModExp {
    /// Lengths of the modulus in bits, 64 to 16384, separated by commas [default: the lengths that
    /// RSA and Diffie-Hellman use]. With --crt, lengths of the RSA key.
    #[arg(long, value_name = "LIST")]
    pub(crate) bits: Option<String>,

    /// The exponent: full (as long as the modulus), 65537, or a length in bits.
    #[arg(long, value_name = "EXPONENT", default_value = "full")]
    pub(crate) exponent: String,

    /// Measure the two half-size exponentiations of an RSA private key.
    #[arg(long)]
    pub(crate) crt: bool,

    /// Strategies whose names contain these words, alternatives separated by commas; all; none.
    #[arg(long, value_name = "FILTER", default_value = "all")]
    pub(crate) strategy: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid bench rsa --bits 2048                     every operation with keys of one length
  cycloid bench rsa --operation sign,verify         these two
  cycloid bench rsa --operation generate --full     the mean of 50 keys or more per peer")]
pub(crate) struct Rsa {
    /// Lengths of keys in bits, 2048 to 8192, separated by commas [default: 2048,3072,4096].
    #[arg(long, value_name = "LIST")]
    pub(crate) bits: Option<String>,

    /// Operations: sign, pss, verify, oaep, decrypt, first-use, batch, generate, separated by
    /// commas; all [default: all, batch with --full only]. Keys longer than the first length are
    /// generated only with --full, or if generate is the only operation.
    #[arg(long, value_name = "LIST")]
    pub(crate) operation: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid bench dh                    the usual groups
  cycloid bench dh --bits 8192        ffdhe8192")]
pub(crate) struct Dh {
    /// Groups, by the bits of their modulus: 2048, 3072, 4096, 6144 or 8192, separated by commas
    /// [default: 2048,3072,4096].
    #[arg(long, value_name = "LIST")]
    pub(crate) bits: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid bench ec                                     every curve
  cycloid bench ec --curve p-256,ed25519               these two
  cycloid bench ec --operation verify --batch 8,64     one operation, batches of 8 and of 64")]
pub(crate) struct Ec {
    /// Curves: p-224, p-256, p-384, p-521, ed25519, x25519, separated by commas; all.
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub(crate) curve: String,

    /// Operations: sign, verify, agree, generate, separated by commas; all.
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub(crate) operation: String,

    /// Number of operations in a batch, 1 to 64, separated by commas.
    #[arg(long, value_name = "LIST", default_value = "8")]
    pub(crate) batch: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid bench bls                                 every operation
  cycloid bench bls --part pairing,signature        some parts
  cycloid bench bls --part msm --sums 8,10,12,14    sums of 256 to 16384 multiples")]
pub(crate) struct Bls {
    /// Parts: fr, g1, g2, gt, pairing, signature, msm, fft, separated by commas; all.
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub(crate) part: String,

    /// Binary logarithms of the number of points in a multi-scalar multiplication, 0 to 20,
    /// separated by commas [default: 8,10,12, with --quick 8, with --full up to 14].
    #[arg(long, value_name = "LIST")]
    pub(crate) sums: Option<String>,
}

/// Returns the command line of this process. `hsm bench` and `vpn bench` are `bench hsm` and
/// `bench vpn`.
pub(crate) fn line() -> Vec<OsString> {
    let mut line: Vec<OsString> = std::env::args_os().collect();
    if let [_, suite, bench, ..] = &mut line[..]
        && bench == "bench"
        && (suite == "hsm" || suite == "vpn")
    {
        std::mem::swap(suite, bench);
    }
    line
}

/// Parses the command line.
pub(crate) fn parse() -> Result<Arguments, Stop> {
    cycloid_command::arguments::parse_from(
        line(),
        "run cycloid bench to measure; cycloid --help lists all commands",
    )
}
