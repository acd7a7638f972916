//! Kinds on the command line, and the `[KIND] NAME` arguments.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use app::{Code, Remedy, Report};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use persona::{Kind, Name, ParseKindError};

use super::ScopeOption;
use crate::failure::{CommandError, Failure, Result};

/// A kind on the command line, in the singular or plural, with dashes or underscores, in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindWord(Kind);

/// The spellings of each kind, in the order of [`Kind::ALL`]. Help shows the first.
static SPELLINGS: LazyLock<Vec<(KindWord, [String; 4])>> = LazyLock::new(|| {
    let spellings = |kind: &Kind| {
        let (one, many) = (kind.as_str().to_owned(), kind.table().to_owned());
        (KindWord(*kind), [one.replace('_', "-"), many.replace('_', "-"), one, many])
    };
    Kind::ALL.iter().map(spellings).collect()
});

impl KindWord {
    fn spellings(self) -> &'static [String] {
        SPELLINGS.iter().find(|(word, _)| *word == self).map_or(&[], |(_, spellings)| spellings)
    }

    /// The spelling in commands and help: `tool-preset`.
    pub(crate) fn dashed(self) -> &'static str {
        self.spellings().first().map_or(self.0.as_str(), String::as_str)
    }

    /// The kind of a word that has a spelling in another case, such as `Part`.
    pub(super) fn in_another_case(word: &str) -> Option<Self> {
        SPELLINGS.iter().find_map(|(kind, spellings)| {
            let known = spellings.iter().find(|known| known.eq_ignore_ascii_case(word))?;
            (known != word).then_some(*kind)
        })
    }

    /// Every spelling except the one that help shows.
    pub(crate) fn others(self) -> BTreeSet<&'static str> {
        self.spellings().iter().map(String::as_str).filter(|word| *word != self.dashed()).collect()
    }
}

impl ValueEnum for KindWord {
    fn value_variants<'a>() -> &'a [Self] {
        static WORDS: LazyLock<Vec<KindWord>> =
            LazyLock::new(|| Kind::ALL.iter().copied().map(KindWord).collect());
        &WORDS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.dashed()).aliases(self.others()))
    }
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        word.0
    }
}

impl From<Kind> for KindWord {
    fn from(kind: Kind) -> Self {
        Self(kind)
    }
}

/// `[KIND] NAME` and the words after it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target<'a> {
    /// None if only a name was given. `lookup` then finds the kind that has it.
    pub(crate) kind: Option<Kind>,
    pub(crate) name: Name,
    pub(crate) rest: &'a [String],
}

impl<'a> Target<'a> {
    /// Parses the words. The first word is a kind if it names one and at least `fewest` words follow
    /// the name; `persona NAME` selects a persona named like a kind. At most `most` words may follow the
    /// name. `option` selects the scope.
    pub(crate) fn parse(
        words: &'a [String],
        (fewest, most): (usize, usize),
        option: ScopeOption,
    ) -> Result<Self> {
        let [first, others @ ..] = words else {
            let example = "`mentor` or `part plain-tone`".to_owned();
            return Err(CommandError::MissingArgument { argument: "NAME", example }.into());
        };
        let (kind, name, rest) = match (kind_of(first), others) {
            (Ok(kind), [name, rest @ ..]) if rest.len() >= fewest => (Some(kind), name, rest),
            // This many words need a kind, so the first is a misspelt kind.
            (Err(unknown), _) if others.len() > most => return Err(unknown),
            (_, rest) => (None, first, rest),
        };
        if rest.len() > most {
            return Err(CommandError::UnexpectedArgument { after: name.clone() }.into());
        }
        let name = parse_name(name, option)?;
        Ok(Self { kind, name, rest })
    }

    /// Parses a name of a kind that is already known, or left open.
    pub(crate) fn of_kind(kind: Option<Kind>, name: &str, option: ScopeOption) -> Result<Self> {
        Ok(Self { kind, name: parse_name(name, option)?, rest: &[] })
    }

    /// Parses the words of a command that takes one kind only, which may be written before the name.
    pub(crate) fn only(
        kind: Kind,
        command: &'static str,
        words: &'a [String],
        (fewest, most): (usize, usize),
        option: ScopeOption,
    ) -> Result<Self> {
        if let [first, others @ ..] = words
            && others.len() > most
            && near_kinds(first).is_empty()
        {
            // A word that resembles no kind is the name.
            let after = words.get(most).unwrap_or(first).clone();
            return Err(CommandError::UnexpectedArgument { after }.into());
        }
        let target = Self::parse(words, (fewest, most), option)?;
        match target.kind {
            Some(other) if other != kind => {
                Err(CommandError::OtherKind { command, kind: other, kinds: vec![kind] }.into())
            }
            _ => Ok(target),
        }
    }

    /// Parses the words of a command that also takes the kind as a flag.
    pub(crate) fn with_flag(
        words: &'a [String],
        flag: Option<KindWord>,
        option: ScopeOption,
    ) -> Result<Self> {
        let Some(kind) = flag else { return Self::parse(words, (0, 0), option) };
        match words {
            [word] => Self::of_kind(Some(kind.into()), word, option),
            [first, ..] => Err(CommandError::UnexpectedArgument { after: first.clone() }.into()),
            [] => Self::parse(words, (0, 0), option),
        }
    }
}

