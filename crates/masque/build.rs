//! Folds identical functions when the binary is linked.
//!
//! Generic code leaves many functions with the same instructions. The linker that Rust brings for this target
//! keeps one of them each; other linkers may not know the option.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let is_default_linker = variable("TARGET") == "x86_64-unknown-linux-gnu"
        && variable("RUSTC_LINKER").is_empty()
        && !variable("CARGO_ENCODED_RUSTFLAGS").contains("link");
    if is_default_linker && variable("PROFILE") == "release" {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    }
}
