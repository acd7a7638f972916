//! Prepares a persona for a run: it is resolved once for each message.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use agent::{ErrorCode, Granted, Mode, Note, Notice, Session, needs_confirmation, preset_hash};
use llm::{Failure, Message, SharedMessage, ToolResult};
use persona::env::Values;
use persona::{
    Aggregation, AssemblyRequest, BiasProfile, Bundle, ContextPreset, Entity, Environment, Filler, Guardrail,
    Kind, Name, Persona, PreferredModel, PromptProblem, Scope, Skill, TokenCounter as _, ToolPreset, View,
};
use store::Keep;

use super::own_tools::LOAD_SKILL;
use super::{Grants, Lookup};
use crate::{Library, Result, Tokenizer};

/// Something that a run has to do without.
pub(super) type RunProblem = Note;

/// A problem that the run survives.
pub(super) fn warning(code: ErrorCode, message: String) -> RunProblem {
    Note::Error { code, message }
}

/// A persona, ready for a run.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The stable part of the system prompt.
    pub(super) prompt: String,
    prompt_tokens: OnceLock<usize>,
    /// True if the model gets no system text.
    pub(super) is_silent: bool,
    pub(super) preset: Option<ToolPreset>,
    pub(super) plan_preset: Option<ToolPreset>,
    pub(super) bias: Option<BiasProfile>,
    pub(super) files: WantedFiles,
    /// Patterns of tools that a guardrail forbids.
    pub(super) deny: Vec<String>,
    /// True if a preset's `auto` counts.
    pub(super) auto_counts: bool,
    /// The shared presets that the user has to confirm before their `auto` counts.
    pub(super) unconfirmed: Vec<Name>,
    /// The skills' contents as authored. They become part of the session's turns.
    pub(super) skills: Arc<BTreeMap<Name, String>>,
    /// Skills with placeholders: the authored text, and the text for the model.
    expanded_skills: Vec<(String, String)>,
    pub(super) models: Vec<PreferredModel>,
    pub(super) plan_model: Option<String>,
    pub(super) plan_instruction: Option<String>,
    pub(super) max_tool_rounds: Option<u32>,
    /// Missing values of placeholders, and the like.
    pub(super) problems: Vec<RunProblem>,
    /// The same, for plan mode only.
    pub(super) plan_problems: Vec<RunProblem>,
    /// The values of placeholders.
    values: Values,
}

/// The files of the project that a persona wants to see.
#[derive(Debug, Clone, Default)]
pub(super) struct WantedFiles {
    pub(super) preset: Option<ContextPreset>,
    pub(super) strategy: Option<Aggregation>,
}

impl WantedFiles {
    pub(super) fn is_empty(&self) -> bool {
        self.preset.is_none() && self.strategy.is_none()
    }
}

impl Prepared {
    pub(super) fn preset(&self, mode: Mode) -> Option<&ToolPreset> {
        match mode {
            Mode::Plan => self.plan_preset.as_ref().or(self.preset.as_ref()),
            Mode::Build => self.preset.as_ref(),
        }
    }

    /// Takes away the system text. Tools and settings stay.
    pub(super) fn silence(&mut self) {
        self.prompt.clear();
        self.files = WantedFiles::default();
        self.prompt_tokens = OnceLock::new();
        self.is_silent = true;
    }

    /// Removes values of placeholders from a failure: a provider may quote its request.
    pub(super) fn conceal(&self, failure: Failure) -> Failure {
        Failure { message: self.values.conceal(&failure.message), ..failure }
    }

    /// Fills in the placeholders of loaded skills. Turns keep the placeholders.
    pub(super) fn fill(&self, messages: &mut [SharedMessage]) {
        if self.expanded_skills.is_empty() {
            return;
        }
        let expanded = |result: &ToolResult| {
            let mut skills = self.expanded_skills.iter().filter(|_| result.tool_name == LOAD_SKILL);
            skills.find(|(written, _)| *written == result.output).map(|(_, expanded)| expanded)
        };
        for shared in messages {
            let Message::User { results, .. } = &**shared else { continue };
            if results.iter().all(|result| expanded(result).is_none()) {
                continue;
            }
            let Message::User { results, .. } = shared.make_mut() else { continue };
            for result in results {
                if let Some(expanded) = expanded(result) {
                    result.output.clone_from(expanded);
                }
            }
        }
    }

