//! Runs the same search on debug code with the compiler's checks, like the library's tests.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn no_secret_is_left_and_stack_use_is_as_documented() {
    use std::process::Command;

    let output = Command::new(env!("CARGO_BIN_EXE_cycloid-residue")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("planted secrets are found"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
