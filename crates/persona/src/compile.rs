//! Compilation: one markdown text, ready to be pasted into a system prompt.
//!
//! The order is that of the runtime's system prompt: the persona's opening, parts in assembly
//! order, examples, traits, skills, guardrails. The text is a product and stable; golden tests hold it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::entity::said;
use crate::{
    Assembled, Bundle, OverrideError, PartType, Persona, Request, Severity, TokenCounter, View, assemble,
};

mod markdown;
use markdown::{clean, list, lower_headings};

/// Counts changes of the format: text of another format is stale.
const FORMAT: u32 = 1;

/// Both compiled texts, and the fingerprint of what went into them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledText {
    pub summary: String,
    pub detail: String,
    pub fingerprint: String,
}

/// Compiles a persona with its current parts and active stage.
pub fn compile(assembled: &Assembled<'_>) -> CompiledText {
    CompiledText {
        summary: markdown(assembled, View::Summary),
        detail: markdown(assembled, View::Detail),
        fingerprint: fingerprint(assembled),
    }
}

impl Bundle {
    /// Assembles the persona with nothing changed or left out.
    pub fn assembled(&self) -> Assembled<'_> {
        struct NoCounter;
        impl TokenCounter for NoCounter {
            fn tokenizer(&self) -> &'static str {
                "none"
            }
            fn count(&self, _: &str) -> usize {
                0
            }
        }
        let plain: Result<_, OverrideError> = assemble(self, &Request::default(), &NoCounter);
        match plain {
            Ok(assembled) => assembled,
            Err(error) => unreachable!("a request without overrides has none to refuse: {error}"),
        }
    }
}

/// A digest of everything that the compiled text depends on. Each field is preceded by its
/// length, so that no two different inputs run together into the same bytes.
pub fn fingerprint(assembled: &Assembled<'_>) -> String {
    let mut hash = Sha256::new();
    let mut put = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    put(&FORMAT.to_string());
    put(opening(&assembled.persona, View::Summary));
    put(opening(&assembled.persona, View::Detail));
    for placed in &assembled.parts {
        put("part");
        put(placed.part.part_type.as_str());
        put(placed.part.summary_or_derived());
        put(placed.part.content_or_summary());
    }
    for example in assembled.examples(View::Detail) {
        put("example");
        put(&example.user);
        put(&example.persona);
    }
    for item in &assembled.traits {
        put("trait");
        put(item.name.as_str());
        put(item.description_or_derived());
        put(item.instruction_or_description());
    }
    for item in &assembled.skills {
        put("skill");
        put(item.name.as_str());
        put(said(&item.description).unwrap_or_default());
        put(said(&item.content).unwrap_or_default());
    }
    for item in &assembled.guardrails {
        put("guardrail");
        put(item.name.as_str());
        put(item.severity.as_str());
        put(item.description_or_derived());
        put(item.content_or_description());
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The text in full, with skills named only.
pub(crate) fn running(assembled: &Assembled<'_>) -> String {
    text(assembled, View::Detail, named_skills(assembled))
}

fn markdown(assembled: &Assembled<'_>, view: View) -> String {
    text(assembled, view, skill_block(assembled, view))
}

fn text(assembled: &Assembled<'_>, view: View, skills: Option<String>) -> String {
    let mut blocks = vec![clean(opening(&assembled.persona, view))];
    blocks.retain(|opening| !opening.is_empty());
    blocks.extend(part_blocks(assembled, view));
    blocks.extend(list("Examples", example_items(assembled, view)));
    blocks.extend(list("Traits", trait_items(assembled, view)));
    blocks.extend(skills);
    blocks.extend(list("Guardrails", guardrail_items(assembled, view)));
    let mut text = blocks.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn opening(persona: &Persona, view: View) -> &str {
    match view {
        View::Summary => persona.summary_or_derived(),
        View::Detail => persona.prompt_or_derived(),
    }
}

/// Parts that follow each other and are of one type share a heading.
fn part_blocks(assembled: &Assembled<'_>, view: View) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut heading: Option<PartType> = None;
    for placed in &assembled.parts {
        let text = match view {
            View::Summary => placed.part.summary_or_derived(),
            View::Detail => placed.part.content_or_summary(),
        };
        let text = lower_headings(&clean(text), 3);
        if text.is_empty() {
            continue;
        }
        if heading != Some(placed.part.part_type) {
            heading = Some(placed.part.part_type);
            blocks.push(format!("## {}", placed.part.part_type.heading()));
        }
        blocks.push(text);
    }
    blocks
}

fn example_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let said = |label: &str, text: &str| (label.to_owned(), clean(text));
    let examples = assembled.examples(view).iter();
    examples.flat_map(|it| [said("**User**", &it.user), said("**You**", &it.persona)]).collect()
}

fn trait_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let items = assembled.traits.iter().map(|item| {
        let text = match view {
            View::Summary => item.description_or_derived(),
            View::Detail => item.instruction_or_description(),
        };
        (label(item.name.as_str()), clean(text))
    });
    items.collect()
}

/// Lists skills with their descriptions. In full, each has its content below its name.
fn skill_block(assembled: &Assembled<'_>, view: View) -> Option<String> {
    if view == View::Summary || assembled.skills.iter().all(|skill| said(&skill.content).is_none()) {
        return named_skills(assembled);
    }
    let mut block = String::from("## Skills");
    for skill in &assembled.skills {
        let _ = write!(block, "\n\n### {}", sentence_case(&spoken(skill.name.as_str())));
        for text in [said(&skill.description), said(&skill.content)].into_iter().flatten() {
            let _ = write!(block, "\n\n{}", lower_headings(&clean(text), 4));
        }
    }
    Some(block)
}

fn named_skills(assembled: &Assembled<'_>) -> Option<String> {
    let items = assembled.skills.iter();
    let items = items.map(|item| (label(item.name.as_str()), clean(item.description_or_derived())));
    list("Skills", items.collect())
}

fn guardrail_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let items = assembled.guardrails.iter().map(|item| {
        let text = match view {
            View::Summary => item.description_or_derived(),
            View::Detail => item.content_or_description(),
        };
        let label = label(item.name.as_str());
        let label = match (view, item.severity) {
            (View::Summary, _) | (_, Severity::Medium) => label,
            (View::Detail, severity) => format!("{label} ({severity})"),
        };
        (label, clean(text))
    });
    items.collect()
}

fn label(name: &str) -> String {
    format!("**{}**", spoken(name))
}

/// A key as words: `asks-why_first` is "asks why first".
fn spoken(name: &str) -> String {
    name.replace(['-', '_'], " ")
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}
