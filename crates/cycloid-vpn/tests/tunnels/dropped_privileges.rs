//! A client that drops its privileges reads files of root beforehand, and keeps a helper that sets
//! name servers and runs the first scripts as root.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::test_bed::{
    INNER, LIMIT, Protection, Running, Settings, TestBed, UP, Who, wait_for_file,
};

const USER: &str = "user nobody\ngroup nogroup\npersist-key\npersist-tun";

#[test]
fn a_client_without_privileges_keeps_its_keys() {
    let bed = TestBed::new();
    let settings = Settings { protection: Protection::TlsAuth, ..Settings::default() };
    let mut gate = bed.start(Who::Cycloid, true, &settings);
    // The control channel's key and the own key are for root alone.
    for name in ["shared.key", "alice.key"] {
        fs::set_permissions(bed.file(name), Permissions::from_mode(0o600)).expect("a file");
    }
    let mut alice = bed.start(Who::Cycloid, false, &Settings { client: USER.into(), ..settings });
    bed.assert_reaches("the tunnel", [&mut gate, &mut alice]);
    // A soft restart keeps the keys; a hard one cannot read them, and says so.
    alice.signal("USR1");
    alice.wait_for(UP, 2, LIMIT);
    alice.signal("HUP");
    alice.wait_for("keeping the old keys: key ", 1, LIMIT);
    alice.wait_for(UP, 3, LIMIT);
    assert!(bed.ping(INNER, 3, "0.2") > 0);
}

/// The resolver of a client's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resolver {
    Resolved,
    Resolvconf,
    File,
}

/// A machine for a client: its `/etc` is the directory `etc` of the test bed, and of the programs
/// for resolvers it has those that the test wants.
struct Machine<'a> {
    bed: &'a TestBed,
    settings: Settings,
}

/// Mounts the directories `$0` and `$1`, hides the machine's programs for resolvers, and becomes the
/// rest of the arguments. The mounts last as long as that program.
const MOUNTS: &str = r#"
for program in resolvectl resolvconf; do
    for place in /usr/sbin /usr/bin /sbin /bin /usr/local/sbin; do
        if [ -e $place/$program ]; then mount --bind /dev/null $place/$program || exit; fi
    done
done
mount --bind "$0" /etc && mount --bind "$1" /usr/local/bin && shift && exec "$@"
"#;

const ORIGINAL: &str = "# home\nnameserver 192.0.2.53\noptions edns0\n";
const STUB: &str = "nameserver 127.0.0.53\n";

impl<'a> Machine<'a> {
    fn new(bed: &'a TestBed, resolver: Resolver, client: &str) -> Self {
        for directory in ["etc", "bin"] {
            fs::create_dir(bed.file(directory)).expect("a directory");
        }
        for name in ["passwd", "group"] {
            fs::copy(Path::new("/etc").join(name), bed.file("etc").join(name)).expect("a file");
        }
        let names = if resolver == Resolver::Resolved { STUB } else { ORIGINAL };
        fs::write(bed.file("etc/resolv.conf"), names).expect("a file");
        // Scripts of the user write there too.
        fs::write(bed.file("calls"), "").expect("a file");
        fs::set_permissions(bed.file("calls"), Permissions::from_mode(0o666)).expect("a file");
        fs::set_permissions(bed.directory.path(), Permissions::from_mode(0o755)).expect("ours");
        let calls = bed.file("calls").display().to_string();
        let text =
            format!("#!/bin/sh\necho \"${{0##*/}} $(id -u) $*\" >> {calls}\ncat >> {calls}\n");
        let program = match resolver {
            Resolver::Resolved => Some("bin/resolvectl"),
            Resolver::Resolvconf => Some("bin/resolvconf"),
            Resolver::File => None,
        };
        fs::write(bed.file("program"), text).expect("a file");
        if let Some(program) = program {
            // By another process: a file that this one still has open cannot be executed.
            let mut install = Command::new("install");
            install.args(["-m", "755"]).args([bed.file("program"), bed.file(program)]);
            assert!(install.status().expect("install").success());
        }
        fs::write(bed.file("script"), format!("echo \"$script_type $(id -u) $*\" >> {calls}\n"))
            .expect("a file");
        let settings = Settings {
            server: "push \"dhcp-option DNS 10.8.0.1\"\npush \"dhcp-option DOMAIN lan.example\""
                .into(),
            client: format!("{USER}\n{client}"),
            ..Settings::default()
        };
        Self { bed, settings }
    }

