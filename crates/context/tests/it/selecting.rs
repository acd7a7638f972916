//! Which files a request chooses.

use context::{Note, Reason, Request};

use crate::tree::{Tree, preset, request, summary};

const FILES: &[(&str, &str)] = &[
    ("README.md", "# Title\n"),
    ("src/lib.rs", "pub mod a;\n"),
    ("src/a.rs", "pub fn a() {}\n"),
    ("src/deep/b.py", "def b():\n    pass\n"),
    (".github/ci.yml", "on: push\n"),
    ("target/out.rs", "fn out() {}\n"),
    (".gitignore", "target/\n"),
];

#[track_caller]
fn check(entries: &str, expected: &str) {
    assert_eq!(summary(&Tree::new(FILES).gather(&request(entries))), expected, "{entries}");
}

#[test]
fn entries_select_files_and_the_last_match_wins() {
    check("src/*.rs", "src/a.rs=full src/lib.rs=full");
    check("*.rs", "");
    check("src/", "src!special");
    check("README.md", "README.md=full");
    check("./README.md", "README.md=full");
    check("README.md=outline", "README.md=outline");
    check("**/* src/**=none", "README.md=full src/a.rs!excluded src/deep/b.py!excluded src/lib.rs!excluded");
    check("src/**=none src/a.rs", "src/a.rs=full src/deep/b.py!excluded src/lib.rs!excluded");
    check("src/a.rs src/**=none", "src/a.rs!excluded src/deep/b.py!excluded src/lib.rs!excluded");
    check("src/{a,lib}.rs src/a.rs=none", "src/lib.rs=full src/a.rs!excluded");
}

#[test]
fn hidden_and_ignored_files_come_only_by_name() {
    check("**/*.yml", "");
    check(".github/**", ".github/ci.yml=full");
    check(".github/ci.yml", ".github/ci.yml=full");
    check("target/**", "");
    check("target/out.rs", "target/out.rs=full");
    let context = Tree::new(FILES).gather(&Request { budget: Some(10_000), ..Request::default() });
    assert_eq!(summary(&context), "README.md=full src/a.rs=full src/deep/b.py=full src/lib.rs=full");
}

#[test]
fn the_repository_itself_is_never_shown() {
    let tree = Tree::new(&[(".git/config", "[core]\n"), ("a.txt", "a\n"), ("sub/.git/HEAD", "x\n")]);
    assert_eq!(summary(&tree.gather(&request(".git/** **/.git/* *.txt"))), "a.txt=full");
    assert_eq!(summary(&tree.gather(&request(".git/config"))), ".git/config!outside");
    tree.link(".git/config", "innocent");
    assert_eq!(summary(&tree.gather(&request("innocent"))), "innocent!outside");
}

#[test]
fn an_entry_that_selects_nothing_is_noted() {
    let tree = Tree::new(FILES);
    let context = tree.gather(&request("src/*.rs docs/** nothing.md [a vendor/**=none"));
    let invalid = |note: &Note| matches!(note, Note::InvalidGlob { entry: 3, .. });
    assert!(context.notes.iter().any(invalid), "{:?}", context.notes);
    let rest: Vec<&Note> = context.notes.iter().filter(|note| !invalid(note)).collect();
    let no_match = |entry, pattern: &str| Note::NoMatch { entry, pattern: pattern.to_owned() };
    assert_eq!(rest, [&no_match(1, "docs/**"), &no_match(2, "nothing.md")]);
}

#[test]
fn focus_files_come_in_full_whatever_the_preset_says() {
    let tree = Tree::new(FILES);
    let focus = |paths: &[&str]| Request {
        focus: paths.iter().map(|path| (*path).to_owned()).collect(),
        ..request("src/*.rs=outline src/a.rs=none")
    };
    let context = tree.gather(&focus(&["src/a.rs", "./target/out.rs"]));
    assert_eq!(summary(&context), "src/a.rs=full src/lib.rs=outline target/out.rs=full");
    let absolute = tree.root().canonicalize().expect("a root").join("src/a.rs");
    let context = tree.gather(&focus(&[absolute.to_str().expect("UTF-8")]));
    assert_eq!(summary(&context), "src/a.rs=full src/lib.rs=outline");
    let context = tree.gather(&focus(&["../etc/passwd", "/etc/passwd", "gone.rs", "src"]));
    let reasons: Vec<Reason> = context
        .notes
        .iter()
        .map(|note| match note {
            Note::FocusLeftOut { reason, .. } => reason.clone(),
            note => panic!("{note:?}"),
        })
        .collect();
    assert_eq!(reasons, [Reason::Outside, Reason::Outside, Reason::Missing, Reason::Special]);
}

#[test]
fn the_budget_comes_from_the_request_then_from_the_preset() {
    let tree = Tree::new(FILES);
    let mut preset = preset("src/*.rs");
    preset.token_budget = Some(5_000);
    let of = |budget| Request { preset: Some(preset.clone()), budget, ..Request::default() };
    assert_eq!(tree.gather(&of(None)).budget, 5_000);
    assert_eq!(tree.gather(&of(Some(7))).budget, 7);
    assert_eq!(tree.gather(&Request::default()).budget, context::limits::DEFAULT_BUDGET);
}
