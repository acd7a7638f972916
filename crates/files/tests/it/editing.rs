//! Single edits, as a reader of the file sees them.

use std::path::Path;

use files::document::{self, Document};
use files::edit::{Edit, EditError, Edited, apply};
use persona::{AnyEntity, BrokenRule, Invalid, Kind, Name};
use serde_json::{Value, json};

mod fields;
mod included;
mod lists;
mod odd;

pub(crate) fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

pub(crate) fn entity(kind: Kind, value: Value) -> AnyEntity {
    AnyEntity::from_json(kind, value).expect("an entity")
}

pub(crate) fn read(text: &str) -> Document {
    document::read(Path::new("personas.toml"), text).expect("it is TOML")
}

/// Applies edits and reads the outcome back.
fn edit(text: &str, edits: &[Edit<'_>]) -> Result<Edited, EditError> {
    let edited = apply(text, edits, &read(text))?;
    if let Some(document) = &edited.document {
        let again = read(&edited.text);
        assert_eq!(document.entries, again.entries);
        assert_eq!((&document.hash, document.problems.len()), (&again.hash, again.problems.len()));
        assert!(apply(&edited.text, &[], document).is_ok(), "the document is of the new text");
    }
    Ok(edited)
}

fn put(text: &str, kind: Kind, value: Value) -> String {
    let entity = entity(kind, value);
    let edited = edit(text, &[Edit::Put { entity: &entity }]).expect("it can be put");
    let again = read(&edited.text);
    assert_eq!(again.get(kind, entity.name().as_str()).map(|entry| &entry.entity), Some(&entity));
    edited.text
}

/// Changes the JSON of an entry and puts it back.
fn change(text: &str, kind: Kind, name: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value = read(text).get(kind, name).expect("it is there").entity.to_json();
    change(&mut value);
    put(text, kind, value)
}

fn remove(text: &str, kind: Kind, removed: &str) -> String {
    edit(text, &[Edit::Remove { kind, name: &name(removed) }]).expect("it can be removed").text
}

fn rename(text: &str, kind: Kind, old: &str, new: &str) -> String {
    edit(text, &[Edit::Rename { kind, old: &name(old), new: &name(new) }]).expect("it can be renamed").text
}

const SKILL: &str = "[skills.new]\ncontent = \"c\"\n";

fn add_skill(text: &str) -> String {
    put(text, Kind::Skill, json!({ "name": "new", "content": "c" }))
}

#[test]
fn a_new_entry_is_appended_after_a_blank_line() {
    for (text, above) in [
        ("", ""),
        ("# mine\n", "# mine\n\n"),
        ("# mine", "# mine\n\n"),
        ("[skills.a]\n", "[skills.a]\n\n"),
        ("[skills.a]\n\n", "[skills.a]\n\n"),
        ("[skills.a]\n\n\n", "[skills.a]\n\n\n"),
        ("skills.a.content = 'x'", "skills.a.content = 'x'\n\n"),
        ("[skills]\na = {}\n", "[skills]\na = {}\n\n"),
        ("\u{feff}", "\u{feff}"),
        ("title = 'x'\n", "title = 'x'\n\n"),
    ] {
        assert_eq!(add_skill(text), format!("{above}{SKILL}"));
    }
    assert_eq!(add_skill("[skills.a]\r\n"), "[skills.a]\r\n\r\n[skills.new]\r\ncontent = \"c\"\r\n");
    assert_eq!(add_skill("skills = {}\n"), "skills = { new = { content = \"c\" } }\n");
    assert_eq!(
        add_skill("skills = { a = {} } # all\n"),
        "skills = { a = {}, new = { content = \"c\" } } # all\n"
    );
}

#[test]
fn a_new_entry_says_only_what_needs_saying() {
    let text = put(
        "",
        Kind::Persona,
        json!({
            "name": "coder", "summary": "Writes \"code\".", "system_prompt": "You write.\n\n  Code.  \n\"\"\"",
            "parts": [{ "name": "a", "order": 0 }, { "name": "b", "order": 1 }],
            "preferred_models": [{ "provider": "p", "model": "m", "temperature": 0.5 }],
            "plan_persona": { "model": "x" }, "tags": ["t"],
        }),
    );
    assert_eq!(
        text,
        r#"[personas.coder]
summary = "Writes \"code\"."
system_prompt = """
You write.

  Code. \u0020
""\""""
preferred_models = [
  { provider = "p", model = "m", temperature = 0.5 },
]
parts = ["a", "b"]
tags = ["t"]

[personas.coder.plan_persona]
model = "x"
"#
    );
    let text = put(
        "",
        Kind::Arc,
        json!({ "name": "growth", "stages": [
            { "name": "one", "order": 1, "parts": ["a"] },
            { "name": "two", "order": 5 },
        ] }),
    );
    assert_eq!(
        text,
        "[arcs.growth]\n\n[[arcs.growth.stages]]\nname = \"one\"\nparts = [\"a\"]\n\n[[arcs.growth.stages]]\nname = \"two\"\norder = 5\n"
    );
    let text = put(
        "",
        Kind::ToolPreset,
        json!({ "name": "ro", "categories": {
            "files": [{ "name": "read" }, { "name": "write", "approval": "ask" }], "web search": [],
        } }),
    );
    assert_eq!(
        text,
        "[tool_presets.ro]\n\n[tool_presets.ro.categories]\nfiles = [\n  \"read\",\n  { name = \"write\", approval = \"ask\" },\n]\n\"web search\" = []\n"
    );
    let text = put("", Kind::Guardrail, json!({ "name": "g", "content": "c" }));
    assert_eq!(text, "[guardrails.g]\nseverity = \"medium\"\ncontent = \"c\"\n");
    let text = put(
        "",
        Kind::Persona,
        json!({ "name": "p", "parts": [{ "name": "a", "order": 0 }, { "name": "b", "order": 9, "priority": 1 }] }),
    );
    assert_eq!(text, "[personas.p]\nparts = [\n  \"a\",\n  { name = \"b\", order = 9, priority = 1 },\n]\n");
}

#[test]
fn connections_of_a_project_stay_as_they_are() {
    let connections =
        "# ours\n[mcp_servers.git]\ncommand = 'git-mcp' # fast\n\n[providers]\nhouse.kind = 'gemini'\n";
    let text = add_skill(connections);
    assert!(text.starts_with(connections) && text.contains("[skills."), "{text}");
    assert_eq!(remove(&text, Kind::Skill, "new").trim_end(), connections.trim_end());
}

#[test]
fn an_entry_goes_with_the_comments_that_touch_it() {
    let text = "# head\n\n# on a\n[skills.a]\ncontent = 'a'\n# end of a\n\n# alone\n\n# on b\n[skills.b]\ncontent = 'b' # b\n\n[skills.c]\n";
    assert_eq!(
        remove(text, Kind::Skill, "a"),
        "# head\n\n# alone\n\n# on b\n[skills.b]\ncontent = 'b' # b\n\n[skills.c]\n"
    );
    assert_eq!(
        remove(text, Kind::Skill, "b"),
        "# head\n\n# on a\n[skills.a]\ncontent = 'a'\n# end of a\n\n# alone\n\n[skills.c]\n"
    );
    assert_eq!(remove(text, Kind::Skill, "c"), text.strip_suffix("\n[skills.c]\n").expect("it ends so"));
    assert_eq!(remove(text, Kind::Skill, "none"), text);
    assert_eq!(remove(&add_skill(text), Kind::Skill, "new"), text);
    assert_eq!(remove("[skills.a]", Kind::Skill, "a"), "");
    let tight = "[skills.a]\n[skills.b]\ncontent = 'b'\n\n[skills.c]\n";
    assert_eq!(remove(tight, Kind::Skill, "b"), "[skills.a]\n\n[skills.c]\n");
}

#[test]
fn an_entry_goes_however_it_is_written() {
    let arc = "[arcs.x]\n\n# loose, but in the arc\n\n[[arcs.x.stages]]\nname = 'a'\n\n[skills.y]\n\n# far\n[[arcs.x.stages]]\nname = 'b'\n";
    assert_eq!(remove(arc, Kind::Arc, "x"), "[skills.y]\n");
    assert_eq!(
        remove("skills.a.content = 'a'\nskills.b.content = 'b'\n", Kind::Skill, "a"),
        "skills.b.content = 'b'\n"
    );
    assert_eq!(remove("[skills]\n# a\na = {}\nb = {}\n", Kind::Skill, "a"), "[skills]\nb = {}\n");
    assert_eq!(remove("skills = { a = {}, b = {} }\n", Kind::Skill, "a"), "skills = { b = {} }\n");
    assert_eq!(remove("skills = { a = {} }\n", Kind::Skill, "a"), "skills = {}\n");
    let both = [
        Edit::Remove { kind: Kind::Skill, name: &name("a") },
        Edit::Remove { kind: Kind::Skill, name: &name("b") },
    ];
    assert_eq!(
        edit("skills = { a = {}, b = {}, c = {} }\n", &both).expect("removed").text,
        "skills = { c = {} }\n"
    );
}

#[test]
fn a_rename_changes_keys_only() {
    let text = "# on a\n[personas . \"a\"] # a\nname = 'a'\nsummary = 'a'\n\n[personas.a.plan_persona]\nmodel = 'a'\n\n[personas.b]\n";
    assert_eq!(
        rename(text, Kind::Persona, "a", "z"),
        "# on a\n[personas . z] # a\nname = \"z\"\nsummary = 'a'\n\n[personas.z.plan_persona]\nmodel = 'a'\n\n[personas.b]\n"
    );
    assert_eq!(rename("skills.a.content = 'a'\n", Kind::Skill, "a", "z"), "skills.z.content = 'a'\n");
    assert_eq!(
        rename("skills = { a = { name = 'a' }, b = {} }\n", Kind::Skill, "a", "z"),
        "skills = { z = { name = \"z\" }, b = {} }\n"
    );
    let to = |new: &str| {
        let new = name(new);
        edit(text, &[Edit::Rename { kind: Kind::Persona, old: &name("a"), new: &new }])
            .map(|edited| edited.text)
    };
    assert_eq!(to("a").as_deref(), Ok(text));
    assert_eq!(to("b"), Err(EditError::Exists { kind: Kind::Persona, name: name("b") }));
    let missing = edit(text, &[Edit::Rename { kind: Kind::Persona, old: &name("q"), new: &name("r") }]);
    assert_eq!(
        missing.map(|edited| edited.text),
        Err(EditError::Missing { kind: Kind::Persona, name: name("q") })
    );
}

#[test]
fn edits_build_on_each_other() {
    let first = entity(Kind::Skill, json!({ "name": "a", "content": "one" }));
    let second = entity(Kind::Skill, json!({ "name": "b", "content": "two" }));
    let (a, b) = (name("a"), name("b"));
    let edits = [
        Edit::Put { entity: &first },
        Edit::Rename { kind: Kind::Skill, old: &a, new: &b },
        Edit::Put { entity: &second },
        Edit::Put { entity: &first },
        Edit::Remove { kind: Kind::Skill, name: &a },
    ];
    assert_eq!(edit("# top\n", &edits).expect("edited").text, "# top\n\n[skills.b]\ncontent = \"two\"\n");
}

#[test]
fn an_unwritable_entity_is_refused() {
    let skill = entity(Kind::Skill, json!({ "name": "a", "content": "x" }));
    let put = [Edit::Put { entity: &skill }];
    let stale = apply("[skills.a]\n", &put, &read("[skills.b]\n"));
    assert_eq!(stale.map(|edited| edited.text), Err(EditError::Stale));
    let invalid = entity(Kind::Skill, json!({ "name": "a", "content": "a\0b" }));
    let refused = edit("", &[Edit::Put { entity: &invalid }]).expect_err("refused");
    let invalid = Invalid { field: "content".to_owned(), rule: BrokenRule::Nul };
    assert_eq!(refused, EditError::Invalid { kind: Kind::Skill, name: name("a"), invalid });
    for odd in ["[[skills]]\nx = 1\n", "skills = 3\n", "skills = { a.content = 'y' }\n", "[[skills.a]]\n"] {
        let refused = edit(odd, &put).expect_err("refused");
        assert_eq!(refused, EditError::ByHand { kind: Kind::Skill, name: name("a") }, "{odd}");
    }
}

#[test]
fn a_put_replaces_a_broken_entry() {
    let text = "[skills.a]\nname = 'b' # wrong\ncontent = 3 # wrong too\nmystery = 1\ntags = 'x'\ndescription = 'd'\n";
    assert!(read(text).is_broken(Kind::Skill, "a"));
    assert_eq!(
        put(text, Kind::Skill, json!({ "name": "a", "content": "c", "tags": ["t"] })),
        "[skills.a]\nname = \"a\" # wrong\ncontent = \"c\" # wrong too\nmystery = 1\ntags = [\"t\"]\n"
    );
    assert_eq!(
        put("[skills]\na = 3 # what\n", Kind::Skill, json!({ "name": "a" })),
        "[skills]\na = {} # what\n"
    );
    assert_eq!(remove(text, Kind::Skill, "a"), "");
    assert_eq!(rename("[skills.a]\ntags = 3\n", Kind::Skill, "a", "b"), "[skills.b]\ntags = 3\n");
}
