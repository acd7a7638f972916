//! Files that need the user's consent, and roots that were replaced.

use std::fs;
use std::os::unix::fs::symlink;

use agent::{Concern, ToolCall};
use serde_json::{Value, json};
use tools::{
    Consent, Guard, Invocation, Root, RunContext, SecretPatterns, ServerSettings, ToolSource, Transport,
    Workspace,
};

use crate::{Project, called};

/// The concerns about a call.
fn concerns(project: &Project, tool: &str, input: Value) -> Vec<Concern> {
    let call = called(input).call;
    project.tools.get(tool).expect("a tool").concerns(&call)
}

fn consented(input: Value) -> Invocation {
    Invocation { consent: Consent::Given, ..called(input) }
}

/// The attack: a persona that may write files rewrites the file that defines it, or one that git runs.
#[tokio::test]
async fn a_protected_file_is_written_only_with_consent() {
    let project = Project::new();
    project.put("personas.toml", "old").put("sub/PERSONAS.toml", "old");
    project.put("store.git/HEAD", "ref: x").put("store.git/objects/a", "").put("store.git/refs/a", "");
    project.put("half/objects/a", "").put("half/refs/a", "");
    symlink("personas.toml", project.root().join("link.txt")).expect("a link");
    let paths = [
        "personas.toml",
        "./sub/../personas.toml",
        "sub/PERSONAS.toml",
        "link.txt",
        "new/personas.toml",
        "store.git/hooks/post-update",
        "store.git/config",
        ".git/hooks/pre-commit",
        "sub/.GIT/config",
        // It completes a repository.
        "half/HEAD",
    ];
    for path in paths {
        let write = json!({ "path": path, "content": "new" });
        let found = concerns(&project, "write_file", write.clone());
        assert!(matches!(&found[..], [Concern::Protected(_)]), "{path}: {found:?}");
        let told = project.fails("write_file", write.clone()).await;
        assert!(told.contains("needs the user's consent"), "{path}: {told}");
        assert!(!project.tools.call("write_file", consented(write)).await.is_error, "{path}");
    }
    project.put("personas.toml", "old");
    let edit = json!({ "path": "personas.toml", "old": "old", "new": "new" });
    assert_eq!(
        concerns(&project, "edit_file", edit.clone()),
        [Concern::Protected("personas.toml".to_owned())]
    );
    project.fails("edit_file", edit).await;
    assert_eq!(project.text("personas.toml"), "old");
    for path in ["notes.toml", "sub/personas.md", "HEAD", "objects/a", "src/refs/HEAD"] {
        assert_eq!(concerns(&project, "write_file", json!({ "path": path, "content": "" })), [], "{path}");
    }
    // Reading them is free.
    assert_eq!(concerns(&project, "read_file", json!({ "path": "personas.toml" })), []);
}

#[tokio::test]
async fn included_files_and_the_programs_own_directories_are_protected() {
    let project = Project::new();
    project.put("texts/prompt.md", "").put("config/masque/config.toml", "");
    let root = project.root().canonicalize().expect("a root");
    let (included, own) = (root.join("texts/../texts/prompt.md"), root.join("config/masque"));
    let guard = Guard::default().with_included(move || vec![included.clone()]).with_own([own]);
    let root = Root::open_exactly(&root, guard).expect("a root");
    let write = tools::files(&root).into_iter().find(|tool| tool.tool.name == "write_file").expect("a tool");
    let is_protected = |path: &str| {
        let call = called(json!({ "path": path, "content": "" })).call;
        !write.concerns(&call).is_empty()
    };
    assert!(is_protected("texts/prompt.md"));
    assert!(is_protected("config/masque/config.toml"));
    assert!(is_protected("config/masque/new.toml"));
    assert!(!is_protected("texts/other.md"));
}

