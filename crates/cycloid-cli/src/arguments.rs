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
use crate::suites::ChosenSuite;
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
  cycloid bench ec --instructions               count instructions too, with valgrind
  cycloid bench rsa --peer-source openssl=DIR   beside a newer OpenSSL, built in DIR
  cycloid bench modexp --target cortex-m4       on an emulated Cortex-M4, with exact counts
  cycloid bench ec --target aarch64 --instructions    on an emulated AArch64, with peers")]
pub(crate) struct Bench {
    /// A suite [default: all].
    #[command(subcommand)]
    pub(crate) suite: Option<ChosenSuite>,

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

    /// Measure on an emulated processor instead of this one: cortex-m4, for modexp, rsa and ec;
    /// aarch64, for rsa, ec and bls.
    ///
    /// Needs a clone of the repository, QEMU, gcc and the processor's Rust target. Instructions are
    /// exact. On cortex-m4, cycles are an estimate from the timings that Arm publishes, for memory
    /// without wait states, and --quick leaves out flash. On aarch64 there are only instructions:
    /// it needs --instructions and a C compiler for the processor, and takes peers from graviola,
    /// aws-lc and blst.
    #[arg(long, global = true, value_name = "TARGET", help_heading = "Options of every suite")]
    pub(crate) target: Option<String>,

    /// Take a peer from a folder; may be repeated.
    ///
    /// openssl=DIR: a build of OpenSSL 3, in place of the system's. mcl=DIR, vroom=DIR: its source,
    /// for bls; needs a C++ compiler. crypto-mb=DIR: its source, for modexp, rsa and ec; needs CMake,
    /// too. With --target cortex-m4: bearssl=DIR or mbedtls=DIR, its source; needs
    /// arm-none-eabi-gcc.
    #[arg(long, global = true, value_name = "PEER=DIR")]
    #[arg(help_heading = "Options of every suite")]
    pub(crate) peer_source: Vec<String>,

    /// Count in this process, under callgrind, and print the counts.
    #[arg(long, hide = true, global = true, value_name = "LEVEL", requires = "instructions")]
    pub(crate) count_at: Option<String>,

    /// Measure these suites in this process, and print each table as a line of JSON.
    #[arg(long, hide = true, value_name = "SUITES")]
    pub(crate) stream: Option<String>,
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
    /// zkcrypto, arkworks, c-kzg, mirage-crypto, softhsm, openvpn, wireguard-go, separated by
    /// commas; all of these; none.
    ///
    /// On request only, because they are downloaded and compiled first: all,gnark-crypto,dalek-vector
    /// adds two to the others. With --peer-source, mcl, vroom and crypto-mb belong to all.
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
