//! Load time with many objects.

use std::time::Duration;

use cycloid_profiler::clock;

use super::*;

on_each_database! {
    ten_thousand_objects_load_quickly,
}

fn ten_thousand_objects_load_quickly(place: &Place) {
    const COUNT: usize = 10_000;
    let store = place.create();
    // The size of an RSA-2048 key.
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
        let begun = clock::now();
        assert_eq!(fresh.load().unwrap().1.len(), COUNT);
        clock::now() - begun
    };
    // The limit is ten times the usual processor time, for the fastest of three loads.
    let taken: Vec<Duration> = (0..3).map(load).collect();
    assert!(taken.iter().any(|time| time.as_secs_f64() < 2.0), "{taken:?}");
}
