use super::*;

#[test]
fn headings_go_below_the_section_they_stand_in() {
    for (text, lowered) in [
        ("# Steps\n\ntext\n\n## Sub", "### Steps\n\ntext\n\n#### Sub"),
        ("## Sub\n# Steps", "#### Sub\n### Steps"),
        ("### Steps", "### Steps"),
        ("#### Steps", "#### Steps"),
        ("# One\n##### Five", "### One\n###### Five"),
        ("   # Indented", "### Indented"),
        ("    # Code", "    # Code"),
        ("#\n#\ttab", "###\n###\ttab"),
        ("#hashtag\n####### seven", "#hashtag\n####### seven"),
        ("```\n# comment\n```\n# Real", "```\n# comment\n```\n### Real"),
        ("```code``` in a line\n# Real", "```code``` in a line\n### Real"),
        ("~~~\n```\n# comment\n~~~\n# Real", "~~~\n```\n# comment\n~~~\n### Real"),
        ("```\n``` no end\n# comment\n````\n# Real", "```\n``` no end\n# comment\n````\n### Real"),
        ("no headings", "no headings"),
        ("", ""),
    ] {
        assert_eq!(lower_headings(text, 3), lowered, "{text:?}");
    }
}

#[test]
fn white_space_is_cleaned_outside_of_fences() {
    for (text, cleaned) in [
        ("\n\n a  \r\nb\n\n", " a\nb"),
        (" \t\na", "a"),
        ("a\rb\r\nc", "a\nb\nc"),
        ("a\n\n\n \nb", "a\n\nb"),
        ("```\na  \n\n\n```", "```\na  \n\n\n```"),
        ("  \n", ""),
        ("", ""),
    ] {
        assert_eq!(clean(text), cleaned, "{text:?}");
    }
}

#[test]
fn a_fence_that_was_left_open_is_closed() {
    for (text, cleaned) in [
        ("```sh\nmake", "```sh\nmake\n```"),
        ("~~~~\nmake\n~~~\n\n", "~~~~\nmake\n~~~\n~~~~"),
        ("- Run:\n\n  ```sh\n  make", "- Run:\n\n  ```sh\n  make\n  ```"),
        ("a\n```", "a\n```\n```"),
        ("```a``` b", "```a``` b"),
    ] {
        assert_eq!(clean(text), cleaned, "{text:?}");
    }
}

#[test]
fn an_items_text_follows_its_label() {
    for (text, shown) in [
        ("", "- **calm**"),
        ("Breathe.", "- **calm**: Breathe."),
        ("  Breathe.", "- **calm**: Breathe."),
        ("Breathe.\nThen speak.", "- **calm**: Breathe.\n  Then speak."),
        ("Breathe.\n\nThen speak.", "- **calm**: Breathe.\n\n  Then speak."),
        ("- in\n- out", "- **calm**:\n  - in\n  - out"),
        ("1. in\n2. out", "- **calm**:\n  1. in\n  2. out"),
        ("10) in", "- **calm**:\n  10) in"),
        ("```sh\nmake\n```", "- **calm**:\n  ```sh\n  make\n  ```"),
        ("> Breathe.", "- **calm**:\n  > Breathe."),
        ("# Rule\n\nBreathe.", "- **calm**:\n  ### Rule\n\n  Breathe."),
        ("-5 degrees", "- **calm**: -5 degrees"),
        ("**Always** breathe.", "- **calm**: **Always** breathe."),
        ("3.5 breaths", "- **calm**: 3.5 breaths"),
    ] {
        assert_eq!(item("**calm**", &clean(text)), shown, "{text:?}");
    }
}

/// Random texts out of what makes markdown hard, from a fixed seed.
fn random_texts() -> impl Iterator<Item = String> {
    const LINES: [&str; 16] = [
        "# A",
        "## B",
        "   ### C",
        "#tag",
        "text",
        "text  ",
        "",
        "  ",
        "```",
        "```rust",
        "~~~",
        "````",
        "  ```",
        "```a``` b",
        "- item",
        "    # code",
    ];
    let mut state: u64 = 0x6d61_7371_7565;
    let mut draw = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    (0..2000).map(move |_| {
        let lines: Vec<&str> = (0..draw(10)).map(|_| LINES[draw(LINES.len())]).collect();
        lines.join(["\n", "\r\n"][draw(2)])
    })
}

#[test]
fn no_text_breaks_out_of_its_place() {
    for text in random_texts() {
        let cleaned = clean(&text);
        assert_eq!(clean(&cleaned), cleaned, "cleaned twice: {text:?}");
        let lowered = lower_headings(&cleaned, 3);
        assert_eq!(lower_headings(&lowered, 3), lowered, "lowered twice: {text:?}");
        let mut fence = Fence::default();
        for line in lowered.lines() {
            let high = !fence.inside(line) && Heading::read(line).is_some_and(|heading| heading.level < 3);
            assert!(!high, "{line:?} stands too high in {text:?}");
        }
        assert_eq!(fence.opening, None, "left open: {text:?}");
        assert_eq!(lowered, lowered.trim_end(), "{text:?}");
    }
}

#[test]
fn texts_that_follow_each_other_are_cleaned_as_one() {
    let texts: Vec<String> = random_texts().filter(|text| !text.trim().is_empty()).collect();
    for three in texts.chunks_exact(3) {
        let joined = three.iter().map(|text| text.trim_end()).collect::<Vec<_>>().join("\n\n");
        let cleaned = clean_all(&three.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(cleaned.join("\n\n"), clean(&joined), "{three:?}");
        assert!(cleaned.iter().all(|text| !text.is_empty()), "{three:?}");
    }
}
