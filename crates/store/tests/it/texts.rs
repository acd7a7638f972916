//! Round trips: any text of any allowed length, any time, in the same order.

use std::fmt::Debug;

use persona::{AsReport as _, Code};
use persona::{
    BiasProfile, CharacterArc, ContextPreset, Guardrail, Kind, Name, Part, PartLink, PartType, Persona,
    PreferredModel, Skill, TestInput, ToolPreset, Trait, limits,
};
use store::{Action, Filter, Keep, Store};
use testkit::on_each_engine;

use crate::samples::{
    arc, begin, bias_profile, context_preset, full_persona, guardrail, keep, keep_pieces, name, open, part,
    persona, remove, skill, stage, test_input, tone, tool_preset, trait_, words,
};

/// Texts on which quoting, encoding or JSON could stumble.
const AWKWARD: &[&str] = &[
    "it's \"quoted\" `thrice`",
    "back\\slash \\n \\u0041 \\u0000",
    "tab\tnewline\nreturn\r\nend",
    "\u{1}\u{1f}\u{7f} controls",
    "naïve café ÀÉÎ ß ı İ",
    "e\u{301} is decomposed",
    "日本語 中文 한국어",
    "🙂👩‍👩‍👧 \u{1d4d0}",
    "العربية \u{202e}reversed\u{202c}",
    "\u{2028}\u{2029}\u{feff}\u{fffd}\u{10ffff}",
    "{\"json\": [null, true]}",
    "[]",
    "null",
    "'; DROP TABLE agent_parts; --",
    "$1 %s ? :name @x",
    " leading and trailing ",
    "0012e3",
];