/// The attack: a persona that may write files changes, or makes, the program that the next run starts.
#[tokio::test]
async fn the_programs_of_mcp_servers_are_protected() {
    let project = Project::new();
    project.put("server.sh", "").put("real/tool.sh", "").put("srv/a.txt", "");
    let root = project.root().canonicalize().expect("a root");
    symlink("real/tool.sh", root.join("tool.sh")).expect("a link");
    let server = |command: &str, args: &[&str]| {
        ServerSettings::new(Transport::Stdio {
            command: command.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: [("NODE_OPTIONS".to_owned(), "--require ./hook.js".to_owned())].into(),
            env_pass: Vec::new(),
            cwd: Some(project.root().to_owned()),
        })
    };
    let servers =
        [server("sh", &["./server.sh"]), server("./tool.sh", &[]), server("node", &["srv", "later.js"])];
    let guard = Guard::default().with_programs(servers.iter().flat_map(ServerSettings::program_files));
    let root = Root::open_exactly(&root, guard).expect("a root");
    let write = tools::files(&root).into_iter().find(|tool| tool.tool.name == "write_file").expect("a tool");
    let is_protected = |path: &str| {
        let call = called(json!({ "path": path, "content": "" })).call;
        !write.concerns(&call).is_empty()
    };
    for path in
        ["server.sh", "tool.sh", "real/tool.sh", "later.js", "srv/index.js", "srv/later.js", "hook.js"]
    {
        assert!(is_protected(path), "{path}");
    }
    for path in ["other.sh", "real/other.sh", "srv/a.txt", "sh", "node"] {
        assert!(!is_protected(path), "{path}");
    }
}

/// The attack: a model reads a file with keys, in plan mode too.
#[tokio::test]
async fn a_secret_file_is_read_only_with_consent() {
    let project = Project::new();
    let secret = [
        ".env",
        ".env.local",
        ".env-production",
        ".env_prod",
        ".envrc",
        "me/.config/gcloud/x.json",
        "me/.config/gh/hosts.yml",
        "me/.docker/config.json",
        "deploy/id_ed25519",
        "certs/server.PEM",
        ".ssh/config",
        "app/.aws/credentials",
    ];
    for path in secret {
        project.put(path, "TOKEN=hunter2\n");
    }
    project
        .put("notes.md", "TOKEN is a word\n")
        .put(".env.example", "TOKEN=\n")
        .put("id_ed25519.pub", "TOKEN");
    symlink(".env", project.root().join("plain.txt")).expect("a link");
    for path in secret.into_iter().chain(["plain.txt"]) {
        for (tool, input) in [
            ("read_file", json!({ "path": path })),
            ("search_files", json!({ "path": path, "pattern": "TOKEN" })),
            ("edit_file", json!({ "path": path, "old": "TOKEN", "new": "X" })),
        ] {
            let found = concerns(&project, tool, input.clone());
            assert!(matches!(&found[..], [Concern::Secret(_)]), "{tool} {path}: {found:?}");
            let told = project.fails(tool, input.clone()).await;
            assert!(told.contains("needs the user's consent") && !told.contains("hunter2"), "{tool}: {told}");
        }
        let read = project.tools.call("read_file", consented(json!({ "path": path }))).await;
        assert!(read.text.contains("hunter2"), "{path}");
    }
    for path in ["notes.md", ".env.example", "id_ed25519.pub"] {
        assert_eq!(concerns(&project, "read_file", json!({ "path": path })), [], "{path}");
    }
    let found = project.ok("search_files", json!({ "pattern": "TOKEN", "glob": "{*,.env*}" })).await;
    assert!(found.contains("notes.md") && !found.contains("hunter2"), "{found}");
    assert!(found.contains("usually hold secrets"), "{found}");
}

#[tokio::test]
async fn the_users_own_list_replaces_the_stock_one() {
    let project = Project::new();
    project
        .put("vault/a.txt", "x")
        .put(".env", "x")
        .put("app/config/prod.txt", "x")
        .put("config/prod.txt", "x");
    let root = project.root().canonicalize().expect("a root");
    let secrets = SecretPatterns::parse(["vault/", "config/prod.txt"]).expect("patterns");
    let root = Root::open_exactly(&root, Guard::default().with_secrets(secrets)).expect("a root");
    let read = tools::files(&root).into_iter().find(|tool| tool.tool.name == "read_file").expect("a tool");
    let asks = |path: &str| !read.concerns(&called(json!({ "path": path })).call).is_empty();
    assert!(asks("vault/a.txt") && !asks(".env"));
    // A pattern with a slash matches at any depth.
    assert!(asks("config/prod.txt") && asks("app/config/prod.txt"));
}

