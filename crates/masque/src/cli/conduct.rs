//! conduct: works a track of tickets, and shows and steers tracks.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use conductor::{Model, Money, TicketId};
use persona::Name;

use crate::failure::{CommandError, Result as CommandResult};

const CONDUCT_HELP: &str = "\
Creates the track of a file and works it: each ticket by its persona, in a git worktree of its own, in the \
order of the dependencies. What a worker hands in is checked, reviewed and merged into a branch of the \
track. Your checkout and your branches are left alone; `masque conduct merge ID` brings the work to one.

On a terminal, a board shows the tickets; without one, each event is a line. Everything is stored step by \
step: after a crash, Ctrl-C or q, --resume goes on. The beginning or the end of an ID is enough.

  masque conduct --draft EPIC.md --output track.toml    have a model draft a track
  masque conduct --dry-run                              who would work what; calls no model
  masque conduct                                        work track.toml
  masque conduct release.toml --concurrency 2 --report report.md
  masque conduct --resume
  masque conduct show 4f9c1e
  masque conduct answer 4f9c1e T2 \"Keep the old name.\"

Exit codes:
  0  every ticket is merged
  1  the track ended, but a ticket failed or was cancelled
  2  the file has mistakes, such as tickets that wait for each other
  7  a person is needed, the track is paused, or you left the board
130  interrupted (143 by SIGTERM, 129 by SIGHUP)";

#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true)]
#[command(override_usage = "\
masque conduct [OPTIONS] [FILE]
       masque conduct [OPTIONS] --resume [ID]
       masque conduct --draft <EPIC>
       masque conduct <COMMAND>")]
#[command(after_help = CONDUCT_HELP)]
pub(crate) struct ConductArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ConductCommand>,
    /// Track to work, \"-\" for standard input [default: the project's track.toml]
    #[arg(value_name = "FILE", conflicts_with_all = ["resume", "draft"])]
    pub(crate) file: Option<PathBuf>,
    /// Only show who would work what, with which model and how much context
    #[arg(long, conflicts_with_all = ["resume", "draft", "report"])]
    pub(crate) dry_run: bool,
    /// Have a model draft a track from a text, and print it; nothing is worked unless you add --yes
    #[arg(long, value_name = "EPIC")]
    pub(crate) draft: Option<PathBuf>,
    /// File for the draft [default: standard output]
    #[arg(long, short, value_name = "FILE", requires = "draft")]
    pub(crate) output: Option<PathBuf>,
    /// Approve all tickets that models plan
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Work each ticket in a git worktree of its own, the default in a git repository
    #[arg(long, overrides_with = "no_isolate")]
    pub(crate) isolate: bool,
    /// Work the tickets in the project's directory, one after the other
    #[arg(long, overrides_with = "isolate")]
    pub(crate) no_isolate: bool,
    /// Tickets that are worked at once [default: the track's number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) concurrency: Option<u16>,
    /// Go on with a track [default: the last open one of this project]
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["yes", "isolate", "no_isolate", "concurrency", "draft"])]
    pub(crate) resume: Option<String>,
    /// Write a report to a file at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

