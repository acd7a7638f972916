//! No sequence of switches, delegations and tools of MCP servers has a tool that acts run while the
//! session plans.
//!
//! Every tool that acts leaves a mark in a file that says which step it belongs to. The sequences
//! come from a seed, and each step of one is a message in one mode or the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use agent::Mode;
use app::Runtime;
use app::running::{ApprovalPolicy, CreateSession, SendOptions};
use persona::Scope;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use rehearsal::{Rehearsal, Script};
use serde_json::{Value, json};
use tools::{McpServers, ServerSettings, Transport};

use super::super::stage::{self, hear, to_the_end};
use crate::world::{World, in_each_world, name};

/// A tool that acts, as a step's reply calls it.
const ACTS: [&str; 4] = ["write_file", "run_command", "mcp__marker__act", "mcp__marker__unhinted"];
const STEPS: usize = 14;

/// The actions of one step.
#[derive(Debug, Clone)]
struct Step {
    mode: Mode,
    /// The mode that it switches to while the reply arrives.
    switches_to: Option<Mode>,
    tools: Vec<&'static str>,
    /// How many personas it passes through before the tools are called.
    depth: usize,
}

impl Step {
    fn any(random: &mut StdRng) -> Self {
        let mode = |random: &mut StdRng| if random.random_bool(0.6) { Mode::Plan } else { Mode::Build };
        let count = random.random_range(1..=3);
        Self {
            mode: mode(random),
            switches_to: random.random_bool(0.3).then(|| mode(random)),
            tools: (0..count).map(|_| ACTS[random.random_range(0..ACTS.len())]).collect(),
            depth: random.random_range(0..=2),
        }
    }

    /// True if the step overlaps with plan mode.
    fn may_act(&self) -> bool {
        self.mode == Mode::Build || self.switches_to == Some(Mode::Build)
    }

    fn must_act(&self) -> bool {
        self.mode == Mode::Build && self.switches_to != Some(Mode::Plan)
    }
}

/// The replies to a step's message, for each persona that it passes through.
fn replies(script: &mut String, at: usize, step: &Step) {
    let calls: Vec<String> = step.tools.iter().map(|tool| call(tool, at)).collect();
    let pace = if step.switches_to.is_some() { 40 } else { 0 };
    for level in 0..=step.depth {
        let said = match level == step.depth {
            true => calls.join(", "),
            false => format!(
                "{{ tool = \"delegate\", input = {{ persona = \"p{}\", task = \"step-{at}-{}.\" }} }}",
                level + 1,
                level + 1
            ),
        };
        let _ = write!(
            script,
            "[[reply]]\nwhen = {{ last_user = \"step-{at}-{level}.\" }}\npace_ms = {pace}\n\
             say = [{{ text = \"one two three four five six\" }}, {said}]\n"
        );
    }
}

fn call(tool: &str, at: usize) -> String {
    match tool {
        "write_file" => {
            format!("{{ tool = \"write_file\", input = {{ path = \"written-{at}\", content = \"x\" }} }}")
        }
        "run_command" => format!("{{ tool = \"run_command\", input = {{ command = \"touch ran-{at}\" }} }}"),
        tool => format!("{{ tool = \"{tool}\", input = {{ text = \"called-{at}\" }} }}"),
    }
}

