//! Entities that go to another scope, with all that they refer to.

use app::inputs::{DuplicateEntity, PromoteEntity};
use app::outputs::Promoted;
use app::{Code, ErrorKind, Remedy};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{
    World, at_field, code, in_each_world, input, name, not_found, pieces, refused, suggested, with_files,
};

async fn promote(
    world: &World,
    (kind, of): (Kind, &str),
    (from, to): (Option<Scope>, Scope),
    change: impl FnOnce(&mut PromoteEntity),
) -> Result<Promoted, app::Error> {
    let mut input = promotion((kind, of), (from, to));
    change(&mut input);
    world.library.promote(&world.author, input).await
}

fn promotion((kind, of): (Kind, &str), (from, to): (Option<Scope>, Scope)) -> PromoteEntity {
    let (moves, replace, message, if_revision) = (true, false, None, None);
    PromoteEntity { kind, name: name(of), to, moves, replace, message, if_revision, scope: from }
}

/// A persona of a scope with a part, an arc whose stage has another, a preset, and a base with its own part.
async fn a_family(world: &World, scope: Scope) {
    world.part(scope, "calm", "tone", "Be calm.").await;
    world.part(scope, "brisk", "tone", "Be brisk.").await;
    world.part(scope, "who", "identity", "You are a coder.").await;
    world.create(Kind::ToolPreset, scope, json!({ "name": "tools" })).await;
    world.create(Kind::TestInput, scope, json!({ "name": "try", "content": "Go." })).await;
    let arc = json!({ "name": "path", "stages": [{ "name": "one" }, { "name": "two", "parts": ["brisk"] }] });
    world.create(Kind::Arc, scope, arc).await;
    world
        .persona(scope, json!({ "name": "base", "parts": [{ "name": "who" }], "tool_preset": "tools" }))
        .await;
    let coder = json!({
        "name": "coder", "extends": format!("{scope}:base"), "parts": [{ "name": "calm" }], "arc": "path",
        "skills": ["steelman"], "test_inputs": ["try"],
    });
    world.persona(scope, coder).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persona_moves_with_its_pieces_and_its_base() {
    in_each_world(async |world| {
        for (from, to) in [
            (Scope::Project, Scope::Shared),
            (Scope::Shared, Scope::Project),
            (Scope::Project, Scope::Global),
            (Scope::Global, Scope::Shared),
            (Scope::Shared, Scope::Global),
        ] {
            let coder = world.entity(Kind::Persona, from, "coder").await;
            if coder.is_null() {
                a_family(world, from).await;
            }
            let coder = input(json!({ "persona": "coder", "scope": from }));
            world.library.reset_stage(&coder).await.unwrap();
            assert_eq!(world.library.advance_stage(&coder).await.unwrap().stage.as_str(), "two");
            let prompt = world.library.prompt(&persona_in(from)).await.unwrap().text;
            assert!(prompt.contains("Be brisk."), "{prompt}");
            let promoted = promote(world, (Kind::Persona, "coder"), (Some(from), to), |_| ()).await;
            let promoted = promoted.unwrap_or_else(|error| panic!("{from} to {to}: {error}"));
            assert_eq!((promoted.from, promoted.to, promoted.kept.len()), (from, to, 0), "{promoted:?}");
            let mut carried = pieces(&promoted.carried);
            carried.sort_unstable();
            let mut all = vec![
                (Kind::Persona, "base"),
                (Kind::Persona, "coder"),
                (Kind::Part, "brisk"),
                (Kind::Part, "calm"),
                (Kind::Part, "who"),
                (Kind::Arc, "path"),
                (Kind::ToolPreset, "tools"),
                (Kind::TestInput, "try"),
            ];
            all.sort_unstable();
            // Out of shared comes the copy of the builtin skill as well.
            carried.retain(|piece| *piece != (Kind::Skill, "steelman"));
            assert_eq!(carried, all, "{from} to {to}");
            // Shared entities have copies of builtins, files link them.
            let copied = pieces(&promoted.copied);
            assert_eq!(copied == [(Kind::Skill, "steelman")], to == Scope::Shared, "{to}: {copied:?}");
            assert_eq!(world.library.prompt(&persona_in(to)).await.unwrap().text, prompt);
            assert_eq!(world.library.scope_of(Kind::Persona, &name("coder")).await.unwrap(), to);
            for (kind, piece) in all {
                assert_eq!(
                    world.entity(kind, from, piece).await,
                    Value::Null,
                    "{kind} {piece} is still in {from}"
                );
            }
            clear(world, to).await;
        }
    })
    .await;
}

fn persona_in(scope: Scope) -> app::inputs::GetPersona {
    input(json!({ "name": "coder", "detail": true, "scope": scope }))
}

async fn clear(world: &World, scope: Scope) {
    for (kind, names) in [
        (Kind::Persona, &["coder", "base"][..]),
        (Kind::Arc, &["path"]),
        (Kind::Part, &["calm", "brisk", "who"]),
        (Kind::ToolPreset, &["tools"]),
        (Kind::TestInput, &["try"]),
        (Kind::Skill, &["steelman"]),
    ] {
        for of in names {
            let delete = input(json!({ "name": of, "scope": scope, "force": true }));
            world.library.delete(&world.author, kind, delete).await.unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_piece_that_others_use_stays() {
    in_each_world(async |world| {
        a_family(world, Scope::Shared).await;
        world.persona(Scope::Shared, json!({ "name": "other", "parts": [{ "name": "calm" }] })).await;
        world.persona(Scope::Global, json!({ "name": "mine", "parts": [{ "name": "who" }] })).await;
        let promoted =
            promote(world, (Kind::Persona, "coder"), (None, Scope::Project), |_| ()).await.unwrap();
        assert_eq!(promoted.from, Scope::Shared);
        let mut kept = pieces(&promoted.kept);
        kept.sort_unstable();
        assert_eq!(kept, [(Kind::Part, "calm"), (Kind::Part, "who")]);
        for user in ["other", "mine", "coder"] {
            assert!(
                !world.view(json!({ "name": user })).await["parts"].as_array().unwrap().is_empty(),
                "{user}"
            );
        }

        // Up again: the project's copies go, since what uses them sees those of shared.
        let promoted = promote(world, (Kind::Persona, "coder"), (None, Scope::Shared), |_| ()).await.unwrap();
        assert_eq!(promoted.kept, []);
        assert_eq!(world.text(Scope::Project).trim(), "");
        let carried = pieces(&promoted.carried);
        assert!(!carried.contains(&(Kind::Part, "calm")), "it is there already: {carried:?}");
    })
    .await;
}

/// Other users of a piece still find it in its old place.
#[tokio::test(flavor = "multi_thread")]
async fn a_piece_that_others_of_the_same_file_use_stays() {
    let [global, project] = ["GLOBAL", "project"]
        .map(|whose| format!("[parts.goal]\npart_type = \"goal\"\ncontent = \"{whose} goal\"\n"));
    let personas = "[personas.base]\nsummary = \"0\"\n[personas.one]\nextends = \"base\"\nparts = [\"goal\"]\n\
                    [personas.two]\nextends = \"base\"\nparts = [\"goal\"]\n";
    let project = format!("{personas}{project}");
    with_files(&global, &project, async |world| {
        let two = json!({ "name": "two", "detail": true });
        let before = world.view(two.clone()).await;
        assert_eq!(before["parts"][0]["content"], "project goal");
        let to_shared = (Some(Scope::Project), Scope::Shared);
        let promoted = promote(world, (Kind::Persona, "one"), to_shared, |_| ()).await.unwrap();
        assert_eq!(pieces(&promoted.removed), [(Kind::Persona, "one")]);
        assert_eq!(pieces(&promoted.kept), [(Kind::Persona, "base"), (Kind::Part, "goal")]);
        assert_eq!(world.view(two).await, before);
        let one = world.view(json!({ "name": "one", "detail": true, "scope": "shared" })).await;
        assert_eq!(one["parts"][0]["content"], "project goal");
        // The last one takes them along.
        let promoted = promote(world, (Kind::Persona, "two"), to_shared, |_| ()).await.unwrap();
        assert_eq!(promoted.kept, []);
        assert_eq!(world.text(Scope::Project).trim(), "");
    })
    .await;
}

/// The promoted entity itself moves if its users see its new place.
#[tokio::test(flavor = "multi_thread")]
async fn a_piece_that_is_asked_for_leaves_its_users() {
    let project =
        "[personas.two]\nparts = [\"goal\"]\n[parts.goal]\npart_type = \"goal\"\ncontent = \"Ours.\"\n";
    with_files("", project, async |world| {
        let goal = (Kind::Part, "goal");
        let promoted = promote(world, goal, (None, Scope::Global), |_| ()).await.unwrap();
        assert_eq!(pieces(&promoted.removed), [goal]);
        assert_eq!(
            world.view(json!({ "name": "two", "detail": true })).await["parts"][0]["content"],
            "Ours."
        );
        promote(world, goal, (None, Scope::Project), |it| it.moves = false).await.unwrap();
        // With the user's own in between, the project's persona would mean that one.
        world.part(Scope::Global, "goal", "goal", "Mine.").await;
        let promoted = promote(world, goal, (None, Scope::Shared), |_| ()).await.unwrap();
        assert_eq!((promoted.from, pieces(&promoted.kept)), (Scope::Project, vec![goal]));
        assert_eq!(
            world.view(json!({ "name": "two", "detail": true })).await["parts"][0]["content"],
            "Ours."
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_that_cannot_be_moved_is_not_copied() {
    in_each_world(async |world| {
        a_family(world, Scope::Project).await;
        let promotion = || promotion((Kind::Persona, "coder"), (None, Scope::Shared));
        let reader = world
            .reopened(|options| {
                if let Some(files) = &mut options.files {
                    files.writable = false;
                }
            })
            .await;
        let denied = refused(reader.promote(&world.author, promotion()).await);
        assert_eq!(denied.code, Code::ReadOnlyScope, "{denied:?}");
        let shared = world.entity(Kind::Part, Scope::Shared, "calm").await;
        assert_eq!(shared, Value::Null, "nothing is half done");
        reader.promote(&world.author, PromoteEntity { moves: false, ..promotion() }).await.unwrap();
        reader.close().await;
        clear(world, Scope::Shared).await;
        // A file with a mistake is not written to either.
        world.edit(Scope::Project, "[personas.base]", "[personas.base");
        let broken = promote(world, (Kind::Persona, "coder"), (None, Scope::Shared), |_| ()).await;
        assert_eq!(code(broken), Code::FileHasErrors);
        assert_eq!(world.entity(Kind::Part, Scope::Shared, "calm").await, Value::Null);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_leaves_everything_in_place() {
    in_each_world(async |world| {
        a_family(world, Scope::Project).await;
        let before = world.text(Scope::Project);
        let copied = promote(world, (Kind::Persona, "coder"), (None, Scope::Shared), |it| it.moves = false)
            .await
            .unwrap();
        assert_eq!((copied.removed.len(), copied.kept.len()), (0, 0));
        assert_eq!(world.text(Scope::Project), before);
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "coder").await["extends"], "base");
        let plain = json!({ "kind": "persona", "name": "coder", "to": "shared" });
        let again = world.library.promote(&world.author, input(plain)).await.unwrap();
        assert_eq!((again.carried, again.removed), (vec![], vec![]), "nothing is different");
        assert_eq!(world.text(Scope::Project), before, "only `move` removes");
        let alone =
            promote(world, (Kind::Part, "calm"), (None, Scope::Global), |it| it.moves = false).await.unwrap();
        assert_eq!(pieces(&alone.carried), [(Kind::Part, "calm")]);
        let history =
            world.library.history(Kind::Part, &name("calm"), Some(Scope::Global), None).await.unwrap();
        assert_eq!(history.items[0].message.as_deref(), Some("from project"));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_name_is_a_conflict_unless_it_gives_way() {
    in_each_world(async |world| {
        a_family(world, Scope::Project).await;
        world.part(Scope::Shared, "calm", "tone", "Another calm.").await;
        let taken = refused(promote(world, (Kind::Persona, "coder"), (None, Scope::Shared), |_| ()).await);
        assert_eq!((taken.code, taken.subject.name.as_deref()), (Code::Occupied, Some("calm")));
        assert_eq!(taken.remedies, [Remedy::UseReplace, Remedy::RenameOne]);
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "coder").await, Value::Null);
        assert_eq!(world.entity(Kind::Part, Scope::Shared, "brisk").await, Value::Null, "all or nothing");
        let replaced =
            promote(world, (Kind::Persona, "coder"), (None, Scope::Shared), |it| it.replace = true)
                .await
                .unwrap();
        assert!(pieces(&replaced.carried).contains(&(Kind::Part, "calm")));
        assert_eq!(world.entity(Kind::Part, Scope::Shared, "calm").await["content"], "Be calm.");
        assert_eq!(
            world.entity(Kind::Part, Scope::Shared, "calm").await["revision"],
            2,
            "its history goes on"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impossible_promotion_is_refused() {
    in_each_world(async |world| {
        world.persona(Scope::Project, json!({ "name": "coder" })).await;
        let there = promote(world, (Kind::Persona, "coder"), (None, Scope::Project), |_| ()).await;
        assert_eq!(code(there), Code::AlreadyInScope);
        let unknown = promote(world, (Kind::Persona, "codr"), (None, Scope::Shared), |_| ()).await;
        assert_eq!(suggested(unknown), not_found("coder"));
        let builtin = promote(world, (Kind::Persona, "coder"), (None, Scope::Builtin), |_| ()).await;
        assert_eq!(refused(builtin).kind, ErrorKind::Denied);
        let from = Some(Scope::Shared);
        let elsewhere = promote(world, (Kind::Persona, "coder"), (from, Scope::Global), |_| ()).await;
        assert_eq!(code(elsewhere), Code::InOtherScope);

        // A persona and the namesake that it extends do not fit into one scope.
        world.persona(Scope::Global, json!({ "name": "coder", "summary": "Mine" })).await;
        world.persona(Scope::Project, json!({ "name": "coder", "extends": "global:coder" })).await;
        let both = promote(world, (Kind::Persona, "coder"), (None, Scope::Shared), |_| ()).await;
        assert_eq!(code(both), Code::NameClash);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_is_copied_with_its_pieces() {
    in_each_world(async |world| {
        let copied = promote(world, (Kind::Persona, "critic"), (None, Scope::Project), |_| ()).await.unwrap();
        assert_eq!((copied.from, copied.removed.len()), (Scope::Builtin, 0));
        assert!(pieces(&copied.carried).contains(&(Kind::Part, "critic-voice")));
        assert!(world.text(Scope::Project).contains("[parts.critic-voice]"));
        let tags = &world.entity(Kind::Persona, Scope::Project, "critic").await["tags"];
        assert_eq!(*tags, json!(["discussion", "critique"]), "it is not a builtin");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recent_edit_by_hand_is_not_replaced() {
    in_each_world(async |world| {
        world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
        world.part(Scope::Project, "other", "tone", "Be other.").await;
        // The file is not watched here, so the edit is seen only by the write.
        world.edit(Scope::Project, "[parts.other]", "[parts.calm]");
        let refusal =
            promote(world, (Kind::Part, "calm"), (Some(Scope::Shared), Scope::Project), |_| ()).await;
        let refusal = refused(refusal);
        assert_eq!((refusal.code, refusal.subject.scope), (Code::Occupied, Some(Scope::Project)));
        assert!(world.text(Scope::Project).contains("Be other."), "{}", world.text(Scope::Project));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_whose_names_would_change_their_meaning_stays() {
    in_each_world(async |world| {
        world.persona(Scope::Shared, json!({ "name": "base", "system_prompt": "Ours." })).await;
        world.persona(Scope::Global, json!({ "name": "coder", "extends": "base" })).await;
        world.persona(Scope::Project, json!({ "name": "base", "system_prompt": "The project's." })).await;
        let clash = (Code::NameClash, Some("extends".to_owned()));
        let route = (Some(Scope::Global), Scope::Project);
        let promoted = promote(world, (Kind::Persona, "coder"), route, |_| ()).await;
        assert_eq!(at_field(promoted), clash);
        let twin = DuplicateEntity {
            kind: Kind::Persona,
            name: name("coder"),
            new_name: name("twin"),
            to: Some(Scope::Project),
            message: None,
            if_revision: None,
            scope: None,
        };
        let copied = world.library.duplicate(&world.author, twin);
        assert_eq!(at_field(copied.await), clash);
        assert!(world.entity(Kind::Persona, Scope::Project, "coder").await.is_null());

        // The same under the name is no matter, and a builtin that has been replaced is meant to be.
        world.persona(Scope::Project, json!({ "name": "base", "system_prompt": "Ours." })).await;
        promote(world, (Kind::Persona, "coder"), route, |_| ()).await.unwrap();
        world.part(Scope::Project, "critic-voice", "voice", "Whisper.").await;
        let critic = (Kind::Persona, "critic");
        promote(world, critic, (Some(Scope::Builtin), Scope::Project), |_| ()).await.unwrap_err();
        let copy = |promotion: &mut PromoteEntity| promotion.replace = true;
        promote(world, critic, (Some(Scope::Builtin), Scope::Project), copy).await.unwrap();
    })
    .await;
}