    /// The tokens of the prompt, counted once.
    pub(super) fn prompt_tokens(&self) -> usize {
        *self.prompt_tokens.get_or_init(|| Tokenizer.count(&self.prompt))
    }
}

/// Prepares personas for their runs.
pub(super) struct Personas {
    pub(super) library: Library,
    /// The variables that `${env.NAME}` may name.
    pub(super) env_allow: BTreeSet<String>,
    pub(super) environment: Lookup,
    pub(super) grants: Arc<dyn Grants>,
}

impl fmt::Debug for Personas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Personas").field("library", &self.library).finish_non_exhaustive()
    }
}

impl Personas {
    /// Prepares the persona of a session.
    pub(super) async fn prepare_for(&self, session: &Session) -> Result<Prepared> {
        self.prepare(&session.persona, session.scope, &session.overrides).await
    }

    /// True if the user trusts the project's file as it is in force. A file that changed since it was
    /// loaded is not trusted until it is loaded again.
    fn trusts_project(&self) -> bool {
        let scopes = &self.library.scopes;
        let text = scopes.text(Scope::Project);
        text.is_some_and(|text| {
            scopes.is_in_force(Scope::Project, &text) && self.grants.trusts_project(&text)
        })
    }

    /// The names of the presets that the user has to confirm before their `auto` counts.
    fn unconfirmed<'a>(&self, presets: impl Iterator<Item = &'a (ToolPreset, Scope)>) -> Vec<Name> {
        let lacks = |(preset, scope): &&(ToolPreset, Scope)| {
            needs_confirmation(preset, *scope) && !self.grants.confirms(&preset_hash(preset))
        };
        let mut names: Vec<Name> = presets.filter(lacks).map(|(preset, _)| preset.name.clone()).collect();
        names.dedup();
        names
    }

    /// A notice if an untrusted project's persona takes the place of another one.
    async fn shadowed(&self, name: &Name) -> Result<Option<RunProblem>> {
        for scope in [Scope::Global, Scope::Shared, Scope::Builtin] {
            if self.library.scopes.get_any(Kind::Persona, name, Some(scope)).await?.is_some() {
                let notice = Notice::ShadowsPersona { name: name.clone(), scope };
                return Ok(Some(Note::Notice { notice }));
            }
        }
        Ok(None)
    }

    async fn prepare(
        &self,
        name: &Name,
        scope: Option<Scope>,
        overrides: &BTreeMap<persona::PartType, Name>,
    ) -> Result<Prepared> {
        let request =
            AssemblyRequest { overrides: overrides.clone(), ..AssemblyRequest::plain(View::Detail) };
        let loaded = self.library.load(name, scope, &request).await?;
        self.prepare_bundle(&loaded.bundle, &request).await
    }

    /// Prepares a persona that was loaded, as it is now or as it was.
    pub(super) async fn prepare_bundle(
        &self,
        loaded: &Bundle,
        request: &AssemblyRequest,
    ) -> Result<Prepared> {
        let mut bundle = loaded.clone();
        let environment = Environment { allowed: &self.env_allow, lookup: self.environment.as_ref() };
        let mut filler = Filler::new(environment);
        filler.bundle(&mut bundle);
        let assembled = self.library.assemble(&bundle, request).await?;
        let expanded = skills(&assembled.skills);
        let written = match expanded.is_empty() || self.env_allow.is_empty() {
            true => expanded.clone(),
            false => skills(&self.library.assemble(loaded, request).await?.skills),
        };
        let plan = assembled.persona.plan_persona.as_ref();
        let library = &self.library;
        let mut preset = preset_of::<ToolPreset>(library, &bundle, |of| of.tool_preset.as_ref()).await?;
        let mut plan_preset = preset_of::<ToolPreset>(library, &bundle, planning).await?;
        let mut bias = preset_of::<BiasProfile>(library, &bundle, |of| of.bias_profile.as_ref()).await?;
        let context = preset_of::<ContextPreset>(library, &bundle, |of| of.context_preset.as_ref()).await?;
        let unconfirmed = self.unconfirmed([&preset, &plan_preset].into_iter().flatten());
        preset.iter_mut().for_each(|(preset, scope)| filler.tool_preset(preset, *scope));
        bias.iter_mut().for_each(|(bias, scope)| filler.bias_profile(bias, *scope));
        let (mut plan_problems, problems): (Vec<_>, Vec<_>) =
            filler.problems().into_iter().partition(PromptProblem::is_of_plans);
        plan_preset.iter_mut().for_each(|(preset, scope)| filler.tool_preset(preset, *scope));
        // The problems of a preset that both modes use are among the others already.
        plan_problems.extend(filler.problems().into_iter().filter(|problem| !problems.contains(problem)));
        let coded = |problems: Vec<PromptProblem>| {
            problems.iter().map(|problem| warning(ErrorCode::Persona, problem.to_string())).collect()
        };
        let presets = [&preset, &plan_preset].into_iter().flatten().map(|(_, scope)| *scope);
        let scopes = bundle.bases.iter().map(|base| base.meta.scope).chain([bundle.meta.scope]);
        let scopes: Vec<Scope> = scopes.chain(presets).collect();
        let granted = Granted {
            project: scopes.contains(&Scope::Project) && self.trusts_project(),
            presets: unconfirmed.is_empty(),
        };
        let auto_counts = agent::auto_counts(scopes, granted);
        let mut problems: Vec<RunProblem> = coded(problems);
        let prompt = persona::prompt(&assembled);
        let notices = Notice::of(&prompt, filler.unfilled());
        problems.extend(notices.into_iter().map(|notice| Note::Notice { notice }));
        if bundle.meta.scope == Scope::Project && !granted.project {
            problems.extend(self.shadowed(&loaded.persona.name).await?);
        }
        Ok(Prepared {
            prompt,
            prompt_tokens: OnceLock::new(),
            is_silent: false,
            deny: assembled.guardrails.iter().flat_map(|it: &&Guardrail| it.deny_tools.clone()).collect(),
            expanded_skills: changed_skills(&written, &expanded),
            skills: Arc::new(written),
            models: assembled.persona.preferred_models.clone(),
            plan_model: plan.and_then(|plan| plan.model.clone()),
            plan_instruction: plan.and_then(|plan| plan.instruction.clone()),
            max_tool_rounds: assembled.persona.max_tool_rounds,
            preset: preset.map(|(preset, _)| preset),
            plan_preset: plan_preset.map(|(preset, _)| preset),
            bias: bias.map(|(bias, _)| bias),
            files: WantedFiles {
                preset: context.map(|(preset, _)| preset),
                strategy: assembled.persona.aggregation_strategy,
            },
            auto_counts,
            unconfirmed,
            problems,
            plan_problems: coded(plan_problems),
            values: filler.into_values(),
        })
    }
}

