use persona::{Approval::Auto, Name};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

use super::*;
use crate::Annotations;

/// A tool of the notation `set/name`, with `!` behind it where it does more than read, and `~` where only
/// a server says that it reads.
pub(crate) fn tool(word: &str) -> Arc<Tool> {
    let (word, read_only_hint) = word.strip_suffix('!').map_or((word, true), |word| (word, false));
    let (word, is_claimed) = word.strip_suffix('~').map_or((word, false), |word| (word, true));
    let (set, name) = word.split_once('/').expect("set/name");
    let sets = ["files", "shell", "fetch", "skills", "delegate", "plan", "mcp"];
    Arc::new(Tool {
        name: name.to_owned(),
        set: sets.into_iter().find(|known| *known == set).expect("a known set"),
        description: "Does it.".into(),
        input_schema: Schema::new(json!({"type": "object", "properties": {
            "path": {"type": "string", "description": "Where."},
            "bare": {"type": "string"},
            "any": true,
        }})),
        annotations: Annotations { read_only_hint, is_claimed, ..Annotations::default() },
    })
}

pub(crate) fn tools(words: &str) -> Vec<Arc<Tool>> {
    words.split_whitespace().map(tool).collect()
}

/// All tools of our own, and those of two MCP servers.
pub(crate) const TOOLS: &str = "files/read_file files/list_files files/search_files \
     files/write_file! files/edit_file! shell/run_command! fetch/fetch_url skills/load_skill delegate/delegate \
     plan/plan_exit mcp/mcp__docs__find mcp/mcp__wiki__find~ mcp/mcp__docs__drop! mcp/mcp__tracker__close!";

/// A preset from `category: tool=approval/weight …; category: …`; approval and weight may be missing.
pub(crate) fn preset(script: &str) -> ToolPreset {
    let mut categories = std::collections::BTreeMap::new();
    for category in script.split(';').filter(|category| !category.trim().is_empty()) {
        let (category, entries) = category.split_once(':').expect("category: tools");
        let entries = entries.split_whitespace().map(entry).collect();
        categories.insert(category.trim().to_owned(), entries);
    }
    ToolPreset { name: name(), description: None, categories, tags: Default::default() }
}

fn entry(word: &str) -> PresetTool {
    let (word, weight) = word.split_once('/').map_or((word, None), |(word, weight)| (word, Some(weight)));
    let (name, approval) =
        word.split_once('=').map_or((word, None), |(name, approval)| (name, Some(approval)));
    PresetTool {
        name: name.to_owned(),
        approval: approval.map(|approval| match approval {
            "auto" => Auto,
            "ask" => Approval::Ask,
            "deny" => Approval::Deny,
            other => panic!("{other} is not an approval"),
        }),
        weight: weight.map(|weight| weight.parse().expect("a weight")),
        parameter_bias: Default::default(),
    }
}

pub(crate) fn bias(script: &str) -> BiasProfile {
    let multiplier = |word: &str| {
        let (category, multiplier) = word.split_once('=').expect("category=multiplier");
        (category.to_owned(), multiplier.parse().expect("a number"))
    };
    let multipliers = script.split_whitespace().map(multiplier).collect();
    BiasProfile { name: name(), description: None, multipliers, tags: Default::default() }
}

fn name() -> Name {
    Name::parse("mine").expect("a name")
}

const FREE: Chosen<'_> = Chosen { mode: Mode::Build, preset: None, bias: None, deny: &[], auto_counts: true };