async fn survives<T: Keep + persona::Entity + Debug>(store: &Store, entity: &T) {
    entity.check().unwrap();
    let stored = keep(store, entity).await;
    assert_eq!(stored.entity, *entity);
    let read = store.get::<T>(entity.name()).await.unwrap().unwrap();
    assert_eq!(read, stored);
    let in_write = begin(store).await.find::<T>(entity.name()).await.unwrap().unwrap();
    assert_eq!(in_write.stored, stored);
    remove::<T>(store, entity.name().as_str()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn awkward_texts_survive_in_every_field() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_pieces(&store).await;
        for text in AWKWARD {
            let some = || Some((*text).to_owned());
            let one_line: String = text.chars().filter(|c| !c.is_control()).collect();
            let tags = vec![one_line.clone(), "plain".to_owned()];
            let fields = Part {
                description: some(),
                summary: some(),
                content: some(),
                tags: tags.clone(),
                ..tone("odd")
            };
            survives(&store, &fields).await;
            let fields =
                Trait { description: some(), instruction: some(), tags: tags.clone(), ..trait_("odd") };
            survives(&store, &fields).await;
            let fields = Skill { description: some(), content: some(), tags: tags.clone(), ..skill("odd") };
            survives(&store, &fields).await;
            let fields = Guardrail {
                description: some(),
                content: some(),
                deny_tools: tags.clone(),
                tags: tags.clone(),
                ..guardrail("odd")
            };
            survives(&store, &fields).await;
            let mut fields: CharacterArc = arc("odd", vec![stage("one", 1, &["warm"])]);
            (fields.description, fields.summary, fields.tags) = (some(), some(), tags.clone());
            (fields.stages[0].description, fields.stages[0].condition) = (some(), some());
            survives(&store, &fields).await;
            let fields = TestInput {
                description: some(),
                content: some(),
                expectations: vec![(*text).into(), "plain".into()],
                tags: tags.clone(),
                ..test_input("odd")
            };
            survives(&store, &fields).await;
            let mut fields = ToolPreset { description: some(), tags: tags.clone(), ..tool_preset("odd") };
            let mut tools = fields.categories.remove("files").unwrap();
            tools[0].parameter_bias.insert(one_line.clone(), (*text).to_owned());
            tools[1].name.clone_from(&one_line);
            fields.categories.insert(one_line.clone(), tools);
            survives(&store, &fields).await;
            let mut fields = BiasProfile { description: some(), tags: tags.clone(), ..bias_profile("odd") };
            fields.multipliers.insert(one_line.clone(), 0.1 + 0.2);
            survives(&store, &fields).await;
            let mut fields =
                ContextPreset { description: some(), tags: tags.clone(), ..context_preset("odd") };
            fields.entries[0].glob = some();
            survives(&store, &fields).await;
            let mut fields = Persona {
                display_name: Some(one_line),
                description: some(),
                summary: some(),
                detail: some(),
                system_prompt: some(),
                tags,
                ..full_persona("odd")
            };
            fields.preferred_models[0].model = (*text).to_owned();
            let plan = fields.plan_persona.as_mut().unwrap();
            (plan.instruction, plan.model) = (some(), some());
            survives(&store, &fields).await;
        }
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_longest_that_is_allowed_is_kept() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let long = "🙂".repeat(limits::LONG_TEXT_BYTES / 4);
        let prose = "many different words 0123 ".repeat(limits::LONG_TEXT_BYTES / 26);
        let short = "é".repeat(limits::SHORT_TEXT_BYTES / 2);
        let tags: Vec<String> =
            (0..limits::TAGS).map(|at| format!("{at:0>width$}", width = limits::TAG_CHARS)).collect();
        let linked: Vec<Name> = (0..limits::LINKS).map(|at| name(&format!("piece-{at:03}"))).collect();
        let mut write = begin(&store).await;
        for piece in &linked {
            let of = piece.as_str();
            write.insert(&tone(of), Action::Create).await.unwrap();
            write.insert(&trait_(of), Action::Create).await.unwrap();
            write.insert(&skill(of), Action::Create).await.unwrap();
            write.insert(&guardrail(of), Action::Create).await.unwrap();
        }
        write.commit().await.unwrap();

        let content = Part { content: Some(long.clone()), summary: Some(short.clone()), ..tone("long") };
        survives(&store, &content).await;
        survives(&store, &Skill { content: Some(prose.clone()), ..skill("long") }).await;
        let longest = "x".repeat(limits::NAME_CHARS);
        let place = |(part, order): (&Name, i32)| PartLink {
            name: part.clone(),
            order: i32::MIN + order,
            priority: i32::MAX - order,
        };
        let mut reversed = linked.clone();
        reversed.reverse();
        let widest = Persona {
            display_name: Some("東".repeat(limits::DISPLAY_NAME_CHARS)),
            detail: Some(prose),
            system_prompt: Some(long),
            description: Some(short),
            parts: reversed.iter().zip(0..).map(place).collect(),
            traits: reversed.clone(),
            skills: linked.clone(),
            guardrails: reversed,
            tags,
            ..persona(&longest)
        };
        survives(&store, &widest).await;
        let stages = (0..limits::STAGES as i32)
            .map(|order| {
                let mut stage = stage(&format!("s{order:02}"), order, &[]);
                let parts = if order == 0 { limits::STAGE_PARTS } else { 2 };
                stage.parts = linked.iter().rev().take(parts).cloned().collect();
                stage
            })
            .collect();
        survives(&store, &arc("long", stages)).await;
        store.close().await;
    })
    .await;
}

