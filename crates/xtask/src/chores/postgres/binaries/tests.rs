use super::*;

#[test]
fn the_newest_version_comes_first_and_strangers_are_ignored() {
    let base = tempfile::tempdir().expect("a temporary directory");
    for version in ["9", "15", "100", "common"] {
        let directory = base.path().join(version).join("bin");
        fs::create_dir_all(&directory).expect("a directory");
        fs::write(directory.join("initdb"), "").expect("a file");
    }
    fs::create_dir_all(base.path().join("200/bin")).expect("a directory without initdb");

    let found = debian_versions(base.path());

    let versions: Vec<&Path> =
        found.iter().filter_map(|directory| directory.strip_prefix(base.path()).ok()).collect();
    assert_eq!(versions, [Path::new("100/bin"), Path::new("15/bin"), Path::new("9/bin")]);
}
