//! Entities as they were: history, differences, going back, tags.

use app::inputs::{GetEntity, Rollback, UpdatePersona};
use app::outputs::Written;
use app::{Code, ErrorKind, NewTag, Remedy, RevisionRef};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{
    World, at_field, at_revision, code, in_each_world, input, name, not_found, refused, stale, suggested,
    with_files,
};

async fn history(world: &World, kind: Kind, of: &str) -> Vec<(i64, String, String, Option<String>)> {
    let history = world.library.history(kind, &name(of), None, None).await.unwrap();
    let all = history.items.into_iter();
    all.map(|item| (item.revision, item.action, format!("{}/{}", item.author, item.front), item.message))
        .collect()
}

async fn rollback(world: &World, fields: Value) -> app::Result<Written> {
    let back = world.library.rollback(&world.author, input::<Rollback>(fields)).await;
    back.map(|back| back.written)
}

fn number(revision: i64) -> RevisionRef {
    RevisionRef::Number(revision)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_history_has_the_author_and_the_message_of_each_change() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": "coder", "summary": "One" })).await;
            let update = json!({ "name": "coder", "summary": "Two", "message": "shorter", "scope": scope });
            world.library.update_persona(&world.author, input::<UpdatePersona>(update)).await.unwrap();
            let by = "tester/cli".to_owned();
            assert_eq!(
                history(world, Kind::Persona, "coder").await,
                [
                    (2, "update".to_owned(), by.clone(), Some("shorter".to_owned())),
                    (1, "create".to_owned(), by, None)
                ],
                "{scope}"
            );
        }
        let limited =
            world.library.history(Kind::Persona, &name("coder"), Some(Scope::Shared), Some(1)).await.unwrap();
        assert_eq!((limited.scope, limited.items.len()), (Scope::Shared, 1));
        let long = json!({ "name": "coder", "summary": "Three", "message": "x".repeat(5000) });
        let long = world.library.update_persona(&world.author, input(long)).await;
        assert_eq!(at_field(long), (Code::TooLong, Some("message".to_owned())));
        let none = world.library.history(Kind::Persona, &name("codr"), None, None).await;
        assert_eq!(suggested(none), not_found("coder"));
        let builtin = world.library.history(Kind::Persona, &name("critic"), None, None).await;
        let builtin = refused(builtin);
        assert_eq!((builtin.code, builtin.remedies), (Code::NoHistory, vec![Remedy::DuplicateIt]));
        // A named scope is the only one that is read.
        world.persona(Scope::Shared, json!({ "name": "critic" })).await;
        let of_builtin = async |of: &str| {
            world.library.history(Kind::Persona, &name(of), Some(Scope::Builtin), None).await
        };
        assert_eq!(code(of_builtin("critic").await), Code::NoHistory);
        let elsewhere = refused(of_builtin("coder").await);
        assert_eq!((elsewhere.code, elsewhere.remedies), (Code::InOtherScope, vec![Remedy::LeaveOutScope]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hand_edits_are_in_the_history_and_can_be_undone() {
    with_files("", "# ours\n[parts.calm]\npart_type = \"tone\"\ncontent = \"Be calm.\"\n", async |world| {
        world.edit(Scope::Project, "Be calm.", "Shout.");
        let seen = world.reopened(|_| ()).await;
        seen.close().await;
        let by = "personas.toml/file".to_owned();
        assert_eq!(
            history(world, Kind::Part, "calm").await,
            [(2, "update".to_owned(), by.clone(), None), (1, "create".to_owned(), by, None)]
        );
        let back = rollback(world, json!({ "kind": "part", "name": "calm", "revision": 1 })).await.unwrap();
        assert_eq!((back.scope, back.revision, back.changed), (Scope::Project, 3, true));
        assert_eq!(
            world.text(Scope::Project),
            "# ours\n[parts.calm]\npart_type = \"tone\"\ncontent = \"Be calm.\"\n"
        );
        let newest = history(world, Kind::Part, "calm").await.remove(0);
        assert_eq!(newest.3.as_deref(), Some("back to revision 1"));
        let again = rollback(world, json!({ "kind": "part", "name": "calm", "revision": 3 })).await.unwrap();
        assert!(!again.changed, "it says so already");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_revisions_are_compared_field_by_field() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let coder = name("coder");
            world.persona(scope, json!({ "name": "coder", "summary": "One", "tags": ["a"] })).await;
            let only = world.library.diff(Kind::Persona, &coder, Some(scope), None, None).await;
            assert_eq!(code(only), Code::SingleRevision);
            world.persona(scope, json!({ "name": "coder", "summary": "Two", "tags": ["a"] })).await;
            world
                .persona(scope, json!({ "name": "coder", "system_prompt": "You code.", "tags": ["a"] }))
                .await;

            let last = world.library.diff(Kind::Persona, &coder, Some(scope), None, None).await.unwrap();
            assert_eq!((last.scope, last.from.revision, last.to.revision), (scope, 2, 3));
            let fields: Vec<(&str, Option<&Value>, Option<&Value>)> = last
                .fields
                .iter()
                .map(|change| (change.field.as_str(), change.from.as_ref(), change.to.as_ref()))
                .collect();
            assert_eq!(
                fields,
                [("summary", Some(&json!("Two")), None), ("system_prompt", None, Some(&json!("You code.")))]
            );
            assert_eq!(last.from.label, "coder revision 2");
            assert_eq!(last.from.toml, "[personas.coder]\nsummary = \"Two\"\ntags = [\"a\"]\n");
            let since =
                world.library.diff(Kind::Persona, &coder, Some(scope), Some(&number(1)), None).await.unwrap();
            assert_eq!((since.from.revision, since.to.revision), (1, 3));
            let two = world
                .library
                .diff(Kind::Persona, &coder, Some(scope), Some(&number(1)), Some(&number(2)))
                .await;
            assert_eq!(two.unwrap().fields.len(), 1);
            let none = world.library.diff(Kind::Persona, &coder, Some(scope), Some(&number(9)), None).await;
            assert_eq!(at_revision(none), (Code::UnknownRevision, Some("9".to_owned())));
            assert_eq!(last.note, None);

            let delete = json!({ "name": "coder", "scope": scope });
            world.library.delete(&world.author, Kind::Persona, input(delete)).await.unwrap();
            let gone = world.library.diff(Kind::Persona, &coder, Some(scope), None, None).await.unwrap();
            assert_eq!(gone.note.as_deref(), Some("persona coder was deleted in revision 4"));
            assert_eq!((gone.to.label.as_str(), gone.to.toml.as_str()), ("coder revision 4 (deleted)", ""));
            assert!(
                gone.fields.len() == 2 && gone.fields.iter().all(|change| change.to.is_none()),
                "{gone:?}"
            );
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_entity_is_restored() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", "Be calm.").await;
            world.persona(scope, json!({ "name": "coder", "parts": [{ "name": "calm" }] })).await;
            for (kind, of) in [(Kind::Persona, "coder"), (Kind::Part, "calm")] {
                let delete = json!({ "name": of, "scope": scope });
                assert!(world.library.delete(&world.author, kind, input(delete)).await.unwrap().deleted);
            }
            let last = world.library.history(Kind::Part, &name("calm"), None, None).await.unwrap();
            assert_eq!((last.scope, last.items[0].action.as_str()), (scope, "delete"), "the history stays");
            let back = async |kind, of: &str| {
                rollback(world, json!({ "kind": kind, "name": of, "revision": 1, "scope": scope })).await
            };
            assert_eq!(code(back(Kind::Persona, "coder").await), Code::PieceGone);
            assert_eq!(back(Kind::Part, "calm").await.unwrap().revision, 3, "the deletion was revision 2");
            assert_eq!(back(Kind::Persona, "coder").await.unwrap().scope, scope);
            let shown = world.view(json!({ "name": "coder", "scope": scope })).await;
            assert_eq!(shown["parts"][0]["name"], "calm");
            for (kind, of) in [(Kind::Persona, "coder"), (Kind::Part, "calm")] {
                let delete = json!({ "name": of, "scope": scope });
                world.library.delete(&world.author, kind, input(delete)).await.unwrap();
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_that_is_based_on_another_revision_is_refused() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            for content in ["One.", "Two.", "Three."] {
                world.part(scope, "calm", "tone", content).await;
            }
            let back = async |base: i64| {
                let fields = json!({ "kind": "part", "name": "calm", "revision": 1, "scope": scope, "if_revision": base });
                rollback(world, fields).await
            };
            assert_eq!(at_revision(back(2).await), stale(3));
            assert_eq!(world.entity(Kind::Part, scope, "calm").await["content"], "Three.");
            assert_eq!(back(3).await.unwrap().revision, 4);
            // Revision 0 means that the entity does not exist.
            let delete = json!({ "name": "calm", "scope": scope });
            world.library.delete(&world.author, Kind::Part, input(delete)).await.unwrap();
            assert_eq!(at_revision(back(4).await), stale(0));
            assert_eq!(back(0).await.unwrap().revision, 6);
            assert_eq!(code(back(0).await).kind(), ErrorKind::Conflict);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_entity_has_its_tags() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Global, Scope::Project] {
            let (library, author, coder) = (&world.library, &world.author, name("coder"));
            let shown = async || {
                let get = json!({ "name": "coder", "revision": "good", "scope": scope });
                library
                    .get_persona(&input(get))
                    .await
                    .map(|shown| shown.json().contains("\"summary\":\"Two\""))
            };
            for summary in ["One", "Two", "Three"] {
                world.persona(scope, json!({ "name": "coder", "summary": summary })).await;
            }
            library.tag(author, Kind::Persona, &coder, Some(scope), Some(&number(2)), "good").await.unwrap();
            let delete = async || {
                let delete = json!({ "name": "coder", "scope": scope });
                library.delete(author, Kind::Persona, input(delete)).await.unwrap();
            };
            delete().await;
            let back = json!({ "kind": "persona", "name": "coder", "revision": 1, "scope": scope });
            assert_eq!(rollback(world, back).await.unwrap().revision, 5, "{scope}");
            assert!(shown().await.unwrap(), "{scope}");
            assert!(library.untag(Kind::Persona, &coder, Some(scope), "good").await.unwrap());
            library.tag(author, Kind::Persona, &coder, Some(scope), Some(&number(2)), "good").await.unwrap();
            // A new persona of that name does not inherit the tags of the old one.
            delete().await;
            world.persona(scope, json!({ "name": "coder", "summary": "Another" })).await;
            let earlier = refused(shown().await);
            let ask = Remedy::AskForRevision { revision: "2".to_owned() };
            assert_eq!((earlier.code, earlier.remedies), (Code::UnknownRevision, vec![ask]), "{scope}");
        }
    })
    .await;
}

async fn content(world: &World, revision: &Value) -> String {
    let shown = world.view(json!({ "name": "coder", "detail": true, "revision": revision })).await;
    shown["parts"][0]["content"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_difference_shows_what_tags_freeze() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let (library, coder) = (&world.library, name("coder"));
            world.part(scope, "calm", "tone", "One.").await;
            let parts = json!({ "name": "coder", "parts": [{ "name": "calm" }], "traits": [] });
            world.persona(scope, parts).await;
            library.tag(&world.author, Kind::Persona, &coder, Some(scope), None, "production").await.unwrap();
            world.part(scope, "calm", "tone", "Two.").await;
            let production = RevisionRef::Tag("production".to_owned());
            let changed = |diff: &app::outputs::RevisionDiff| {
                let pieces = diff.pieces.iter().map(|piece| {
                    let fields = piece.fields.iter().map(|it| json!([it.field, it.from, it.to]));
                    (piece.kind, piece.name.to_string(), fields.collect::<Vec<_>>())
                });
                pieces.collect::<Vec<_>>()
            };
            let content = |from: &str, to: &str| {
                vec![(Kind::Part, "calm".to_owned(), vec![json!(["content", from, to])])]
            };
            // Since the tag; the persona itself has no further revision.
            let since =
                library.diff(Kind::Persona, &coder, Some(scope), Some(&production), None).await.unwrap();
            assert_eq!((changed(&since), since.fields.len()), (content("One.", "Two."), 0));
            assert!(since.pieces[0].from_toml.contains("One.") && since.pieces[0].to_toml.contains("Two."));
            // Between two revisions.
            library.tag(&world.author, Kind::Persona, &coder, Some(scope), None, "next").await.unwrap();
            world.part(scope, "calm", "tone", "Three.").await;
            let next = RevisionRef::Tag("next".to_owned());
            let (from, to) = (Some(&production), Some(&next));
            let between = library.diff(Kind::Persona, &coder, Some(scope), from, to).await.unwrap();
            assert_eq!(changed(&between), content("One.", "Two."));
            let prompts = library.diff_prompts(Kind::Persona, &coder, Some(scope), from, to).await.unwrap();
            assert!(prompts.from.contains("One.") && prompts.to.contains("Two."), "{prompts:?}");
            let prompts =
                library.diff_prompts(Kind::Persona, &coder, Some(scope), Some(&next), None).await.unwrap();
            assert!(prompts.from.contains("Two.") && prompts.to.contains("Three."), "{prompts:?}");
            let part = library.diff_prompts(Kind::Part, &name("calm"), Some(scope), None, None).await;
            assert_eq!(at_field(part), (Code::NotForKind, Some("compiled".to_owned())));
            let same = library.diff(Kind::Persona, &coder, Some(scope), to, to).await.unwrap();
            assert_eq!(changed(&same), vec![]);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_freezes_the_whole_prompt() {
    in_each_world(async |world| {
        // The part's scope and the persona's: alike, and from a file down into the database.
        for (of_part, of_persona) in [
            (Scope::Shared, Scope::Shared),
            (Scope::Project, Scope::Project),
            (Scope::Shared, Scope::Project),
        ] {
            freeze(world, of_part, of_persona).await;
            for (kind, of, scope) in [(Kind::Persona, "coder", of_persona), (Kind::Part, "calm", of_part)] {
                let delete = json!({ "name": of, "scope": scope });
                world.library.delete(&world.author, kind, input(delete)).await.unwrap();
            }
        }
    })
    .await;
}

async fn freeze(world: &World, of_part: Scope, of_persona: Scope) {
    let (library, author, coder) = (&world.library, &world.author, name("coder"));
    world.part(of_part, "calm", "tone", "One.").await;
    let first =
        world.persona(of_persona, json!({ "name": "coder", "parts": [{ "name": "calm" }] })).await.revision;
    // An earlier round left its tags.
    let put = async |tag| {
        let tag = NewTag { tag, moves: true, message: None };
        library.tag(author, Kind::Persona, &coder, None, None, tag).await.unwrap()
    };
    let tagged = put("production").await;
    assert_eq!((tagged.scope, tagged.revision), (of_persona, first), "nothing changed since");
    world.part(of_part, "calm", "tone", "Two.").await;
    assert_eq!(content(world, &json!("production")).await, "One.");
    // The prompt is another one by now, though the persona's definition is the same.
    let tagged = put("next").await;
    assert_eq!(tagged.revision, first + 1);
    let again = put("also").await;
    assert_eq!(again.revision, first + 1);
    world.part(of_part, "calm", "tone", "Three.").await;
    for (revision, text) in [
        (json!("production"), "One."),
        (json!(first), "One."),
        (json!("next"), "Two."),
        (json!((first + 1).to_string()), "Two."),
        (Value::Null, "Three."),
    ] {
        assert_eq!(content(world, &revision).await, text, "{revision} of {of_part} and {of_persona}");
    }
    let compiled = json!({ "name": "coder", "detail": true, "compiled": true, "revision": "production" });
    let compiled = world.view(compiled).await["compiled_detail"].as_str().unwrap().to_owned();
    assert!(compiled.contains("One.") && !compiled.contains("Three."), "{compiled}");
    let prompt = json!({ "name": "coder", "detail": true, "revision": "next" });
    assert!(library.prompt(&input(prompt)).await.unwrap().text.contains("Two."));

    // A tag moves on request only.
    let (first_one, second) = (number(first), number(first + 1));
    let tag = async |wanted, moves| {
        let tag = NewTag { tag: "production", moves, message: None };
        library.tag(author, Kind::Persona, &coder, None, wanted, tag).await
    };
    // Pieces have changed, so this would record a revision first.
    for wanted in [Some(&second), None] {
        let taken = refused(tag(wanted, false).await);
        assert_eq!((taken.code, taken.subject.revision), (Code::TagTaken, Some(first.to_string())));
        assert_eq!(taken.remedies, [Remedy::MoveTag, Remedy::OtherTag]);
    }
    let newest = library.history(Kind::Persona, &coder, None, None).await.unwrap().items[0].revision;
    assert_eq!(newest, first + 1, "a refused tag records nothing");
    assert_eq!(content(world, &json!("production")).await, "One.");
    let same = tag(Some(&first_one), false).await.unwrap();
    assert_eq!((same.revision, same.changed, same.moved_from), (first, false, None));
    let moved = tag(Some(&second), true).await.unwrap();
    assert_eq!((moved.revision, moved.changed, moved.moved_from), (first + 1, true, Some(first.to_string())));
    assert_eq!(content(world, &json!("production")).await, "Two.");
    let tags = &library.history(Kind::Persona, &coder, None, None).await.unwrap().items[0].tags;
    assert_eq!(tags, &["also", "next", "production"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tag_freezes_stages_that_are_still_to_come() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let (library, author, coder) = (&world.library, &world.author, name("coder"));
            world.part(scope, "later", "tone", "One.").await;
            let arc = json!({ "name": "path", "stages": [{ "name": "a" }, { "name": "b", "order": 1, "parts": ["later"] }] });
            world.create(Kind::Arc, scope, arc).await;
            world.persona(scope, json!({ "name": "coder", "arc": "path" })).await;
            world.part(scope, "later", "tone", "Two.").await;
            // Nothing of the prompt is different yet; in the next stage it is.
            let tagged = library.tag(author, Kind::Persona, &coder, Some(scope), None, "next").await.unwrap();
            world.part(scope, "later", "tone", "Three.").await;
            library.advance_stage(&input(json!({ "persona": "coder", "scope": scope }))).await.unwrap();
            let get = |revision: Value| json!({ "name": "coder", "detail": true, "revision": revision, "scope": scope });
            let then = world.view(get(json!("next"))).await;
            assert_eq!(then["parts"][0]["content"], "Two.", "revision {} in {scope}", tagged.revision);
            assert_eq!(world.view(get(Value::Null)).await["parts"][0]["content"], "Three.");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_revision_is_refused() {
    in_each_world(async |world| {
        world.persona(Scope::Project, json!({ "name": "coder" })).await;
        let get = async |revision: Value| {
            let get = json!({ "name": "coder", "revision": revision });
            refused(world.library.get_persona(&input(get)).await)
        };
        let untagged = get(json!("production")).await;
        assert_eq!((untagged.code, untagged.remedies), (Code::UnknownRevision, vec![Remedy::TagOne]));
        let (library, author, coder) = (&world.library, &world.author, name("coder"));
        library.tag(author, Kind::Persona, &coder, None, Some(&number(1)), "production").await.unwrap();
        let misspelt = get(json!("prodution")).await;
        assert_eq!((misspelt.code, misspelt.candidates[0].as_str()), (Code::UnknownRevision, "production"));
        let seventh = get(json!(7)).await;
        assert_eq!((seventh.code, seventh.subject.revision.as_deref()), (Code::UnknownRevision, Some("7")));
        for tag in ["two words", "12", ""] {
            let refusal = library.tag(author, Kind::Persona, &coder, None, None, tag).await;
            assert_eq!(code(refusal), Code::InvalidTag, "{tag:?}");
        }
        assert!(library.untag(Kind::Persona, &coder, None, "production").await.unwrap());
        assert!(!library.untag(Kind::Persona, &coder, None, "production").await.unwrap());
        let builtin = library.tag(author, Kind::Persona, &name("critic"), None, None, "x").await;
        assert_eq!(code(builtin), Code::NoHistory);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn any_entity_is_read_as_it_was() {
    in_each_world(async |world| {
        world
            .create(Kind::BiasProfile, Scope::Project, json!({ "name": "mine", "multipliers": { "a": 1.0 } }))
            .await;
        world
            .create(Kind::BiasProfile, Scope::Project, json!({ "name": "mine", "multipliers": { "a": 2.0 } }))
            .await;
        let get = json!({ "kind": "bias_profile", "name": "mine", "revision": 1 });
        let old = world.library.get_entity(&input::<GetEntity>(get)).await.unwrap();
        assert_eq!((old.meta.scope, old.meta.revision), (Scope::Project, 1));
        assert_eq!(old.entity.to_json()["multipliers"]["a"], 1.0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_revisions_are_forgotten_and_tagged_ones_are_not() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            for content in ["1", "2", "3", "4", "5"] {
                world.part(scope, "calm", "tone", content).await;
            }
            let (library, author, calm) = (&world.library, &world.author, name("calm"));
            library.tag(author, Kind::Part, &calm, Some(scope), Some(&number(2)), "good").await.unwrap();
        }
        assert_eq!(world.library.prune(2).await.unwrap(), 4);
        for scope in [Scope::Shared, Scope::Project] {
            let left = world.library.history(Kind::Part, &name("calm"), Some(scope), None).await.unwrap();
            let left: Vec<i64> = left.items.iter().map(|item| item.revision).collect();
            assert_eq!(left, [5, 4, 2], "{scope}");
        }
    })
    .await;
}
