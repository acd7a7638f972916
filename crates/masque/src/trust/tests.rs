use std::fs;
use std::path::{Path, PathBuf};

use app::Code;
use tempfile::TempDir;

use super::Trust;
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

    fn holds(&self, root: &Path) -> bool {
        Trust::read(&self.directories).expect("the list is read").holds(root)
    }
}

#[test]
fn a_project_is_trusted_by_its_real_directory_and_nothing_beside_it_is() {
    let world = World::new();
    let shop = world.directory("shop");
    let inside = world.directory("shop/vendor");
    assert!(!world.holds(&shop));
    assert!(Trust::add(&world.directories, &shop.join("../shop")).expect("it is kept"));
    assert!(!Trust::add(&world.directories, &shop).expect("it is there already"));
    assert!(world.holds(&shop));
    assert!(!world.holds(&inside), "what lies inside may be somebody else's");
    assert!(!world.holds(world.tree.path()));
    #[cfg(unix)]
    {
        let link = world.tree.path().join("link");
        std::os::unix::fs::symlink(&shop, &link).expect("a link");
        assert!(world.holds(&link), "a link is the directory that it leads to");
        // Another directory in the same place is another project once the link moves.
        fs::remove_file(&link).expect("it goes");
        std::os::unix::fs::symlink(&inside, &link).expect("a link");
        assert!(!world.holds(&link));
    }
    assert!(Trust::revoke(&world.directories, &shop).expect("it is kept"));
    assert!(!Trust::revoke(&world.directories, &shop).expect("it is gone already"));
    assert!(!world.holds(&shop));
}

#[test]
fn a_project_that_is_gone_can_be_revoked() {
    let world = World::new();
    let shop = world.directory("shop").canonicalize().expect("it is there");
    Trust::add(&world.directories, &shop).expect("it is kept");
    fs::remove_dir(&shop).expect("it goes");
    assert!(!world.holds(&shop));
    assert!(Trust::add(&world.directories, &shop).is_err());
    assert!(Trust::revoke(&world.directories, &shop).expect("it is kept"));
}

#[test]
fn many_at_once_lose_nothing() {
    let world = World::new();
    let roots: Vec<PathBuf> = (0..8).map(|at| world.directory(&format!("p{at}"))).collect();
    std::thread::scope(|scope| {
        for root in &roots {
            scope.spawn(|| Trust::add(&world.directories, root).expect("it is kept"));
        }
    });
    assert!(roots.iter().all(|root| world.holds(root)));
}

#[cfg(unix)]
#[test]
fn the_list_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::new();
    let shop = world.directory("shop");
    Trust::add(&world.directories, &shop).expect("it is kept");
    let file = world.directories.trusted_file();
    let mode = fs::metadata(&file).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("rights");
    match Trust::read(&world.directories) {
        Err(Failure::Told(report)) => assert_eq!(report.code, Code::Refused, "{report:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_list_that_cannot_be_read_is_told_with_its_place() {
    let world = World::new();
    let file = world.directories.trusted_file();
    fs::create_dir_all(file.parent().expect("it has one")).expect("a directory");
    fs::write(&file, "[[projects]]\ndirectory = 3\n").expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("rights");
    }
    match Trust::read(&world.directories) {
        Err(Failure::Told(report)) => {
            let place = report.subject.place.expect("a place in the file");
            assert!(place.path.ends_with("trusted.toml") && place.line == Some(2), "{place:?}");
        }
        other => panic!("{other:?}"),
    }
}
