//! Pieces that are too long or empty.

use super::{Findings, LintSettings, Rule};
use crate::entity::{Texts as _, said};
use crate::{AnyEntity, TokenCounter};

pub(super) fn check(findings: &mut Findings<'_, '_>, settings: &LintSettings, counter: &dyn TokenCounter) {
    if let AnyEntity::Part(part) = findings.target.entity
        && let Some(content) = &part.content
    {
        long(findings, content, settings.part_tokens, counter);
    }
    let empty = match findings.target.entity {
        AnyEntity::Trait(it) if it.whole().is_empty() => {
            Some(("instruction", "the trait has neither an instruction nor a description"))
        }
        AnyEntity::Skill(it) if said(&it.content).is_none() => {
            Some(("content", "the skill has no content that could be loaded"))
        }
        AnyEntity::Guardrail(it) if it.whole().is_empty() && it.deny_tools.is_empty() => {
            Some(("content", "the guardrail has neither a text nor tools that it denies"))
        }
        AnyEntity::Arc(it) if it.stages.is_empty() => Some(("stages", "the arc has no stages")),
        AnyEntity::TestInput(it) if said(&it.content).is_none() => {
            Some(("content", "the test input has no content"))
        }
        _ => None,
    };
    if let Some((field, message)) = empty {
        findings.add(Rule::EmptyPiece, Some(field), message.to_owned(), None);
    }
}

fn long(findings: &mut Findings<'_, '_>, content: &str, most: usize, counter: &dyn TokenCounter) {
    // No token is shorter than a byte, so most parts need no count.
    if content.len() <= most {
        return;
    }
    let tokens = counter.count(content);
    if tokens > most {
        let tokenizer = counter.tokenizer();
        let message = format!("the content has {tokens} tokens ({tokenizer}), more than {most}");
        let hint = "shorten it, split it, or make it a skill, which is loaded on demand";
        findings.add(Rule::LongPart, Some("content"), message, Some(hint.to_owned()));
    }
}
