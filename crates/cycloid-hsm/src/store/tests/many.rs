//! Many objects.

use std::time::{Duration, Instant};

use super::*;

on_each_database! {
    ten_thousand_are_loaded_quickly,
}

fn ten_thousand_are_loaded_quickly(place: &Place) {
    const COUNT: usize = 10_000;
    let store = place.create();
    // As large as those of RSA-2048.
    let secret = [7; 1200];
    store
        .write(|write| {
            (0..COUNT).try_for_each(|number| {
                let mut attributes = labelled(&number.to_string());
                attributes.set(cka::MODULUS, [9; 256]);
                write.insert((&attributes, Some(&secret))).map(drop)
            })
        })
        .unwrap();
    let load = |_| {
        let fresh = place.open();
        let begun = Instant::now();
        assert_eq!(fresh.load().unwrap().1.len(), COUNT);
        begun.elapsed()
    };
    // Ten times what it takes, and once in ten times, as tests run side by side.
    let taken: Vec<Duration> = (0..10).map(load).collect();
    assert!(taken.iter().any(|time| time.as_secs_f64() < 2.0), "{taken:?}");
}