    fn names(&self) -> PathBuf {
        self.bed.file("etc/resolv.conf")
    }

    fn calls(&self) -> String {
        fs::read_to_string(self.bed.file("calls")).expect("a file")
    }

    /// Starts the client, and does not wait.
    fn launch(&self) -> Running {
        let file = self.bed.configure(false, &self.settings);
        let mut command = self.bed.command(true);
        command.args(["sh", "-c", MOUNTS]).args([self.bed.file("etc"), self.bed.file("bin")]);
        command.args([env!("CARGO_BIN_EXE_cycloid-vpn"), "client"]).arg(&file);
        Running::start(command, file.with_extension("client.log"))
    }

    fn start(&self) -> Running {
        let mut alice = self.launch();
        alice.wait_for(UP, 1, LIMIT);
        alice
    }

    fn assert_is_set(&self) {
        let text = fs::read_to_string(self.names()).expect("a file");
        let expected = "nameserver 10.8.0.1\nsearch lan.example\noptions edns0\n";
        assert!(text.ends_with(expected), "{text}");
    }

    fn wait_until_restored(&self) {
        wait_for_file(&self.names(), |text| text == ORIGINAL);
        // Nothing else is left there.
        let end = Instant::now() + LIMIT;
        while fs::read_dir(self.bed.file("etc")).expect("a directory").count() > 3 {
            assert!(Instant::now() < end, "files are left beside resolv.conf");
            std::thread::yield_now();
        }
    }
}

/// Returns the process id of a client's helper, which runs as root, unlike the client.
fn helper_of(client: &Running) -> u32 {
    let field = |status: &str, name: &str| -> Option<u32> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let status = |id: u32| fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    assert_ne!(field(&status(client.id()), "Uid:"), Some(0));
    let processes = fs::read_dir("/proc").expect("a directory").flatten();
    let mut ids = processes.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let id = ids.find(|id| field(&status(*id), "PPid:") == Some(client.id()));
    let id = id.unwrap_or_else(|| panic!("no helper\n{}", client.text()));
    assert_eq!(field(&status(id), "Uid:"), Some(0));
    id
}

