use cycloid_lab::measure::stack;
use cycloid_lab::peers::Peer;
use cycloid_lab::record::Table;
use cycloid_lab::suite::subjects;

use super::*;

fn measure(engine: Engine, peers: &[Found], left_out: Option<&Failure>) -> Table {
    let (setting, subjects) = engine.prepare(Duration::from_millis(1), peers, left_out).unwrap();
    subjects::measure(setting, subjects, &mut |_| {}).unwrap()
}

#[test]
fn the_engine_is_compared_with_the_bare_cipher_and_allocates_nothing() {
    let peers = [Peer::AwsLc.find()];
    let vpn = Vpn::new(vec![Part::Engine]);
    assert!(vpn.left_out().is_none());
    for engine in vpn.engines(Effort::Full) {
        let table = stack::on_measuring_thread(|| {
            let peers = [Peer::AwsLc.find()];
            measure(engine, &peers, None)
        });
        assert_eq!(table.records[0].memory.allocations.unwrap_or(0), 0, "{}", table.title());
        let alone = peers[0].outcome.is_ok() && engine.cipher.is_aead();
        assert_eq!(table.records.len(), 1 + usize::from(alone), "{}", table.title());
        assert!(table.records.iter().all(|record| record.operations_per_call > 40));
    }
}

#[test]
fn the_reason_for_omitting_tunnels_is_noted() {
    let failure = Failure::new("no iperf3", "apt install iperf3");
    let vpn = Vpn::new(vec![Part::Engine]);
    let engine = vpn.engines(Effort::Quick)[0];
    let table = measure(engine, &[], Some(&failure));
    assert!(table.notes.iter().any(|note| note.ends_with("no iperf3; apt install iperf3")));
}

#[test]
fn more_effort_adds_tables() {
    use cycloid_lab::suite::Effort::{Full, Plain, Quick};
    let vpn = Vpn { left_out: None, ..Vpn::new(vec![]) };
    let vpn = Vpn { parts: Part::ALL.into(), ..vpn };
    let titles =
        |effort| vpn.plan(effort, &[]).into_iter().map(|plan| plan.title).collect::<Vec<_>>();
    assert!(titles(Quick).contains(&"tunnels over UDP, client to server".to_owned()));
    assert!(titles(Plain).contains(&"small packets".to_owned()));
    assert!(titles(Plain).contains(&"start of a client".to_owned()));
    assert!(titles(Plain).contains(&"clients that connect".to_owned()));
    assert!(titles(Plain).contains(&"shares of clients".to_owned()));
    assert_eq!(titles(Full).iter().filter(|title| title.starts_with("tunnels")).count(), 4);
}