#[test]
fn an_invalid_pattern_is_an_error() {
    let error = SecretPatterns::parse(["vault/", "[z-a]"]).expect_err("an invalid range");
    assert_eq!(error.pattern, "[z-a]");
}

/// The attack: the root of a session is replaced by a link that leads outside.
#[tokio::test]
async fn a_root_that_became_a_link_is_not_followed() {
    let dir = tempfile::tempdir().expect("a directory");
    let base = dir.path().canonicalize().expect("a path");
    for part in ["project/part", "outside"] {
        fs::create_dir_all(base.join(part)).expect("a directory");
    }
    fs::write(base.join("outside/secret.txt"), "hunter2").expect("a file");
    let root = base.join("project/part").to_str().expect("UTF-8").to_owned();
    let workspace = Workspace::new(tools::ShellSettings::default(), Guard::default());
    let run = RunContext { root: Some(&root), admits: &|_| true };
    let before = workspace.tools(run).await.tools;
    for replaced in ["project/part", "project"] {
        fs::rename(base.join(replaced), base.join("away")).expect("it is moved");
        let outside = base.join("outside");
        fs::create_dir_all(outside.join("part")).expect("a directory");
        fs::write(outside.join("part/secret.txt"), "hunter2").expect("a file");
        symlink(&outside, base.join(replaced)).expect("a link");
        let after = workspace.tools(run).await;
        assert!(after.tools.is_empty() && after.problems.len() == 1, "{replaced}: {:?}", after.problems);
        // Tools that a run holds stay in the directory that was opened, and commands do not start.
        for (tool, input) in [
            ("read_file", json!({ "path": "secret.txt" })),
            ("run_command", json!({ "command": "cat secret.txt" })),
        ] {
            let held = before.iter().find(|held| held.tool.name == tool).expect("a tool");
            let answer = held.call(called(input)).await;
            assert!(answer.is_error && !answer.text.contains("hunter2"), "{tool}: {}", answer.text);
        }
        fs::remove_file(base.join(replaced)).expect("the link is removed");
        fs::rename(base.join("away"), base.join(replaced)).expect("it is moved back");
    }
    assert_eq!(workspace.tools(run).await.tools.len(), before.len());
}

#[test]
fn a_preview_shows_the_file_before_and_after() {
    let dir = tempfile::tempdir().expect("a directory");
    let base = dir.path().canonicalize().expect("a path");
    fs::write(base.join("a.txt"), "one\ntwo\n").expect("a file");
    let workspace = Workspace::new(tools::ShellSettings::default(), Guard::default());
    let preview = |name: &str, input: Value| {
        let call = ToolCall { name: name.to_owned(), ..called(input).call };
        workspace.preview(base.to_str().expect("UTF-8"), &call)
    };
    let change =
        preview("write_file", json!({ "path": "a.txt", "content": "new" })).change.expect("a change");
    assert_eq!(
        (change.exists, change.before.as_deref(), change.after.as_deref()),
        (true, Some("one\ntwo\n"), Some("new"))
    );
    let change =
        preview("edit_file", json!({ "path": "a.txt", "old": "two", "new": "2" })).change.expect("a change");
    assert_eq!(change.after.as_deref(), Some("one\n2\n"));
    let change = preview("write_file", json!({ "path": "b/c.txt", "content": "" })).change.expect("a change");
    assert_eq!((change.path.as_str(), change.exists, change.before), ("b/c.txt", false, None));
    assert!(!base.join("b").exists(), "a preview makes nothing");
    assert_eq!(preview("run_command", json!({ "command": "x" })), tools::Preview::default());
}
