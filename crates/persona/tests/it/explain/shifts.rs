//! Names and placeholders whose meaning changes in a flat persona.

use persona::Bundle;
use persona::explain::{Holders, flat, written_out};

use super::lacking;
use crate::script::{name, read};

/// Asserts what a flat persona would mean otherwise; `holders` has `kind:name=scope,scope`.
#[track_caller]
fn check_shifts(bundle: &Bundle, holders: &[&str], expected: &[&str]) {
    let mut known = Holders::default();
    for holder in holders {
        let (piece, scopes) = holder.split_once('=').expect("scopes");
        let (kind, piece) = piece.split_once(':').expect("a kind");
        let scopes = scopes.split(',').map(|scope| scope.parse().expect("a scope")).collect();
        known.insert(kind.parse().expect("a kind"), name(piece), scopes);
    }
    let written = written_out(bundle, &known);
    let shifts: Vec<String> = written.shifts.iter().map(ToString::to_string).collect();
    assert_eq!(shifts, expected, "{holders:?}");
    assert_eq!((written.persona, written.scope), (flat(bundle), bundle.meta.scope));
}

#[test]
fn names_that_would_mean_another_piece_are_listed() {
    let (based, _) =
        read("scope shared | own tone=warm | from part:warm=builtin > scope project | own goal=win");
    check_shifts(&based, &["part:warm=builtin", "part:win=project,shared"], &[]);
    for (holders, said) in [
        ("part:warm=shared,builtin", "part warm is a builtin here; in project the name means shared's"),
        ("part:warm=global,builtin", "part warm is a builtin here; in project the name means global's"),
        ("part:warm=project,global", "part warm is a builtin here; in project the name means project's"),
    ] {
        check_shifts(&based, &[holders], &[said]);
    }
    let lost = lacking("scope shared | own tone=gone > scope project", &["gone"]);
    check_shifts(&lost, &[], &[]);
    check_shifts(
        &lost,
        &["part:gone=project"],
        &["part gone leads nowhere here; in project the name means project's"],
    );
    // Named twice, told once; a stage is not written out.
    let script = "scope shared | set tool_preset=tools plan.tool_preset=tools arc=growth > scope global \
                  | stage tone=cold | arc shared";
    check_shifts(
        &read(script).0,
        &["tool_preset:tools=global,shared", "arc:growth=shared", "part:cold=global,shared"],
        &["tool preset tools is shared's here; in global the name means global's"],
    );
    let (listed, _) = read("scope shared | skills sql | inputs hello > scope project");
    check_shifts(
        &listed,
        &["skill:sql=project,shared", "test_input:hello=project,shared"],
        &[
            "skill sql is shared's here; in project the name means project's",
            "test input hello is shared's here; in project the name means project's",
        ],
    );
}

#[test]
fn placeholders_that_would_count_are_listed() {
    let wakes = "in system_prompt came from shared, where it means nothing; in a file it counts";
    for (script, said) in [
        ("scope shared | prompt ${env.KEY} > scope project", vec![format!("${{env.KEY}} {wakes}")]),
        (
            "scope shared | prompt ${env.KEY} > scope global | prompt+ ${env.OWN}",
            vec![format!("${{env.KEY}} {wakes}")],
        ),
        ("scope shared | prompt ${env.KEY} > scope project | prompt Mine", Vec::new()),
        ("scope builtin | prompt ${env.KEY} > scope shared", Vec::new()),
        ("scope global | prompt ${env.KEY} > scope project", Vec::new()),
        (
            "scope builtin | set detail=${env.A}${env.A} plan.instruction=${env.B} > scope project",
            vec![
                "${env.A} in detail came from a builtin, where it means nothing; in a file it counts".to_owned(),
                "${env.B} in plan_persona.instruction came from a builtin, where it means nothing; in a file it counts"
                    .to_owned(),
            ],
        ),
    ] {
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        check_shifts(&read(script).0, &[], &said);
    }
}