/// The offered tools, in order; `?` marks those that ask first.
fn offered(selected: &[Selected]) -> String {
    let word = |it: &Selected| match it.permission {
        Permission::Allow => it.tool.name.clone(),
        Permission::Ask => format!("{}?", it.tool.name),
    };
    selected.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(words: &str, chosen: &Chosen<'_>, expected: &str) {
    assert_eq!(offered(&select(&tools(words), chosen)), expected, "{words}");
}

#[track_caller]
fn check_preset(script: &str, expected: &str) {
    check(TOOLS, &Chosen { preset: Some(&preset(script)), ..FREE }, expected);
}

#[test]
fn without_a_preset_what_reads_is_allowed_and_all_else_asks() {
    let expected = "read_file list_files search_files write_file? edit_file? run_command? fetch_url \
                    load_skill delegate mcp__docs__find mcp__wiki__find? mcp__docs__drop? mcp__tracker__close?";
    check(TOOLS, &FREE, expected);
    // There is no approval that could count or not.
    check(TOOLS, &Chosen { auto_counts: false, ..FREE }, expected);
}

#[test]
fn planning_has_nothing_but_tools_that_read() {
    let plan = Chosen { mode: Mode::Plan, ..FREE };
    let expected = "read_file list_files search_files fetch_url load_skill delegate plan_exit mcp__docs__find mcp__wiki__find?";
    check(TOOLS, &plan, expected);
    let granted = expected.replace('?', "");
    check(TOOLS, &Chosen { preset: Some(&preset("all: *=auto")), ..plan }, &granted);
    let preset = preset("all: run_command=auto edit_file=auto read_file");
    check(TOOLS, &Chosen { preset: Some(&preset), ..plan }, "read_file load_skill plan_exit");
}

#[test]
fn the_plans_way_out_is_there_only_while_planning() {
    check("plan/plan_exit", &FREE, "");
    check("plan/plan_exit", &Chosen { preset: Some(&preset("all: plan_exit=auto *=auto")), ..FREE }, "");
    let plan = Chosen { mode: Mode::Plan, ..FREE };
    check("plan/plan_exit", &plan, "plan_exit");
    check("plan/plan_exit", &Chosen { preset: Some(&preset("")), ..plan }, "plan_exit");
    check("plan/plan_exit", &Chosen { preset: Some(&preset("all: plan_exit=ask")), ..plan }, "plan_exit?");
    // Another tool of that name is not it.
    check("mcp/plan_exit!", &plan, "");
    check("mcp/plan_exit", &FREE, "plan_exit");
}

#[test]
fn a_preset_selects() {
    check_preset("", "load_skill");
    check_preset("read: read_file list_files", "read_file list_files load_skill");
    check_preset("write: edit_file=auto write_file=ask", "write_file? edit_file load_skill");
    check_preset("write: edit_file", "edit_file? load_skill");
    check_preset("read: read_file=ask", "read_file? load_skill");
    check_preset("skills: load_skill=deny", "");
    check_preset("skills: load_skill=ask", "load_skill?");
    check_preset("other: no_such_tool=auto", "load_skill");
    check_preset(
        "mcp: mcp__*",
        "load_skill mcp__docs__find mcp__wiki__find? mcp__docs__drop? mcp__tracker__close?",
    );
    check_preset("mcp: mcp__docs__*=auto", "load_skill mcp__docs__find mcp__docs__drop");
    check_preset("all: *_file=auto", "read_file write_file edit_file load_skill");
}

#[test]
fn deny_comes_before_ask_before_allow() {
    for entries in
        ["edit_file=auto edit_file=ask", "edit_file=ask edit_file=auto", "edit_file=auto *_file=ask *=auto"]
    {
        check(
            "files/edit_file!",
            &Chosen { preset: Some(&preset(&format!("a: {entries}"))), ..FREE },
            "edit_file?",
        );
    }
    for entries in [
        "edit_file=auto edit_file=deny",
        "*=deny edit_file=auto",
        "edit_file=ask *_file=deny",
        "edit_file edit_*=deny",
    ] {
        check("files/edit_file!", &Chosen { preset: Some(&preset(&format!("a: {entries}"))), ..FREE }, "");
    }
    // Across categories too, whichever comes first.
    check_preset("a: read_file=auto; b: read_file=deny", "load_skill");
    check_preset("a: read_file=deny; b: read_file=auto", "load_skill");
    check_preset("a: read_file=ask; b: read_file=auto", "read_file? load_skill");
    // An entry without an approval asks for what does more than read.
    check_preset("a: edit_file=auto edit_*", "edit_file? load_skill");
    check_preset("a: read_file=auto read_*", "read_file load_skill");
}

#[test]
fn a_guardrail_beats_everything() {
    let everything = preset("all: *=auto");
    let denied = |pattern: &str, expected: &str| {
        let deny = [pattern.to_owned()];
        for mode in [Mode::Build, Mode::Plan] {
            for preset in [None, Some(&everything)] {
                let chosen = Chosen { deny: &deny, preset, mode, ..FREE };
                check("files/read_file mcp/mcp__docs__find skills/load_skill", &chosen, expected);
            }
        }
    };
    denied("read_file", "mcp__docs__find load_skill");
    denied("mcp__*", "read_file load_skill");
    denied("mcp__docs__*", "read_file load_skill");
    denied("load_skill", "read_file mcp__docs__find");
    denied("*", "");
    denied("read", "read_file mcp__docs__find load_skill");
    denied("", "read_file mcp__docs__find load_skill");
    let deny = ["plan_exit".to_owned()];
    check("plan/plan_exit", &Chosen { mode: Mode::Plan, deny: &deny, ..FREE }, "");
}

#[test]
fn a_foreign_auto_does_not_count() {
    let all = preset("all: *=auto; sure: read_file=ask run_command=deny");
    let chosen = Chosen { preset: Some(&all), auto_counts: false, ..FREE };
    check(
        "files/read_file files/list_files files/edit_file! shell/run_command!",
        &chosen,
        "read_file? list_files edit_file?",
    );
    let chosen = Chosen { auto_counts: true, ..chosen };
    check(
        "files/read_file files/list_files files/edit_file! shell/run_command!",
        &chosen,
        "read_file? list_files edit_file",
    );
}

#[test]
fn patterns() {
    let check = |pattern: &str, name: &str, expected: bool| {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    };
    check("a", "a", true);
    check("a", "ab", false);
    check("a", "A", false);
    check("*", "", true);
    check("*", "abc", true);
    check("a*", "a", true);
    check("a*", "ba", false);
    check("*a", "ba", true);
    check("*a", "ab", false);
    check("a*a", "a", false);
    check("a*a", "aa", true);
    check("a*b*c", "abc", true);
    check("a*b*c", "axbxc", true);
    check("a*b*c", "acb", false);
    check("*ab*ab*", "ab", false);
    check("*é*", "café!", true);
    check("a**b", "ab", true);
}

/// The tool that was selected first.
fn first(words: &str, preset: &ToolPreset, bias: Option<&BiasProfile>) -> Selected {
    select(&tools(words), &Chosen { preset: Some(preset), bias, ..FREE }).remove(0)
}

#[test]
fn the_most_exact_entry_sets_the_lean() {
    let check = |script: &str, category: &str, lean: Lean| {
        let selected = first("files/read_file", &preset(script), None);
        assert_eq!((selected.category.as_str(), selected.lean), (category, lean), "{script}");
    };
    check("a: read_file/5; b: *=auto/1", "a", Lean::Preferred);
    check("a: */5; b: read_file/1", "b", Lean::LastResort);
    check("a: */5; b: read_*/1", "b", Lean::LastResort);
    check("a: read_*/4; b: */1", "a", Lean::Preferred);
    // A name is more exact than a longer pattern.
    check("a: read_file/2; b: *r*e*a*d*f*i*l*e*/5", "a", Lean::Sparingly);
}

#[test]
fn a_lean_precedes_the_description() {
    let described = |weight: u8| {
        first("files/read_file", &preset(&format!("read: read_file/{weight}")), None).spec.description
    };
    assert_eq!(described(1), "[last resort] Does it.");
    assert_eq!(described(2), "[use sparingly] Does it.");
    assert_eq!(described(3), "Does it.");
    assert_eq!(described(4), "[preferred] Does it.");
    let strong = first("files/read_file", &preset("read: read_file/4"), Some(&bias("read=2")));
    assert_eq!(strong.spec.description, "[strongly preferred] Does it.");
    // Without a preset, a bias counts for the tool's own category.
    let chosen = Chosen { bias: Some(&bias("read=2 write=0.5 shell=0 network=1.5")), ..FREE };
    let offered =
        select(&tools("files/read_file files/edit_file! shell/run_command! fetch/fetch_url"), &chosen);
    let described: Vec<_> = offered.iter().map(|it| it.spec.description.as_str()).collect();
    let tags = [
        "[strongly preferred] Does it.",
        "[use sparingly] Does it.",
        "[last resort] Does it.",
        "[preferred] Does it.",
    ];
    assert_eq!(described, tags);
}

#[test]
fn hints_stand_where_the_parameter_is_described() {
    let mut preset = preset("read: read_file; other: *");
    let hint = |parameter: &str| (parameter.to_owned(), format!("a good {parameter}"));
    preset.categories.get_mut("read").expect("it is there")[0].parameter_bias =
        ["path", "bare", "any", "missing"].map(hint).into();
    // Only the most exact entry is asked.
    preset.categories.get_mut("other").expect("it is there")[0].parameter_bias = [hint("other")].into();
    let spec = first("files/read_file", &preset, None).spec;
    let properties = &spec.input_schema["properties"];
    assert_eq!(properties["path"]["description"], "Where. Prefer: a good path");
    assert_eq!(properties["path"]["type"], "string");
    assert_eq!(properties["bare"]["description"], "a good bare");
    assert_eq!(properties["any"], true);
    assert_eq!(spec.description, "Does it. Prefer for any: a good any. Prefer for missing: a good missing");
    // The tool itself stays as it was.
    let plain = select(&tools("files/read_file"), &FREE).remove(0).spec;
    assert_eq!(plain.input_schema, tool("files/read_file").input_schema);
}

/// A plain reference implementation of patterns.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', rest @ ..] => (0..=name.len()).any(|at| fits(rest, &name[at..])),
        [first, rest @ ..] => name.first() == Some(first) && fits(rest, &name[1..]),
    }
}

