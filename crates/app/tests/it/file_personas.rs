//! Everything that can be done to a persona of the database can be done to one of a file.

use app::inputs::{
    AddPart, AddStage, AssignArc, CreatePersona, OfPersona, PersonaGuardrail, PersonaPart, PersonaSkill,
    PersonaTrait, RemoveStage, StagePart, UnassignArc, UpdatePersona,
};
use app::{Code, ErrorKind, Remedy, Report};
use persona::{CharacterArc, Kind, Part, Scope};
use serde_json::{Value, json};

use crate::world::{
    World, at_revision, in_each_world, input, pieces, refused, stale, suggested, view, with_files,
};

const COMMENTED: &str = r#"# What we use here.

[personas.reviewer] # keep this one first
summary = "Reads changes" # short

[parts.calm]
part_type = "tone"
content = "Be calm."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn creating_and_linking_change_the_entry_and_nothing_else() {
    with_files("", COMMENTED, async |world| {
        let library = world.defaulting_to(Scope::Project).await;
        let author = &world.author;
        let coder = json!({
            "name": "coder", "system_prompt": "You code.", "tags": ["a"],
            "parts": ["calm", { "name": "who", "part_type": "identity", "content": "You are a coder." }],
            "traits": [{ "name": "steady", "trait_type": "emotional", "instruction": "Keep on." }],
            "skills": ["steelman"],
            "guardrails": [{ "name": "honest", "content": "Never lie." }],
            "preferred_models": [{ "provider": "anthropic", "model": "m", "temperature": 0.5 }],
        });
        let created = library.create_persona(author, input::<CreatePersona>(coder)).await.unwrap();
        assert_eq!((created.scope, created.revision, created.copied.len()), (Scope::Project, 1, 0));
        assert_eq!(
            pieces(&created.created),
            [(Kind::Part, "who"), (Kind::Trait, "steady"), (Kind::Guardrail, "honest")]
        );
        let shown = view(&library, json!({ "name": "coder", "detail": true })).await;
        assert_eq!(shown["parts"][0]["content"], "Be calm.");
        assert_eq!(shown["parts"][1]["content"], "You are a coder.");
        assert_eq!(shown["skills"][0]["name"], "steelman");

        links(world, &library).await;
        let text = world.text(Scope::Project);
        assert!(text.starts_with(COMMENTED.trim_end()), "every other byte stays:\n{text}");
        library.close().await;
    })
    .await;
}