fn kill(signal: &str, id: u32) {
    let sent = Command::new("kill").args([signal, &id.to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Waits until a process has ended, or is a zombie.
fn wait_for_end_of(id: u32) {
    let end = Instant::now() + LIMIT;
    let status = format!("/proc/{id}/status");
    while fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ")) {
        assert!(Instant::now() < end, "process {id} goes on");
        std::thread::yield_now();
    }
}

/// Also the order of OpenVPN 2.6.14, which was observed. There, `tls-verify` runs as root too until
/// the tunnel is up.
#[test]
fn the_first_scripts_run_as_root_and_later_ones_do_not() {
    let bed = TestBed::new();
    let script = |name: &str| format!("{name} '/bin/sh {}'\n", bed.file("script").display());
    let names = ["up", "down", "route-up", "route-pre-down", "ipchange", "tls-verify"];
    let scripts: String = names.into_iter().map(script).collect();
    let client = format!("script-security 2\nup-restart\n{scripts}");
    let machine = Machine::new(&bed, Resolver::File, &client);
    let _gate = bed.start(Who::Cycloid, true, &machine.settings);
    let mut alice = machine.start();
    machine.assert_is_set();
    let helper = helper_of(&alice);
    let calls = || {
        let calls = machine.calls();
        let words = calls.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
        words.collect::<Vec<_>>()
    };
    // For the authority and for the server.
    let verified = ["tls-verify 65534"; 2].as_slice();
    assert_eq!(calls(), [verified, &["ipchange 0", "up 0", "route-up 0"]].concat());
    let up = machine.calls().lines().nth(3).expect("up").to_owned();
    assert_eq!(up, "up 0 tun0 1500 0 10.8.0.2 255.255.0.0 init");
    alice.signal("USR1");
    alice.wait_for(UP, 2, LIMIT);
    assert_eq!(calls()[5..], [verified, &["ipchange 65534", "up 65534"]].concat());
    machine.assert_is_set();
    // The helper ends with its client, not by a signal.
    kill("-TERM", helper);
    kill("-INT", helper);
    let log = alice.end("TERM");
    assert_eq!(calls()[9..], ["route-pre-down 65534", "down 65534"]);
    assert!(!log.contains("cannot"), "{log}");
    wait_for_end_of(helper);
    machine.wait_until_restored();
}

/// Without `persist-tun`, the helper restores the name servers in an outage, and sets them again.
#[test]
fn name_servers_go_and_come_with_each_connection() {
    let bed = TestBed::new();
    let mut machine = Machine::new(&bed, Resolver::File, "");
    machine.settings.client = machine.settings.client.replace("persist-tun", "");
    machine.settings.server += "\npush \"route 192.168.50.0 255.255.255.0\"";
    let has_route = || {
        let output = bed.command(true).args(["ip", "route"]).output().expect("ip");
        String::from_utf8_lossy(&output.stdout).contains("192.168.50.0/24")
    };
    let gate = bed.start(Who::Cycloid, true, &machine.settings);
    let mut alice = machine.start();
    machine.assert_is_set();
    assert!(has_route());
    drop(gate);
    machine.wait_until_restored();
    let _gate = bed.start(Who::Cycloid, true, &machine.settings);
    alice.wait_for(UP, 2, LIMIT);
    machine.assert_is_set();
    assert!(has_route());
    let log = alice.end("TERM");
    assert!(!log.contains("cannot"), "{log}");
    machine.wait_until_restored();
}

#[test]
fn name_servers_are_restored_after_any_process_was_killed() {
    let bed = TestBed::new();
    let machine = Machine::new(&bed, Resolver::File, "");
    let gate = bed.start(Who::Cycloid, true, &machine.settings);

    // The client: the helper restores them.
    let alice = machine.start();
    machine.assert_is_set();
    let helper = helper_of(&alice);
    alice.end("KILL");
    machine.wait_until_restored();
    wait_for_end_of(helper);

    // The helper: the client says so, and the next start restores them.
    let alice = machine.start();
    kill("-KILL", helper_of(&alice));
    let log = alice.end("TERM");
    assert!(log.contains("next start restores name servers"), "{log}");
    machine.assert_is_set();

    // Both: so does the next start here, and the one after it has no server.
    let alice = machine.start();
    machine.assert_is_set();
    kill("-KILL", helper_of(&alice));
    alice.end("KILL");
    machine.assert_is_set();
    drop(gate);
    let alice = machine.launch();
    machine.wait_until_restored();
    alice.end("TERM");
}

#[test]
fn every_resolver_is_set_by_the_helper() {
    for (resolver, set, restored) in [
        (
            Resolver::Resolved,
            "resolvectl 0 dns tun0 10.8.0.1\nresolvectl 0 domain tun0 lan.example ~.\n\
             resolvectl 0 default-route tun0 yes\n",
            "resolvectl 0 revert tun0\n",
        ),
        (
            Resolver::Resolvconf,
            "resolvconf 0 -a tun0.cycloid-vpn\nnameserver 10.8.0.1\nsearch lan.example\n",
            "resolvconf 0 -d tun0.cycloid-vpn\n",
        ),
    ] {
        let bed = TestBed::new();
        let machine = Machine::new(&bed, resolver, "");
        let _gate = bed.start(Who::Cycloid, true, &machine.settings);
        let alice = machine.start();
        assert_eq!(machine.calls(), set, "{resolver:?}");
        let log = alice.end("TERM");
        assert_eq!(machine.calls(), format!("{set}{restored}"), "{resolver:?}\n{log}");
    }
}

/// A client that leaves root keeps no journal open that root trusts, with a helper or without.
#[test]
fn a_client_without_root_cannot_write_the_journal_of_name_servers() {
    for lines in ["", "route-nopull"] {
        let bed = TestBed::new();
        let machine = Machine::new(&bed, Resolver::File, lines);
        let _gate = bed.start(Who::Cycloid, true, &machine.settings);
        let alice = machine.start();
        let open = fs::read_dir(format!("/proc/{}/fd", alice.id())).expect("a directory");
        let open = open.flatten().filter_map(|it| fs::read_link(it.path()).ok());
        let open: Vec<_> =
            open.filter(|it| it.extension().is_some_and(|it| it == "journal")).collect();
        assert_eq!(open.len(), 1, "{lines}: {open:?}");
        assert!(!open[0].to_string_lossy().ends_with(".names.journal"), "{lines}: {open:?}");
    }
}

/// A hostile user gets nothing from the helper's command.
#[test]
fn the_helper_needs_a_client() {
    let output = Command::new(env!("CARGO_BIN_EXE_cycloid-vpn"))
        .arg("helper")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the program starts");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.starts_with("error: no client at standard input"), "{text}");
}