fn any_pattern() -> impl Strategy<Value = String> {
    let names = TOOLS.split_whitespace().filter_map(|word| word.trim_end_matches('!').split_once('/'));
    let names: Vec<&str> = names.map(|(_, name)| name).collect();
    prop_oneof![
        3 => prop::sample::select(names.clone()).prop_map(str::to_owned),
        2 => (prop::sample::select(names), 0..8_usize).prop_map(|(name, at)| format!("{}*", &name[..at])),
        1 => prop::sample::select(vec!["*", "mcp__*", "*_file", "*e*", "none"]).prop_map(str::to_owned),
    ]
}

fn any_preset() -> impl Strategy<Value = ToolPreset> {
    let approval = prop::sample::select(vec!["", "=auto", "=auto", "=ask", "=deny"]);
    let entry = (any_pattern(), approval, 1..6_u8)
        .prop_map(|(name, approval, weight)| format!("{name}{approval}/{weight}"));
    let category =
        (prop::sample::select(vec!["read", "write", "mcp", "odd"]), prop::collection::vec(entry, 0..5));
    prop::collection::vec(category, 0..4).prop_map(|categories| {
        let categories: Vec<_> =
            categories.iter().map(|(name, entries)| format!("{name}: {}", entries.join(" "))).collect();
        preset(&categories.join(";"))
    })
}

