use std::hint::black_box;
use std::ops::Range;

use super::*;

/// The environment variable that makes a process the sampled one.
const SAMPLED: &str = "CYCLOID_TEST_SAMPLED";

/// Sampling affects a whole process, so each test runs in a process of its own.
fn in_own_process(name: &str, test: fn()) {
    if std::env::var_os(SAMPLED).is_some() {
        return test();
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("sampler::tests::{name}"), "--nocapture"])
        .env(SAMPLED, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

#[inline(never)]
fn spin() {
    for number in 0..200_000_u32 {
        black_box(number);
    }
}

/// Spins for this much processor time, whether the function is sampled or not.
#[inline(never)]
fn spin_for(time: Duration) {
    let start = clock::now();
    while clock::now() - start < time {
        spin();
    }
    black_box(());
}

/// Returns the addresses of a function, which is shorter than this.
fn code(function: usize) -> Range<usize> {
    function..function + 1024
}

#[test]
fn a_busy_function_is_found_under_its_caller() {
    in_own_process("a_busy_function_is_found_under_its_caller", || {
        let sampler = Sampler::new(crate::HERTZ).unwrap();
        spin_for(Duration::from_millis(100));
        sampler.on(Duration::ZERO);
        spin_for(Duration::from_secs(2));
        sampler.off();
        spin_for(Duration::from_millis(100));
        let Samples { stacks, lost, spent } = sampler.finish();
        let all: u64 = stacks.values().sum();
        assert!(all > 0 && lost == 0 && spent > Duration::ZERO, "{all} {lost} {spent:?}");
        let (spin, caller) = (code(spin as fn() as usize), spin_for as fn(Duration) as usize);
        let caller = code(caller);
        let found = |stack: &[usize]| spin.contains(&stack[0]) && caller.contains(&stack[1]);
        let found: u64 = stacks
            .iter()
            .filter(|(stack, _)| stack.len() > 2 && found(stack))
            .map(|(_, samples)| samples)
            .sum();
        assert!(found * 4 >= all * 3, "{found} of {all}: {spin:x?} {caller:x?} {stacks:x?}");
        assert!(stacks.keys().all(|stack| stack.len() <= DEPTH));
    });
}

/// The deepest part of a stack is kept, and no more than fits.
#[test]
fn a_deep_stack_is_cut() {
    #[inline(never)]
    fn descend(depth: usize, time: Duration) {
        if depth == 0 {
            spin_for(time);
        } else {
            descend(black_box(depth - 1), time);
        }
        black_box(());
    }
    in_own_process("a_deep_stack_is_cut", || {
        let sampler = Sampler::new(crate::HERTZ).unwrap();
        sampler.on(Duration::ZERO);
        descend(2 * DEPTH, Duration::from_secs(1));
        let Samples { stacks, .. } = sampler.finish();
        assert!(stacks.keys().any(|stack| stack.len() == DEPTH));
        assert!(stacks.keys().all(|stack| stack.len() <= DEPTH));
    });
}

#[test]
fn one_sampler_exists_at_a_time_and_every_rate_is_valid() {
    in_own_process("one_sampler_exists_at_a_time_and_every_rate_is_valid", || {
        for hertz in [0, 1, 2, 997, 10_000, u32::MAX] {
            let sampler = Sampler::new(hertz).unwrap();
            assert!(matches!(Sampler::new(hertz), Err(Error::Busy)));
            sampler.on(Duration::ZERO);
            drop(sampler);
        }
        // Nothing is left over from the samplers above.
        let Samples { stacks, lost, .. } = Sampler::new(1).unwrap().finish();
        assert_eq!((stacks.len(), lost), (0, 0));
    });
}
