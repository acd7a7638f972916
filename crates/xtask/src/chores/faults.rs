//! `cargo xtask faults`: every call to the system by which files change fails in turn, and the power goes at
//! every moment of a recorded run. `cargo xtask test` tries a few of each.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::cargo;
use crate::chores::workspace::Workspace;
use crate::chores::{process, strace};

/// The variable that asks the tests for every call, or every Nth.
const EVERY_VARIABLE: &str = "MASQUE_TEST_FAULTS_EVERY";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let every = parse(arguments)?;
    let workspace = Workspace::locate()?;
    let strace = strace::provide()?;
    let mut tests = cargo();
    tests
        .current_dir(&workspace.root)
        .args(["test", "--package", "masque", "--test", "it", "--"])
        .args(["failing_calls::", "power_cut::", "--nocapture"])
        .env(strace::VARIABLE, strace)
        .env(EVERY_VARIABLE, every.to_string());
    Ok(process::exit_code(process::status(&mut tests)?))
}

/// The step between the calls that fail.
fn parse(arguments: &[String]) -> Result<usize> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let every = match arguments.as_slice() {
        [] => 1,
        ["--every", every] => {
            every.parse().with_context(|| format!("--every takes a number, not {every:?}"))?
        }
        _ => bail!("faults takes nothing but --every N"),
    };
    if every == 0 {
        bail!("--every takes a number from 1 on");
    }
    Ok(every)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn every_call_fails_unless_a_step_is_named() {
        let parse =
            |arguments: &[&str]| parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(parse(&[]).ok(), Some(1));
        assert_eq!(parse(&["--every", "7"]).ok(), Some(7));
        for wrong in [&["--every"][..], &["--every", "0"], &["--every", "x"], &["7"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
