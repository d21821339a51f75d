//! The arguments of `cycloid profile`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use cycloid_report::profile::HERTZ;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Examples:
  cycloid profile --list                         every operation of every suite
  cycloid profile ec p256-sign                   flat profile and call graph of one operation
  cycloid profile rsa 2048-sign --svg rsa.svg    and a flame graph
  cycloid profile modexp 2048 --implementation openssl
  cycloid profile bls pairing --cpu portable --save portable.json
  cycloid profile --diff portable.json adx.json --svg change.svg
  cycloid profile self-test                      check the profiler itself
A running service, and a service from start to end:
  cycloid profile --pid 1234 --seconds 10 --svg hsm.svg
  CYCLOID_PROFILE=hsm.samples cycloid-hsm serve
  cycloid profile --from hsm.samples --svg hsm.svg")]
pub(crate) struct Profile {
    #[command(subcommand)]
    pub(crate) special: Option<Special>,

    /// A suite and words of an operation's name, such as ec p256-sign.
    #[arg(value_name = "WORKLOAD", required_unless_present_any = ["list", "diff", "from", "pid"])]
    pub(crate) words: Vec<String>,

    /// List all operations that can be profiled.
    #[arg(long, conflicts_with_all = ["words", "diff", "from"])]
    pub(crate) list: bool,

    /// Show the changes from one saved record to another.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["words", "from"])]
    pub(crate) diff: Option<Vec<PathBuf>>,

    /// Show a saved record, or the samples that a service wrote, or write them in another form.
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    pub(crate) from: Option<PathBuf>,

    /// Profile a running service (HSM, VPN server or VPN client), by its process id. Here
    /// --seconds is wall-clock time.
    #[arg(long, value_name = "PROCESS", conflicts_with_all = ["words", "list", "diff", "from"])]
    pub(crate) pid: Option<u32>,

    /// The implementation to profile instead of the library: openssl, gmp, aws-lc, ring, graviola,
    /// blst, ...
    #[arg(long, value_name = "NAME")]
    pub(crate) implementation: Option<String>,

    /// Words of the row's name, if not the default row: 'montgomery 5b fw', ×8.
    #[arg(long, value_name = "WORDS")]
    pub(crate) variant: Option<String>,

    #[command(flatten)]
    pub(crate) sampling: Sampling,

    #[command(flatten)]
    pub(crate) output: Output,

    /// Profile in this process, and print the record.
    #[arg(long, hide = true)]
    pub(crate) in_this_process: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Special {
    /// Profile a signing daemon by exact spans, from socket to socket.
    HsmSign(HsmSign),
    /// Check that stacks attribute time correctly, in a case where division by call counts does
    /// not.
    SelfTest(SelfTest),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cycloid profile hsm-sign                         RSA-2048, flat profile and call graph
  cycloid profile hsm-sign --key p-256 --quick     fewer signatures, with another key
  cycloid profile hsm-sign --folded stacks.txt     for programs that draw flame graphs")]
pub(crate) struct HsmSign {
    /// rsa-2048, rsa-3072, rsa-4096, p-256, p-384 or ed25519.
    #[arg(long, value_name = "KEY", default_value = "rsa-2048")]
    pub(crate) key: String,

    /// Concurrent clients in the batched configuration, 2 to 256.
    #[arg(long, value_name = "COUNT", default_value_t = 32, value_parser = clap::value_parser!(u16).range(2..=256))]
    pub(crate) clients: u16,

    /// Number of signatures per configuration, 100 to 1000000 [default: 5000, with --quick 500].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    pub(crate) signatures: Option<u32>,

    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct SelfTest {
    #[command(flatten)]
    pub(crate) sampling: Sampling,

    /// Print the record as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    /// Run in this process.
    #[arg(long, hide = true)]
    pub(crate) in_this_process: bool,
}

/// The duration and the rate of sampling.
#[derive(Debug, Args)]
pub(crate) struct Sampling {
    /// Seconds of processor time with sampling, 0.1 to 3600; the same again without sampling
    /// [default: 5, with --quick 1].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) seconds: Option<f64>,

    /// Samples per second to request, 1 to 10000; the system may deliver fewer.
    #[arg(long, value_name = "HERTZ", default_value_t = HERTZ, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rate: u32,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds.ok_or_else(|| "expected 0.1 to 3600 seconds".into())
}

/// Options that every workload takes.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Take less time.
    #[arg(long)]
    pub(crate) quick: bool,

    /// Use at most this instruction set: portable, adx, avx512, ifma [default: all available].
    #[arg(long, value_name = "LEVEL")]
    pub(crate) cpu: Option<String>,

    /// Print the record as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,

    /// Also write the record as JSON to a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,

    /// Write folded stacks to a file: call paths, and the nanoseconds in each.
    #[arg(long, value_name = "FILE")]
    pub(crate) folded: Option<PathBuf>,

    /// Write a flame graph to a file, as self-contained SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Write a profile for speedscope to a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) speedscope: Option<PathBuf>,
}
