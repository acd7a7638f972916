//! Compilation: one markdown text, ready to be pasted into a system prompt.
//!
//! The order is that of the runtime's system prompt: the persona's opening, parts in assembly
//! order with one heading per type, examples, traits, skills, guardrails. The text is a product and stable; golden tests hold it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::entity::{Texts, said};
use crate::{Assembled, AssemblyRequest, Bundle, Compiled, OverrideError, TokenCounter, View, assemble};

mod markdown;

mod sheet;
pub(crate) use sheet::{Sheet, SkillText};

mod origin;

mod counted;
pub(crate) use counted::CountedSheet;

mod block;
pub(crate) use block::block_id;
pub use block::{Block, BlockForm, BlockKind, Origin, blocks};

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
    text(&Sheet::new(assembled, View::Detail, SkillText::Named))
}

/// The compiled text of one view.
pub fn compile_view(assembled: &Assembled<'_>, view: View) -> String {
    text(&Sheet::new(assembled, view, SkillText::Full))
}

/// All blocks of a sheet, one after the other.
fn text(sheet: &Sheet<'_>) -> String {
    let mut text = String::new();
    for placement in sheet.lay_out(&sheet.levels()) {
        sheet.write(placement, &mut text);
    }
    text
}