/// Numbers that need all of their digits.
#[tokio::test(flavor = "multi_thread")]
async fn temperatures_keep_their_last_digit() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let temperatures = [0.0, 2.0, 0.1 + 0.2, 1.0 / 3.0, 5e-324, 0.7, 1e-7];
        let models = temperatures.map(|temperature| PreferredModel {
            provider: "p".to_owned(),
            model: "m".to_owned(),
            temperature: Some(temperature),
            top_p: Some(temperature / 2.0),
            max_output_tokens: Some(u32::MAX),
        });
        survives(&store, &Persona { preferred_models: models.to_vec(), ..persona("exact") }).await;
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_in_byte_order() {
    let mut expected = ["Zed", "a", "B", "9lives", "a_b", "a-b", "aB", "ab", "A", "b", "a0", "00", "zed-"];
    expected.sort_unstable();
    on_each_engine(async |database| {
        let store = open(database).await;
        let mut shuffled = expected;
        shuffled.reverse();
        shuffled.swap(2, 9);
        for of in shuffled {
            keep(&store, &trait_(of)).await;
            keep(&store, &linking_nothing(of)).await;
        }
        for kind in [Kind::Trait, Kind::Arc] {
            let mut seen = Vec::new();
            let mut cursor = None;
            loop {
                let filter = Filter { limit: Some(4), cursor, ..Filter::default() };
                let page = store.list(kind, &filter).await.unwrap();
                seen.extend(page.items.into_iter().map(|found| found.name.to_string()));
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            let ours: Vec<&str> =
                seen.iter().map(String::as_str).filter(|of| expected.contains(of)).collect();
            assert_eq!(ours, expected, "{kind}");
            assert!(seen.is_sorted());
        }
        let prefixed = store.names_with_prefix(Kind::Trait, "a", 50).await.unwrap();
        let prefixed: Vec<&str> = prefixed.iter().map(Name::as_str).collect();
        assert!(prefixed.is_sorted(), "{prefixed:?}");
        store.close().await;
    })
    .await;
}

fn linking_nothing(of: &str) -> CharacterArc {
    arc(of, Vec::new())
}

/// Neither engine keeps NUL, and both say so in the same way, wherever it stands.
#[tokio::test(flavor = "multi_thread")]
async fn nul_is_refused_everywhere() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let nul = || Some("a\0b".to_owned());
        let mut odd_plan = full_persona("odd");
        (odd_plan.arc, odd_plan.parts) = (None, Vec::new());
        (odd_plan.traits, odd_plan.skills, odd_plan.guardrails) = (Vec::new(), Vec::new(), Vec::new());
        odd_plan.plan_persona.as_mut().unwrap().instruction = nul();
        refuses(&store, &odd_plan).await;
        refuses(&store, &Persona { system_prompt: nul(), ..persona("odd") }).await;
        refuses(&store, &Part { content: nul(), ..tone("odd") }).await;
        refuses(&store, &Part { tags: vec!["a\0b".to_owned()], ..tone("odd") }).await;
        refuses(&store, &Guardrail { deny_tools: vec!["a\0b".to_owned()], ..guardrail("odd") }).await;
        let mut stages = arc("odd", vec![stage("one", 1, &[])]);
        stages.stages[0].condition = nul();
        refuses(&store, &stages).await;
        refuses(&store, &TestInput { expectations: vec!["a\0b".into()], ..test_input("odd") }).await;
        let mut tools = tool_preset("odd");
        tools.categories.insert("a\0b".to_owned(), Vec::new());
        refuses(&store, &tools).await;
        refuses(&store, &Persona { remove_tags: vec!["a\0b".to_owned()], ..persona("odd") }).await;

        let invalid = |error: store::Error| assert_eq!(error.code(), Code::NulCharacter, "{error}");
        let tagged = Filter { tags: words(&["a\0"]), ..Filter::default() };
        invalid(store.list(Kind::Part, &tagged).await.unwrap_err());
        assert!(store.names_with_prefix(Kind::Part, "a\0", 5).await.unwrap().is_empty());
        invalid(store.near_names(Kind::Part, "a\0").await.unwrap_err());
        // Words split at it, as at everything but letters.
        store.search("a\0b", &[], None, None).await.unwrap();
        // A lookalike is ordinary text.
        survives(&store, &part("fine", PartType::Goal, "\\u0000 and \\\\u0000")).await;
        let quoted = Guardrail { deny_tools: words(&["\\u0000"]), ..guardrail("fine") };
        survives(&store, &quoted).await;
        store.close().await;
    })
    .await;
}

async fn refuses<T: Keep + persona::Entity>(store: &Store, entity: &T) {
    let mut write = begin(store).await;
    let error = write.insert(entity, Action::Create).await.map(drop).unwrap_err();
    assert_eq!(error.code(), Code::NulCharacter, "{}: {error}", T::KIND);
    drop(write);
    assert!(store.get::<T>(entity.name()).await.unwrap().is_none());
}
