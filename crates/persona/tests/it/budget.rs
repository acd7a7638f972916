//! `max_tokens`: the answer is filled by priority until it is full.

use persona::{
    AssemblyRequest, Budget, Bundle, Form, LeftOutKind, TokenCounter, View, assemble, budget, compile_view,
    view,
};

use crate::script::{Toks, check, name, read};

#[test]
fn a_persona_within_budget_is_complete() {
    check("own tone=a*2 voice=b*3 | max 5", "tone=a voice=b | 5 tokens");
    check("own tone=a*2 voice=b*3 | max 500", "tone=a voice=b | 5 tokens");
    check("max 0", " | 0 tokens");
}

#[test]
fn the_lowest_priority_goes_first() {
    check("own tone=a/1 tone=b/3 tone=c/2 | max 2", "tone=b tone=c | max a | 2 tokens");
    check("own tone=a/1 tone=b/3 tone=c/2 | max 1", "tone=b | max a c | 1 tokens");
    check("own tone=a/1 tone=b/3 tone=c/2 | max 0", " | max a b c | 0 tokens");
    check("own tone=a/-1 tone=b/-3 | max 1", "tone=a | max b | 1 tokens");
}

#[test]
fn equal_priorities_go_last_first() {
    check("own tone=a tone=b tone=c | max 2", "tone=a tone=b | max c | 2 tokens");
    check("own tone=a@3 tone=b@2 tone=c@1 | max 2", "tone=c tone=b | max a | 2 tokens");
    check("own tone=warm | stage voice=low | max 1", "tone=warm | max low | 1 tokens");
}

#[test]
fn a_smaller_piece_of_lower_priority_is_still_tried() {
    check("own tone=a/3*2 tone=b/2*5 tone=c/1*1 | max 4", "tone=a tone=c | max b | 3 tokens");
    check("own tone=a/3*9 tone=b/2*1 | max 4", "tone=b | max a | 1 tokens");
    check("own tone=a/9*9 tone=b/8*2 tone=c/7*9 tone=d/6*2 | max 4", "tone=b tone=d | max a c | 4 tokens");
}

#[test]
fn before_a_piece_is_dropped_its_summary_is_tried() {
    check("detail | own tone=a/2 voice=b/1 | max 11", "tone=a voice=b~ | 11 tokens");
    check("detail | own tone=a/2*3 voice=b/1 | max 13", "tone=a~ voice=b | 13 tokens");
    check("detail | own tone=a/2 voice=b/1*2 | max 11", "tone=a | max b | 10 tokens");
    check("detail | traits calm | skills sql | max 2", "trait:calm~ skill:sql~ | 2 tokens");
    // Guardrails and overrides are not optional, and stay whole.
    check("detail | guardrails honest | max 5", "guardrail:honest | 10 tokens | over budget");
    check("detail | override tone=dry | max 5", "tone=dry | 10 tokens | over budget");
}

#[test]
fn own_pieces_outrank_inherited_ones_of_equal_priority() {
    check("own tone=a > append tone=b | max 1", "tone=b | max a | 1 tokens");
    // Without a priority, an appended part ranks with the most important one that it joins.
    check("own tone=a/1 > append tone=b | max 1", "tone=b | max a | 1 tokens");
    check("own goal=a/1 > append tone=b | max 1", "tone=b | max a | 1 tokens");
    check("own tone=a/1 > append tone=b/-1 | max 1", "tone=a | max b | 1 tokens");
    check("own tone=a > append tone=b | limit 1", "tone=b | limit a");
    check("traits calm > traits kind | max 1", "trait:kind | max trait:calm | 1 tokens");
    check("skills sql > skills css | max 1", "skill:css | max skill:sql | 1 tokens");
}

#[test]
fn traits_and_skills_count_as_priority_0_after_the_parts() {
    let pieces = "own tone=a | traits calm kind | skills sql css";
    check(&format!("{pieces} | max 4"), "tone=a trait:calm trait:kind skill:sql | max skill:css | 4 tokens");
    check(&format!("{pieces} | max 3"), "tone=a trait:calm trait:kind | max skill:sql skill:css | 3 tokens");
    check(&format!("{pieces} | max 2"), "tone=a trait:calm | max trait:kind skill:sql skill:css | 2 tokens");
    check(&format!("{pieces} | max 1"), "tone=a | max trait:calm trait:kind skill:sql skill:css | 1 tokens");
    check(&format!("{pieces} | max 0"), " | max a trait:calm trait:kind skill:sql skill:css | 0 tokens");
    // A part below 0 goes before them.
    check("own tone=a/-1 | traits calm | skills sql | max 2", "trait:calm skill:sql | max a | 2 tokens");
    check("own tone=a/1 tone=b/-1 | traits calm | max 1", "tone=a | max b trait:calm | 1 tokens");
}

