//! Reading a personas.toml, and reporting its mistakes.

use std::fs;
use std::path::{Path, PathBuf};

use files::document::{self, Document, Locator, TextPlace, entity_hash, locate};
use files::{Problem, ProblemLevel};
use persona::env::Place as TextPosition;
use persona::{Code, Kind, limits};
use serde_json::{Value, json};

use super::editing::read;

fn entry(text: &str, kind: Kind) -> Value {
    let document = read(text);
    assert!(document.problems.is_empty(), "{:?}", document.problems);
    document.get(kind, "x").expect("it is there").entity.to_json()
}

/// Every problem of a text, as people see it.
fn problems(text: &str) -> Vec<String> {
    read(text).problems.iter().map(Problem::to_string).collect()
}

fn problem(text: &str) -> String {
    let mut problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems.remove(0)
}

#[test]
fn a_persona_has_every_field() {
    let text = r#"
[personas.x]
name = "x"
display_name = "X"
description = "d"
summary = "s"
detail = "t"
author = "Ann"
license = "MIT"
extends = "global:base"
system_prompt = "p"
system_prompt_mode = "append"
greetings = ["Hello.", """
Hi.
You?"""]
preferred_models = [
    { provider = "gemini", model = "pro", temperature = 0, top_p = 0.5, max_output_tokens = 8_192 },
    { provider = "local", model = "small" },
]
tool_preset = "read_only"
bias_profile = "balanced"
context_preset = "docs"
aggregation_strategy = "summarize"
max_tool_rounds = 12
plan_persona = { instruction = "i", model = "m", tool_preset = "read_only" }
parts = ["a", { name = "b", priority = 4 }, { name = "c", order = -1 }]
parts_mode = "append"
examples = [{ user = "Hi.", persona = "Good day." }]
traits = ["t"]
skills = ["s"]
guardrails = ["g"]
arc = "growth"
test_inputs = ["i"]
tags = ["one"]
remove_parts = ["p"]
remove_traits = ["t2"]
remove_skills = ["s2"]
remove_guardrails = ["g2"]
remove_test_inputs = ["i2"]
remove_tags = ["two"]
"#;
    assert_eq!(
        entry(text, Kind::Persona),
        json!({
            "name": "x", "display_name": "X", "description": "d", "summary": "s", "detail": "t",
            "author": "Ann", "license": "MIT", "extends": "global:base", "system_prompt": "p", "system_prompt_mode": "append",
            "greetings": ["Hello.", "Hi.\nYou?"],
            "preferred_models": [
                { "provider": "gemini", "model": "pro", "temperature": 0.0, "top_p": 0.5, "max_output_tokens": 8192 },
                { "provider": "local", "model": "small" },
            ],
            "tool_preset": "read_only", "bias_profile": "balanced", "context_preset": "docs",
            "aggregation_strategy": "summarize", "max_tool_rounds": 12,
            "plan_persona": { "instruction": "i", "model": "m", "tool_preset": "read_only" },
            "parts": [
                { "name": "a", "order": 0, "priority": 0 },
                { "name": "b", "order": 1, "priority": 4 },
                { "name": "c", "order": -1, "priority": 0 },
            ],
            "parts_mode": "append", "examples": [{ "user": "Hi.", "persona": "Good day." }], "traits": ["t"], "skills": ["s"], "guardrails": ["g"], "arc": "growth",
            "test_inputs": ["i"], "tags": ["one"], "remove_parts": ["p"], "remove_traits": ["t2"],
            "remove_skills": ["s2"], "remove_guardrails": ["g2"], "remove_test_inputs": ["i2"],
            "remove_tags": ["two"],
        })
    );
}

