use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::{AllowedConnections, join_limited, root, wide_root};
use crate::config::Config;
use crate::locations::Directories;
use crate::output::{Warning, WarningCode};
use crate::project::Project;
use crate::trust::TrustList;
use crate::workspace::Audience;

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

    fn trust(&self) {
        let project = self.project();
        let text = fs::read_to_string(project.file()).expect("a file");
        TrustList::add(&self.directories, &project.root, &text).expect("the project is added");
    }

    fn allowed(&self, config: &Config) -> AllowedConnections {
        AllowedConnections::resolve(config, Some(&self.project()), Some(&self.directories))
    }
}

fn codes(allowed: &AllowedConnections) -> Vec<WarningCode> {
    let code = |warning: &Warning| match warning {
        Warning::Other { code, .. } => *code,
        other => panic!("{other:?} has no code of its own"),
    };
    allowed.notices.iter().map(code).collect()
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
fn an_untrusted_project_adds_nothing_but_notices() {
    let allowed = World::new(PROJECT).allowed(&own());
    assert!(!allowed.is_trusted && allowed.providers.is_empty());
    assert_eq!(allowed.mcp_servers, own().mcp_servers);
    assert_eq!(codes(&allowed), [WarningCode::UntrustedConnections; 2]);
    assert_eq!(
        allowed.notices.iter().map(Warning::text).collect::<Vec<_>>(),
        [
            "this project defines MCP servers (git, own); they are not started until you run `masque trust`",
            "this project defines providers (house, odd); they are not called until you run `masque trust`",
        ]
    );
}

#[test]
fn a_trusted_project_adds_to_the_users_connections() {
    let world = World::new(PROJECT);
    world.trust();
    let allowed = world.allowed(&own());
    assert!(allowed.is_trusted);
    assert_eq!(allowed.mcp_servers["own"], own().mcp_servers["own"], "the user's own wins");
    assert_eq!(allowed.project_servers.iter().collect::<Vec<_>>(), ["git"]);
    assert_eq!(allowed.project_providers.iter().collect::<Vec<_>>(), ["house"]);
    assert_eq!(codes(&allowed), [WarningCode::InvalidConnection]);
    assert!(allowed.notices[0].text().contains("providers.odd"), "{:?}", allowed.notices);
}

#[test]
fn a_changed_project_is_not_trusted() {
    let world = World::new(PROJECT);
    world.trust();
    let changed = PROJECT.replacen("theirs", "another", 1);
    fs::write(world.project().file(), changed).expect("a file");
    let allowed = world.allowed(&own());
    assert!(!allowed.is_trusted && allowed.project_servers.is_empty());
    assert_eq!(codes(&allowed)[0], WarningCode::TrustChanged);
}

#[cfg(unix)]
#[test]
fn a_list_that_others_can_write_trusts_no_project() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::new(PROJECT);
    world.trust();
    let others = fs::Permissions::from_mode(0o620);
    fs::set_permissions(world.directories.trusted_file(), others).expect("rights");
    let allowed = world.allowed(&Config::default());
    assert!(!allowed.is_trusted && allowed.mcp_servers.is_empty());
    assert_eq!(codes(&allowed)[0], WarningCode::TrustUnreadable);
}

#[test]
fn connections_in_the_users_personas_toml_are_ignored() {
    let world = World::new("");
    let file = world.directories.personas_file();
    fs::create_dir_all(file.parent().expect("it has one")).expect("a directory");
    fs::write(&file, PROJECT).expect("a file");
    let allowed = world.allowed(&Config::default());
    assert!(allowed.mcp_servers.is_empty());
    assert_eq!(codes(&allowed), [WarningCode::ConnectionsIgnored]);
}

#[test]
fn a_server_has_a_root_only_with_an_open_project() {
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
fn long_lists_of_names_are_cut() {
    let names: Vec<String> = (0..12).map(|at| format!("n{at}")).collect();
    assert_eq!(join_limited(&names[..2]), "n0, n1");
    assert_eq!(join_limited(&names), "n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more");
}

#[test]
fn a_run_in_the_home_directory_or_at_the_top_is_announced() {
    let world = World::new("");
    let (home, shop) = (world.tree.path(), world.tree.path().join("shop"));
    assert!(wide_root(Some(home), Some(home)).is_some_and(|notice| notice.contains("your home directory")));
    assert!(
        wide_root(Some(Path::new("/")), Some(home))
            .is_some_and(|notice| notice.contains("whole file system"))
    );
    assert!(wide_root(Some(&home.join("shop/..")), Some(home)).is_some());
    let above = wide_root(home.parent(), Some(home)).expect("the home is below it");
    assert!(above.contains("which has your home directory"), "{above}");
    assert_eq!(wide_root(Some(&shop), Some(home)), None);
    assert_eq!(wide_root(None, Some(home)), None);
}
