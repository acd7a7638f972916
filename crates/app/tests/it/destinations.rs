//! The scope of a write: the named one, the default, or where the name is found.

use app::inputs::{AddPart, CreatePersona, ListLibrary, OfPersona, PersonaSkill, UpdatePersona};
use app::{Code, ErrorKind, Remedy};
use persona::{Kind, Part, Scope};
use serde_json::{Value, json};

use crate::world::{
    World, at_revision, code, in_each_world, input, name, not_found, pieces, refused, stale, suggested, view,
};

async fn update(world: &World, change: Value) -> (Scope, i64) {
    let written = world.library.update_persona(&world.author, input::<UpdatePersona>(change)).await.unwrap();
    assert!(written.changed);
    (written.scope, written.revision)
}

#[tokio::test(flavor = "multi_thread")]
async fn new_entities_go_to_the_named_scope_or_the_default_one() {
    in_each_world(async |world| {
        let create = |library: &app::Library, value: Value| {
            let (library, author) = (library.clone(), world.author.clone());
            async move { library.create_persona(&author, input::<CreatePersona>(value)).await }
        };
        let shared = create(&world.library, json!({ "name": "coder", "summary": "Codes." })).await.unwrap();
        assert_eq!(shared.scope, Scope::Shared);
        assert_eq!(world.text(Scope::Project), "", "nothing was written to the file");
        let named =
            create(&world.library, json!({ "name": "coder", "summary": "Codes.", "scope": "global" }))
                .await
                .unwrap();
        assert_eq!((named.scope, named.revision), (Scope::Global, 1));
        assert_eq!(world.text(Scope::Global), "[personas.coder]\nsummary = \"Codes.\"\n");

        let at_project = world.defaulting_to(Scope::Project).await;
        let written = create(&at_project, json!({ "name": "coder", "summary": "Codes." })).await.unwrap();
        assert_eq!(written.scope, Scope::Project);
        assert_eq!(world.text(Scope::Project), "[personas.coder]\nsummary = \"Codes.\"\n");
        let part = json!({ "name": "calm", "part_type": "tone", "content": "Be calm." });
        let written = at_project.create::<Part>(&world.author, input(part)).await.unwrap();
        assert_eq!(written.scope, Scope::Project);
        let taken = create(&at_project, json!({ "name": "coder", "summary": "Codes." })).await;
        assert_eq!(code(taken), Code::AlreadyExists);
        let builtin = create(&at_project, json!({ "name": "x", "scope": "builtin" })).await;
        assert_eq!(refused(builtin).kind, ErrorKind::Denied);

        let alone = world.reopened(|options| options.files = None).await;
        let closed = refused(create(&alone, json!({ "name": "x", "scope": "project" })).await);
        assert_eq!((closed.code, closed.remedies), (Code::ScopeNotOpen, vec![Remedy::OpenProject]));
        alone.close().await;
        at_project.close().await;
    })
    .await;
}