/// The file from which this format comes, with a name in it.
#[test]
fn the_oldest_file_reads_as_it_is() {
    let text = "\
[personas.backend]
preferred_models = [
{ provider = \"gemini\", model = \"gemini-3.1-pro-preview\", temperature = 0.0 },
{ provider = \"gemini\", model = \"gemini-3-flash-preview\", temperature = 0.0 },
]
system_prompt = \"You are a senior backend engineer with deep knowledge of Python asyncio.\"
tool_preset = \"read_only\"
bias_profile = \"discovery_heavy\"
context_preset = \"codebase_full\"
aggregation_strategy = \"summarize\"
";
    assert_eq!(problems(text), [""; 0]);
    let backend = read(text).get(Kind::Persona, "backend").expect("it is there").entity.to_json();
    assert_eq!(backend["preferred_models"][1]["model"], "gemini-3-flash-preview");
    for (field, value) in [
        ("tool_preset", "read_only"),
        ("bias_profile", "discovery_heavy"),
        ("context_preset", "codebase_full"),
        ("aggregation_strategy", "summarize"),
    ] {
        assert_eq!(backend[field], value);
    }
}

#[test]
fn connections_of_a_project_are_no_mistake_and_no_entry() {
    let text = "[mcp_servers.git]\ncommand = 'git-mcp'\n[providers.house]\nkind = 'gemini'\n[provider.x]\n";
    assert_eq!(read(text).all().count(), 0);
    let problem = problem(text);
    assert!(
        problem.contains("unknown table \"provider\"") && problem.contains("\"providers\"?"),
        "{problem}"
    );
}

#[test]
fn every_kind_reads() {
    let part = "[parts.x]\npart_type = 'tone'\ndescription = 'd'\nsummary = 's'\ncontent = 'c'\ntags = ['t']";
    assert_eq!(
        entry(part, Kind::Part),
        json!({ "name": "x", "part_type": "tone", "description": "d", "summary": "s", "content": "c", "tags": ["t"] })
    );
    let quality = "[traits.x]\ntrait_type = 'social'\ndescription = 'd'\ninstruction = 'i'";
    assert_eq!(
        entry(quality, Kind::Trait),
        json!({ "name": "x", "trait_type": "social", "description": "d", "instruction": "i", "tags": [] })
    );
    assert_eq!(
        entry("[skills.x]\ndescription = 'd'\ncontent = 'c'", Kind::Skill),
        json!({ "name": "x", "description": "d", "content": "c", "tags": [] })
    );
    assert_eq!(
        entry("[guardrails.x]\ndeny_tools = ['rm*']\ncontent = 'c'", Kind::Guardrail),
        json!({ "name": "x", "severity": "medium", "content": "c", "deny_tools": ["rm*"], "tags": [] })
    );
    let arc = "[[arcs.x.stages]]\nname = 'a'\nparts = ['p']\n[[arcs.x.stages]]\nname = 'b'\norder = 7\ncondition = 'c'\n[[arcs.x.stages]]\nname = 'c'";
    assert_eq!(
        entry(arc, Kind::Arc),
        json!({ "name": "x", "tags": [], "stages": [
            { "name": "a", "order": 1, "parts": ["p"] },
            { "name": "b", "order": 7, "condition": "c", "parts": [] },
            { "name": "c", "order": 3, "parts": [] },
        ] })
    );
    let tools = "[tool_presets.x]\ncategories.files = ['read', { name = 'write', approval = 'ask', weight = 5, parameter_bias = { path = 'short' } }]";
    assert_eq!(
        entry(tools, Kind::ToolPreset),
        json!({ "name": "x", "tags": [], "categories": { "files": [
            { "name": "read" },
            { "name": "write", "approval": "ask", "weight": 5, "parameter_bias": { "path": "short" } },
        ] } })
    );
    assert_eq!(
        entry("[bias_profiles.x.multipliers]\nfiles = 2\n'web search' = 0.5", Kind::BiasProfile),
        json!({ "name": "x", "tags": [], "multipliers": { "files": 2.0, "web search": 0.5 } })
    );
    let context = "[context_presets.x]\ntoken_budget = 9000\nentries = [{ glob = 'src/**' }, { path = 'a.md', view = 'outline' }]";
    assert_eq!(
        entry(context, Kind::ContextPreset),
        json!({ "name": "x", "tags": [], "token_budget": 9000, "entries": [
            { "glob": "src/**", "view": "full" },
            { "path": "a.md", "view": "outline" },
        ] })
    );
    assert_eq!(
        entry("[test_inputs.x]\ncontent = 'c'\nexpectations = ['e']", Kind::TestInput),
        json!({ "name": "x", "content": "c", "expectations": ["e"], "tags": [] })
    );
}

#[test]
fn all_ways_of_writing_a_table_mean_the_same() {
    let ways = [
        "[personas.x]\nsummary = 's'\nplan_persona.model = 'm'\n",
        "personas.x.summary = 's'\npersonas.x.plan_persona.model = 'm'\n",
        "[personas]\nx = { summary = 's', plan_persona = { model = 'm' } }\n",
        "personas = { x = { summary = 's', plan_persona.model = 'm' } }\n",
        "[personas.x.plan_persona]\nmodel = \"m\"\n[skills.y]\n[personas.\"x\"]\nsummary = \"\"\"s\"\"\"\n",
        "\u{feff}[ personas . x ]\r\n  summary = \"\\u0073\" # s\r\n[personas.x.plan_persona]\r\nmodel = 'm'",
    ];
    let hash = |text: &str| read(text).get(Kind::Persona, "x").expect("it is there").hash.clone();
    for way in ways {
        assert!(problems(way).is_empty(), "{way}");
        assert_eq!(hash(way), hash(ways[0]), "{way}");
    }
    assert_ne!(hash("[personas.x]\nsummary = 't'\nplan_persona.model = 'm'\n"), hash(ways[0]));
    assert_ne!(read(ways[0]).hash, read(ways[1]).hash);
}

#[test]
fn a_hash_ignores_formatting() {
    let hash = |text: &str| read(text).get(Kind::Persona, "x").expect("it is there").hash.clone();
    let plain = "[personas.x]\nsummary = 's'\nparts = ['a', 'b']";
    let spelled = "[personas.x]\nparts_mode = 'replace'\nparts = [{ name = 'a', order = 0 }, { priority = 0, name = 'b', order = 1 }]\ntags = []\nsummary = \"s\"";
    assert_eq!(hash(plain), hash(spelled));
    assert_ne!(hash(plain), hash("[personas.x]\nsummary = 's'\nparts = ['b', 'a']"));
    let renamed = read("[personas.y]\nsummary = 's'\nparts = ['a', 'b']");
    assert_eq!(renamed.get(Kind::Persona, "y").expect("it is there").hash, hash(plain));
    let entry = read(plain).get(Kind::Persona, "x").expect("it is there").clone();
    assert_eq!(entity_hash(&entry.entity), entry.hash);
    assert!(
        entry.hash.len() == 64
            && entry.hash.chars().all(|c| c.is_ascii_hexdigit() && !c.is_ascii_uppercase())
    );
}

#[test]
fn one_bad_entry_does_not_hide_its_neighbours() {
    let document = read(
        "[personas.good]\nsummary = 's'\n[personas.bad]\ntags = 'x'\n[parts.bad]\n[parts.good]\npart_type = 'tone'\ncontent = 'c'\n[personas.worse]\nsummary = 3\n",
    );
    let good: Vec<String> =
        document.all().map(|entry| format!("{} {}", entry.entity.kind(), entry.entity.name())).collect();
    assert_eq!(good, ["persona good", "part good"]);
    let broken: Vec<String> = document.broken.iter().map(|(kind, name)| format!("{kind} {name}")).collect();
    assert_eq!(broken, ["part bad", "persona bad", "persona worse"]);
    assert!(document.has(Kind::Part, "bad") && document.is_broken(Kind::Part, "bad"));
    let lines: Vec<usize> = document.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [4, 5, 10], "problems stand in the order of their places");
    assert!(document.problems.iter().all(|problem| problem.level == ProblemLevel::Error));
}

/// One mistake does not hide the others of its entry, and none is a consequence of another one.
#[test]
fn every_mistake_of_an_entry_is_reported() {
    let places = |text: &str| -> Vec<String> {
        let document = read(text);
        let place = |it: &Problem| format!("{}:{} {}", it.line, it.column, it.cause.as_str());
        document.problems.iter().map(place).collect()
    };
    let check = |text: &str, expected: &[&str]| assert_eq!(places(text), expected, "{text}");
    check(
        "[personas.x]\nsummary = 5\ntags = \"a\"\nsumary = \"s\"\nparts_mode = \"add\"\n",
        &["2:11 invalid_value", "3:8 invalid_value", "4:1 unknown_field", "5:14 unknown_word"],
    );
    // A required field with a mistake is not missing too.
    check("[parts.x]\npart_type = \"tonn\"\ncontent = 3\n", &["2:13 unknown_word", "3:11 invalid_value"]);
    check("[parts.x]\ncontent = 3\n", &["1:1 missing_field", "2:11 invalid_value"]);
    // Inside of lists and tables.
    check(
        "[personas.x]\nparts = [{ name = \"a\", priority = \"x\" }, 7, \"ok\"]\nplan_persona = { model = 1 }\n",
        &["2:35 invalid_value", "2:42 invalid_value", "3:26 invalid_value"],
    );
    // Rules of fields count beside mistakes of other fields.
    check(
        "[personas.x]\nsummary = 5\ntags = [\"\"]\nskills = [\"a\", \"a\"]\n",
        &["2:11 invalid_value", "3:8 invalid_field", "4:10 invalid_field"],
    );
    // The limit of one entry.
    let many: String = (0..50).map(|_| "1, ").collect();
    assert_eq!(places(&format!("[personas.x]\ntags = [{many}]\n")).len(), 20);
}

#[test]
fn a_problem_says_where_and_what_to_do() {
    for (text, said) in [
        (
            "[guardrails.x]\ncontent = 'c'\nseverity = \"hgh\"\n",
            "personas.toml:3:12: guardrail x: severity: unknown value \"hgh\"\n  3 | severity = \"hgh\"\n    |            ^ did you mean \"high\"?",
        ),
        (
            "[personas.x]\ntags = 'a'\n",
            "personas.toml:2:8: persona x: tags: expected a list, found the text \"a\"\n  2 | tags = 'a'\n    |        ^ put it in brackets: [\"…\"]",
        ),
        (
            "[personas.x]\nsummary = 12\n",
            "personas.toml:2:11: persona x: summary: expected a text, found 12\n  2 | summary = 12\n    |           ^ put it in quotes",
        ),
        (
            "[personas.x]\npreferred_models = [{ provider = 'p', model = 'm' },\n  { provider = 'p', model = 'm', temperature = 'hot' }]\n",
            "personas.toml:3:48: persona x: preferred_models[1].temperature: expected a number, found the text \"hot\"\n  3 |   { provider = 'p', model = 'm', temperature = 'hot' }]\n    |                                                ^ write it without quotes",
        ),
        (
            "[personas.x]\npreferred_models = [{ provider = 'p' }]\n",
            "personas.toml:2:21: persona x: preferred_models[0]: model is missing\n  2 | preferred_models = [{ provider = 'p' }]\n    |                     ^ add model = …",
        ),
        (
            "[personas.x]\npreferred_models = [{ provider = 'p', model = 'm', temperature = 2.5 }]\n",
            "personas.toml:2:66: persona x: preferred_models[0].temperature: 2.5 is outside 0 to 2\n  2 | preferred_models = [{ provider = 'p', model = 'm', temperature = 2.5 }]\n    |                                                                  ^",
        ),
        (
            "[personas.x]\nparts = ['a', 'a b']\n",
            "personas.toml:2:15: persona x: parts[1]: the name \"a b\" contains ' ' (expected letters, digits, \"_\" and \"-\")\n  2 | parts = ['a', 'a b']\n    |               ^",
        ),
        (
            "[parts.x]\ncontent = 'c'\n",
            "personas.toml:1:1: part x: part_type is missing\n  1 | [parts.x]\n    | ^ add part_type = …",
        ),
        (
            "[parts.x]\npart_type = 'tone'\n",
            "personas.toml:1:1: part x: content: a part without text says nothing\n  1 | [parts.x]\n    | ^ give content or summary",
        ),
        (
            "[personas.x]\nname = 'y'\n",
            "personas.toml:2:8: persona x: the name in the entry is not the entry's key, \"x\"\n  2 | name = 'y'\n    |        ^ remove the line: the key is the name",
        ),
        (
            "[personas.'a b']\n",
            "personas.toml:1:11: persona a b: the name \"a b\" contains ' ' (expected letters, digits, \"_\" and \"-\")\n  1 | [personas.'a b']\n    |           ^",
        ),
        (
            "[personas]\nx = 3\n",
            "personas.toml:2:5: persona x: an entry must be a table\n  2 | x = 3\n    |     ^ write [personas.x] and its fields below it",
        ),
        (
            "[[personas]]\nsummary = 's'\n",
            "personas.toml:1:1: personas must be a table of entries\n  1 | [[personas]]\n    | ^ write [personas.NAME] and the fields below it",
        ),
        (
            "[tool_presets.x]\ncategories.files = [{ name = 'a', weight = 9 }]\n",
            "personas.toml:2:44: tool preset x: categories.files[0].weight: 9 is outside 1 to 5\n  2 | categories.files = [{ name = 'a', weight = 9 }]\n    |                                            ^",
        ),
        (
            "[tool_presets.x]\ncategories.files = [{ name = 'a', weight = 900 }]\n",
            "personas.toml:2:44: tool preset x: categories.files[0].weight: expected a whole number from 0 to 255, found 900\n  2 | categories.files = [{ name = 'a', weight = 900 }]\n    |                                            ^",
        ),
        (
            "[personas.x]\nsummary = 1979-05-27\n",
            "personas.toml:2:11: persona x: summary: expected a text, found a date\n  2 | summary = 1979-05-27\n    |           ^ put it in quotes",
        ),
    ] {
        assert_eq!(problem(text), said);
    }
}

#[test]
fn an_unknown_key_is_a_warning_with_a_near_name() {
    let text = "[personas.x]\nsumary = 's'\nzzz = 1\npreferred_models = [{ provider = 'p', model = 'm', temprature = 1 }]\ntraits = ['t']\n[persona.y]\n[env]\nallow = ['HOME']\n[qqq]\n";
    let document = read(text);
    assert!(document.get(Kind::Persona, "x").is_some(), "the entry loads");
    assert!(document.problems.iter().all(|problem| problem.level == ProblemLevel::Warning));
    assert!(document.problems.iter().all(|problem| problem.cause == Code::UnknownField));
    let shown: Vec<String> = document.problems.iter().map(Problem::to_string).collect();
    assert_eq!(
        shown,
        [
            "personas.toml:2:1: warning: persona x: unknown key \"sumary\"\n  2 | sumary = 's'\n    | ^ did you mean \"summary\"?",
            "personas.toml:3:1: warning: persona x: unknown key \"zzz\"\n  3 | zzz = 1\n    | ^",
            "personas.toml:4:52: warning: persona x: unknown key \"temprature\"\n  4 | preferred_models = [{ provider = 'p', model = 'm', temprature = 1 }]\n    |                                                    ^ did you mean \"temperature\"?",
            "personas.toml:6:2: warning: unknown table \"persona\"\n  6 | [persona.y]\n    |  ^ did you mean \"personas\"?",
            "personas.toml:7:2: warning: the [env] allow list is read from your own config.toml only, never from a personas.toml\n  7 | [env]\n    |  ^ move it there",
            "personas.toml:9:2: warning: unknown table \"qqq\"\n  9 | [qqq]\n    |  ^",
        ]
    );
}

#[test]
fn a_text_that_is_not_toml_is_refused_with_its_place() {
    let refused = |text: &str| document::read(Path::new("p.toml"), text).expect_err("not TOML").to_string();
    assert_eq!(
        refused("[personas.x]\nsummary = \"open\n"),
        "p.toml:2:16: not valid TOML: invalid basic string, expected `\"`\n  2 | summary = \"open\n    |                ^ \
         close it with \" on the same line, or put \"\"\" around a text of several lines"
    );
    assert_eq!(
        refused("[personas.x]\n[personas.x]\n"),
        "p.toml:2:11: not valid TOML: duplicate key\n  2 | [personas.x]\n    |           ^ it is defined twice in this file; keep one, or rename one"
    );
    let bytes = b"[personas.x]\nsummary = \"\xff\"\n";
    let problem = document::text_of(Path::new("p.toml"), bytes.to_vec()).expect_err("not UTF-8");
    assert_eq!((problem.line, problem.column, problem.cause), (2, 12, Code::NotUtf8));
}

#[test]
fn nothing_is_too_deep_or_too_large() {
    let refused = |text: &str| document::read(Path::new("p.toml"), text).expect_err("refused");
    for deep in [
        format!("x = {}{}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("x = {}1{}", "{a=".repeat(10_000), "}".repeat(10_000)),
        format!("{}x = 1", "a.".repeat(10_000)),
        format!("[{}x]", "a.".repeat(10_000)),
    ] {
        let problem = refused(&deep);
        assert_eq!(problem.cause, Code::NotToml, "{}", problem.message);
        assert_eq!(problem.hint.as_deref(), Some("nothing needs to be nested that deep"));
    }
    let large = " ".repeat(limits::FILE_BYTES + 1);
    assert_eq!(refused(&large).cause, Code::FileTooLarge);
    let many = format!("[personas]\n{}", (0..3000).map(|n| format!("n{n} = 1\n")).collect::<String>());
    let document = read(&many);
    assert_eq!((document.problems.len(), document.more_problems, document.broken.len()), (1000, 2000, 3000));
}

#[test]
fn a_place_is_found_on_demand() {
    let text = "[personas.x]\nsummary = 's'\npreferred_models = [\n  { provider = 'p', model = 'm' },\n]\n[parts]\ny.content_file = 'a.md'\n";
    let place = |kind, name, field| locate(text, kind, name, field);
    assert_eq!(place(Kind::Persona, "x", None), Some((1, 11)));
    assert_eq!(place(Kind::Persona, "x", Some("summary")), Some((2, 1)));
    assert_eq!(place(Kind::Persona, "x", Some("preferred_models[0].model")), Some((4, 21)));
    assert_eq!(
        place(Kind::Persona, "x", Some("detail")),
        Some((1, 11)),
        "a field that is not there: the entry"
    );
    assert_eq!(place(Kind::Part, "y", Some("content")), Some((7, 3)));
    assert_eq!(place(Kind::Part, "z", None), None);
}

#[test]
fn a_place_inside_of_a_text_is_found_where_it_is_written() {
    let text = "[personas.x]\r\ndetail = '''\r\na\r\nbé!\r\n'''\nsummary = \"\"\"a\nb\\tc\n\"\"\"\nsystem_prompt = 'abc'\nplan_persona.instruction_file = './a.md'\n";
    let locator = Locator::new(text).expect("it is TOML");
    let find =
        |field, line, column| locator.find_in_text(Kind::Persona, "x", field, TextPosition { line, column });
    let here = |line, column| Some(TextPlace::Here { line, column });
    assert_eq!(find("detail", 1, 1), here(3, 1));
    assert_eq!(find("detail", 2, 3), here(4, 3));
    assert_eq!(find("detail", 9, 1), None);
    assert_eq!(find("detail", 2, 0), None);
    assert_eq!(find("summary", 1, 1), here(6, 14), "right after the quotes");
    assert_eq!(find("summary", 2, 2), here(7, 2), "the escape itself");
    assert_eq!(find("summary", 2, 3), None, "behind an escape");
    assert_eq!(find("system_prompt", 1, 2), None, "its key is on the same line");
    assert_eq!(find("plan_persona.instruction", 2, 1), Some(TextPlace::Included("a.md".into())));
    assert_eq!(find("plan_persona.model", 1, 1), None);
    assert_eq!(find("plan_persona", 1, 1), None);
}

/// A directory with a personas.toml and texts beside it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(directory.path().join("project/prompts")).expect("a directory");
        fs::write(directory.path().join("secret.md"), "secret").expect("written");
        Self(directory)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join("project").join(path)
    }

    fn read(&self, text: &str) -> Document {
        fs::write(self.path("personas.toml"), text).expect("written");
        document::read(&self.path("personas.toml"), text).expect("it is TOML")
    }
}

