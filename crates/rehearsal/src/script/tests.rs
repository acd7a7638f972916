use serde_json::json;

use super::*;
use crate::protocol::{Framing, Protocol, ReplyCall};
use crate::rendered_reply::{RenderedReply, ReplyPiece};
use crate::request_content::{self, RequestContent};

/// Asserts the place of the error in a script.
#[track_caller]
fn wrong(text: &str, place: (usize, usize)) {
    let error = Script::parse(text).expect_err("an invalid script");
    assert_eq!((error.line, error.column), place, "{error}");
}

/// Invalid scripts, each with the place of its error.
const INVALID: [(&str, (usize, usize)); 37] = [
    ("[[reply]]\ntxt = 'a'", (2, 1)),
    ("[[reply]]\ntext = 'a'\nwhen = { lastuser = 'a' }", (3, 10)),
    ("strickt = true", (1, 1)),
    ("[[reply]]\ntext = 3", (2, 8)),
    ("[[reply]]\ntext = 'a", (2, 10)),
    ("[[reply]]\ntext = 'a'\nwhen = { last_user = '/(/' }", (3, 22)),
    ("[[reply]]\ntext = 'a'\n\n[[reply]]\nwhen = { call = 1 }", (4, 1)),
    ("[[reply]]\ntext = 'a'\nsay = [{ text = 'b' }]", (3, 7)),
    ("[[reply]]\nsay = [{ text = 'b', tool = 'c' }]", (2, 8)),
    ("[[reply]]\nsay = [{ id = 'b' }]", (2, 8)),
    ("[[reply]]\nsay = [{ tool = '' }]", (2, 17)),
    ("[[reply]]\ntext = 'a {{who}}'", (2, 8)),
    ("[[reply]]\nsay = [{ tool = 'a', input = { b = ['{{who}}'] } }]", (2, 30)),
    ("[[reply]]\ntext = 'a'\nstop = 'later'", (3, 8)),
    ("[[reply]]\ntext = 'a'\ntimes = 0", (3, 9)),
    ("[[reply]]\ntext = 'a'\nwhen = { call = 0 }", (3, 17)),
    ("[[reply]]\ntext = 'a'\nwhen = { request = 0 }", (3, 20)),
    ("[[reply]]\ntext = 'a'\nwhen = { mode = 'think' }", (3, 17)),
    ("[[reply]]\ntext = 'a'\npace_ms = 1\ntokens_per_second = 2", (4, 21)),
    ("[[reply]]\ntext = 'a'\ntokens_per_second = 0.0", (3, 21)),
    ("[[reply]]\ntext = 'a'\ntokens_per_second = -1.0", (3, 21)),
    ("[[reply]]\ntext = 'a'\nfirst_token_ms = 3600001", (3, 18)),
    ("[[reply]]\ntext = 'a'\nusage = { input = 1, cache_read = 2 }", (3, 9)),
    ("größe = 1\n", (1, 3)),
    ("[[reply]]\ntext = 'ü' x", (2, 12)),
    ("[[reply]]\nfault = {}", (2, 9)),
    ("[[reply]]\nfault = { status = 429, cut_after = 1 }", (2, 9)),
    ("[[reply]]\nfault = { retry_after_s = 1 }", (2, 9)),
    ("[[reply]]\nfault = { clean = true, stall_ms = 1 }", (2, 9)),
    ("[[reply]]\nfault = { after = 1 }", (2, 9)),
    ("[[reply]]\nfault = { error_event = 'a', cut_after = 1 }", (2, 9)),
    ("[[reply]]\nfault = { error_event = '' }", (2, 9)),
    ("[[reply]]\nfault = { status = 200 }", (2, 20)),
    ("[[reply]]\nfault = { stall_ms = 99999999 }", (2, 22)),
    ("[[reply]]\nfault = { content_type = \"a\\nb\" }", (2, 26)),
    ("[[reply]]\nfault = { cut_afer = 1 }", (2, 11)),
    ("[[reply]]\ntext = 'a'\nwhen = { system = '/(a{999}){999}/' }", (3, 19)),
];

#[test]
fn errors_have_positions() {
    for (text, place) in INVALID {
        wrong(text, place);
    }
}

/// The sentences of the same errors, in one snapshot.
#[test]
fn sentences() {
    let line = |(text, _): (&str, _)| {
        let error = Script::parse(text).expect_err("an invalid script");
        format!("## {}\n{error}\n\n", text.trim_end().replace('\n', " ⏎ "))
    };
    insta::assert_snapshot!(INVALID.map(line).concat());
}

