//! Prints a run for people.

use super::suite::{Outcome, Scenario, Status};

/// Messages of the suite can hold whole JSON documents; the rest is in its log.
const MESSAGE_LENGTH: usize = 300;

pub(super) fn print(outcome: &Outcome) {
    println!("\nMCP {}", outcome.revision);
    println!("  {:<6} {:<46} ok fail warn", "", "scenario");
    for scenario in &outcome.scenarios {
        print_scenario(scenario);
    }
    let scored = || outcome.scenarios.iter().filter(|scenario| scenario.scored);
    println!(
        "  {} of {} required scenarios passed; the suite's exit code says {} (log: {})",
        scored().filter(|scenario| scenario.passed()).count(),
        scored().count(),
        if outcome.succeeded { "success" } else { "failure" },
        outcome.log.display()
    );
    // An exception explains a failure that did not count, or is stale; only the suite can say which.
    if scored().all(Scenario::passed) != outcome.succeeded {
        println!("{}", outcome.closing_words);
    }
}

fn print_scenario(scenario: &Scenario) {
    let verdict = match (scenario.passed(), scenario.scored) {
        (true, true) => "ok",
        (false, true) => "FAIL",
        (true, false) => "(ok)",
        (false, false) => "(fail)",
    };
    println!(
        "  {verdict:<6} {:<46} {:>2} {:>4} {:>4}",
        scenario.name,
        scenario.count(Status::Success),
        scenario.count(Status::Failure),
        scenario.count(Status::Warning)
    );
    if scenario.checks.is_none() {
        println!("           left no result");
    }
    // Scenarios that don't count are shown in one line each: extensions that we don't have fail at length.
    let checks = scenario.checks.iter().flatten().filter(|_| scenario.scored);
    for check in checks {
        if matches!(check.status, Status::Failure | Status::Warning) {
            let message: String = check.message.chars().take(MESSAGE_LENGTH).collect();
            println!("           {}: {}", check.id, message.replace('\n', " "));
        }
    }
}

/// The pass without a server. Scenarios that pass here say nothing when they pass elsewhere.
pub(super) fn print_stopped(outcome: &Outcome, proven: bool) {
    let vacuous: Vec<&str> = outcome
        .scenarios
        .iter()
        .filter(|scenario| scenario.scored && scenario.passed())
        .map(|scenario| scenario.name.as_str())
        .collect();
    let unfinished = outcome.unfinished();
    println!(
        "\nMCP {} with the server stopped: {}",
        outcome.revision,
        if proven { "fails, as it must" } else { "PROVES NOTHING" }
    );
    if !vacuous.is_empty() {
        println!("  passed all the same: {}", vacuous.join(", "));
    }
    if !unfinished.is_empty() {
        println!("  did not run: {} (log: {})", unfinished.join(", "), outcome.log.display());
    }
}
