//! `types`, then `limit`: kept parts are in assembly order, dropped ones are reported.

use crate::script::{check, check_places};

#[test]
fn types_keeps_only_those_types() {
    check("own tone=warm voice=low | types tone", "tone=warm | types low");
    check("own tone=a voice=b tone=c goal=d | types goal tone", "tone=a tone=c goal=d | types b");
    check("own tone=warm | types voice", " | types warm");
    check("own tone=warm | types tone tone", "tone=warm");
    check("types tone", "");
}

#[test]
fn types_says_nothing_about_traits_skills_and_guardrails() {
    check(
        "own tone=warm | traits calm | skills sql | guardrails honest | types goal",
        "trait:calm skill:sql guardrail:honest | types warm",
    );
}

#[test]
fn types_speaks_after_the_layers() {
    check("own tone=warm voice=low | stage tone=cold | types tone", "tone=cold | types low");
    check("own tone=warm voice=low | override tone=dry | types tone", "tone=dry | types low");
    // The caller asked for a part and for types that it is not of; the types are the later word.
    check("own voice=low | override tone=dry | types voice", "voice=low | types dry");
}

#[test]
fn limit_keeps_the_top_by_priority() {
    check("own tone=a/1 tone=b/3 tone=c/2 | limit 1", "tone=b | limit a c");
    check("own tone=a/1 tone=b/3 tone=c/2 | limit 2", "tone=b tone=c | limit a");
    check("own tone=a/1 tone=b/3 tone=c/2 | limit 3", "tone=a tone=b tone=c");
    check("own tone=a/1 tone=b/3 tone=c/2 | limit 99", "tone=a tone=b tone=c");
    check("own tone=a/1 tone=b/3 tone=c/2 | limit 0", " | limit a b c");
    check("own tone=a/-1 tone=b/-3 tone=c/-2 | limit 2", "tone=a tone=c | limit b");
    check("limit 5", "");
}

#[test]
fn limited_parts_are_in_assembly_order() {
    check("own tone=a/1 voice=b/2 goal=c/3 flaw=d/4 | limit 3", "voice=b goal=c flaw=d | limit a");
    check("own tone=z@1/1 tone=m@2/9 tone=a@3/5 | limit 2", "tone=m tone=a | limit z");
}

#[test]
fn equal_priorities_go_by_assembly_order() {
    check("own tone=a tone=b tone=c | limit 2", "tone=a tone=b | limit c");
    check("own tone=a@3 tone=b@2 tone=c@1 | limit 2", "tone=c tone=b | limit a");
    check("own tone=a@1/5 tone=b@2/7 tone=c@3/5 | limit 2", "tone=a tone=b | limit c");
    check("own tone=warm@1 | stage voice=low | limit 1", "tone=warm | limit low");
}

/// A stage or an override may have another part of the name that one of the persona's own has.
#[test]
fn limit_tells_namesakes_apart() {
    check("own tone=x@1/1 | stage goal=x | limit 1", "tone=x | limit x");
    check("own tone=x@1/1 goal=y@2/5 | stage goal=x | limit 1", "goal=x | limit x");
    check("own tone=x@1/9 flaw=z@2/1 | override goal=x | limit 1", "goal=x | limit x z");
    check("own tone=x@1/9 flaw=z@2/1 | override goal=x | limit 2", "tone=x goal=x | limit z");
}

#[test]
fn limit_counts_parts_only() {
    check(
        "own tone=a tone=b | traits calm kind | skills sql | guardrails honest | limit 1",
        "tone=a trait:calm trait:kind skill:sql guardrail:honest | limit b",
    );
}

#[test]
fn limit_speaks_after_types() {
    // Before types, limit would have kept b and c, and types none of them.
    check("own tone=a/1 voice=b/9 voice=c/8 | types tone | limit 2", "tone=a | types b c");
    check("own tone=a/1 voice=b/9 tone=c/2 | types tone | limit 1", "tone=c | types b | limit a");
    check(
        "own tone=a voice=b tone=c goal=d | types tone voice | limit 2",
        "tone=a voice=b | types d | limit c",
    );
}

#[test]
fn limit_ranks_parts_of_a_stage_like_the_replaced() {
    check("own tone=warm/9 voice=low/5 | stage tone=cold | limit 1", "tone=cold | limit low");
    check("own tone=warm/1 voice=low/5 | stage tone=cold | limit 1", "voice=low | limit cold");
    check("own voice=low/5 flaw=vain/-1 | stage tone=cold | limit 2", "voice=low tone=cold | limit vain");
    check(
        "own tone=warm/9 voice=low/5 | stage tone=cold tone=bleak | limit 2",
        "tone=cold tone=bleak | limit low",
    );
}

#[test]
fn limit_never_drops_an_override() {
    check("own tone=a/9 voice=b/8 | override goal=win | limit 2", "tone=a goal=win | limit b");
    check("own tone=a/9 voice=b/8 | override goal=win | limit 1", "goal=win | limit a b");
    check("own tone=a/9 voice=b/-9 | override voice=low | limit 1", "voice=low | limit a");
    check("own tone=a/9 | override goal=win | limit 0", "goal=win | limit a | over budget");
    check("override goal=win tone=dry flaw=vain | limit 2", "tone=dry goal=win flaw=vain | over budget");
    check("override goal=win tone=dry | limit 2", "tone=dry goal=win");
    // An override that the types exclude takes no place under the limit.
    check("own tone=a tone=b | override goal=win | types tone | limit 1", "tone=a | types win | limit b");
}

#[test]
fn filters_leave_places_as_they_are() {
    check_places(
        "own identity=who@5/1 tone=warm@10/5 goal=win@15/3 | stage tone=cold | limit 2",
        "stage:tone=cold@10/5 own:goal=win@15/3",
    );
    check_places("own tone=a@7/7 voice=b@8/8 | types voice", "own:voice=b@8/8");
}

#[test]
fn traits_and_skills_are_in_the_authors_order() {
    check("traits wry calm bold | skills sql css", "trait:wry trait:calm trait:bold skill:sql skill:css");
}

#[test]
fn guardrails_are_sorted_by_severity_then_in_the_authors_order() {
    check(
        "guardrails a:low b:critical c d:high e:critical f:low g",
        "guardrail:b guardrail:e guardrail:d guardrail:c guardrail:g guardrail:a guardrail:f",
    );
}
