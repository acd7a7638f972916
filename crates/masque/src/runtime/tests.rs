use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{Reach, listed, root};
use crate::config::Config;
use crate::locations::Directories;
use crate::project::Project;
use crate::session::Audience;
use crate::trust::Trust;

struct World {
    tree: TempDir,
    directories: Directories,
}

impl World {
    /// A user's home with a project in it.
    fn new(project: &str) -> Self {
        let tree = tempfile::tempdir().expect("a directory");
        let directories = Directories::below(tree.path());
        fs::create_dir(tree.path().join("shop")).expect("a directory");
        fs::write(tree.path().join("shop/personas.toml"), project).expect("a file");
        Self { tree, directories }
    }

    fn project(&self) -> Project {
        let named = Project::find(Some(&self.tree.path().join("shop")), None).expect("it is there");
        named.expect("it was named")
    }

    fn reach(&self, config: &Config) -> Reach {
        Reach::of(config, Some(&self.project()), Some(&self.directories))
    }
}

const PROJECT: &str = "[mcp_servers.git]\ncommand = 'theirs'\n[mcp_servers.own]\ncommand = 'theirs'\n\
    [providers.house]\nkind = 'gemini'\n[providers.odd]\nkind = 'other'\n";

fn own() -> Config {
    let settings = "[mcp_servers.own]\ncommand = 'mine'\n";
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), settings).expect("it is written");
    Config::read(file.path()).expect("it is understood")
}

#[test]
fn a_project_that_is_not_trusted_adds_nothing_and_that_is_told() {
    let reach = World::new(PROJECT).reach(&own());
    assert!(!reach.is_trusted && reach.providers.is_empty());
    assert_eq!(reach.mcp_servers, own().mcp_servers);
    assert_eq!(
        reach.notices,
        [
            "this project names MCP servers (git, own); they are not started until you run `masque trust`",
            "this project names providers (house, odd); they are not called until you run `masque trust`",
        ]
    );
}

#[test]
fn a_project_that_is_trusted_adds_what_the_user_does_not_have() {
    let world = World::new(PROJECT);
    Trust::add(&world.directories, &world.project().root).expect("it is kept");
    let reach = world.reach(&own());
    assert!(reach.is_trusted);
    assert_eq!(reach.mcp_servers["own"], own().mcp_servers["own"], "the user's own wins");
    assert_eq!(reach.project_servers.iter().collect::<Vec<_>>(), ["git"]);
    assert_eq!(reach.project_providers.iter().collect::<Vec<_>>(), ["house"]);
    assert_eq!(reach.notices.len(), 1, "{:?}", reach.notices);
    assert!(reach.notices[0].contains("unknown kind \"other\""), "{:?}", reach.notices);
}

#[cfg(unix)]
#[test]
fn a_list_that_others_can_write_trusts_nobody() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::new(PROJECT);
    Trust::add(&world.directories, &world.project().root).expect("it is kept");
    let others = fs::Permissions::from_mode(0o620);
    fs::set_permissions(world.directories.trusted_file(), others).expect("rights");
    let reach = world.reach(&Config::default());
    assert!(!reach.is_trusted && reach.mcp_servers.is_empty());
    assert!(reach.notices[0].contains("can be written by others"), "{:?}", reach.notices);
}

#[test]
fn the_users_own_personas_toml_connects_to_nothing() {
    let world = World::new("");
    let file = world.directories.personas_file();
    fs::create_dir_all(file.parent().expect("it has one")).expect("a directory");
    fs::write(&file, PROJECT).expect("a file");
    let reach = world.reach(&Config::default());
    assert!(reach.mcp_servers.is_empty() && reach.notices[0].contains("move them to"), "{:?}", reach.notices);
}

#[test]
fn a_server_shows_a_directory_only_where_a_project_is_open() {
    let world = World::new("");
    let named = world.project();
    let empty = Project::around(world.tree.path(), Some(world.tree.path())).expect("the directory is ours");
    let around = Project::around(&world.tree.path().join("shop"), Some(world.tree.path()))
        .expect("the directory is ours");
    for (project, audience, shown) in [
        (&named, Audience::User, true),
        (&named, Audience::Machine, true),
        (&named, Audience::Network, true),
        (&around, Audience::Machine, true),
        (&around, Audience::Network, false),
        (&empty, Audience::User, true),
        (&empty, Audience::Machine, false),
        (&empty, Audience::Network, false),
    ] {
        assert_eq!(root(Some(project), audience).is_some(), shown, "{project:?} {audience:?}");
    }
    assert_eq!(root(None, Audience::User).as_deref(), None::<&Path>);
}

#[test]
fn names_of_others_are_told_within_bounds() {
    let names: Vec<String> = (0..12).map(|at| format!("n{at}")).collect();
    assert_eq!(listed(&names[..2]), "n0, n1");
    assert_eq!(listed(&names), "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more");
}
