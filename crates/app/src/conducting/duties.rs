//! The tools with which the sessions of a track hand in what they were asked for.
//!
//! A call is its own record: the conductor reads the last accepted one from the session's log, so nothing
//! is lost when a process ends between a call and its effect.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use agent::{Annotations, DutyRole, Refusal, TICKETS_SET, Tool, Turn, TurnBody};
use conductor::{Review, Submission, Ticket, Track};
use futures::future::BoxFuture;
use llm::Schema;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tools::{Handler, Invocation, Outcome, Registered, Root, ShellSettings};

pub(super) const RUN_CHECK: &str = "run_check";
pub(super) const SUBMIT_WORK: &str = "submit_work";
pub(super) const ASK_QUESTION: &str = "ask_question";
pub(super) const REPORT_BLOCKED: &str = "report_blocked";
pub(super) const SUBMIT_REVIEW: &str = "submit_review";
pub(super) const SUBMIT_TICKETS: &str = "submit_tickets";
pub(super) const SUBMIT_TRACK: &str = "submit_track";

/// The longest run of a check in a worker's turn.
const CHECK_TIME: Duration = Duration::from_secs(10 * 60);

/// A question to the person who owns the track.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    /// One question, with the choices that you see.
    pub(super) question: String,
}

/// The reason why the work cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocked {
    /// What you tried, what stopped you, and who can change that.
    pub(super) reason: String,
}

/// The tickets that a ticket is broken into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pieces {
    /// Two tickets or more. Together they meet every criterion of the original.
    pub(super) tickets: Vec<Ticket>,
}

/// The last thing that a session handed in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum HandedIn {
    Work(Submission),
    Question(String),
    Blocked(String),
    Review(Review),
    Pieces(Vec<Ticket>),
    Track(Box<Track>),
}

/// The tools of a role.
pub(crate) fn tools(role: DutyRole) -> Vec<Registered> {
    static WORK: LazyLock<Vec<Registered>> = LazyLock::new(|| {
        vec![
            tool::<Submission>(
                SUBMIT_WORK,
                "Hands in the ticket's result. Call it once, when you are done; then end your turn.",
            ),
            tool::<Question>(
                ASK_QUESTION,
                "Asks the person who owns the track. Only for what decides how the ticket is done and cannot \
                 be found out; then end your turn. The answer comes as the next message.",
            ),
            blocked(),
        ]
    });
    static REVIEW: LazyLock<Vec<Registered>> = LazyLock::new(|| {
        vec![tool::<Review>(
            SUBMIT_REVIEW,
            "Hands in the verdict about the change. Call it once; then end your turn.",
        )]
    });
    static SPLIT: LazyLock<Vec<Registered>> = LazyLock::new(|| {
        vec![
            tool::<Pieces>(
                SUBMIT_TICKETS,
                "Hands in the tickets that take the place of the one that failed. Call it once; then end \
                 your turn.",
            ),
            blocked(),
        ]
    });
    static DRAFT: LazyLock<Vec<Registered>> = LazyLock::new(|| {
        vec![tool::<Track>(
            SUBMIT_TRACK,
            "Hands in the track. A person reads it before anything runs. Call it once; then end your turn.",
        )]
    });
    match role {
        DutyRole::Work => WORK.clone(),
        DutyRole::Review => REVIEW.clone(),
        DutyRole::Split => SPLIT.clone(),
        DutyRole::Draft => DRAFT.clone(),
    }
}

/// The tool with which a worker runs its ticket's check. It does not ask: the command is the user's own.
pub(crate) fn run_check(root: Root, settings: ShellSettings, check: String) -> Registered {
    let tool = Tool {
        name: RUN_CHECK.to_owned(),
        set: TICKETS_SET,
        description: format!("Runs the ticket's check, `{check}`, in your root and answers what it wrote."),
        input_schema: Schema::new(
            json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        ),
        annotations: Annotations { read_only_hint: false, ..Annotations::READ_ONLY },
    };
    Registered::new(tool, Arc::new(RunCheck { root, settings, check }))
}

#[derive(Debug)]
struct RunCheck {
    root: Root,
    settings: ShellSettings,
    check: String,
}

impl Handler for RunCheck {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let ran =
                tools::run_line(&self.root, &self.settings, &self.check, CHECK_TIME, &invocation.cancelled);
            let end = match ran.await {
                Ok(end) => end,
                Err(error) => return Outcome::error(format!("the check could not be started: {error}")),
            };
            let first = match end.exit_code {
                Some(code) => format!("exit code {code}"),
                None if end.timed_out => format!("ended after {} s without finishing", CHECK_TIME.as_secs()),
                None => "ended from outside".to_owned(),
            };
            let text = format!("{first}\n{}", end.output);
            if end.exit_code == Some(0) { Outcome::text(text) } else { Outcome::error(text) }
        })
    }
}

