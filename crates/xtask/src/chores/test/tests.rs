use anyhow::anyhow;

use super::*;

fn need(setup: &mut Setup, outcome: Result<u32>) -> Result<Option<u32>> {
    setup.need("a thing", "its tests are", || outcome, u32::to_string)
}

#[test]
fn a_missing_piece_is_skipped_loudly_outside_ci() {
    let mut setup = Setup::new(false);
    let provided = need(&mut setup, Err(anyhow!("not here"))).expect("no failure");
    assert_eq!(provided, None);
    assert_eq!(setup.missing, ["!!! a thing was not found: its tests are SKIPPED !!!\n    not here"]);
}

#[test]
fn a_missing_piece_fails_ci() {
    let mut setup = Setup::new(true);
    let error = need(&mut setup, Err(anyhow!("not here"))).expect_err("a failure");
    assert_eq!(format!("{error:#}"), "CI=true needs a thing: not here");
}

#[test]
fn a_provided_piece_is_a_step() {
    let mut setup = Setup::new(true);
    assert_eq!(need(&mut setup, Ok(7)).expect("no failure"), Some(7));
    assert!(setup.missing.is_empty());
    assert!(setup.steps[0].starts_with("a thing: 7 ("));
}

#[test]
fn a_picked_package_is_not_the_workspace() {
    let selects = |line: &str| {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        selects_packages(&arguments)
    };
    assert!(selects("-p store"));
    assert!(selects("--package=store --lib"));
    assert!(!selects(""));
    assert!(!selects("--doc -- -p"));
}
