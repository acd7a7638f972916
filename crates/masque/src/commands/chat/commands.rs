//! Runs the slash commands of the chat.

use agent::{Mode, PlanStatus};
use app::running::SessionView;
use persona::Name;

use super::slash::{ModelArgument, PlanArgument, SlashCommand, WORDS};
use super::{Chat, Flow};
use crate::commands::answer::{Markdown, error_text};
use crate::commands::sessions::transcript;
use crate::failure::Result;
use crate::output::{Output, Stream, Style, one_line, truncate};

/// Maximum columns of an undone message.
const UNDONE_COLUMNS: usize = 60;

impl Chat<'_> {
    pub(super) async fn run_command(&mut self, command: SlashCommand, output: &mut Output) -> Result<Flow> {
        match command {
            SlashCommand::Quit => return Ok(Flow::Quit),
            SlashCommand::Help => self.help(output)?,
            SlashCommand::Mode(None) => self.faint(&format!("{} mode", self.mode), output)?,
            SlashCommand::Mode(Some(mode)) => return self.set_mode(mode, output).await,
            SlashCommand::Persona(name) => return self.set_persona(name, output).await,
            SlashCommand::Model(None) => self.show_model(output).await?,
            SlashCommand::Model(Some(word)) => return self.set_model(word, output).await,
            SlashCommand::History => {
                let view = self.refresh().await?;
                match view.turns.is_empty() {
                    true => self.faint("No messages yet.", output)?,
                    false => transcript::print(&view.turns, output)?,
                }
            }
            SlashCommand::Undo => return self.undo(output).await,
            SlashCommand::Plan(None) => self.show_plan(output).await?,
            SlashCommand::Plan(Some(PlanArgument::Approve)) => {
                return match self.approve().await {
                    Ok(message) => self.send(message, output).await,
                    Err(error) => self.show_error(&error_text(error), output),
                };
            }
            SlashCommand::Plan(Some(PlanArgument::SendBack(why))) => {
                return match self.send_back(why).await {
                    Ok(message) => self.send(message, output).await,
                    Err(error) => self.show_error(&error_text(error), output),
                };
            }
        }
        Ok(Flow::Continue)
    }

    fn help(&self, output: &mut Output) -> Result<()> {
        for (word, rest, does) in WORDS {
            let word = format!("{:<34}", format!("/{word} {rest}"));
            output.pieces(self.side(), &[(Style::Name, &word), (Style::Plain, does)])?;
        }
        self.faint("End a line with \\ to continue on the next. Ctrl-C interrupts an answer.", output)
    }

    async fn set_mode(&mut self, mode: Mode, output: &mut Output) -> Result<Flow> {
        if let Err(error) = self.runtime.set_mode(self.session, mode).await {
            return self.show_error(&error_text(error), output);
        }
        self.mode = mode;
        let line = match mode {
            Mode::Plan => "plan mode: read-only tools",
            Mode::Build => "build mode: all tools",
        };
        self.faint(line, output)?;
        Ok(Flow::Continue)
    }

    async fn set_persona(&mut self, name: Name, output: &mut Output) -> Result<Flow> {
        match self.runtime.set_persona(self.session, name, None).await {
            Ok(session) => {
                self.persona = session.persona.to_string();
                self.faint(&format!("continuing with {}", session.persona), output)?;
                Ok(Flow::Continue)
            }
            Err(error) => self.show_error(&error_text(error), output),
        }
    }

    async fn show_model(&mut self, output: &mut Output) -> Result<()> {
        let SessionView { session, .. } = self.refresh().await?;
        let line = match (&session.model, &session.answered_by) {
            (Some(model), _) => format!("{model}, your choice"),
            (None, Some(model)) => format!("{model} answered last; the persona chooses"),
            (None, None) => "no model has answered yet; the persona chooses".to_owned(),
        };
        self.faint(&format!("{line}. `masque models` lists all models."), output)
    }

    async fn set_model(&mut self, word: ModelArgument, output: &mut Output) -> Result<Flow> {
        let model = match word {
            ModelArgument::Default => None,
            ModelArgument::Named(model) => Some(model),
        };
        match self.runtime.set_model(self.session, model).await {
            Ok(session) => {
                let line = match session.model {
                    Some(model) => {
                        format!("using {model}; /model default lets the persona choose")
                    }
                    None => "the persona chooses the model".to_owned(),
                };
                self.faint(&line, output)?;
                Ok(Flow::Continue)
            }
            Err(error) => self.show_error(&error_text(error), output),
        }
    }

    async fn undo(&mut self, output: &mut Output) -> Result<Flow> {
        match self.runtime.undo(self.session).await {
            Ok(message) => {
                let message = truncate(&one_line(&message), UNDONE_COLUMNS);
                self.faint(&format!("undone: {message}"), output)?;
                self.faint("Files are unchanged.", output)?;
                Ok(Flow::Continue)
            }
            Err(error) => self.show_error(&error_text(error), output),
        }
    }

    async fn show_plan(&mut self, output: &mut Output) -> Result<()> {
        let SessionView { session, .. } = self.refresh().await?;
        let Some(plan) = &session.plan else {
            return self.faint("No plan yet; ask for one in plan mode (/mode plan).", output);
        };
        self.seen_plan = Some(plan.hash());
        let (color, width) = (output.has_color(), output.width());
        output.styled_text(&Markdown::render(color, width, plan.content.trim()))?;
        let line = match plan.status {
            PlanStatus::Proposed => "/plan approve approves it, /plan back REASON sends it back.",
            PlanStatus::Approved => "Approved.",
            PlanStatus::SentBack => "Sent back.",
        };
        output.pieces(Stream::Output, &[(Style::Faint, line)])
    }
}
