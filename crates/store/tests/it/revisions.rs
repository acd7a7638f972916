//! History: one revision for each change of each entity, with all that it takes to go back.

use persona::{CharacterArc, CompiledText, Kind, Name, Part, Persona, Scope, Trait};
use scopes::Scopes;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{Action, Attribution, Store};
use testkit::{Database, on_each_engine};

use crate::samples::{
    arc, base, begin, bias_profile, change, context_preset, extending, full_persona, held, keep, keep_pieces,
    link, name, open, persona, remove, stage, tone, tool_preset,
};

#[derive(Debug, Deserialize)]
struct Revision {
    scope: String,
    kind: Kind,
    guid: String,
    name: String,
    revision: i64,
    action: String,
    author: String,
    front: String,
    message: Option<String>,
    entity: Value,
    refs: Value,
}

/// The history, read past the store, from after the `skip` oldest. What it refers to is without
/// identities, each of which was found to be right.
async fn history(database: &Database, skip: usize) -> Vec<Revision> {
    let columns = "'scope', scope, 'kind', kind, 'guid', guid, 'name', name, 'revision', revision, 'action', action, \
                   'author', author, 'front', front, 'message', message";
    let object = match database.engine {
        "sqlite" => format!("json_object({columns}, 'entity', json(entity), 'refs', json(refs))"),
        _ => format!("CAST(json_build_object({columns}, 'entity', entity, 'refs', refs) AS text)"),
    };
    let rows = database.texts(&format!("SELECT {object} FROM agent_revisions ORDER BY id")).await;
    let mut rows: Vec<Revision> = rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
    let known: Vec<(Kind, String, i64, String)> =
        rows.iter().map(|row| (row.kind, row.name.clone(), row.revision, row.guid.clone())).collect();
    for reference in rows.iter_mut().flat_map(|row| row.refs.as_array_mut().unwrap()) {
        let guid = reference.as_object_mut().unwrap().remove("guid").unwrap();
        let meant = known.iter().filter(|(kind, name, revision, _)| {
            *reference == self::reference(kind.as_str(), name, *revision)
        });
        assert!(meant.clone().any(|(.., known)| guid == known.as_str()), "{reference} {guid}");
    }
    rows.split_off(skip.min(rows.len()))
}

async fn length(database: &Database) -> usize {
    history(database, 0).await.len()
}

/// Something in shared that a revision refers to.
fn reference(kind: &str, name: &str, revision: i64) -> Value {
    json!({ "kind": kind, "name": name, "scope": "shared", "revision": revision })
}

