//! A whole life: author, link, arc, override, compile, manifest, delete.

use app::inputs::{
    AddPart, AddStage, AssignArc, CreatePersona, Delete, List, Search, StagePart, UpdatePersona,
};
use app::{Author, Code, ErrorKind, Library, OpenOptions};
use persona::{Kind, Part, Scope};
use serde_json::{Value, json};
use testkit::on_each_engine;

use crate::world::{input, view};

async fn open(database: &testkit::Database) -> Library {
    Library::open(OpenOptions::database(&database.location)).await.expect("it opens")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_life() {
    on_each_engine(async |database| {
        let library = open(database).await;
        let author = Author::new("tester", "cli");
        author_a_persona(&library, &author).await;
        walk_an_arc(&library, &author).await;
        compile_and_find(&library, &author).await;
        delete_everything(&library, &author).await;
        library.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_that_an_older_version_compiled_is_compiled_again() {
    on_each_engine(async |database| {
        let library = open(database).await;
        let create = json!({ "name": "guide", "system_prompt": "You are e.g. a guide. Never push." });
        library.create_persona(&Author::new("tester", "cli"), input(create)).await.unwrap();
        library.close().await;
        // The first format had a bare digest as its fingerprint.
        let store = testkit::samples::open(database).await;
        let text = persona::CompiledText {
            summary: "You are e.g.".to_owned(),
            detail: "You are e.g.".to_owned(),
            fingerprint: "0".repeat(64),
        };
        let scopes = scopes::Scopes::of_database(store.clone());
        scopes.store_compiled(Scope::Shared, &testkit::samples::name("guide"), &text).await.unwrap();
        store.close().await;
        let library = open(database).await;
        let shown = view(&library, json!({ "name": "guide" })).await;
        assert!(shown.get("compiled_summary").is_none(), "{shown}");
        for detail in [false, true] {
            let shown = view(&library, json!({ "name": "guide", "compiled": true, "detail": detail })).await;
            let field = if detail { "compiled_detail" } else { "compiled_summary" };
            assert_eq!(shown[field], "You are e.g. a guide. Never push.\n");
        }
        assert_eq!(view(&library, json!({ "name": "guide" })).await["compiled_stale"], false);
        library.close().await;
    })
    .await;
}

/// The bytes that a caller receives are counted, by the tokenizer of the answer.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_within_its_budget_or_says_that_it_is_not() {
    let database = testkit::Database::sqlite();
    let library = open(&database).await;
    let mut cut = 0;
    for name in ["code_reviewer", "mentor", "critic"] {
        for (detail, compiled) in [(false, false), (true, false), (false, true), (true, true)] {
            for max_tokens in [0, 60, 120, 250, 500, 800, 1_000, 2_000] {
                let request =
                    json!({ "name": name, "detail": detail, "compiled": compiled, "max_tokens": max_tokens });
                let answer = library.get_persona(&input(request.clone())).await.unwrap();
                let counted = persona::TokenCounter::count(&app::Tokenizer, answer.json());
                let budget = app::parse_view(&answer).budget.unwrap();
                assert_eq!(budget.tokens, Some(counted), "{request}");
                assert_eq!(budget.over_budget, counted > max_tokens as usize, "{request}: {counted} tokens");
                cut += usize::from(!budget.left_out.is_empty() && !budget.over_budget);
            }
        }
    }
    assert!(cut > 10, "{cut} answers were cut to fit");
    library.close().await;
}

async fn author_a_persona(library: &Library, author: &Author) {
    let created = library
        .create_persona(
            author,
            input::<CreatePersona>(json!({
                "name": "guide", "description": "Guides people", "tags": ["a", "b"],
                "parts": [
                    { "name": "warm", "part_type": "tone", "content": "Be warm.", "priority": 1 },
                    { "name": "who", "part_type": "identity", "content": "You are a guide.", "priority": 5 },
                ],
                "traits": [{ "name": "patient", "trait_type": "emotional", "instruction": "Wait." }],
                "skills": ["trace-a-change"],
                "guardrails": [{ "name": "honest", "severity": "high", "content": "Never lie." }],
            })),
        )
        .await
        .unwrap();
    assert_eq!((created.revision, created.scope), (1, Scope::Shared));
    assert_eq!(created.created.len(), 4);
    assert_eq!(created.copied.len(), 1, "the builtin skill");

    let shown = view(library, json!({ "name": "guide", "detail": true })).await;
    assert_eq!(shown["parts"][0]["content"], "Be warm.");
    assert_eq!(shown["guardrails"][0]["severity"], "high");
    let shown = view(library, json!({ "name": "guide" })).await;
    assert_eq!((&shown["description"], shown.get("summary")), (&json!("Guides people"), None));
    // Without a summary of its own, a part is whole.
    assert_eq!(shown["parts"][1]["content"], "You are a guide.");

    let cold = json!({ "name": "cold", "part_type": "tone", "content": "Be cold." });
    library.create::<Part>(author, input(cold)).await.unwrap();
    let shown =
        view(library, json!({ "name": "guide", "detail": true, "overrides": { "tone": "cold" } })).await;
    assert_eq!(shown["parts"][0]["name"], "cold");
    assert_eq!(shown["parts"][0]["from"], "override");
    let wrong =
        library.get_persona(&input(json!({ "name": "guide", "overrides": { "tone": "clod" } }))).await;
    assert_eq!(
        wrong.unwrap_err().report().plain_sentence(),
        r#"unknown part "clod" in overrides.tone; did you mean "cold"?"#
    );
    let limited = view(library, json!({ "name": "guide", "limit": 1 })).await;
    assert_eq!(limited["parts"].as_array().unwrap().len(), 1);
    assert_eq!(limited["parts"][0]["name"], "who");
    assert_eq!(limited["budget"]["left_out"], json!({ "part": { "warm": 3 } }));

    let update = json!({ "name": "guide", "summary": "A guide", "if_revision": 7 });
    let stale = library.update_persona(author, input::<UpdatePersona>(update)).await.unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::Conflict);
    let update = json!({ "name": "guide", "summary": "A guide", "if_revision": 1 });
    let updated = library.update_persona(author, input::<UpdatePersona>(update)).await.unwrap();
    assert_eq!((updated.revision, updated.changed), (2, true));
    let linked = library
        .add_part(author, input::<AddPart>(json!({ "persona": "guide", "part": "warm", "part_order": 9 })))
        .await
        .unwrap();
    assert_eq!(linked.revision, 3);
    let again = library
        .add_part(author, input::<AddPart>(json!({ "persona": "guide", "part": "warm", "part_order": 9 })))
        .await
        .unwrap();
    assert_eq!((again.revision, again.changed), (3, false));
}

async fn walk_an_arc(library: &Library, author: &Author) {
    let arc = json!({ "name": "path", "stages": [{ "name": "start", "order": 1 }] });
    library.create::<persona::CharacterArc>(author, input(arc)).await.unwrap();
    library.add_stage(author, input::<AddStage>(json!({ "arc": "path", "name": "end" }))).await.unwrap();
    let part = json!({ "arc": "path", "stage": "end", "part": "cold" });
    library.add_stage_part(author, input::<StagePart>(part)).await.unwrap();
    let assigned = json!({ "persona": "guide", "arc": "path" });
    let state = library.assign_arc(author, input::<AssignArc>(assigned)).await.unwrap();
    assert_eq!((state.stage.as_str(), state.position, state.of), ("start", 1, 2));
    let state = library.advance_stage(&input(json!({ "persona": "guide" }))).await.unwrap();
    assert_eq!((state.stage.as_str(), state.position), ("end", 2));
    let last = library.advance_stage(&input(json!({ "persona": "guide" }))).await.unwrap_err();
    assert!(last.to_string().contains("the last stage"), "{last}");
    let shown = view(library, json!({ "name": "guide" })).await;
    assert_eq!(shown["arc"]["stage"], "end");
    assert!(
        shown["parts"]
            .as_array()
            .unwrap()
            .iter()
            .any(|part| part["name"] == "cold" && part["from"] == "stage")
    );

    // State of a builtin is kept without copying it.
    let state = library.advance_stage(&input(json!({ "persona": "mentor" }))).await.unwrap();
    assert_eq!((state.position, state.of, state.scope), (2, 3, Scope::Builtin));
    assert_eq!(view(library, json!({ "name": "mentor" })).await["arc"]["position"], 2);
    // A change copies it with its stage.
    let update = json!({ "name": "mentor", "tags": ["mine"] });
    let updated = library.update_persona(author, input::<UpdatePersona>(update)).await.unwrap();
    assert!(updated.copied.iter().any(|piece| piece.kind == Kind::Persona));
    assert_eq!(view(library, json!({ "name": "mentor" })).await["arc"]["position"], 2);
    assert_eq!(view(library, json!({ "name": "mentor" })).await["scope"], "shared");
}

/// Overrides, filters and budgets mean the same as in a load, and keep nothing.
async fn compile_for_one_call(library: &Library) {
    for fields in [
        json!({ "overrides": { "tone": "plain-tone" } }),
        json!({ "types": ["tone"] }),
        json!({ "limit": 1, "detail": false }),
        json!({ "max_tokens": 400 }),
    ] {
        let with = |more: Value| {
            let mut all = fields.as_object().unwrap().clone();
            all.extend(more.as_object().unwrap().clone());
            Value::Object(all)
        };
        let asked = with(json!({ "name": "critic" }));
        let compiled = serde_json::to_value(library.compile_persona(&input(asked)).await.unwrap()).unwrap();
        let viewed = view(library, with(json!({ "name": "critic", "compiled": true }))).await;
        assert_eq!(compiled, viewed, "the tokens are those of the whole answer");
        let kept = view(library, json!({ "name": "critic" })).await;
        assert_eq!(kept["compiled_stale"], false, "{fields}");
        let both = library.compile_persona(&input(with(json!({ "name": "critic", "both": true })))).await;
        assert_eq!(both.unwrap_err().code(), Code::ConflictingFields, "{fields}");
    }
    let none = json!({ "name": "critic", "overrides": {}, "types": [], "both": true });
    assert!(library.compile_persona(&input(none)).await.unwrap().compiled_at.is_some());
}

async fn compile_and_find(library: &Library, author: &Author) {
    let both = json!({ "name": "guide", "both": true });
    let compiled = serde_json::to_value(library.compile_persona(&input(both)).await.unwrap()).unwrap();
    assert!(compiled["compiled_detail"].as_str().unwrap().contains("Be cold."), "{compiled}");
    let shown = view(library, json!({ "name": "guide" })).await;
    assert_eq!(shown["compiled_stale"], false);
    assert_eq!(shown["compiled_summary"], compiled["compiled_summary"]);
    let update = json!({ "name": "cold", "content": "Be very cold." });
    library.update::<Part>(author, input(update)).await.unwrap();
    assert_eq!(view(library, json!({ "name": "guide" })).await["compiled_stale"], true);
    let fresh = view(library, json!({ "name": "guide", "compiled": true, "detail": true })).await;
    assert!(fresh["compiled_detail"].as_str().unwrap().contains("Be very cold."));
    assert_eq!(view(library, json!({ "name": "guide" })).await["compiled_stale"], false);
    let builtin = library.compile_persona(&input(json!({ "name": "critic" }))).await.unwrap();
    assert!(
        builtin.compiled_detail.is_some_and(|text| !text.is_empty()) && builtin.compiled_summary.is_none()
    );
    assert_eq!(view(library, json!({ "name": "critic" })).await["compiled_stale"], false);
    compile_for_one_call(library).await;
    let manifest = library.manifest(&input(json!({ "name": "guide" }))).await.unwrap();
    assert_eq!(manifest.parts.len(), 2);

    let page = library.list(Kind::Persona, input::<List>(json!({ "limit": 3 }))).await.unwrap();
    assert_eq!(page.items.len(), 3);
    let next = input::<List>(json!({ "limit": 100, "cursor": page.next_cursor }));
    let rest = library.list(Kind::Persona, next).await.unwrap();
    assert_eq!(rest.items.len(), 9);
    let tagged = library.list(Kind::Persona, input::<List>(json!({ "tags": ["a", "b"] }))).await.unwrap();
    assert_eq!(tagged.items.len(), 1);
    let found = library.search(input::<Search>(json!({ "query": "very col" }))).await.unwrap();
    assert_eq!(found.items[0].name.as_str(), "cold");
}

async fn delete_everything(library: &Library, author: &Author) {
    let refused = library.delete(author, Kind::Part, input(json!({ "name": "warm" }))).await.unwrap_err();
    assert!(refused.to_string().contains("persona guide"), "{refused}");
    let forced = json!({ "name": "cold", "force": true });
    let deleted = library.delete(author, Kind::Part, input::<Delete>(forced)).await.unwrap();
    assert_eq!(deleted.unlinked.len(), 1, "{deleted:?}");
    let deleted = library.delete(author, Kind::Persona, input(json!({ "name": "guide" }))).await.unwrap();
    assert!(deleted.deleted);
    let deleted = library.delete(author, Kind::Persona, input(json!({ "name": "guide" }))).await.unwrap();
    assert!(!deleted.deleted);
    let denied = library.delete(author, Kind::Persona, input(json!({ "name": "critic" }))).await.unwrap_err();
    assert_eq!(denied.kind(), ErrorKind::Denied);
    let gone = library.get_persona(&input(json!({ "name": "guide" }))).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Missing);
    let again = library
        .create_persona(author, input(json!({ "name": "guide", "summary": "Guides." })))
        .await
        .unwrap();
    assert!(again.revision > 4, "an old revision number must not fit a new entity");
}
