//! Files that must not or cannot be shown.

use context::{Note, Reason, Request, limits};

use crate::tree::{Tree, request, summary};

fn everything() -> Request {
    Request { budget: Some(1 << 30), ..Request::default() }
}

#[test]
fn links_are_not_followed_out_of_the_root() {
    let outside = Tree::new(&[("secret.txt", "outside\n"), ("dir/inner.txt", "outside\n")]);
    let tree = Tree::new(&[("in.txt", "in\n"), ("sub/real.txt", "real\n")]);
    tree.link(outside.root().join("secret.txt"), "out.txt");
    tree.link(outside.root().join("dir"), "outdir");
    tree.link("sub/real.txt", "near.txt");
    let all = "in.txt=full sub/real.txt=full near.txt!link out.txt!link outdir!link";
    assert_eq!(summary(&tree.gather(&everything())), all);
    let named = tree.gather(&request("out.txt outdir/inner.txt near.txt"));
    assert_eq!(summary(&named), "sub/real.txt=full out.txt!outside outdir/inner.txt!outside");
    let focus = vec!["out.txt".to_owned(), "outdir/inner.txt".to_owned()];
    let context = tree.gather(&Request { focus, ..request("in.txt") });
    assert_eq!(summary(&context), "in.txt=full");
    assert_eq!(context.notes.len(), 2, "{:?}", context.notes);
    assert!(!context.text.contains("outside"));
}

#[test]
fn binary_huge_and_invalid_files_are_skipped_with_a_reason() {
    let tree = Tree::new(&[("a.txt", "a\n")]);
    tree.write("nul.bin", b"text\0more");
    tree.write("latin.txt", b"caf\xe9\n");
    tree.write("huge.txt", vec![b'x'; usize::try_from(limits::FILE_BYTES).expect("a small limit") + 1]);
    let context = tree.gather(&everything());
    assert_eq!(summary(&context), "a.txt=full huge.txt!huge latin.txt!binary nul.bin!binary");
    assert_eq!(context.left_out[0].reason, Reason::Huge { bytes: limits::FILE_BYTES + 1 });
    let context = tree.gather(&Request { focus: vec!["nul.bin".to_owned()], ..request("a.txt") });
    let note = Note::FocusLeftOut { path: "nul.bin".to_owned(), reason: Reason::Binary };
    assert_eq!(context.notes, [note]);
}

#[test]
fn secrets_stay_out_even_if_they_are_named() {
    let tree = Tree::new(&[
        ("a.txt", "a\n"),
        ("server.key", "hunter2\n"),
        (".env", "hunter2\n"),
        (".env.example", "KEY=\n"),
        (".aws/credentials", "hunter2\n"),
    ]);
    tree.link(".env", "settings");
    assert_eq!(summary(&tree.gather(&everything())), "a.txt=full server.key!secret settings!link");
    let context = tree.gather(&request(".env* *.key settings .aws/credentials"));
    let left = ".aws/credentials!secret .env!secret server.key!secret settings!secret";
    assert_eq!(summary(&context), format!(".env.example=full {left}"));
    let context = tree.gather(&Request { focus: vec![".env".to_owned()], ..everything() });
    let note = Note::FocusLeftOut { path: ".env".to_owned(), reason: Reason::Secret };
    assert!(context.notes.contains(&note), "{:?}", context.notes);
    assert!(!context.text.contains("hunter2"));
    let lenient = tree.project().with_secrets(|path| path == "a.txt");
    let context = crate::tree::gather(&lenient, &request("*.txt server.key"));
    assert_eq!(summary(&context), "server.key=full a.txt!secret");
}

#[test]
fn ignore_rules_hold_at_every_depth() {
    let tree = Tree::new(&[
        (".gitignore", "*.log\n!keep.log\n/only-top\n"),
        (".ignore", "notes/\n"),
        ("a.log", "x\n"),
        ("keep.log", "x\n"),
        ("only-top", "x\n"),
        ("sub/only-top", "x\n"),
        ("sub/.gitignore", "!a.log\nlocal.txt\n"),
        ("sub/a.log", "x\n"),
        ("sub/local.txt", "x\n"),
        ("local.txt", "x\n"),
        ("notes/n.md", "x\n"),
        (".git/info/exclude", "excluded.md\n"),
        ("excluded.md", "x\n"),
    ]);
    let shown = "keep.log=full local.txt=full sub/a.log=full sub/only-top=full";
    assert_eq!(summary(&tree.gather(&everything())), shown);
}

#[test]
fn a_pipe_is_not_opened() {
    let tree = Tree::new(&[("a.txt", "a\n")]);
    let made = std::process::Command::new("mkfifo").arg(tree.root().join("pipe")).status();
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(summary(&tree.gather(&everything())), "a.txt=full pipe!special");
    }
}

#[test]
fn a_name_cannot_forge_a_header() {
    let tree = Tree::new(&[("evil\n## other.rs (full)", "x\n"), ("plain.md", "```\n````rust\nx\n````\n")]);
    let project = tree.project();
    let context = project.gather(&everything(), &crate::tree::Bytes);
    assert!(context.text.contains("## evil\\n## other.rs (full) (full)\n"), "{}", context.text);
    assert!(context.text.contains("`````md\n```\n````rust\nx\n````\n`````\n"), "{}", context.text);
}