fn any_bias() -> impl Strategy<Value = BiasProfile> {
    let multiplier = (prop::sample::select(vec!["read", "write", "mcp", "plan", "odd"]), 0.0..10.0_f64);
    prop::collection::vec(multiplier, 0..4).prop_map(|multipliers| {
        let multipliers: Vec<_> =
            multipliers.iter().map(|(category, multiplier)| format!("{category}={multiplier}")).collect();
        bias(&multipliers.join(" "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x7365),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_pattern_fits_as_its_stars_say(pattern in "[ab*]{0,8}", name in "[ab]{0,8}") {
        prop_assert_eq!(matches(&pattern, &name), fits(pattern.as_bytes(), name.as_bytes()));
    }

    /// Every tool, in every combination with what decides about it.
    #[test]
    fn no_choice_offers_what_it_must_not(
        mode in prop::sample::select(Mode::ALL),
        preset in prop::option::of(any_preset()),
        bias in prop::option::of(any_bias()),
        deny in prop::collection::vec(any_pattern(), 0..3),
        auto_counts in any::<bool>(),
        hints in prop::collection::vec(any::<(bool, bool)>(), 14),
    ) {
        // Any tool may claim to read or not to.
        let mut tools = tools(TOOLS);
        for (tool, (hint, is_claimed)) in tools.iter_mut().zip(hints) {
            let annotations = &mut Arc::make_mut(tool).annotations;
            (annotations.read_only_hint, annotations.is_claimed) = (hint, is_claimed);
        }
        let chosen = Chosen { mode, preset: preset.as_ref(), bias: bias.as_ref(), deny: &deny, auto_counts };
        let selected = select(&tools, &chosen);
        for tool in &tools {
            let found = selected.iter().find(|it| it.tool.name == tool.name);
            let fitting = |pattern: &str| fits(pattern.as_bytes(), tool.name.as_bytes());
            let entries: Vec<&PresetTool> = preset.iter().flat_map(|preset| preset.categories.values().flatten())
                .filter(|entry| fitting(&entry.name)).collect();
            let says = |approval| entries.iter().any(|entry| entry.approval == Some(approval));
            let reads = tool.annotations.read_only_hint;
            let is_forbidden = (mode == Mode::Plan && !reads)
                || (mode == Mode::Build && tool.set == PLAN_SET)
                || deny.iter().any(|pattern| fitting(pattern))
                || says(Approval::Deny)
                || (preset.is_some() && entries.is_empty() && ![PLAN_SET, SKILLS_SET].contains(&tool.set));
            prop_assert_eq!(found.is_none(), is_forbidden, "{}", tool.name);
            let Some(found) = found else { continue };
            let all_auto = !entries.is_empty() && entries.iter().all(|entry| entry.approval == Some(Auto));
            let is_allowed = !says(Approval::Ask)
                && (tool.annotations.is_known_to_read() || (all_auto && auto_counts));
            prop_assert_eq!(found.permission == Permission::Allow, is_allowed, "{}", tool.name);
            prop_assert_eq!(&found.spec.name, &tool.name);
        }
        prop_assert!(selected.len() <= tools.len());
    }

    /// A bias changes words and nothing else.
    #[test]
    fn a_bias_neither_gives_nor_takes_a_tool(
        mode in prop::sample::select(Mode::ALL),
        preset in prop::option::of(any_preset()),
        bias in any_bias(),
    ) {
        let chosen = Chosen { mode, preset: preset.as_ref(), ..FREE };
        let with = select(&tools(TOOLS), &Chosen { bias: Some(&bias), ..chosen });
        prop_assert_eq!(offered(&with), offered(&select(&tools(TOOLS), &chosen)));
    }
}
