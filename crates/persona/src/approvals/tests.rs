use serde_json::{Map, Value, json};

use super::*;
use crate::AnyEntity;

/// Definitions from `SCOPE KIND NAME word…; …`. The words of a preset are `tool=approval`, those of a guardrail
/// denied tools, those of a persona `field=name`.
struct Definitions(Vec<(Scope, AnyEntity)>);

impl Definitions {
    fn parse(script: &str) -> Self {
        Self(script.split(';').filter(|line| !line.trim().is_empty()).map(definition).collect())
    }
}

impl Catalog for Definitions {
    fn find(&self, scope: Scope, kind: Kind, name: &Name) -> Option<AnyEntity> {
        let mut found = self.0.iter().filter(|(known, entity)| *known == scope && entity.kind() == kind);
        found.find(|(_, entity)| entity.name() == name).map(|(_, entity)| entity.clone())
    }
}

fn definition(line: &str) -> (Scope, AnyEntity) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [scope, kind, name, words @ ..] = &words[..] else { panic!("{line}: SCOPE KIND NAME") };
    let name = Name::parse(name).expect("valid");
    let entity = match *kind {
        "preset" => {
            let tool = |word: &&str| match word.split_once('=') {
                Some((name, approval)) => json!({ "name": name, "approval": approval }),
                None => json!({ "name": word }),
            };
            let tools: Vec<Value> = words.iter().map(tool).collect();
            let preset = json!({ "name": name, "categories": { "all": tools } });
            AnyEntity::ToolPreset(serde_json::from_value(preset).expect("valid"))
        }
        "guardrail" => {
            let guardrail =
                json!({ "name": name, "severity": "high", "content": "No.", "deny_tools": words });
            AnyEntity::Guardrail(serde_json::from_value(guardrail).expect("valid"))
        }
        "persona" => AnyEntity::Persona(persona(&name, words)),
        other => panic!("{other} is not a kind"),
    };
    (scope.parse().expect("valid"), entity)
}

fn persona(name: &Name, words: &[&str]) -> Persona {
    let mut fields = Map::from_iter([("name".to_owned(), json!(name))]);
    for word in words {
        let (field, value) = word.split_once('=').expect("valid");
        let (field, value) = match field {
            "preset" => ("tool_preset", json!(value)),
            "plan" => ("plan_persona", json!({ "tool_preset": value })),
            "guarded" => ("guardrails", json!([value])),
            "unguarded" => ("remove_guardrails", json!([value])),
            field => (field, json!(value)),
        };
        fields.insert(field.to_owned(), value);
    }
    serde_json::from_value(fields.into()).expect("valid")
}

/// Compares the approvals of the persona `critic`, seen from the user's own file.
#[track_caller]
fn check(before: &str, after: &str, is_within: bool) {
    let of = |script: &str| {
        let name = Name::parse("critic").expect("valid");
        Approvals::of(&Definitions::parse(script), Scope::Global, &name)
    };
    assert_eq!(of(after).are_within(&of(before)), is_within, "{before} -> {after}");
}

const KIT: &str = "global preset kit run_command=auto;";

#[test]
fn a_persona_reaches_no_new_approval() {
    let critic = |words: &str| format!("{KIT} global persona critic {words}");
    check(KIT, &critic(""), true);
    check(KIT, &critic("preset=kit"), false);
    check(KIT, &critic("plan=kit"), false);
    check(&critic(""), &critic("preset=kit"), false);
    check(&critic("preset=kit"), &critic("preset=kit"), true);
    check(&critic("preset=kit"), &critic(""), true);
    check(&critic("preset=kit"), &critic("plan=kit"), true);
    check(&critic("plan=kit"), &critic("preset=kit"), false);
    check(&critic("preset=other"), &critic("preset=other"), true);
}

#[test]
fn bases_count_as_far_as_they_are_there() {
    let base = format!("{KIT} global persona free preset=kit;");
    check(&base, &format!("{base} global persona critic extends=free"), false);
    check(&base, &format!("{base} global persona critic extends=free preset=other"), true);
    check("", &format!("{KIT} global persona critic preset=kit extends=missing"), false);
    let broken = format!("{KIT} global persona free preset=kit extends=missing;");
    check(&broken, &format!("{broken} global persona critic extends=free"), false);
    // A circle ends.
    let circle = format!("{KIT} global persona free preset=kit extends=critic;");
    check(&circle, &format!("{circle} global persona critic extends=free"), false);
}

#[test]
fn the_same_name_may_not_mean_more() {
    let named = "global persona critic preset=kit;";
    let ask = format!("{named} global preset kit run_command=ask;");
    let auto = format!("{named} {KIT}");
    check(&ask, &auto, false);
    check(&auto, &ask, true);
    // Without the user's preset, the name means that of a weaker scope.
    check(&ask, &format!("{named} shared preset kit run_command=auto"), false);
    check(&auto, &format!("{named} global preset kit *=auto"), false);
    check(&auto, &format!("{named} global preset kit run_command=auto write_file"), true);
}

#[test]
fn an_entry_that_asks_may_not_go() {
    let kit = |tools: &str| format!("global persona critic preset=kit; global preset kit {tools}");
    check(&kit("*=auto run_command=ask"), &kit("*=auto"), false);
    check(&kit("*=auto run_command"), &kit("*=auto"), false);
    check(&kit("*=auto run_command=deny"), &kit("*=auto run_command=ask"), false);
    check(&kit("*=auto"), &kit("*=auto run_command=ask"), true);
    check(&kit("*=auto run_command=ask"), &kit("run_command=ask"), true);
}

#[test]
fn a_denial_may_not_go_where_something_is_approved() {
    let guarded = "global guardrail calm run_command;";
    let critic = |words: &str| format!("{guarded} {KIT} global persona critic {words};");
    check(&critic("preset=kit guarded=calm"), &critic("preset=kit guarded=calm"), true);
    check(&critic("preset=kit guarded=calm"), &critic("preset=kit"), false);
    check(&critic("guarded=calm"), &critic(""), true);
    let emptied = critic("preset=kit guarded=calm").replace("calm run_command", "calm other");
    check(&critic("preset=kit guarded=calm"), &emptied, false);
    let base = format!("{guarded} {KIT} global persona free preset=kit guarded=calm;");
    let above = |words: &str| format!("{base} global persona critic extends=free {words}");
    check(&above(""), &above("unguarded=calm"), false);
}

#[test]
fn builtins_may_be_named_and_shared_ones_do_not_stand_for_the_users() {
    let builtin = "builtin preset full read_file=auto run_command=ask;";
    check(builtin, &format!("{builtin} global persona critic preset=full"), true);
    // A copy of the builtin in the user's file that approves no more.
    let named = "global persona critic preset=full;";
    check(
        &format!("{builtin} {named}"),
        &format!("{builtin} {named} global preset full read_file=auto run_command=ask"),
        true,
    );
    check(&format!("{builtin} {named}"), &format!("{builtin} {named} global preset full *=auto"), false);
    // Of the shared library, the user has to confirm approvals.
    let shared = "shared preset kit run_command=auto; shared persona critic preset=kit;";
    check(shared, &format!("{shared} global persona critic preset=kit"), true);
    check(shared, &format!("{shared} {KIT} global persona critic preset=kit"), false);
    check("shared preset kit run_command=auto", &format!("{shared} global persona critic preset=kit"), false);
}
