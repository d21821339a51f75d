//! Tests of the tracer on code with known leaks, and of its rules on the real processor.
//!
//! Only one thread may trace, so this `main` runs the tests one after the other.

#![cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), allow(unused))]

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod execution;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod leaks;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod rules;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[global_allocator]
static ALLOCATOR: taint_trace::Allocator = taint_trace::Allocator;

fn main() {
    let mut passed = 0;
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    for (name, test) in execution::ALL.into_iter().chain(leaks::ALL).chain(rules::ALL) {
        test();
        println!("test {name} ... ok");
        passed += 1;
    }
    println!("test result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
}
