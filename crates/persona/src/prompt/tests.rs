use std::collections::BTreeSet;

use super::*;
use crate::{LayerOrigin, Meta, PartLink, PartType, PieceScope, PlanPersona};

fn name(text: &str) -> Name {
    Name::parse(text).expect("a name")
}

fn part(called: &str, content: &str) -> Part {
    Part {
        name: name(called),
        part_type: PartType::Tone,
        description: None,
        summary: None,
        content: Some(content.to_owned()),
        tags: Vec::new(),
    }
}

/// A persona of a scope with a system prompt and one part, which is found in another scope.
fn bundle(scope: Scope, system_prompt: &str, part_scope: Scope, content: &str) -> Bundle {
    let mut persona = Persona::new(name("ada"));
    persona.system_prompt = Some(system_prompt.to_owned());
    persona.parts = vec![PartLink { name: name("tone"), order: 0, priority: 0 }];
    Bundle {
        persona,
        meta: Meta { scope, ..Meta::BUILTIN },
        parts: vec![part("tone", content)],
        traits: Vec::new(),
        skills: Vec::new(),
        guardrails: Vec::new(),
        bases: Vec::new(),
        stage: None,
        compiled: None,
        override_parts: Vec::new(),
        override_scopes: Vec::new(),
        piece_scopes: vec![PieceScope { kind: Kind::Part, name: name("tone"), scope: part_scope }],
    }
}

fn expanded(bundle: &mut Bundle) -> Vec<String> {
    let allowed = BTreeSet::from(["TEAM".to_owned(), "UNSET".to_owned()]);
    let lookup = |name: &str| (name == "TEAM").then(|| "core".to_owned());
    let mut filler = Filler::new(Environment { allowed: &allowed, lookup: &lookup });
    filler.bundle(bundle);
    filler.problems().iter().map(ToString::to_string).collect()
}

#[test]
fn only_texts_of_files_are_filled_in() {
    for (scope, part_scope, prompt, content) in [
        (Scope::Project, Scope::Project, "I am core", "calm core"),
        (Scope::Global, Scope::Shared, "I am core", "calm ${env.TEAM}"),
        (Scope::Project, Scope::Builtin, "I am core", "calm ${env.TEAM}"),
        (Scope::Shared, Scope::Shared, "I am ${env.TEAM}", "calm ${env.TEAM}"),
    ] {
        let mut bundle = bundle(scope, "I am ${env.TEAM}", part_scope, "calm ${env.TEAM}");
        assert!(expanded(&mut bundle).is_empty());
        assert_eq!(bundle.persona.system_prompt.as_deref(), Some(prompt), "{scope} {part_scope}");
        assert_eq!(bundle.parts[0].content.as_deref(), Some(content), "{scope} {part_scope}");
    }
}

#[test]
fn a_base_from_the_database_reads_nothing_through_a_namesake_in_a_file() {
    let mut whole = bundle(Scope::Project, "own", Scope::Project, "calm ${env.TEAM}");
    let Bundle { persona, meta, parts, traits, skills, guardrails, piece_scopes, .. } =
        bundle(Scope::Shared, "base ${env.TEAM}", Scope::Shared, "theirs ${env.TEAM}");
    whole.bases.push(Base { persona, meta, parts, traits, skills, guardrails, arc: None, piece_scopes });
    assert!(expanded(&mut whole).is_empty());
    assert_eq!(whole.parts[0].content.as_deref(), Some("calm core"));
    assert_eq!(whole.bases[0].parts[0].content.as_deref(), Some("theirs ${env.TEAM}"));
    assert_eq!(whole.bases[0].persona.system_prompt.as_deref(), Some("base ${env.TEAM}"));
}

/// A stage of an arc of a scope, with the part `tone`, which the arc found in a scope.
fn stage(arc: Scope, part_scope: Scope, content: &str) -> ActiveStage {
    let elsewhere = PieceScope { kind: Kind::Part, name: name("tone"), scope: part_scope };
    ActiveStage {
        arc: name("growth"),
        stage: name("now"),
        order: 1,
        of: 1,
        position: 1,
        description: None,
        condition: None,
        parts: vec![part("tone", content)],
        scope: arc,
        piece_scopes: if part_scope == arc { Vec::new() } else { vec![elsewhere] },
    }
}

