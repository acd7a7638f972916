use super::*;
use crate::selection::tests::{TOOLS, bias, preset, tools};
use crate::{Chosen, Mode, select};

/// As the presets and profiles that come with Masque.
const FULL: &str = "read: search_files=auto/4 read_file=auto/4 list_files=auto/3; \
     write: edit_file=ask/4 write_file=ask/2; shell: run_command=ask/2; network: fetch_url=ask/2; \
     skills: load_skill=auto/3; delegate: delegate=ask/2; mcp: mcp__*/3";
const BALANCED: &str = "read=1 write=1 shell=1 network=1 skills=1 delegate=1 mcp=1";
const DISCOVERY_HEAVY: &str = "read=2 write=0.5 shell=0.5 network=1.25 skills=1.5 delegate=1 mcp=1.25";
const EXECUTION_FOCUSED: &str = "read=0.75 write=2 shell=1.5 network=0.5 skills=1 delegate=0.75 mcp=1";

fn selected(preset: Option<&ToolPreset>, bias: Option<&BiasProfile>, mode: Mode) -> Vec<Selected> {
    select(&tools(TOOLS), &Chosen { mode, preset, bias, deny: &[], auto_counts: true })
}

#[track_caller]
fn check(preset_script: &str, bias_script: &str, expected: &[&str]) {
    let (preset, bias) = (preset(preset_script), bias(bias_script));
    let offered = selected(Some(&preset), Some(&bias), Mode::Build);
    let text = strategy(Some(&preset), Some(&bias), &offered).expect("both are set");
    let lines: Vec<&str> = text.strip_prefix("## Tooling strategy\n\n").expect("a heading").lines().collect();
    assert_eq!(lines, expected, "{bias_script}");
}

#[test]
fn the_profiles_that_come_with_masque() {
    check(
        FULL,
        BALANCED,
        &[
            "- Prefer: read (read_file, search_files); write (edit_file).",
            "- Use as needed: mcp (mcp__docs__find, mcp__wiki__find, mcp__docs__drop, mcp__tracker__close); read (list_files); skills (load_skill).",
            "- Use sparingly: delegate (delegate); network (fetch_url); shell (run_command); write (write_file).",
        ],
    );
    check(
        FULL,
        DISCOVERY_HEAVY,
        &[
            "- Reach for these first: read (read_file, list_files, search_files).",
            "- Prefer: mcp (mcp__docs__find, mcp__wiki__find, mcp__docs__drop, mcp__tracker__close); skills (load_skill).",
            "- Use as needed: network (fetch_url).",
            "- Use sparingly: delegate (delegate); write (edit_file).",
            "- Only as a last resort: shell (run_command); write (write_file).",
        ],
    );
    check(
        FULL,
        EXECUTION_FOCUSED,
        &[
            "- Reach for these first: write (edit_file).",
            "- Prefer: write (write_file).",
            "- Use as needed: mcp (mcp__docs__find, mcp__wiki__find, mcp__docs__drop, mcp__tracker__close); read (read_file, search_files); shell (run_command); skills (load_skill).",
            "- Use sparingly: delegate (delegate); read (list_files).",
            "- Only as a last resort: network (fetch_url).",
        ],
    );
}

#[test]
fn there_is_a_strategy_only_with_a_preset_and_a_bias() {
    let (preset, bias) = (preset(FULL), bias(DISCOVERY_HEAVY));
    for (preset, bias, expected) in [
        (None, None, false),
        (Some(&preset), None, false),
        (None, Some(&bias), false),
        (Some(&preset), Some(&bias), true),
    ] {
        let offered = selected(preset, bias, Mode::Build);
        assert_eq!(strategy(preset, bias, &offered).is_some(), expected);
    }
    // Nothing to say about no tools.
    assert_eq!(strategy(Some(&preset), Some(&bias), &[]), None);
}