fn brief(revisions: &[Revision]) -> Vec<String> {
    revisions.iter().map(|row| format!("{} {} {} {}", row.action, row.kind, row.name, row.revision)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_says_who_what_and_why() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        let skip = length(database).await;
        let attribution = Attribution {
            who: "Ada".to_owned(),
            front: "mcp".to_owned(),
            message: Some("try it".to_owned()),
        };
        let mut write = store.write(attribution).await.unwrap();
        let stored = write.insert(&full_persona("guide"), Action::Create).await.unwrap();
        write.commit().await.unwrap();
        let rows = history(database, skip).await;
        assert_eq!(brief(&rows), ["create persona guide 1"]);
        let row = &rows[0];
        assert_eq!((row.author.as_str(), row.front.as_str()), ("Ada", "mcp"));
        assert_eq!((row.message.as_deref(), row.scope.as_str()), (Some("try it"), "shared"));
        assert_eq!(row.guid, stored.meta.guid.unwrap().to_string());
        assert_eq!(row.entity, serde_json::to_value(&stored.entity).unwrap());
        let back: Persona = serde_json::from_value(row.entity.clone()).unwrap();
        assert_eq!(back, stored.entity, "the whole entity can be made again");
        let expected = [
            reference("arc", "path", 1),
            reference("guardrail", "honest", 1),
            reference("part", "cold", 1),
            reference("part", "warm", 1),
            reference("skill", "tracing", 1),
            reference("test_input", "evening", 1),
            reference("test_input", "morning", 1),
            reference("trait", "bold", 1),
            reference("trait", "patient", 1),
        ];
        assert_eq!(row.refs, Value::from(expected.to_vec()), "the presets that it names are not there");

        let unnamed = Attribution { who: String::new(), front: "cli".to_owned(), message: None };
        let mut write = store.write(unnamed).await.unwrap();
        let warm = held::<Part>(&mut write, "warm").await;
        write.remove(&warm).await.unwrap_err();
        drop(write);
        assert_eq!(length(database).await, skip + 1, "a refusal records nothing");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_one_revision() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("warm")).await;
        keep(&store, &tone("cold")).await;
        keep(&store, &persona("guide")).await;
        change::<Part>(&store, "warm", |part| part.content = Some("Warmer.".to_owned())).await;
        let mut write = begin(&store).await;
        let guide = held::<Persona>(&mut write, "guide").await;
        let mut linked = guide.stored.entity.clone();
        linked.parts.push(link("warm", 0, 0));
        write.replace(&guide, &linked, Action::Link).await.unwrap();
        write.commit().await.unwrap();
        change::<Persona>(&store, "guide", |persona| persona.name = name("leader")).await;
        remove::<Persona>(&store, "leader").await;
        remove::<Part>(&store, "cold").await;
        let rows = history(database, 0).await;
        assert_eq!(
            brief(&rows),
            [
                "create part warm 1",
                "create part cold 1",
                "create persona guide 1",
                "update part warm 2",
                "link persona guide 2",
                "rename persona leader 3",
                "delete persona leader 4",
                "delete part cold 2",
            ]
        );
        assert_eq!(rows[4].refs, json!([reference("part", "warm", 2)]));
        assert_eq!(
            rows[6].entity["parts"][0]["name"], "warm",
            "what was deleted is there to be brought back"
        );
        assert!(rows[2..].iter().filter(|row| row.kind == Kind::Persona).all(|row| row.guid == rows[2].guid));
        store.close().await;
    })
    .await;
}

/// Several entities in one transaction, one of them twice.
#[tokio::test(flavor = "multi_thread")]
async fn one_transaction_records_each_change() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let mut write = begin(&store).await;
        write.insert(&tone("warm"), Action::Create).await.unwrap();
        write.insert(&arc("path", vec![stage("one", 1, &["warm"])]), Action::Create).await.unwrap();
        let walking = Persona { arc: Some(name("path")), ..persona("guide") };
        write.insert(&walking, Action::Create).await.unwrap();
        let guide = held::<Persona>(&mut write, "guide").await;
        let tagged = Persona { tags: vec!["x".to_owned()], ..walking };
        write.replace(&guide, &tagged, Action::Update).await.unwrap();
        write.commit().await.unwrap();
        let rows = history(database, 0).await;
        assert_eq!(
            brief(&rows),
            ["create part warm 1", "create arc path 1", "create persona guide 1", "update persona guide 2"]
        );
        // A persona's revision freezes its arc's parts too.
        assert_eq!(rows[3].refs, json!([reference("arc", "path", 1), reference("part", "warm", 1)]));
        store.close().await;
    })
    .await;
}

