//! Compiled texts in blocks: where each line comes from, and which budgets change the text.

use std::collections::BTreeSet;

use persona::{
    AssemblyRequest, Block, BlockForm, BlockKind, BudgetPoint, Bundle, Example, Form, LeftOutReason, Preview,
    TokenCounter, View, assemble, blocks, compile_view, limits, preview,
};
use proptest::prelude::*;

use crate::budget::{FourBytes, Words};
use crate::properties::cases::{Case, holds};
use crate::script::{Toks, read};
use crate::wardrobe::{minimal, rich, staged, without_prompt};

/// Counts words, line by line.
struct Lines;

impl TokenCounter for Lines {
    fn tokenizer(&self) -> &'static str {
        "lines"
    }

    fn count(&self, text: &str) -> usize {
        Words.count(text)
    }

    fn is_apart(&self, _: &str) -> bool {
        true
    }
}

const VIEWS: [View; 2] = [View::Summary, View::Detail];

/// The preview of a request, compared with what compiling gives.
#[track_caller]
fn previewed(bundle: &Bundle, request: &AssemblyRequest, counter: &dyn TokenCounter) -> Preview {
    let previewed = preview(bundle, request, counter).expect("its overrides exist");
    let request = AssemblyRequest { form: Form::Text, ..request.clone() };
    let assembled = assemble(bundle, &request, counter).expect("its overrides exist");
    let text = compile_view(&assembled, request.view);
    assert_eq!(joined(&previewed.blocks), text);
    assert_eq!(previewed.blocks, blocks(&assembled, request.view, counter));
    assert_eq!(previewed.tokens(), counter.count(&text), "{text}");
    if let Some(tokens) = assembled.tokens {
        assert_eq!(previewed.tokens(), tokens, "{text}");
    }
    assert_eq!((&previewed.left_out, previewed.over_budget), (&assembled.left_out, assembled.over_budget));
    check_lines(&previewed.blocks);
    previewed
}

fn joined(blocks: &[Block]) -> String {
    blocks.iter().map(|block| block.text.as_str()).collect()
}

/// Blocks are whole lines, their numbers and headings are right, and their ids are unique.
#[track_caller]
fn check_lines(blocks: &[Block]) {
    let mut line = 1;
    for block in blocks {
        assert!(block.text.ends_with('\n'), "{block:?}");
        assert_eq!(block.first_line, line, "{block:?}");
        line += block.text.lines().count();
        if let Some(heading) = &block.heading {
            assert_eq!(block.text.lines().next(), Some(heading.as_str()));
        }
    }
    let ids: BTreeSet<&str> = blocks.iter().map(|block| block.id.as_str()).collect();
    assert_eq!(ids.len(), blocks.len(), "{blocks:?}");
}

/// The blocks of a script, in one line: `layer kind:name` with `@base` and `~` for a summary.
#[track_caller]
fn check(script: &str, expected: &str) {
    let (bundle, request) = read(script);
    let shown = previewed(&bundle, &request, &Toks).blocks.iter().map(origin).collect::<Vec<_>>().join(" | ");
    assert_eq!(shown, expected, "\n  script: {script}");
}

fn origin(block: &Block) -> String {
    let layer = serde_json::to_value(block.origin.layer).expect("a word");
    let base = block.origin.base.as_ref().map(|base| format!("@{base}")).unwrap_or_default();
    let short = if block.form == BlockForm::Summary { "~" } else { "" };
    let Block { id, field, .. } = block;
    format!("{} {}{base} {id}.{field}{short}", layer.as_str().unwrap_or_default(), block.origin.scope)
}

#[test]
fn each_block_has_the_layer_that_supplies_it() {
    check(
        "detail | persona *1 | own tone=warm",
        "own builtin persona:someone.system_prompt | own builtin part:warm.content",
    );
    check("own tone=warm", "own builtin part:warm.summary~");
    check(
        "scope builtin | own tone=warm voice=low > scope shared 3 | own goal=win | detail",
        "base builtin@base-1 part:low.content | base builtin@base-1 part:warm.content | own shared part:win.content",
    );
    check(
        "detail | own tone=warm goal=win | stage goal=rest | arc shared rest=builtin | override tone=dry",
        "override shared part:dry.content | stage builtin part:rest.content",
    );
    check(
        "detail | traits calm | skills sql > scope project | traits calm brave | guardrails honest | from trait:brave=global",
        "own project trait:calm.instruction | own global trait:brave.instruction | base builtin@base-1 skill:sql.content | own project guardrail:honest.content",
    );
}