#[test]
fn tools_that_are_not_offered_are_not_mentioned() {
    let (preset, bias) = (preset(FULL), bias(EXECUTION_FOCUSED));
    let offered = selected(Some(&preset), Some(&bias), Mode::Plan);
    let text = strategy(Some(&preset), Some(&bias), &offered).expect("both are set");
    for hidden in ["write_file", "edit_file", "run_command", "mcp__docs__drop"] {
        assert!(!text.contains(hidden), "{text}");
    }
    assert!(text.contains("read_file") && text.contains("plan (plan_exit)"), "{text}");
}

#[test]
fn the_profiles_own_words_come_first() {
    let preset = preset("read: read_file");
    let with = |description: Option<&str>| {
        let bias = BiasProfile { description: description.map(str::to_owned), ..bias("read=2") };
        let offered = selected(Some(&preset), Some(&bias), Mode::Build);
        strategy(Some(&preset), Some(&bias), &offered).expect("both are set")
    };
    let list = "\n\n- Reach for these first: read (read_file).\n- Use as needed: skills (load_skill).";
    assert_eq!(with(None), format!("## Tooling strategy{list}"));
    assert_eq!(with(Some("  \n")), format!("## Tooling strategy{list}"));
    assert_eq!(with(Some(" Looks first.\n")), format!("## Tooling strategy\n\nLooks first.{list}"));
}

#[track_caller]
fn check_lean(weight: u8, multiplier: f64, expected: Option<&str>) {
    let preset = preset(&format!("read: read_file/{weight}"));
    let bias = bias(&format!("read={multiplier}"));
    let lean = selected(Some(&preset), Some(&bias), Mode::Build)[0].lean;
    assert_eq!(lean.tag(), expected, "{weight} times {multiplier}");
}

#[test]
fn a_tag_changes_with_weight_and_multiplier() {
    let (last, little) = (Some("last resort"), Some("use sparingly"));
    let (more, most) = (Some("preferred"), Some("strongly preferred"));
    for (weight, expected) in [(1, last), (2, little), (3, None), (4, more), (5, more)] {
        check_lean(weight, 1.0, expected);
    }
    for (multiplier, expected) in [
        (0.0, last),
        (0.4, last),
        (0.5, little),
        (0.8, little),
        (0.9, None),
        (1.25, more),
        (1.9, more),
        (2.0, most),
        (10.0, most),
    ] {
        check_lean(3, multiplier, expected);
    }
    check_lean(1, 10.0, most);
    check_lean(5, 0.0, last);
    check_lean(1, 3.0, None);
    check_lean(5, 0.6, None);
    // A category that the profile does not speak of keeps its weight.
    let preset = preset("odd: read_file/4");
    assert_eq!(selected(Some(&preset), Some(&bias("read=0")), Mode::Build)[0].lean, Lean::Preferred);
}

#[test]
fn more_never_means_less() {
    let of = |weight: u8, tenths: u8| {
        let preset = preset(&format!("read: read_file/{weight}"));
        let bias = bias(&format!("read={}", f64::from(tenths) / 10.0));
        selected(Some(&preset), Some(&bias), Mode::Build)[0].lean
    };
    for weight in 1..5 {
        for tenths in 0..100 {
            assert!(of(weight, tenths) <= of(weight + 1, tenths));
            assert!(of(weight, tenths) <= of(weight, tenths + 1));
        }
    }
}

#[test]
fn tools_without_an_entry_have_the_category_of_their_set() {
    let categories: Vec<_> = tools(TOOLS).iter().map(|tool| (tool.name.clone(), category_of(tool))).collect();
    for (name, category) in [
        ("read_file", "read"),
        ("edit_file", "write"),
        ("run_command", "shell"),
        ("fetch_url", "network"),
        ("load_skill", "skills"),
        ("delegate", "delegate"),
        ("mcp__docs__find", "mcp"),
    ] {
        assert!(categories.contains(&(name.to_owned(), category)), "{name}: {categories:?}");
    }
}
