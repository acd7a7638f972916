//! Budgets: never over, always exact, always the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use context::{Context, Note, Request, Seeds, View, Why};
use persona::{Aggregation, TokenCounter};
use proptest::prelude::*;

use crate::tree::{Awkward, Bytes, Tree, check, preset, request, summary};

/// A chain of modules: each calls a function of the next.
fn chain(files: usize) -> Tree {
    let tree = Tree::new(&[("README.md", "# Chain\n\nSome words.\n")]);
    for number in 0..files {
        let next = number + 1;
        let mut text = format!("use crate::part{next}::step_{next};\n\n/// Takes step {number}.\n");
        let _ = writeln!(
            text,
            "pub fn step_{number}(value: u64) -> u64 {{\n    step_{next}(value + {number})\n}}\n"
        );
        for extra in 0..6 {
            let _ =
                writeln!(text, "/// Does extra work.\npub fn extra_{number}_{extra}(value: u64) -> u64 {{");
            (0..8).for_each(|line| {
                let _ = writeln!(text, "    let value = value.wrapping_mul({line}).rotate_left({extra});");
            });
            text.push_str("    value\n}\n\n");
        }
        tree.write(&format!("src/part{number}.rs"), text);
    }
    let modules: String = (0..files).map(|number| format!("mod part{number};\n")).collect();
    tree.write("src/lib.rs", modules);
    tree
}

fn view(context: &Context, path: &str) -> Option<View> {
    context.files.iter().find(|file| file.path == path).map(|file| file.view)
}

#[test]
fn auto_shows_the_focus_in_full_and_its_callees_by_signature() {
    let tree = chain(40);
    let focus = vec!["src/part7.rs".to_owned()];
    let context = tree.gather(&Request { focus, budget: Some(12_000), ..Request::default() });
    assert_eq!(view(&context, "src/part7.rs"), Some(View::Full));
    let callee = context.files.iter().find(|file| file.path == "src/part8.rs").expect("the callee");
    assert_eq!(callee.why, Why::Imported { by: "src/part7.rs".to_owned() });
    assert!(context.text.contains("pub fn step_8(value: u64) -> u64"), "{}", context.text);
    assert!(context.tokens > 9_000, "room is left: {}", context.tokens);
    assert!(context.text.contains("## Not shown, for lack of room: "), "{}", context.text);
}

#[test]
fn auto_follows_the_words_of_the_task() {
    let tree = chain(40);
    let seeds = Seeds { text: "`step_31` is off by one".to_owned(), ..Seeds::default() };
    let context = tree.gather(&Request { seeds, budget: Some(6_000), ..Request::default() });
    assert!(context.text.contains("step_32(value + 31)"), "{}", context.text);
}

#[test]
fn a_focus_file_that_is_too_large_is_reduced_with_a_note() {
    for strategy in [Aggregation::Auto, Aggregation::Full, Aggregation::Skeleton] {
        let tree = chain(3);
        let focus = vec!["src/part1.rs".to_owned()];
        let context = tree.gather(&Request { focus, strategy, budget: Some(2_000), ..Request::default() });
        let view = view(&context, "src/part1.rs").expect("the focus file");
        assert_ne!(view, View::Full);
        let note = Note::FocusReduced { path: "src/part1.rs".to_owned(), view };
        assert!(context.notes.contains(&note), "{strategy:?}: {:?}", context.notes);
    }
}

#[test]
fn a_file_that_does_not_fit_is_skipped_and_not_the_end() {
    let tree = Tree::new(&[("a.txt", "a\n"), ("c.txt", "c\n")]);
    tree.write("b.txt", "line\n".repeat(2_000));
    let strategy = Aggregation::Full;
    let context = tree.gather(&Request { strategy, budget: Some(1_000), ..Request::default() });
    assert_eq!(summary(&context), "a.txt=full c.txt=full b.txt!budget");
    assert!(context.text.ends_with("## Not shown, for lack of room: 1\n- b.txt\n"), "{}", context.text);
}

#[test]
fn strategies_cap_the_views_of_entries() {
    let tree = chain(1);
    let of =
        |strategy| summary(&tree.gather(&Request { strategy, ..request("README.md=outline src/part0.rs") }));
    assert_eq!(of(Aggregation::Auto), "README.md=outline src/part0.rs=full");
    assert_eq!(of(Aggregation::Full), "README.md=outline src/part0.rs=full");
    assert_eq!(of(Aggregation::Skeleton), "README.md=outline src/part0.rs=skeleton");
    assert_eq!(of(Aggregation::Summarize), "README.md=outline src/part0.rs=outline");
}

#[test]
fn summaries_are_asked_for_by_hash_and_used() {
    let tree = chain(2);
    let project = tree.project();
    let strategy = Aggregation::Summarize;
    let request = Request { strategy, ..request("src/*.rs README.md") };
    let plan = project.plan(&request);
    let wanted: Vec<&str> = plan.wanted().iter().map(|wanted| wanted.path.as_str()).collect();
    assert_eq!(wanted, ["src/part0.rs", "src/part1.rs"], "small files are shown in full");
    let hash = plan.wanted()[0].hash;
    assert!(plan.text(&project, hash).expect("a text").contains("pub fn step_0"));
    let summaries = BTreeMap::from([(hash, "It takes a step.".to_owned())]);
    let context = project.render(&plan, &summaries, &Bytes);
    check(&context, &Bytes);
    let views = "README.md=full src/lib.rs=full src/part0.rs=summary src/part1.rs=outline";
    assert_eq!(summary(&context), views);
    assert!(context.text.contains("It takes a step."));
    assert_eq!(context.notes, [Note::SummariesMissing { files: 1 }]);
}

