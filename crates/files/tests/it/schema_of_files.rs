//! The published schema of a personas.toml: it accepts what can be read and marks what cannot, and the
//! documentation agrees with both.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use files::{ProblemLevel, document, json_schema};
use jsonschema::Validator;
use persona::{Approval, Code, limits};
use serde_json::Value;
use tempfile::TempDir;

static SCHEMA: LazyLock<Value> = LazyLock::new(json_schema);
static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| jsonschema::validator_for(&SCHEMA).unwrap());

/// The marks of an editor, as paths into the file.
fn marked(text: &str) -> Vec<String> {
    let file: Value = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    VALIDATOR.iter_errors(&file).map(|error| format!("{} {error}", error.instance_path())).collect()
}

/// The problems that Masque reports for a file in this directory.
fn reported(directory: &Path, text: &str) -> Vec<(ProblemLevel, String)> {
    let document = document::read(&directory.join("personas.toml"), text).unwrap();
    // A schema does not demand that a persona says something.
    let problems = document.problems.into_iter().filter(|problem| problem.cause != Code::SaysNothing);
    problems.map(|problem| (problem.level, problem.to_string())).collect()
}

fn accepts(text: &str) {
    let marked = marked(text);
    assert!(marked.is_empty(), "marked: {marked:?}\n{text}");
    let reported = reported(Path::new("."), text);
    assert!(reported.is_empty(), "reported: {reported:?}\n{text}");
}

/// An editor marks this place, and Masque says something too.
fn marks(place: &str, text: &str) {
    let marked = marked(text);
    assert!(marked.iter().any(|mark| mark.starts_with(place)), "{place} is not among {marked:?}\n{text}");
    assert!(!reported(Path::new("."), text).is_empty(), "Masque reads this without a word:\n{text}");
}

fn manifest(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn documentation() -> String {
    fs::read_to_string(manifest("../../docs/personas-toml.md")).unwrap()
}

/// Every object of the schema that describes fields, and these.
fn fields(schema: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        properties
            .iter()
            .filter(|(_, schema)| schema.is_object())
            .for_each(|(name, schema)| visit(name, schema));
    }
    match schema {
        Value::Object(inner) => inner.values().for_each(|schema| fields(schema, visit)),
        Value::Array(inner) => inner.iter().for_each(|schema| fields(schema, visit)),
        _ => {}
    }
}

#[test]
fn it_is_a_schema_of_the_draft_that_it_names() {
    assert!(jsonschema::draft7::meta::is_valid(&SCHEMA));
    assert_eq!(SCHEMA["$schema"], "http://json-schema.org/draft-07/schema#");
}

#[test]
fn a_default_may_also_be_written() {
    let mut defaults = 0;
    fields(&SCHEMA, &mut |name, schema| {
        if let Some(default) = schema.get("default") {
            defaults += 1;
            assert!(jsonschema::draft7::is_valid(schema, default), "{name} = {default}");
        }
    });
    assert!(defaults > 20, "only {defaults} defaults");
}