fn blocked() -> Registered {
    tool::<Blocked>(
        REPORT_BLOCKED,
        "Reports that the work cannot go on without somebody else. Then end your turn.",
    )
}

fn tool<T: DeserializeOwned + JsonSchema + Check + Send + Sync + 'static>(
    name: &str,
    description: &str,
) -> Registered {
    let schema = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true).into_generator();
    let tool = Tool {
        name: name.to_owned(),
        set: TICKETS_SET,
        description: description.to_owned(),
        input_schema: Schema::new(schema.into_root_schema_for::<T>().to_value()),
        // Handing in changes nothing that the model can reach.
        annotations: Annotations::READ_ONLY,
    };
    Registered::new(tool, Arc::new(HandIn(read::<T>)))
}

/// Checks an input, and says what is wrong with it.
#[derive(Debug)]
struct HandIn(fn(Value) -> Result<(), String>);

impl Handler for HandIn {
    fn call<'a>(&'a self, invocation: Invocation) -> BoxFuture<'a, Outcome> {
        let outcome = match (self.0)(Value::Object(invocation.call.input)) {
            Ok(()) => Outcome::text("Handed in. End your turn now, in one sentence."),
            Err(problem) => Outcome::refused(
                Refusal::InvalidArguments,
                format!("Nothing was handed in: {problem} Call the tool again."),
            ),
        };
        Box::pin(std::future::ready(outcome))
    }
}

fn read<T: DeserializeOwned + Check>(input: Value) -> Result<(), String> {
    let handed_in: T = serde_json::from_value(input).map_err(|error| format!("{error}."))?;
    handed_in.check()
}

/// The rules that a schema does not express.
trait Check {
    fn check(&self) -> Result<(), String>;
}

impl Check for Submission {
    fn check(&self) -> Result<(), String> {
        self.problem().map_or(Ok(()), Err)
    }
}

impl Check for Review {
    fn check(&self) -> Result<(), String> {
        self.problem().map_or(Ok(()), Err)
    }
}

impl Check for Question {
    fn check(&self) -> Result<(), String> {
        present("question", &self.question)
    }
}

impl Check for Blocked {
    fn check(&self) -> Result<(), String> {
        present("reason", &self.reason)
    }
}

impl Check for Pieces {
    fn check(&self) -> Result<(), String> {
        match self.tickets.len() {
            2.. => Ok(()),
            _ => Err("a ticket is broken into two or more.".to_owned()),
        }
    }
}

impl Check for Track {
    fn check(&self) -> Result<(), String> {
        let problems: Vec<String> = self.problems().iter().map(ToString::to_string).collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(format!("{}.", problems.join("; "))),
        }
    }
}

fn present(field: &str, text: &str) -> Result<(), String> {
    let most = conductor::limits::MESSAGE_BYTES;
    match text.trim().is_empty() {
        true => Err(format!("{field} is empty.")),
        false if text.len() > most => Err(format!("{field} is longer than {most} bytes.")),
        false => Ok(()),
    }
}

/// The last accepted call among turns, after the last message of a user.
pub(super) fn handed_in(turns: &[Turn]) -> Option<HandedIn> {
    let begins = turns.iter().rposition(|turn| matches!(turn.body, TurnBody::User { .. })).unwrap_or(0);
    let turns = &turns[begins..];
    let is_accepted = |id: &str| {
        turns.iter().any(|turn| match &turn.body {
            TurnBody::ToolResult { tool_use_id, is_error, .. } => tool_use_id == id && !is_error,
            _ => false,
        })
    };
    turns.iter().rev().find_map(|turn| match &turn.body {
        TurnBody::ToolCall { call, .. } if is_accepted(&call.id) => parse(&call.name, &call.input),
        _ => None,
    })
}

fn parse(tool: &str, input: &serde_json::Map<String, Value>) -> Option<HandedIn> {
    let input = Value::Object(input.clone());
    match tool {
        SUBMIT_WORK => serde_json::from_value(input).ok().map(HandedIn::Work),
        ASK_QUESTION => {
            serde_json::from_value(input).ok().map(|it: Question| HandedIn::Question(it.question))
        }
        REPORT_BLOCKED => serde_json::from_value(input).ok().map(|it: Blocked| HandedIn::Blocked(it.reason)),
        SUBMIT_REVIEW => serde_json::from_value(input).ok().map(HandedIn::Review),
        SUBMIT_TICKETS => serde_json::from_value(input).ok().map(|it: Pieces| HandedIn::Pieces(it.tickets)),
        SUBMIT_TRACK => serde_json::from_value(input).ok().map(|track| HandedIn::Track(Box::new(track))),
        _ => None,
    }
}