#[test]
fn every_budget_is_kept_exactly() {
    let tree = chain(12);
    let project = tree.project();
    let counters: [&dyn TokenCounter; 2] = [&Bytes, &Awkward];
    for strategy in [Aggregation::Auto, Aggregation::Full, Aggregation::Summarize, Aggregation::Skeleton] {
        for budget in (0..300).step_by(23).chain((300..24_000).step_by(1_777)) {
            let focus = vec!["src/part3.rs".to_owned()];
            let request = Request { strategy, budget: Some(budget), focus, ..Request::default() };
            for counter in counters {
                check(&project.gather(&request, counter), counter);
            }
        }
    }
}

#[test]
fn a_second_run_neither_reads_nor_parses_again() {
    let tree = chain(20);
    let project = tree.project();
    let request = Request { strategy: Aggregation::Skeleton, budget: Some(1 << 30), ..Request::default() };
    let first = project.gather(&request, &Bytes);
    let parses = project.cache().figures().parses;
    assert_eq!(parses, 21);
    assert_eq!(project.gather(&request, &Bytes), first);
    assert_eq!(project.cache().figures().parses, parses);
    tree.write("src/part5.rs", "pub fn changed() {}\n");
    let changed = project.gather(&request, &Bytes);
    assert!(changed.text.contains("changed"));
    assert_eq!(project.cache().figures().parses, parses + 1);
    // Files that were left alone for a while are not even read.
    std::thread::sleep(std::time::Duration::from_millis(3_100));
    project.gather(&request, &Bytes);
    let reads = project.cache().figures().reads;
    assert_eq!(project.gather(&request, &Bytes), changed);
    assert_eq!(project.cache().figures().reads, reads);
    tree.write("src/part5.rs", "pub fn changes() {}\n");
    assert!(project.gather(&request, &Bytes).text.contains("changes"));
}

/// A file of the random projects.
fn file() -> impl Strategy<Value = (String, String)> {
    let name = "[a-d]{1,2}";
    let ending = prop::sample::select(vec!["rs", "py", "md", "txt", "ts"]);
    let path = (prop::sample::select(vec!["", "src/", "src/deep/"]), name, ending)
        .prop_map(|(directory, name, ending)| format!("{directory}{name}.{ending}"));
    let line = prop_oneof![
        "[a-f]{1,8} ?[a-f]{0,8}",
        "(pub )?fn [a-e]{1,3}\\(\\) \\{ [a-e]{1,3}\\(\\); \\}",
        "def [a-e]{1,3}\\(\\):\n    return [a-e]{1,3}\\(\\)",
        "export function [a-e]{1,3}\\(\\) \\{ return [a-e]{1,3}\\(\\); \\}",
        "struct [A-E] \\{ [a-e]: u32 \\}",
        "# [A-E]{1,8}",
        "`{1,5}",
        "\\PC{0,30}",
    ];
    let content = prop::collection::vec(line, 0..30).prop_map(|lines| lines.join("\n"));
    (path, content)
}

fn a_request() -> impl Strategy<Value = Request> {
    let strategy = prop::sample::select(Aggregation::ALL.to_vec());
    let entries = prop::sample::select(vec![
        None,
        Some("**/*"),
        Some("**/*=skeleton *.md=full"),
        Some("src/**=outline **/*.rs src/deep/**=none"),
        Some("**/*=summary"),
    ]);
    let budget = prop_oneof![0_usize..400, 0_usize..6_000, Just(1 << 40)];
    let text = "[a-e]{1,3} src/[a-d].rs";
    (strategy, entries, budget, prop::bool::ANY, text).prop_map(|(strategy, entries, budget, focus, text)| {
        Request {
            preset: entries.map(preset),
            strategy,
            budget: Some(budget),
            focus: if focus { vec!["src/a.rs".to_owned(), "b.py".to_owned()] } else { Vec::new() },
            seeds: Seeds { text, ..Seeds::default() },
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn random_projects_keep_their_budgets(files in prop::collection::vec(file(), 0..40), request in a_request()) {
        let tree = Tree::new(&[]);
        files.iter().for_each(|(path, content)| tree.write(path, content));
        for counter in [&Bytes as &dyn TokenCounter, &Awkward] {
            let one = tree.project().with_threads(1);
            let first = one.gather(&request, counter);
            check(&first, counter);
            prop_assert_eq!(&one.gather(&request, counter), &first, "with a warm cache");
            prop_assert_eq!(&tree.project().with_threads(4).gather(&request, counter), &first, "with threads");
            let plan = tree.project().plan(&request);
            let mut paths: Vec<&str> = first.files.iter().map(|file| file.path.as_str()).collect();
            paths.extend(first.left_out.iter().map(|left| left.path.as_str()));
            paths.sort_unstable();
            let count = paths.len();
            paths.dedup();
            prop_assert_eq!(paths.len(), count, "a file twice");
            prop_assert!(plan.ranked_paths(&tree.project()).len() <= count, "a file lost");
        }
    }
}
