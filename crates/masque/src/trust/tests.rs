use std::fs;
use std::path::{Path, PathBuf};

use app::Code;
use tempfile::TempDir;

use super::{Approvals, TrustList, TrustState};
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
        Err(Failure::Reported(report)) => assert_eq!(report.code, Code::UnsafeFile, "{report:?}"),
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
    let list = TrustList::read(&world.directories).expect("the list is read");
    let news = list.news(
        &shop,
        &changed.replace("args = ['a']\n", "").replace("'free'\n", "'free'\nguardrails = ['calm']\n"),
    );
    let has = |value: &Option<String>, word: &str| value.as_ref().is_some_and(|value| value.contains(word));
    let [args, guardrails, tools] = &news[..] else { panic!("three fields: {news:?}") };
    assert_eq!(args.field, "mcp_servers.git.args");
    assert!(has(&args.before, "\"a\"") && args.now.is_none(), "{args:?}");
    assert_eq!(guardrails.field, "personas.clerk.guardrails");
    assert!(guardrails.before.is_none() && has(&guardrails.now, "\"calm\""), "{guardrails:?}");
    assert_eq!(tools.field, "tool_presets.free.categories.read");
    assert!(has(&tools.before, "ask") && has(&tools.now, "auto"), "{tools:?}");
    assert!(TrustList::add(&world.directories, &shop, &changed).expect("the project is added"));
    assert_eq!(world.state(&shop, &changed), TrustState::Trusted);
    assert_eq!(world.state(&shop, TEXT), TrustState::Changed);
    let list = TrustList::read(&world.directories).expect("the list is read");
    assert_eq!(list.projects.len(), 1, "the entry is replaced");
}

#[test]
fn a_changed_program_needs_trust_again() {
    const TEXT: &str =
        "[mcp_servers.git]\ncommand = 'sh'\nargs = ['./git.sh', '--db', 'git.db', '--log=later.log']\n";
    let world = World::new();
    let shop = world.directory("shop");
    let write = |name: &str, text: &str| fs::write(shop.join(name), text).expect("a file");
    write("git.sh", "one");
    write("git.db", "SQLite format 3\0one");
    write("other.sh", "one");
    TrustList::add(&world.directories, &shop, TEXT).expect("the project is added");
    write("other.sh", "two");
    write("git.db", "SQLite format 3\0two");
    assert_eq!(world.state(&shop, TEXT), TrustState::Trusted, "data and other files may change");
    write("git.sh", "two");
    assert_eq!(world.state(&shop, TEXT), TrustState::Changed);
    let news = TrustList::read(&world.directories).expect("the list is read").news(&shop, TEXT);
    let fields: Vec<&str> = news.iter().map(|news| news.field.as_str()).collect();
    assert_eq!(fields, ["mcp_servers.git: git.sh"]);
    write("git.sh", "one");
    assert_eq!(world.state(&shop, TEXT), TrustState::Trusted);
    for (name, text) in [("later.log", "one"), ("git.db", "sh ran this")] {
        write(name, text);
        assert_eq!(world.state(&shop, TEXT), TrustState::Changed, "{name}");
        TrustList::add(&world.directories, &shop, TEXT).expect("the project is added");
    }
    // A project without such files keeps its fingerprint, wherever it lies.
    let (bare, away) = (world.directory("bare"), world.directory("away"));
    assert_eq!(super::fingerprint(&bare, TEXT), super::fingerprint(&away, TEXT));
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
        Err(Failure::Reported(report)) => {
            let place = report.subject.place.expect("a place in the file");
            assert!(place.path.ends_with("trusted.toml") && place.line == Some(2), "{place:?}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_that_may_be_keys_are_not_repeated() {
    let text = |token: &str| {
        format!(
            "[mcp_servers.git]\ncommand = 'git-mcp'\nenv = {{ TOKEN = '{token}' }}\nargs = ['{}']\n",
            "a".repeat(5_000)
        )
    };
    let world = World::new();
    let shop = world.directory("shop");
    TrustList::add(&world.directories, &shop, &text("hunter2")).expect("the project is added");
    let list = fs::read_to_string(world.directories.trusted_file()).expect("the list is there");
    assert!(!list.contains("hunter2"), "{list}");
    assert!(list.len() < 2_000, "long values are cut: {list}");
    let list = TrustList::read(&world.directories).expect("the list is read");
    let news = list.news(&shop, &text("hunter3"));
    assert_eq!(news.len(), 1, "{news:?}");
    assert_eq!(news[0].field, "mcp_servers.git.env.TOKEN");
}

#[test]
fn approvals_are_listed_by_preset() {
    let text = "[tool_presets.free.categories]\nall = [{ name = 'mcp__*', approval = 'auto' }, 'read_file', \
        { name = 'x', approval = 'ask' }]\nmore = [{ name = 'run_command', approval = 'auto' }]\n\
        [tool_presets.tame.categories]\nall = ['*']\n\
        [personas.clerk]\ntool_preset = 'free'\nplan_persona = { tool_preset = 'mykit' }\n";
    let approvals = Approvals::read(text);
    let tools = vec!["mcp__*".to_owned(), "run_command".to_owned()];
    assert_eq!(approvals.presets, [("free".to_owned(), tools)].into());
    assert_eq!(approvals.borrowed, [("clerk".to_owned(), ["mykit".to_owned()].into())].into());
    assert_eq!(Approvals::read("personas = 3\n[tool_presets]\nfree = 'x'"), Approvals::default());
    assert_eq!(Approvals::read("["), Approvals::default());
}
