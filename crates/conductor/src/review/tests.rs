use super::*;

/// Checks a review, written `verdict path:line:severity …`.
#[track_caller]
fn check(script: &str, expected: &str) {
    let mut words = script.split(' ');
    let verdict = words.next().expect("a verdict");
    let findings: Vec<Finding> = words
        .map(|word| {
            let mut parts = word.rsplitn(3, ':');
            let severity = parts.next().expect("a severity");
            Finding {
                severity: serde_json::from_value(severity.into()).expect("a severity"),
                line: parts.next().and_then(|line| line.parse().ok()).expect("a line"),
                path: parts.next().unwrap_or_default().to_owned(),
                scenario: "s".to_owned(),
            }
        })
        .collect();
    let verdict = serde_json::from_value(verdict.into()).expect("a verdict");
    let review = Review { verdict, summary: String::new(), findings };
    assert_eq!(review.problem().unwrap_or_default(), expected, "{script}");
}

#[test]
fn reviews() {
    check("pass", "");
    check("pass a.rs:1:minor", "");
    check("rework a.rs:1:minor a.rs:1:major", "");
    check("block a.rs:1:critical", "");
    check("rework", "Name at least one finding, or use the verdict \"pass\".");
    check("block", "Name at least one finding, or use the verdict \"pass\".");
    check(
        "pass a.rs:1:major",
        "The verdict is \"pass\", but a finding is major or critical: use \"rework\", or lower its severity.",
    );
    check(
        "rework a.rs:1:minor",
        "Every finding is minor, and minor findings keep nothing from being merged: use the verdict \"pass\", \
         or raise a severity.",
    );
    check("rework a.rs:0:major", "The finding in \"a.rs\" has the line 0; lines count from 1.");
    check(
        "rework /a.rs:1:major",
        "\"/a.rs\" is not the path of a finding: write it relative to the project's root.",
    );
    check("rework :1:major", "\"\" is not the path of a finding: write it relative to the project's root.");
}
