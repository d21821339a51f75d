//! VLANs of single clients at a server with a TAP device: Cycloid and OpenVPN pass the same frames
//! with the same tags.

use std::io::IoSlice;
use std::process::Command;
use std::time::{Duration, Instant};

use cycloid_vpn::net::offload::VirtioHeader;
use cycloid_vpn::net::tun::{Configuration, Queue, Tun};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::service::script;
use crate::tap::{Machine, address_of, await_ping};
use crate::test_bed::{ALL, INNER, LIMIT, Settings, TestBed, Who, wait_for_file};

/// A type of frames that the kernel ignores (IEEE 802, local experiments).
const EXPERIMENT: [u8; 2] = [0x88, 0xb5];

/// How long a frame is waited for that must not come.
const QUIET: Duration = Duration::from_millis(300);

/// The hardware addresses of the frames.
const AT_CLIENT: [u8; 6] = [2, 0, 0, 0, 0, 0xc1];
const AT_SERVER: [u8; 6] = [2, 0, 0, 0, 0, 0x51];
const ALL_STATIONS: [u8; 6] = [0xff; 6];

/// A machine that is bridged with a tunnel's device, and sends and receives single frames.
struct Probe {
    queue: Queue,
}

impl Probe {
    /// Joins the tunnel's device at this side of the bed.
    fn new(bed: &TestBed, client: bool) -> Self {
        let queue = bed
            .within(client, || {
                let tap = Tun::open_ethernet("probe", 1).expect("a device");
                let configuration = Configuration { mtu: 1500, ..Configuration::default() };
                tap.configure(&configuration).expect("its settings");
                tap.into_queues().remove(0)
            })
            .join()
            .expect("no panic");
        for line in [
            "link add probes type bridge",
            "link set probe master probes",
            "link set tap0 master probes",
            "link set probes up",
            "link set tap0 up",
        ] {
            ip(bed.command(client), line);
        }
        Self { queue }
    }

    fn send(&self, frame: &[u8]) {
        let header = VirtioHeader::default().to_bytes();
        self.queue.write(&[IoSlice::new(&header), IoSlice::new(frame)]).expect("it is sent");
    }

    /// Returns the next frame with this text at its end.
    fn receive(&self, text: &[u8], wait: Duration) -> Option<Vec<u8>> {
        let end = Instant::now() + wait;
        let mut buffer = vec![0; 4096];
        loop {
            if let Ok(length) = self.queue.read(&mut buffer) {
                let frame = &buffer[VirtioHeader::LENGTH..length];
                if frame.ends_with(text) {
                    return Some(frame.to_vec());
                }
                continue;
            }
            let left = end.checked_duration_since(Instant::now())?;
            let left = Timespec::try_from(left).expect("a short time");
            let _ = poll(&mut [PollFd::new(&self.queue, PollFlags::IN)], Some(&left));
        }
    }
}

fn ip(mut command: Command, line: &str) {
    let output = command.arg("ip").args(line.split(' ')).output().expect("ip");
    assert!(output.status.success(), "ip {line}: {output:?}");
}

/// Returns a broadcast frame with these bytes as its tag. It is longer than a fragment.
fn frame(from: [u8; 6], tag: &[u8], text: &str) -> Vec<u8> {
    [&ALL_STATIONS[..], &from, tag, &EXPERIMENT, &[0; 600], text.as_bytes()].concat()
}

/// A tag that has only a priority, and that of VLAN 5 with and without one.
const PRIO: &[u8] = &[0x81, 0, 0x60, 0];
const FIVE: &[u8] = &[0x81, 0, 0, 5];
const FIVE_PRIO: &[u8] = &[0x81, 0, 0x60, 5];
const NATIVE: &[u8] = &[0x81, 0, 0, 1];
const SIX: &[u8] = &[0x81, 0, 0, 6];
const NONE: &[u8] = &[];

/// The settings of a server whose client is in a VLAN of its own, if any.
fn settings(bed: &TestBed, accept: &str, own: Option<u16>) -> Settings {
    let line = own.map_or(String::new(), |own| format!("echo vlan-pvid {own} >> \"$1\""));
    let connect = script(bed, "connect", &line);
    Settings {
        both: "dev tap0".into(),
        server: format!(
            "vlan-tagging\nvlan-accept {accept}\nscript-security 2\nclient-connect {connect}"
        ),
        ..Settings::default()
    }
}

/// Sends frames with these tags, and asserts with which tags they arrive, if they do.
fn pass(what: &str, from: &Probe, to: &Probe, source: [u8; 6], cases: &[(&[u8], Option<&[u8]>)]) {
    for (index, (given, expected)) in cases.iter().enumerate() {
        let text = format!("{what} {index}.");
        let sent = frame(source, given, &text);
        let wait = if expected.is_some() { LIMIT } else { QUIET };
        // A bridge loses frames until its ports forward.
        let end = Instant::now() + wait;
        let got = loop {
            from.send(&sent);
            let got = to.receive(text.as_bytes(), QUIET);
            if got.is_some() || Instant::now() >= end {
                break got;
            }
        };
        let expected = expected.map(|tag| frame(source, tag, &text));
        assert_eq!(got, expected, "{what}, sent with the tag {given:x?}");
    }
}

