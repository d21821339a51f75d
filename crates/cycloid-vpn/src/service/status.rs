//! Formats the status file and the management `status` reply: formats 1, 2 and 3 of a server, and
//! the counters of a client or point-to-point server.
//!
//! Source: openvpn(8), "--status" and "--status-version"; fields as in OpenVPN 2.6.14.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Add;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Failure, clock};
use crate::config;
use crate::net::data_path;
use crate::net::undo::replace_file;

/// The format version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// Human-readable.
    #[default]
    One,
    /// Labelled lines with commas.
    Two,
    /// Labelled lines with tabs.
    Three,
}

impl Version {
    /// Returns the version with this number.
    pub fn new(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            3 => Some(Self::Three),
            _ => None,
        }
    }
}

/// A connected client.
#[derive(Clone, Debug)]
pub struct Client {
    /// The name from its certificate, or the user name.
    pub common_name: String,
    /// Its outer address.
    pub real_address: SocketAddr,
    /// Its IPv4 tunnel address.
    pub ipv4: Option<Ipv4Addr>,
    /// Its IPv6 tunnel address.
    pub ipv6: Option<Ipv6Addr>,
    /// Bytes received from it.
    pub bytes_received: u64,
    /// Bytes sent to it.
    pub bytes_sent: u64,
    /// Time of the connection in seconds since 1970.
    pub connected_since: u64,
    /// Its user name.
    pub username: Option<String>,
    /// Its number among all clients of this process.
    pub client_id: u64,
    /// Its peer id in data packets.
    pub peer_id: Option<u32>,
    /// The data channel's cipher.
    pub cipher: Option<String>,
}

/// A route to a client.
#[derive(Clone, Debug)]
pub struct Route {
    /// The address, or a network with its prefix length.
    pub virtual_address: String,
    /// The client's name.
    pub common_name: String,
    /// The client's outer address.
    pub real_address: SocketAddr,
    /// Time of the last use in seconds since 1970.
    pub last_reference: u64,
}

/// A server's state.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// Name and version of the program.
    pub title: String,
    /// The time in seconds since 1970.
    pub now: u64,
    /// Connected clients.
    pub clients: Vec<Client>,
    /// Routes to them.
    pub routes: Vec<Route>,
    /// Maximum length of the broadcast queue.
    pub longest_broadcast_queue: u32,
}

/// Byte counters of a client or point-to-point server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Read from the tunnel interface.
    pub tun_read: u64,
    /// Written to the tunnel interface.
    pub tun_written: u64,
    /// Received from the peer.
    pub link_read: u64,
    /// Sent to the peer.
    pub link_written: u64,
    /// Received from the peer and authenticated.
    pub authenticated: u64,
}

impl Server {
    /// Returns the status lines with line ends.
    pub fn text(&self, version: Version) -> String {
        match version {
            Version::One => self.for_reading(),
            Version::Two => self.for_programs(','),
            Version::Three => self.for_programs('\t'),
        }
    }

    fn for_reading(&self) -> String {
        let mut text = format!("OpenVPN CLIENT LIST\nUpdated,{}\n", clock::local(self.now));
        text += "Common Name,Real Address,Bytes Received,Bytes Sent,Connected Since\n";
        for client in &self.clients {
            let name = field(&client.common_name, ',');
            let (received, sent) = (client.bytes_received, client.bytes_sent);
            let since = clock::local(client.connected_since);
            let _ = writeln!(text, "{name},{},{received},{sent},{since}", client.real_address);
        }
        text += "ROUTING TABLE\nVirtual Address,Common Name,Real Address,Last Ref\n";
        for route in &self.routes {
            let (to, name) = (&route.virtual_address, field(&route.common_name, ','));
            let last = clock::local(route.last_reference);
            let _ = writeln!(text, "{to},{name},{},{last}", route.real_address);
        }
        let longest = self.longest_broadcast_queue;
        let _ = writeln!(text, "GLOBAL STATS\nMax bcast/mcast queue length,{longest}\nEND");
        text
    }

