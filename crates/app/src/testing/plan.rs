//! The plan of a run: versions of the persona, inputs, samples, judge, budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use fidelity::{Caps, Cell, Check, Column, Estimate, Expectation, RunState, Spent, Tally, TestReport};
use llm::ModelRef;
use persona::{
    AssemblyRequest, Bundle, Entity, Fidelity, Kind, Name, Scope, TestInput, TokenCounter as _, limits,
};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::MOST_CELLS;
use super::cache::{Cache, hash, subject_key};
use super::run::now;
use crate::inputs::{CompareTests, RevisionText, TestOptions, TestPersona};
use crate::running::{Performance, Subject};
use crate::{Error, Library, ModelError, Result, Runtime, TestError, Tokenizer, ValueError};

/// The version of a persona that is in use, as a column's name.
const NOW: &str = "now";
/// The tag that comparisons take as A.
const PRODUCTION: &str = "production";
/// Tokens of a reply, for estimates.
const REPLY_TOKENS: u64 = 300;
/// Tokens of a judge's instructions and answer, for estimates.
const VERDICT_TOKENS: u64 = 600;

/// A run before it begins.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) id: Uuid,
    persona: Name,
    pub(super) columns: Vec<PlannedColumn>,
    pub(super) inputs: Vec<PlannedInput>,
    pub(super) judge: Option<ModelRef>,
    pub(super) votes: u32,
    pub(super) pass: f64,
    pub(super) caps: Caps,
    pub(super) cache: Cache,
    estimate: Estimate,
}

/// A version of the persona.
#[derive(Debug)]
pub(super) struct PlannedColumn {
    pub(super) name: String,
    pub(super) subject: Subject,
    /// The hash of the subject.
    pub(super) key: String,
    bundle: Arc<Bundle>,
    reads_project: bool,
}

/// An input with its expectations.
#[derive(Debug)]
pub(super) struct PlannedInput {
    pub(super) input: TestInput,
    pub(super) expectations: Vec<Expectation>,
    samples: u32,
}

impl PlannedColumn {
    /// A performance of this version. The model is fixed: a reply of another one is another subject's.
    pub(super) fn performance(&self) -> Performance {
        Performance {
            frozen: Some(Arc::clone(&self.bundle)),
            model: Some(self.subject.model.clone()),
            reads_project: self.reads_project,
            ..Performance::new(self.bundle.persona.name.clone(), "")
        }
    }

    fn report(&self) -> Column {
        Column {
            column: self.name.clone(),
            revision: self.bundle.meta.revision,
            subject: self.key.clone(),
            pieces: pieces(&self.bundle),
            changed: Vec::new(),
            model: self.subject.model.to_string(),
            summary: Tally::default(),
        }
    }
}

impl Plan {
    pub(super) async fn of_test(runtime: &Runtime, input: TestPersona) -> Result<Self> {
        let TestPersona { persona, revision, scope, options } = input;
        Self::new(runtime, persona, scope, vec![revision], options).await
    }

    pub(super) async fn of_comparison(runtime: &Runtime, input: CompareTests) -> Result<Self> {
        let CompareTests { persona, a, b, scope, options } = input;
        let a = a.unwrap_or_else(|| RevisionText(PRODUCTION.to_owned()));
        if b.as_ref() == Some(&a) {
            return Err(TestError::SameVersion { persona, same: a.0 }.into());
        }
        Self::new(runtime, persona, scope, vec![Some(a), b], options).await
    }

    async fn new(
        runtime: &Runtime,
        persona: Name,
        scope: Option<Scope>,
        versions: Vec<Option<RevisionText>>,
        options: TestOptions,
    ) -> Result<Self> {
        let library = runtime.library();
        let mut bundles = Vec::with_capacity(versions.len());
        for version in versions {
            let name = version.as_ref().map_or_else(|| NOW.to_owned(), |version| version.0.clone());
            bundles.push((name, version_of(library, &persona, scope, version.as_ref()).await?));
        }
        // The inputs of the newer version: both sides answer the same.
        let bundle = bundles
            .last()
            .map(|(_, bundle)| Arc::clone(bundle))
            .ok_or_else(|| Error::from(TestError::NoInputs { persona: persona.clone() }))?;
        let inputs = inputs(library, &persona, &bundle, &options).await?;
        let uses_tools = inputs.iter().flat_map(|input| &input.expectations);
        let reads_project =
            uses_tools.into_iter().any(|it| matches!(it.check, Check::Calls(_) | Check::CallsNot(_)));
        let mut columns = Vec::with_capacity(bundles.len());
        for (name, bundle) in bundles {
            columns.push(column(runtime, name, bundle, reads_project, options.model.clone()).await?);
        }
        let settings = columns.last().map(|it| it.subject.fidelity.clone()).unwrap_or_default();
        let is_judged = inputs.iter().flat_map(|input| &input.expectations).any(Expectation::is_judged);
        let judge = match is_judged {
            true => Some(judge(runtime, &options, &settings, &columns).await?),
            false => None,
        };
        let caps = caps(&options, &columns)?;
        let votes = settings.votes.unwrap_or(1);
        let cells = columns.len() * inputs.iter().map(|input| input.samples as usize).sum::<usize>();
        if cells > MOST_CELLS {
            return Err(TestError::TooManyCells { count: cells, most: MOST_CELLS }.into());
        }
        let estimate = estimate(&columns, &inputs, votes);
        let cache = Cache { library: library.clone(), persona: persona.to_string(), fresh: options.fresh };
        let pass = settings.pass.unwrap_or(Fidelity::PASS);
        Ok(Self { id: Uuid::now_v7(), persona, columns, inputs, judge, votes, pass, caps, cache, estimate })
    }

