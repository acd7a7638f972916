use app::Tokenizer;
use operations::{Front, ToolSet};
use persona::TokenCounter as _;
use serde_json::{Value, json};

use super::*;

/// Every tool by its exact name: agents' instructions depend on them.
const NAMES: [&str; 55] = [
    "list_agent_personas",
    "get_agent_persona",
    "get_persona_manifest",
    "compile_persona",
    "search_library",
    "create_agent_persona",
    "update_agent_persona",
    "delete_agent_persona",
    "list_agent_parts",
    "get_agent_part",
    "create_agent_part",
    "update_agent_part",
    "delete_agent_part",
    "list_agent_traits",
    "get_agent_trait",
    "create_agent_trait",
    "update_agent_trait",
    "delete_agent_trait",
    "list_agent_skills",
    "get_agent_skill",
    "create_agent_skill",
    "update_agent_skill",
    "delete_agent_skill",
    "list_agent_guardrails",
    "get_agent_guardrail",
    "create_agent_guardrail",
    "update_agent_guardrail",
    "delete_agent_guardrail",
    "add_persona_part",
    "remove_persona_part",
    "add_persona_trait",
    "remove_persona_trait",
    "add_persona_skill",
    "remove_persona_skill",
    "add_persona_guardrail",
    "remove_persona_guardrail",
    "list_character_arcs",
    "get_character_arc",
    "create_character_arc",
    "update_character_arc",
    "delete_character_arc",
    "add_arc_stage",
    "remove_arc_stage",
    "add_stage_part",
    "remove_stage_part",
    "assign_persona_arc",
    "unassign_persona_arc",
    "advance_persona_stage",
    "reset_persona_stage",
    "list_library",
    "get_entity",
    "save_entity",
    "delete_entity",
    "test_persona",
    "compare_persona",
];

const LOAD: [&str; 9] = [
    "list_agent_personas",
    "get_agent_persona",
    "get_persona_manifest",
    "compile_persona",
    "search_library",
    "get_agent_part",
    "get_agent_trait",
    "get_agent_skill",
    "get_agent_guardrail",
];

#[test]
fn the_names_and_their_order_are_fixed() {
    let listed: Vec<String> =
        list(ToolSelection::default()).tools.iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(listed, NAMES);
    let load: Vec<&str> = ToolSelection::of(ToolSet::Load).names().collect();
    assert_eq!(load, LOAD);
    let author = ToolSelection::of(ToolSet::Author);
    assert!(author.names().all(|name| !name.contains("arc") || name.contains("search")));
    assert!(NAMES.iter().all(|name| author.contains(name)
        != (name.contains("arc_") || name.contains("_arc") || name.contains("stage"))));
}

#[test]
fn every_tool_sets_all_four_annotations() {
    for tool in LISTED.iter() {
        let hints = tool.annotations.as_ref().expect("annotations");
        let all =
            [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint];
        assert!(all.iter().all(Option::is_some), "{}", tool.name);
        assert_eq!(hints.open_world_hint, Some(false));
        let reads = ["list_", "get_", "search_"].iter().any(|verb| tool.name.starts_with(verb));
        assert_eq!(hints.read_only_hint, Some(reads), "{}", tool.name);
        let destroys =
            ["update_", "delete_", "remove_", "unassign_", "reset_", "assign_", "add_arc_stage", "save_"];
        let destroys = destroys.iter().any(|verb| tool.name.starts_with(verb));
        assert_eq!(hints.destructive_hint, Some(destroys), "{}", tool.name);
        let repeats = ["create_", "advance_"].iter().any(|verb| tool.name.starts_with(verb));
        assert_eq!(hints.idempotent_hint, Some(!repeats), "{}", tool.name);
    }
}

#[test]
fn every_schema_is_an_object_that_names_its_fields() {
    for tool in LISTED.iter() {
        assert!(tool.description.as_ref().is_some_and(|text| !text.is_empty()));
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        let output = tool.output_schema.as_ref().expect("an output schema");
        assert_eq!(output["type"], "object", "{}", tool.name);
        let fields = output["properties"].as_object().expect("fields");
        assert!(!fields.is_empty(), "{}", tool.name);
    }
}

