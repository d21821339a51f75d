//! Searches for secrets after debug code, like the code of the library's tests. The stack use of
//! release code is checked by `cargo xtask residue`.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn no_secret_is_left() {
    use std::process::Command;

    let output = Command::new(env!("CARGO_BIN_EXE_cycloid-residue")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("planted secrets are found"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
