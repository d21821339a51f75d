//! The kill switch: a firewall that allows only traffic through the tunnel, over loopback, and with
//! the servers. Traffic that a link needs to work at all (neighbour discovery, DHCP) stays allowed.
//! It deliberately survives a crash: the next start or `nft delete table` removes it.
//!
//! The rules are a separate nftables table, set and replaced in one transaction. They avoid
//! features that a small kernel may lack, such as connection tracking.
//!
//! Source: nft(8).

use std::fmt::Write;
use std::io;
use std::net::SocketAddr;

use crate::proto::Transport;

use super::network::Network;
use super::tool;
use super::undo::{Journal, Undo};

/// The allowed traffic.
#[derive(Clone, Debug)]
pub struct KillSwitch {
    /// The instance's name, used as the table's name.
    pub instance: String,
    /// The tunnel's interface.
    pub interface: String,
    /// The servers.
    pub remotes: Vec<(SocketAddr, Transport)>,
    /// Networks that bypass the tunnel, such as the local one.
    pub networks: Vec<Network>,
}

impl KillSwitch {
    /// Enables the kill switch and records it in the journal, or replaces its rules if enabled.
    ///
    /// # Errors
    ///
    /// nft is missing or fails; then nothing was changed.
    pub fn apply(&self, journal: &mut Journal) -> io::Result<()> {
        let undo = Undo::Firewall { table: self.table() };
        let set = || tool::run("nft", &["-f", "-"], self.rules().as_bytes());
        if journal.entries().any(|entry| *entry == undo) {
            return set();
        }
        journal.change(undo, set)
    }

    fn table(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let instance: String = self.instance.chars().map(plain).take(100).collect();
        format!("cycloid_vpn_{instance}")
    }

    /// Returns the rules as an nft script. `add` before `delete` makes the deletion succeed the
    /// first time.
    fn rules(&self) -> String {
        let table = self.table();
        let interface = quoted(&self.interface);
        let mut text = format!("add table inet {table}\ndelete table inet {table}\n");
        let mut write = |line: &str| {
            let _ = writeln!(text, "{line}");
        };
        write(&format!("table inet {table} {{"));
        for (hook, device, there, port) in
            [("output", "oifname", "daddr", "dport"), ("input", "iifname", "saddr", "sport")]
        {
            write(&format!("  chain {hook} {{"));
            write(&format!("    type filter hook {hook} priority 0; policy drop;"));
            write(&format!("    {device} {{ \"lo\", {interface} }} accept"));
            for (remote, transport) in &self.remotes {
                let family = if remote.is_ipv4() { "ip" } else { "ip6" };
                let protocol = match transport {
                    Transport::Udp => "udp",
                    Transport::Tcp => "tcp",
                };
                let (address, number) = (remote.ip(), remote.port());
                write(&format!("    {family} {there} {address} {protocol} {port} {number} accept"));
            }
            for network in &self.networks {
                let family = if network.is_ipv4() { "ip" } else { "ip6" };
                write(&format!("    {family} {there} {network} accept"));
            }
            // Neighbour and router discovery (RFC 4861, types 133 to 137): a hop limit of 255
            // proves that the packet comes from the link.
            write("    ip6 hoplimit 255 icmpv6 type 133-137 accept");
            let (client, server) =
                if hook == "output" { ("sport", "dport") } else { ("dport", "sport") };
            write(&format!("    udp {client} 68 udp {server} 67 accept"));
            write(&format!("    udp {client} 546 udp {server} 547 accept"));
            write("  }");
        }
        write("  chain forward {");
        write("    type filter hook forward priority 0; policy drop;");
        write(&format!("    oifname {interface} accept"));
        write(&format!("    iifname {interface} accept"));
        write("  }\n}");
        text
    }
}

/// Formats an interface's name as an nft string.
fn quoted(name: &str) -> String {
    let plain: String = name.chars().filter(|c| !c.is_control() && !"\"\\*".contains(*c)).collect();
    format!("\"{plain}\"")
}

pub(super) fn remove(table: &str) -> io::Result<()> {
    let script = format!("add table inet {table}\ndelete table inet {table}\n");
    tool::run("nft", &["-f", "-"], script.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules() {
        let switch = KillSwitch {
            instance: "home; drop".into(),
            interface: "tun\"0".into(),
            remotes: vec![
                ("203.0.113.5:1194".parse().unwrap(), Transport::Udp),
                ("[2001:db8::1]:443".parse().unwrap(), Transport::Tcp),
            ],
            networks: vec!["192.168.1.0/24".parse().unwrap()],
        };
        let rules = switch.rules();
        for line in [
            "table inet cycloid_vpn_home__drop {",
            "    oifname { \"lo\", \"tun0\" } accept",
            "    ip daddr 203.0.113.5 udp dport 1194 accept",
            "    ip saddr 203.0.113.5 udp sport 1194 accept",
            "    ip6 daddr 2001:db8::1 tcp dport 443 accept",
            "    ip saddr 192.168.1.0/24 accept",
            "    udp sport 68 udp dport 67 accept",
            "    iifname \"tun0\" accept",
        ] {
            assert!(rules.lines().any(|found| found == line), "{line}\n{rules}");
        }
        assert_eq!(rules.matches("policy drop;").count(), 3);
    }
}
