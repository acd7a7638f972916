//! The stores and entities that tests are about.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Database;
use database::Location;
use persona::{
    Aggregation, Anchor, AnchorPlace, Approval, AssemblyRequest, BaseRef, BiasProfile, Bundle, CharacterArc,
    ContextEntry, ContextPreset, ContextView, Example, ExpectationTable, Fidelity, Guardrail, MergeMode,
    Name, Part, PartLink, PartType, Persona, PlanPersona, PreferredModel, PresetTool, Probe, Range,
    ReplyChoice, Severity, Skill, Stage, Stored, TestInput, ToolPreset, Trait, TraitType, View,
};
use store::{Action, Attribution, DatabaseWrite, Held, Keep, Store};

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn names(texts: &[&str]) -> Vec<Name> {
    texts.iter().map(|text| name(text)).collect()
}

pub fn base(text: &str) -> Option<BaseRef> {
    Some(text.parse().unwrap())
}

pub fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub async fn open(database: &Database) -> Store {
    Store::open(Location::parse(&database.location).unwrap(), true).await.unwrap()
}

pub fn attribution() -> Attribution {
    Attribution { who: "tester".to_owned(), front: "test".to_owned(), message: Some("because".to_owned()) }
}

pub async fn begin(store: &Store) -> DatabaseWrite {
    store.write(attribution()).await.unwrap()
}

/// Keeps one new entity.
pub async fn keep<T: Keep + persona::Entity>(store: &Store, entity: &T) -> Stored<T> {
    let mut write = begin(store).await;
    let stored = write.insert(entity, Action::Create).await.unwrap();
    write.commit().await.unwrap();
    stored
}

pub async fn held<T: Keep + persona::Entity>(write: &mut DatabaseWrite, of: &str) -> Held<T> {
    write.find::<T>(&name(of)).await.unwrap().unwrap_or_else(|| panic!("no {} {of}", T::KIND))
}

/// Changes one entity; another name makes it a rename.
pub async fn change<T: Keep + persona::Entity>(
    store: &Store,
    of: &str,
    edit: impl FnOnce(&mut T),
) -> Stored<T> {
    let mut write = begin(store).await;
    let held = held::<T>(&mut write, of).await;
    let mut entity = held.stored.entity.clone();
    edit(&mut entity);
    let action = if entity.name().as_str() == of { Action::Update } else { Action::Rename };
    let stored = write.replace(&held, &entity, action).await.unwrap();
    write.commit().await.unwrap();
    stored
}

pub async fn remove<T: Keep + persona::Entity>(store: &Store, of: &str) {
    let mut write = begin(store).await;
    let held = held::<T>(&mut write, of).await;
    write.remove(&held).await.unwrap();
    write.commit().await.unwrap();
}

pub fn part(of: &str, part_type: PartType, content: &str) -> Part {
    Part {
        name: name(of),
        part_type,
        description: None,
        summary: None,
        content: Some(content.to_owned()),
        tags: Vec::new(),
    }
}

pub fn tone(of: &str) -> Part {
    part(of, PartType::Tone, "Speak plainly.")
}

pub fn trait_(of: &str) -> Trait {
    Trait {
        name: name(of),
        trait_type: TraitType::Social,
        description: Some("Waits for others".to_owned()),
        instruction: Some("Let them finish.".to_owned()),
        tags: Vec::new(),
    }
}

pub fn skill(of: &str) -> Skill {
    Skill {
        name: name(of),
        description: Some("Reads logs".to_owned()),
        content: Some("Start at the end.".to_owned()),
        tags: Vec::new(),
    }
}

pub fn guardrail(of: &str) -> Guardrail {
    Guardrail {
        name: name(of),
        severity: Severity::High,
        description: Some("Tells no lies".to_owned()),
        content: Some("Never lie.".to_owned()),
        deny_tools: words(&["shell*"]),
        tags: Vec::new(),
    }
}