#[test]
fn long_texts_come_from_files_beside() {
    let place = Place::new();
    fs::write(place.path("prompts/a.md"), "Speak.\n").expect("written");
    fs::write(place.path("b.md"), "Plan.").expect("written");
    let text = "[personas.x]\nsystem_prompt_file = 'prompts/a.md'\ndetail_file = './prompts/a.md'\nplan_persona = { instruction_file = 'b.md' }\n[skills.x]\ncontent_file = 'b.md'\n[traits.x]\ntrait_type = 'social'\ninstruction_file = 'b.md'\n";
    let document = place.read(text);
    assert!(document.problems.is_empty(), "{:?}", document.problems);
    let persona = document.get(Kind::Persona, "x").expect("it is there").entity.to_json();
    assert_eq!(persona["system_prompt"], "Speak.\n");
    assert_eq!(persona["detail"], "Speak.\n");
    assert_eq!(persona["plan_persona"]["instruction"], "Plan.");
    assert_eq!(document.get(Kind::Skill, "x").expect("it is there").entity.to_json()["content"], "Plan.");
    let included: Vec<String> = document
        .included
        .iter()
        .map(|path| path.file_name().expect("a name").display().to_string())
        .collect();
    assert_eq!(included, ["b.md", "a.md"]);
    fs::write(place.path("b.md"), "Plan more.").expect("written");
    let again = place.read(text);
    assert_ne!(again.hash, document.hash);
    let hash = |document: &Document, kind| document.get(kind, "x").expect("it is there").hash.clone();
    assert_ne!(hash(&again, Kind::Skill), hash(&document, Kind::Skill));
    let inline = place.read("[skills.x]\ncontent = 'Plan more.'\n");
    assert_eq!(hash(&inline, Kind::Skill), hash(&again, Kind::Skill), "the place of a text does not matter");
}

