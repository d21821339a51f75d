//! Settings shared by clients and servers, except TLS and the tunnel: process, sockets, log, hooks
//! and management interface.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::link::Link;
use super::tls::{DataChannel, Timing, Tls};
use super::tunnel::Tunnel;

/// Settings shared by clients and servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// The transport. For a client it holds the defaults of each remote.
    pub link: Link,
    /// Options of the outer sockets.
    pub sockets: Sockets,
    /// TLS settings.
    pub tls: Tls,
    /// Data channel ciphers.
    pub data: DataChannel,
    /// Timeouts and intervals.
    pub timing: Timing,
    /// The device, addresses, routes and name servers.
    pub tunnel: Tunnel,
    /// Process settings.
    pub process: Process,
    /// Log and status file.
    pub log: Log,
    /// `management`.
    pub management: Option<Management>,
    /// Scripts.
    pub hooks: Hooks,
}

/// Socket options; `None` keeps the system's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sockets {
    /// `sndbuf`, bytes.
    pub send_buffer: Option<u32>,
    /// `rcvbuf`, bytes.
    pub receive_buffer: Option<u32>,
    /// `mark`: SO_MARK.
    pub mark: Option<u32>,
    /// `bind-dev`: the outer interface.
    pub device: Option<String>,
    /// `multihome`: answer from the address that received the request.
    pub multihome: bool,
}

/// Process settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// `cd`.
    pub directory: Option<PathBuf>,
    /// `user`: the user to switch to after setup.
    pub user: Option<String>,
    /// `group`.
    pub group: Option<String>,
    /// `chroot`.
    pub chroot: Option<PathBuf>,
    /// `writepid`.
    pub pid_file: Option<PathBuf>,
    /// `nice`.
    pub nice: Option<i8>,
    /// `mlock`: keep all memory out of swap.
    pub lock_memory: bool,
    /// `persist-key`: do not reload keys on SIGUSR1.
    pub persist_key: bool,
    /// `remap-usr1`: the signal that replaces SIGUSR1: SIGHUP or SIGTERM.
    pub remap_usr1: Option<String>,
    /// `threads`, a Cycloid directive: number of processors that move packets; `None` is all.
    pub threads: Option<usize>,
    /// `enable-dco`, a Cycloid directive: let the kernel move packets, if it can.
    pub enable_dco: bool,
    /// `disable-dco`: do not, whatever `enable-dco` says.
    pub disable_dco: bool,
    /// `metrics ADDRESS:PORT`, a Cycloid directive: the address that Prometheus scrapes.
    pub metrics: Option<SocketAddr>,
}

impl Process {
    /// Returns whether the kernel moves packets, if it can.
    pub fn offload(&self) -> bool {
        self.enable_dco && !self.disable_dco
    }
}

/// Destination of log messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LogTarget {
    /// Standard error.
    #[default]
    Standard,
    /// `log`, `log-append`.
    File {
        /// The file.
        path: PathBuf,
        /// Append instead of truncating.
        append: bool,
    },
    /// `syslog`, or `daemon` without a log file: the name in the system log.
    Syslog(String),
}

/// Log and status file settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// `log`, `log-append`, `syslog`.
    pub target: LogTarget,
    /// `verb`: 0 is fatal errors only, 1 to 4 normal, 5 to 11 debugging. The default is 1.
    pub verbosity: u8,
    /// `mute`: maximum number of consecutive messages of a kind.
    pub mute: Option<u32>,
    /// `suppress-timestamps`.
    pub suppress_timestamps: bool,
    /// `machine-readable-output`.
    pub machine_readable: bool,
    /// `status`: the file and its interval. The default interval is 60 s.
    pub status: Option<(PathBuf, Duration)>,
    /// `status-version`: 1, 2 or 3. The default is 1.
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

/// Address of the management interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagementAddress {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host name or address, and a port.
    Tcp(String, u16),
    /// This end's tunnel address, and a port.
    Tunnel(u16),
}

/// Source of the management password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagementPassword {
    /// The first line of a file.
    File(PathBuf),
    /// Asked for at startup.
    Ask,
}

/// `management` and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Management {
    /// Address of the interface.
    pub address: ManagementAddress,
    /// Password that a connection must give.
    pub password: Option<ManagementPassword>,
    /// Other options.
    pub options: ManagementOptions,
}

/// Options from `management-…` directives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ManagementOptions {
    /// `management-client`: connect to the address instead of listening.
    pub connect: bool,
    /// `management-hold`: wait for `hold release` before each start.
    pub hold: bool,
    /// `management-query-passwords`: ask for passwords over management instead of the terminal.
    pub query_passwords: bool,
    /// `management-query-remote`: ask over management before trying each remote.
    pub query_remote: bool,
    /// `management-signal`: reconnect the tunnel when the management client disconnects.
    pub signal_on_disconnect: bool,
    /// `management-forget-disconnect`: forget passwords when the management client disconnects.
    pub forget_on_disconnect: bool,
    /// `management-client-auth`: let the management client admit or refuse each VPN client.
    pub client_auth: bool,
    /// `management-log-cache`: number of log lines to keep; `None` is 250.
    pub log_cache: Option<u32>,
    /// `management-client-user`: user allowed to connect to the Unix socket.
    pub client_user: Option<String>,
    /// `management-client-group`: group allowed to connect to the Unix socket.
    pub client_group: Option<String>,
}

/// A program and its arguments.
pub type Command = Vec<String>;

/// How a hook receives the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordVia {
    /// In the environment, readable by other processes of the same user.
    Environment,
    /// In a file, named by the last argument.
    File,
}

/// Programs to run on events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// `script-security`: 0 runs nothing, 1 only system tools, 2 also hooks, 3 also passes
    /// passwords in the environment. `None` is 1.
    pub security: Option<u8>,
    /// `up`.
    pub up: Option<Command>,
    /// `up-restart`: also run `up` and `down` on restarts.
    pub up_restart: bool,
    /// `down`.
    pub down: Option<Command>,
    /// `down-pre`: run `down` before closing the device, not after.
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
    /// `tls-export-cert`: directory for the certificates of connecting peers.
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
    /// `tmp-dir`: directory for files exchanged with hooks.
    pub directory: Option<PathBuf>,
    /// `setenv` and `setenv-safe` (whose names begin with `OPENVPN_`).
    pub environment: Vec<(String, String)>,
}