    /// The report of the run before its first cell.
    pub(super) fn report(&self) -> TestReport {
        let mut cells = Vec::new();
        for column in &self.columns {
            for input in &self.inputs {
                let waiting = |sample| Cell::waiting(input.input.name.as_str(), column.name.as_str(), sample);
                cells.extend((0..input.samples).map(waiting));
            }
        }
        let mut report = TestReport {
            id: self.id.to_string(),
            persona: self.persona.to_string(),
            state: RunState::Running,
            reached: None,
            judge: self.judge.as_ref().map(ToString::to_string),
            pass: self.pass,
            estimate: self.estimate,
            spent: Spent::default(),
            columns: self.columns.iter().map(PlannedColumn::report).collect(),
            cells,
            comparison: None,
            started_at: now(),
            ended_at: None,
        };
        report.tally();
        report
    }

    /// More cells for inputs with a `must` that flipped: as many samples again, on both sides.
    pub(super) fn flipped(&self, report: &TestReport) -> Vec<Cell> {
        let [a, b] = self.columns.as_slice() else { return Vec::new() };
        let of = |column: &PlannedColumn| -> Vec<Cell> {
            report.cells.iter().filter(|cell| cell.column == column.name).cloned().collect()
        };
        let flipped = fidelity::flipped_musts(&of(a), &of(b));
        let mut cells = Vec::new();
        for input in self.inputs.iter().filter(|it| flipped.iter().any(|name| name == it.input.name.as_str()))
        {
            for column in [a, b] {
                let waiting = |sample| Cell::waiting(input.input.name.as_str(), column.name.as_str(), sample);
                cells.extend((input.samples..input.samples * 2).map(waiting));
            }
        }
        cells
    }
}

/// A version of a persona: as it is now, or as it was.
async fn version_of(
    library: &Library,
    persona: &Name,
    scope: Option<Scope>,
    version: Option<&RevisionText>,
) -> Result<Arc<Bundle>> {
    Ok(Arc::new(match version {
        Some(version) => library.frozen(persona, scope, &version.parse()).await?,
        None => library.load(persona, scope, &AssemblyRequest::default()).await?.bundle.clone(),
    }))
}

async fn column(
    runtime: &Runtime,
    name: String,
    bundle: Arc<Bundle>,
    reads_project: bool,
    model: Option<ModelRef>,
) -> Result<PlannedColumn> {
    if let Some(model) = &model {
        runtime.check_provider(model).await?;
    }
    let performance = Performance {
        frozen: Some(Arc::clone(&bundle)),
        model,
        reads_project,
        ..Performance::new(bundle.persona.name.clone(), "")
    };
    let subject = runtime.subject(&performance, &bundle).await?;
    let key = subject_key(&subject);
    Ok(PlannedColumn { name, subject, key, bundle, reads_project })
}

/// The inputs to run: the named ones, or all of the persona's.
async fn inputs(
    library: &Library,
    persona: &Name,
    bundle: &Bundle,
    options: &TestOptions,
) -> Result<Vec<PlannedInput>> {
    if let Some(samples) = options.samples
        && !(1..=limits::SAMPLES).contains(&samples)
    {
        let (high, value) = (limits::SAMPLES as usize, samples as usize);
        return Err(ValueError::OutOfRange { field: "samples", low: 1, high, value }.into());
    }
    let linked = library.assemble(bundle, &AssemblyRequest::default()).await?.persona.test_inputs.clone();
    let names = options.inputs.clone().filter(|names| !names.is_empty()).unwrap_or(linked);
    if names.is_empty() {
        return Err(TestError::NoInputs { persona: persona.clone() }.into());
    }
    let mut planned: Vec<PlannedInput> = Vec::with_capacity(names.len());
    for name in names {
        if planned.iter().any(|known| known.input.name == name) {
            return Err(ValueError::NamedTwice { field: "inputs".to_owned(), name }.into());
        }
        let seen = library.look_up::<TestInput>(bundle.meta.scope, None, &name).await?;
        let input = match seen {
            Some((_, input)) => input,
            // A base in a stronger scope, or the caller's own choice.
            None => match library.scopes.get::<TestInput>(&name, None).await? {
                Some(stored) => stored.entity,
                None => return Err(library.missing(Kind::TestInput, &name).await),
            },
        };
        if input.content.as_deref().is_none_or(|content| content.trim().is_empty()) {
            return Err(TestError::NoContent { input: name }.into());
        }
        let expectations = fidelity::expectations(&input).map_err(|source| Error::Invalid {
            kind: Kind::TestInput,
            name: name.clone(),
            source,
        })?;
        let samples = options.samples.or(input.samples).unwrap_or(1);
        planned.push(PlannedInput { input, expectations, samples });
    }
    Ok(planned)
}

