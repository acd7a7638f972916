use super::*;
use crate::{Part, PartType, Persona, View};

#[test]
fn lists_shorten_visibly_by_line_and_length() {
    for (text, short) in [
        ("You review code. Be kind.", "You review code. Be kind."),
        ("You are e.g. a tester. Never push.", "You are e.g. a tester. Never push."),
        ("1. Read the ADR.\n2. Run make check.", "1. Read the ADR. …"),
        ("No end", "No end"),
        ("  One  \n\nTwo.", "One …"),
        ("One\r\n\r\nTwo.", "One …"),
        ("One\n \t\n", "One"),
        ("", ""),
        (" \n ", ""),
        ("# Role\n\nYou review code.", "You review code."),
        ("# Role\r\n## Task\r\nReview.\nNow.", "Review. …"),
        ("# Role", "Role"),
        ("#hashtag first", "#hashtag first"),
        ("####### Seven", "####### Seven"),
    ] {
        assert_eq!(shortened(text), short, "{text:?}");
    }
    let words = "word ".repeat(50);
    let cut = shortened(&words);
    assert_eq!(cut, format!("{} …", ["word"; 32].join(" ")));
    let endless = "é".repeat(LISTED_CHARS + 1);
    assert_eq!(shortened(&endless), format!("{} …", "é".repeat(LISTED_CHARS)));
    assert_eq!(shortened(&endless[2..]), endless[2..], "it fits");
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
fn a_persona_without_a_summary_is_whole_in_both_views() {
    let mut whole = persona(|p| {
        p.summary = text("Reviews.");
        p.description = text("Use to review.");
        p.detail = text("Give it a diff.");
        p.system_prompt = text("You are e.g. a tester. You must never push.");
    });
    assert_eq!(whole.text(View::Summary), "Reviews.");
    whole.summary = text("  ");
    for view in [View::Summary, View::Detail] {
        assert_eq!(whole.text(view), "You are e.g. a tester. You must never push.");
    }
    whole.system_prompt = text("\n");
    assert_eq!(whole.whole(), "Give it a diff.");
    whole.detail = None;
    assert_eq!(whole.whole(), "Use to review.");
    whole.summary = text("Reviews.");
    assert_eq!(whole.whole(), "Reviews.");
}

#[test]
fn texts_of_a_part_replace_each_other() {
    let mut part = Part {
        name: Name::parse("p").expect("a name"),
        part_type: PartType::Tone,
        description: text("When to use it."),
        summary: text("Dry."),
        content: text("Be dry. Be brief."),
        tags: Tags::new(),
    };
    assert_eq!((part.text(View::Summary), part.text(View::Detail)), ("Dry.", "Be dry. Be brief."));
    part.summary = text(" ");
    assert_eq!(part.text(View::Summary), "Be dry. Be brief.");
    part.content = text("\n");
    assert_eq!(part.whole(), "When to use it.");
    part.summary = text("Dry.");
    assert_eq!(part.whole(), "Dry.");
}
