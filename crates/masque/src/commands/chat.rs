//! `masque chat`: a conversation with a persona.

use std::io::{self, IsTerminal as _};

use agent::{Mode, SessionStatus};
use app::Code;
use app::outputs::ListItem;
use app::running::{ApprovalPolicy, Greeting, Runtime, SendOptions, SessionView};
use persona::Name;
use uuid::Uuid;

use super::answer::{self, AnswerPrinter, Approver, Outcome, Viewer, Watch, error_text, send_failure};
use super::open_session;
use super::sessions::transcript;
use crate::ask::{self, Choice};
use crate::cli::ChatArgs;
use crate::failure::{CommandError, Failure, Result};
use crate::locations::Directories;
use crate::output::{Output, Stream, Style};
use crate::runtime;
use crate::signals::{Shutdown, Signal};
use crate::workspace::Workspace;

mod input;
use input::{Input, Source};

mod commands;
mod pending;
mod plan;
mod slash;

/// The file with the typed messages, beside the database.
const HISTORY_FILE: &str = "chat_history";

/// Personas to choose from.
const OFFERED: usize = 200;

/// A running chat.
struct Chat<'a> {
    runtime: &'a Runtime,
    session: Uuid,
    persona: String,
    mode: Mode,
    /// True on a terminal, where the user can be asked.
    is_interactive: bool,
    watch: Watch<'a>,
    viewer: Viewer,
    /// The failure of the last incomplete answer.
    failure: Option<Failure>,
    /// The hash of the plan that the user saw last.
    seen_plan: Option<String>,
}

/// The next step of the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

pub(super) async fn run(
    args: ChatArgs,
    workspace: &Workspace,
    verbose: bool,
    output: &mut Output,
) -> Result<()> {
    let name = args.persona()?;
    let ChatArgs { continue_last, mut options, .. } = args;
    if output.is_json() {
        let instead = "masque run NAME \"…\" --json";
        return Err(CommandError::NoJson { command: "masque chat", instead }.into());
    }
    let shutdown = Shutdown::listen()?;
    runtime::warn_of_wide_root(workspace);
    let runtime = runtime::open(workspace).await?;
    let is_interactive = io::stdin().is_terminal() && output.is_terminal();
    let greeting = is_interactive.then_some(Greeting::FIRST);
    if continue_last {
        let root = runtime::root(workspace.project.as_ref(), workspace.audience);
        let home = workspace.directories.as_ref().map(|directories| directories.home.as_path());
        let last = open_session::last(&runtime, name.as_ref(), root.as_deref(), home).await?;
        options.session = Some(last.to_string());
    }
    let name = match name {
        None if options.session.is_none() && is_interactive && ask::can_ask(output) => {
            Some(choose(workspace, output).await?)
        }
        name => name,
    };
    let (view, is_new) = open_session::open(&runtime, name, &options, greeting).await?;
    let id = view.session.id;
    let mut chat = Chat {
        runtime: &runtime,
        session: id,
        persona: view.session.persona.to_string(),
        mode: view.session.mode,
        is_interactive,
        watch: Watch::new(
            &runtime,
            id,
            if is_interactive { Approver::User } else { Approver::None },
            shutdown.clone(),
        ),
        viewer: Viewer::Person(Box::new(AnswerPrinter::new(true, verbose, output))),
        failure: None,
        seen_plan: None,
    };
    let outcome = match open_session::check_ready(&runtime, &view.session, workspace, output).await {
        Ok(()) => chat.converse(&view, output).await,
        Err(failure) => Err(failure),
    };
    let failure = chat.failure.take();
    let outcome = answer::stop(&runtime, &shutdown, outcome).await;
    let is_unused = is_new && runtime.session(id).await.is_ok_and(|view| open_session::is_unused(&view));
    if is_unused {
        // A session without a message is not kept.
        runtime.delete_session(id).await?;
    } else if is_interactive && !matches!(outcome, Err(Failure::Stopped(Signal::HangUp))) {
        let line = format!("Continue with: masque chat --session {id}");
        output.pieces(Stream::Output, &[(Style::Faint, &line)])?;
    }
    outcome?;
    failure.map_or(Ok(()), Err)
}

/// Lets the user choose a persona, the last used first.
async fn choose(workspace: &Workspace, output: &mut Output) -> Result<Name> {
    let recent = workspace.library.recent_personas(OFFERED).await?;
    let choice = |item: ListItem| {
        let about = item.summary.as_deref().or(item.description.as_deref()).unwrap_or_default();
        Choice::new(&item.name, about, item.name.clone())
    };
    ask::choose("Chat with which persona?", recent.into_iter().map(choice).collect(), 0, output).await
}

