//! Sets `cycloid_armv7em` for targets whose processors have UMAAL: stable Rust does not tell a
//! program that its target has the feature `dsp`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-check-cfg=cfg(cycloid_armv7em)");
    let target = std::env::var("TARGET").unwrap_or_default();
    if target.starts_with("thumbv7em-") {
        println!("cargo:rustc-cfg=cycloid_armv7em");
    }
}
