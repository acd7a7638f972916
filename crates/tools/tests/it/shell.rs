//! `run_command`.

use serde_json::json;
use tools::{Root, ShellSettings, Toolbox};

use crate::processes::{ended, id_in, is_running};
use crate::{Project, called};

#[tokio::test]
async fn a_command_answers_its_exit_code_and_what_it_wrote_in_order() {
    let project = Project::new();
    project.put("here", "");
    let text = project.ok("run_command", json!({ "command": "echo a; echo b >&2; echo c; ls" })).await;
    assert_eq!(text, "exit code 0\na\nb\nc\nhere\n");
    let text = project.fails("run_command", json!({ "command": "echo no; exit 3" })).await;
    assert_eq!(text, "exit code 3\nno\n");
    let text = project.fails("run_command", json!({ "command": "kill -TERM $$" })).await;
    assert_eq!(text, "ended by signal 15\n");
    let text = project.fails("run_command", json!({ "command": "no-such-program-anywhere" })).await;
    assert!(text.starts_with("exit code 127\n"), "{text}");
}

#[tokio::test]
async fn it_has_no_input_and_no_terminal() {
    let project = Project::new();
    assert_eq!(
        project.ok("run_command", json!({ "command": "cat; test -t 1 || echo none" })).await,
        "exit code 0\nnone\n"
    );
    let text =
        project.ok("run_command", json!({ "command": "(: < /dev/tty) 2>/dev/null || echo none" })).await;
    assert_eq!(text, "exit code 0\nnone\n");
}

#[tokio::test]
async fn the_environment_holds_no_secret_and_nothing_else_that_is_not_listed() {
    let project = Project::new();
    // The test runner has this one; a command does not.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
    let text = project.ok("run_command", json!({ "command": "env" })).await;
    assert!(text.contains("PATH=") && text.contains("PAGER=cat"), "{text}");
    assert!(!text.contains("CARGO_MANIFEST_DIR"), "{text}");
    let root = Root::open(&project.root()).expect("a root");
    let mut toolbox = Toolbox::new();
    let settings =
        ShellSettings { env_pass: vec!["CARGO_MANIFEST_DIR".to_owned()], ..ShellSettings::default() };
    toolbox.add(tools::shell(&root, &settings));
    let text = toolbox.call("run_command", called(json!({ "command": "env" }))).await.text;
    assert!(text.contains("CARGO_MANIFEST_DIR="), "{text}");
}

#[tokio::test]
async fn of_much_output_the_beginning_and_the_end_are_kept() {
    let project = Project::new();
    let text = project.ok("run_command", json!({ "command": "echo first; seq 1 200000; echo last" })).await;
    assert!(text.len() <= agent::limits::TOOL_OUTPUT_BYTES, "{}", text.len());
    assert!(text.starts_with("exit code 0\nfirst\n1\n2\n") && text.ends_with("\n200000\nlast\n"));
    assert!(text.contains(" bytes "), "a note has the number of bytes that are left out");
    let text = project.ok("run_command", json!({ "command": "head -c 300000 /dev/urandom" })).await;
    assert!(text.len() <= agent::limits::TOOL_OUTPUT_BYTES);
}

#[tokio::test]
async fn a_command_that_floods_is_ended() {
    let project = Project::new();
    let text = project.fails("run_command", json!({ "command": "yes" })).await;
    let note = text.lines().next().expect("a note");
    assert!(note.contains("256 MiB"), "{note}");
}

/// Children in the background, in another session, and orphaned on purpose.
const FAMILY: &str = "sleep 600 & echo $! > one
    setsid sh -c 'echo $$ > two; exec sleep 600' &
    (setsid sh -c 'trap \"\" TERM HUP INT; echo $$ > three; while :; do sleep 600; done' &) &
    while ! test -s one || ! test -s two || ! test -s three; do sleep 0.01; done";

async fn family(project: &Project) -> Vec<u32> {
    let mut ids = Vec::new();
    for name in ["one", "two", "three"] {
        ids.push(id_in(&project.root().join(name)).await);
    }
    ids
}

#[tokio::test]
async fn a_time_out_kills_all_descendants() {
    let project = Project::new();
    let text = project
        .fails(
            "run_command",
            json!({ "command": format!("echo begun; {FAMILY}; sleep 600"), "timeout_s": 2 }),
        )
        .await;
    assert!(text.lines().next().is_some_and(|note| note.contains("2 s")), "{text}");
    assert!(text.ends_with("\nbegun\n"), "{text}");
    for id in family(&project).await {
        assert!(ended(id).await, "{id} is still there");
    }
}

#[tokio::test]
async fn processes_left_by_a_command_end_with_it() {
    let project = Project::new();
    let text = project.ok("run_command", json!({ "command": FAMILY })).await;
    assert!(text.starts_with("exit code 0 ("), "{text}");
    for id in family(&project).await {
        assert!(ended(id).await, "{id} is still there");
    }
}

#[tokio::test]
async fn cancelling_kills_all_descendants() {
    let project = Project::new();
    let call = called(json!({ "command": format!("{FAMILY}; sleep 600") }));
    let cancelled = call.cancelled.clone();
    let cancel = async {
        let ids = family(&project).await;
        assert!(ids.iter().all(|id| is_running(*id)));
        cancelled.cancel();
        ids
    };
    let (answer, ids) = futures::future::join(project.tools.call("run_command", call), cancel).await;
    assert!(answer.is_error && answer.text.starts_with("cancelled"), "{}", answer.text);
    for id in ids {
        assert!(ended(id).await, "{id} is still there");
    }
}

#[tokio::test]
async fn dropping_the_call_kills_all_descendants() {
    let project = Project::new();
    let ids = {
        let call =
            project.tools.call("run_command", called(json!({ "command": format!("{FAMILY}; sleep 600") })));
        tokio::select! {
            _ = call => panic!("it runs for ten minutes"),
            ids = family(&project) => ids,
        }
    };
    for id in ids {
        assert!(ended(id).await, "{id} is still there");
    }
}

#[tokio::test]
async fn the_longest_time_is_limited_and_the_set_never_read_only() {
    let project = Project::new();
    let text = project.fails("run_command", json!({ "command": "true", "timeout_s": 601 })).await;
    assert!(text.contains("/timeout_s"), "{text}");
    let tool = &project.tools.get("run_command").expect("a tool").tool;
    assert!(!tool.annotations.read_only_hint && tool.annotations.destructive_hint);
    let read_only: Vec<&str> = project
        .tools
        .tools()
        .filter(|tool| tool.annotations.read_only_hint)
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(read_only, ["list_files", "read_file", "search_files"]);
}
