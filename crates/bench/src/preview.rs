//! The preview of an unsaved persona of 200 parts, beside a bare parse and concatenation of the same
//! parts.
//!
//! Every call has another text, as while a person types: one block is new, the others are known.

use anyhow::{Context as _, Result};
use app::inputs::{PreviewPersona, SaveEntity};
use app::{Author, Library, LintOptions, OpenOptions};
use persona::Kind;
use serde_json::{Map, Value, json};

use crate::process::own_cpu_seconds;
use crate::report::{Figure, report};

const PARTS: usize = 200;
/// Calls of a batch: Linux counts CPU in hundredths of a second.
const CALLS: usize = 200;
const ROUNDS: usize = 5;
/// The most CPU that a preview may take.
const MOST_MICROS: f64 = 5_000.0;

const TYPES: [&str; 8] =
    ["identity", "soul", "tone", "goal", "context", "protocol", "voice", "specialization"];
const SENTENCES: [&str; 6] = [
    "Read the whole change before you say anything about a part of it.",
    "Name the file and the line, and say what a reader would stumble over.",
    "- A finding without a reason is an opinion; leave it out.",
    "- Where two rules disagree, the narrower one counts.",
    "Prefer a small step that can be undone to a large one that cannot.",
    "Ask once if something is missing, then go on with what is there.",
];

/// One measured request.
struct Case {
    what: &'static str,
    fields: fn(&Value, usize) -> Value,
    micros: Vec<f64>,
}

fn content(number: usize) -> String {
    let sentences = (0..12).map(|at| SENTENCES[(number + at) % SENTENCES.len()]);
    let mut text = format!("# Rule {number}\n\n");
    sentences.for_each(|sentence| {
        text.push_str(sentence);
        text.push('\n');
    });
    text
}

fn part(number: usize) -> Value {
    json!({
        "name": format!("part-{number:03}"),
        "part_type": TYPES[number % TYPES.len()],
        "summary": SENTENCES[number % SENTENCES.len()],
        "content": content(number),
    })
}

fn typed(entity: &Value, call: usize) -> Value {
    let mut entity = entity.clone();
    entity["system_prompt"] = format!("You review changes. {call} of them so far.").into();
    entity
}

pub(crate) async fn measure() -> Result<()> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("masque.db").display().to_string();
    let library = Library::open(OpenOptions::database(file)).await?;
    let parts: Vec<Value> = (0..PARTS).map(part).collect();
    for part in &parts {
        save(&library, Kind::Part, part).await?;
    }
    let links: Vec<Value> = (0..PARTS)
        .map(|number| json!({ "name": format!("part-{number:03}"), "order": number, "priority": number % 7 }))
        .collect();
    let entity = json!({ "name": "reviewer", "system_prompt": "You review changes.", "parts": links });
    save(&library, Kind::Persona, &entity).await?;
    let document = serde_json::to_string(&parts)?;
    println!("{PARTS} parts, {} KB", document.len() / 1024);
    let mut cases = [
        Case {
            what: "typing in the prompt",
            fields: |it, call| json!({ "entity": typed(it, call) }),
            micros: vec![],
        },
        Case {
            what: "typing within a budget",
            fields: |it, call| json!({ "entity": typed(it, call), "max_tokens": 12_000 }),
            micros: vec![],
        },
        Case {
            what: "typing in a part",
            fields: |it, call| {
                let mut draft = part(call % PARTS);
                draft["content"] = format!("{}{call}\n", content(call % PARTS)).into();
                json!({ "entity": it, "pieces": [{ "kind": "part", "entity": draft }] })
            },
            micros: vec![],
        },
    ];
    let mut bare = Vec::new();
    // The first round loads the tokenizer and counts every block once.
    for round in 0..=ROUNDS {
        for case in &mut cases {
            let inputs: Vec<String> =
                (0..CALLS).map(|call| (case.fields)(&entity, round * CALLS + call).to_string()).collect();
            let before = own_cpu_seconds()?;
            for input in &inputs {
                preview(&library, input).await?;
            }
            if round > 0 {
                case.micros.push((own_cpu_seconds()? - before) * 1e6 / CALLS as f64);
            }
        }
        let before = own_cpu_seconds()?;
        for _ in 0..CALLS {
            concatenate(&document)?;
        }
        bare.push((own_cpu_seconds()? - before) * 1e6 / CALLS as f64);
    }
    library.close().await;
    report("preview", &figures(&cases, mean(&bare)))
}

fn figures(cases: &[Case], bare: f64) -> Vec<Figure> {
    let mut figures = Vec::new();
    for Case { what, micros, .. } in cases {
        let measured = mean(micros);
        figures.push(Figure::at_most(
            format!("preview of {PARTS} parts, {what}: CPU"),
            "µs",
            measured,
            MOST_MICROS,
        ));
        let beside = format!("preview of {PARTS} parts, {what}, beside a bare parse");
        figures.push(Figure::new(beside, "µs", measured, bare.max(1.0), None));
    }
    figures
}

/// The samples are coarse, so their sum counts.
fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

async fn save(library: &Library, kind: Kind, entity: &Value) -> Result<()> {
    let input = json!({ "kind": kind, "name": entity["name"], "entity": entity });
    let input: SaveEntity = serde_json::from_value(input)?;
    library.save_entity(&Author::new("bench", "bench"), input).await?;
    Ok(())
}

/// A call as the server makes it: from the bytes of the request to those of the answer.
async fn preview(library: &Library, input: &str) -> Result<()> {
    let fields: Map<String, Value> = serde_json::from_str(input)?;
    let input: PreviewPersona = app::inputs::parse(&fields)?;
    let answer = library.preview_persona(input, &LintOptions::default()).await?;
    let json = serde_json::to_string(&answer)?;
    anyhow::ensure!(json.len() > 1_000 && !answer.blocks.is_empty(), "the preview is empty");
    Ok(())
}

/// The same parts, parsed and put together without any rule.
fn concatenate(document: &str) -> Result<()> {
    let parts: Vec<Value> = serde_json::from_str(document)?;
    let contents = parts.iter().filter_map(|part| part["content"].as_str());
    let text = contents.collect::<Vec<_>>().join("\n\n");
    serde_json::to_string(&text).context("a text")?;
    Ok(())
}