#[test]
fn guardrails_are_never_dropped() {
    check("own tone=a/9 | guardrails honest*5 | max 6", "tone=a guardrail:honest | 6 tokens");
    check("own tone=a/9 | guardrails honest*5 | max 5", "guardrail:honest | max a | 5 tokens");
    check("own tone=a/9 | guardrails honest*5 | max 4", "guardrail:honest | max a | 5 tokens | over budget");
    check("guardrails honest kind | max 1", "guardrail:honest guardrail:kind | 2 tokens | over budget");
}

#[test]
fn overrides_are_never_dropped() {
    check("own tone=a/9 voice=b/-9 | override voice=low*3 | max 3", "voice=low | max a | 3 tokens");
    check("own tone=a/9 | override goal=win*3 | max 4", "tone=a goal=win | 4 tokens");
    check("own tone=a/9 | override goal=win*3 | max 2", "goal=win | max a | 3 tokens | over budget");
    check("override goal=win*3 | max 0", "goal=win | 3 tokens | over budget");
}

#[test]
fn parts_of_a_stage_have_the_rank_of_the_replaced() {
    check("own tone=warm/9 voice=low/5 | stage tone=cold | max 1", "tone=cold | max low | 1 tokens");
    check("own tone=warm/1 voice=low/5 | stage tone=cold | max 1", "voice=low | max cold | 1 tokens");
    check("own voice=low/-1 | stage tone=cold | max 1", "tone=cold | max low | 1 tokens");
}

#[test]
fn examples_go_first_and_the_last_of_them_before_the_others() {
    let pieces = "detail | set examples=tok,tok | own tone=a/-9";
    check(&format!("{pieces} | max 12"), "tone=a | 12 tokens");
    check(&format!("{pieces} | max 11"), "tone=a | max example:2 | 11 tokens");
    check(&format!("{pieces} | max 10"), "tone=a | max example:1 example:2 | 10 tokens");
    check(&format!("{pieces} | max 9"), "tone=a~ | 3 tokens");
    check(&format!("{pieces} | max 0"), " | max a example:1 example:2 | 0 tokens");
    check("detail | set examples=tok | traits calm | max 10", "trait:calm | max example:1 | 10 tokens");
    // A summary shows no examples, so none are left out of it.
    check("set examples=tok | own tone=a | max 1", "tone=a | 1 tokens");
    check("set examples=tok | own tone=a | max 0", " | max a | 0 tokens");
    // The other filters are about parts.
    check("detail | set examples=tok | own tone=a | limit 0 | max 1", " | limit a | 1 tokens");
}

#[test]
fn the_persona_itself_counts() {
    check("persona *3 | own tone=a voice=b | max 4", "tone=a | max b | 4 tokens");
    check("persona *3 | own tone=a | max 2", " | max a | 3 tokens | over budget");
}

#[test]
fn the_view_that_is_asked_for_is_counted() {
    check("persona *1 | own tone=a voice=b | max 15", "tone=a voice=b | 3 tokens");
    check("detail | persona *1 | own tone=a voice=b | max 29", "tone=a voice=b~ | 21 tokens");
    check(
        "detail | own tone=a | traits calm | skills sql | guardrails honest | max 40",
        "tone=a trait:calm skill:sql guardrail:honest | 40 tokens",
    );
}

#[test]
fn it_speaks_after_types_and_limit() {
    check(
        "own tone=a/1 tone=b/2 tone=c/3 voice=d/9 | types tone | limit 2 | max 1",
        "tone=c | types d | limit a | max b | 1 tokens",
    );
    check("own tone=a/1 tone=b/2 | limit 1 | max 9", "tone=b | limit a | 1 tokens");
    check("own tone=a | override goal=win | limit 0 | max 9", "goal=win | limit a | 1 tokens | over budget");
    check(
        "own tone=a | override goal=win*2 flaw=vain*2 | limit 1 | max 3",
        "goal=win flaw=vain | limit a | 4 tokens | over budget",
    );
}