pub fn tool_preset(of: &str) -> ToolPreset {
    let tool = |of: &str, approval: Option<Approval>, weight: Option<u8>| PresetTool {
        name: of.to_owned(),
        approval,
        weight,
        parameter_bias: BTreeMap::new(),
    };
    let mut reading = tool("read_*", Some(Approval::Auto), Some(5));
    reading.parameter_bias.insert("path".to_owned(), "Prefer short ones.".to_owned());
    let files = vec![reading, tool("write_file", Some(Approval::Ask), None)];
    let shell = vec![tool("shell", Some(Approval::Deny), Some(1))];
    ToolPreset {
        name: name(of),
        description: Some("Reads more than it writes".to_owned()),
        categories: BTreeMap::from([("files".to_owned(), files), ("shell".to_owned(), shell)]),
        tags: Vec::new(),
    }
}

pub fn bias_profile(of: &str) -> BiasProfile {
    BiasProfile {
        name: name(of),
        description: Some("Looks first".to_owned()),
        multipliers: BTreeMap::from([("files".to_owned(), 1.5), ("shell".to_owned(), 0.1 + 0.2)]),
        tags: Vec::new(),
    }
}

pub fn context_preset(of: &str) -> ContextPreset {
    let glob = ContextEntry { glob: Some("src/**/*.rs".to_owned()), path: None, view: ContextView::Skeleton };
    let path = ContextEntry { glob: None, path: Some("README.md".to_owned()), view: ContextView::Full };
    ContextPreset {
        name: name(of),
        description: Some("Shows the outline".to_owned()),
        entries: vec![glob, path],
        token_budget: Some(u32::MAX),
        tags: Vec::new(),
    }
}

pub fn test_input(of: &str) -> TestInput {
    TestInput {
        name: name(of),
        description: Some("A greeting".to_owned()),
        content: Some("Good morning.".to_owned()),
        expectations: vec![
            "greets back".into(),
            ExpectationTable {
                lacks: words(&["Certainly"]),
                on: Some(ReplyChoice::Every),
                must: Some(true),
                ..ExpectationTable::default()
            }
            .into(),
            ExpectationTable {
                words: Some(Range { min: None, max: Some(80.0) }),
                on: Some(ReplyChoice::Number(1)),
                weight: Some(2.5),
                ..ExpectationTable::default()
            }
            .into(),
        ],
        turns: words(&["And now?"]),
        samples: Some(3),
        tags: Vec::new(),
    }
}

pub fn stage(of: &str, order: i32, parts: &[&str]) -> Stage {
    Stage { name: name(of), order, description: None, condition: None, parts: names(parts) }
}

pub fn arc(of: &str, stages: Vec<Stage>) -> CharacterArc {
    CharacterArc { name: name(of), description: None, summary: None, stages, tags: Vec::new() }
}

pub fn persona(of: &str) -> Persona {
    Persona::new(name(of))
}

pub fn link(part: &str, order: i32, priority: i32) -> PartLink {
    PartLink { name: name(part), order, priority }
}

/// A persona that links these parts, in this order.
pub fn linking(of: &str, parts: &[&str]) -> Persona {
    let parts = parts.iter().zip(0..).map(|(part, order)| link(part, order, 0)).collect();
    Persona { parts, ..persona(of) }
}

/// A persona that builds on another one.
pub fn extending(of: &str, on: &str) -> Persona {
    Persona { extends: base(on), ..persona(of) }
}

