//! Slash commands of the chat.

use agent::Mode;
use llm::ModelRef;
use persona::Name;

/// The commands, their arguments and their help.
pub(super) const WORDS: &[(&str, &str, &str)] = &[
    ("help", "", "show this list"),
    ("mode", "[plan|build]", "show the mode, or change it"),
    ("plan", "[approve|back WHY]", "show the plan, approve it, or send it back"),
    ("persona", "NAME", "continue with another persona"),
    ("model", "[PROVIDER/MODEL|default]", "show the model, or choose one"),
    ("history", "", "show all messages"),
    ("undo", "", "remove your last message and its answer"),
    ("quit", "", "quit (also Ctrl-D)"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SlashCommand {
    Help,
    Mode(Option<Mode>),
    Plan(Option<PlanArgument>),
    Persona(Name),
    Model(Option<ModelArgument>),
    History,
    Undo,
    Quit,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelArgument {
    /// The persona's choice.
    Default,
    Named(ModelRef),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlanArgument {
    Approve,
    SendBack(String),
}

/// Parses a command. None for a message, including one that begins with a path.
pub(super) fn parse(line: &str) -> Option<Result<SlashCommand, String>> {
    let line = line.trim();
    let rest = line.strip_prefix('/')?;
    let (word, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
    is_word.then(|| command(&word.to_lowercase(), rest.trim()))
}

fn command(word: &str, rest: &str) -> Result<SlashCommand, String> {
    let alone = |slash: SlashCommand| match rest {
        "" => Ok(slash),
        _ => Err(format!("/{word} takes no argument")),
    };
    match word {
        "help" => alone(SlashCommand::Help),
        "mode" if rest.is_empty() => Ok(SlashCommand::Mode(None)),
        "mode" => rest
            .parse()
            .map(|mode| SlashCommand::Mode(Some(mode)))
            .map_err(|error: agent::ModeError| error.to_string()),
        "plan" => plan(rest).map(SlashCommand::Plan),
        "persona" if rest.is_empty() => Err("missing name, for example /persona mentor".to_owned()),
        "persona" => {
            rest.parse().map(SlashCommand::Persona).map_err(|error: persona::NameError| error.to_string())
        }
        "model" => model(rest).map(SlashCommand::Model),
        "history" => alone(SlashCommand::History),
        "undo" => alone(SlashCommand::Undo),
        "quit" | "exit" => alone(SlashCommand::Quit),
        _ => Err(match persona::nearest(word, WORDS.iter().map(|(word, ..)| *word)).first() {
            Some(near) => format!("unknown command /{word}; did you mean /{near}?"),
            None => format!("unknown command /{word}; /help lists all commands"),
        }),
    }
}

fn model(rest: &str) -> Result<Option<ModelArgument>, String> {
    match rest {
        "" => Ok(None),
        "default" => Ok(Some(ModelArgument::Default)),
        named => match named.parse() {
            Ok(model) => Ok(Some(ModelArgument::Named(model))),
            Err(error) => Err(format!("{error}; /model default lets the persona choose")),
        },
    }
}

fn plan(rest: &str) -> Result<Option<PlanArgument>, String> {
    let (word, why) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (word, why.trim()) {
        ("", _) => Ok(None),
        ("approve", "") => Ok(Some(PlanArgument::Approve)),
        ("back", "") => Err("missing reason, for example /plan back Keep the old name.".to_owned()),
        ("back", why) => Ok(Some(PlanArgument::SendBack(why.to_owned()))),
        _ => Err("expected /plan, /plan approve, or /plan back REASON".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use agent::Mode;

    use super::{ModelArgument, PlanArgument, SlashCommand, WORDS, parse};

    #[test]
    fn every_listed_command_parses() {
        for (word, ..) in WORDS {
            let line = match *word {
                "persona" => "/persona mentor".to_owned(),
                word => format!("/{word}"),
            };
            assert!(matches!(parse(&line), Some(Ok(_))), "{line}");
        }
    }

    #[test]
    fn arguments_are_parsed() {
        assert_eq!(parse("/mode plan"), Some(Ok(SlashCommand::Mode(Some(Mode::Plan)))));
        assert_eq!(parse(" /MODE "), Some(Ok(SlashCommand::Mode(None))));
        assert_eq!(parse("/exit"), Some(Ok(SlashCommand::Quit)));
        assert_eq!(parse("/plan approve"), Some(Ok(SlashCommand::Plan(Some(PlanArgument::Approve)))));
        assert_eq!(parse("/model"), Some(Ok(SlashCommand::Model(None))));
        assert_eq!(parse("/model default"), Some(Ok(SlashCommand::Model(Some(ModelArgument::Default)))));
        let named = ModelArgument::Named("hub/meta/llama".parse().expect("a model"));
        assert_eq!(parse("/model hub/meta/llama"), Some(Ok(SlashCommand::Model(Some(named)))));
        let back = PlanArgument::SendBack("keep it".to_owned());
        assert_eq!(parse("/plan back keep it"), Some(Ok(SlashCommand::Plan(Some(back)))));
    }

    #[test]
    fn invalid_commands_are_errors() {
        for (line, expected) in [
            ("/mod", "did you mean /mode?"),
            ("/xyzzy", "/help"),
            ("/mode fast", "expected plan or build"),
            ("/persona", "/persona mentor"),
            ("/persona a/b", "a/b"),
            ("/model sonnet", "/model default"),
            ("/plan back", "missing reason"),
            ("/plan yes", "/plan approve"),
            ("/undo it", "takes no argument"),
        ] {
            let Some(Err(message)) = parse(line) else { panic!("{line} is accepted") };
            assert!(message.contains(expected), "{line}: {message}");
        }
    }

    #[test]
    fn messages_are_no_commands() {
        for line in ["hello", "/etc/hosts is empty", "/", "// a comment", "/3", "a /mode"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
