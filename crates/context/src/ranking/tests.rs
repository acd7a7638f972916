use super::*;

fn facts<'a>(path: &'a str, defines: &[&'a str], uses: &[&'a str], imports: &[usize]) -> Facts<'a> {
    let mut uses: Vec<(&str, u32)> = uses.iter().map(|name| (*name, 1)).collect();
    uses.sort_unstable();
    Facts { path, defines: defines.to_vec(), uses, imports: imports.to_vec(), is_focus: false }
}

fn order(files: &[Facts<'_>], seeds: &Seeds) -> Vec<String> {
    let ranks = Ranks::of(files, seeds);
    assert!((ranks.scores.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", ranks.scores);
    ranks.order(files).into_iter().map(|file| files[file].path.to_owned()).collect()
}

fn small() -> Vec<Facts<'static>> {
    vec![
        facts("src/alone.rs", &["lonely"], &["println"], &[]),
        facts("src/callee.rs", &["parse_order"], &[], &[]),
        facts("src/caller.rs", &["run"], &["parse_order"], &[]),
        facts("src/common.rs", &["shared"], &[], &[]),
    ]
}

#[test]
fn a_callee_outranks_an_unrelated_file() {
    let mut files = small();
    files[2].is_focus = true;
    assert_eq!(order(&files, &Seeds::default())[..2], ["src/caller.rs", "src/callee.rs"]);
}

#[test]
fn imports_of_focus_files_come_right_behind_them() {
    let mut files = small();
    files[2].is_focus = true;
    files[2].imports = vec![3];
    assert_eq!(order(&files, &Seeds::default())[..3], ["src/caller.rs", "src/common.rs", "src/callee.rs"]);
}

#[test]
fn words_of_the_task_seed_the_walk() {
    let check = |text: &str, failing: &str, sibling: Option<&str>, first: &str| {
        let siblings = sibling.map(str::to_owned).into_iter().collect();
        let seeds = Seeds { text: text.to_owned(), failing: failing.to_owned(), siblings };
        assert_eq!(order(&small(), &seeds)[0], first, "{seeds:?}");
    };
    check("`lonely` is wrong", "", None, "src/alone.rs");
    check("parse_order drops the last row", "", None, "src/callee.rs");
    check("see src/common.rs.", "", None, "src/common.rs");
    check("the common module", "", None, "src/common.rs");
    check("", "thread panicked at /build/1/src/alone.rs:12:5", None, "src/alone.rs");
    check("", "alone.rs:12: error", None, "src/alone.rs");
    check("", "", Some("src/common.rs"), "src/common.rs");
}

#[test]
fn a_name_with_many_definers_says_nothing() {
    let paths: Vec<String> = (0..40).map(|number| format!("f{number:02}.rs")).collect();
    let mut files: Vec<Facts<'_>> = paths.iter().map(|path| facts(path, &["new"], &[], &[])).collect();
    files.push(facts("target.rs", &["rare"], &[], &[]));
    files.push(facts("user.rs", &["main"], &["new", "rare"], &[]));
    files[41].is_focus = true;
    assert_eq!(order(&files, &Seeds::default())[..2], ["user.rs", "target.rs"]);
    let ranks = Ranks::of(&files, &Seeds::default());
    assert!(ranks.of_name(40, "rare") > 0.0);
    assert!(ranks.of_name(0, "new").abs() < f64::EPSILON);
}

#[test]
fn a_project_without_files_has_no_order() {
    assert!(order_of_nothing().is_empty());
}

fn order_of_nothing() -> Vec<usize> {
    let ranks = Ranks::of(&[], &Seeds::default());
    ranks.order(&[])
}