/// Nothing is read from a scope that is not open: that there is nothing in it would not be true.
#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_is_not_open_is_not_read() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
        let alone = world.reopened(|options| options.files = None).await;
        let list = json!({ "kind": "part", "scope": "project" });
        let get = json!({ "kind": "part", "name": "calm", "scope": "project" });
        let load = json!({ "name": "critic", "scope": "project" });
        let search = json!({ "query": "calm", "scope": "project" });
        for refusal in [
            refused(alone.list(Kind::Part, input::<ListLibrary>(list)).await),
            refused(alone.search(input(search)).await),
            refused(alone.get_entity(&input(get)).await),
            refused(alone.get_persona(&input(load)).await),
            refused(alone.manifest(&input(json!({ "name": "critic", "scope": "project" }))).await),
            refused(alone.history(Kind::Part, &name("calm"), Some(Scope::Project), None).await),
        ] {
            assert_eq!((refusal.code, refusal.remedies), (Code::ScopeNotOpen, vec![Remedy::OpenProject]));
        }
        let global = json!({ "kind": "part", "scope": "global" });
        let global = refused(alone.list(Kind::Part, input::<ListLibrary>(global)).await);
        assert_eq!((global.code, global.remedies), (Code::ScopeNotOpen, vec![Remedy::LeaveOutScope]));
        alone.close().await;
        // An open one without a file has nothing yet.
        let list = json!({ "kind": "part", "scope": "project" });
        assert_eq!(world.library.list(Kind::Part, input::<ListLibrary>(list)).await.unwrap().items, []);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_go_where_the_name_resolves() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global] {
            world.persona(scope, json!({ "name": "coder", "summary": scope })).await;
        }
        assert_eq!(update(world, json!({ "name": "coder", "tags": ["a"] })).await, (Scope::Global, 2));
        let named = json!({ "name": "coder", "tags": ["b"], "scope": "shared" });
        assert_eq!(update(world, named).await, (Scope::Shared, 2));
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "coder").await["tags"], json!(["b"]));
        assert_eq!(world.view(json!({ "name": "coder" })).await["scope"], "global");
        assert_eq!(world.view(json!({ "name": "coder", "scope": "shared" })).await["summary"], "shared");

        let elsewhere = json!({ "name": "coder", "tags": ["c"], "scope": "project" });
        let elsewhere = world.library.update_persona(&world.author, input(elsewhere)).await;
        let elsewhere = refused(elsewhere);
        assert_eq!((elsewhere.code, elsewhere.subject.scope), (Code::InOtherScope, Some(Scope::Project)));
        let duplicate = Remedy::DuplicateInto { scope: Scope::Project };
        assert_eq!(elsewhere.remedies, [Remedy::LeaveOutScope, duplicate]);
        let nowhere = json!({ "name": "cdoer", "tags": ["c"] });
        let nowhere = world.library.update_persona(&world.author, input(nowhere)).await;
        assert_eq!(suggested(nowhere), not_found("coder"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_is_copied_to_the_default_scope_before_it_changes() {
    in_each_world(async |world| {
        let at_project = world.defaulting_to(Scope::Project).await;
        let same = json!({ "name": "critic", "description": null });
        let same = at_project.update_persona(&world.author, input(same)).await.unwrap();
        assert_eq!((same.changed, same.scope, same.copied.len()), (false, Scope::Builtin, 0));
        assert_eq!(world.text(Scope::Project), "");

        let change = json!({ "name": "critic", "tags": ["mine"] });
        let written = at_project.update_persona(&world.author, input(change.clone())).await.unwrap();
        assert_eq!(
            (written.scope, pieces(&written.copied)),
            (Scope::Project, vec![(Kind::Persona, "critic")])
        );
        assert!(!world.text(Scope::Project).contains("[parts."), "its pieces are seen from the file");
        let shown = view(&at_project, json!({ "name": "critic", "detail": true })).await;
        assert_eq!((&shown["scope"], &shown["tags"]), (&json!("project"), &json!(["mine"])));
        assert!(shown["parts"].as_array().unwrap().len() > 3, "{shown}");

        let named = json!({ "name": "critic", "tags": ["ours"], "scope": "shared" });
        let refusal = code(at_project.update_persona(&world.author, input(named)).await);
        assert_eq!(refusal, Code::InOtherScope, "project's is not shared's");
        let change = json!({ "name": "optimist", "tags": ["ours"] });
        let written = world.library.update_persona(&world.author, input(change)).await.unwrap();
        assert_eq!(written.scope, Scope::Shared);
        assert!(pieces(&written.copied).contains(&(Kind::Part, "optimist-voice")), "{written:?}");
        let wrong = json!({ "name": "mentor", "tags": [], "if_revision": 3 });
        let refusal = world.library.update_persona(&world.author, input(wrong)).await;
        assert_eq!(at_revision(refusal), stale(0));
        at_project.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copied_builtin_keeps_its_stage() {
    in_each_world(async |world| {
        let mentor = input::<OfPersona>(json!({ "persona": "mentor" }));
        let state = world.library.advance_stage(&mentor).await.unwrap();
        assert_eq!((state.scope, state.position), (Scope::Builtin, 2));
        let at_project = world.defaulting_to(Scope::Project).await;
        let change = json!({ "name": "mentor", "tags": ["mine"] });
        at_project.update_persona(&world.author, input(change)).await.unwrap();
        let shown = view(&at_project, json!({ "name": "mentor" })).await;
        assert_eq!((&shown["scope"], &shown["arc"]["position"]), (&json!("project"), &json!(2)));
        let state = at_project.advance_stage(&mentor).await.unwrap();
        assert_eq!((state.scope, state.position), (Scope::Project, 3));
        let builtin = view(&at_project, json!({ "name": "mentor", "scope": "builtin" })).await;
        assert_eq!(builtin["arc"]["position"], 2, "the builtin stays where it was");
        at_project.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn builtin_pieces_are_copied_into_shared_and_not_into_files() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": format!("in-{scope}") })).await;
        }
        let link = json!({ "persona": "in-shared", "skill": "premortem" });
        let linked = world.library.add_skill(&world.author, input::<PersonaSkill>(link)).await.unwrap();
        assert_eq!((linked.scope, pieces(&linked.copied)), (Scope::Shared, vec![(Kind::Skill, "premortem")]));
        let link = json!({ "persona": "in-project", "skill": "steelman" });
        let linked = world.library.add_skill(&world.author, input::<PersonaSkill>(link)).await.unwrap();
        assert_eq!((linked.scope, linked.copied.len()), (Scope::Project, 0));
        assert_eq!(world.entity(Kind::Skill, Scope::Shared, "steelman").await, Value::Null);
        assert!(!world.text(Scope::Project).contains("[skills."));
        let shown = world.view(json!({ "name": "in-project" })).await;
        assert_eq!(shown["skills"][0]["name"], "steelman");
        let unknown = json!({ "persona": "in-project", "skill": "stealman" });
        let unknown = world.library.add_skill(&world.author, input::<PersonaSkill>(unknown)).await;
        assert_eq!(suggested(unknown), not_found("steelman"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_refers_to_its_own_scope_and_weaker_ones() {
    in_each_world(async |world| {
        world.part(Scope::Project, "local-tone", "tone", "Speak as we do.").await;
        world.part(Scope::Shared, "team-tone", "tone", "Speak as they do.").await;
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            world.persona(scope, json!({ "name": format!("in-{scope}") })).await;
        }
        let add = |persona: &str, part: &str| {
            let link = input::<AddPart>(json!({ "persona": persona, "part": part }));
            let (library, author) = (world.library.clone(), world.author.clone());
            async move { library.add_part(&author, link).await }
        };
        for scope in [Scope::Shared, Scope::Global] {
            let stronger = refused(add(&format!("in-{scope}"), "local-tone").await);
            assert_eq!((stronger.code, stronger.subject.scope), (Code::OutOfReach, Some(Scope::Project)));
            assert_eq!(stronger.remedies, [Remedy::PromoteTo { scope }]);
        }
        for part in ["local-tone", "team-tone"] {
            assert_eq!(add("in-project", part).await.unwrap().scope, Scope::Project);
        }
        assert_eq!(add("in-global", "team-tone").await.unwrap().scope, Scope::Global);

        // Saving a whole definition is held to the same rule.
        let whole = json!({ "name": "other", "parts": [{ "name": "local-tone" }] });
        let refusal = world.try_create(Kind::Persona, Scope::Shared, whole).await;
        assert_eq!(code(refusal), Code::OutOfReach);
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "other").await, Value::Null);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_of_the_strongest_scope_that_has_it() {
    in_each_world(async |world| {
        let scope_of =
            async |persona: &str| world.library.scope_of(Kind::Persona, &name(persona)).await.unwrap();
        assert_eq!(scope_of("nobody").await, Scope::Project, "where it would be saved");
        assert_eq!(scope_of("critic").await, Scope::Builtin);
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            world.persona(scope, json!({ "name": "critic" })).await;
            assert_eq!(scope_of("critic").await, scope);
        }
    })
    .await;
}
