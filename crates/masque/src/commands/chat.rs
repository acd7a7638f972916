//! `masque chat`: talking to a persona.

use std::io::{self, IsTerminal as _};

use agent::{Mode, SessionStatus};
use app::running::{ApprovalPolicy, Runtime, SendOptions, SessionView};
use uuid::Uuid;

use super::answer::{self, Asks, Outcome, Teller, Viewer, Watch, in_words, unsent};
use super::opening;
use crate::cli::ChatArgs;
use crate::failure::{Failure, Result};
use crate::locations::Directories;
use crate::output::{Output, Stream, Style};
use crate::runtime;
use crate::session::Session;
use crate::signals::{Ending, Signal};

mod input;
use input::{Input, Source};

mod decide;
mod slash;
mod spoken;
mod waiting;

/// The file that keeps what was typed, beside the database.
const HISTORY_FILE: &str = "chat_history";

/// One talk, from the first message to the last.
struct Chat<'a> {
    runtime: &'a Runtime,
    session: Uuid,
    persona: String,
    mode: Mode,
    /// Whether somebody sits at a terminal, who can be asked.
    is_live: bool,
    watch: Watch<'a>,
    viewer: Viewer,
    /// How the last answer that was not whole ended.
    failure: Option<Failure>,
}

/// Whether the talk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    Listen,
    Leave,
}

pub(super) async fn run(args: ChatArgs, session: &Session, verbose: bool, output: &mut Output) -> Result<()> {
    let ChatArgs { name, opening } = args;
    if output.is_json() {
        return Err(Failure::invalid("a chat is for people; `masque run NAME \"…\" --json` prints events"));
    }
    let ending = Ending::listen()?;
    let runtime = runtime::open(session).await?;
    let (view, is_new) = opening::open(&runtime, name, &opening).await?;
    let is_live = io::stdin().is_terminal() && output.is_terminal();
    let id = view.session.id;
    let mut chat = Chat {
        runtime: &runtime,
        session: id,
        persona: view.session.persona.to_string(),
        mode: view.session.mode,
        is_live,
        watch: Watch::new(&runtime, id, if is_live { Asks::Person } else { Asks::Nobody }, ending.clone()),
        viewer: Viewer::Person(Box::new(Teller::new(true, verbose, output))),
        failure: None,
    };
    let talked = match opening::ready(&runtime, &view.session, session, output).await {
        Ok(()) => chat.talk(&view, output).await,
        Err(failure) => Err(failure),
    };
    let failure = chat.failure.take();
    let talked = answer::stop(&runtime, &ending, talked).await;
    let is_empty = is_new && runtime.session(id).await.is_ok_and(|view| view.turns.is_empty());
    if is_empty {
        // Nothing was said in it, so nobody will look for it.
        runtime.delete_session(id).await?;
    } else if is_live && !matches!(talked, Err(Failure::Stopped(Signal::HangUp))) {
        let line = format!("Go on with: masque chat --session {id}");
        output.pieces(Stream::Output, &[(Style::Faint, &line)])?;
    }
    talked?;
    failure.map_or(Ok(()), Err)
}