/// A persona in which every field says something; it links what [`keep_pieces`] keeps.
pub fn full_persona(of: &str) -> Persona {
    Persona {
        name: name(of),
        display_name: Some("The Reviewer".to_owned()),
        description: Some("Reviews what others wrote".to_owned()),
        summary: Some("A reviewer".to_owned()),
        detail: Some("A reviewer who reads everything twice.".to_owned()),
        author: Some("Ann Writer".to_owned()),
        license: Some("MIT".to_owned()),
        extends: base("builtin:critic"),
        system_prompt: Some("You review code.".to_owned()),
        system_prompt_mode: MergeMode::Append,
        greetings: words(&["What shall I review?", "It's \"odd\",\nisn't it?"]),
        preferred_models: vec![
            PreferredModel {
                provider: "anthropic".to_owned(),
                model: "large".to_owned(),
                temperature: Some(0.7),
                top_p: None,
                max_output_tokens: Some(4096),
            },
            PreferredModel {
                provider: "local".to_owned(),
                model: "small".to_owned(),
                temperature: None,
                top_p: Some(1.0),
                max_output_tokens: None,
            },
        ],
        tool_preset: Some(name("tools")),
        bias_profile: Some(name("bias")),
        context_preset: Some(name("context")),
        aggregation_strategy: Some(Aggregation::Skeleton),
        max_tool_rounds: Some(7),
        plan_persona: Some(PlanPersona {
            instruction: Some("Plan first.".to_owned()),
            model: Some("large".to_owned()),
            tool_preset: Some(name("reading")),
        }),
        parts: vec![link("warm", -5, 9), link("cold", 3, -2)],
        parts_mode: MergeMode::Append,
        examples: vec![Example {
            user: "Is it good?".to_owned(),
            persona: "It's \"fine\",\nbut slow.".to_owned(),
        }],
        traits: names(&["patient", "bold"]),
        skills: names(&["tracing"]),
        guardrails: names(&["honest"]),
        arc: Some(name("path")),
        test_inputs: names(&["morning", "evening"]),
        fidelity: Some(Fidelity {
            pass: Some(0.9),
            judge: Some("local/small".to_owned()),
            votes: Some(3),
            probes: vec![Probe {
                ask: "How do you help?".to_owned(),
                holds: "Asks before it \"answers\".".to_owned(),
            }],
            anchor: Some(Anchor {
                text: Some("auto".to_owned()),
                every_turns: Some(6),
                on_drift: Some(0.15),
                at: Some(AnchorPlace::LastUser),
            }),
        }),
        tags: words(&["review", "code"]),
        remove_parts: names(&["taken-part"]),
        remove_traits: names(&["taken-trait", "another"]),
        remove_skills: names(&["taken-skill"]),
        remove_guardrails: names(&["taken-guardrail"]),
        remove_test_inputs: names(&["taken-input"]),
        remove_tags: words(&["taken tag", "it's \"odd\""]),
    }
}

/// The pieces that [`full_persona`] links.
pub async fn keep_pieces(store: &Store) {
    let mut write = begin(store).await;
    for part in [tone("warm"), tone("cold")] {
        write.insert(&part, Action::Create).await.unwrap();
    }
    for entity in [trait_("patient"), trait_("bold")] {
        write.insert(&entity, Action::Create).await.unwrap();
    }
    write.insert(&skill("tracing"), Action::Create).await.unwrap();
    write.insert(&guardrail("honest"), Action::Create).await.unwrap();
    for input in [test_input("morning"), test_input("evening")] {
        write.insert(&input, Action::Create).await.unwrap();
    }
    let stages = vec![stage("start", 1, &["cold"]), stage("end", 2, &[])];
    write.insert(&arc("path", stages), Action::Create).await.unwrap();
    write.commit().await.unwrap();
}

/// Waits until a persona is served from the cache: until no news of earlier writes is under way.
pub async fn settle(store: &Store, of: &str) {
    for _ in 0..100 {
        let one = store.load(&name(of), &[]).await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let two = store.load(&name(of), &[]).await.unwrap().unwrap();
        if Arc::ptr_eq(&one, &two) {
            return;
        }
    }
    panic!("{of} is never cached");
}

/// How long news may take from one PostgreSQL node to another. SQLite is looked at before each read.
const BOUND: Duration = Duration::from_secs(1);

/// Reads until the answer is the expected one; on SQLite the first answer must be.
pub async fn sees<T: PartialEq + std::fmt::Debug>(
    database: &Database,
    expected: T,
    read: impl AsyncFn() -> T,
) {
    let start = Instant::now();
    loop {
        let answer = read().await;
        if answer == expected {
            return;
        }
        let late = database.engine == "sqlite" || start.elapsed() > BOUND;
        assert!(!late, "{answer:?} instead of {expected:?} after {:?}", start.elapsed());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The persona's complete compiled text.
pub fn prompt(bundle: &Bundle) -> String {
    let text = persona::compile(&bundle.assembled());
    format!("{}\n---\n{}", text.summary, text.detail)
}

/// Renders a plain answer, as `app` does.
pub fn render(bundle: &Bundle, view: View) -> String {
    serde_json::to_string(&persona::view(&bundle.assembled(), &AssemblyRequest::plain(view), "")).unwrap()
}
