use proptest::prelude::*;

use super::*;

fn v4(text: &str) -> Ipv4Addr {
    text.parse().unwrap()
}

fn server(topology: Topology) -> Pool {
    let ipv4 = Some((v4("10.8.0.0"), v4("255.255.255.0")));
    Pool::new(Settings::server(topology, ipv4, Some(("fd77::".parse().unwrap(), 64))))
}

#[test]
fn the_first_and_the_last_address() {
    for (topology, count, first, last) in [
        (Topology::Subnet, 252, ["10.8.0.2", "255.255.255.0"], ["10.8.0.253", "255.255.255.0"]),
        (Topology::Net30, 62, ["10.8.0.6", "10.8.0.5"], ["10.8.0.250", "10.8.0.249"]),
        (Topology::PointToPoint, 248, ["10.8.0.4", "10.8.0.1"], ["10.8.0.251", "10.8.0.1"]),
    ] {
        let mut pool = server(topology);
        assert_eq!(pool.free(), count);
        let leases: Vec<_> = std::iter::from_fn(|| pool.acquire(None)).collect();
        assert_eq!(leases.len(), count);
        assert_eq!(leases[0].ipv4, Some((v4(first[0]), v4(first[1]))));
        assert_eq!(leases[count - 1].ipv4, Some((v4(last[0]), v4(last[1]))));
        assert_eq!(leases[0].ipv6, Some(("fd77::1000".parse().unwrap(), 64)));
        assert_eq!(leases[1].ipv6, Some(("fd77::1001".parse().unwrap(), 64)));
    }
}

#[test]
fn small_and_empty_networks() {
    let pool = |netmask: &str, ipv6: Option<(Ipv6Addr, u8)>| {
        let ipv4 = Some((v4("10.8.0.0"), v4(netmask)));
        Pool::new(Settings::server(Topology::Subnet, ipv4, ipv6)).free()
    };
    assert_eq!(pool("255.255.255.248", None), 4);
    assert_eq!(pool("255.255.255.252", None), 0);
    assert_eq!(pool("255.255.255.255", None), 0);
    assert_eq!(pool("0.0.0.0", None), 65_536);
    assert_eq!(pool("255.255.255.0", Some(("fd77::".parse().unwrap(), 126))), 2);
    assert_eq!(pool("255.255.255.0", Some(("fd77::".parse().unwrap(), 128))), 1);
    let only_ipv6 = Settings::server(Topology::Subnet, None, Some(("fd77::".parse().unwrap(), 64)));
    assert_eq!(Pool::new(only_ipv6).free(), 65_536);
    assert_eq!(Pool::new(Settings::server(Topology::Subnet, None, None)).acquire(None), None);
}

#[test]
fn the_file_restores_addresses() {
    let mut pool = server(Topology::Subnet);
    let alice = pool.acquire(Some("alice")).unwrap();
    let bob = pool.acquire(Some("bob")).unwrap();
    pool.acquire(None).unwrap();
    assert_eq!(pool.write(), "alice,10.8.0.2,fd77::1000\nbob,10.8.0.3,fd77::1001\n");
    let mut next = server(Topology::Subnet);
    assert!(next.read(&pool.write()).is_empty());
    assert_ne!(next.acquire(Some("carol")).unwrap(), alice);
    assert_eq!(next.acquire(Some("bob")).unwrap(), bob);
    assert_eq!(next.acquire(Some("alice")).unwrap(), alice);

    let mut net30 = server(Topology::Net30);
    net30.acquire(Some("alice")).unwrap();
    assert_eq!(net30.write(), "alice,10.8.0.4,fd77::1000\n");
    let foreign =
        "x,10.9.0.1,\n\n# y\nz\n,10.8.0.9\nalice,10.8.0.8\nbob,10.8.0.8,\nv6,,fd77::1005\r\n";
    assert_eq!(server(Topology::Net30).read(foreign), [1, 4, 5, 7]);
}

