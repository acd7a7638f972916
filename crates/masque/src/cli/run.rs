//! chat, run, sessions, plan, models.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent::{Mode, limits};
use clap::{Args, Subcommand, ValueEnum};
use llm::ModelRef;
use persona::{Name, PartType};

use super::kind::only_persona;
use super::read::{by_type, override_pair};
use super::{CompareArgs, ConductArgs, ContextArgs, OnlyIn, TestArgs, kind_of};
use crate::failure::{CommandError, Result};

/// Commands that run a persona or show earlier runs.
#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// Chat with a persona
    Chat(ChatArgs),
    /// Send one message to a persona and print the answer
    Run(RunArgs),
    /// List, show, resume, approve, cancel, export or delete sessions
    Sessions(SessionsArgs),
    /// Show, approve or send back the plan of a session
    Plan(PlanArgs),
    /// List the models of all configured providers
    Models(ModelsArgs),
    /// Run the test inputs of a persona and check its replies
    Test(TestArgs),
    /// Compare two versions of a persona on its test inputs
    Compare(CompareArgs),
    /// Work a track of tickets with personas, and steer tracks
    Conduct(Box<ConductArgs>),
    /// Show the files of the project that a prompt would have
    Context(ContextArgs),
}

/// Options of a new or resumed session.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SessionOptions {
    /// Plan first: allow only read-only tools until you approve the plan
    #[arg(long)]
    pub(crate) plan: bool,
    /// Model to use instead of the persona's choice
    #[arg(long, value_name = "PROVIDER/MODEL")]
    pub(crate) model: Option<ModelRef>,
    /// Continue a session; the beginning or the end of its id is enough
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Number of the persona's greeting that opens a new session, 0 for none [default: 1 in a chat on a
    /// terminal, else 0]
    #[arg(long, value_name = "N", conflicts_with = "session")]
    pub(crate) greeting: Option<u32>,
    /// Directory that tools may access, inside the project [default: the project]
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    pub(crate) root: Option<PathBuf>,
    /// Use another part for a type in a new session; repeatable
    #[arg(long = "override", value_name = "TYPE=PART", value_parser = override_pair, conflicts_with = "session")]
    overrides: Vec<(PartType, Name)>,
    #[command(flatten)]
    pub(crate) only: OnlyIn,
}

impl SessionOptions {
    pub(crate) fn of_session(id: String) -> Self {
        Self { session: Some(id), ..Self::default() }
    }

    /// The parts of a new session by type.
    pub(crate) fn overrides(&self) -> Result<BTreeMap<PartType, Name>> {
        by_type(&self.overrides)
    }

    /// The requested mode.
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.plan.then_some(Mode::Plan)
    }
}

#[derive(Debug, Args)]
#[command(override_usage = "masque chat [OPTIONS] [[persona] NAME]")]
#[command(after_help = "\
Type a message and press Enter; end a line with \\ to continue on the next. Ctrl-C interrupts an \
answer, Ctrl-D quits. /help lists commands such as /mode, /plan, /undo and /history.

Without a terminal, each line of standard input is a message. Calls that need approval are refused.

  masque chat mentor
  masque chat code_reviewer --plan
  masque chat mentor --model anthropic/claude-sonnet-4-5
  masque chat innkeeper --greeting 2
  masque chat mentor --override tone=plain-tone
  masque chat                          choose a persona
  masque chat --continue               take up the last session
  masque chat --session 4f9c1e")]
pub(crate) struct ChatArgs {
    /// Persona; with --session, the persona to switch to [default: choose from a list]
    #[arg(value_name = "NAME", num_args = 1..=2)]
    words: Vec<String>,
    /// Continue the last session of this project, or the last with NAME
    #[arg(long = "continue", short = 'c', conflicts_with_all = ["session", "greeting", "root", "overrides"])]
    pub(crate) continue_last: bool,
    #[command(flatten)]
    pub(crate) options: SessionOptions,
}

impl ChatArgs {
    pub(crate) fn with_options(options: SessionOptions) -> Self {
        Self { words: Vec::new(), continue_last: false, options }
    }

    pub(crate) fn persona(&self) -> Result<Option<Name>> {
        match self.words.as_slice() {
            [] => Ok(None),
            words => Ok(Some(only_persona("chat", words)?)),
        }
    }
}

const RUN_HELP: &str = "\
The answer goes to standard output, everything else to standard error. Standard input is appended to \
the prompt as context (at most 1 MiB). With --json, each event is a line of JSON.

On a terminal, masque asks before a call that needs approval. Without a terminal or with --json, the \
call is refused; --approve read allows read-only tools, --approve all allows every tool. Files that are \
protected or usually hold secrets are always asked about, so they need a terminal.

  masque run code_reviewer \"Review this change.\" < change.patch
  masque run doc_writer \"Write the README.\" --approve all
  masque run mentor \"And in Rust?\" --session 4f9c1e
  masque run innkeeper \"A room, please.\" --greeting 1
  masque run code_reviewer \"How would you split src/main.rs?\" --plan --json | jq -c .

Exit codes:
  0  the persona finished
  7  it stopped early: token limit, tool round limit, or a loop
  5  the model refused to answer, or the key is invalid
  3  the model does not exist
  6  the provider is rate limiting
  1  any other failure
