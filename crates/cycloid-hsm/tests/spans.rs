//! Spans, in a separate process, because the recording is global.

use std::hint::black_box;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::time::Duration;

use cycloid_hsm::spans::{Path, Recording, Span, Wait, enter, start, stop, waited};

/// The maximum number of distinct paths.
const NODES: usize = 64;

/// Serializes the tests: the recording is global.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the processor time of this thread.
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn find<'a>(recording: &'a Recording, names: &[&str]) -> &'a Path {
    recording.paths.iter().find(|path| path.names == names).expect("it was recorded")
}

#[test]
fn time_belongs_to_the_path_that_took_it() {
    let _alone = ALONE.lock();
    start();
    // The spans' clock is also read just outside and just inside each span.
    let work = |times: u64| (0..times * 100_000).for_each(|i| _ = black_box(i));
    let [dear, cheap] = [(Span::Batch, 10), (Span::Request, 1)].map(|(outer, times)| {
        let (mut outside, mut inside) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..2 {
            let _outer = enter(outer);
            let before = now();
            let inner = enter(Span::Verification);
            let begun = now();
            work(times);
            inside += now() - begun;
            drop(inner);
            outside += now() - before;
        }
        inside..=outside
    });
    waited(Wait::Queue, 3, Duration::from_millis(7));
    let recording = stop();
    let took = |names: &[&str], calls: u64, time: &RangeInclusive<Duration>| {
        let path = find(&recording, names);
        assert_eq!(path.calls, calls);
        assert!(time.contains(&path.time), "{names:?}: {:?} of {time:?}", path.time);
        path.time
    };
    let dear = took(&["batch", "verification"], 2, &dear);
    took(&["request", "verification"], 2, &cheap);
    assert!(find(&recording, &["batch"]).time >= dear);
    assert_eq!((recording.waits[0].calls, recording.waits[0].time.as_millis()), (3, 7));
    assert!(stop().paths.is_empty(), "a stopped recording leaves nothing behind");
}

#[test]
fn nothing_is_recorded_while_recording_is_off() {
    let _alone = ALONE.lock();
    drop(enter(Span::Batch));
    waited(Wait::Idle, 1, Duration::from_secs(1));
    let recording = stop();
    assert!(recording.paths.is_empty());
    assert!(recording.waits.iter().all(|wait| wait.calls == 0));
}

#[test]
fn threads_are_merged_and_a_full_tree_loses_no_time() {
    let _alone = ALONE.lock();
    start();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for a in Span::ALL {
                    for b in Span::ALL {
                        let _outer = enter(*a);
                        let _inner = enter(*b);
                    }
                }
            });
        }
    });
    let recording = stop();
    let outer = recording.paths.iter().filter(|path| path.names.len() == 1);
    let calls: u64 = outer.map(|path| path.calls).sum();
    // Outermost spans without room have no parent to be counted to.
    assert!(recording.paths.len() < NODES && calls > 0);
}

/// A client may stop the recording before the thread that answered it has ended its span.
#[test]
fn stopping_waits_for_open_spans() {
    let _alone = ALONE.lock();
    start();
    let (opened, is_open) = std::sync::mpsc::channel();
    let recording = std::thread::scope(|scope| {
        scope.spawn(move || {
            let _outer = enter(Span::Receive);
            let _inner = enter(Span::Unwrap);
            opened.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        });
        is_open.recv().unwrap();
        stop()
    });
    assert_eq!(find(&recording, &["receive", "unwrap"]).calls, 1);
}
