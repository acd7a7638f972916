use super::*;

/// Stacks `tone=warm tone=wry` on a base: each word is `type=name` at its position, with ten times
/// that as its priority.
fn check(base: &str, mode: MergeMode, own: &str, expected: &str) {
    let (base, own) = (parts(base), parts(own));
    let layer = |parts, origin, mode| Layer { parts: placed(parts, origin), mode };
    let persona = Persona::new(Name::parse("someone").expect("a name"));
    let below = stack(Vec::new(), &persona, layer(&base, LayerOrigin::Base, MergeMode::Replace), 0);
    let stacked = stack(below, &persona, layer(&own, LayerOrigin::Own, mode), 1);
    let shown: Vec<String> = stacked
        .iter()
        .map(|Stacked { placed, .. }| {
            format!("{:?} {}={}", placed.origin, placed.part.part_type, placed.part.name)
        })
        .collect();
    assert_eq!(shown.join(", "), expected);
}

fn parts(words: &str) -> Vec<Part> {
    let part = |word: &str| {
        let (part_type, name) = word.split_once('=').expect("type=name");
        Part {
            name: Name::parse(name).expect("a name"),
            part_type: part_type.parse().expect("a type"),
            description: None,
            summary: None,
            content: None,
            tags: Vec::new(),
        }
    };
    words.split_whitespace().map(part).collect()
}

fn placed(parts: &[Part], origin: LayerOrigin) -> Vec<PlacedPart<'_>> {
    let place = |(order, part)| PlacedPart { part, order, priority: order * 10, origin };
    (1..).zip(parts).map(place).collect()
}

#[test]
fn a_layer_that_appends_adds_to_the_layers_below() {
    check("tone=warm", MergeMode::Append, "tone=wry", "Base tone=warm, Own tone=wry");
    check(
        "tone=warm goal=win",
        MergeMode::Append,
        "tone=wry voice=low",
        "Base tone=warm, Base goal=win, Own tone=wry, Own voice=low",
    );
    check("", MergeMode::Append, "tone=wry", "Own tone=wry");
    check("tone=warm", MergeMode::Append, "", "Base tone=warm");
}

#[test]
fn a_layer_that_appends_a_part_again_has_it_once() {
    check("tone=warm tone=wry", MergeMode::Append, "tone=warm", "Base tone=wry, Own tone=warm");
}

#[test]
fn a_layer_that_replaces_supplies_all_parts_of_its_types() {
    check("tone=warm tone=wry goal=win", MergeMode::Replace, "tone=dry", "Base goal=win, Own tone=dry");
    check("tone=warm", MergeMode::Replace, "voice=low", "Base tone=warm, Own voice=low");
    check("tone=warm", MergeMode::Replace, "", "Base tone=warm");
}