#[test]
fn an_included_text_is_never_outside() {
    let place = Place::new();
    fs::write(place.path("big.md"), "x".repeat(limits::LONG_TEXT_BYTES + 1)).expect("written");
    fs::write(place.path("latin.md"), b"\xe4").expect("written");
    let outside = place.path("../secret.md");
    let absolute = outside.display().to_string();
    for (written, cause) in [
        ("../secret.md", Code::OutsideProject),
        (absolute.as_str(), Code::OutsideProject),
        ("prompts/../../secret.md", Code::OutsideProject),
        ("prompts", Code::NotAFile),
        ("none.md", Code::FileNotFound),
        ("", Code::InvalidValue),
        (".", Code::InvalidValue),
        ("big.md", Code::FileTooLarge),
        ("latin.md", Code::NotUtf8),
    ] {
        let document = place.read(&format!("[skills.x]\ncontent_file = '{written}'\n[skills.y]\n"));
        assert!(document.get(Kind::Skill, "x").is_none() && document.get(Kind::Skill, "y").is_some());
        let problem = &document.problems[0];
        assert_eq!((problem.line, problem.column, problem.cause), (2, 16, cause), "{problem}");
        assert!(!problem.to_string().contains("secret\""), "{problem}");
    }
    let both = place.read("[skills.x]\ncontent = 'c'\ncontent_file = 'big.md'\n");
    assert_eq!(both.problems[0].cause, Code::ConflictingFields);
    let missing = place.read("[skills.x]\ncontent_file = 'none.md'\n");
    assert!(missing.included[0].ends_with("project/none.md"), "a missing file is watched for");
    let misplaced = place.read("[guardrails.x]\ninstruction_file = 'none.md'\n");
    assert_eq!(misplaced.problems[0].cause, Code::UnknownField);
}