async fn links(world: &World, library: &app::Library) {
    let author = &world.author;
    let first = json!({ "persona": "coder", "part": "who", "part_order": -1, "priority": 9 });
    let linked = library.add_part(author, input::<AddPart>(first.clone())).await.unwrap();
    assert_eq!((linked.scope, linked.revision, linked.changed), (Scope::Project, 2, true));
    let again = library.add_part(author, input::<AddPart>(first)).await.unwrap();
    assert_eq!((again.revision, again.changed), (2, false));
    assert_eq!(view(library, json!({ "name": "coder" })).await["parts"][0]["name"], "who");

    let gone = json!({ "persona": "coder", "part": "calm" });
    assert_eq!(library.remove_part(author, input::<PersonaPart>(gone)).await.unwrap().revision, 3);
    let add = json!({ "persona": "coder", "trait": "curious" });
    assert_eq!(library.add_trait(author, input::<PersonaTrait>(add)).await.unwrap().revision, 4);
    let remove = json!({ "persona": "coder", "trait": "steady" });
    assert_eq!(library.remove_trait(author, input::<PersonaTrait>(remove)).await.unwrap().revision, 5);
    let remove = json!({ "persona": "coder", "skill": "steelman" });
    assert_eq!(library.remove_skill(author, input::<PersonaSkill>(remove)).await.unwrap().revision, 6);
    let add = json!({ "persona": "coder", "guardrail": "no-fabrication" });
    assert_eq!(library.add_guardrail(author, input::<PersonaGuardrail>(add)).await.unwrap().revision, 7);
    let update = json!({ "name": "coder", "system_prompt": "", "tags": [], "if_revision": 7 });
    assert_eq!(library.update_persona(author, input::<UpdatePersona>(update)).await.unwrap().revision, 8);

    let coder = world.entity(Kind::Persona, Scope::Project, "coder").await;
    assert_eq!(coder, Value::Null, "the other process has not read the file again");
    let reopened = world.reopened(|_| ()).await;
    let coder = view(&reopened, json!({ "name": "coder" })).await;
    let names = |field: &str| -> Vec<String> {
        let all = coder[field].as_array().unwrap().iter();
        all.map(|piece| piece["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("parts"), ["who"]);
    assert_eq!(names("traits"), ["curious"]);
    assert_eq!(names("guardrails"), ["no-fabrication", "honest"], "by severity");
    assert_eq!(coder["revision"], 8);
    reopened.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_based_on_the_revision_before_a_hand_edit_is_stale() {
    with_files("", COMMENTED, async |world| {
        let read = world.entity(Kind::Persona, Scope::Project, "reviewer").await;
        assert_eq!(read["revision"], 1, "an entry is recorded when it is first read");
        world.edit(Scope::Project, "Reads changes", "Reads every change");
        let update = json!({ "name": "reviewer", "summary": "Mine", "if_revision": 1 });
        let late = world.library.update_persona(&world.author, input(update)).await;
        assert_eq!(at_revision(late), stale(2));
        assert!(world.text(Scope::Project).contains("Reads every change"), "nothing is lost");
        let seen = world.entity(Kind::Persona, Scope::Project, "reviewer").await;
        assert_eq!((&seen["summary"], &seen["revision"]), (&json!("Reads every change"), &json!(2)));
        let update = json!({ "name": "reviewer", "summary": "Mine", "if_revision": 2 });
        let written = world.library.update_persona(&world.author, input(update)).await.unwrap();
        assert_eq!(written.revision, 3);

        // A hand edit of another entry is not a reason to refuse.
        world.edit(Scope::Project, "Be calm.", "Be calmer.");
        let update = json!({ "name": "reviewer", "summary": "Ours", "if_revision": 3 });
        world.library.update_persona(&world.author, input(update)).await.unwrap();
        assert!(world.text(Scope::Project).contains("Be calmer."));
        assert!(world.text(Scope::Project).contains("# keep this one first"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_is_not_written_and_the_error_has_its_place() {
    with_files("", COMMENTED, async |world| {
        world.edit(Scope::Project, "part_type = \"tone\"", "part_type = tone");
        let update = json!({ "name": "reviewer", "summary": "Mine" });
        let broken = refused(world.library.update_persona(&world.author, input(update)).await);
        assert_eq!((broken.code, place(&broken)), (Code::FileHasErrors, (Some(7), Some(13))));
        assert!(world.library.has_errors());
        assert_eq!(world.view(json!({ "name": "reviewer" })).await["summary"], "Reads changes");
        assert!(world.text(Scope::Project).contains("part_type = tone\n"));
        world.edit(Scope::Project, "part_type = tone", "part_type = \"tone\"");
        let update = json!({ "name": "reviewer", "summary": "Mine" });
        world.library.update_persona(&world.author, input(update)).await.unwrap();
        assert!(!world.library.has_errors() && world.library.problems().is_empty());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_of_a_file_walks_an_arc() {
    with_files("", COMMENTED, async |world| {
        let author = &world.author;
        let library = world.defaulting_to(Scope::Project).await;
        let arc = json!({ "name": "path", "stages": [{ "name": "start", "order": 1 }] });
        assert_eq!(library.create::<CharacterArc>(author, input(arc)).await.unwrap().scope, Scope::Project);
        let part = json!({ "name": "cold", "part_type": "tone", "content": "Be cold." });
        library.create::<Part>(author, input(part)).await.unwrap();
        let stage = json!({ "arc": "path", "name": "end", "condition": "when done" });
        assert_eq!(library.add_stage(author, input::<AddStage>(stage)).await.unwrap().scope, Scope::Project);
        let part = json!({ "arc": "path", "stage": "end", "part": "cold" });
        library.add_stage_part(author, input::<StagePart>(part)).await.unwrap();
        let link = json!({ "persona": "reviewer", "part": "calm" });
        library.add_part(author, input::<AddPart>(link)).await.unwrap();

        let assign = json!({ "persona": "reviewer", "arc": "path" });
        let state = library.assign_arc(author, input::<AssignArc>(assign)).await.unwrap();
        assert_eq!(
            (state.scope, state.stage.as_str(), state.position, state.of),
            (Scope::Project, "start", 1, 2)
        );
        let before = world.text(Scope::Project);
        let reviewer = input::<OfPersona>(json!({ "persona": "reviewer" }));
        let state = library.advance_stage(&reviewer).await.unwrap();
        assert_eq!(
            (state.scope, state.position, state.condition.as_deref()),
            (Scope::Project, 2, Some("when done"))
        );
        let last = refused(library.advance_stage(&reviewer).await);
        assert_eq!((last.code, last.remedies), (Code::LastStage, vec![Remedy::ResetStage]));
        assert_eq!(world.text(Scope::Project), before, "the stage is not part of the file");
        assert_eq!(view(&library, json!({ "name": "reviewer" })).await["parts"][0]["name"], "cold");

        stages_in_use(world, &library).await;
        let reopened = world.reopened(|_| ()).await;
        assert_eq!(view(&reopened, json!({ "name": "reviewer" })).await["arc"]["stage"], "start");
        reopened.close().await;
        let unassign = json!({ "persona": "reviewer" });
        library.unassign_arc(author, input::<UnassignArc>(unassign)).await.unwrap();
        let none = refused(library.advance_stage(&reviewer).await);
        assert_eq!((none.code, none.remedies), (Code::NoArc, vec![Remedy::AssignArc]));
        library.close().await;
    })
    .await;
}

/// Line and column that a refusal is about.
fn place(report: &Report) -> (Option<usize>, Option<usize>) {
    report.subject.place.as_ref().map(|place| (place.line, place.column)).unwrap_or_default()
}

async fn stages_in_use(world: &World, library: &app::Library) {
    let author = &world.author;
    let remove = json!({ "arc": "path", "stage": "end" });
    let used = refused(library.remove_stage(author, input::<RemoveStage>(remove)).await);
    assert_eq!(used.code, Code::InUse);
    assert!(used.remedies.contains(&Remedy::UseForce), "{used:?}");
    assert_eq!(used.subject.users.len(), 1);
    let unknown = json!({ "arc": "path", "stage": "ende", "part": "cold" });
    let unknown = library.remove_stage_part(author, input::<StagePart>(unknown)).await;
    assert_eq!(suggested(unknown), (Code::UnknownStage, Some("end".to_owned())));
    let part = json!({ "arc": "path", "stage": "end", "part": "cold" });
    library.remove_stage_part(author, input::<StagePart>(part)).await.unwrap();
    let reset = input::<OfPersona>(json!({ "persona": "reviewer" }));
    assert_eq!(library.reset_stage(&reset).await.unwrap().stage.as_str(), "start");
    library.advance_stage(&reset).await.unwrap();
    let remove = json!({ "arc": "path", "stage": "end", "force": true });
    library.remove_stage(author, input::<RemoveStage>(remove)).await.unwrap();
    assert_eq!(view(library, json!({ "name": "reviewer" })).await["arc"]["stage"], "start");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_of_a_file_is_compiled_and_listed() {
    with_files("", COMMENTED, async |world| {
        let link = json!({ "persona": "reviewer", "part": "calm" });
        world.library.add_part(&world.author, input::<AddPart>(link)).await.unwrap();
        let compiled = world.library.compile_persona(&input(json!({ "name": "reviewer" }))).await.unwrap();
        assert_eq!(compiled.scope, Scope::Project);
        assert!(compiled.compiled_detail.is_some_and(|text| text.contains("Be calm.")));
        assert_eq!(world.view(json!({ "name": "reviewer" })).await["compiled_stale"], false);
        world.part(Scope::Project, "calm", "tone", "Be calmer.").await;
        assert_eq!(world.view(json!({ "name": "reviewer" })).await["compiled_stale"], true);
        let fresh = world.view(json!({ "name": "reviewer", "compiled": true, "detail": true })).await;
        assert!(fresh["compiled_detail"].as_str().unwrap().contains("Be calmer."), "{fresh}");
        let manifest = world.library.manifest(&input(json!({ "name": "reviewer" }))).await.unwrap();
        assert_eq!(manifest.parts.len(), 1);

        let list = json!({ "scope": "project" });
        let page = world.library.list(Kind::Persona, input::<app::inputs::List>(list)).await.unwrap();
        let listed: Vec<(&str, Scope)> =
            page.items.iter().map(|item| (item.name.as_str(), item.scope)).collect();
        assert_eq!(listed, [("reviewer", Scope::Project)]);
        let search = input::<app::inputs::Search>(json!({ "query": "calmer" }));
        let found = world.library.search(search).await.unwrap();
        assert_eq!((found.items[0].name.as_str(), found.items[0].scope), ("calm", Scope::Project));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn read_only_files_are_not_written() {
    in_each_world(async |world| {
        world.persona(Scope::Project, json!({ "name": "coder" })).await;
        let reader =
            world.reopened(|options| options.files.as_mut().expect("it has files").writable = false).await;
        let update = json!({ "name": "coder", "tags": ["a"] });
        let denied = refused(reader.update_persona(&world.author, input(update)).await);
        assert_eq!(denied.kind, ErrorKind::Denied);
        assert_eq!(view(&reader, json!({ "name": "coder" })).await["scope"], "project");
        reader.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_entry_is_not_overwritten_and_hides_nothing_else() {
    let project = "[parts.bad]\npart_type = \"tonne\"\ncontent = \"x\"\n\n[parts.good]\npart_type = \"tone\"\ncontent = \"x\"\n";
    with_files("", project, async |world| {
        assert!(world.library.has_errors());
        assert_eq!(world.entity(Kind::Part, Scope::Project, "bad").await, Value::Null);
        assert_eq!(world.entity(Kind::Part, Scope::Project, "good").await["content"], "x");
        world.part(Scope::Project, "good", "tone", "Be good.").await;
        let bad = json!({ "name": "bad", "part_type": "tone", "content": "Be better." });
        let refusal = refused(world.try_create(Kind::Part, Scope::Project, bad.clone()).await);
        assert_eq!((refusal.code, place(&refusal)), (Code::FileHasErrors, (Some(2), Some(13))));
        assert_eq!(refusal.subject.name.as_deref(), Some("bad"));
        assert!(
            world.text(Scope::Project).starts_with("[parts.bad]\npart_type = \"tonne\"\ncontent = \"x\"\n")
        );
        world.edit(Scope::Project, "tonne", "tone");
        world.create(Kind::Part, Scope::Project, bad).await;
        assert!(!world.library.has_errors(), "{:?}", world.library.problems());
        assert_eq!(
            world.entity(Kind::Part, Scope::Project, "bad").await["revision"],
            2,
            "seen, then changed"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_arc_of_a_weaker_scope_is_walked() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": "guide" })).await;
            let assign =
                json!({ "persona": "guide", "arc": "mentors-path", "stage": "coach", "scope": scope });
            let state = world.library.assign_arc(&world.author, input::<AssignArc>(assign)).await;
            let state = state.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((state.scope, state.position), (scope, 2));
            assert_eq!(state.copied.is_empty(), scope.is_file(), "{:?}", state.copied);
            let guide = input::<OfPersona>(json!({ "persona": "guide", "scope": scope }));
            assert_eq!(world.library.advance_stage(&guide).await.unwrap().position, 3);
            let shown = world.view(json!({ "name": "guide", "scope": scope })).await;
            assert_eq!((&shown["arc"]["position"], shown["parts"].as_array().unwrap().len()), (&json!(3), 3));
            let wrong =
                json!({ "persona": "guide", "arc": "mentors-path", "stage": "coahc", "scope": scope });
            let wrong = world.library.assign_arc(&world.author, input::<AssignArc>(wrong)).await;
            assert_eq!(suggested(wrong), (Code::UnknownStage, Some("coach".to_owned())));
        }
    })
    .await;
}
