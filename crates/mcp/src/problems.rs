//! Mistakes in the files of personas, for whoever calls a tool while they are there.

use app::{Library, Problem, ProblemLevel};

use crate::limits::PROBLEMS;

/// What an answer adds while a file has a mistake: a person may not be looking at the terminal
/// that said so, and the model can tell them.
pub(crate) fn warning(library: &Library) -> Option<String> {
    if !library.has_errors() {
        return None;
    }
    worded(&library.problems())
}

/// The mistakes in words; none where nothing is kept from taking effect.
fn worded(problems: &[Problem]) -> Option<String> {
    let errors: Vec<&Problem> =
        problems.iter().filter(|problem| problem.level == ProblemLevel::Error).collect();
    if errors.is_empty() {
        return None;
    }
    let mut text =
        "warning: a file of personas has mistakes; what was last good there counts until they are mended"
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

    use super::*;

    fn problem(message: &str, level: ProblemLevel) -> Problem {
        Problem { level, ..Problem::of_file(Path::new("personas.toml"), message, None) }
    }

    #[test]
    fn only_mistakes_are_told() {
        assert_eq!(worded(&[]), None);
        assert_eq!(worded(&[problem("long", ProblemLevel::Warning)]), None);
        let mixed = [problem("wrong", ProblemLevel::Error), problem("long", ProblemLevel::Warning)];
        let text = worded(&mixed).expect("a mistake");
        assert!(text.starts_with("warning: ") && text.ends_with("\npersonas.toml: wrong"), "{text}");
    }

    #[test]
    fn many_mistakes_are_counted() {
        let many: Vec<Problem> =
            (1..=5).map(|number| problem(&format!("wrong {number}"), ProblemLevel::Error)).collect();
        let text = worded(&many).expect("mistakes");
        assert!(text.ends_with("\npersonas.toml: wrong 3\nand 2 more"), "{text}");
        let text = worded(&many[..3]).expect("mistakes");
        assert!(text.ends_with("\npersonas.toml: wrong 3"), "{text}");
    }
}