#[test]
fn kept_parts_are_in_assembly_order() {
    check("own tone=a/1 voice=b/2 goal=c/3 flaw=d/4 | max 3", "voice=b goal=c flaw=d | max a | 3 tokens");
    check("own tone=z@1/1 tone=m@2/9 tone=a@3/5 | max 2", "tone=m tone=a | max z | 2 tokens");
}

/// Counts words between blanks.
pub(crate) struct Words;

impl TokenCounter for Words {
    fn tokenizer(&self) -> &'static str {
        "words"
    }

    fn count(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

/// Counts four bytes as a token, as a rule of thumb does.
pub(crate) struct FourBytes;

impl TokenCounter for FourBytes {
    fn tokenizer(&self) -> &'static str {
        "four bytes"
    }

    fn count(&self, text: &str) -> usize {
        text.len().div_ceil(4)
    }
}

/// The answer as its caller receives it.
pub(crate) fn received(
    bundle: &Bundle,
    request: &AssemblyRequest,
    counter: &dyn TokenCounter,
) -> (String, Budget) {
    let assembled = assemble(bundle, request, counter).expect("its overrides exist");
    let budget = budget(&assembled, request, counter.tokenizer()).expect("a budget was given");
    let answer = match request.form {
        Form::Text => compile_view(&assembled, request.view),
        Form::Pieces | Form::Compiled => {
            serde_json::to_string(&view(&assembled, request, counter.tokenizer())).expect("JSON")
        }
    };
    (answer, budget)
}

#[test]
fn the_count_is_that_of_the_whole_answer() {
    let (bundle, _) = read(
        "persona *5 | own tone=a/3*9 voice=b/2*20 goal=c/1*3 | stage tone=cold*4 | traits calm*3 | skills sql*7 | guardrails honest*2",
    );
    let mut seen = [0; 2];
    for asked in [View::Summary, View::Detail] {
        for form in [Form::Pieces, Form::Compiled, Form::Text] {
            for max_tokens in (0..400).step_by(7) {
                for counter in [&Words as &dyn TokenCounter, &FourBytes] {
                    let max = Some(max_tokens);
                    let request =
                        AssemblyRequest { view: asked, form, max_tokens: max, ..AssemblyRequest::default() };
                    let (answer, budget) = received(&bundle, &request, counter);
                    assert_eq!(budget.tokens, Some(counter.count(&answer)), "{answer}");
                    assert_eq!(budget.tokenizer.as_deref(), Some(counter.tokenizer()));
                    assert_eq!(budget.over_budget, counter.count(&answer) > max_tokens, "{answer}");
                    seen[usize::from(budget.over_budget)] += 1;
                }
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

#[test]
fn left_out_names_pieces_and_their_tokens() {
    let (bundle, request) =
        read("own tone=a/1*3 voice=b*2 goal=c | traits calm*2 | types tone voice | max 3");
    let (_, budget) = received(&bundle, &request, &Toks);
    assert_eq!(
        serde_json::to_value(&budget).expect("JSON"),
        serde_json::json!({
            "tokens": 3, "tokenizer": "toks", "over_budget": false,
            "left_out": { "part": { "b": 2 }, "trait": { "calm": 2 } },
        })
    );
    let (bundle, request) = read("detail | own tone=a | max 1");
    let (_, budget) = received(&bundle, &request, &Toks);
    assert_eq!(budget.shortened, [(LeftOutKind::Part, vec![name("a")])].into());
}

/// Many names can exceed a budget by themselves.
#[test]
fn names_that_do_not_fit_are_counted() {
    let skills: Vec<String> = (0..200).map(|at| format!("skill-number-{at}*9")).collect();
    let (bundle, _) = read(&format!("own tone=a/9*3 | skills {}", skills.join(" ")));
    let request = AssemblyRequest { max_tokens: Some(150), ..AssemblyRequest::default() };
    let (answer, budget) = received(&bundle, &request, &FourBytes);
    assert!(FourBytes.count(&answer) <= 150 && !budget.over_budget, "{answer}");
    assert!(answer.contains("tok tok tok") && budget.left_out.is_empty(), "{answer}");
    assert!(budget.left_out_count.is_some_and(|count| count > 150), "{answer}");
}
