//! Tests dropping root in a separate process and network namespace. Without root there is nothing
//! to drop, and the test checks that.

use std::env;
use std::fs;
use std::process::Command;

use cycloid_vpn::net::killswitch::KillSwitch;
use cycloid_vpn::net::netlink::{Netlink, Route};
use cycloid_vpn::net::undo::{Journal, Scope};
use cycloid_vpn::service::privileges::{Identity, give_up};
use rustix::process::{Uid, geteuid};
use rustix::thread::set_thread_res_uid;

const INSIDE: &str = "CYCLOID_VPN_TEST_INSIDE";
const NOBODY: u32 = 65534;
const NET_ADMIN: u64 = 1 << 12;

fn main() {
    if !geteuid().is_root() {
        let me = Identity { user: Some(geteuid().as_raw()), group: None };
        give_up(me).unwrap();
        assert_eq!(field("self", "CapPrm"), "0000000000000000");
        return;
    }
    if env::var_os(INSIDE).is_none() {
        let mut unshare = Command::new("unshare");
        let inside =
            unshare.args(["--net", "--"]).arg(env::current_exe().unwrap()).env(INSIDE, "1");
        assert!(inside.status().expect("this test needs unshare (util-linux)").success());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(directory.path(), "test", Scope::Network).unwrap();
    let up = Command::new("ip").args(["link", "set", "lo", "up"]).status();
    assert!(up.expect("this test needs ip (iproute2)").success());

    give_up(Identity { user: Some(NOBODY), group: Some(NOBODY) }).unwrap();
    let nobody = [NOBODY; 4].map(|id| id.to_string()).join("\t");
    assert_eq!(field("self", "Uid"), nobody);
    assert_eq!(field("self", "Gid"), nobody);
    assert_eq!(field("self", "Groups"), NOBODY.to_string());
    for set in ["CapPrm", "CapEff"] {
        assert_eq!(field("self", set), format!("{NET_ADMIN:016x}"));
    }
    let root = Uid::from_raw(0);
    assert!(set_thread_res_uid(root, root, root).is_err());
    assert!(fs::read("/etc/shadow").is_err());

    // This process and its network tools can still change the network.
    let mut netlink = Netlink::open().unwrap();
    let interface = netlink.interface("lo").unwrap();
    let route = Route { interface: Some(interface), ..Route::to("10.1.0.0/16".parse().unwrap()) };
    netlink.add_route(&route).unwrap();
    let switch = KillSwitch {
        instance: "test".into(),
        interface: "tun".into(),
        remotes: vec![],
        networks: vec![],
    };
    switch.apply(&mut journal).unwrap();
    assert!(journal.undo().is_empty());
    // Scripts have no capabilities.
    let status = Command::new("cat").arg("/proc/self/status").output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    for set in ["CapPrm", "CapEff", "CapInh", "CapAmb"] {
        assert_eq!(line(&status, set), "0000000000000000");
    }
}

fn field(process: &str, name: &str) -> String {
    line(&fs::read_to_string(format!("/proc/{process}/status")).unwrap(), name)
}

fn line(status: &str, name: &str) -> String {
    let start = format!("{name}:");
    let line = status.lines().find_map(|line| line.strip_prefix(&start));
    line.unwrap_or_else(|| panic!("{name} in {status}")).trim().to_owned()
}
