//! Running personas: chat, run, sessions, plan, models.

use std::path::PathBuf;

use agent::{Mode, limits};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use llm::ModelRef;
use persona::Name;

use super::OnlyIn;
use super::scope::name_to_read;

/// Commands that run a persona, or look at what was run.
#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Talk to a persona
    Chat(ChatArgs),
    /// Ask a persona one thing, and print the answer
    Run(RunArgs),
    /// List sessions; show, resume, answer, stop, export or delete one
    Sessions(SessionsArgs),
    /// Print the plan that a session handed over; approve it, or send it back
    Plan(PlanArgs),
    /// List the providers that are set up, and the models that they have
    Models(ModelsArgs),
}

/// How a session is opened, or an earlier one taken up again.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Opening {
    /// Plan first: only tools that read, until you approve the plan
    #[arg(long)]
    pub(crate) plan: bool,
    /// The model that answers, in place of the persona's own choice
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<ModelRef>,
    /// Go on with an earlier session; the beginning of its id will do
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The directory that its tools may see, inside the project [default: the project]
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl Opening {
    pub(crate) fn of_session(id: String) -> Self {
        Self { session: Some(id), ..Self::default() }
    }

    /// The mode that was asked for.
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.plan.then_some(Mode::Plan)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Say something and press Enter; end a line with \\ to go on in the next. Ctrl-C interrupts an answer,
Ctrl-D leaves. In the chat, /help lists what else there is: /mode, /plan, /undo, /history, …

Without a terminal, each line of standard input is a message; calls that need permission are refused.

  masque chat mentor
  masque chat code_reviewer --plan
  masque chat mentor --model anthropic/claude-sonnet-4-5
  masque chat --session 0193a7")]
pub(crate) struct ChatArgs {
    /// The persona; with --session, one that goes on in its place
    #[arg(value_name = "NAME", required_unless_present = "session", value_parser = name_to_read)]
    pub(crate) name: Option<Name>,
    #[command(flatten)]
    pub(crate) opening: Opening,
}

const RUN_HELP: &str = "\
The answer stands on standard output, everything else on standard error. What is piped in is put
below the prompt, as context (1 MiB at most). With --json each event is a line of JSON instead.

A call that needs permission is asked for on a terminal, and refused where there is none or with
--json; --approve read allows tools that only read, --approve all allows everything.

  masque run code_reviewer \"Review this change.\" < change.patch
  masque run doc_writer \"Write the README.\" --approve all
  masque run mentor \"And in Rust?\" --session 0193a7
  masque run code_reviewer \"How would you split src/main.rs?\" --plan --json | jq -c .

It ends with 0 where the persona came to its end, with 7 where it had to stop before (its limit of
tokens or of rounds with tools, or because it went in circles), with 5 where the model refused, with
130 where you interrupted it (143 by SIGTERM, 129 by SIGHUP), and with the code of the failure
otherwise: 1, 3 where there is no such model, 5 where the key is not good, 6 where the provider
wants to be left alone for now.";

#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// The persona; with --session, it goes on in the place of the one before
    #[arg(value_parser = name_to_read)]
    pub(crate) name: Name,
    /// What to say to it; may be left out where something is piped in
    pub(crate) prompt: Option<String>,
    #[command(flatten)]
    pub(crate) opening: Opening,
    /// Allow calls that would have to be asked for
    #[arg(long, value_name = "WHAT")]
    pub(crate) approve: Option<Approve>,
    /// At most this many rounds with tools, whatever the persona says [default: the persona's, else 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(limits::MOST_TOOL_ROUNDS)))]
    pub(crate) max_rounds: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    /// Tools that only read
    Read,
    /// Every tool
    All,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
An ID may be cut short, as long as no other session begins the same.

  masque sessions
  masque sessions --persona mentor
  masque sessions resume 0193a7
  masque sessions export 0193a7 > talk.md
  masque sessions export 0193a7 --format json | jq .turns
  masque sessions approve 0193a7 --all
  masque sessions cancel 0193a7
  masque sessions delete 0193a7")]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
    #[command(flatten)]
    pub(crate) list: ListSessionsArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, the last used first
    List(ListSessionsArgs),
    /// Show a session: what is known of it, and what was said
    Show(SessionId),
    /// Go on with a session, as `masque chat --session` does
    Resume(SessionId),
    /// Print what was said, as Markdown or as JSON
    Export(ExportSessionArgs),
    /// Allow or refuse what a session waits for, and print how it goes on
    Approve(ApproveSessionArgs),
    /// Stop what a session is doing, or waits for
    Cancel(SessionId),
    /// Delete a session with all that was said
    Delete(SessionId),
}

#[derive(Debug, Args)]
pub(crate) struct ListSessionsArgs {
    /// Only this persona's
    #[arg(long, value_name = "NAME")]
    pub(crate) persona: Option<Name>,
    /// At most this many [default: 50]
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Everything
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionId {
    /// The session; the beginning of its id will do
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The answer is printed as `masque run` prints one, and ends with the same codes; 7 also where it waits
for permission again and nobody is at a terminal to be asked.

  masque sessions show 0193a7                what it waits for, with the ids of the calls
  masque sessions approve 0193a7 --all
  masque sessions approve 0193a7 call_1 --reject --reason \"Not that file.\"")]
#[command(group(ArgGroup::new("what").required(true).args(["calls", "all"])))]
pub(crate) struct ApproveSessionArgs {
    /// The session; the beginning of its id will do
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The calls to decide about, by their ids
    #[arg(value_name = "CALL")]
    pub(crate) calls: Vec<String>,
    /// Every call that it waits for
    #[arg(long)]
    pub(crate) all: bool,
    /// Refuse instead of allowing
    #[arg(long)]
    pub(crate) reject: bool,
    /// Why not; the persona is told
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportSessionArgs {
    /// The session; the beginning of its id will do
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// How [default: markdown, or json with --json]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque plan 0193a7 > plan.md
  masque plan 0193a7 --approve                      the session may act from now on
  masque plan 0193a7 --send-back \"Keep the old name.\"   says so, and prints what comes of it")]
pub(crate) struct PlanArgs {
    /// The session; the beginning of its id will do
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Approve the plan, which switches the session to build
    #[arg(long, conflicts_with = "send_back")]
    pub(crate) approve: bool,
    /// Send the plan back, and have the persona plan again
    #[arg(long, value_name = "WHY")]
    pub(crate) send_back: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque models
  masque models anthropic
  masque models --json | jq -r '.[].models[]?.id'")]
pub(crate) struct ModelsArgs {
    /// Only this provider's
    #[arg(value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
}
