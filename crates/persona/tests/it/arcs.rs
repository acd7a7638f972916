//! Walking through an arc.

use persona::{CharacterArc, Stage};

use crate::script::name;

/// An arc of `name@order` stages; the order is 0 where it is missing.
fn arc(stages: &str) -> CharacterArc {
    let stage = |word: &str| {
        let (stage, order) = word.split_once('@').unwrap_or((word, "0"));
        Stage {
            name: name(stage),
            order: order.parse().expect("a number"),
            description: None,
            condition: None,
            parts: Vec::new(),
        }
    };
    CharacterArc {
        name: name("growth"),
        description: None,
        summary: None,
        stages: stages.split_whitespace().map(stage).collect(),
        tags: Vec::new(),
    }
}

#[track_caller]
fn check_walk(stages: &str, expected: &str) {
    let arc = arc(stages);
    let walk: Vec<&str> = arc.walk().iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(walk.join(" "), expected);
    // From the first to the last, each stage is the one after the one before it.
    for pair in walk.windows(2) {
        check_after(stages, pair[0], Some(pair[1]));
    }
    if let Some(last) = walk.last() {
        check_after(stages, last, None);
    }
}

#[track_caller]
fn check_after(stages: &str, current: &str, expected: Option<&str>) {
    let arc = arc(stages);
    assert_eq!(arc.stage_after(current).map(|stage| stage.name.as_str()), expected, "after {current}");
}

#[test]
fn stages_are_walked_by_order_then_name() {
    check_walk("", "");
    check_walk("only", "only");
    check_walk("first@1 second@2 third@3", "first second third");
    check_walk("third@30 first@10 second@20", "first second third");
    check_walk("b@1 a@1 z@0", "z a b");
    check_walk("late@5 early@-5 middle", "early middle late");
    check_walk("end@2147483647 start@-2147483648", "start end");
}

#[test]
fn there_is_nothing_after_the_last_stage_or_after_one_that_is_not_there() {
    check_after("first@1 second@2", "first", Some("second"));
    check_after("first@1 second@2", "second", None);
    check_after("first@1 second@2", "third", None);
    check_after("first@1 second@2", "First", None);
    check_after("", "first", None);
}

#[test]
fn a_stage_is_found_by_its_name() {
    let arc = arc("first@1 second@2");
    assert_eq!(arc.stage("second").map(|stage| stage.order), Some(2));
    assert_eq!(arc.stage("third"), None);
}
