//! What a client and a server have in common, beside TLS and the tunnel: the process, its sockets,
//! its log, its hooks and its management.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::link::Link;
use super::tls::{DataChannel, Timing, Tls};
use super::tunnel::Tunnel;

/// What both ends have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// The transport. A client's remotes have each their own, and this is what they start from.
    pub link: Link,
    /// The sockets outside.
    pub sockets: Sockets,
    /// TLS.
    pub tls: Tls,
    /// Ciphers of the data channel.
    pub data: DataChannel,
    /// Times.
    pub timing: Timing,
    /// The device, addresses, routes and name servers.
    pub tunnel: Tunnel,
    /// The process.
    pub process: Process,
    /// Messages, and the status file.
    pub log: Log,
    /// `management`.
    pub management: Option<Management>,
    /// Hooks.
    pub hooks: Hooks,
}

/// Options of sockets; the system's choice where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sockets {
    /// `sndbuf`, bytes.
    pub send_buffer: Option<u32>,
    /// `rcvbuf`, bytes.
    pub receive_buffer: Option<u32>,
    /// `tcp-nodelay`, `socket-flags TCP_NODELAY`.
    pub tcp_nodelay: bool,
    /// `mark`: SO_MARK.
    pub mark: Option<u32>,
    /// `bind-dev`: the interface outside.
    pub device: Option<String>,
    /// `multihome`: answer from the address that was asked.
    pub multihome: bool,
    /// `passtos`: the type of service inside is that outside.
    pub pass_tos: bool,
    /// `tcp-queue-limit`: packets that wait for a TCP client; 64 if none.
    pub tcp_queue_limit: Option<u32>,
}

/// The process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// `cd`.
    pub directory: Option<PathBuf>,
    /// `user`: who to become once all is set up.
    pub user: Option<String>,
    /// `group`.
    pub group: Option<String>,
    /// `chroot`.
    pub chroot: Option<PathBuf>,
    /// `daemon`: go to the background, under this name in the log.
    pub daemon: Option<String>,
    /// `writepid`.
    pub pid_file: Option<PathBuf>,
    /// `nice`.
    pub nice: Option<i8>,
    /// `mlock`: nothing is ever written to swap.
    pub lock_memory: bool,
    /// `persist-key`: keys are not read again on SIGUSR1.
    pub persist_key: bool,
    /// `remap-usr1`: the signal that takes the place of SIGUSR1, SIGHUP or SIGTERM.
    pub remap_usr1: Option<String>,
    /// `threads`, a directive of Cycloid's own: how many processors move packets; all if none.
    pub threads: Option<usize>,
    /// `metrics ADDRESS:PORT`, a directive of Cycloid's own: where Prometheus asks.
    pub metrics: Option<SocketAddr>,
}

/// Where messages go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LogTarget {
    /// Standard error.
    #[default]
    Standard,
    /// `log`, `log-append`.
    File {
        /// The file.
        path: PathBuf,
        /// What is there stays.
        append: bool,
    },
    /// `syslog`, or a daemon without a file: under this name.
    Syslog(String),
}

/// Messages, and the status file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// `log`, `log-append`, `syslog`.
    pub target: LogTarget,
    /// `verb`: 0 fatal errors only, 1 to 4 normal, 5 to 11 for debugging; 1.
    pub verbosity: u8,
    /// `mute`: at most so many consecutive messages of a kind.
    pub mute: Option<u32>,
    /// `suppress-timestamps`.
    pub suppress_timestamps: bool,
    /// `machine-readable-output`.
    pub machine_readable: bool,
    /// `status`: the file, and how often it is written; every 60 s.
    pub status: Option<(PathBuf, Duration)>,
    /// `status-version`: 1, 2 or 3; 1.
    pub status_version: u8,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            target: LogTarget::Standard,
            verbosity: 1,
            mute: None,
            suppress_timestamps: false,
            machine_readable: false,
            status: None,
            status_version: 1,
        }
    }
}

/// Where the management interface is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagementAddress {
    /// A socket in the file system.
    Unix(PathBuf),
    /// An address or a name, and a port.
    Tcp(String, u16),
    /// The own address in the tunnel, and a port.
    Tunnel(u16),
}

/// Where its password is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagementPassword {
    /// The first line of a file.
    File(PathBuf),
    /// Asked for at the start.
    Ask,
}

/// `management` and its companions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Management {
    /// Where it is.
    pub address: ManagementAddress,
    /// What who connects must say.
    pub password: Option<ManagementPassword>,
    /// The rest.
    pub options: ManagementOptions,
}

/// `management-…`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagementOptions {
    /// `management-client`: connect there instead of listening.
    pub connect: bool,
    /// `management-hold`: wait for `hold release` before each start.
    pub hold: bool,
    /// `management-query-passwords`: ask there, not at the terminal.
    pub query_passwords: bool,
    /// `management-query-remote`: ask there before each remote is tried.
    pub query_remote: bool,
    /// `management-signal`: connect anew when who is connected leaves.
    pub signal_on_disconnect: bool,
    /// `management-forget-disconnect`: forget passwords when who is connected leaves.
    pub forget_on_disconnect: bool,
    /// `management-up-down`: tell of addresses.
    pub up_down: bool,
    /// `management-client-auth`: ask there whether a client may come in.
    pub client_auth: bool,
    /// `management-log-cache`: lines that are kept; 250 if none.
    pub log_cache: Option<u32>,
    /// `management-client-user`: who may connect to a socket in the file system.
    pub client_user: Option<String>,
    /// `management-client-group`.
    pub client_group: Option<String>,
}

/// A program and its arguments.
pub type Command = Vec<String>;

/// How a password gets to its hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordVia {
    /// In the environment, which other processes of the same user can read.
    Environment,
    /// In a file, whose name is the last argument.
    File,
}

/// Hooks: programs that are run when something happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// `script-security`: 0 none, 1 the system's own tools, 2 hooks, 3 with passwords in their
    /// environment; 1 if none.
    pub security: Option<u8>,
    /// `up`.
    pub up: Option<Command>,
    /// `up-delay`: after the peer is reached, not before.
    pub up_delay: bool,
    /// `up-restart`: `up` and `down` also run at restarts.
    pub up_restart: bool,
    /// `down`.
    pub down: Option<Command>,
    /// `down-pre`: before the device is closed, not after.
    pub down_pre: bool,
    /// `route-up`.
    pub route_up: Option<Command>,
    /// `route-pre-down`.
    pub route_pre_down: Option<Command>,
    /// `ipchange`.
    pub ip_change: Option<Command>,
    /// `tls-verify`.
    pub tls_verify: Option<Command>,
    /// `tls-crypt-v2-verify`.
    pub tls_crypt_v2_verify: Option<Command>,
    /// `tls-export-cert`: a directory for the certificates of who connects.
    pub export_certificates: Option<PathBuf>,
    /// `client-connect`.
    pub client_connect: Option<Command>,
    /// `client-disconnect`.
    pub client_disconnect: Option<Command>,
    /// `client-crresponse`.
    pub client_response: Option<Command>,
    /// `learn-address`.
    pub learn_address: Option<Command>,
    /// `auth-user-pass-verify`.
    pub verify_password: Option<(Command, PasswordVia)>,
    /// `tmp-dir`: for files that pass between hooks and the process.
    pub directory: Option<PathBuf>,
    /// `setenv`, `setenv-safe` (its names begin with `OPENVPN_`).
    pub environment: Vec<(String, String)>,
}
