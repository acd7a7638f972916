//! One rule: per part type, the strongest layer that has any part of that type supplies them all.

use crate::script::{check, check_places, check_refused};

#[test]
fn the_strongest_layer_supplies_a_type() {
    check("own tone=warm", "tone=warm");
    check("stage tone=cold", "tone=cold");
    check("override tone=dry", "tone=dry");
    check("own tone=warm | stage tone=cold", "tone=cold");
    check("own tone=warm | override tone=dry", "tone=dry");
    check("stage tone=cold | override tone=dry", "tone=dry");
    check("own tone=warm | stage tone=cold | override tone=dry", "tone=dry");
    check("", "");
}

#[test]
fn it_does_so_for_each_type_by_itself() {
    check("own tone=a voice=b | stage tone=cold", "tone=cold voice=b");
    check("own tone=a voice=b | stage voice=loud | override tone=dry", "tone=dry voice=loud");
    check("own tone=a voice=b goal=c | stage voice=loud", "tone=a voice=loud goal=c");
    check("own tone=warm | stage voice=loud | override goal=win", "tone=warm voice=loud goal=win");
}

#[test]
fn it_supplies_all_parts_of_the_type() {
    check("own tone=warm tone=wry | stage tone=cold", "tone=cold");
    check("own tone=warm | stage tone=cold tone=bleak", "tone=cold tone=bleak");
    check("own tone=warm tone=wry | stage tone=cold tone=bleak", "tone=cold tone=bleak");
    check("own tone=warm tone=wry | override tone=dry", "tone=dry");
    check("own tone=warm | stage tone=cold tone=bleak | override tone=dry", "tone=dry");
}

#[test]
fn several_layers_may_have_the_same_part() {
    check_places("own tone=warm@3/4 | stage tone=warm", "stage:tone=warm@3/4");
    check_places("own tone=warm@3/4 | override tone=warm", "override:tone=warm@3/4");
    check_places("own tone=warm@3/4 tone=wry@5/9 | override tone=wry", "override:tone=wry@3/9");
    check_places("stage tone=warm | override tone=warm", "override:tone=warm@1/0");
}

#[test]
fn an_empty_layer_replaces_nothing() {
    check("own tone=warm | stage", "tone=warm");
    check("own tone=warm | stage | override voice=low", "tone=warm voice=low");
}

#[test]
fn an_override_applies_where_the_persona_has_no_such_part() {
    check("own identity=who | override tone=dry", "identity=who tone=dry");
    check("own identity=who | stage goal=win | override tone=dry", "identity=who goal=win tone=dry");
    // Several follow in the order of the vocabulary, whatever the order in which they were given.
    check("override flaw=vain tone=dry system=rules", "system=rules tone=dry flaw=vain");
}

#[test]
fn an_override_must_name_a_part_that_exists() {
    check_refused("override tone=?dry", "unknown_override overrides.tone=dry");
    check_refused("own tone=warm | override tone=?dry", "unknown_override overrides.tone=dry");
    // That a persona has a part does not make it one that the library was asked for.
    check_refused("own tone=warm | override tone=?warm", "unknown_override overrides.tone=warm");
    check_refused("override tone=dry voice=?low", "unknown_override overrides.voice=low");
    check_refused("types goal | limit 0 | override tone=?dry", "unknown_override overrides.tone=dry");
}

#[test]
fn an_override_must_name_a_part_of_its_type() {
    let refusal = "wrong_part_type overrides.tone=dry, use overrides.voice";
    check_refused("override tone=voice:dry", refusal);
    check_refused("own tone=warm voice=low | override tone=voice:dry", refusal);
    check_refused(
        "override goal=win voice=identity:me",
        "wrong_part_type overrides.voice=me, use overrides.identity",
    );
}

#[test]
fn parts_are_sorted_by_order_then_name() {
    check("own tone=b@2 tone=a@1", "tone=a tone=b");
    check("own voice=b tone=c goal=a", "goal=a voice=b tone=c");
    check("own tone=late@10 voice=early@-5 goal=middle", "voice=early goal=middle tone=late");
    check("own tone=same-2@1 tone=same-10@1", "tone=same-10 tone=same-2");
    check("own tone=b tone=a tone=B tone=A tone=1", "tone=1 tone=A tone=B tone=a tone=b");
    check("own tone=last@2147483647 tone=first@-2147483648", "tone=first tone=last");
}