impl ConductArgs {
    /// True if each ticket gets a worktree. None: if the project is a git repository.
    pub(crate) fn isolation(&self) -> Option<bool> {
        match (self.isolate, self.no_isolate) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

impl ConductArgs {
    /// Fails if a command got what belongs to the start of a track. clap would refuse global options too, and
    /// take the command for a file after them.
    pub(crate) fn check(&self) -> CommandResult<()> {
        if self.command.is_none() {
            return Ok(());
        }
        let own = [
            ("FILE", self.file.is_some()),
            ("--dry-run", self.dry_run),
            ("--draft", self.draft.is_some()),
            ("--output", self.output.is_some()),
            ("--yes", self.yes),
            ("--isolate", self.isolate),
            ("--no-isolate", self.no_isolate),
            ("--concurrency", self.concurrency.is_some()),
            ("--resume", self.resume.is_some()),
            ("--report", self.report.is_some()),
        ];
        let others: Vec<&str> =
            own.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect();
        if others.is_empty() {
            Ok(())
        } else {
            Err(CommandError::Conflicting { flag: "COMMAND", others }.into())
        }
    }

    /// True for commands whose output may be long, and which ask nothing.
    pub(crate) fn is_read(&self) -> bool {
        match &self.command {
            Some(
                ConductCommand::List(_)
                | ConductCommand::Show(_)
                | ConductCommand::Report(_)
                | ConductCommand::Diff(_),
            ) => true,
            Some(ConductCommand::Log(args)) => !args.follow,
            Some(_) => false,
            None => self.dry_run,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConductCommand {
    /// List tracks, newest first
    List(ListTracksArgs),
    /// Show a track: what it needs from you, and its tickets
    Show(TrackArgs),
    /// Print what happened in a track, or to one of its tickets
    Log(TrackLogArgs),
    /// Print a track's report as Markdown
    Report(TrackArgs),
    /// Print what a ticket changes, as a diff from its base
    Diff(TicketDiffArgs),
    #[command(flatten)]
    Order(ConductOrder),
    /// Go on with a track, like --resume
    Resume(ResumeArgs),
    /// Bring a track's work to a branch of yours
    Merge(MergeArgs),
    /// Remove the worktrees of tickets that have ended; keeps whatever is not merged
    Clean(CleanArgs),
}

/// What people decide about a track.
#[derive(Debug, Subcommand)]
pub(crate) enum ConductOrder {
    /// Approve tickets that a model planned or a worker proposed
    Approve(ApproveTicketsArgs),
    /// Approve the next step of a ticket, if the track wants each approved
    ApproveStep(TicketArgs),
    /// Accept a result that no check or no reviewer vouches for
    Accept(AcceptArgs),
    /// Send a result back to its worker
    Reject(RejectArgs),
    /// Answer the question of a worker
    Answer(AnswerArgs),
    /// Give a ticket another try, with another model or persona
    Retry(RetryArgs),
    /// Cancel a track, or one of its tickets
    Cancel(CancelArgs),
    /// Start nothing new in a track; steps under way end
    Pause(TrackArgs),
    /// Change what a track, a ticket or a day may spend
    Cap(CapArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TrackArgs {
    /// Track; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListTracksArgs {
    /// Tracks of every project, not only of this one
    #[arg(long)]
    pub(crate) everywhere: bool,
    /// Print at most N [default: 50]
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Print everything
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque conduct log 4f9c1e
  masque conduct log 4f9c1e T2 --follow
  masque conduct log 4f9c1e --json | jq -c .event")]
pub(crate) struct TrackLogArgs {
    /// Track; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Only events of this ticket
    #[arg(value_name = "TICKET")]
    pub(crate) ticket: Option<TicketId>,
    /// Go on with new events until the track ends
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ApproveTicketsArgs {
    /// Track; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Tickets [default: all that await approval]
    #[arg(value_name = "TICKET")]
    pub(crate) tickets: Vec<TicketId>,
}

#[derive(Debug, Args)]
pub(crate) struct TicketArgs {
    /// Track; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Ticket
    #[arg(value_name = "TICKET")]
    pub(crate) ticket: TicketId,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque conduct diff 4f9c1e T2
  masque conduct diff 4f9c1e T2 --attempt 1 | git apply --check")]
pub(crate) struct TicketDiffArgs {
    #[command(flatten)]
    pub(crate) of: TicketArgs,
    /// Attempt [default: the last one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) attempt: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    pub(crate) of: TicketArgs,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) note: String,
}

#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) of: TicketArgs,
    /// What is wrong, for the worker
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: String,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    #[command(flatten)]
    pub(crate) of: TicketArgs,
    /// Answer, in quotes
    #[arg(value_name = "TEXT")]
    pub(crate) answer: String,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque conduct retry 4f9c1e T2
  masque conduct retry 4f9c1e T2 --model anthropic/claude-opus-4-5 --note \"Start with the tests.\"")]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    pub(crate) of: TicketArgs,
    /// Model that comes first from now on
    #[arg(long, value_name = "PROVIDER/MODEL", value_parser = Model::parse)]
    pub(crate) model: Option<Model>,
    /// Persona that works it from now on
    #[arg(long, value_name = "NAME")]
    pub(crate) persona: Option<Name>,
    /// What the worker should know
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) note: String,
}

#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// Track; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Ticket [default: the whole track]
    #[arg(value_name = "TICKET")]
    pub(crate) ticket: Option<TicketId>,
    /// Why, for the log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// Track; the beginning or the end of its id is enough [default: the last open one of this project]
    #[arg(value_name = "ID", default_value = "", hide_default_value = true)]
    pub(crate) id: String,
    /// Write a report to a file at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A cap that you do not name stays as it is.

  masque conduct cap 4f9c1e --cost 20                  the whole track
  masque conduct cap 4f9c1e --ticket T2 --tokens 500000
  masque conduct cap 4f9c1e --day --cost none")]
pub(crate) struct CapArgs {
    /// Track; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The cap of a ticket
    #[arg(long, value_name = "TICKET", conflicts_with = "day")]
    pub(crate) ticket: Option<TicketId>,
    /// The cap of each day, in UTC
    #[arg(long)]
    pub(crate) day: bool,
    /// Most tokens, or "none" for no limit
    #[arg(long, value_name = "N", value_parser = limit_of_tokens, required_unless_present = "cost")]
    pub(crate) tokens: Option<Limit<u64>>,
    /// Most money, in the currency of your prices, or "none" for no limit
    #[arg(long, value_name = "COST", value_parser = limit_of_cost)]
    pub(crate) cost: Option<Limit<Money>>,
}

/// A number, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limit<T>(pub(crate) Option<T>);

fn limit_of_tokens(word: &str) -> Result<Limit<u64>, String> {
    let most = conductor::limits::CAP_TOKENS;
    match word {
        "none" => Ok(Limit(None)),
        word => match word.parse() {
            Ok(tokens) if tokens <= most => Ok(Limit(Some(tokens))),
            _ => Err(format!("expected a number from 0 to {most}, or \"none\"")),
        },
    }
}

fn limit_of_cost(word: &str) -> Result<Limit<Money>, String> {
    match word {
        "none" => Ok(Limit(None)),
        word => match word.parse().ok().and_then(Money::from_units) {
            Some(cost) => Ok(Limit(Some(cost))),
            None => Err("expected an amount such as 2.50, or \"none\"".to_owned()),
        },
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Moves the branch forward only if it has no commits that the track lacks. Otherwise nothing changes, and the \
command to run by hand is printed.")]
pub(crate) struct MergeArgs {
    /// Track; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Branch that gets the work [default: the track's base, else the current branch]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Only show what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::{ConductArgs, ConductCommand, ConductOrder};
    use crate::cli::{Cli, Command, RunCommand, command};

    fn parse(line: &str) -> Result<ConductArgs, clap::Error> {
        let words = ["masque", "conduct"].into_iter().chain(line.split_whitespace());
        let cli = Cli::from_arg_matches(&command().try_get_matches_from(words)?)?;
        match cli.command {
            Command::Run(RunCommand::Conduct(args)) => Ok(*args),
            other => panic!("{line:?} is {other:?}"),
        }
    }

    /// The file, the track to go on with and the name of the command.
    fn check(line: &str, file: &str, resume: Option<&str>, name: &str) {
        let args = parse(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
        let shown = args.file.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
        let command = match &args.command {
            None => String::new(),
            Some(command) => format!("{command:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
        };
        assert_eq!(
            (shown.as_str(), args.resume.as_deref(), command.as_str()),
            (file, resume, name),
            "{line:?}"
        );
    }

    #[test]
    fn a_word_is_a_file_unless_it_is_a_command() {
        check("", "", None, "");
        check("track.toml", "track.toml", None, "");
        check("track.toml --yes --concurrency 2 --no-isolate --report r.md", "track.toml", None, "");
        check("--dry-run other.toml", "other.toml", None, "");
        check("./list", "./list", None, "");
        check("list", "", None, "List");
        check("show 4f9c", "", None, "Show");
        check("log 4f9c T1 --follow", "", None, "Log");
        check("--resume", "", Some(""), "");
        check("--resume 4f9c --report r.md", "", Some("4f9c"), "");
        check("resume", "", None, "Resume");
        check("clean --dry-run", "", None, "Clean");
    }

    #[test]
    fn combinations_without_a_meaning_are_refused() {
        for line in [
            "track.toml --resume 4f9c",
            "--resume 4f9c --yes",
            "--draft EPIC.md --dry-run",
            "--output x.toml",
            "--concurrency 0",
            "reject 4f9c T1",
            "cap 4f9c",
            "cap 4f9c --ticket T1 --day --tokens 5",
            "cap 4f9c --cost -1",
            "retry 4f9c T1 --model nameless",
            "show",
        ] {
            assert!(parse(line).is_err(), "{line:?} is taken");
        }
    }

    #[test]
    fn a_command_takes_global_options_and_no_others() {
        for line in ["--json list", "--verbose list", "--project . show 4f9c", "list --json"] {
            let args = parse(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
            assert!(args.command.is_some() && args.check().is_ok(), "{line:?}");
        }
        for line in ["track.toml show 4f9c", "--dry-run clean", "--yes list", "--concurrency 2 resume 4f9c"] {
            let args = parse(line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
            assert!(args.check().is_err(), "{line:?} is taken");
        }
    }

    #[test]
    fn isolation_is_open_unless_it_is_named() {
        for (line, isolated) in [
            ("", None),
            ("--isolate", Some(true)),
            ("--no-isolate", Some(false)),
            ("--isolate --no-isolate", Some(false)),
        ] {
            assert_eq!(parse(line).expect(line).isolation(), isolated, "{line:?}");
        }
    }

    #[test]
    fn a_limit_is_a_number_or_none() {
        let command = parse("cap 4f9c --tokens none --cost 2.5").expect("it is fine").command;
        let Some(ConductCommand::Order(ConductOrder::Cap(args))) = command else {
            panic!("it is another command");
        };
        assert_eq!(args.tokens.map(|limit| limit.0), Some(None));
        assert_eq!(args.cost.and_then(|limit| limit.0).map(conductor::Money::micros), Some(2_500_000));
    }
}
