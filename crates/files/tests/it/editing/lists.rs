//! Changing lists item by item.

use super::*;

const PARTS: &str = "[personas.x]\nparts = [\n  \"a\", # tone\n  # the goal\n  { name = 'b', priority = 3, odd = 1 },\n  \"c\"\n] # all\n";

fn with_parts(parts: &Value) -> String {
    let (list, after) = PARTS.split_once("parts = ").expect("it has parts");
    let text = change(PARTS, Kind::Persona, "x", |persona| persona["parts"] = parts.clone());
    assert!(text.starts_with(list) && text.ends_with(" # all\n"), "{text}");
    assert_ne!(text, format!("{list}parts = {after}"));
    text.strip_prefix("[personas.x]\nparts = ")
        .and_then(|text| text.strip_suffix(" # all\n"))
        .expect("it does")
        .to_owned()
}

#[test]
fn items_come_and_go_and_the_others_stay() {
    assert_eq!(
        with_parts(&json!([
            { "name": "a", "order": 0 }, { "name": "b", "order": 1, "priority": 3 },
            { "name": "c", "order": 2 }, { "name": "d", "order": 3 },
        ])),
        "[\n  \"a\", # tone\n  # the goal\n  { name = 'b', priority = 3, odd = 1 },\n  \"c\",\n  \"d\"\n]"
    );
    assert_eq!(
        with_parts(&json!([{ "name": "b", "order": 0, "priority": 3 }, { "name": "c", "order": 1 }])),
        "[\n  # the goal\n  { name = 'b', priority = 3, odd = 1 },\n  \"c\"\n]"
    );
    assert_eq!(
        with_parts(&json!([{ "name": "a", "order": 0 }, { "name": "c", "order": 1 }])),
        "[\n  \"a\", # tone\n  # the goal\n  \"c\"\n]"
    );
}

#[test]
fn an_item_changes_within_its_braces() {
    assert_eq!(
        with_parts(&json!([
            { "name": "a", "order": 0 }, { "name": "b", "order": 1, "priority": 9 }, { "name": "c", "order": 2 },
        ])),
        "[\n  \"a\", # tone\n  # the goal\n  { name = 'b', priority = 9, odd = 1 },\n  \"c\"\n]"
    );
    assert_eq!(
        with_parts(&json!([
            { "name": "a", "order": 0 }, { "name": "b", "order": 7, "priority": 0 }, { "name": "c", "order": 2 },
        ])),
        "[\n  \"a\", # tone\n  # the goal\n  { name = 'b', odd = 1, order = 7 },\n  \"c\"\n]"
    );
}

#[test]
fn an_order_that_follows_from_the_place_is_spelled_out_when_the_place_changes() {
    // The orders stay 0, 1 and 2, but a new item comes first.
    assert_eq!(
        with_parts(&json!([
            { "name": "z", "order": 5 }, { "name": "a", "order": 0 },
            { "name": "b", "order": 1, "priority": 3 }, { "name": "c", "order": 2 },
        ])),
        "[\n  { name = \"z\", order = 5 }, # tone\n  # the goal\n  { name = \"a\", order = 0 },\n  { name = \"b\", order = 1, priority = 3 },\n  { name = \"c\", order = 2 }\n]"
    );
    let text = "[personas.x]\nparts = [{ name = 'a', order = 0 }, 'b']\n";
    let text = change(text, Kind::Persona, "x", |persona| {
        persona["parts"] =
            json!([{ "name": "n", "order": 0 }, { "name": "a", "order": 0 }, { "name": "b", "order": 2 }]);
    });
    assert_eq!(text, "[personas.x]\nparts = [\"n\", { name = 'a', order = 0 }, 'b']\n");
}

#[test]
fn models_keep_their_lines() {
    let text = "[personas.x]\npreferred_models = [\n    # first choice\n    { provider = \"p\",   model = \"m\" }, # fast\n    { provider = \"q\", model = \"n\", temperature = 0 },\n]\n";
    let changed = change(text, Kind::Persona, "x", |persona| {
        persona["preferred_models"][0]["temperature"] = json!(0.5);
        persona["preferred_models"]
            .as_array_mut()
            .expect("a list")
            .push(json!({ "provider": "r", "model": "o" }));
    });
    assert_eq!(
        changed,
        "[personas.x]\npreferred_models = [\n    # first choice\n    { provider = \"p\",   model = \"m\", temperature = 0.5 }, # fast\n    { provider = \"q\", model = \"n\", temperature = 0 },\n    { provider = \"r\", model = \"o\" },\n]\n"
    );
}

const STAGES: &str = "[arcs.x]\nsummary = 's'\n\n# begin\n[[arcs.x.stages]]\nname = 'one' # 1\nodd = 1\n\n[[arcs.x.stages]]\nname = 'two'\n\n[skills.y]\n";

fn with_stages(stages: &Value) -> String {
    change(STAGES, Kind::Arc, "x", |arc| arc["stages"] = stages.clone())
}

#[test]
fn stages_come_and_go_as_tables() {
    assert_eq!(
        with_stages(&json!([{ "name": "one", "order": 1 }])),
        "[arcs.x]\nsummary = 's'\n\n# begin\n[[arcs.x.stages]]\nname = 'one' # 1\nodd = 1\n\n[skills.y]\n"
    );
    assert_eq!(
        with_stages(&json!([
            { "name": "one", "order": 1 }, { "name": "half", "order": 2, "parts": ["p"] }, { "name": "two", "order": 3 },
        ])),
        "[arcs.x]\nsummary = 's'\n\n# begin\n[[arcs.x.stages]]\nname = 'one' # 1\nodd = 1\n\n[[arcs.x.stages]]\nname = \"half\"\nparts = [\"p\"]\n\n[[arcs.x.stages]]\nname = 'two'\n\n[skills.y]\n"
    );
    assert_eq!(
        with_stages(
            &json!([{ "name": "zero", "order": 1 }, { "name": "one", "order": 1 }, { "name": "two", "order": 3 }])
        ),
        "[arcs.x]\nsummary = 's'\n\n[[arcs.x.stages]]\nname = \"zero\"\n\n# begin\n[[arcs.x.stages]]\nname = 'one' # 1\nodd = 1\norder = 1\n\n[[arcs.x.stages]]\nname = 'two'\n\n[skills.y]\n"
    );
    assert_eq!(with_stages(&json!([])), "[arcs.x]\nsummary = 's'\n\n[skills.y]\n");
    assert_eq!(
        with_stages(&json!([{ "name": "two", "order": 1 }, { "name": "one", "order": 2 }])),
        "[arcs.x]\nsummary = 's'\n\n[[arcs.x.stages]]\nname = \"two\"\n\n[[arcs.x.stages]]\nname = \"one\"\n\n[skills.y]\n"
    );
}

#[test]
fn categories_change_one_by_one() {
    let text =
        "[tool_presets.x.categories]\nfiles = ['read', 'write'] # files\nweb = ['fetch']\n\n[skills.y]\n";
    let changed = change(text, Kind::ToolPreset, "x", |preset| {
        preset["categories"] =
            json!({ "files": [{ "name": "read" }, { "name": "write", "weight": 5 }], "shell": [] });
    });
    assert_eq!(
        changed,
        "[tool_presets.x.categories]\nfiles = ['read', { name = \"write\", weight = 5 }] # files\nshell = []\n\n[skills.y]\n"
    );
}