#[test]
fn the_builtin_files_follow_it() {
    let mut files = 0;
    for file in fs::read_dir(manifest("../builtins/builtin")).unwrap() {
        accepts(&fs::read_to_string(file.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 7, "only {files} files");
}

#[test]
fn every_example_of_the_documentation_follows_it_and_loads() {
    let text = documentation();
    let blocks: Vec<&str> =
        text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 15, "only {} examples", blocks.len());
    for block in blocks {
        let directory = TempDir::new().unwrap();
        for path in block.lines().filter_map(|line| line.split_once("_file = ")).map(|(_, path)| path) {
            let path = directory.path().join(path.trim_matches('"'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "A text.\n").unwrap();
        }
        assert_eq!(marked(block), Vec::<String>::new(), "{block}");
        assert_eq!(reported(directory.path(), block), Vec::new(), "{block}");
    }
}

#[test]
fn every_field_and_word_is_documented() {
    let text = documentation();
    let mut missing = Vec::new();
    fields(&SCHEMA, &mut |name, schema| {
        let quoted = |word: &str| text.contains(&format!("`{word}`"));
        // The documentation shows tables as headers.
        if !quoted(name) && !text.contains(&format!("`[{name}.NAME]`")) {
            missing.push(name.to_owned());
        }
        let words = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        for word in
            words.filter_map(Value::as_str).filter(|word| !quoted(word) && !quoted(&format!("\"{word}\"")))
        {
            missing.push(format!("{name} = {word}"));
        }
    });
    assert!(missing.is_empty(), "docs/personas-toml.md does not have {missing:?}");
}

#[test]
fn all_ways_of_writing_are_accepted() {
    accepts("");
    accepts("[personas.empty]");
    accepts("personas.dotted.summary = \"s\"");
    accepts("personas = { inline = { summary = \"s\" }, other = {} }");
    accepts("[personas.p]\nname = \"p\"");
    accepts("[personas.p]\nparts = [\"a\", { name = \"b\" }, { name = \"c\", order = -1, priority = 5 }]");
    accepts("[personas.p]\npreferred_models = [{ provider = \"p\", model = \"m\", temperature = 1 }]");
    accepts("[[personas.p.preferred_models]]\nprovider = \"p\"\nmodel = \"m\"\nmax_output_tokens = 1");
    accepts("[personas.p]\nextends = \"q\"\n[personas.q]\nextends = \"builtin:critic\"");
    accepts("[parts.p]\npart_type = \"tone\"\nsummary = \"s\"");
    accepts("[[arcs.a.stages]]\nname = \"one\"\n[[arcs.a.stages]]\nname = \"two\"\norder = 7");
    accepts("[tool_presets.t]\ncategories.\"my own\" = [\"a_*\", { name = \"b\", weight = 1 }]");
    accepts(
        "[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]\nenv.A = \"b\"\n[mcp_servers.\"b c\"]\nurl = \"http://x\"",
    );
    accepts("[providers.p]\nkind = \"gemini\"\nmodels = [\"m\"]\ntimeout_s = 5");
    accepts("[bias_profiles.b]\nmultipliers = { read = 0, write = 10.0 }");
    accepts("[context_presets.c]\nentries = [{ glob = \"**/*..rs\" }, { path = \"a/b\", view = \"none\" }]");
}

/// The reader of these tables reports their mistakes itself, in a trusted project.
#[test]
fn mistakes_in_what_a_project_connects_to_are_marked_too() {
    for (place, text) in [
        ("/mcp_servers/s ", "[mcp_servers.s]\ncomand = \"a typo\""),
        ("/mcp_servers/s/args", "[mcp_servers.s]\nargs = \"-y\""),
        ("/providers/p/kind", "[providers.p]\nkind = \"other\""),
        ("/providers/p ", "[providers.p]\nbase_url = \"http://x\""),
    ] {
        let marked = marked(text);
        assert!(marked.iter().any(|mark| mark.starts_with(place)), "{place} is not among {marked:?}\n{text}");
    }
}

#[test]
fn mistakes_are_marked_where_they_are() {
    // Keys of the whole file are marked at its root.
    marks(" ", "[persona.p]");
    marks("/personas ", "[personas.\"two words\"]");
    marks("/personas ", "[personas._p]");
    marks("/personas/p ", "[personas.p]\nsytem_prompt = \"a typo\"");
    marks("/personas/p/name", "[personas.p]\nname = \"a b\"");
    marks("/personas/p/summary", "[personas.p]\nsummary = 5");
    marks("/personas/p/extends", "[personas.p]\nextends = \"home:q\"");
    marks("/personas/p/traits", "[personas.p]\ntraits = \"calm\"");
    marks("/personas/p/traits", "[personas.p]\ntraits = [\"calm\", \"calm\"]");
    marks("/personas/p/skills/0", "[personas.p]\nskills = [\"a b\"]");
    marks("/personas/p/greetings/1", "[personas.p]\ngreetings = [\"Hi.\", \" \"]");
    marks("/personas/p/examples/0", "[[personas.p.examples]]\nuser = \"Hi.\"");
    marks("/personas/p/examples/0/user", "[personas.p]\nexamples = [{ user = \" \", persona = \"No.\" }]");
    marks("/personas/p/tool_preset", "[personas.p]\ntool_preset = \"read only\"");
    marks("/personas/p/parts_mode", "[personas.p]\nparts_mode = \"add\"");
    marks("/personas/p/aggregation_strategy", "[personas.p]\naggregation_strategy = \"all\"");
    accepts("[personas.p]\nmax_tool_rounds = 1000");
    marks("/personas/p/max_tool_rounds", "[personas.p]\nmax_tool_rounds = 1001");
    marks("/personas/p/parts/0", "[personas.p]\nparts = [\"a b\"]");
    marks("/personas/p/parts/0", "[personas.p]\nparts = [{ order = 1 }]");
    marks("/personas/p/parts/0", "[personas.p]\nparts = [{ name = \"a\", prority = 1 }]");
    marks("/personas/p/parts/0/order", "[personas.p]\nparts = [{ name = \"a\", order = 3_000_000_000 }]");
    marks("/personas/p/preferred_models/0", "[personas.p]\npreferred_models = [{ provider = \"p\" }]");
    marks("/personas/p/plan_persona", "[personas.p.plan_persona]\nprompt = \"x\"");
    marks("/parts/p", "[parts.p]\ncontent = \"no type\"");
    marks("/parts/p/part_type", "[parts.p]\npart_type = \"tonne\"\ncontent = \"x\"");
    marks("/parts/p", "[parts.p]\npart_type = \"tone\"");
    marks("/traits/t/trait_type", "[traits.t]\ntrait_type = \"calm\"");
    marks("/guardrails/g/severity", "[guardrails.g]\nseverity = \"fatal\"");
    marks("/guardrails/g/tags/0", "[guardrails.g]\ntags = [\" \"]");
    marks("/arcs/a/stages/0", "[[arcs.a.stages]]\norder = 1");
    marks("/tool_presets/t/categories", "[tool_presets.t.categories]\nread = \"read_file\"");
    marks("/tool_presets/t/categories/r/0/approval", preset("approval = \"maybe\"").as_str());
    marks("/context_presets/c/entries/0", "[context_presets.c]\nentries = [{ view = \"full\" }]");
    marks("/context_presets/c/entries/0", "[context_presets.c]\nentries = [{ glob = \"a\", path = \"b\" }]");
    marks("/context_presets/c/entries/0/glob", "[context_presets.c]\nentries = [{ glob = \"a/../../b\" }]");
    marks("/context_presets/c/entries/0/path", "[context_presets.c]\nentries = [{ path = \"~/b\" }]");
}

#[test]
fn a_text_is_inline_or_in_a_file_below() {
    let part = "[parts.p]\npart_type = \"tone\"\n";
    marks("/parts/p/content", &format!("{part}content = \"a\"\ncontent_file = \"b.md\""));
    marks("/parts/p/content_file", &format!("{part}content_file = \"/b.md\""));
    marks("/parts/p/content_file", &format!("{part}content_file = \"a/../../b.md\""));
    marks("/parts/p/content_file", &format!("{part}content_file = \"\""));
    marks("/traits/t", "[traits.t]\ntrait_type = \"social\"\ncontent_file = \"b.md\"");
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join("b.md"), "A text.\n").unwrap();
    let tables = [
        part,
        "[personas.p]\ndetail_file = \"b.md\"\nsystem_prompt_file = \"./b.md\"\n",
        "[personas.q.plan_persona]\ninstruction_file = \"b.md\"\n",
        "[traits.t]\ntrait_type = \"social\"\ninstruction_file = \"b.md\"\n",
        "[skills.s]\n",
        "[guardrails.g]\n",
        "[test_inputs.i]\n",
    ];
    for table in tables {
        let has = table.contains("_file");
        let text = if has { table.to_owned() } else { format!("{table}content_file = \"b.md\"\n") };
        assert_eq!(marked(&text), Vec::<String>::new(), "{text}");
        assert_eq!(reported(directory.path(), &text), Vec::new(), "{text}");
    }
}

fn preset(tool: &str) -> String {
    format!("[tool_presets.t]\ncategories.r = [{{ name = \"a\", {tool} }}]")
}

fn model(setting: &str) -> String {
    format!("[personas.p]\npreferred_models = [{{ provider = \"p\", model = \"m\", {setting} }}]")
}

#[test]
fn numbers_have_the_bounds_that_reading_has() {
    for (field, good, bad) in [
        ("temperature", ["0", "2.0"], ["-0.1", "2.1"]),
        ("top_p", ["0.0", "1"], ["-1", "1.01"]),
        ("max_output_tokens", ["1", "4294967295"], ["0", "4294967296"]),
    ] {
        good.iter().for_each(|value| accepts(&model(&format!("{field} = {value}"))));
        let place = format!("/personas/p/preferred_models/0/{field}");
        bad.iter().for_each(|value| marks(&place, &model(&format!("{field} = {value}"))));
    }
    ["1", "5"].iter().for_each(|weight| accepts(&preset(&format!("weight = {weight}"))));
    for weight in ["0", "6", "2.5"] {
        marks("/tool_presets/t/categories/r/0/weight", &preset(&format!("weight = {weight}")));
    }
    let profile = |value: &str| format!("[bias_profiles.b]\nmultipliers.read = {value}");
    ["0", "10"].iter().for_each(|value| accepts(&profile(value)));
    ["-0.5", "10.5"].iter().for_each(|value| marks("/bias_profiles/b/multipliers/read", &profile(value)));
    accepts("[context_presets.c]\ntoken_budget = 1");
    marks("/context_presets/c/token_budget", "[context_presets.c]\ntoken_budget = 0");
}

#[test]
fn lists_have_the_limits_that_reading_has() {
    let model = r#"{ provider = "p", model = "m" }"#;
    for (place, most, list, item) in [
        ("/personas/p/tags", limits::TAGS, "personas.p.tags", "\"n#\""),
        ("/personas/p/parts", limits::LINKS, "personas.p.parts", "\"n#\""),
        ("/personas/p/traits", limits::LINKS, "personas.p.traits", "\"n#\""),
        ("/personas/p/remove_skills", limits::LINKS, "personas.p.remove_skills", "\"n#\""),
        ("/personas/p/greetings", limits::GREETINGS, "personas.p.greetings", "\"n#\""),
        ("/personas/p/preferred_models", limits::PREFERRED_MODELS, "personas.p.preferred_models", model),
        (
            "/personas/p/examples",
            limits::EXAMPLES,
            "personas.p.examples",
            "{ user = \"u\", persona = \"p\" }",
        ),
        ("/guardrails/g/deny_tools", limits::DENY_TOOLS, "guardrails.g.deny_tools", "\"n#\""),
        ("/arcs/a/stages", limits::STAGES, "arcs.a.stages", "{ name = \"n#\" }"),
        ("/arcs/a/stages/0/parts", limits::STAGE_PARTS, "[[arcs.a.stages]]\nname = \"s\"\nparts", "\"n#\""),
        ("/tool_presets/t/categories/r", limits::PRESET_TOOLS, "tool_presets.t.categories.r", "\"n#\""),
        (
            "/context_presets/c/entries",
            limits::CONTEXT_ENTRIES,
            "context_presets.c.entries",
            "{ path = \"a\" }",
        ),
        ("/test_inputs/i/expectations", limits::EXPECTATIONS, "test_inputs.i.expectations", "\"n#\""),
    ] {
        let written = |count: usize| {
            let items: Vec<String> = (0..count).map(|at| item.replace('#', &at.to_string())).collect();
            format!("{list} = [{}]", items.join(", "))
        };
        accepts(&written(most));
        marks(place, &written(most + 1));
    }
}

#[test]
fn texts_and_keys_have_the_limits_that_reading_has() {
    for (place, most, field) in [
        ("/personas/p/display_name", limits::DISPLAY_NAME_CHARS, "personas.p.display_name"),
        ("/personas/p/summary", limits::SHORT_TEXT_BYTES, "personas.p.summary"),
        ("/personas/p/system_prompt", limits::LONG_TEXT_BYTES, "personas.p.system_prompt"),
        ("/skills/s/content", limits::LONG_TEXT_BYTES, "skills.s.content"),
    ] {
        let written = |count: usize| format!("{field} = \"{}\"", "x".repeat(count));
        accepts(&written(most));
        marks(place, &written(most + 1));
    }
    let named = |count: usize| format!("[skills.{}]", "x".repeat(count));
    accepts(&named(limits::NAME_CHARS));
    marks("/skills ", &named(limits::NAME_CHARS + 1));
    let categories =
        |count: usize| (0..count).map(|at| format!("tool_presets.t.categories.c{at} = []\n")).collect();
    let allowed: String = categories(limits::CATEGORIES);
    accepts(&allowed);
    let unlawful: String = categories(limits::CATEGORIES + 1);
    marks("/tool_presets/t/categories ", &unlawful);
}

#[test]
fn builtin_presets_change_nothing_without_asking() {
    let reading = ["read_file", "list_files", "search_files", "load_skill"];
    let mut seen = Vec::new();
    for (name, preset) in builtins::of::<persona::ToolPreset>() {
        seen.push(name.as_str());
        for tool in preset.categories.values().flatten().filter(|tool| !reading.contains(&tool.name.as_str()))
        {
            assert_ne!(tool.approval, Some(Approval::Auto), "{name}: {}", tool.name);
        }
    }
    assert_eq!(seen, ["editor", "full", "read_only"]);
    let full = &builtins::of::<persona::ToolPreset>()["full"].categories;
    for (name, profile) in builtins::of::<persona::BiasProfile>() {
        assert!(profile.multipliers.keys().eq(full.keys()), "{name} does not know all categories, or others");
    }
}
