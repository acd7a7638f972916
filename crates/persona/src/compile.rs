//! Compilation: one markdown text, ready to be pasted into a system prompt.
//!
//! The order is that of the runtime's system prompt: the persona's opening, parts in assembly
//! order with one heading per type, examples, traits, skills, guardrails. The text is a product and stable; golden tests hold it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::entity::{Texts, said, shortened};
use crate::{
    Assembled, AssemblyRequest, Bundle, Compiled, LeftOutKind, OverrideError, PartType, Severity, Skill,
    TokenCounter, View, assemble,
};

mod markdown;
use markdown::{clean, list, lower_headings};

/// Counts changes of the format. Stored text of another format is not shown.
/// 1 took the first sentence of a piece without a summary, and repeated headings.
const FORMAT: u32 = 2;

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
        summary: compile_view(assembled, View::Summary),
        detail: compile_view(assembled, View::Detail),
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
        let plain: Result<_, OverrideError> = assemble(self, &AssemblyRequest::default(), &NoCounter);
        match plain {
            Ok(assembled) => assembled,
            Err(error) => unreachable!("a request without overrides has none to refuse: {error}"),
        }
    }
}

impl Compiled {
    /// True if this version of Masque would format the text in the same way.
    pub fn is_of_this_format(&self) -> bool {
        self.fingerprint.starts_with(&format_prefix())
    }
}

fn format_prefix() -> String {
    format!("{FORMAT}-")
}

/// The format, and a digest of everything that the compiled text depends on. Each field is preceded
/// by its length, so that no two different inputs run together into the same bytes.
pub fn fingerprint(assembled: &Assembled<'_>) -> String {
    let mut hash = Sha256::new();
    let mut put = |fields: &[&str]| {
        for text in fields {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
    };
    fn texts(item: &dyn Texts) -> [&str; 2] {
        [item.text(View::Summary), item.whole()]
    }
    put(&texts(&*assembled.persona));
    for placed in &assembled.parts {
        put(&["part", placed.part.part_type.as_str()]);
        put(&texts(placed.part));
    }
    for example in assembled.examples(View::Detail) {
        put(&["example", &example.user, &example.persona]);
    }
    for item in &assembled.traits {
        put(&["trait", item.name.as_str()]);
        put(&texts(*item));
    }
    for item in &assembled.skills {
        let content = said(&item.content).unwrap_or_default();
        put(&["skill", item.name.as_str(), said(&item.description).unwrap_or_default(), content]);
    }
    for item in &assembled.guardrails {
        put(&["guardrail", item.name.as_str(), item.severity.as_str()]);
        put(&texts(*item));
    }
    hash.finalize().iter().fold(format_prefix(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The text in full, with skills named only.
pub(crate) fn running(assembled: &Assembled<'_>) -> String {
    text(assembled, View::Detail, named_skills(assembled))
}

/// The compiled text of one view.
pub fn compile_view(assembled: &Assembled<'_>, view: View) -> String {
    text(assembled, view, skill_block(assembled, view))
}

fn text(assembled: &Assembled<'_>, view: View, skills: Option<String>) -> String {
    let mut blocks = vec![clean(assembled.persona.text(view))];
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

/// The parts below one heading per type. A type comes where its first part is.
fn part_blocks(assembled: &Assembled<'_>, view: View) -> Vec<String> {
    let mut sections: Vec<(PartType, Vec<String>)> = Vec::new();
    for placed in &assembled.parts {
        let view = assembled.view_of(LeftOutKind::Part, &placed.part.name, view);
        let text = lower_headings(&clean(placed.part.text(view)), 3);
        if text.is_empty() {
            continue;
        }
        let part_type = placed.part.part_type;
        match sections.iter_mut().find(|(known, _)| *known == part_type) {
            Some((_, texts)) => texts.push(text),
            None => sections.push((part_type, vec![format!("## {}", part_type.heading()), text])),
        }
    }
    sections.into_iter().flat_map(|(_, blocks)| blocks).collect()
}

fn example_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let said = |label: &str, text: &str| (label.to_owned(), clean(text));
    assembled
        .examples(view)
        .flat_map(|it| [said("**User**", &it.user), said("**You**", &it.persona)])
        .collect()
}

fn trait_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let items = assembled.traits.iter().map(|item| {
        let view = assembled.view_of(LeftOutKind::Trait, &item.name, view);
        (label(item.name.as_str()), clean(item.text(view)))
    });
    items.collect()
}

/// The skills with their texts: items of a list, or in full each below its name.
fn skill_block(assembled: &Assembled<'_>, view: View) -> Option<String> {
    if view == View::Summary || assembled.skills.iter().all(|skill| said(&skill.content).is_none()) {
        return skill_list(assembled, |skill| clean(skill.text(View::Summary)));
    }
    let mut block = String::from("## Skills");
    for skill in &assembled.skills {
        let _ = write!(block, "\n\n### {}", sentence_case(&spoken(skill.name.as_str())));
        let view = assembled.view_of(LeftOutKind::Skill, &skill.name, view);
        let content = said(&skill.content).filter(|_| view == View::Detail);
        for text in [said(&skill.description), content].into_iter().flatten() {
            let _ = write!(block, "\n\n{}", lower_headings(&clean(text), 4));
        }
    }
    Some(block)
}

/// The skills with their descriptions. A tool loads their contents, so a missing description may be
/// replaced by the beginning of the content.
fn named_skills(assembled: &Assembled<'_>) -> Option<String> {
    skill_list(assembled, |skill| match skill.own_summary() {
        Some(description) => clean(description),
        None => shortened(skill.whole()),
    })
}

fn skill_list(assembled: &Assembled<'_>, text: impl Fn(&Skill) -> String) -> Option<String> {
    let items = assembled.skills.iter().map(|skill| (label(skill.name.as_str()), text(skill)));
    list("Skills", items.collect())
}

fn guardrail_items(assembled: &Assembled<'_>, view: View) -> Vec<(String, String)> {
    let items = assembled.guardrails.iter().map(|item| {
        let label = label(item.name.as_str());
        let label = match (view, item.severity) {
            (View::Summary, _) | (_, Severity::Medium) => label,
            (View::Detail, severity) => format!("{label} ({severity})"),
        };
        (label, clean(item.text(view)))
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
