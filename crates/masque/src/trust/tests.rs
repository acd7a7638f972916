use std::fs;
use std::path::{Path, PathBuf};

use app::Code;
use tempfile::TempDir;

use super::{TrustList, TrustState};
use crate::failure::Failure;
use crate::locations::Directories;

struct World {
    tree: TempDir,
    directories: Directories,
}

impl World {
    fn new() -> Self {
        let tree = tempfile::tempdir().expect("a directory");
        let directories = Directories::below(tree.path());
        Self { tree, directories }
    }

    fn directory(&self, name: &str) -> PathBuf {
        let path = self.tree.path().join(name);
        fs::create_dir_all(&path).expect("a directory");
        path
    }

    fn state(&self, root: &Path, text: &str) -> TrustState {
        TrustList::read(&self.directories).expect("the list is read").state(root, text)
    }

    fn holds(&self, root: &Path) -> bool {
        self.state(root, "") == TrustState::Trusted
    }

    fn add(&self, root: &Path) -> bool {
        TrustList::add(&self.directories, root, "").expect("the project is added")
    }
}

#[test]
fn only_the_directory_itself_is_trusted() {
    let world = World::new();
    let shop = world.directory("shop");
    let inside = world.directory("shop/vendor");
    assert!(!world.holds(&shop));
    assert!(world.add(&shop.join("../shop")));
    assert!(!world.add(&shop));
    assert!(world.holds(&shop));
    assert!(!world.holds(&inside), "a directory inside is another project");
    assert!(!world.holds(world.tree.path()));
    #[cfg(unix)]
    {
        let link = world.tree.path().join("link");
        std::os::unix::fs::symlink(&shop, &link).expect("a link");
        assert!(world.holds(&link), "a link counts as its target");
        // Another target is another project.
        fs::remove_file(&link).expect("the link is removed");
        std::os::unix::fs::symlink(&inside, &link).expect("a link");
        assert!(!world.holds(&link));
    }
    assert!(TrustList::revoke(&world.directories, &shop).expect("the list is written"));
    assert!(!TrustList::revoke(&world.directories, &shop).expect("the list is read"));
    assert!(!world.holds(&shop));
}

#[test]
fn a_deleted_project_can_be_revoked() {
    let world = World::new();
    let shop = world.directory("shop").canonicalize().expect("it is there");
    world.add(&shop);
    fs::remove_dir(&shop).expect("the directory is removed");
    assert!(!world.holds(&shop));
    assert!(TrustList::add(&world.directories, &shop, "").is_err());
    assert!(TrustList::revoke(&world.directories, &shop).expect("the list is written"));
}

#[test]
fn concurrent_additions_are_all_kept() {
    let world = World::new();
    let roots: Vec<PathBuf> = (0..8).map(|at| world.directory(&format!("p{at}"))).collect();
    std::thread::scope(|scope| {
        for root in &roots {
            scope.spawn(|| world.add(root));
        }
    });
    assert!(roots.iter().all(|root| world.holds(root)));
}

#[cfg(unix)]
#[test]
fn a_list_that_others_can_write_is_rejected() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::new();
    let shop = world.directory("shop");
    world.add(&shop);
    let file = world.directories.trusted_file();
    let mode = fs::metadata(&file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("rights");
    match TrustList::read(&world.directories) {
        Err(Failure::Told(report)) => assert_eq!(report.code, Code::UnsafeFile, "{report:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn changed_content_needs_trust_again() {
    const TEXT: &str = "[mcp_servers.git]\ncommand = 'git-mcp'\nargs = ['a']\n\
        [providers.house]\nkind = 'gemini'\n\
        [tool_presets.free.categories]\nread = [{ name = 'write_file', approval = 'ask' }]\n\
        [personas.clerk]\nsystem_prompt = 'You count.'\ntool_preset = 'free'\n";
    let world = World::new();
    let shop = world.directory("shop");
    assert!(TrustList::add(&world.directories, &shop, TEXT).expect("the project is added"));
    assert_eq!(world.state(&shop, TEXT), TrustState::Trusted);
    let after = |from: &str, to: &str| {
        assert!(TEXT.contains(from), "{from}");
        world.state(&shop, &TEXT.replace(from, to))
    };
    for (from, to) in [
        ("You count.", "You count twice."),
        ("[mcp_servers.git]", "# A comment.\n[ mcp_servers . git ]"),
        ("tool_preset = 'free'", "tool_preset = 'free'\n[parts.tone]\npart_type = 'tone'"),
    ] {
        assert_eq!(after(from, to), TrustState::Trusted, "{from}");
    }
    for (from, to) in [
        ("args = ['a']", "args = ['b']"),
        ("args = ['a']", "args = ['a', 'b']"),
        ("kind = 'gemini'", "kind = 'gemini'\nbase_url = 'https://example.org'"),
        ("'ask'", "'auto'"),
        ("tool_preset = 'free'", "tool_preset = 'other'"),
        ("[personas.clerk]", "[personas.clerk]\nextends = 'global:clerk'"),
        ("args = ['a']", "args = ["),
    ] {
        assert_eq!(after(from, to), TrustState::Changed, "{from}");
    }
    let changed = TEXT.replace("'ask'", "'auto'");
    assert!(TrustList::add(&world.directories, &shop, &changed).expect("the project is added"));
    assert_eq!(world.state(&shop, &changed), TrustState::Trusted);
    assert_eq!(world.state(&shop, TEXT), TrustState::Changed);
    let list = TrustList::read(&world.directories).expect("the list is read");
    assert_eq!(list.projects.len(), 1, "the entry is replaced");
}

#[test]
fn an_entry_without_content_needs_trust_again() {
    let world = World::new();
    let shop = world.directory("shop");
    world.add(&shop);
    let file = world.directories.trusted_file();
    let text = fs::read_to_string(&file).expect("the list is there");
    let old: String =
        text.lines().filter(|line| !line.starts_with("content")).map(|line| format!("{line}\n")).collect();
    fs::write(&file, old).expect("the list is written");
    assert_eq!(world.state(&shop, ""), TrustState::Changed);
}

#[test]
fn a_broken_list_is_an_error_with_its_place() {
    let world = World::new();
    let file = world.directories.trusted_file();
    fs::create_dir_all(file.parent().expect("it has one")).expect("a directory");
    fs::write(&file, "[[projects]]\ndirectory = 3\n").expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("rights");
    }
    match TrustList::read(&world.directories) {
        Err(Failure::Told(report)) => {
            let place = report.subject.place.expect("a place in the file");
            assert!(place.path.ends_with("trusted.toml") && place.line == Some(2), "{place:?}");
        }
        other => panic!("{other:?}"),
    }
}
