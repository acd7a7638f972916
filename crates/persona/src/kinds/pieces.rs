//! Parts, traits, skills and guardrails: the texts that personas are composed of.

use crate::check::{BrokenRule, Checked, invalid};
use crate::entity::{Texts, first_said, said};
use crate::field::{self, blank, kind};
use crate::limits::{DENY_TOOLS, TOOL_CHARS};
use crate::{Name, PartType, Severity, Tags, TraitType};

kind! {
    /// A reusable building block of behaviour.
    #[derive(Eq)]
    Part = Part, part_fields {
        key name: Name = field::key("");
        required part_type: PartType = field::word(
            PartType::words,
            "The topic of the part. A stronger layer's parts of a type replace the weaker one's.",
        )
        .searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("When to use the part, for people and agents who choose one.").searched().filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        own summary: Option<String> = field::short(
            "The part in a sentence, for short views and prompts. Without it, they have the whole content.",
        )
        .searched()
        .filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        own content: Option<String> =
            field::long("The part itself, as the prompt has it.").searched().filled();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

impl Part {
    /// A part without texts, which is not yet fit to be kept.
    pub fn new(name: Name, part_type: PartType) -> Self {
        part_fields!(blank, { Part(name, part_type) })
    }

    fn check_together(&self) -> Checked {
        if self.whole().is_empty() {
            return invalid("content", BrokenRule::NoText);
        }
        Ok(())
    }
}

impl Texts for Part {
    fn own_summary(&self) -> Option<&str> {
        said(&self.summary)
    }

    fn summary_field(&self) -> &'static str {
        "summary"
    }

    fn whole_said(&self) -> Option<(&'static str, &str)> {
        let Self { content, summary, description, .. } = self;
        first_said([("content", content), ("summary", summary), ("description", description)])
    }
}

kind! {
    /// An atomic unit of personality, loaded one at a time.
    #[derive(Eq)]
    Trait = Trait, trait_fields {
        key name: Name = field::key("");
        required trait_type: TraitType =
            field::word(TraitType::words, "The aspect of personality that the trait describes.").searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("The trait in a sentence. Also the instruction, if that is missing.")
                .searched()
                .filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        own("How to apply it") instruction: Option<String> =
            field::long("The instruction that follows from the trait.").searched().filled();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

impl Texts for Trait {
    fn own_summary(&self) -> Option<&str> {
        said(&self.description)
    }

    fn summary_field(&self) -> &'static str {
        "description"
    }

    fn whole_said(&self) -> Option<(&'static str, &str)> {
        first_said([("instruction", &self.instruction), ("description", &self.description)])
    }
}

kind! {
    /// Instructions for a task; the content is loaded on demand.
    #[derive(Eq)]
    Skill = Skill, skill_fields {
        key name: Name = field::key("");
        #[serde(skip_serializing_if = "Option::is_none")]
        own("When to use it") description: Option<String> = field::short(
            "When to use the skill. The model sees only this until it loads the skill.",
        )
        .searched()
        .filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        own content: Option<String> =
            field::long("The skill itself, loaded when the model asks for it.").searched().filled();
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

impl Texts for Skill {
    fn own_summary(&self) -> Option<&str> {
        said(&self.description)
    }

    fn summary_field(&self) -> &'static str {
        "description"
    }

    fn whole_said(&self) -> Option<(&'static str, &str)> {
        first_said([("content", &self.content), ("description", &self.description)])
    }
}

kind! {
    /// A prohibition for a persona; never dropped to fit a budget.
    #[derive(Eq)]
    Guardrail = Guardrail, guardrail_fields {
        key name: Name = field::key("");
        #[serde(default)]
        own severity: Severity = field::word(
            Severity::words,
            "Severity of a violation. The most severe guardrails come first in the prompt.",
        )
        .searched();
        #[serde(skip_serializing_if = "Option::is_none")]
        own description: Option<String> =
            field::short("The guardrail in a sentence. Also the content, if that is missing.")
                .searched()
                .filled();
        #[serde(skip_serializing_if = "Option::is_none")]
        own content: Option<String> =
            field::long("The prohibition in full.").searched().filled();
        /// Patterns of tool names that the runtime refuses to call.
        #[serde(default)]
        own("Patterns of tools to refuse") deny_tools: Vec<String> = field::words(
            DENY_TOOLS,
            TOOL_CHARS,
            "Tools that a persona with this guardrail can never call, even if its preset allows them. `*` matches \
             any characters, as in `write_*`.",
        );
        #[serde(default)]
        own tags: Tags = field::tags("Words to find it by.");
    }
}

impl Texts for Guardrail {
    fn own_summary(&self) -> Option<&str> {
        said(&self.description)
    }

    fn summary_field(&self) -> &'static str {
        "description"
    }

    fn whole_said(&self) -> Option<(&'static str, &str)> {
        first_said([("content", &self.content), ("description", &self.description)])
    }
}