/// The parameters by their exact names.
#[test]
fn the_parameters_are_those_that_were_promised() {
    for (tool, parameters) in [
        ("get_agent_persona", "compiled detail limit max_tokens name overrides revision scope types"),
        ("get_persona_manifest", "name scope"),
        ("compile_persona", "both detail limit max_tokens name overrides scope types"),
        ("search_library", "cursor kinds limit query scope"),
        ("get_agent_part", "name scope"),
        ("add_persona_part", "if_revision message part part_order persona priority scope"),
        ("remove_persona_part", "if_revision message part persona scope"),
        ("add_persona_trait", "if_revision message persona scope trait"),
        ("add_persona_skill", "if_revision message persona scope skill"),
        ("add_persona_guardrail", "guardrail if_revision message persona scope"),
        ("add_arc_stage", "arc condition description if_revision message name scope stage_order"),
        ("add_stage_part", "arc if_revision message part scope stage"),
        ("assign_persona_arc", "arc if_revision message persona scope stage"),
        ("advance_persona_stage", "persona scope"),
        ("reset_persona_stage", "persona scope"),
        ("delete_agent_part", "force if_revision message name scope"),
        ("list_library", "cursor kind limit query scope tags"),
        ("get_entity", "kind name revision scope"),
        ("save_entity", "entity if_revision kind message name scope"),
        ("delete_entity", "force if_revision kind message name scope"),
    ] {
        let schema = schema::input(operations::find(tool).expect(tool).input);
        let mut names: Vec<&str> =
            schema["properties"].as_object().expect("fields").keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), parameters, "{tool}");
    }
}

#[test]
fn every_tool_takes_a_scope() {
    for tool in LISTED.iter() {
        assert!(tool.input_schema["properties"].get("scope").is_some(), "{}", tool.name);
        let required = tool.input_schema.get("required").and_then(Value::as_array);
        assert!(required.into_iter().flatten().all(|name| name != "scope"), "{}", tool.name);
    }
}

/// Fifty tools cost an agent its context: the bars of what they may cost.
#[test]
fn the_schemas_stay_within_their_bars() {
    let tokens = |set| {
        let texts = schema_text(ToolSelection::of(set));
        texts.iter().map(|(_, text)| Tokenizer.count(text)).sum::<usize>()
    };
    let (load, author, all) = (tokens(ToolSet::Load), tokens(ToolSet::Author), tokens(ToolSet::All));
    assert!(load <= 2_000, "load: {load} tokens");
    assert!(all <= 12_000, "all: {all} tokens");
    assert!(load < author && author < all);
}

#[test]
fn a_tool_that_is_not_there_is_named() {
    let load = ToolSelection::of(ToolSet::Load);
    let error = |name: &str| unknown_tool(name, load).data.expect("an error has data")["error"].clone();
    assert_eq!(error("get_agent_persna")["candidates"][0], "get_agent_persona");
    assert_eq!(error("create_agent_part")["remedies"][0]["action"], "write_as");
    assert_eq!(error("zzzzzzzz")["remedies"][0]["action"], "use_one_of");
    assert_eq!(unknown_tool("x", load).code, rmcp::model::ErrorCode::INVALID_PARAMS);
}

#[test]
fn a_manifest_hints_at_the_tools_of_its_connection_alone() {
    let mut manifest: app::outputs::Manifest = serde_json::from_value(json!({
        "name": "a", "scope": "shared", "revision": 1,
        "parts": [], "traits": [], "skills": [], "guardrails": [],
        "tokens": { "detail": 90, "summary": 20, "tokenizer": "o200k_base" },
    }))
    .expect("a manifest");
    operations::add_hints(&mut manifest, Front::Mcp(ToolSelection::default()));
    assert_eq!(
        json!(manifest.on_demand_tools),
        json!({
            "get_agent_part(name)": "load full content of a specific part",
            "get_agent_trait(name)": "load instruction for a specific trait",
            "get_agent_skill(name)": "load skill content",
            "get_agent_guardrail(name)": "load guardrail content",
            "get_agent_persona(name, compiled: true)":
                "load all of it as one prompt: 90 tokens, 20 with detail: false",
        })
    );
    let two = "get_persona_manifest,get_agent_part".parse().expect("two tools");
    operations::add_hints(&mut manifest, Front::Mcp(two));
    assert_eq!(manifest.on_demand_tools.into_keys().collect::<Vec<_>>(), ["get_agent_part(name)"]);
}
