//! Notifies the service manager (systemd): ready, status, stopping, watchdog.
//!
//! Source: sd_notify(3), sd_watchdog_enabled(3).

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// The service manager, if there is one.
#[derive(Debug)]
pub struct Notify {
    manager: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl Notify {
    /// Returns the service manager that the environment names.
    pub fn from_environment() -> Self {
        let own = |pid: String| pid.parse() == Ok(std::process::id());
        let for_this = env::var("WATCHDOG_PID").map_or(true, own);
        let micros = env::var("WATCHDOG_USEC").ok().and_then(|micros| micros.parse().ok());
        let watchdog = micros.filter(|_| for_this).map(Duration::from_micros);
        let path = env::var_os("NOTIFY_SOCKET");
        path.and_then(|path| Self::new(&path, watchdog).ok()).unwrap_or(Self::nobody())
    }

    /// Returns a value without a service manager.
    pub fn nobody() -> Self {
        Self { manager: None, watchdog: None }
    }

    fn new(path: &OsStr, watchdog: Option<Duration>) -> io::Result<Self> {
        let address = match path.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(path)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        // Connected early: after privileges are dropped, the path may be unreachable.
        socket.connect_addr(&address)?;
        Ok(Self { manager: Some(socket), watchdog })
    }

    /// Returns the interval for calling [`alive`](Self::alive): half of the watchdog's timeout.
    pub fn interval(&self) -> Option<Duration> {
        self.watchdog.map(|watchdog| watchdog / 2)
    }

    /// Reports that the start is complete.
    pub fn ready(&self) {
        self.send("READY=1");
    }

    /// Reports that a reload has begun; [`ready`](Self::ready) ends it.
    pub fn reloading(&self, monotonic: Duration) {
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic.as_micros()));
    }

    /// Reports the current status in one line.
    pub fn status(&self, text: &str) {
        let text: String = text.chars().filter(|c| !c.is_control()).collect();
        self.send(&format!("STATUS={text}"));
    }

    /// Reports that the program is stopping.
    pub fn stopping(&self) {
        self.send("STOPPING=1");
    }

    /// Resets the watchdog.
    pub fn alive(&self) {
        if self.watchdog.is_some() {
            self.send("WATCHDOG=1");
        }
    }

    /// Errors are ignored: the program works without a listening manager.
    fn send(&self, text: &str) {
        if let Some(manager) = &self.manager {
            let _ = manager.send(text.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_gets_all_notifications() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let name = format!("cycloid-vpn-test-{}", std::process::id());
        let abstract_address = SocketAddr::from_abstract_name(&name).unwrap();
        for (address, at) in [
            (SocketAddr::from_pathname(&path).unwrap(), path.as_os_str().to_owned()),
            (abstract_address, format!("@{name}").into()),
        ] {
            let manager = UnixDatagram::bind_addr(&address).unwrap();
            let heard = || {
                let mut bytes = [0; 100];
                let length = manager.recv(&mut bytes).unwrap();
                String::from_utf8(bytes[..length].to_vec()).unwrap()
            };
            let notify = Notify::new(&at, Some(Duration::from_secs(10))).unwrap();
            assert_eq!(notify.interval(), Some(Duration::from_secs(5)));
            notify.ready();
            assert_eq!(heard(), "READY=1");
            notify.status("3 clients\nREADY=0");
            assert_eq!(heard(), "STATUS=3 clientsREADY=0");
            notify.alive();
            assert_eq!(heard(), "WATCHDOG=1");
            notify.stopping();
            assert_eq!(heard(), "STOPPING=1");
        }
        Notify::nobody().ready();
    }
}