#[test]
fn the_file_gives_no_client_another_ones_address() {
    let mut pool = server(Topology::Subnet);
    for name in ["alice,10.8.0.9", "x\nalice,10.8.0.9", " alice", "alice\r", "#alice", ";alice"] {
        pool.acquire(Some(name)).unwrap();
    }
    assert_eq!(pool.write(), "");
    let jose = pool.acquire(Some("José Doe")).unwrap();
    let mut next = server(Topology::Subnet);
    assert!(next.read(&pool.write()).is_empty());
    assert_eq!(next.acquire(Some("José Doe")), Some(jose));
}

#[test]
fn reserved_addresses_are_not_assigned() {
    let mut pool = server(Topology::Subnet);
    let first: IpAddr = "10.8.0.2".parse().unwrap();
    let held = pool.hold(first).unwrap().expect("the pool contains it");
    assert_eq!(held.ipv6, Some(("fd77::1000".parse().unwrap(), 64)));
    assert_eq!(pool.hold(first), Err(Taken(first)));
    assert_eq!(pool.hold("10.99.0.1".parse().unwrap()), Ok(None));
    let lease = pool.acquire(Some("alice")).unwrap();
    assert_eq!(lease.ipv4.unwrap().0, v4("10.8.0.3"));
    assert!(pool.hold("fd77::1001".parse().unwrap()).is_err(), "the slot is alice's");
    let free = pool.free();
    pool.release(&held);
    pool.release(&held);
    assert_eq!(pool.free(), free + 1);
    assert_eq!(pool.hold(first), Ok(Some(held)));
}

/// A slow model of the pool, by linear search.
#[derive(Default)]
struct Model {
    taken: Vec<(u32, Option<String>)>,
    last: HashMap<String, u32>,
}

#[derive(Clone, Debug)]
enum Step {
    Come(Option<u8>),
    Go(u8),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => proptest::option::weighted(0.9, 0u8..8).prop_map(Step::Come),
        4 => any::<u8>().prop_map(Step::Go),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #[test]
    fn addresses_are_unique_and_returning_clients_keep_theirs(
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        let ipv4 = Some((v4("10.8.0.0"), v4("255.255.255.240")));
        let settings = Settings::server(Topology::Subnet, ipv4, None);
        let mut pool = Pool::new(settings.clone());
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Come(who) => {
                    let name = who.map(|who| format!("client-{who}"));
                    let Some(lease) = pool.acquire(name.as_deref()) else {
                        prop_assert_eq!(model.taken.len(), 12);
                        continue;
                    };
                    prop_assert!(model.taken.iter().all(|(slot, _)| *slot != lease.slot));
                    if let Some(name) = &name {
                        let own = model.last.get(name).copied();
                        let here = own.is_some_and(|own| model.taken.iter().any(|(s, _)| *s == own));
                        if let Some(own) = own.filter(|_| !here) {
                            prop_assert_eq!(lease.slot, own);
                        }
                    }
                    let keeps = name.clone().filter(|name| !model.last.contains_key(name) || model.last[name] == lease.slot);
                    model.last.retain(|_, slot| *slot != lease.slot);
                    if let Some(name) = keeps {
                        model.last.insert(name, lease.slot);
                    }
                    model.taken.push((lease.slot, name));
                }
                Step::Go(which) if !model.taken.is_empty() => {
                    let (slot, _) = model.taken.swap_remove(which as usize % model.taken.len());
                    pool.release(&settings.lease(slot as usize));
                }
                Step::Go(_) => {}
                Step::Restart => {
                    let text = pool.write();
                    pool = Pool::new(settings.clone());
                    prop_assert_eq!(pool.read(&text), Vec::<usize>::new());
                    model.taken.clear();
                }
            }
            prop_assert_eq!(pool.free() + model.taken.len(), 12);
        }
    }
}