#[test]
fn frames_have_the_tag_of_their_vlan() {
    let bed = TestBed::new();
    for (server, client) in ALL {
        for (accept, own, up, down) in [
            (
                "all",
                Some(5),
                &[(NONE, Some(FIVE)), (PRIO, Some(FIVE_PRIO)), (FIVE, None), (NATIVE, None)][..],
                &[
                    (FIVE, Some(NONE)),
                    (FIVE_PRIO, Some(NONE)),
                    (NONE, None),
                    (PRIO, None),
                    (NATIVE, None),
                    (SIX, None),
                ][..],
            ),
            (
                "all",
                None,
                &[(NONE, Some(NONE)), (PRIO, Some(PRIO)), (FIVE, None), (NATIVE, None)],
                &[
                    (NONE, Some(NONE)),
                    (PRIO, Some(PRIO)),
                    (NATIVE, Some(NONE)),
                    (FIVE, None),
                    (SIX, None),
                ],
            ),
            (
                "tagged",
                Some(5),
                &[(NONE, Some(FIVE)), (PRIO, Some(FIVE_PRIO)), (FIVE, None)],
                &[(FIVE, Some(NONE)), (FIVE_PRIO, Some(NONE)), (NONE, None), (PRIO, None)],
            ),
            (
                "tagged",
                None,
                &[(NONE, Some(NATIVE)), (NATIVE, None)],
                &[(NATIVE, Some(NONE)), (NONE, None), (FIVE, None)],
            ),
            (
                "untagged",
                None,
                &[(NONE, Some(NONE)), (PRIO, Some(PRIO)), (FIVE, None)],
                &[(NONE, Some(NONE)), (PRIO, Some(PRIO)), (NATIVE, None), (FIVE, None)],
            ),
            ("untagged", Some(5), &[(NONE, None), (PRIO, None)], &[(NONE, None), (FIVE, None)]),
        ] {
            let mut settings = settings(&bed, accept, own);
            if (accept, own) == ("all", Some(5)) {
                settings.both += "\nfragment 400";
            }
            let gate = bed.start(server, true, &settings);
            let alice = bed.start(client, false, &settings);
            let probes = [true, false].map(|client| Probe::new(&bed, client));
            let what = format!("{server:?} {client:?} {accept} {own:?}");
            pass(&format!("{what} up"), &probes[0], &probes[1], AT_CLIENT, up);
            pass(&format!("{what} down"), &probes[1], &probes[0], AT_SERVER, down);
            drop(probes);
            for client in [true, false] {
                ip(bed.command(client), "link del probes");
            }
            alice.end("TERM");
            gate.end("TERM");
        }
    }
}

/// Clients meet others of the same VLAN only, and reach the server's own address only in the VLAN
/// of the device.
#[test]
fn clients_of_different_vlans_do_not_meet() {
    for server in [Who::Cycloid, Who::OpenVpn] {
        let bed = TestBed::new();
        let bob = Machine::new(&bed, "bob");
        let status = bed.file("status");
        let connect = |of_bob: &str| {
            let text = format!(
                "case $trusted_ip in 10.99.0.2) echo vlan-pvid 5 ;; *) echo {of_bob} ;; esac >> \
                 \"$1\""
            );
            script(&bed, "connect", &text)
        };
        let settings = Settings {
            both: "dev tap0".into(),
            server: format!(
                "duplicate-cn\nclient-to-client\nvlan-tagging\nscript-security 2\n\
                 client-connect {}\nstatus {} 1",
                connect("vlan-pvid 5"),
                status.display()
            ),
            ..Settings::default()
        };
        let gate = bed.start(server, true, &settings);
        let alice = bed.start(Who::OpenVpn, false, &settings);
        let other = bob.client(&bed, Who::OpenVpn, &settings);
        let to = address_of(&mut bob.command());
        await_ping(|| bed.command(true), &to, &[&gate, &alice, &other]);
        assert_eq!(bed.ping(INNER, 2, "0.2"), 0, "{server:?}: the server is in another VLAN");
        wait_for_file(&status, |text| text.contains("@5,alice,"));
        other.end("TERM");
        // The same client in another VLAN.
        connect("vlan-pvid 6");
        let other = bob.client(&bed, Who::OpenVpn, &settings);
        let to = address_of(&mut bob.command());
        assert_eq!(bed.ping(&to, 2, "0.2"), 0, "{server:?}: {}", gate.text());
        other.end("TERM");
        // And in the VLAN of the device.
        connect("vlan-pvid 1");
        let other = bob.client(&bed, Who::OpenVpn, &settings);
        let to = address_of(&mut bob.command());
        assert_eq!(bed.ping(&to, 2, "0.2"), 0, "{server:?}: {}", gate.text());
        await_ping(|| bob.command(), INNER, &[&gate, &other]);
    }
}

/// An address behind a client that stays silent is forgotten.
#[test]
fn a_silent_address_is_forgotten() {
    for server in [Who::Cycloid, Who::OpenVpn] {
        let bed = TestBed::new();
        let status = bed.file("status");
        let settings = Settings {
            both: "dev tap0".into(),
            server: format!("stale-routes-check 2 1\nstatus {} 1", status.display()),
            ..Settings::default()
        };
        let _gate = bed.start(server, true, &settings);
        let _alice = bed.start(Who::Cycloid, false, &settings);
        let probe = Probe::new(&bed, true);
        let line = "02:00:00:00:00:c1@0,alice,";
        for _ in 0..2 {
            // A bridge loses frames until its ports forward.
            wait_for_file(&status, |text| {
                probe.send(&frame(AT_CLIENT, NONE, "hello"));
                text.contains(line)
            });
            wait_for_file(&status, |text| text.contains("alice") && !text.contains(line));
        }
    }
}