#[test]
fn a_new_part_takes_the_slot_of_the_first_it_replaces() {
    check_places(
        "own identity=who@5 tone=warm@10 goal=win@15 | stage tone=cold",
        "own:identity=who@5/0 stage:tone=cold@10/0 own:goal=win@15/0",
    );
    check_places(
        "own tone=warm@1 identity=who@2 tone=wry@3 | stage tone=cold",
        "stage:tone=cold@1/0 own:identity=who@2/0",
    );
    check_places(
        "own tone=warm@1 identity=who@2 tone=wry@3 | stage tone=z tone=a",
        "stage:tone=z@1/0 stage:tone=a@1/0 own:identity=who@2/0",
    );
    check_places(
        "own tone=warm@1 identity=who@2 tone=wry@3 | override tone=dry",
        "override:tone=dry@1/0 own:identity=who@2/0",
    );
    check_places(
        "own identity=who@1 tone=warm@2 goal=win@3 | stage tone=cold tone=bleak | override tone=dry",
        "own:identity=who@1/0 override:tone=dry@2/0 own:goal=win@3/0",
    );
}

#[test]
fn a_part_that_replaces_nothing_comes_last() {
    check_places("own identity=who@5 | stage tone=cold", "own:identity=who@5/0 stage:tone=cold@6/0");
    check_places(
        "own identity=who@5 | stage voice=low tone=cold | override goal=win",
        "own:identity=who@5/0 stage:voice=low@6/0 stage:tone=cold@7/0 override:goal=win@8/0",
    );
    // Without a part of its own to follow, a stage counts from 1: places stay distinct.
    check_places("stage voice=low tone=cold", "stage:voice=low@1/0 stage:tone=cold@2/0");
    check_places("stage tone=cold | override goal=win", "stage:tone=cold@1/0 override:goal=win@2/0");
    check_places("own tone=warm@-9 | stage goal=win", "own:tone=warm@-9/0 stage:goal=win@-8/0");
    check_places(
        "own tone=warm@2147483647 | stage goal=win",
        "own:tone=warm@2147483647/0 stage:goal=win@2147483647/0",
    );
}

#[test]
fn a_stages_new_types_keep_its_order_and_their_slots() {
    check("stage tone=a voice=b tone=c", "tone=a voice=b tone=c");
    check("stage tone=a voice=b tone=c | override tone=dry", "tone=dry voice=b");
    check("stage tone=a voice=b tone=c | override voice=low", "tone=a voice=low tone=c");
}

#[test]
fn a_new_part_has_the_highest_priority_of_the_replaced() {
    check_places("own tone=warm@1/5 | stage tone=cold", "stage:tone=cold@1/5");
    check_places("own tone=warm@1/5 tone=wry@2/9 tone=shy@3/7 | stage tone=cold", "stage:tone=cold@1/9");
    check_places(
        "own tone=warm@1/5 | stage tone=cold tone=bleak",
        "stage:tone=cold@1/5 stage:tone=bleak@1/5",
    );
    check_places("own tone=warm@1/-5 tone=wry@2/-9 | stage tone=cold", "stage:tone=cold@1/-5");
    check_places("own voice=low@1/5 | stage tone=cold", "own:voice=low@1/5 stage:tone=cold@2/0");
    check_places("own tone=warm@1/5 | stage tone=cold | override tone=dry", "override:tone=dry@1/5");
    check_places("own voice=low@1/5 | override tone=dry", "own:voice=low@1/5 override:tone=dry@2/0");
}

#[test]
fn append_adds_to_a_base_and_changes_nothing_without_one() {
    check("append tone=warm", "tone=warm");
    check("append tone=b@2 tone=a@1", "tone=a tone=b");
    // It is about the persona's own parts: a stage and an override replace all the same.
    check("append tone=warm tone=wry | stage tone=cold", "tone=cold");
    check("append tone=warm | stage tone=cold | override tone=dry", "tone=dry");
}