#[test]
fn scripts_have_limits() {
    let long = format!("# {}", "a".repeat(limits::SCRIPT_BYTES));
    wrong(&long, (0, 0));
    let replies = |count: usize| "[[reply]]\ntext = 'a'\n".repeat(count);
    assert!(Script::parse(&replies(limits::REPLIES)).is_ok());
    wrong(&replies(limits::REPLIES + 1), (2 * limits::REPLIES + 1, 1));
    let pieces = |count: usize| format!("[[reply]]\nsay = [{}]", "{ text = 'a' },".repeat(count));
    assert!(Script::parse(&pieces(limits::PIECES)).is_ok());
    wrong(&pieces(limits::PIECES + 1), (2, 7));
    let pattern =
        |bytes: usize| format!("[[reply]]\ntext = 'a'\nwhen = {{ system = '{}' }}", "a".repeat(bytes));
    assert!(Script::parse(&pattern(limits::PATTERN_BYTES)).is_ok());
    wrong(&pattern(limits::PATTERN_BYTES + 1), (3, 19));
}

fn received(messages: &serde_json::Value) -> RequestContent {
    let call = ReplyCall { protocol: Protocol::Anthropic, model: None, framing: Framing::AsRequested };
    let body = json!({
        "model": "claude-9",
        "max_tokens": 100,
        "stream": true,
        "system": "You list files.\n<system-reminder>Plan.</system-reminder>",
        "tools": [{ "name": "list_files" }, { "name": "read_file" }],
        "messages": messages,
    });
    request_content::read(&call, &body).expect("a request")
}

fn first() -> RequestContent {
    received(&json!([{ "role": "user", "content": "list the files" }]))
}

fn after_a_tool() -> RequestContent {
    received(&json!([
        { "role": "user", "content": "list the files" },
        { "role": "assistant", "content": [
            { "type": "tool_use", "id": "1", "name": "list_files", "input": {} },
            { "type": "tool_use", "id": "2", "name": "read_file", "input": {} },
        ] },
        { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "1", "content": "a.rs" },
            { "type": "tool_result", "tool_use_id": "2", "content": [{ "type": "text", "text": "fn main" }] },
        ] },
    ]))
}

#[track_caller]
fn holds(when: &str, received: &RequestContent, expected: bool) {
    let script = Script::parse(&format!("[[reply]]\ntext = 'a'\nwhen = {when}")).expect("a script");
    assert_eq!(script.replies[0].when.holds(received, 7), expected, "{when}");
}

#[test]
fn replies_match_their_conditions() {
    let received = first();
    for (when, expected) in [
        ("{}", true),
        ("{ last_user = 'the files' }", true),
        ("{ last_user = 'The files' }", false),
        ("{ last_user = '/(?i)THE/' }", true),
        ("{ last_user = '/^the/' }", false),
        ("{ last_user = '' }", true),
        ("{ system = 'You list' }", true),
        ("{ system = 'You write' }", false),
        ("{ model = '/^claude-\\d$/' }", true),
        ("{ model = 'gpt' }", false),
        ("{ tools = ['list_files', 'read_file'] }", true),
        ("{ tools = ['list_files', 'write_file'] }", false),
        ("{ no_tools = true }", false),
        ("{ no_tools = false }", true),
        ("{ no_tools = ['write_file'] }", true),
        ("{ no_tools = ['write_file', 'read_file'] }", false),
        ("{ call = 1 }", true),
        ("{ call = 2 }", false),
        ("{ request = 7 }", true),
        ("{ request = 1 }", false),
        ("{ mode = 'plan' }", true),
        ("{ mode = 'build' }", false),
        ("{ protocol = 'anthropic' }", true),
        ("{ protocol = 'openai-chat' }", false),
        ("{ stream = true }", true),
        ("{ stream = false }", false),
        ("{ tool_result = '' }", false),
        ("{ tool_result_of = 'list_files' }", false),
        ("{ last_user = 'files', call = 2 }", false),
    ] {
        holds(when, &received, expected);
    }
}

#[test]
fn tool_results_take_precedence_over_the_users_text() {
    let received = after_a_tool();
    for (when, expected) in [
        ("{ last_user = 'files' }", false),
        ("{ last_user = 'files', tool_result = 'a.rs' }", true),
        ("{ last_user = 'files', call = 2 }", true),
        ("{ tool_result = '' }", true),
        ("{ tool_result = 'a.rs', tool_result_of = 'list_files' }", true),
        ("{ tool_result = 'a.rs', tool_result_of = 'read_file' }", false),
        ("{ tool_result = '/^fn/', tool_result_of = 'read_file' }", true),
        ("{ tool_result_of = 'write_file' }", false),
    ] {
        holds(when, &received, expected);
    }
}

