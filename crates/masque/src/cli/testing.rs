//! test, compare.

use app::inputs::{CompareTests, RevisionText, TestOptions, TestPersona};
use clap::{Args, ValueEnum};
use llm::ModelRef;
use persona::{Kind, Name};

use super::kind::only_persona;
use super::{OnlyIn, ScopeOption, Target};
use crate::failure::Result;

#[derive(Debug, Args)]
#[command(override_usage = "masque test [OPTIONS] [persona] <NAME[@REV]>")]
#[command(after_help = "\
Runs the test inputs of a persona and checks the replies against their expectations. Replies and \
verdicts are kept: the same test again costs nothing, and one that --max-calls ended goes on. Exits with \
0 if every reply passes, 1 if one fails or has no verdict, 7 if some have not been run. Verdicts of a \
model about itself are advisory: they do not count.

  masque test mentor
  masque test mentor@production --samples 5
  masque test mentor --input vague-request --judge anthropic/claude-sonnet-4-5
  masque test mentor --lift
  masque test mentor --format junit > mentor.xml")]
pub(crate) struct TestArgs {
    /// Persona, with @REVISION or @TAG for an earlier version
    #[arg(value_name = "NAME[@REV]", required = true, num_args = 1..=2)]
    words: Vec<String>,
    /// Run the inputs without the persona too, and report what it adds
    #[arg(long)]
    lift: bool,
    #[command(flatten)]
    options: TestFlags,
}

#[derive(Debug, Args)]
#[command(override_usage = "masque compare [OPTIONS] [persona] <NAME> [A] [B]")]
#[command(after_help = "\
Runs the test inputs of B on both versions. An input counts once, however many samples it has; a \
verdict takes at least 5 inputs. Exits with 1 if B regressed or a reply could not be had, with 7 if cells \
have not been run, else with 0.

  masque compare mentor                    the tag production against now
  masque compare mentor 3 7 --samples 5
  masque compare mentor production --format markdown")]
pub(crate) struct CompareArgs {
    /// NAME [A] [B]: the persona, the revision or tag to compare with [default: production], and the one
    /// to judge [default: the persona as it is now]
    #[arg(value_name = "NAME", required = true, num_args = 1..=4)]
    words: Vec<String>,
    #[command(flatten)]
    options: TestFlags,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct TestFlags {
    /// Output format [default: table, or json with --json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<TestFormat>,
    /// Test input to run; repeatable [default: all of the persona's]
    #[arg(long = "input", alias = "inputs", value_name = "NAME", value_delimiter = ',')]
    inputs: Vec<Name>,
    /// Runs of each input [default: the input's own number, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    samples: Option<u32>,
    /// Model to use instead of the persona's choice
    #[arg(long, value_name = "PROVIDER/MODEL")]
    model: Option<ModelRef>,
    /// Model that judges [default: fidelity.judge of the persona, else the tested model]
    #[arg(long, value_name = "PROVIDER/MODEL")]
    judge: Option<ModelRef>,
    /// End after so many calls of the persona's model and the judge together
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
    /// End after so many tokens
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// End at this cost, where prices are known
    #[arg(long, value_name = "COST")]
    max_cost: Option<f64>,
    /// Ignore the replies and verdicts of earlier runs
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    only: OnlyIn,
}

/// The output format of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people
    Table,
    /// One JSON value
    Json,
    /// JUnit's XML, which CI systems read
    Junit,
    /// For a pull request
    Markdown,
}

impl TestArgs {
    pub(crate) fn format(&self) -> Option<TestFormat> {
        self.options.format
    }

    pub(crate) fn into_input(self) -> Result<TestPersona> {
        let Self { mut words, lift, options } = self;
        let revision = words.last_mut().and_then(cut_revision).map(RevisionText);
        let persona = only_persona("test", &words)?;
        let scope = options.only.scope;
        Ok(TestPersona { persona, revision, scope, lift, options: options.into_options() })
    }
}

impl CompareArgs {
    pub(crate) fn format(&self) -> Option<TestFormat> {
        self.options.format
    }

    pub(crate) fn into_input(self) -> Result<CompareTests> {
        let Self { words, options } = self;
        let Target { name, rest, .. } =
            Target::only(Kind::Persona, "compare", &words, (0, 2), ScopeOption::OF_READING)?;
        let mut revisions = rest.iter().cloned().map(RevisionText);
        let (a, b) = (revisions.next(), revisions.next());
        let scope = options.only.scope;
        Ok(CompareTests { persona: name, a, b, scope, options: options.into_options() })
    }
}

impl TestFlags {
    fn into_options(self) -> TestOptions {
        let Self { inputs, samples, model, judge, max_calls, max_tokens, max_cost, fresh, .. } = self;
        let inputs = Some(inputs).filter(|inputs| !inputs.is_empty());
        TestOptions { inputs, samples, model, judge, max_calls, max_tokens, max_cost, fresh }
    }
}

/// Cuts the revision off `mentor@production`.
fn cut_revision(word: &mut String) -> Option<String> {
    let (name, revision) = word.split_once('@').filter(|(_, revision)| !revision.is_empty())?;
    let (name, revision) = (name.to_owned(), revision.to_owned());
    *word = name;
    Some(revision)
}