/// Bases and what they link, presets, arcs, and the parts of all their stages: each once, as it is
/// at that moment.
#[tokio::test(flavor = "multi_thread")]
async fn a_revision_refers_to_everything_below_it() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        keep(&store, &tool_preset("tools")).await;
        keep(&store, &tool_preset("reading")).await;
        keep(&store, &bias_profile("bias")).await;
        keep(&store, &context_preset("context")).await;
        keep(&store, &tone("staged")).await;
        keep(&store, &tone("unrelated")).await;
        change::<Part>(&store, "warm", |part| part.content = Some("Warmer.".to_owned())).await;
        let stages = vec![stage("now", 1, &["staged", "warm"]), stage("then", 2, &["cold"])];
        keep(&store, &arc("climb", stages)).await;
        keep(&store, &full_persona("root")).await;
        keep(&store, &Persona { arc: Some(name("climb")), ..extending("middle", "shared:root") }).await;
        let skip = length(database).await;
        keep(&store, &extending("leaf", "middle")).await;
        let expected = [
            reference("arc", "climb", 1),
            reference("arc", "path", 1),
            reference("bias_profile", "bias", 1),
            reference("context_preset", "context", 1),
            reference("guardrail", "honest", 1),
            reference("part", "cold", 1),
            reference("part", "staged", 1),
            reference("part", "warm", 2),
            reference("persona", "middle", 1),
            reference("persona", "root", 1),
            reference("skill", "tracing", 1),
            reference("test_input", "evening", 1),
            reference("test_input", "morning", 1),
            reference("tool_preset", "reading", 1),
            reference("tool_preset", "tools", 1),
            reference("trait", "bold", 1),
            reference("trait", "patient", 1),
        ];
        assert_eq!(history(database, skip).await[0].refs, Value::from(expected.to_vec()));
        // An arc refers to the parts of its stages; a circle is gone around once.
        let rows = history(database, 0).await;
        let climb = rows.iter().find(|row| row.name == "climb").unwrap();
        let parts =
            [reference("part", "cold", 1), reference("part", "staged", 1), reference("part", "warm", 2)];
        assert_eq!(climb.refs, Value::from(parts.to_vec()));
        let skip = length(database).await;
        change::<Persona>(&store, "root", |root| root.extends = base("leaf")).await;
        let around = history(database, skip).await.remove(0).refs;
        assert_eq!(around.as_array().unwrap().len(), expected.len() + 1, "{around}");
        remove::<Persona>(&store, "leaf").await;
        assert_eq!(history(database, skip + 1).await[0].refs, json!([]), "what is gone refers to nothing");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_never_repeats_a_revision() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for round in 0..3 {
            let created = keep(&store, &tone("again")).await;
            assert_eq!(created.meta.revision, round * 3 + 1);
            change::<Part>(&store, "again", |part| part.tags = vec!["x".to_owned()]).await;
            remove::<Part>(&store, "again").await;
        }
        // Onto a name that was used before, from either side of its count.
        keep(&store, &tone("other")).await;
        let moved = change::<Part>(&store, "other", |part| part.name = name("again")).await;
        assert_eq!(moved.meta.revision, 10);
        let back = change::<Part>(&store, "again", |part| part.name = name("other")).await;
        assert_eq!(back.meta.revision, 11);
        let young = keep(&store, &tone("again")).await;
        assert_eq!(young.meta.revision, 11, "again was last at 10");
        remove::<Part>(&store, "again").await;
        remove::<Part>(&store, "other").await;
        let over = keep(&store, &tone("other")).await;
        assert_eq!(over.meta.revision, 13);
        let mut seen: Vec<String> =
            history(database, 0).await.iter().map(|row| format!("{} {}", row.name, row.revision)).collect();
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), all, "a number means one state of a name");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn state_makes_no_revision() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        let guide = keep(&store, &full_persona("guide")).await;
        let before = length(database).await;
        let mut write = begin(&store).await;
        let held_guide = held::<Persona>(&mut write, "guide").await;
        write.set_stage(&held_guide, &name("path"), &name("end")).await.unwrap();
        write.set_builtin_stage(&name("mentor"), &name("mentor"), &name("any")).await.unwrap();
        write.commit().await.unwrap();
        compile(&store, Scope::Shared, &name("guide")).await;
        compile(&store, Scope::Builtin, &name("critic")).await;
        store.usage().note(&name("guide"));
        assert_eq!(length(database).await, before);
        let read = store.get::<Persona>(&name("guide")).await.unwrap().unwrap();
        assert_eq!(read, guide, "neither the revision nor the times moved");
        // Changing what a persona links is not a change of the persona.
        change::<Trait>(&store, "bold", |entity| entity.instruction = None).await;
        change::<CharacterArc>(&store, "path", |arc| arc.summary = Some("x".to_owned())).await;
        assert_eq!(store.get::<Persona>(&name("guide")).await.unwrap().unwrap(), guide);
        assert_eq!(length(database).await, before + 2);
        store.close().await;
    })
    .await;
}

async fn compile(store: &Store, scope: Scope, of: &Name) {
    let text = CompiledText { summary: "s".to_owned(), detail: "d".to_owned(), fingerprint: "f".to_owned() };
    Scopes::of_database(store.clone()).store_compiled(scope, of, &text).await.unwrap();
}
