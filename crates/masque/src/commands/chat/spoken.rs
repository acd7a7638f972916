//! What the chat does itself when it is told to.

use agent::{Mode, PlanStatus};
use app::running::SessionView;
use persona::Name;

use super::slash::{ModelWord, PlanWord, Slash, WORDS};
use super::{Chat, Then};
use crate::commands::answer::{Markdown, in_words};
use crate::commands::sessions::transcript;
use crate::failure::Result;
use crate::output::{Output, Stream, Style, one_line, truncate};

/// Columns of a message that was taken back.
const TAKEN_BACK_COLUMNS: usize = 60;

impl Chat<'_> {
    pub(super) async fn obey(&mut self, slash: Slash, output: &mut Output) -> Result<Then> {
        match slash {
            Slash::Quit => return Ok(Then::Leave),
            Slash::Help => self.help(output)?,
            Slash::Mode(None) => self.faint(&format!("{} mode", self.mode), output)?,
            Slash::Mode(Some(mode)) => return self.set_mode(mode, output).await,
            Slash::Persona(name) => return self.set_persona(name, output).await,
            Slash::Model(None) => self.show_model(output).await?,
            Slash::Model(Some(word)) => return self.set_model(word, output).await,
            Slash::History => {
                let view = self.refresh().await?;
                match view.turns.is_empty() {
                    true => self.faint("Nothing was said yet.", output)?,
                    false => transcript::print(&view.turns, output)?,
                }
            }
            Slash::Undo => return self.undo(output).await,
            Slash::Plan(None) => self.show_plan(output).await?,
            Slash::Plan(Some(PlanWord::Approve)) => {
                return match self.approve().await {
                    Ok(message) => self.say(message, output).await,
                    Err(error) => self.mistaken(&in_words(error), output),
                };
            }
            Slash::Plan(Some(PlanWord::SendBack(why))) => {
                return match self.send_back(why).await {
                    Ok(message) => self.say(message, output).await,
                    Err(error) => self.mistaken(&in_words(error), output),
                };
            }
        }
        Ok(Then::Listen)
    }

    fn help(&self, output: &mut Output) -> Result<()> {
        for (word, rest, does) in WORDS {
            let word = format!("{:<34}", format!("/{word} {rest}"));
            output.pieces(self.beside(), &[(Style::Name, &word), (Style::Plain, does)])?;
        }
        self.faint("End a line with \\ to go on in the next. Ctrl-C interrupts an answer.", output)
    }

    async fn set_mode(&mut self, mode: Mode, output: &mut Output) -> Result<Then> {
        if let Err(error) = self.runtime.set_mode(self.session, mode).await {
            return self.mistaken(&in_words(error), output);
        }
        self.mode = mode;
        let line = match mode {
            Mode::Plan => "plan mode: only tools that read",
            Mode::Build => "build mode: tools may change things",
        };
        self.faint(line, output)?;
        Ok(Then::Listen)
    }

    async fn set_persona(&mut self, name: Name, output: &mut Output) -> Result<Then> {
        match self.runtime.set_persona(self.session, name, None).await {
            Ok(session) => {
                self.persona = session.persona.to_string();
                self.faint(&format!("{} goes on", session.persona), output)?;
                Ok(Then::Listen)
            }
            Err(error) => self.mistaken(&in_words(error), output),
        }
    }

    async fn show_model(&mut self, output: &mut Output) -> Result<()> {
        let SessionView { session, .. } = self.refresh().await?;
        let line = match (&session.model, &session.answered_by) {
            (Some(model), _) => format!("{model}, as you asked"),
            (None, Some(model)) => format!("{model} answered last; the persona chooses"),
            (None, None) => "nobody has answered yet; the persona chooses".to_owned(),
        };
        self.faint(&format!("{line}. `masque models` lists what answers."), output)
    }

    async fn set_model(&mut self, word: ModelWord, output: &mut Output) -> Result<Then> {
        let model = match word {
            ModelWord::Default => None,
            ModelWord::Named(model) => Some(model),
        };
        match self.runtime.set_model(self.session, model).await {
            Ok(session) => {
                let line = match session.model {
                    Some(model) => {
                        format!("{model} answers from now on; /model default leaves it to the persona")
                    }
                    None => "the persona chooses again".to_owned(),
                };
                self.faint(&line, output)?;
                Ok(Then::Listen)
            }
            Err(error) => self.mistaken(&in_words(error), output),
        }
    }

    async fn undo(&mut self, output: &mut Output) -> Result<Then> {
        match self.runtime.undo(self.session).await {
            Ok(message) => {
                let message = truncate(&one_line(&message), TAKEN_BACK_COLUMNS);
                self.faint(&format!("took back: {message}. Files stay as they are."), output)?;
                Ok(Then::Listen)
            }
            Err(error) => self.mistaken(&in_words(error), output),
        }
    }

    async fn show_plan(&mut self, output: &mut Output) -> Result<()> {
        let SessionView { session, .. } = self.refresh().await?;
        let Some(plan) = &session.plan else {
            return self.faint("There is no plan yet; ask for one in plan mode (/mode plan).", output);
        };
        let (color, width) = (output.has_color(), output.width());
        output.styled_text(&Markdown::whole(color, width, plan.content.trim()))?;
        let line = match plan.status {
            PlanStatus::Proposed => "Decide with /plan approve, or /plan back and why.",
            PlanStatus::Approved => "It was approved.",
            PlanStatus::SentBack => "It was sent back.",
        };
        output.pieces(Stream::Output, &[(Style::Faint, line)])
    }
}
