//! What can be said to the chat itself: lines that begin with a slash.

use agent::Mode;
use llm::ModelRef;
use persona::Name;

/// The words, what may follow them, and what they do.
pub(super) const WORDS: &[(&str, &str, &str)] = &[
    ("help", "", "this list"),
    ("mode", "[plan|build]", "show the mode, or change it"),
    ("plan", "[approve|back WHY]", "show the plan, approve it, or send it back"),
    ("persona", "NAME", "have another persona go on"),
    ("model", "[PROVIDER/MODEL|default]", "show which model answers, or choose one"),
    ("history", "", "show all that was said"),
    ("undo", "", "take back your last message and what came of it"),
    ("quit", "", "leave; Ctrl-D does too"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Mode(Option<Mode>),
    Plan(Option<PlanWord>),
    Persona(Name),
    Model(Option<ModelWord>),
    History,
    Undo,
    Quit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelWord {
    /// The persona chooses again.
    Default,
    Named(ModelRef),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlanWord {
    Approve,
    SendBack(String),
}

/// Reads a line; none where it is a message, as one that begins with a path is.
pub(super) fn parse(line: &str) -> Option<Result<Slash, String>> {
    let line = line.trim();
    let rest = line.strip_prefix('/')?;
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
    is_word.then(|| command(&word.to_lowercase(), rest.trim()))
}

fn command(word: &str, rest: &str) -> Result<Slash, String> {
    let alone = |slash: Slash| match rest {
        "" => Ok(slash),
        _ => Err(format!("/{word} stands alone")),
    };
    match word {
        "help" => alone(Slash::Help),
        "mode" if rest.is_empty() => Ok(Slash::Mode(None)),
        "mode" => rest
            .parse()
            .map(|mode| Slash::Mode(Some(mode)))
            .map_err(|error: agent::ModeError| error.to_string()),
        "plan" => plan(rest).map(Slash::Plan),
        "persona" if rest.is_empty() => Err("name a persona, as in /persona mentor".to_owned()),
        "persona" => rest.parse().map(Slash::Persona).map_err(|error: persona::NameError| error.to_string()),
        "model" => model(rest).map(Slash::Model),
        "history" => alone(Slash::History),
        "undo" => alone(Slash::Undo),
        "quit" | "exit" => alone(Slash::Quit),
        _ => Err(match persona::nearest(word, WORDS.iter().map(|(word, ..)| *word)).first() {
            Some(near) => format!("there is no /{word}; did you mean /{near}?"),
            None => format!("there is no /{word}; /help lists what there is"),
        }),
    }
}

fn model(rest: &str) -> Result<Option<ModelWord>, String> {
    match rest {
        "" => Ok(None),
        "default" => Ok(Some(ModelWord::Default)),
        named => match named.parse() {
            Ok(model) => Ok(Some(ModelWord::Named(model))),
            Err(error) => Err(format!("{error}; /model default leaves it to the persona")),
        },
    }
}

fn plan(rest: &str) -> Result<Option<PlanWord>, String> {
    let (word, why) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (word, why.trim()) {
        ("", _) => Ok(None),
        ("approve", "") => Ok(Some(PlanWord::Approve)),
        ("back", "") => Err("say why, as in /plan back Keep the old name.".to_owned()),
        ("back", why) => Ok(Some(PlanWord::SendBack(why.to_owned()))),
        _ => Err("write /plan, /plan approve, or /plan back and why".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use agent::Mode;

    use super::{ModelWord, PlanWord, Slash, WORDS, parse};

    #[test]
    fn every_word_that_is_listed_is_known() {
        for (word, ..) in WORDS {
            let line = match *word {
                "persona" => "/persona mentor".to_owned(),
                word => format!("/{word}"),
            };
            assert!(matches!(parse(&line), Some(Ok(_))), "{line}");
        }
    }

    #[test]
    fn reads_what_follows() {
        assert_eq!(parse("/mode plan"), Some(Ok(Slash::Mode(Some(Mode::Plan)))));
        assert_eq!(parse(" /MODE "), Some(Ok(Slash::Mode(None))));
        assert_eq!(parse("/exit"), Some(Ok(Slash::Quit)));
        assert_eq!(parse("/plan approve"), Some(Ok(Slash::Plan(Some(PlanWord::Approve)))));
        assert_eq!(parse("/model"), Some(Ok(Slash::Model(None))));
        assert_eq!(parse("/model default"), Some(Ok(Slash::Model(Some(ModelWord::Default)))));
        let named = ModelWord::Named("hub/meta/llama".parse().expect("a model"));
        assert_eq!(parse("/model hub/meta/llama"), Some(Ok(Slash::Model(Some(named)))));
        let back = PlanWord::SendBack("keep it".to_owned());
        assert_eq!(parse("/plan back keep it"), Some(Ok(Slash::Plan(Some(back)))));
    }

    #[test]
    fn mistakes_are_told() {
        for (line, expected) in [
            ("/mod", "did you mean /mode?"),
            ("/xyzzy", "/help"),
            ("/mode fast", "expected plan or build"),
            ("/persona", "/persona mentor"),
            ("/persona a/b", "a/b"),
            ("/model sonnet", "/model default"),
            ("/plan back", "say why"),
            ("/plan yes", "/plan approve"),
            ("/undo it", "stands alone"),
        ] {
            let Some(Err(message)) = parse(line) else { panic!("{line} is taken") };
            assert!(message.contains(expected), "{line}: {message}");
        }
    }

    #[test]
    fn messages_are_none() {
        for line in ["hello", "/etc/hosts is empty", "/", "// a comment", "/3", "a /mode"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
