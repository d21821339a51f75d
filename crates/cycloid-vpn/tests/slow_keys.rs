//! Tests ends whose keys sign slowly or not at all: steps of handshakes run elsewhere, in simulated
//! time.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cycloid_vpn::proto::Role;
use cycloid_vpn::proto::client::{Client, ClientEnd, ClientNotice};
use cycloid_vpn::proto::server::ServerEnd;
use cycloid_vpn::proto::tls::{Elsewhere, External, TlsFactory, TlsSettings};
use cycloid_vpn::proto::wrap::ProtectionKey;
use rustls::sign::{Signer, SigningKey};
use rustls::{SignatureAlgorithm, SignatureScheme};
use support::authority::Authority;
use support::network::Weather;
use support::simulation::{World, client_settings, now, server_settings};

type Step = Box<dyn FnOnce() + Send>;

/// Holds the steps back until the test runs them.
#[derive(Default)]
struct Held(Mutex<Vec<Step>>);

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

impl Elsewhere for Held {
    fn run(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }
}

impl Held {
    fn take(&self) -> Vec<Step> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Returns a world in which the key of one end is slow.
fn world(seed: u64, slow: Role) -> (World, Arc<Held>) {
    let held = Arc::new(Held::default());
    let elsewhere = Arc::clone(&held) as Arc<dyn Elsewhere>;
    (world_with(seed, slow, Some(elsewhere), false, |key| key), held)
}

/// Returns a world in which the key of one end is external.
fn world_with(
    seed: u64,
    external: Role,
    elsewhere: Option<Arc<dyn Elsewhere>>,
    only_tls12: bool,
    change: impl Fn(Arc<dyn SigningKey>) -> Arc<dyn SigningKey>,
) -> World {
    let authority = Authority::new("authority");
    let tls = |role, name, serial| {
        let own = authority.issue(name, role, serial);
        let mut settings =
            TlsSettings { peer: authority.rules(), only_tls12, ..TlsSettings::default() };
        if role == external {
            settings.external = Some(External {
                chain: own.chain.clone(),
                key: change(cycloid_rustls::any_supported_key(&own.key).unwrap()),
                elsewhere: elsewhere.clone(),
            });
        } else {
            settings.credentials = Some(own);
        }
        TlsFactory::new(role, &settings).unwrap()
    };
    World::new(
        seed,
        Weather::FAIR,
        client_settings(ProtectionKey::Plain, tls(Role::Client, "client", 2)),
        server_settings(ProtectionKey::Plain, tls(Role::Server, "server", 3)),
    )
}

const ENDS: [Role; 2] = [Role::Server, Role::Client];

/// Runs the steps that are held back, and continues their handshakes.
fn release(world: &mut World, held: &Held) {
    held.take().into_iter().for_each(|step| step());
    proceed(world);
}

/// Wakes both ends.
fn proceed(world: &mut World) {
    let World { client, client_side, server, server_side, time, .. } = world;
    server.proceed(now(*time), server_side);
    let mut notices = Vec::new();
    client.proceed(now(*time), client_side, &mut |notice| notices.push(notice));
    notices.into_iter().for_each(|notice| client_side.take(notice));
    world.decide();
}

/// Runs until the condition holds, and releases each step after this delay.
fn run(world: &mut World, held: &Held, delay: Duration, done: impl Fn(&World) -> bool) -> bool {
    for _ in 0..40 {
        if world.run_until(Duration::from_secs(20), |world| done(world) || held.len() > 0)
            && done(world)
        {
            return true;
        }
        world.run_until(delay, |_| false);
        release(world, held);
    }
    false
}

fn is_up(world: &World) -> bool {
    world.client_side.connected.is_some() && !world.server_side.connected.is_empty()
}

#[test]
fn a_handshake_continues_once_its_step_has_ended() {
    let delays = [(1, 0), (2, 3), (3, 12)];
    for (slow, (seed, delay)) in ENDS.into_iter().flat_map(|end| delays.map(|it| (end, it))) {
        let (mut world, held) = world(seed, slow);
        // Without the step there is no answer, and also no end.
        assert!(!world.run_until(Duration::from_secs(10), is_up));
        assert_eq!(held.len(), 1);
        // A wake-up before the step has ended changes nothing.
        proceed(&mut world);
        assert!(!world.run_until(Duration::from_secs(1), is_up));
        assert!(run(&mut world, &held, Duration::from_secs(delay), is_up), "{slow:?}, {delay}");
        let peer = world.peer();
        world.client_sends(&[0x45; 100]);
        world.server_sends(peer, &[0x46; 100]);
        assert!(world.run_until(Duration::from_secs(5), |world| {
            world.client_side.path.inbox.len() == 1
                && world.server_side.paths[&peer].inbox.len() == 1
        }));
    }
}

/// The other clients are served meanwhile.
#[test]
fn steps_of_several_clients_are_independent() {
    let (mut first, held) = world(4, Role::Server);
    assert!(!first.run_until(Duration::from_secs(2), is_up));
    let stuck = held.take();
    assert_eq!(stuck.len(), 1);
    // Another client comes from another port; the first one's step never ends.
    let authority = Authority::new("other");
    let other = authority.tls(Role::Client, authority.issue("client", Role::Client, 9));
    first.reconnect(client_settings(ProtectionKey::Plain, other));
    assert!(run(&mut first, &held, Duration::ZERO, |world| world.client_side.end.is_some()));
    drop(stuck);
    first.server.proceed(now(first.time), &mut first.server_side);
    let ended = first.server_side.ended.iter().filter(|(_, end)| {
        matches!(end, ServerEnd::Failed(error) if error.to_string().contains("no thread signs"))
    });
    assert_eq!(ended.count(), 1);
}

#[test]
fn a_renegotiation_keeps_the_old_key_until_its_step_has_ended() {
    for (seed, slow) in [(5, Role::Server), (7, Role::Client)] {
        let (mut world, held) = world(seed, slow);
        assert!(run(&mut world, &held, Duration::ZERO, is_up));
        let peer = world.peer();
        let World { dice, server, server_side, time, .. } = &mut world;
        server.renegotiate(now(*time), peer, &mut |bytes: &mut [u8]| dice.fill(bytes), server_side);
        assert!(world.run_until(Duration::from_secs(10), |_| held.len() == 1));
        world.client_sends(&[0x45; 100]);
        world.run_until(Duration::from_secs(3), |_| false);
        assert_eq!(world.server_side.paths[&peer].inbox.len(), 1);
        assert_eq!(world.server_side.renegotiated, 0);
        assert!(run(&mut world, &held, Duration::from_secs(2), |world| {
            world.server_side.renegotiated == 1 && world.client_side.renegotiated == 1
        }));
    }
}

#[test]
fn a_client_that_leaves_meanwhile_ends_in_time() {
    let (mut world, held) = world(6, Role::Server);
    assert!(world.run_until(Duration::from_secs(10), |_| held.len() == 1));
    // It is silent from now on.
    world.client = {
        let authority = Authority::new("nobody");
        let tls = authority.tls(Role::Client, authority.issue("client", Role::Client, 9));
        let settings = client_settings(ProtectionKey::Plain, tls);
        let World { dice, time, .. } = &mut world;
        Client::new(now(*time), Arc::new(settings), &mut |bytes: &mut [u8]| dice.fill(bytes))
            .unwrap()
    };
    world.client_address.set_port(1);
    assert!(
        world.run_until(Duration::from_secs(90), |world| { !world.server_side.ended.is_empty() })
    );
    let steps = held.take();
    steps.into_iter().for_each(|step| step());
    world.server.proceed(now(world.time), &mut world.server_side);
}

/// A client whose step is lost ends with the reason, and one that stops meanwhile stays stopped.
#[test]
fn a_client_without_its_signature_ends() {
    let (mut lost, held) = world(8, Role::Client);
    assert!(lost.run_until(Duration::from_secs(10), |_| held.len() == 1));
    drop(held.take());
    proceed(&mut lost);
    let end = match &lost.client_side.end {
        Some(ClientEnd::Failed(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(end.contains("no thread signs"), "{end}");

    let (mut stopped, held) = world(9, Role::Client);
    assert!(stopped.run_until(Duration::from_secs(10), |_| held.len() == 1));
    let World { client, client_side, time, .. } = &mut stopped;
    let mut notices = Vec::new();
    client.stop(now(*time), client_side, &mut |notice| notices.push(notice));
    notices.into_iter().for_each(|notice| client_side.take(notice));
    let sent = stopped.client_side.outbox.len();
    release(&mut stopped, &held);
    assert!(matches!(stopped.client_side.end, Some(ClientEnd::Stopped)));
    assert_eq!(stopped.client_side.outbox.len(), sent, "it sends nothing more");
    assert!(stopped.client_side.connected.is_none());
}

/// Until a step ends, a client neither counts its server as gone nor sends its handshake on, but it
/// gives up in time.
#[test]
fn a_client_whose_step_never_ends_gives_up_in_time() {
    let (mut world, held) = world(10, Role::Client);
    assert!(world.run_until(Duration::from_secs(10), |_| held.len() == 1));
    assert!(!world.run_until(Duration::from_secs(30), |world| world.client_side.end.is_some()));
    assert!(world.run_until(Duration::from_secs(60), |world| world.client_side.end.is_some()));
    release(&mut world, &held);
    assert!(world.client_side.connected.is_none());
}

/// A key in a token that may be gone.
#[derive(Debug)]
struct Removable {
    key: Arc<dyn SigningKey>,
    is_gone: Arc<AtomicBool>,
}

impl SigningKey for Removable {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let signer = self.key.choose_scheme(offered)?;
        Some(Box::new(MaySign { signer, is_gone: Arc::clone(&self.is_gone) }))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
    }
}

#[derive(Debug)]
struct MaySign {
    signer: Box<dyn Signer>,
    is_gone: Arc<AtomicBool>,
}

impl Signer for MaySign {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        if self.is_gone.load(Ordering::Relaxed) {
            let why = std::io::Error::other("the token is gone");
            return Err(rustls::Error::Other(rustls::OtherError(Arc::new(why))));
        }
        self.signer.sign(message)
    }

    fn scheme(&self) -> SignatureScheme {
        self.signer.scheme()
    }
}

/// A world in which the token of one end may be gone.
fn removable(seed: u64, end: Role, only_tls12: bool) -> (World, Arc<AtomicBool>) {
    let is_gone = Arc::new(AtomicBool::new(false));
    let world = world_with(seed, end, None, only_tls12, |key| {
        Arc::new(Removable { key, is_gone: Arc::clone(&is_gone) })
    });
    (world, is_gone)
}

/// Starts a renegotiation.
fn renegotiate(world: &mut World, by: Role) {
    let peer = world.peer();
    let World { dice, client, client_side, server, server_side, time, .. } = world;
    let random = &mut |bytes: &mut [u8]| dice.fill(bytes);
    match by {
        Role::Client => client.renegotiate(now(*time), random, client_side).unwrap(),
        Role::Server => server.renegotiate(now(*time), peer, random, server_side),
    }
}

/// Returns the reasons of renegotiations that have failed at an end.
fn failures(world: &World, end: Role) -> Vec<String> {
    match end {
        Role::Server => world.server_side.failures.iter().map(ToString::to_string).collect(),
        Role::Client => {
            let of = |notice: &ClientNotice| match notice {
                ClientNotice::RenegotiationFailed(error) => Some(error.to_string()),
                _ => None,
            };
            world.client_side.other.iter().filter_map(of).collect()
        }
    }
}

fn assert_stands(world: &mut World) {
    let peer = world.peer();
    let count = |world: &World| {
        (world.client_side.path.inbox.len(), world.server_side.paths[&peer].inbox.len())
    };
    let (at_client, at_server) = count(world);
    world.client_sends(&[0x45; 100]);
    world.server_sends(peer, &[0x46; 100]);
    assert!(world.run_until(Duration::from_secs(1), |world| {
        count(world) == (at_client + 1, at_server + 1)
    }));
}

/// The other end learns of it at once, keeps the old key, and takes part in the next attempt.
#[test]
fn a_token_that_is_gone_ends_a_renegotiation_at_both_ends_at_once() {
    for (end, by, only_tls12) in ENDS
        .into_iter()
        .flat_map(|end| ENDS.map(|by| (end, by)))
        .flat_map(|(end, by)| [(end, by, false), (end, by, true)])
    {
        let what = format!("the token of {end:?}, renegotiation by {by:?}, TLS 1.2: {only_tls12}");
        let (mut world, is_gone) = removable(11, end, only_tls12);
        assert!(world.connect(), "{what}");
        is_gone.store(true, Ordering::Relaxed);
        renegotiate(&mut world, by);
        let both = |world: &World| ENDS.iter().all(|end| failures(world, *end).len() == 1);
        assert!(world.run_until(Duration::from_secs(2), both), "{what}");
        assert!(failures(&world, end)[0].contains("the token is gone"), "{what}");
        assert_stands(&mut world);
        // Nothing is left to be sent, and no attempt follows at once.
        assert!(!world.run_until(Duration::from_secs(10), |world| !both(world)), "{what}");
        is_gone.store(false, Ordering::Relaxed);
        renegotiate(&mut world, by);
        let renewed = |world: &World| {
            (world.client_side.renegotiated, world.server_side.renegotiated) == (1, 1)
        };
        assert!(world.run_until(Duration::from_secs(5), renewed), "{what}");
        assert_stands(&mut world);
    }
}

/// The packet that tells the other end is lost at first.
#[test]
fn the_end_of_a_renegotiation_is_told_until_it_arrives() {
    for (end, by) in ENDS.into_iter().flat_map(|end| ENDS.map(|by| (end, by))) {
        let (mut world, is_gone) = removable(12, end, false);
        assert!(world.connect());
        is_gone.store(true, Ordering::Relaxed);
        renegotiate(&mut world, by);
        let failed = |end| move |world: &World| !failures(world, end).is_empty();
        assert!(world.run_until(Duration::from_secs(2), failed(end)));
        world.network.lose_flight();
        let other = if end == Role::Client { Role::Server } else { Role::Client };
        assert!(failures(&world, other).is_empty());
        assert!(world.run_until(Duration::from_secs(5), failed(other)), "{end:?} {by:?}");
        assert_stands(&mut world);
    }
}

/// In the first handshake, no end waits for the other one either.
#[test]
fn a_token_that_is_gone_ends_a_connection_at_both_ends_at_once() {
    for (end, only_tls12) in ENDS.into_iter().flat_map(|end| [(end, false), (end, true)]) {
        let (mut world, is_gone) = removable(13, end, only_tls12);
        is_gone.store(true, Ordering::Relaxed);
        let ended =
            |world: &World| world.client_side.end.is_some() && !world.server_side.ended.is_empty();
        assert!(world.run_until(Duration::from_secs(2), ended), "{end:?} {only_tls12}");
        let at_client = format!("{:?}", world.client_side.end);
        let at_server = format!("{:?}", world.server_side.ended);
        let own = if end == Role::Client { &at_client } else { &at_server };
        assert!(own.contains("the token is gone"), "{at_client} {at_server}");
    }
}