/// The name of a persona, which may follow its kind, in a command without further words.
pub(super) fn only_persona(command: &'static str, words: &[String]) -> Result<Name> {
    Ok(Target::only(Kind::Persona, command, words, (0, 0), ScopeOption::OF_READING)?.name)
}

fn parse_name(word: &str, option: ScopeOption) -> Result<Name> {
    option.parse_name(word).map_err(|wrong| Failure::new(Code::InvalidName, wrong))
}

/// Parses a kind, in the singular or plural.
pub(crate) fn kind_of(word: &str) -> Result<Kind> {
    match <KindWord as ValueEnum>::from_str(word, true) {
        Ok(kind) => Ok(kind.into()),
        Err(_) => word.parse().map_err(|error: ParseKindError| {
            let near = persona::nearest(&error.word, error.known.iter().copied());
            let words = if near.is_empty() { error.known } else { &near };
            let words: Vec<String> = words.iter().map(|word| word.replace('_', "-")).collect();
            let message = format!("unknown kind {:?}", error.word);
            let report = Report::new(Code::UnknownWord, message).with_candidates(words.clone());
            let remedy = if near.is_empty() { Remedy::UseOneOf { words } } else { Remedy::DidYouMean };
            report.with_remedy(remedy).into()
        }),
    }
}

/// Kinds with a spelling like this word.
fn near_kinds(word: &str) -> Vec<Kind> {
    match kind_of(word) {
        Ok(kind) => vec![kind],
        Err(_) => {
            let near = persona::nearest(word, Kind::ALL.iter().map(|kind| kind.as_str()));
            near.into_iter().filter_map(|word| word.parse().ok()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use persona::Kind;

    use super::{ScopeOption, Target};

    /// Checks the target of some words. The pair says how many words must and may follow the name.
    fn check(words: &str, (fewest, most): (usize, usize), expected: &str) {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let understood = match Target::parse(&words, (fewest, most), ScopeOption::OF_READING) {
            Ok(Target { kind, name, rest }) => {
                let kind = kind.map(|kind| format!("{kind} ")).unwrap_or_default();
                format!("{kind}{name} {}", rest.join(" "))
            }
            Err(failure) => failure.sentence().unwrap_or_default(),
        };
        assert!(understood.trim_end().starts_with(expected), "{words:?}: {understood}");
    }

    #[test]
    fn a_kind_may_stand_before_a_name() {
        check("mentor", (0, 0), "mentor");
        check("part calm", (0, 0), "part calm");
        check("tool_presets editor", (0, 0), "tool_preset editor");
        check("test-input x", (0, 0), "test_input x");
        check("prat calm", (0, 0), "unknown kind \"prat\"; did you mean \"part\"?");
        check("tool_prest x", (0, 0), "unknown kind \"tool_prest\"; did you mean \"tool-preset\"?");
        check("part", (0, 0), "part");
        check("persona part", (0, 0), "persona part");
        check("", (0, 0), "missing argument NAME");
        check("a/b", (0, 0), "");
        check("part builtin:calm", (0, 0), "use --scope for the scope: `calm --scope builtin`");
        for kind in Kind::ALL {
            check(&format!("{kind} x"), (0, 0), &format!("{kind} x"));
        }
    }

    #[test]
    fn commands_for_one_kind_take_it_before_the_name() {
        let only = |words: &str, follow: (usize, usize)| {
            let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            match Target::only(Kind::Persona, "chat", &words, follow, ScopeOption::OF_READING) {
                Ok(Target { name, rest, .. }) => format!("{name} {}", rest.join(" ")).trim_end().to_owned(),
                Err(failure) => failure.sentence().unwrap_or_default(),
            }
        };
        assert_eq!(only("mentor", (0, 0)), "mentor");
        assert_eq!(only("persona mentor", (0, 0)), "mentor");
        assert_eq!(only("personas mentor", (0, 0)), "mentor");
        assert_eq!(only("persona", (0, 0)), "persona");
        assert_eq!(only("persona path", (1, 1)), "persona path");
        assert_eq!(only("persona mentor path", (1, 1)), "mentor path");
        assert!(
            only("part calm", (0, 0)).starts_with("chat takes personas only"),
            "{}",
            only("part calm", (0, 0))
        );
        assert!(only("mentor hello", (0, 0)).starts_with("unexpected argument after \"mentor\""));
        assert!(only("a b c", (1, 1)).starts_with("unexpected argument after \"b\""));
        assert!(only("perosna mentor", (0, 0)).contains("did you mean \"persona\"?"));
    }

    #[test]
    fn revisions_follow_the_name() {
        check("mentor 1 2", (0, 2), "mentor 1 2");
        check("part calm 1", (0, 2), "part calm 1");
        check("part calm 1 2", (0, 2), "part calm 1 2");
        check("prat calm 1 2", (0, 2), "unknown kind \"prat\"");
        check("part 3", (1, 1), "part 3");
        check("part calm 3", (1, 1), "part calm 3");
        check("mentor calm 3", (1, 1), "unknown kind \"mentor\"");
        check("part calm 3 4", (1, 1), "unexpected argument after \"calm\"");
    }
}
