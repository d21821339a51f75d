//! Options that a server pushes: filters of the client, and timers that end the program.

use std::time::Duration;

use cycloid_vpn::proto::client::{ClientEnd, ClientNotice};
use cycloid_vpn::proto::push::{Filter, PushReply, PushUpdate, Verdict};
use cycloid_vpn::proto::server::ServerEnd;
use cycloid_vpn::proto::wrap::ProtectionKey;

use crate::pair;
use crate::support::authority::Authority;
use crate::support::network::{Network, Weather};
use crate::support::simulation::{World, client_settings, now, server_settings};

/// Returns a connection whose server pushes these options, before it is up.
fn world_with_options(options: &'static [&str], filter: Filter) -> World {
    let authority = Authority::new("authority");
    let (client_tls, server_tls) = pair(&authority);
    let mut client = client_settings(ProtectionKey::Plain, client_tls);
    client.filter = filter;
    let server = server_settings(ProtectionKey::Plain, server_tls);
    let mut world = World::new(13, Weather::FAIR, client, server);
    world.judge = Box::new(|_| {
        let mut reply = PushReply::default();
        options.iter().for_each(|option| reply.add(option).expect("an option"));
        Ok(reply)
    });
    world
}

/// Timers that make the program exit are told apart from those that make it connect again.
#[test]
fn some_timers_end_the_program() {
    for (options, expected) in [
        (&["session-timeout 30"][..], Some("session-timeout")),
        (&["inactive 30"], Some("inactive")),
        (&["ping 10", "ping-exit 30"], Some("ping-exit")),
        (&["ping 10", "ping-restart 30"], None),
    ] {
        let mut world = world_with_options(options, Filter::default());
        assert!(world.connect());
        if options.len() == 2 {
            world.network = Network::new(Weather { loss: 1000, ..Weather::FAIR });
        }
        world.run_until(Duration::from_secs(25), |_| false);
        assert_eq!(world.client_side.end, None, "{options:?}");
        world.run_until(Duration::from_secs(25), |_| false);
        match (&world.client_side.end, expected) {
            (Some(ClientEnd::Expired(directive)), Some(expected)) => {
                assert_eq!(*directive, expected);
            }
            (Some(ClientEnd::Failed(_)), None) => {}
            (end, _) => panic!("{options:?}: {end:?}"),
        }
        // The server learns the end of a session, unless nothing arrives.
        let told = matches!(world.server_side.ended[..], [(_, ServerEnd::Exit)]);
        assert_eq!(told, expected == Some("session-timeout"), "{:?}", world.server_side.ended);
    }
}

#[test]
fn every_pushed_option_can_be_ignored() {
    const OPTIONS: &[&str] = &[
        "ifconfig 10.8.0.2 255.255.255.0",
        "ifconfig-ipv6 fd00::2/64 fd00::1",
        "ping 7",
        "ping-restart 70",
        "inactive 77",
        "session-timeout 777",
        "explicit-exit-notify 1",
        "tun-mtu 1400",
        "auth-token-user QWxpY2U=",
        "auth-token secret",
        "compress",
        "route 10.0.0.0 255.0.0.0",
    ];
    for option in OPTIONS {
        let filter =
            Filter::new(
                move |pushed| {
                    if pushed.starts_with(option) { Verdict::Ignore } else { Verdict::Accept }
                },
            );
        let mut world = world_with_options(OPTIONS, filter);
        assert!(world.connect(), "{option}");
        let tells_token = |it: &ClientNotice| matches!(it, ClientNotice::Token(..));
        let told = world.client_side.other.iter().any(tells_token);
        assert_eq!(told, *option != "auth-token secret", "{option}");
        let connected = world.client_side.connected.as_ref().expect("connected");
        let all = connected.reply.to_texts().iter().map(|it| it.to_string()).collect::<String>();
        for other in OPTIONS {
            let stays = other != option;
            assert_eq!(all.contains(&format!(",{other}")), stays, "{option}: {other} in {all}");
        }
    }
}

#[test]
fn a_rejected_option_sends_the_client_to_another_server() {
    const OPTIONS: &[&str] = &["ifconfig 10.8.0.2 255.255.255.0", "ping 7"];
    let filter = |prefix: &'static str| {
        Filter::new(move |option| match option.starts_with(prefix) {
            true => Verdict::Reject,
            false => Verdict::Accept,
        })
    };
    let assert_rejects = |world: &World, name: &str| match &world.client_side.end {
        Some(ClientEnd::Restart { reason, same_address: false }) => {
            assert_eq!(*reason, format!("pull-filter rejects the pushed option {name}"));
        }
        end => panic!("{end:?}"),
    };
    let mut world = world_with_options(OPTIONS, filter("ifconfig 10.8"));
    assert!(!world.connect());
    assert_rejects(&world, "ifconfig");

    // The same for an update, which removes options whatever the filter says.
    let mut world = world_with_options(OPTIONS, filter("tun-mtu"));
    assert!(world.connect());
    for (update, is_up) in [("ping 9, -tun-mtu", true), ("?tun-mtu 1400", false)] {
        let (update, peer) = (PushUpdate::parse(update).expect("an update"), world.peer());
        assert!(world.server.update(now(world.time), peer, &update, &mut world.server_side));
        world.run_until(Duration::from_secs(5), |_| false);
        assert_eq!(world.client_side.end.is_none(), is_up);
    }
    assert_rejects(&world, "tun-mtu");
    let updated = world.client_side.other.iter().find_map(|notice| match notice {
        ClientNotice::Updated(reply) => Some(reply.ping),
        _ => None,
    });
    assert_eq!(updated, Some(Some(9)));
}