fn planning(persona: &Persona) -> Option<&Name> {
    persona.plan_persona.as_ref().and_then(|plan| plan.tool_preset.as_ref())
}

fn skills(skills: &[&Skill]) -> BTreeMap<Name, String> {
    let content = |skill: &Skill| {
        let said = skill.content.as_deref().or(skill.description.as_deref());
        said.unwrap_or("This skill has no content yet.").to_owned()
    };
    skills.iter().map(|skill| (skill.name.clone(), content(skill))).collect()
}

/// The skills that placeholders change: the authored text, and the text for the model.
fn changed_skills(
    written: &BTreeMap<Name, String>,
    expanded: &BTreeMap<Name, String>,
) -> Vec<(String, String)> {
    let pairs = written.iter().filter_map(|(name, text)| Some((text.clone(), expanded.get(name)?.clone())));
    pairs.filter(|(written, expanded)| written != expanded).collect()
}

/// The preset that the strongest layer names. One that is missing is an error: a persona must not
/// run with more tools than its author chose.
async fn preset_of<T: Keep + Entity>(
    library: &Library,
    bundle: &Bundle,
    named: impl Fn(&Persona) -> Option<&Name>,
) -> Result<Option<(T, Scope)>> {
    let bases = bundle.bases.iter().rev().map(|base| (&base.persona, base.meta.scope));
    let mut layers = [(&bundle.persona, bundle.meta.scope)].into_iter().chain(bases);
    let found = layers.find_map(|(persona, scope)| named(persona).map(|name| (name, scope)));
    let Some((name, scope)) = found else { return Ok(None) };
    match library.look_up::<T>(scope, None, name).await? {
        Some((scope, preset)) => Ok(Some((preset, scope))),
        None => Err(library.missing(T::KIND, name).await),
    }
}
