//! context: the files of the project that a prompt would have.

use app::inputs::ShowContext;
use clap::Args;
use persona::{Aggregation, Kind, Name};

use super::{kind_of, vocabulary};
use crate::failure::{CommandError, Result};

#[derive(Debug, Args)]
#[command(override_usage = "masque context [OPTIONS] [[KIND] NAME] [FILE]...")]
#[command(after_help = "\
Shows what a run would see of the project's files: of each the view, the tokens and why it is there. Calls no \
model: a file without a summary is shown as an outline. NAME is a context preset, or a persona with a preset or \
a strategy of its own. A first word with a dot or a slash is a file; write ./Makefile for one without.

  masque context codebase_skeleton
  masque context persona code_reviewer --budget 8000
  masque context --strategy skeleton src/main.rs
  masque context --for \"Retry a failed upload\" --budget 4000
  masque context codebase_skeleton --text | less")]
pub(crate) struct ContextArgs {
    /// Context preset or persona, after its kind if both kinds have the name; then files that come first and
    /// in full
    #[arg(value_name = "NAME")]
    words: Vec<String>,
    /// How files are condensed [default: that of the persona, else auto]
    #[arg(long, value_name = "STRATEGY", value_parser = vocabulary(Aggregation::ALL, Aggregation::as_str))]
    strategy: Option<Aggregation>,
    /// Most tokens of all files together [default: that of the preset]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,
    /// The task in words, which decides what files matter
    #[arg(long = "for", value_name = "TEXT", default_value = "", hide_default_value = true)]
    task: String,
    /// Print the text itself
    #[arg(long)]
    pub(crate) text: bool,
}

/// What decides which files are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ContextOf {
    /// No name: the strategy alone.
    Project,
    Preset(Name),
    Persona(Name),
    /// A preset, or else a persona.
    Either(Name),
}

impl ContextArgs {
    /// What is shown, and the files.
    pub(crate) fn target(&self) -> Result<(ContextOf, &[String])> {
        let (of, files) = match self.words.as_slice() {
            [kind, name, files @ ..] if kind_of(kind).is_ok() && !is_path(name) => {
                let name = Name::parse(name)?;
                let of = match kind_of(kind)? {
                    Kind::ContextPreset => ContextOf::Preset(name),
                    Kind::Persona => ContextOf::Persona(name),
                    kind => {
                        let kinds = vec![Kind::ContextPreset, Kind::Persona];
                        return Err(CommandError::OtherKind { command: "context", kind, kinds }.into());
                    }
                };
                (of, files)
            }
            [name, files @ ..] if !is_path(name) => (ContextOf::Either(Name::parse(name)?), files),
            files => (ContextOf::Project, files),
        };
        Ok((of, files))
    }

    /// The input without preset, persona and files.
    pub(crate) fn input(&self) -> ShowContext {
        let Self { strategy, budget, task, .. } = self;
        ShowContext { strategy: *strategy, budget: *budget, task: task.clone(), ..ShowContext::default() }
    }
}

fn is_path(word: &str) -> bool {
    word.contains(['.', '/', '\\'])
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use crate::cli::{Cli, Command, RunCommand, command};

    fn check(line: &str, expected: &str) {
        let words = ["masque", "context"].into_iter().chain(line.split_whitespace());
        let matches = command().try_get_matches_from(words).expect(line);
        let Command::Run(RunCommand::Context(args)) = Cli::from_arg_matches(&matches).expect(line).command
        else {
            panic!("{line:?} is another command");
        };
        let understood = match args.target() {
            Ok((of, files)) => format!("{of:?} {}", files.join(" ")).trim_end().to_owned(),
            Err(failure) => failure.sentence().unwrap_or_default(),
        };
        assert_eq!(understood, expected, "{line:?}");
    }

    #[test]
    fn a_word_is_a_name_unless_it_is_a_path() {
        check("", "Project");
        check("small", "Either(\"small\")");
        check("small src/main.rs", "Either(\"small\") src/main.rs");
        check("src/main.rs", "Project src/main.rs");
        check("Cargo.toml src", "Project Cargo.toml src");
        check("persona mentor a.rs", "Persona(\"mentor\") a.rs");
        check("context-preset small", "Preset(\"small\")");
        check("persona", "Either(\"persona\")");
        check("persona ./mentor", "Either(\"persona\") ./mentor");
    }

    #[test]
    fn other_kinds_have_no_files() {
        check("part calm", "context takes context presets, personas only; use context_preset or persona");
    }
}
