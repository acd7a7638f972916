//! A library in which every table has something, made from a seed; and all of it written out.

use persona::{CharacterArc, CompiledText, Persona, Scope, Stage};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::Value;
use store::{Action, Store};
use testkit::{Database, generate};

use crate::samples::{begin, change, full_persona, held, keep, keep_pieces, name, remove, tone};

/// Personas and pieces from the generator, arcs, state, history, usage, and rows of the tables that
/// the store itself does not write yet.
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
    write.commit().await.unwrap();
    for mut persona in library.personas() {
        if random.random_bool(0.5) {
            persona.arc = Some(name(&format!("arc-{}", random.random_range(0..4))));
        }
        keep(store, &persona).await;
    }
    keep(store, &full_persona("full")).await;
    live(store, random).await;
    reserved(database).await;
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
    write.set_stage(&full, &name("end")).await.unwrap();
    write.set_builtin_stage(&name("mentor"), &name("any"), &name("stage")).await.unwrap();
    write.commit().await.unwrap();
    for (scope, of) in [(Scope::Shared, "full"), (Scope::Builtin, "critic")] {
        let text = CompiledText {
            summary: "compiled\nsummary".to_owned(),
            detail: format!("detail {}", random.random::<u64>()),
            fingerprint: "f".repeat(64),
        };
        store.keep_compiled(scope, &name(of), &text).await.unwrap();
    }
}

/// Tables that later issues write, and columns that no definition has yet.
async fn reserved(database: &Database) {
    let guid = |last: u8| format!("018f0000-0000-7000-8000-0000000000{last:02x}");
    let when = "'2026-02-03T04:05:06.123456Z', '2026-02-03T04:05:06.000000Z'";
    let tags = match database.engine {
        "sqlite" => r#"'["x","y z"]'"#,
        _ => r#"'{"x","y z"}'"#,
    };
    for (last, (table, column, value)) in [
        ("agent_tool_presets", "categories", r#"'{"files": {"tools": [{"name": "read", "weight": 5}]}}'"#),
        ("agent_bias_profiles", "multipliers", r#"'{"files": 1.5, "shell": 0.25}'"#),
        ("agent_context_presets", "entries", r#"'[{"glob": "src/**", "view": "skeleton"}]'"#),
        ("agent_test_inputs", "expectations", r#"'[{"contains": "it''s"}]'"#),
    ]
    .into_iter()
    .enumerate()
    {
        let guid = guid(last as u8);
        let sql = format!(
            "INSERT INTO {table} (guid, name, description, {column}, tags, revision, created_at, updated_at) \
             VALUES ('{guid}', 'one', 'a ''quoted'' text', {value}, {tags}, 3, {when})"
        );
        database.execute(&sql).await;
    }
    let tagged = guid(99);
    for sql in [
        "INSERT INTO agent_persona_test_inputs SELECT p.id, t.id, 1 FROM agent_personas p, agent_test_inputs t WHERE p.name = 'full'",
        &format!(
            "INSERT INTO agent_revision_tags VALUES ('{tagged}', 'v1', 2, '2026-02-03T04:05:06.100000Z')"
        ),
        "UPDATE agent_personas SET extends = 'global:base', removals = '{\"traits\": [\"bold\"]}' WHERE name = 'full'",
        "UPDATE agent_revisions SET content_hash = 'abc', origin = '/a b' WHERE id = 1",
        "INSERT INTO persona_state (scope, origin, name, updated_at) VALUES ('project', '/home/é', 'x', '2026-02-03T04:05:06.100000Z')",
        "INSERT INTO agent_persona_usage VALUES ('used', '2026-02-03T04:05:06.100000Z')",
    ] {
        database.execute(sql).await;
    }
}

/// Every row of every table of a SQLite file but its indexes, with JSON in one spelling.
pub(crate) async fn dump(database: &Database) -> Vec<String> {
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
                  AND name NOT LIKE 'library_search%' AND name NOT IN ('masque_migrations') ORDER BY name";
    let mut rows = Vec::new();
    for table in database.texts(tables).await {
        let columns =
            database.texts(&format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid")).await;
        let sql = format!("SELECT json_array({}) FROM {table}", columns.join(", "));
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