/// The steps whose marks are there.
fn marks(root: &Path) -> Vec<usize> {
    let names = std::fs::read_dir(root).unwrap().map(|found| found.unwrap().file_name());
    let mut marks: Vec<usize> = names
        .filter_map(|name| {
            let (kind, at) = name.to_str()?.rsplit_once('-')?;
            ["written", "ran", "called"].contains(&kind).then(|| at.parse().unwrap())
        })
        .collect();
    marks.sort_unstable();
    marks.dedup();
    marks
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acts_while_the_session_plans() {
    if let Some(root) = std::env::var_os(MARKS) {
        return serve_marks(Path::new(&root));
    }
    in_each_world(async |world| {
        world_of_personas(world).await;
        for seed in [1, 2, 3] {
            play(world, seed).await;
        }
    })
    .await;
}

async fn world_of_personas(world: &World) {
    for level in 0..=2 {
        let preset = json!({
            "name": format!("all-{level}"), "categories": { "all": [{ "name": "*", "approval": "auto" }] },
        });
        world.create(persona::Kind::ToolPreset, Scope::Shared, preset).await;
        let persona = json!({
            "name": format!("p{level}"), "tool_preset": format!("all-{level}"),
            "preferred_models": [{ "provider": "stage", "model": "actor" }],
        });
        world.persona(Scope::Shared, persona).await;
    }
}

async fn play(world: &World, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed);
    let steps: Vec<Step> = (0..STEPS).map(|_| Step::any(&mut random)).collect();
    let mut script = String::new();
    for (at, step) in steps.iter().enumerate() {
        replies(&mut script, at, step);
    }
    script.push_str("[[reply]]\ntext = \"Done.\"\n");
    let model = Rehearsal::start_local(Script::parse(&script).expect("a lawful script")).await.unwrap();
    let root = tempfile::TempDir::new().unwrap();
    let mut options = stage::options(&model, root.path());
    options.mcp_servers = McpServers::new(BTreeMap::from([("marker".to_owned(), marker(root.path()))]));
    let runtime = Runtime::new(world.library.clone(), options);
    let create = CreateSession {
        persona: name("p0"),
        scope: None,
        mode: None,
        model: None,
        overrides: BTreeMap::new(),
        root: None,
        greeting: None,
    };
    let id = runtime.create_session(create).await.unwrap().session.id;
    let mut acted = 0;
    for (at, step) in steps.iter().enumerate() {
        runtime.set_mode(id, step.mode).await.unwrap();
        let options = SendOptions { policy: ApprovalPolicy::All, detached: true, ..SendOptions::default() };
        let mut events = runtime.send(id, format!("step-{at}-0."), options).await.unwrap();
        if let Some(mode) = step.switches_to {
            hear(&mut events, "text_delta", 1).await;
            runtime.set_mode(id, mode).await.unwrap();
        }
        to_the_end(events).await;
        let did = marks(root.path()).contains(&at);
        assert!(!did || step.may_act(), "seed {seed}, step {at} acted: {step:?}");
        assert!(did || !step.must_act(), "seed {seed}, step {at} did nothing: {step:?}");
        // The switch to plan mode came before the first tool of the reply: text precedes it.
        assert!(!did || step.switches_to != Some(Mode::Plan), "seed {seed}, step {at} acted: {step:?}");
        acted += usize::from(did);
    }
    assert!(acted > 0, "tools run at all");
    let offered = model.requests().into_iter().filter(|request| is_plan(&request.body));
    for request in offered {
        let tools = request.body["tools"].to_string();
        assert!(ACTS.iter().all(|tool| !tools.contains(&format!("\"{tool}\""))), "{tools}");
        assert!(tools.contains("mcp__marker__look"), "{tools}");
    }
    runtime.stop().await;
}

fn is_plan(body: &Value) -> bool {
    body["messages"].to_string().contains("<system-reminder>")
}

/// The variable with the directory in which the server writes its marks.
const MARKS: &str = "MASQUE_TEST_MCP_MARKS";

/// Settings that start this binary as an MCP server.
fn marker(root: &Path) -> ServerSettings {
    let binary = std::env::current_exe().unwrap().display().to_string();
    let line = "exec 3>&1 1>&2; exec \"$0\" --exact running::planning::sequences::nothing_acts_while_the_session_plans --nocapture";
    ServerSettings::new(Transport::Stdio {
        command: "sh".to_owned(),
        args: ["-c", line, &binary].map(str::to_owned).into(),
        env: BTreeMap::from([(MARKS.to_owned(), root.display().to_string())]),
        env_pass: Vec::new(),
        cwd: None,
    })
}

/// An MCP server in a process of its own. Standard output belongs to the test runner, so the server
/// uses another descriptor.
fn serve_marks(root: &Path) {
    use std::io::Write as _;
    let mut out = std::fs::OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    for line in std::io::stdin().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = request.get("id") else { continue };
        let mut answer = match request["method"].as_str().unwrap() {
            "initialize" => json!({ "result": {
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "marker", "version": "1" },
            } }),
            "tools/list" => json!({ "result": { "tools": [
                tool("act", &json!({ "readOnlyHint": false })), tool("unhinted", &json!({})),
                tool("look", &json!({ "readOnlyHint": true })),
            ] } }),
            "tools/call" => {
                let text = request["params"]["arguments"]["text"].as_str().unwrap();
                std::fs::write(root.join(text), "x").unwrap();
                json!({ "result": { "content": [{ "type": "text", "text": "done" }] } })
            }
            method => json!({ "error": { "code": -32601, "message": method } }),
        };
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id.clone();
        writeln!(out, "{answer}").unwrap();
    }
    std::process::exit(0);
}

fn tool(name: &str, annotations: &Value) -> Value {
    json!({
        "name": name, "description": name, "annotations": annotations,
        "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
    })
}
