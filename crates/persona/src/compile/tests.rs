use super::{clean, lower_headings};

#[test]
fn headings_go_below_the_section_they_stand_in() {
    for (text, lowered) in [
        ("# Steps\n\ntext\n\n## Sub", "### Steps\n\ntext\n\n#### Sub"),
        ("### Steps", "### Steps"),
        ("#### Steps", "#### Steps"),
        ("#hashtag", "#hashtag"),
        ("```\n# comment\n```\n# Real", "```\n# comment\n```\n### Real"),
        ("no headings", "no headings"),
    ] {
        assert_eq!(lower_headings(text, 3), lowered);
    }
}

#[test]
fn white_space_is_cleaned_outside_of_fences() {
    assert_eq!(clean("\n\n a  \r\nb\n\n"), " a\nb");
    assert_eq!(clean("```\na  \n```"), "```\na  \n```");
}
