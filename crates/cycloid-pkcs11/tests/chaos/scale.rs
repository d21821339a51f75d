//! How much more three daemons do than one.
//!
//! Each daemon gets the same share of processor time, by a control group of its own, small enough
//! that three shares and the clients fit on two processors. Within it, a daemon comes before other
//! programs. So the share stands for a machine of its own, and RSA-4096 signatures make its
//! processor time what limits. One daemon and three take turns with the same clients. This needs
//! root, and a controller for processor time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, AttributeType, ObjectClass};
use cycloid::scheme::Hash;
use cycloid::scheme::rsa::{OwnedPublicKey, SignatureScheme};
use cycloid_hsm::attribute::{Template, cka};
use cycloid_hsm::mechanism::{Parameter, ckm};
use cycloid_hsm::rpc::{self, Request};

use super::client::{self, Client};
use super::process::now;
use super::rates::{DELAY, SLOT};
use super::{Chaos, DAEMONS, Daemon, keeper};

/// The label of the key.
const KEY: &str = "scale";

/// The share of a processor that each daemon gets, in per cent.
const SHARE: u64 = 20;

/// The period of the shares in microseconds.
const PERIOD: u64 = 20_000;

/// The number of client processes.
const PROCESSES: usize = 12;

const ROUNDS: usize = 5;

/// The slots before a measurement, and those of one.
const WARM_UP: u64 = 10;
const MEASURED: u64 = 40;

/// The least ratio of the rates.
const TARGET: f64 = 2.5;

/// Signs with the RSA key of this label, and verifies, until the process ends.
pub(crate) fn sign(client: &mut Client<'_>, label: &str) {
    let session = loop {
        match client.open() {
            Ok(session) => break session,
            // Other programs log in at the same time.
            Err(_) => std::thread::sleep(client::PAUSE),
        }
    };
    let find = |class| {
        let template = [Attribute::Label(label.into()), Attribute::Class(class)];
        session.find_objects(&template).unwrap()[0]
    };
    let numbers = [AttributeType::Modulus, AttributeType::PublicExponent];
    let values = session.get_attributes(find(ObjectClass::PUBLIC_KEY), &numbers).unwrap();
    let [Attribute::Modulus(modulus), Attribute::PublicExponent(exponent)] = values.as_slice()
    else {
        panic!("{values:?}")
    };
    let public = OwnedPublicKey::from_components(modulus, exponent).unwrap();
    let (private, mut signed) = (find(ObjectClass::PRIVATE_KEY), 0u64);
    while !client.program.done.load(Ordering::SeqCst) {
        signed += 1;
        let message = format!("{} {signed}", client.name);
        let signature = session.sign(&Mechanism::Sha256RsaPkcs, private, message.as_bytes());
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        public.verify(scheme, message.as_bytes(), &signature.unwrap()).unwrap();
        client.program.count();
    }
}

/// A control group with a share of processor time. It ends on drop, after its processes.
struct Share(PathBuf);

impl Share {
    /// Makes a group for a process.
    fn new(name: &str, process: u32) -> Self {
        let first = PathBuf::from("/sys/fs/cgroup");
        let (quota, both) = (SHARE * PERIOD / 100, "cgroup.controllers");
        let group = match first.join(both).exists() {
            true => Self(first.join(name)),
            false => Self(first.join("cpu").join(name)),
        };
        let must = |done: std::io::Result<()>| {
            done.unwrap_or_else(|error| {
                panic!("no share of time, at {}: {error}", group.0.display())
            });
        };
        must(fs::create_dir(&group.0));
        let set = |file: &str, value: String| must(fs::write(group.0.join(file), value));
        if first.join(both).exists() {
            set("cpu.max", format!("{quota} {PERIOD}"));
            set("cpu.weight", "10000".into());
        } else {
            set("cpu.cfs_period_us", PERIOD.to_string());
            set("cpu.cfs_quota_us", quota.to_string());
            set("cpu.shares", "100000".into());
        }
        set("cgroup.procs", process.to_string());
        group
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// Returns the processor time of a process in clock ticks (proc_pid_stat(5)).
fn ticks(process: u32) -> u64 {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"));
    let stat = stat.unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Measures the rate with clients at this number of daemons: signatures a second.
fn rate(chaos: &mut Chaos, daemons: usize) -> (f64, Vec<u64>) {
    chaos.start_clients(PROCESSES, daemons, &format!(" {KEY}"));
    let begun = now() / SLOT;
    chaos.until("clients sign", |chaos| {
        let slot = now() / SLOT - DELAY;
        slot > begun + WARM_UP && chaos.world.rates.mean(slot - WARM_UP, slot) > 1.0
    });
    let processes: Vec<u32> = chaos.daemons.iter().filter_map(Daemon::process).collect();
    let all = || processes.iter().map(|process| ticks(*process)).collect::<Vec<_>>();
    let (from, before) = (now() / SLOT + 1, all());
    chaos.until("signatures are counted", |_| now() / SLOT >= from + MEASURED);
    let used = all().iter().zip(before).map(|(after, before)| after - before).collect();
    for client in std::mem::take(&mut chaos.clients) {
        client.end().iter().for_each(|line| drop(chaos.world.hear(line)));
    }
    (chaos.world.rates.mean(from, from + MEASURED) * 1e9 / SLOT as f64, used)
}

#[test]
#[ignore = "needs root, control groups and a machine at rest"]
fn three_daemons_do_almost_three_times_as_much_as_one() {
    let directory = tempfile::tempdir().unwrap();
    let (_, keeper) = channel();
    let mut chaos = Chaos::start(1, 1, directory.path(), keeper);
    generate(&keeper::connect(&chaos.daemons[0].socket).unwrap());
    let share = |(number, daemon): (usize, &Daemon)| {
        let name = format!("cycloid-chaos-{}-{number}", std::process::id());
        Share::new(&name, daemon.process().unwrap())
    };
    let shares: Vec<Share> = chaos.daemons.iter().enumerate().map(share).collect();
    let mut ratios = Vec::new();
    eprintln!("RSA-4096, {DAEMONS} daemons with {SHARE} % of a processor each");
    eprintln!("one daemon/s   three/s   ratio   processor time of each, in ticks");
    for _ in 0..ROUNDS {
        let (one, used) = rate(&mut chaos, 1);
        let (three, used_by_three) = rate(&mut chaos, DAEMONS);
        ratios.push(three / one);
        eprintln!("{one:>12.1} {three:>9.1} {:>7.2}   {used:?}, {used_by_three:?}", three / one);
    }
    chaos.daemons.iter_mut().for_each(Daemon::kill);
    // The groups are empty once the kernel has reaped the daemons.
    std::thread::sleep(Duration::from_millis(100));
    drop(shares);
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ROUNDS / 2];
    eprintln!("median ratio {median:.2}");
    assert!(median >= TARGET, "{median} is less than {TARGET}");
}

fn generate(client: &rpc::Client) {
    let mut private = Template::new();
    private.set_bool(cka::TOKEN, true);
    private.set(cka::LABEL, KEY);
    let mut public = private.clone();
    public.set_number(cka::MODULUS_BITS, 4096);
    let mechanism =
        rpc::Mechanism { number: ckm::RSA_PKCS_KEY_PAIR_GEN, parameter: Parameter::None };
    client.call(&Request::GeneratePair { mechanism, public, private }).unwrap();
}