    fn for_programs(&self, separator: char) -> String {
        let mut text = String::new();
        let mut line = |fields: &[&str]| {
            let fields: Vec<_> = fields.iter().map(|text| field(text, separator)).collect();
            text += &fields.join(&separator.to_string());
            text.push('\n');
        };
        line(&["TITLE", &self.title]);
        line(&["TIME", &clock::local(self.now), &self.now.to_string()]);
        line(&[
            "HEADER",
            "CLIENT_LIST",
            "Common Name",
            "Real Address",
            "Virtual Address",
            "Virtual IPv6 Address",
            "Bytes Received",
            "Bytes Sent",
            "Connected Since",
            "Connected Since (time_t)",
            "Username",
            "Client ID",
            "Peer ID",
            "Data Channel Cipher",
        ]);
        let text_of = |address: Option<IpAddr>| {
            address.map(|address| address.to_string()).unwrap_or_default()
        };
        for client in &self.clients {
            line(&[
                "CLIENT_LIST",
                &client.common_name,
                &client.real_address.to_string(),
                &text_of(client.ipv4.map(IpAddr::from)),
                &text_of(client.ipv6.map(IpAddr::from)),
                &client.bytes_received.to_string(),
                &client.bytes_sent.to_string(),
                &clock::local(client.connected_since),
                &client.connected_since.to_string(),
                client.username.as_deref().unwrap_or("UNDEF"),
                &client.client_id.to_string(),
                &client.peer_id.map(|id| id.to_string()).unwrap_or_default(),
                client.cipher.as_deref().unwrap_or(""),
            ]);
        }
        line(&[
            "HEADER",
            "ROUTING_TABLE",
            "Virtual Address",
            "Common Name",
            "Real Address",
            "Last Ref",
            "Last Ref (time_t)",
        ]);
        for route in &self.routes {
            line(&[
                "ROUTING_TABLE",
                &route.virtual_address,
                &route.common_name,
                &route.real_address.to_string(),
                &clock::local(route.last_reference),
                &route.last_reference.to_string(),
            ]);
        }
        let longest = self.longest_broadcast_queue.to_string();
        line(&["GLOBAL_STATS", "Max bcast/mcast queue length", &longest]);
        line(&["GLOBAL_STATS", "dco_enabled", "0"]);
        line(&["END"]);
        text
    }
}

impl From<data_path::Counters> for Counters {
    fn from(counters: data_path::Counters) -> Self {
        Self {
            tun_read: counters.sent_inner_bytes,
            tun_written: counters.received_inner_bytes,
            link_read: counters.received_bytes,
            link_written: counters.sent_bytes,
            authenticated: counters.received_bytes,
        }
    }
}

impl Add for Counters {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tun_read: self.tun_read + other.tun_read,
            tun_written: self.tun_written + other.tun_written,
            link_read: self.link_read + other.link_read,
            link_written: self.link_written + other.link_written,
            authenticated: self.authenticated + other.authenticated,
        }
    }
}

impl Counters {
    /// Returns the counter lines with line ends; `now` is in seconds since 1970.
    pub fn text(&self, now: u64) -> String {
        format!(
            "OpenVPN STATISTICS\nUpdated,{}\nTUN/TAP read bytes,{}\nTUN/TAP write bytes,{}\n\
             TCP/UDP read bytes,{}\nTCP/UDP write bytes,{}\nAuth read bytes,{}\nEND\n",
            clock::local(now),
            self.tun_read,
            self.tun_written,
            self.link_read,
            self.link_written,
            self.authenticated,
        )
    }
}

/// Replaces separators and control characters in a text from a peer.
fn field(text: &str, separator: char) -> String {
    text.chars().map(|c| if c.is_control() || c == separator { '_' } else { c }).collect()
}

/// The file of the `status` directive.
#[derive(Debug)]
pub struct StatusFile {
    path: PathBuf,
    /// Kept open, because the directory may be unwritable once privileges are dropped.
    file: File,
    /// The time between two reports, and the time of the next one on the program's clock.
    every: Duration,
    next: Duration,
}

