use std::collections::BTreeMap;

use super::*;

fn run<'a>(root: Option<&'a str>, admits: &'a (dyn Fn(&str) -> bool + Send + Sync)) -> RunContext<'a> {
    RunContext { root, admits }
}

fn names(provided: &Provided) -> Vec<&str> {
    provided.tools.iter().map(|registered| registered.tool.name.as_str()).collect()
}

#[tokio::test]
async fn a_workspace_has_the_tools_of_a_root_and_nothing_without_one() {
    let workspace = Workspace::new(ShellSettings::default(), Guard::default());
    assert!(workspace.tools(run(None, &|_| true)).await.tools.is_empty());
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().canonicalize().expect("a path");
    let path = path.to_str().expect("UTF-8").to_owned();
    let provided = workspace.tools(run(Some(&path), &|_| true)).await;
    assert!(names(&provided).contains(&"read_file") && names(&provided).contains(&"run_command"));
    assert!(provided.problems.is_empty());
    drop(dir);
    let provided = workspace.tools(run(Some(&path), &|_| true)).await;
    assert!(provided.tools.is_empty() && provided.problems.len() == 1, "{provided:?}");
}

#[tokio::test]
async fn servers_are_not_started_for_a_run_that_cannot_use_them() {
    let gone = crate::Transport::Stdio {
        command: "/nowhere/at/all".to_owned(),
        args: Vec::new(),
        env: BTreeMap::new(),
        env_pass: Vec::new(),
        cwd: None,
    };
    let servers = McpServers::new(BTreeMap::from([("gone".to_owned(), crate::ServerSettings::new(gone))]));
    let provided = ToolSource::tools(&servers, run(None, &|_| false)).await;
    assert!(provided.tools.is_empty() && provided.problems.is_empty());
    let provided = ToolSource::tools(&servers, run(None, &|prefix| prefix == "mcp__")).await;
    assert_eq!(provided.problems.len(), 1, "{provided:?}");
}

#[tokio::test]
async fn fetching_is_off_unless_it_is_enabled() {
    let off = FixedTools::fetch(&FetchSettings::default());
    assert!(off.tools(run(None, &|_| true)).await.tools.is_empty());
    let on = FixedTools::fetch(&FetchSettings { enabled: true, ..FetchSettings::default() });
    assert_eq!(names(&on.tools(run(None, &|_| true)).await), ["fetch_url"]);
}
