//! The facts on which the replies of a persona depend, before it runs.

use agent::Mode;
use llm::{ModelRef, Sampling};
use persona::{AssemblyRequest, Bundle, Fidelity, Name, View};
use serde_json::{Value, json};

use super::models::NoModel;
use super::perform::Performance;
use super::project_files::FilesForMessages;
use super::toolset::Toolset;
use super::{Runtime, own_tools};
use crate::{ModelError, Result};

/// A performance as it would be sent, without its messages.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    /// The prompt with its placeholders: values of the environment do not leave the process.
    pub(crate) prompt: String,
    /// With its files, as they are without a message.
    pub(crate) prompt_tokens: usize,
    pub(crate) model: ModelRef,
    pub(crate) sampling: Sampling,
    /// The tools that the model is offered, as JSON.
    pub(crate) tools: Value,
    pub(crate) stage: Option<Name>,
    pub(crate) fidelity: Fidelity,
    pub(crate) files: Option<FilesForMessages>,
}

impl Runtime {
    /// Prepares a performance without running it. Its bundle is the persona's.
    pub(crate) async fn subject(&self, performance: &Performance, bundle: &Bundle) -> Result<Subject> {
        let starter = &self.runner.starter;
        let root = self.root_of(performance)?;
        let (session, prepared, provided) = starter.cast(performance, root).await?;
        let candidates = starter.models.candidates(session.model.as_ref(), &prepared, Mode::Build).await;
        let candidates = candidates.map_err(|NoModel { message, .. }| ModelError::NoneAnswers { message })?;
        // There is always a first one.
        let first = candidates.into_iter().next();
        let first =
            first.ok_or_else(|| ModelError::NoneAnswers { message: "no model is configured".to_owned() })?;
        let files = FilesForMessages::new(&session, &prepared, &first);
        let (model, sampling) = (first.model, first.sampling);
        let mut prompt_tokens = prepared.prompt_tokens();
        if let Some(files) = &files {
            prompt_tokens += self.files_for(files, "").await?.tokens;
        }
        let own = own_tools::load_skill(&prepared.skills).into_iter().collect();
        let toolset = Toolset::new(prepared, provided, own, Vec::new());
        let offer = toolset.offered(Mode::Build);
        let specs = offer.specs.iter().map(|spec| {
            json!({ "name": spec.name, "description": spec.description, "schema": *spec.input_schema })
        });
        let request = AssemblyRequest::plain(View::Detail);
        let assembled = self.library().assemble(bundle, &request).await?;
        let mut prompt = if performance.without_prompt { String::new() } else { persona::prompt(&assembled) };
        if let Some(strategy) = &offer.strategy {
            prompt.push_str(strategy);
        }
        let stage = bundle.stage.as_ref().filter(|_| !performance.without_prompt);
        Ok(Subject {
            prompt,
            prompt_tokens,
            model,
            sampling,
            tools: specs.collect(),
            stage: stage.map(|stage| stage.stage.clone()),
            files,
            fidelity: assembled.persona.fidelity.clone().unwrap_or_default(),
        })
    }
}