#[cfg(unix)]
#[test]
fn a_file_of_secrets_is_no_text() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    for directory in ["deploy", ".ssh", ".config", ".config/gh"] {
        fs::create_dir(place.path(directory)).expect("a directory");
    }
    let read = |written: &str| {
        let document = place.read(&format!("[skills.x]\ncontent_file = '{written}'\n"));
        document.problems.first().map(|problem| (problem.cause, problem.to_string()))
    };
    symlink(".env", place.path("link.md")).expect("linked");
    for secret in [".env", "deploy/.env.production", "server.KEY", ".ssh/config", ".config/gh/hosts.yml"] {
        fs::write(place.path(secret), "hunter2").expect("written");
        let (code, text) = read(secret).expect(secret);
        assert_eq!(code, Code::IncludeNotAllowed, "{secret}: {text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert_eq!(read("link.md").map(|(code, _)| code), Some(Code::IncludeNotAllowed));
    for harmless in [".env.example", "environment.md", "keys.md"] {
        fs::write(place.path(harmless), "plain").expect("written");
        assert_eq!(read(harmless), None, "{harmless}");
    }
}

#[cfg(unix)]
#[test]
fn links_may_lead_about_inside_only() {
    use std::os::unix::fs::symlink;

    let place = Place::new();
    fs::write(place.path("prompts/a.md"), "inside").expect("written");
    symlink("prompts/a.md", place.path("near.md")).expect("linked");
    symlink(place.path("../secret.md"), place.path("far.md")).expect("linked");
    symlink(place.path(".."), place.path("up")).expect("linked");
    let content = |written: &str| {
        let document = place.read(&format!("[skills.x]\ncontent_file = '{written}'\n"));
        match document.get(Kind::Skill, "x") {
            Some(entry) => Ok(entry.entity.to_json()["content"].as_str().expect("a text").to_owned()),
            None => Err(document.problems[0].cause),
        }
    };
    assert_eq!(content("near.md"), Ok("inside".to_owned()));
    for far in ["far.md", "up/secret.md"] {
        assert_eq!(content(far), Err(Code::OutsideProject), "{far}");
    }
    symlink("loop.md", place.path("loop.md")).expect("linked");
    symlink("none.md", place.path("dangling.md")).expect("linked");
    assert_eq!(content("loop.md"), Err(Code::FileFailed));
    assert_eq!(content("dangling.md"), Err(Code::FileNotFound));
    // A linked personas.toml finds its texts beside the file itself.
    let text = "[skills.x]\ncontent_file = 'prompts/a.md'\n";
    place.read(text);
    fs::create_dir(place.path("../config")).expect("a directory");
    let link = place.path("../config/personas.toml");
    symlink("../project/personas.toml", &link).expect("linked");
    let document = document::read(&link, text).expect("it is TOML");
    assert!(document.get(Kind::Skill, "x").is_some(), "{:?}", document.problems);
    // Reading a pipe without a writer does not block.
    let pipe = place.path("pipe.md");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success(), "{made}");
    assert_eq!(content("pipe.md"), Err(Code::NotAFile));
}