impl StatusFile {
    /// Opens or creates the file that a configuration names, if it does. The first report is due
    /// at once.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn of(log: &config::Log) -> Result<Option<Self>, Failure> {
        let Some((path, every)) = &log.status else { return Ok(None) };
        Self::open(path, *every)
            .map(Some)
            .map_err(|error| Failure::new(format!("status {}: {error}", path.display())))
    }

    fn open(path: &Path, every: Duration) -> io::Result<Self> {
        let file =
            File::options().write(true).create(true).truncate(false).mode(0o600).open(path)?;
        Ok(Self { path: path.to_owned(), file, every, next: Duration::ZERO })
    }

    /// Returns the time of the next report.
    pub const fn next(&self) -> Duration {
        self.next
    }

    /// Returns whether a report is due.
    pub fn is_due(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// Replaces the contents, atomically if possible. The next report is due one period later,
    /// whether or not this one succeeds.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn write(&mut self, now: Duration, text: &str) -> io::Result<()> {
        self.next = now + self.every;
        let plain = self.file.metadata()?.is_file();
        if plain && replace_file(&self.path, text.as_bytes(), 0o600).is_ok() {
            self.file = File::options().write(true).open(&self.path)?;
            return Ok(());
        }
        if plain {
            io::Seek::rewind(&mut self.file)?;
            self.file.set_len(0)?;
        }
        self.file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Server {
        let real_address = "127.0.0.1:41039".parse().unwrap();
        let route = |virtual_address: &str| Route {
            virtual_address: virtual_address.into(),
            common_name: "client-1".into(),
            real_address,
            last_reference: 1_795_290_013,
        };
        Server {
            title: "OpenVPN x".into(),
            now: 1_795_290_025,
            clients: vec![Client {
                common_name: "client-1".into(),
                real_address,
                ipv4: Some("10.88.0.2".parse().unwrap()),
                ipv6: Some("fd77::1000".parse().unwrap()),
                bytes_received: 2308,
                bytes_sent: 2422,
                connected_since: 1_795_290_013,
                username: Some("us er".into()),
                client_id: 0,
                peer_id: Some(0),
                cipher: Some("AES-256-GCM".into()),
            }],
            routes: vec![route("fd77::1000"), route("10.88.0.2")],
            longest_broadcast_queue: 0,
        }
    }

    /// The local time depends on the machine's time zone.
    fn expected(text: &str) -> String {
        text.replace("@25", &clock::local(1_795_290_025))
            .replace("@13", &clock::local(1_795_290_013))
    }

    #[test]
    fn format_1() {
        let text = "OpenVPN CLIENT LIST\n\
            Updated,@25\n\
            Common Name,Real Address,Bytes Received,Bytes Sent,Connected Since\n\
            client-1,127.0.0.1:41039,2308,2422,@13\n\
            ROUTING TABLE\n\
            Virtual Address,Common Name,Real Address,Last Ref\n\
            fd77::1000,client-1,127.0.0.1:41039,@13\n\
            10.88.0.2,client-1,127.0.0.1:41039,@13\n\
            GLOBAL STATS\n\
            Max bcast/mcast queue length,0\n\
            END\n";
        assert_eq!(server().text(Version::One), expected(text));
    }

    #[test]
    fn formats_2_and_3() {
        let text = "TITLE,OpenVPN x\n\
            TIME,@25,1795290025\n\
            HEADER,CLIENT_LIST,Common Name,Real Address,Virtual Address,Virtual IPv6 Address,\
            Bytes Received,Bytes Sent,Connected Since,Connected Since (time_t),Username,Client ID,\
            Peer ID,Data Channel Cipher\n\
            CLIENT_LIST,client-1,127.0.0.1:41039,10.88.0.2,fd77::1000,2308,2422,@13,1795290013,\
            us er,0,0,AES-256-GCM\n\
            HEADER,ROUTING_TABLE,Virtual Address,Common Name,Real Address,Last Ref,Last Ref (time_t)\n\
            ROUTING_TABLE,fd77::1000,client-1,127.0.0.1:41039,@13,1795290013\n\
            ROUTING_TABLE,10.88.0.2,client-1,127.0.0.1:41039,@13,1795290013\n\
            GLOBAL_STATS,Max bcast/mcast queue length,0\n\
            GLOBAL_STATS,dco_enabled,0\n\
            END\n";
        assert_eq!(server().text(Version::Two), expected(text));
        assert_eq!(server().text(Version::Three), expected(&text.replace(',', "\t")));
    }

    #[test]
    fn names_cannot_inject_fields_or_lines() {
        let mut server = server();
        server.clients[0].common_name = "a,b\nEND\tc".into();
        let two = server.text(Version::Two);
        assert!(two.contains("\nCLIENT_LIST,a_b_END_c,127"), "{two}");
        assert!(server.text(Version::Three).contains("\nCLIENT_LIST\ta,b_END_c\t127"));
        assert_eq!(two.matches("END\n").count(), 1);
    }

    #[test]
    fn counters_of_a_client() {
        let counters =
            Counters { tun_read: 144, link_read: 2568, link_written: 2514, ..Counters::default() };
        let text = expected(
            "OpenVPN STATISTICS\nUpdated,@25\nTUN/TAP read bytes,144\nTUN/TAP write bytes,0\n\
             TCP/UDP read bytes,2568\nTCP/UDP write bytes,2514\nAuth read bytes,0\nEND\n",
        );
        assert_eq!(counters.text(1_795_290_025), text);
    }

    #[test]
    fn the_file_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("status");
        let [every, now] = [60, 7].map(Duration::from_secs);
        let mut file = StatusFile::open(&path, every).unwrap();
        assert!(file.is_due(Duration::ZERO));
        file.write(now, "a long one\n").unwrap();
        assert!(!file.is_due(now + every - Duration::from_nanos(1)));
        assert!(file.is_due(file.next()));
        file.write(file.next(), "short\n").unwrap();
        assert_eq!(file.next(), now + 2 * every);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "short\n");
        StatusFile::open(Path::new("/dev/null"), every).unwrap().write(now, "x").unwrap();
        assert!(!Path::new("/dev/null").is_file());
    }
}
