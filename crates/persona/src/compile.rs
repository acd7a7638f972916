//! Compilation: one markdown text, ready to be pasted into a system prompt.
//!
//! The order is that of the runtime's system prompt: the persona's opening, parts in assembly
//! order, traits, skills, guardrails. The text is a product and stable; golden tests hold it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::{Assembled, PartType, Request, Severity, View, assemble};
use crate::{Bundle, OverrideError, TokenCounter};

/// Counts changes of the format: text of another format is stale.
const FORMAT: u32 = 1;

/// Both compiled texts, and the fingerprint of what went into them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledText {
    pub summary: String,
    pub detail: String,
    pub fingerprint: String,
}

/// Compiles a persona as it stands: its current parts and active stage.
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
    let persona = &assembled.bundle.persona;
    put(persona.summary_or_derived());
    put(persona.system_prompt.as_deref().unwrap_or_default());
    put(persona.detail.as_deref().unwrap_or_default());
    for placed in &assembled.parts {
        put("part");
        put(placed.part.part_type.as_str());
        put(placed.part.summary_or_derived());
        put(placed.part.content_or_summary());
    }
    for item in &assembled.traits {
        put("trait");
        put(item.name.as_str());
        put(item.description.as_deref().unwrap_or_default());
        put(item.instruction.as_deref().unwrap_or_default());
    }
    for item in &assembled.skills {
        put("skill");
        put(item.name.as_str());
        put(item.description.as_deref().unwrap_or_default());
        put(item.content.as_deref().unwrap_or_default());
    }
    for item in &assembled.guardrails {
        put("guardrail");
        put(item.name.as_str());
        put(item.severity.as_str());
        put(item.description.as_deref().unwrap_or_default());
        put(item.content.as_deref().unwrap_or_default());
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn markdown(assembled: &Assembled<'_>, view: View) -> String {
    let mut blocks: Vec<String> = opening(assembled, view).into_iter().collect();
    blocks.extend(part_blocks(assembled, view));
    blocks.extend(list_block("Traits", trait_items(assembled, view)));
    blocks.extend(skill_block(assembled, view));
    blocks.extend(list_block("Guardrails", guardrail_items(assembled, view)));
    let mut text = blocks.join("\n\n");
    text.push('\n');
    text
}

/// In full, the persona's own prompt. One without a system prompt opens with its detail, else its
/// summary; where there is a system prompt, the detail is about the persona, not for it.
fn opening(assembled: &Assembled<'_>, view: View) -> Option<String> {
    let persona = &assembled.bundle.persona;
    let prompt = persona.system_prompt.as_deref().or(persona.detail.as_deref());
    let text = match view {
        View::Summary => persona.summary_or_derived(),
        View::Detail => prompt.unwrap_or_else(|| persona.summary_or_derived()),
    };
    Some(clean(text)).filter(|text| !text.is_empty())
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

fn trait_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let items = assembled.traits.iter().map(|item| {
        let description = item.description.as_deref();
        let text = match view {
            View::Summary => description,
            View::Detail => item.instruction.as_deref().or(description),
        };
        (format!("**{}**", spoken(item.name.as_str())), clean(text.unwrap_or_default()))
    });
    items.collect()
}

/// Skills are named with what they are for; in full, what each says stands under its name.
fn skill_block(assembled: &Assembled<'_>, view: View) -> Option<String> {
    if view == View::Summary || assembled.skills.iter().all(|skill| skill.content.is_none()) {
        let items = assembled.skills.iter().map(|item| {
            let description = clean(item.description.as_deref().unwrap_or_default());
            (format!("**{}**", spoken(item.name.as_str())), description)
        });
        return list_block("Skills", items.collect());
    }
    let mut block = String::from("## Skills");
    for skill in &assembled.skills {
        let _ = write!(block, "\n\n### {}", sentence_case(&spoken(skill.name.as_str())));
        for text in [skill.description.as_deref(), skill.content.as_deref()].into_iter().flatten() {
            let _ = write!(block, "\n\n{}", lower_headings(&clean(text), 4));
        }
    }
    Some(block)
}

fn guardrail_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let items = assembled.guardrails.iter().map(|item| {
        let description = item.description.as_deref();
        let text = match view {
            View::Summary => description,
            View::Detail => item.content.as_deref().or(description),
        };
        let name = spoken(item.name.as_str());
        let label = match (view, item.severity) {
            (View::Summary, _) | (_, Severity::Medium) => format!("**{name}**"),
            (View::Detail, severity) => format!("**{name}** ({severity})"),
        };
        (label, clean(text.unwrap_or_default()))
    });
    items.collect()
}

/// A heading and one item for each label; further lines of a text are indented under their item.
fn list_block(heading: &str, items: Vec<(String, String)>) -> Option<String> {
    if items.is_empty() {
        return None;
    }
    let mut block = format!("## {heading}\n");
    for (label, text) in items {
        let _ = write!(block, "\n- {label}");
        for (number, line) in text.lines().enumerate() {
            match (number, line.is_empty()) {
                (0, _) => {
                    let _ = write!(block, ": {line}");
                }
                (_, true) => block.push('\n'),
                (_, false) => {
                    let _ = write!(block, "\n  {line}");
                }
            }
        }
    }
    Some(block)
}

/// A key as words: `asks-why_first` is "asks why first".
fn spoken(name: &str) -> String {
    name.replace(['-', '_'], " ")
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}

/// Line ends are made uniform; white space around the text and behind its lines goes, except
/// inside code fences, where it may matter.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut fence = Fence::default();
    let lines = text.lines().map(|line| if fence.inside(line) { line } else { line.trim_end() });
    let joined = lines.collect::<Vec<_>>().join("\n");
    joined.trim_matches('\n').trim_end().to_owned()
}

/// Shifts a text's own headings so that its highest stands at `top`: an author's "# Steps" must
/// not break out of the section that the text is put into.
fn lower_headings(text: &str, top: usize) -> String {
    let level = |line: &str| {
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        ((1..=6).contains(&hashes) && line[hashes..].starts_with(' ')).then_some(hashes)
    };
    let mut fence = Fence::default();
    let levels: Vec<Option<usize>> =
        text.lines().map(|line| if fence.inside(line) { None } else { level(line) }).collect();
    let Some(highest) = levels.iter().flatten().min() else {
        return text.to_owned();
    };
    let shift = top.saturating_sub(*highest);
    let lines = text.lines().zip(&levels).map(|(line, level)| match level {
        Some(level) => format!("{}{}", "#".repeat((level + shift).min(6)), &line[*level..]),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Follows code fences from line to line.
#[derive(Default)]
struct Fence(Option<(u8, usize)>);

impl Fence {
    /// Whether this line belongs to a fenced block, its fences included.
    fn inside(&mut self, line: &str) -> bool {
        let line = line.trim_start();
        let marker = line.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'));
        let run = marker.map_or(0, |marker| line.bytes().take_while(|byte| *byte == marker).count());
        match (self.0, marker) {
            (None, Some(marker)) if run >= 3 => {
                self.0 = Some((marker, run));
                true
            }
            (None, _) => false,
            (Some((open, length)), Some(marker)) if marker == open && run >= length => {
                self.0 = None;
                true
            }
            (Some(_), _) => true,
        }
    }
}

#[cfg(test)]
mod tests;