#[test]
fn a_prompt_that_several_personas_write_has_a_block_for_each() {
    check(
        "scope builtin | prompt Be_kind > scope shared | prompt+ Be_brief > scope project | prompt+ Be_exact | detail",
        "base builtin@base-1 persona:builtin:base-1.system_prompt | base shared@base-2 persona:shared:base-2.system_prompt | own project persona:someone.system_prompt",
    );
    check(
        "prompt Be_kind > prompt Be_brief > own tone=warm | detail",
        "base builtin@base-2 persona:builtin:base-2.system_prompt | own builtin part:warm.content",
    );
    check(
        "set detail=All summary=Short > set description=Other | detail",
        "base builtin@base-1 persona:builtin:base-1.detail",
    );
    check("set detail=All > set summary=Short", "own builtin persona:someone.summary~");
    check(
        "set examples=Ahoy | prompt Hi > prompt Ho | detail",
        "own builtin persona:someone.system_prompt | base builtin@base-1 example:1.examples",
    );
}

/// A fence that a base leaves open swallows what follows, so both are cleaned as one.
#[test]
fn a_fence_may_reach_from_one_block_into_the_next() {
    let (mut bundle, request) = read("prompt a > prompt+ b | detail");
    bundle.bases[0].persona.system_prompt = Some("Run:\n```\nmake\n\n".to_owned());
    bundle.persona.system_prompt = Some("\n\n  make check".to_owned());
    let previewed = previewed(&bundle, &request, &Words);
    let texts: Vec<&str> = previewed.blocks.iter().map(|block| block.text.as_str()).collect();
    assert_eq!(texts, ["Run:\n```\nmake\n\n", "\n\n  make check\n```\n"]);
}

#[test]
fn golden_personas_are_made_of_their_blocks() {
    let mut with_examples = rich();
    let example = |user: &str, persona: &str| Example { user: user.to_owned(), persona: persona.to_owned() };
    with_examples.persona.examples = vec![example("Hi.", "Good day."), example("Why?", "- one\n- two")];
    for bundle in [rich(), staged(), without_prompt(), minimal(), with_examples] {
        for view in VIEWS {
            for counter in [&FourBytes as &dyn TokenCounter, &Lines] {
                let request = AssemblyRequest::plain(view);
                let all = previewed(&bundle, &request, counter);
                for max_tokens in (0..=all.tokens()).step_by(9) {
                    previewed(
                        &bundle,
                        &AssemblyRequest { max_tokens: Some(max_tokens), ..request.clone() },
                        counter,
                    );
                }
            }
        }
    }
    let kinds: BTreeSet<BlockKind> = previewed(&rich(), &AssemblyRequest::plain(View::Detail), &Words)
        .blocks
        .iter()
        .map(|block| block.kind)
        .collect();
    assert!(kinds.len() >= 5, "{kinds:?}");
}

#[test]
fn random_personas_are_made_of_their_blocks() {
    holds(|case| {
        for request in
            [case.whole(), case.with_types(), case.with_limit(), case.with_max_tokens(), case.with_all()]
        {
            for counter in [&FourBytes as &dyn TokenCounter, &Lines] {
                let previewed = previewed(&case.bundle, &request, counter);
                let reasons = previewed.left_out.iter().map(|piece| piece.reason);
                prop_assert!(
                    request.max_tokens.is_some() || !reasons.clone().any(|it| it == LeftOutReason::MaxTokens)
                );
            }
        }
        Ok(())
    });
}

/// The names that a budget leaves out.
fn left_out(
    bundle: &Bundle,
    request: &AssemblyRequest,
    max_tokens: usize,
    counter: &dyn TokenCounter,
) -> (Vec<String>, usize) {
    let request = AssemblyRequest { form: Form::Text, max_tokens: Some(max_tokens), ..request.clone() };
    let assembled = assemble(bundle, &request, counter).expect("its overrides exist");
    let by_budget = assembled.left_out.iter().filter(|piece| piece.reason == LeftOutReason::MaxTokens);
    (by_budget.map(persona::LeftOut::id).collect(), assembled.tokens.expect("a budget counts"))
}

