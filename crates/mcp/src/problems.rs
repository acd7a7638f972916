//! Errors in personas.toml files, for callers of tools.

use app::{Library, Problem, ProblemLevel, Tokenizer};
use persona::TokenCounter as _;

use crate::limits::PROBLEMS;

/// The warning where only few tokens are left for it.
const BRIEF: &str = "warning: personas.toml has errors";

/// The warning that follows an answer while a file has an error. The user may not see the terminal,
/// but the model can tell them. Where an answer has a budget, `room` is what it leaves: the warning is
/// short, or missing, if it does not fit.
pub(crate) fn warning(library: &Library, room: impl FnOnce() -> Option<usize>) -> Option<String> {
    if !library.has_errors() {
        return None;
    }
    let whole = worded(&library.problems())?;
    let room = room();
    let fits = |text: &String| room.is_none_or(|room| Tokenizer.count(text) <= room);
    [whole, BRIEF.to_owned()].into_iter().find(fits)
}

/// The errors in words. None if every entry is in force.
fn worded(problems: &[Problem]) -> Option<String> {
    let errors: Vec<&Problem> =
        problems.iter().filter(|problem| problem.level == ProblemLevel::Error).collect();
    if errors.is_empty() {
        return None;
    }
    let mut text =
        "warning: personas.toml has errors; entries with errors keep their last valid version until fixed"
            .to_owned();
    for problem in errors.iter().take(PROBLEMS) {
        text.push_str(&format!("\n{problem}"));
    }
    match errors.len().saturating_sub(PROBLEMS) {
        0 => {}
        more => text.push_str(&format!("\nand {more} more")),
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use persona::Code;

    use super::*;

    fn problem(message: &str, level: ProblemLevel) -> Problem {
        Problem {
            level,
            ..Problem::of_file(Path::new("personas.toml"), Code::InvalidDocument, message, None)
        }
    }

    #[test]
    fn only_errors_are_worded() {
        assert_eq!(worded(&[]), None);
        assert_eq!(worded(&[problem("long", ProblemLevel::Warning)]), None);
        let mixed = [problem("wrong", ProblemLevel::Error), problem("long", ProblemLevel::Warning)];
        let text = worded(&mixed).expect("an error");
        assert!(text.starts_with("warning: ") && text.ends_with("\npersonas.toml: wrong"), "{text}");
    }

    #[test]
    fn many_errors_are_counted() {
        let many: Vec<Problem> =
            (1..=5).map(|number| problem(&format!("wrong {number}"), ProblemLevel::Error)).collect();
        let text = worded(&many).expect("errors");
        assert!(text.ends_with("\npersonas.toml: wrong 3\nand 2 more"), "{text}");
        let text = worded(&many[..3]).expect("errors");
        assert!(text.ends_with("\npersonas.toml: wrong 3"), "{text}");
    }
}
