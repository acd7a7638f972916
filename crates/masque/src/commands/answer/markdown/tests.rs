use super::Markdown;

/// Renders a text in pieces of every size. The result must be the same.
#[track_caller]
fn shown(color: bool, width: Option<usize>, text: &str) -> String {
    let whole = Markdown::render(color, width, text);
    for size in 1..=text.chars().count().clamp(1, 12) {
        let mut markdown = Markdown::new(color, width);
        let mut pieces = String::new();
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(size) {
            pieces.push_str(&markdown.push(&piece.iter().collect::<String>()));
        }
        pieces.push_str(&markdown.finish());
        assert_eq!(pieces, whole, "in pieces of {size}");
    }
    whole
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let shown = shown(true, None, text);
    let named = shown.replace("\x1b[0m", "<0>").replace("\x1b[0;1m", "<b>").replace("\x1b[0;3m", "<i>");
    let named =
        named.replace("\x1b[0;36m", "<c>").replace("\x1b[0;2m", "<f>").replace("\x1b[0;1;36m", "<bc>");
    let named = named.replace("\x1b[0;1;3m", "<bi>");
    assert_eq!(named, expected);
}

#[test]
fn styles_what_markdown_marks() {
    check("plain", "plain\n");
    check("# Title\ntext", "<b>Title<0>\ntext\n");
    check("a **bold** word", "a <b>bold<0> word\n");
    check("a *light* word", "a <i>light<0> word\n");
    check("***both***", "<bi>both<0>\n");
    check("`code` and ``a ` b``", "<c>code<0> and <c>a<0> <c>`<0> <c>b<0>\n");
    check("**a `b` c**", "<b>a<0> <bc>b<0> <b>c<0>\n");
    check("- one\n* two\n12. three", "• one\n• two\n12. three\n");
    check("> said", "<f>│ said<0>\n");
    check("---", "<f>────────────────────────────────────────<0>\n");
}

#[test]
fn other_characters_are_no_marks() {
    check("2 * 3 * 4", "2 * 3 * 4\n");
    check("a*b*c", "a*b*c\n");
    check("snake_case_name", "snake_case_name\n");
    check("#hashtag", "#hashtag\n");
    check("-5 degrees", "-5 degrees\n");
    check("1.5 litres", "1.5 litres\n");
    check("| a | **b** |", "| a | **b** |\n");
    check("", "");
    check("a\n\nb\n", "a\n\nb\n");
}

#[test]
fn code_blocks_are_exact() {
    check(
        "```rust\nlet a  =  **b;\n\n# no title\n```\nend",
        "<f>```rust<0>\n<c>let a  =  **b;<0>\n\n<c># no title<0>\n<f>```<0>\nend\n",
    );
    check("~~~~\n```\n~~~~", "<f>~~~~<0>\n<c>```<0>\n<f>~~~~<0>\n");
    check("  ```\n  x\n  ```", "<f>  ```<0>\n<c>  x<0>\n<f>  ```<0>\n");
    // An unclosed block ends with its text.
    let mut markdown = Markdown::new(true, None);
    markdown.push("```\nx");
    markdown.finish();
    assert_eq!(markdown.push("**a**\n"), "\x1b[0;1ma\x1b[0m\n");
}

#[test]
fn an_unclosed_mark_ends_with_its_line() {
    check("**bold\nplain", "<b>bold<0>\nplain\n");
    check("`code\nplain", "<c>code<0>\nplain\n");
    check("ends with *", "ends with *\n");
}

#[test]
fn wraps_at_words() {
    let text = "- a list item that is longer than the line";
    assert_eq!(shown(false, Some(24), text), "- a list item that is\n  longer than the line\n");
    assert_eq!(shown(true, Some(24), text), "• a list item that is\n  longer than the line\n");
    let long = format!("{} b", "x".repeat(40));
    assert_eq!(shown(false, Some(20), &long), format!("{}\nb\n", "x".repeat(40)));
    assert_eq!(shown(false, Some(20), "日本語日本語 日本語日本語"), "日本語日本語\n日本語日本語\n");
    // Too narrow: the terminal breaks lines itself.
    assert_eq!(shown(false, Some(5), "one two three"), "one two three\n");
}

#[test]
fn without_color_the_marks_stay() {
    let text = "# T\n**b** `c` *i*\n> q\n```\nx\n```\n---\n1. one";
    assert_eq!(shown(false, None, text), format!("{text}\n"));
}

#[test]
fn words_are_shown_before_their_line_ends() {
    let mut markdown = Markdown::new(true, Some(80));
    assert_eq!(markdown.push("Hello "), "Hello");
    assert_eq!(markdown.push("wor"), "");
    assert_eq!(markdown.push("ld, again"), " world,");
    assert!(markdown.is_in_line());
    assert_eq!(markdown.finish(), " again\n");
    assert!(!markdown.is_in_line());
}

#[test]
fn control_characters_are_escaped() {
    assert_eq!(shown(true, None, "a\x1b[2Jb"), "a\\u{1b}[2Jb\n");
}