/// Each point is the smallest budget for what it keeps, and leaves out what the one before does and more.
fn check_points(
    case: &Case,
    request: &AssemblyRequest,
    counter: &dyn TokenCounter,
) -> Result<usize, TestCaseError> {
    let all = previewed(&case.bundle, request, counter);
    let points = &all.budget_points;
    prop_assert!(
        points.is_sorted_by(|a, b| a.max_tokens > b.max_tokens && a.tokens > b.tokens),
        "{:?}",
        points
    );
    let mut before = (Vec::new(), all.tokens());
    for point in points {
        let found = left_out(&case.bundle, request, point.max_tokens, counter);
        prop_assert_eq!(&found, &(point.left_out.clone(), point.tokens));
        prop_assert!(point.left_out.len() > before.0.len() && point.tokens < before.1, "{:?}", points);
        prop_assert!(before.0.iter().all(|id| point.left_out.contains(id)), "{:?}", points);
        prop_assert_eq!(point.tokens, point.max_tokens, "nothing else fits");
        if let Some(less) = point.max_tokens.checked_sub(1) {
            let request = AssemblyRequest { form: Form::Text, max_tokens: Some(less), ..request.clone() };
            let assembled = assemble(&case.bundle, &request, counter).expect("its overrides exist");
            let ids: Vec<String> = assembled.left_out.iter().map(persona::LeftOut::id).collect();
            let is_other = ids != point.left_out || !assembled.shortened.is_empty();
            prop_assert!(is_other || assembled.over_budget, "{:?} at {}", point, less);
        }
        before = found;
    }
    if let Some(last) = points.last() {
        let (out, tokens) = left_out(&case.bundle, request, 0, counter);
        prop_assert!(last.left_out.iter().all(|id| out.contains(id)) && tokens <= last.tokens, "{:?}", last);
    }
    Ok(points.len())
}

#[test]
fn budget_points_are_where_pieces_drop() {
    let seen = std::cell::Cell::new(0);
    holds(|case| {
        for request in [case.whole(), case.with_limit()] {
            for counter in [&Words as &dyn TokenCounter, &Lines] {
                seen.set(seen.get() + check_points(case, &request, counter)?);
            }
        }
        Ok(())
    });
    assert!(seen.get() > 1_000, "only {} points", seen.get());
}

#[test]
fn a_budget_point_names_what_drops() {
    let (bundle, request) = read("own tone=a/3*2 voice=b/2*3 goal=c/1*1 | guardrails honest*1");
    let points = previewed(&bundle, &request, &Toks).budget_points;
    let point = |max_tokens, tokens, out: &[&str]| BudgetPoint {
        max_tokens,
        tokens,
        left_out: out.iter().map(|id| (*id).to_owned()).collect(),
    };
    assert_eq!(
        points,
        [
            point(6, 6, &["part:c"]),
            point(3, 3, &["part:b", "part:c"]),
            point(1, 1, &["part:a", "part:b", "part:c"]),
        ]
    );
    let (bundle, request) = read("own tone=a*0 voice=b*0");
    assert_eq!(
        previewed(&bundle, &request, &Toks).budget_points,
        [],
        "without a text there is nothing to drop"
    );
}

/// With more pieces than points, the points are spread over the whole range.
#[test]
fn the_points_of_a_large_persona_are_spread() {
    let parts: Vec<String> = (0..200).map(|at| format!("tone=p{at:03}*{}", 1 + at * 7 % 13)).collect();
    let (bundle, request) = read(&format!("own {} | guardrails honest*5", parts.join(" ")));
    let all = previewed(&bundle, &request, &Lines);
    let points = &all.budget_points;
    assert_eq!(points.len(), limits::BUDGET_POINTS);
    assert!(points.is_sorted_by(|a, b| a.max_tokens > b.max_tokens));
    assert_eq!(points.last().map(|point| point.left_out.len()), Some(200));
    for point in points {
        let found = left_out(&bundle, &request, point.max_tokens, &Lines);
        assert_eq!(found, (point.left_out.clone(), point.tokens));
    }
    let gap = points.windows(2).map(|pair| pair[0].max_tokens - pair[1].max_tokens).max();
    assert!(gap.is_some_and(|gap| gap < all.tokens() / 10), "{gap:?}");
}
