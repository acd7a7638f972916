use super::*;
use crate::{Part, PartType, Persona};

#[test]
fn first_sentences() {
    for (text, first) in [
        ("You review code. Be kind.", "You review code."),
        ("Version 1.5 is out! Really.", "Version 1.5 is out!"),
        ("Ready? Go.", "Ready?"),
        ("No end", "No end"),
        ("  One\n\nTwo.", "One"),
        ("One\r\n\r\nTwo.", "One"),
        ("One\n \t\nTwo.", "One"),
        ("One\ntwo. Three.", "One\ntwo."),
        ("", ""),
        (" \n ", ""),
        ("日本語。次", "日本語。"),
        ("# Role\n\nYou review code. Be kind.", "You review code."),
        ("# Role\r\n## Task\r\nReview. Now.", "Review."),
        ("# Role", "Role"),
        ("#hashtag first. Then more.", "#hashtag first."),
        ("####### Seven. No heading.", "####### Seven."),
    ] {
        assert_eq!(first_sentence(text), first, "{text:?}");
    }
}

fn persona(edit: impl FnOnce(&mut Persona)) -> Persona {
    let mut persona = Persona::new(Name::parse("p").expect("a name"));
    edit(&mut persona);
    persona
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_personas_summary_is_derived_where_none_is_authored() {
    let mut whole = persona(|p| {
        p.summary = text("Reviews.");
        p.description = text("Use to review.");
        p.detail = text("Give it a diff.");
        p.system_prompt = text("You review. Be kind.");
    });
    assert_eq!(whole.summary_or_derived(), "Reviews.");
    whole.summary = text("  ");
    assert_eq!(whole.summary_or_derived(), "Use to review.");
    whole.description = None;
    assert_eq!(whole.summary_or_derived(), "You review.");
    whole.system_prompt = None;
    assert_eq!(whole.summary_or_derived(), "");
}

#[test]
fn a_personas_prompt_is_derived_where_none_is_authored() {
    let mut whole = persona(|p| {
        p.summary = text("Reviews.");
        p.detail = text("Give it a diff.");
        p.system_prompt = text("You review.");
    });
    assert_eq!(whole.prompt_or_derived(), "You review.");
    whole.system_prompt = text("\n");
    assert_eq!(whole.prompt_or_derived(), "Give it a diff.");
    whole.detail = None;
    assert_eq!(whole.prompt_or_derived(), "Reviews.");
}

#[test]
fn texts_of_a_part_replace_each_other() {
    let mut part = Part {
        name: Name::parse("p").expect("a name"),
        part_type: PartType::Tone,
        description: text("How it sounds."),
        summary: text("Dry."),
        content: text("Be dry. Be brief."),
        tags: Tags::new(),
    };
    assert_eq!((part.summary_or_derived(), part.content_or_summary()), ("Dry.", "Be dry. Be brief."));
    part.summary = text(" ");
    assert_eq!(part.summary_or_derived(), "How it sounds.");
    part.description = None;
    assert_eq!(part.summary_or_derived(), "Be dry.");
    part = Part { summary: text("Dry."), content: text("\n"), ..part };
    assert_eq!(part.content_or_summary(), "Dry.");
}