/// The judge: the caller's, the persona's, or the model that is tested.
async fn judge(
    runtime: &Runtime,
    options: &TestOptions,
    settings: &Fidelity,
    columns: &[PlannedColumn],
) -> Result<ModelRef> {
    let own = settings.judge.as_deref().map(|text| {
        text.parse::<ModelRef>().map_err(|source| ModelError::Invalid { field: "fidelity.judge", source })
    });
    let judge = match (&options.judge, own.transpose()?) {
        (Some(judge), _) => judge.clone(),
        (None, Some(judge)) => judge,
        (None, None) => match columns.last() {
            Some(column) => column.subject.model.clone(),
            None => return Err(ModelError::NoneAnswers { message: "there is no judge".to_owned() }.into()),
        },
    };
    runtime.check_provider(&judge).await?;
    Ok(judge)
}

/// The budget. No provider tells its prices yet, so a cost alone bounds nothing and is refused.
fn caps(options: &TestOptions, columns: &[PlannedColumn]) -> Result<Caps> {
    let TestOptions { max_calls: calls, max_tokens: tokens, max_cost: cost, .. } = options;
    if let (Some(_), None, None, Some(column)) = (cost, calls, tokens, columns.last()) {
        return Err(TestError::Unpriced { model: column.subject.model.to_string() }.into());
    }
    Ok(Caps { calls: *calls, tokens: *tokens, cost: *cost })
}

fn estimate(columns: &[PlannedColumn], inputs: &[PlannedInput], votes: u32) -> Estimate {
    let mut estimate = Estimate::default();
    for column in columns {
        for PlannedInput { input, expectations, samples } in inputs {
            let samples = u64::from(*samples);
            let turns = 1 + input.turns.len() as u64;
            let replies = |it: &Expectation| match it.on {
                persona::ReplyChoice::Every => turns,
                _ => 1,
            };
            let judged = expectations.iter().filter(|it| it.is_judged()).map(replies).sum::<u64>();
            let verdicts = judged * u64::from(votes);
            let said = input.content.iter().chain(&input.turns).map(|text| Tokenizer.count(text) as u64);
            let said = said.sum::<u64>() + turns * REPLY_TOKENS;
            estimate.cells += samples as usize;
            estimate.subject_calls += samples * turns;
            estimate.judge_calls += samples * verdicts;
            let of_subject = turns * column.subject.prompt_tokens as u64 + said * turns.div_ceil(2);
            estimate.tokens += samples * (of_subject + verdicts * (said + VERDICT_TOKENS));
        }
    }
    estimate.calls = estimate.subject_calls + estimate.judge_calls;
    estimate
}

/// Hashes of the persona, its bases and their pieces.
fn pieces(bundle: &Bundle) -> BTreeMap<String, String> {
    fn put<T: Entity + Serialize>(found: &mut BTreeMap<String, String>, entities: &[T]) {
        for entity in entities {
            let key = format!("{}:{}", T::KIND.as_str(), entity.name());
            found.insert(key, hash(&json!(entity))[..8].to_owned());
        }
    }
    let mut found = BTreeMap::new();
    for base in &bundle.bases {
        put(&mut found, std::slice::from_ref(&base.persona));
        put(&mut found, &base.parts);
        put(&mut found, &base.traits);
        put(&mut found, &base.skills);
        put(&mut found, &base.guardrails);
    }
    put(&mut found, std::slice::from_ref(&bundle.persona));
    put(&mut found, &bundle.parts);
    put(&mut found, &bundle.traits);
    put(&mut found, &bundle.skills);
    put(&mut found, &bundle.guardrails);
    if let Some(stage) = &bundle.stage {
        put(&mut found, &stage.parts);
    }
    found
}

/// Names the pieces that changed since the run, where it tested the persona as it was then in use.
pub(super) async fn mark_changed(runtime: &Runtime, report: &mut TestReport) {
    let Ok(persona) = Name::parse(&report.persona) else { return };
    for column in report.columns.iter_mut().filter(|column| column.column == NOW) {
        let loaded = runtime.library().load(&persona, None, &AssemblyRequest::default()).await;
        let Ok(loaded) = loaded else { continue };
        let current = pieces(&loaded.bundle);
        let names = column.pieces.keys().chain(current.keys());
        let differs = |name: &&String| column.pieces.get(*name) != current.get(*name);
        let mut changed: Vec<String> = names.filter(differs).cloned().collect();
        changed.sort();
        changed.dedup();
        column.changed = changed;
    }
}