130  interrupted (143 by SIGTERM, 129 by SIGHUP)";

#[derive(Debug, Args)]
#[command(override_usage = "masque run [OPTIONS] [persona] <NAME> [PROMPT]")]
#[command(after_help = RUN_HELP)]
pub(crate) struct RunArgs {
    /// Persona (with --session, the persona to switch to), then the message, which is optional if
    /// standard input is piped
    #[arg(value_name = "NAME", required = true, num_args = 1..)]
    words: Vec<String>,
    #[command(flatten)]
    pub(crate) options: SessionOptions,
    /// Allow calls that need approval
    #[arg(long, value_name = "WHAT")]
    pub(crate) approve: Option<Approve>,
    /// Maximum number of tool rounds [default: the persona's limit, else 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(limits::MOST_TOOL_ROUNDS)))]
    pub(crate) max_rounds: Option<u32>,
}

impl RunArgs {
    /// The persona and the message. Two words are always a name and a message, so that no message is
    /// mistaken for a name; three are `persona NAME PROMPT`.
    pub(crate) fn target(&self) -> Result<(Name, Option<&str>)> {
        let (name, prompt) = match self.words.as_slice() {
            [kind, _, prompt] if kind_of(kind).is_ok() => {
                (only_persona("run", &self.words[..2])?, Some(prompt))
            }
            [name, more @ ..] if more.len() > 1 => {
                return Err(CommandError::UnquotedMessage { name: name.clone() }.into());
            }
            words => (only_persona("run", &words[..1])?, words.get(1)),
        };
        Ok((name, prompt.map(String::as_str)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Approve {
    /// Read-only tools
    Read,
    /// Every tool
    All,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
The beginning or the end of an ID is enough, if no other session has it. The list shows ends, because \
ids begin with the time.

  masque sessions
  masque sessions --persona mentor
  masque sessions resume 4f9c1e
  masque sessions export 4f9c1e > talk.md
  masque sessions export 4f9c1e --format json | jq .turns
  masque sessions approve 4f9c1e --all
  masque sessions cancel 4f9c1e
  masque sessions delete 4f9c1e")]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SessionsCommand>,
    #[command(flatten)]
    pub(crate) list: ListSessionsArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List sessions, most recently used first
    List(ListSessionsArgs),
    /// Show a session and its messages
    Show(SessionId),
    /// Continue a session, like `masque chat --session`
    Resume(SessionId),
    /// Print a session as Markdown or JSON
    Export(ExportSessionArgs),
    /// Approve or reject pending calls, and print the rest of the answer
    Approve(ApproveSessionArgs),
    /// Cancel the run of a session
    Cancel(SessionId),
    /// Delete a session and its messages, for good
    Delete(DeleteSessionArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListSessionsArgs {
    /// Only sessions of this persona
    #[arg(long, value_name = "NAME")]
    pub(crate) persona: Option<Name>,
    /// Print at most N [default: 50]
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Print everything
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SessionId {
    /// Session; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
#[command(after_help = "On a terminal, it asks first, because nothing brings a session back.")]
pub(crate) struct DeleteSessionArgs {
    /// Session; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints the answer and exits like `masque run`. Without a terminal, it also exits with 7 if the \
session needs another approval.

  masque sessions show 4f9c1e                shows pending calls and their ids
  masque sessions approve 4f9c1e --all
  masque sessions approve 4f9c1e call_1 --reject --reason \"Not that file.\"")]
#[command(override_usage = "\
masque sessions approve [OPTIONS] <ID> <CALL>...
       masque sessions approve [OPTIONS] <ID> --all")]
pub(crate) struct ApproveSessionArgs {
    /// Session; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Ids of pending calls
    #[arg(value_name = "CALL", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) calls: Vec<String>,
    /// All pending calls
    #[arg(long)]
    pub(crate) all: bool,
    /// Reject instead of approving
    #[arg(long)]
    pub(crate) reject: bool,
    /// Reason, sent to the persona
    #[arg(long, value_name = "TEXT", requires = "reject")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportSessionArgs {
    /// Session; the beginning or the end of its id is enough
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Output format [default: markdown, or json with --json]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque plan 4f9c1e > plan.md
  masque plan 4f9c1e --approve                          switch the session to build mode
  masque plan 4f9c1e --send-back \"Keep the old name.\"   have the persona plan again")]
pub(crate) struct PlanArgs {
    /// Session; the beginning or the end of its id is enough
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Approve the plan and switch the session to build mode
    #[arg(long, conflicts_with = "send_back")]
    pub(crate) approve: bool,
    /// Approve only the plan with this hash; 8 digits are enough
    #[arg(long, value_name = "HASH", requires = "approve")]
    pub(crate) hash: Option<String>,
    /// Send the plan back with a reason, and print the new answer
    #[arg(long, value_name = "WHY")]
    pub(crate) send_back: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "  masque models
  masque models anthropic
  masque models --json | jq -r '.items[].models[]?.id'")]
pub(crate) struct ModelsArgs {
    /// Only models of this provider
    #[arg(value_name = "PROVIDER")]
    pub(crate) provider: Option<String>,
}
