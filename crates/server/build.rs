//! Embeds the page again when it was built again.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A debug build reads the page from the disk when it is asked for it.
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        // cargo runs this script with every build while the folder is missing. Without the right to make
        // it, that is all that happens.
        let _ = std::fs::create_dir_all(Path::new("../../web/dist"));
        println!("cargo:rerun-if-changed=../../web/dist");
    }
}
