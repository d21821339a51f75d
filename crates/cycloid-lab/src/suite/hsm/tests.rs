use super::driver::Loaded;
use super::*;

fn loaded(count: usize, seconds: f64) -> Loaded {
    let latencies = (1..=count as u64).map(|i| i * 1_000_000).collect();
    Loaded { seconds, processor_seconds: seconds / 2.0, latencies }
}

#[test]
fn rates_latencies_and_processor_time_cover_all_rounds() {
    let mut samples = Samples::default();
    samples.add(loaded(100, 0.5));
    samples.add(loaded(100, 0.25));
    assert_eq!(samples.times, [5e6, 2.5e6]);
    let service = samples.service(3);
    assert_eq!((service.clients, service.answers), (3, 200));
    assert_eq!((service.latency_median_ns, service.latency_p99_ns), (50e6, 99e6));
    assert_eq!(service.processor_ns, 0.375e9 / 200.0);
}

#[test]
fn a_peer_is_compared_round_by_round() {
    let (mut ours, mut peer) = (Samples::default(), Samples::default());
    for slow in [1.0, 3.0, 2.0] {
        ours.add(loaded(100, slow));
        peer.add(loaded(50, slow));
    }
    let ratio = peer.ratio(&ours);
    assert_eq!((ratio.samples, ratio.median, ratio.interval), (3, 2.0, [2.0, 2.0]));
}

#[test]
fn numbers_of_clients() {
    assert_eq!(Hsm::clients_from_list("1, 16").unwrap(), [1, 16]);
    for list in ["0", "257", "x", ""] {
        let failure = Hsm::clients_from_list(list).unwrap_err();
        assert_eq!(failure.message, format!("'{list}' is not a number of clients"));
    }
}
