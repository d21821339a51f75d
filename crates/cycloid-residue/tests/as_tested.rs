//! The same search in code with the compiler's own checks, as the library's tests run it.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn nothing_is_left_and_stack_use_is_as_said() {
    use std::process::Command;

    let output = Command::new(env!("CARGO_BIN_EXE_cycloid-residue")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("planted secrets are found"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