fn staged(bundle: &Bundle) -> Option<&str> {
    bundle.stage.as_ref().and_then(|stage| stage.parts[0].content.as_deref())
}

const FILLED: &str = "cold core";
const KEPT: &str = "cold ${env.TEAM}";

#[test]
fn a_part_of_the_stage_is_filled_in_where_the_arc_found_it_in_a_file() {
    for (arc, part_scope, content) in [
        (Scope::Project, Scope::Project, FILLED),
        (Scope::Project, Scope::Global, FILLED),
        (Scope::Global, Scope::Global, FILLED),
        (Scope::Project, Scope::Shared, KEPT),
        (Scope::Global, Scope::Builtin, KEPT),
        (Scope::Shared, Scope::Shared, KEPT),
        (Scope::Shared, Scope::Builtin, KEPT),
        (Scope::Builtin, Scope::Builtin, KEPT),
    ] {
        // The persona's own part of that name is from a file, and says nothing about the stage's.
        let mut whole = bundle(Scope::Project, "own", Scope::Project, "calm ${env.TEAM}");
        whole.stage = Some(stage(arc, part_scope, KEPT));
        assert!(expanded(&mut whole).is_empty());
        assert_eq!(staged(&whole), Some(content), "{arc} {part_scope}");
        assert_eq!(whole.parts[0].content.as_deref(), Some("calm core"), "{arc} {part_scope}");
        assert_eq!(whole.part_scope(LayerOrigin::Stage, &name("tone")), Some(part_scope));
        assert_eq!(whole.part_scope(LayerOrigin::Own, &name("tone")), Some(Scope::Project));
    }
}

#[test]
fn a_part_of_an_override_is_filled_in_where_it_is_from_a_file() {
    for (scope, content) in
        [(Scope::Project, FILLED), (Scope::Global, FILLED), (Scope::Shared, KEPT), (Scope::Builtin, KEPT)]
    {
        for persona_scope in [Scope::Project, Scope::Shared] {
            let mut whole = bundle(persona_scope, "own", persona_scope, "calm ${env.TEAM}");
            whole.stage = Some(stage(persona_scope, persona_scope, KEPT));
            whole.override_parts = vec![part("tone", KEPT)];
            if scope != Scope::Shared {
                whole.override_scopes = vec![PieceScope { kind: Kind::Part, name: name("tone"), scope }];
            }
            assert!(expanded(&mut whole).is_empty());
            assert_eq!(whole.override_parts[0].content.as_deref(), Some(content), "{scope}");
            let is_file = persona_scope.is_file();
            assert_eq!(staged(&whole), Some(if is_file { FILLED } else { KEPT }), "{scope}");
            let own = if is_file { "calm core" } else { "calm ${env.TEAM}" };
            assert_eq!(whole.parts[0].content.as_deref(), Some(own), "{scope} over {persona_scope}");
            assert_eq!(whole.part_scope(LayerOrigin::Override, &name("tone")), Some(scope));
        }
    }
}

/// The database says of a stage and an arc what was authored, and nothing of scopes.
#[test]
fn a_stage_of_the_database_is_shared() {
    let mut whole = bundle(Scope::Project, "own", Scope::Project, "calm");
    let read = serde_json::json!({
        "arc": "growth", "stage": "now", "order": 1, "of": 1, "position": 1, "description": null, "condition": null,
        "parts": [{ "name": "tone", "part_type": "tone", "content": KEPT, "tags": [] }],
    });
    whole.stage = Some(serde_json::from_value(read).expect("a stage"));
    assert!(expanded(&mut whole).is_empty());
    assert_eq!(staged(&whole), Some(KEPT));
    let arc: crate::LoadedArc = serde_json::from_value(
        serde_json::json!({ "arc": { "name": "growth", "stages": [{ "name": "now", "order": 1 }] }, "parts": [] }),
    )
    .expect("an arc");
    assert_eq!(arc.active(None).map(|stage| stage.scope), Some(Scope::Shared));
}

