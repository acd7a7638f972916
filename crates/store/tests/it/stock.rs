//! A library in which every table has something, made from a seed; and all of it written out.

use persona::{CharacterArc, CompiledText, Persona, Scope, Stage};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use scopes::Scopes;
use serde_json::Value;
use sessions::Sessions;
use store::{Action, Store};
use testkit::{Database, generate};

use crate::samples::{
    begin, bias_profile, change, context_preset, full_persona, held, keep, keep_pieces, name, remove, tone,
    tool_preset,
};
use testkit::sessions::stock_sessions;

/// Personas and pieces from the generator, arcs, presets, state, history and usage.
pub(crate) async fn stock(store: &Store, database: &Database, seed: u64) {
    let random = &mut StdRng::seed_from_u64(seed);
    let library = generate(seed, 25);
    keep_pieces(store).await;
    let mut write = begin(store).await;
    for part in library.parts() {
        write.insert(&part, Action::Create).await.unwrap();
    }
    for entity in library.traits() {
        write.insert(&entity, Action::Create).await.unwrap();
    }
    for skill in library.skills() {
        write.insert(&skill, Action::Create).await.unwrap();
    }
    for guardrail in library.guardrails() {
        write.insert(&guardrail, Action::Create).await.unwrap();
    }
    for at in 0..4 {
        let stages = (0..random.random_range(1..5)).map(|order| Stage {
            name: name(&format!("stage-{order}")),
            order,
            description: random.random_bool(0.5).then(|| "It's \"here\"\n\tnow".to_owned()),
            condition: random.random_bool(0.5).then(|| "si c'est prêt 🙂".to_owned()),
            parts: (0..random.random_range(0..4)).map(|part| library.part(part * 7).name).collect(),
        });
        let stages = stages.collect();
        let arc = CharacterArc {
            name: name(&format!("arc-{at}")),
            description: Some("a way".to_owned()),
            summary: None,
            stages,
            tags: vec!["way".to_owned()],
        };
        write.insert(&arc, Action::Create).await.unwrap();
    }
    write.insert(&tool_preset("tools"), Action::Create).await.unwrap();
    write.insert(&bias_profile("bias"), Action::Create).await.unwrap();
    write.insert(&context_preset("context"), Action::Create).await.unwrap();
    write.commit().await.unwrap();
    for mut persona in library.personas() {
        if random.random_bool(0.5) {
            persona.arc = Some(name(&format!("arc-{}", random.random_range(0..4))));
        }
        keep(store, &persona).await;
    }
    keep(store, &full_persona("full")).await;
    live(store, random).await;
    stock_sessions(&Sessions::new(store.engine().clone())).await;
    remembered(database).await;
}

/// Renames, deletions and state.
async fn live(store: &Store, random: &mut StdRng) {
    change::<Persona>(store, "p0000001", |persona| persona.name = name("renamed")).await;
    change::<Persona>(store, "renamed", |persona| persona.tags.push("late".to_owned())).await;
    keep(store, &tone("deleted-part")).await;
    remove::<persona::Part>(store, "deleted-part").await;
    remove::<Persona>(store, "p0000020").await;
    let mut write = begin(store).await;
    let full = held::<Persona>(&mut write, "full").await;
    write.set_stage(&full, &name("path"), &name("end")).await.unwrap();
    write.set_builtin_stage(&name("mentor"), &name("any"), &name("stage")).await.unwrap();
    write.commit().await.unwrap();
    for (scope, of) in [(Scope::Shared, "full"), (Scope::Builtin, "critic")] {
        let text = CompiledText {
            summary: "compiled\nsummary".to_owned(),
            detail: format!("detail {}", random.random::<u64>()),
            fingerprint: "f".repeat(64),
        };
        Scopes::of_database(store.clone()).store_compiled(scope, &name(of), &text).await.unwrap();
    }
}