fn answered(script: &str, received: &RequestContent) -> RenderedReply {
    let script = Script::parse(script).expect("a script");
    RenderedReply::new(&script.replies[0], received, 400, "s".to_owned(), 1)
}

#[test]
fn places_are_filled_in_texts_and_in_inputs() {
    let script = r#"
[[reply]]
reasoning = "{{ model }} thinks"
say = [
  { text = "{{last_user}}! {{tool_result}} {{call}} {{ not: a place }} {{" },
  { tool = "t", id = "own", input = { path = "{{tool_result}}", when = 2026-01-02, deep = [{ n = 1.5 }] } },
]"#;
    let answer = answered(script, &after_a_tool());
    let expected = [
        ReplyPiece::Reasoning("claude-9 thinks".to_owned()),
        ReplyPiece::Text("list the files! a.rs\nfn main 2 {{ not: a place }} {{".to_owned()),
        ReplyPiece::Tool {
            id: Some("own".to_owned()),
            name: "t".to_owned(),
            input: r#"{"deep":[{"n":1.5}],"path":"a.rs\nfn main","when":"2026-01-02"}"#.to_owned(),
        },
    ];
    assert_eq!(answer.pieces, expected);
    assert_eq!(answer.stop, StopReason::ToolUse);
}

#[test]
fn usage_is_estimated_unless_set() {
    let usage = |script: &str| {
        let usage = answered(script, &first()).usage;
        (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
    };
    assert_eq!(usage("[[reply]]\ntext = '12345678'"), (100, 2, 0, 0));
    assert_eq!(usage("[[reply]]\ntext = ''"), (100, 1, 0, 0));
    assert_eq!(
        usage("[[reply]]\ntext = 'a'\nusage = { cache_read = 90, cache_write = 20 }"),
        (110, 1, 90, 20)
    );
    assert_eq!(usage("[[reply]]\ntext = 'a'\nusage = { input = 5, output = 6 }"), (5, 6, 0, 0));
}

#[test]
fn malformed_input_is_never_json() {
    for input in ["{}", "{ a = 1 }", "{ a = 'ü' }", "{ path = 'ääääääääää' }"] {
        let script = format!(
            "[[reply]]\nsay = [{{ tool = 'a', input = {input} }}]\nfault = {{ malformed_tool_json = true }}"
        );
        let answer = answered(&script, &first());
        let [ReplyPiece::Tool { input, .. }] = &answer.pieces[..] else { panic!("a tool, not {answer:?}") };
        assert!(serde_json::from_str::<serde_json::Value>(input).is_err(), "{input:?}");
    }
}

#[test]
fn the_shipped_script_always_names_itself() {
    let script = Script::parse(include_str!("../builtin.toml")).expect("the shipped script");
    for reply in &script.replies {
        let answer = RenderedReply::new(reply, &first(), 10, String::new(), 0);
        let Some(ReplyPiece::Text(text)) = answer.pieces.first() else { panic!("a text, not {answer:?}") };
        assert!(text.trim_start().starts_with("Rehearsal: no model"), "{text}");
    }
    let Some(last) = script.replies.last() else { panic!("no replies") };
    let answer = RenderedReply::new(last, &first(), 10, String::new(), 0);
    for words in [
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "Ollama",
        "[providers.NAME]",
        "masque doctor",
        "masque models",
    ] {
        assert!(answer.pieces[0].text().contains(words), "{words}");
    }
}

#[test]
fn the_shipped_script_shows_a_tool_call_where_there_are_tools() {
    let script = Script::builtin();
    let chosen = |received: &RequestContent| {
        let reply = script.replies.iter().find(|reply| reply.when.holds(received, 1)).expect("a reply");
        RenderedReply::new(reply, received, 10, String::new(), 0)
    };
    let call = chosen(&first());
    assert_eq!(call.stop, StopReason::ToolUse);
    let after = chosen(&after_a_tool());
    assert_eq!(after.stop, StopReason::EndTurn);
    assert!(after.pieces[0].text().contains("a.rs"));
    let without = chosen(&RequestContent { tools: Vec::new(), ..first() });
    assert_eq!(without.stop, StopReason::EndTurn);
}