impl Chat<'_> {
    async fn talk(&mut self, view: &SessionView, output: &mut Output) -> Result<()> {
        let mut source = self.source(output)?;
        if self.is_live {
            self.greet(view, output)?;
            if view.session.status == SessionStatus::Waiting {
                self.take_up(view, output).await?;
            }
        }
        let mut interrupted = false;
        loop {
            output.flush()?;
            let prompt = self.prompt(output);
            let said = self.watch.ending().or(source.next(prompt)).await?;
            let again = std::mem::replace(&mut interrupted, said == Input::Interrupted);
            let message = match said {
                Input::End => return Ok(()),
                Input::Interrupted if again => return Ok(()),
                Input::Interrupted => {
                    self.faint("Ctrl-C once more, or Ctrl-D, leaves.", output)?;
                    continue;
                }
                Input::Message(message) if message.trim().is_empty() => continue,
                Input::Message(message) => message,
            };
            let then = match slash::parse(&message) {
                None => self.say(message, output).await?,
                Some(Ok(slash)) => self.obey(slash, output).await?,
                Some(Err(mistake)) => self.mistaken(&mistake, output)?,
            };
            if then == Then::Leave {
                return Ok(());
            }
        }
    }

    fn source(&self, output: &Output) -> Result<Source> {
        if !self.is_live {
            return Ok(Source::Lines);
        }
        let history =
            Directories::find().ok().map(|directories| directories.masque_data().join(HISTORY_FILE));
        Source::terminal(history, output)
    }

    fn greet(&self, view: &SessionView, output: &mut Output) -> Result<()> {
        let SessionView { session, turns, .. } = view;
        let before = match turns.len() {
            0 => String::new(),
            1 => " 1 turn so far; /history shows it.".to_owned(),
            _ => format!(" {} turns so far; /history shows them.", turns.len()),
        };
        let line = format!(
            "{} in {} mode.{before} /help lists what can be said besides; Ctrl-D leaves.",
            session.persona, session.mode
        );
        self.faint(&line, output)
    }

    /// The prompt as it is, and as it looks.
    fn prompt(&self, output: &Output) -> (String, String) {
        let Self { persona, mode, .. } = self;
        let plain = format!("{persona} {mode} › ");
        let styled = format!(
            "{} {} › ",
            output.styled(Style::Name, persona),
            output.styled(if *mode == Mode::Plan { Style::Doubtful } else { Style::Faint }, mode)
        );
        (plain, styled)
    }

    /// Says something, and whatever follows from it.
    async fn say(&mut self, message: String, output: &mut Output) -> Result<Then> {
        let mut next = Some(message);
        while let Some(message) = next.take() {
            let policy = if self.is_live { ApprovalPolicy::Ask } else { ApprovalPolicy::Refuse };
            let options = SendOptions { policy, ..SendOptions::default() };
            let mut subscription = match self.watch.send(message, options, output).await? {
                Ok(subscription) => subscription,
                Err(error) => {
                    let failure = unsent(self.runtime, self.session, error).await;
                    return if self.is_live {
                        self.mistaken(&in_words(failure), output)
                    } else {
                        Err(failure)
                    };
                }
            };
            let outcome = self.watch.until_done(&mut subscription, &mut self.viewer, output).await?;
            drop(subscription);
            next = self.after(outcome, output).await?;
        }
        Ok(Then::Listen)
    }

    /// What an answer leads to: the next message, where the user decided about a plan.
    async fn after(&mut self, outcome: Outcome, output: &mut Output) -> Result<Option<String>> {
        self.refresh().await?;
        if self.is_live {
            output.blank()?;
            return match outcome.plan {
                Some(_) => {
                    let ending = self.watch.ending().clone();
                    ending.or(self.decide_plan(output)).await
                }
                None => Ok(None),
            };
        }
        if let Some(failure) = outcome.failure() {
            self.failure = Some(failure);
        }
        Ok(None)
    }

    /// What somebody else, or the answer itself, has changed.
    async fn refresh(&mut self) -> Result<SessionView> {
        let view = self.runtime.session(self.session).await?;
        self.mode = view.session.mode;
        self.persona = view.session.persona.to_string();
        Ok(view)
    }

    /// Where whatever is not an answer stands.
    fn beside(&self) -> Stream {
        if self.is_live { Stream::Output } else { Stream::Error }
    }

    fn faint(&self, line: &str, output: &mut Output) -> Result<()> {
        output.pieces(self.beside(), &[(Style::Faint, line)])
    }

    /// What was said cannot be done; on a terminal there is another try.
    fn mistaken(&self, mistake: &str, output: &mut Output) -> Result<Then> {
        if !self.is_live {
            return Err(Failure::invalid(mistake));
        }
        output.pieces(Stream::Output, &[(Style::Bad, "error: "), (Style::Plain, mistake)])?;
        Ok(Then::Listen)
    }
}