#[test]
fn problems_of_stages_and_overrides_name_the_part() {
    let mut whole = bundle(Scope::Shared, "own", Scope::Shared, "calm");
    whole.stage = Some(stage(Scope::Project, Scope::Project, "${env.UNSET}"));
    whole.override_parts =
        vec![Part { summary: Some("${env.SECRET}".to_owned()), ..part("calm-tone", "${env.UNSET}") }];
    whole.override_scopes =
        vec![PieceScope { kind: Kind::Part, name: name("calm-tone"), scope: Scope::Global }];
    assert_eq!(
        expanded(&mut whole),
        [
            "part tone content: ${env.UNSET} at 1:1 is not set; set UNSET in the environment",
            "part calm-tone content: ${env.UNSET} at 1:1 is not set; set UNSET in the environment",
            "part calm-tone summary: ${env.SECRET} at 1:1 is not allowed; add \"SECRET\" to [env] allow in your own config.toml",
        ]
    );
    assert_eq!(staged(&whole), Some("${env.UNSET}"));
}

#[test]
fn unfilled_placeholders_stay_and_are_reported_with_their_place() {
    let mut bundle = bundle(Scope::Project, "${env.UNSET} ${env.TEAM}", Scope::Project, "\n ${env.SECRET}");
    bundle.persona.plan_persona =
        Some(PlanPersona { instruction: Some("plan for ${env.TEAM}".to_owned()), ..PlanPersona::default() });
    assert_eq!(
        expanded(&mut bundle),
        [
            "persona ada system_prompt: ${env.UNSET} at 1:1 is not set; set UNSET in the environment",
            "part tone content: ${env.SECRET} at 2:2 is not allowed; add \"SECRET\" to [env] allow in your own config.toml",
        ]
    );
    assert_eq!(bundle.persona.system_prompt.as_deref(), Some("${env.UNSET} core"));
    let plan = bundle.persona.plan_persona.and_then(|plan| plan.instruction);
    assert_eq!(plan.as_deref(), Some("plan for core"));
}

#[test]
fn texts_of_presets_in_files_are_filled_in() {
    let allowed = BTreeSet::from(["TEAM".to_owned()]);
    let lookup = |_: &str| Some("core".to_owned());
    for (scope, expected) in
        [(Scope::Project, "for core"), (Scope::Global, "for core"), (Scope::Shared, "for ${env.TEAM}")]
    {
        let read = serde_json::json!({ "name": "careful", "description": "of ${env.TEAM}", "categories": {
            "read": [{ "name": "read_file", "parameter_bias": { "path": "for ${env.TEAM}", "limit": "${env.X}" } }],
        } });
        let mut preset: ToolPreset = serde_json::from_value(read).expect("a preset");
        let read = serde_json::json!({ "name": "eager", "description": "for ${env.TEAM}" });
        let mut bias: BiasProfile = serde_json::from_value(read).expect("a profile");
        let mut filler = Filler::new(Environment { allowed: &allowed, lookup: &lookup });
        filler.tool_preset(&mut preset, scope);
        filler.bias_profile(&mut bias, scope);
        assert_eq!(preset.categories["read"][0].parameter_bias["path"], expected, "{scope}");
        assert_eq!(bias.description.as_deref(), Some(expected), "{scope}");
        // The description of a preset is for people only.
        assert_eq!(preset.description.as_deref(), Some("of ${env.TEAM}"));
        let problems: Vec<String> = filler.problems().iter().map(ToString::to_string).collect();
        let place = "tool preset careful categories.read[0].parameter_bias.limit: ${env.X} at 1:1";
        assert_eq!(problems.iter().filter(|it| it.starts_with(place)).count(), problems.len());
        assert_eq!(problems.len(), usize::from(scope.is_file()));
        assert!(filler.problems().is_empty(), "each is reported once");
        let concealed = if scope.is_file() { "the ${env.TEAM}" } else { "the core" };
        assert_eq!(filler.into_values().conceal("the core"), concealed);
    }
}

#[test]
fn skills_are_named_and_their_contents_left_to_the_tool() {
    let mut whole = bundle(Scope::Shared, "You review.", Scope::Shared, "calm");
    whole.persona.skills = vec![name("profiling")];
    whole.skills = vec![Skill {
        name: name("profiling"),
        description: Some("Finds what is slow.".to_owned()),
        content: Some("Run perf, then read the graph.".to_owned()),
        tags: Vec::new(),
    }];
    let text = prompt(&whole.assembled());
    assert!(text.contains("**profiling**: Finds what is slow."), "{text}");
    assert!(!text.contains("perf"), "{text}");
    assert!(text.starts_with("You review.\n\n## Tone\n\ncalm"), "{text}");
}