impl Chat<'_> {
    async fn converse(&mut self, view: &SessionView, output: &mut Output) -> Result<()> {
        let mut source = self.source(output)?;
        if self.is_interactive {
            self.greet(view, output)?;
            if view.session.status == SessionStatus::Waiting {
                self.resume_pending(view, output).await?;
            }
        }
        let mut interrupted = false;
        loop {
            output.flush()?;
            let prompt = self.prompt(output);
            let input = self.watch.shutdown().race(source.next(prompt)).await?;
            let again = std::mem::replace(&mut interrupted, input == Input::Interrupted);
            let message = match input {
                Input::End => return Ok(()),
                Input::Interrupted if again => return Ok(()),
                Input::Interrupted => {
                    self.faint("Press Ctrl-C again or Ctrl-D to quit.", output)?;
                    continue;
                }
                Input::Message(message) if message.trim().is_empty() => continue,
                Input::Message(message) => message,
            };
            let flow = match slash::parse(&message) {
                None => self.send(message, output).await?,
                Some(Ok(command)) => self.run_command(command, output).await?,
                Some(Err(error)) => self.show_error(&error, output)?,
            };
            if flow == Flow::Quit {
                return Ok(());
            }
        }
    }

    fn source(&self, output: &Output) -> Result<Source> {
        if !self.is_interactive {
            return Ok(Source::Lines);
        }
        let history =
            Directories::find().ok().map(|directories| directories.masque_data().join(HISTORY_FILE));
        Source::terminal(history, output)
    }

    fn greet(&self, view: &SessionView, output: &mut Output) -> Result<()> {
        let SessionView { session, turns, .. } = view;
        let before = match turns.len() {
            _ if open_session::is_unused(view) => String::new(),
            0 => String::new(),
            1 => " 1 turn so far (/history shows it).".to_owned(),
            _ => format!(" {} turns so far (/history shows them).", turns.len()),
        };
        let line = format!(
            "{} in {} mode.{before} /help for commands, Ctrl-D to quit.",
            session.persona, session.mode
        );
        self.faint(&line, output)?;
        if open_session::is_unused(view) {
            transcript::print(turns, output)
        } else {
            transcript::print_last(turns, output)
        }
    }

    /// The prompt, plain and styled.
    fn prompt(&self, output: &Output) -> (String, String) {
        let Self { persona, mode, .. } = self;
        let plain = format!("{persona} {mode} › ");
        let styled = format!(
            "{} {} › ",
            output.styled(Style::Name, persona),
            output.styled(if *mode == Mode::Plan { Style::Warning } else { Style::Faint }, mode)
        );
        (plain, styled)
    }

    /// Sends a message and shows the answer. A decision about a plan sends the next message.
    async fn send(&mut self, message: String, output: &mut Output) -> Result<Flow> {
        let mut next = Some(message);
        while let Some(message) = next.take() {
            let policy = if self.is_interactive { ApprovalPolicy::Ask } else { ApprovalPolicy::Refuse };
            let options = SendOptions { policy, ..SendOptions::default() };
            let mut subscription = match self.watch.send(message, options, output).await? {
                Ok(subscription) => subscription,
                Err(error) => {
                    let failure = send_failure(self.runtime, self.session, error).await;
                    return if self.is_interactive {
                        self.show_error(&error_text(failure), output)
                    } else {
                        Err(failure)
                    };
                }
            };
            let outcome = self.watch.until_done(&mut subscription, &mut self.viewer, output).await?;
            drop(subscription);
            next = self.finish(outcome, output).await?;
        }
        Ok(Flow::Continue)
    }

    /// Finishes an answer. Returns the next message if the user decided about a plan.
    async fn finish(&mut self, outcome: Outcome, output: &mut Output) -> Result<Option<String>> {
        self.refresh().await?;
        if self.is_interactive {
            output.blank()?;
            return match outcome.plan {
                Some(plan) => {
                    self.seen_plan = Some(agent::content_hash(&plan));
                    let shutdown = self.watch.shutdown().clone();
                    shutdown.race(self.decide_plan(output)).await
                }
                None => Ok(None),
            };
        }
        if let Some(failure) = outcome.failure() {
            self.failure = Some(failure);
        }
        Ok(None)
    }

    /// Reloads the mode and the persona, which an answer or another process can change.
    async fn refresh(&mut self) -> Result<SessionView> {
        let view = self.runtime.session(self.session).await?;
        self.mode = view.session.mode;
        self.persona = view.session.persona.to_string();
        Ok(view)
    }

    /// The stream for everything except answers.
    fn side(&self) -> Stream {
        if self.is_interactive { Stream::Output } else { Stream::Error }
    }

    fn faint(&self, line: &str, output: &mut Output) -> Result<()> {
        output.pieces(self.side(), &[(Style::Faint, line)])
    }

    /// Shows an error and continues. Without a terminal, the chat fails.
    fn show_error(&self, error: &str, output: &mut Output) -> Result<Flow> {
        if !self.is_interactive {
            return Err(Failure::new(Code::InvalidUsage, error));
        }
        output.pieces(Stream::Output, &[(Style::Bad, "error: "), (Style::Plain, error)])?;
        Ok(Flow::Continue)
    }
}