/// Rows of a personas.toml of one machine: its history, state and last seen text; and rows that the store
/// writes only now and then.
async fn remembered(database: &Database) {
    let when = "'2026-02-03T04:05:06.100000Z'";
    let guid = "'018f0000-0000-7000-8000-000000000063'";
    for sql in [
        format!(
            "INSERT INTO agent_revision_tags SELECT guid, 'v 1', revision, {when}, 'Ada', 'cli', NULL, guid FROM agent_revisions WHERE name = 'full'"
        ),
        "UPDATE agent_revisions SET content_hash = 'abc' WHERE name = 'full'".to_owned(),
        format!("INSERT INTO agent_persona_usage VALUES ('used', {when})"),
        format!(
            "INSERT INTO persona_state (scope, origin, name, arc, stage, updated_at) \
             VALUES ('shared', '', 'full', 'inherited', 'late', {when}), ('project', '/home/é', 'x', 'a', 'b', {when})"
        ),
        format!(
            "INSERT INTO agent_revisions (scope, origin, kind, guid, name, revision, action, author, front, entity, refs, \
             content_hash, created_at) VALUES ('project', '/home/é', 'skill', {guid}, 'x', 1, 'create', 'personas.toml', 'file', \
             '{{\"name\": \"x\"}}', '[]', 'abc', {when})"
        ),
        format!("INSERT INTO agent_revision_tags VALUES ({guid}, 'v1', 1, {when}, NULL, NULL, NULL, {guid})"),
        format!(
            "INSERT INTO file_entries VALUES ('project', '/home/é', 'skill', 'x', {guid}, 1, 'abc', {when}, {when})"
        ),
        format!("INSERT INTO file_origins VALUES ('global', '/home/é', 'abc', {when})"),
        "INSERT INTO agent_locks VALUES ('shared', '', 'persona', 'full', ''), \
         ('project', '/home/é', 'skill', 'x', 'content')"
            .to_owned(),
        format!(
            "INSERT INTO masque_tracks VALUES ({guid}, 'A track', '/home/é', '{{\"title\": \"A track\"}}', \
             'running', 1, {when}, {when})"
        ),
        format!("INSERT INTO masque_track_events VALUES ({guid}, 1, {when}, '{{\"type\": \"finished\"}}')"),
        format!("INSERT INTO masque_track_claims VALUES ({guid}, 'T1', 3, NULL, NULL, 7, NULL, {when})"),
        format!(
            "INSERT INTO masque_track_costs VALUES ('018f0000-0000-7000-8000-000000000064', {guid}, 'T1', \
             '2026-02-03', 3, 500, 420, 'settled', {when}, {when})"
        ),
        format!("INSERT INTO masque_track_accounts VALUES ({guid}, 'track', 500, 420, 0)"),
    ] {
        database.execute(&sql).await;
    }
}

/// Every row of every table of a SQLite file but its indexes, with JSON in one spelling.
pub(crate) async fn dump(database: &Database) -> Vec<String> {
    rows(database, |_, _| "TRUE").await
}

/// The same without what belongs to personas.toml files.
pub(crate) async fn dump_without_files(database: &Database) -> Vec<String> {
    rows(database, |table, columns| {
        if columns.iter().any(|column| column == "scope") {
            "scope NOT IN ('global', 'project')"
        } else if table == "agent_revision_tags" {
            "guid NOT IN (SELECT guid FROM agent_revisions WHERE scope IN ('global', 'project'))"
        } else {
            "TRUE"
        }
    })
    .await
}

async fn rows(database: &Database, kept: impl Fn(&str, &[String]) -> &'static str) -> Vec<String> {
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
                  AND name NOT LIKE 'library_search%' AND name NOT IN ('masque_migrations', 'masque_requests', 'masque_tests') ORDER BY name";
    let mut rows = Vec::new();
    for table in database.texts(tables).await {
        let columns =
            database.texts(&format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid")).await;
        let kept = kept(&table, &columns);
        let sql = format!("SELECT json_array({}) FROM {table} WHERE {kept}", columns.join(", "));
        let mut lines: Vec<String> = database
            .texts(&sql)
            .await
            .iter()
            .map(|row| format!("{table} {}", in_one_spelling(row)))
            .collect();
        lines.sort();
        rows.append(&mut lines);
    }
    rows
}

fn in_one_spelling(row: &str) -> Value {
    let mut row: Value = serde_json::from_str(row).unwrap();
    for field in row.as_array_mut().unwrap() {
        let json = field.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(json) = json.filter(|json| json.is_array() || json.is_object()) {
            *field = json;
        }
    }
    row
}
