//! Changing some fields of an entity of any kind, and conditions of writes.

use app::inputs::{DuplicateEntity, PromoteEntity, RenameEntity};
use app::outputs::{WriteAction, Written};
use app::{Code, Error};
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, at_revision, in_each_world, input, name, renaming, stale};

async fn amend(
    world: &World,
    scope: Scope,
    fields: Value,
    if_revision: Option<i64>,
) -> Result<Written, Error> {
    let amend = json!({
        "kind": "part", "name": "calm", "entity": fields, "scope": scope, "if_revision": if_revision,
    });
    world.library.amend_entity(&world.author, input(amend)).await
}

/// Action and revision of a write.
fn outcome(written: &Written) -> (WriteAction, i64) {
    (written.action, written.revision)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amendment_changes_the_given_fields() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            let part =
                json!({ "name": "calm", "part_type": "tone", "content": "Be calm.", "tags": ["quiet"] });
            world.create(Kind::Part, scope, part).await;
            let fields = json!({ "content": "Be very calm.", "summary": "Calm.", "description": null });
            let written = amend(world, scope, fields, Some(1)).await.unwrap();
            assert_eq!(outcome(&written), (WriteAction::Changed, 2));
            let cleared = amend(world, scope, json!({ "summary": "", "tags": [] }), None).await.unwrap();
            assert_eq!(outcome(&cleared), (WriteAction::Changed, 3));
            let part = world.entity(Kind::Part, scope, "calm").await;
            assert_eq!((&part["content"], &part["part_type"]), (&json!("Be very calm."), &json!("tone")));
            assert!(part.get("summary").is_none(), "{part}");
            assert!(part["tags"].as_array().is_none_or(Vec::is_empty), "{part}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_that_is_sent_back_as_it_was_read_is_unchanged() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", "Be calm.").await;
            let before = match scope.is_file() {
                true => world.text(scope),
                false => String::new(),
            };
            let read = world.entity(Kind::Part, scope, "calm").await;
            let written = amend(world, scope, read, Some(1)).await.unwrap();
            assert_eq!(outcome(&written), (WriteAction::Unchanged, 1));
            assert!(!written.changed);
            assert_eq!(world.entity(Kind::Part, scope, "calm").await["revision"], 1);
            if scope.is_file() {
                assert_eq!(world.text(scope), before);
            }
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_amendment_changes_nothing() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.part(scope, "calm", "tone", "One.").await;
            amend(world, scope, json!({ "content": "Two." }), Some(1)).await.unwrap();
            let late = amend(world, scope, json!({ "content": "Three." }), Some(1)).await;
            assert_eq!(at_revision(late), stale(2));
            assert_eq!(world.entity(Kind::Part, scope, "calm").await["content"], "Two.");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_amendment_needs_an_entity_and_fields() {
    in_each_world(async |world| {
        let code = async |fields: Value| {
            amend(world, Scope::Shared, fields, None).await.expect_err("it is refused").code()
        };
        assert_eq!(code(json!({ "content": "x" })).await, Code::NotFound);
        world.part(Scope::Shared, "calm", "tone", "Be calm.").await;
        assert_eq!(code(json!({})).await, Code::NothingToChange);
        assert_eq!(code(json!({ "scope": "shared", "revision": 1 })).await, Code::NothingToChange);
        assert_eq!(code(json!({ "name": "other" })).await, Code::ConflictingFields);
        assert_eq!(code(json!({ "conten": "x" })).await, Code::UnknownField);
        assert_eq!(code(json!({ "part_type": "tonne" })).await, Code::UnknownWord);
        assert_eq!(world.entity(Kind::Part, Scope::Shared, "calm").await["revision"], 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_builtin_is_amended_in_a_copy() {
    in_each_world(async |world| {
        let amend = async |fields: Value, if_revision: i64| {
            let amend =
                json!({ "kind": "persona", "name": "critic", "entity": fields, "if_revision": if_revision });
            world.library.amend_entity(&world.author, input(amend)).await
        };
        let read = world.entity(Kind::Persona, Scope::Builtin, "critic").await;
        let same = amend(read, 0).await.unwrap();
        assert_eq!((outcome(&same), same.scope), ((WriteAction::Unchanged, 0), Scope::Builtin));
        assert_eq!(at_revision(amend(json!({ "summary": "Mine." }), 3).await), stale(0));
        let written = amend(json!({ "summary": "Mine." }), 0).await.unwrap();
        assert_eq!((written.action, written.scope), (WriteAction::Changed, Scope::Shared));
        assert_eq!(world.view(json!({ "name": "critic" })).await["summary"], "Mine.");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stale_rename_duplicate_or_promotion_does_nothing() {
    in_each_world(async |world| {
        let (library, author) = (&world.library, &world.author);
        for scope in [Scope::Global, Scope::Project] {
            world.part(scope, "calm", "tone", "One.").await;
            amend(world, scope, json!({ "content": "Two." }), None).await.unwrap();
            let rename = |if_revision| RenameEntity {
                if_revision: Some(if_revision),
                ..renaming(Kind::Part, "calm", "quiet", Some(scope))
            };
            let duplicate = |if_revision| DuplicateEntity {
                kind: Kind::Part,
                name: name("calm"),
                new_name: name("copy"),
                to: None,
                message: None,
                if_revision: Some(if_revision),
                scope: Some(scope),
            };
            let promote = |name, if_revision| PromoteEntity {
                kind: Kind::Part,
                name,
                to: Scope::Shared,
                moves: true,
                replace: true,
                message: None,
                if_revision: Some(if_revision),
                scope: Some(scope),
            };
            assert_eq!(at_revision(library.rename(author, rename(1)).await), stale(2));
            assert_eq!(at_revision(library.duplicate(author, duplicate(1)).await), stale(2));
            assert_eq!(at_revision(library.promote(author, promote(name("calm"), 1)).await), stale(2));
            for absent in ["quiet", "copy"] {
                assert_eq!(world.entity(Kind::Part, scope, absent).await, Value::Null);
            }

            assert_eq!(library.duplicate(author, duplicate(2)).await.unwrap().action, WriteAction::Created);
            let renamed = library.rename(author, rename(2)).await.unwrap();
            let promoted = library.promote(author, promote(name("quiet"), renamed.revision)).await.unwrap();
            assert_eq!(promoted.removed.len(), 1);
            assert_eq!(world.entity(Kind::Part, scope, "quiet").await, Value::Null);
            assert_eq!(world.entity(Kind::Part, Scope::Shared, "quiet").await["content"], "Two.");
        }
    })
    .await;
}
