//! The plan of a run: versions of the persona, inputs, samples, judge, budget.

use std::collections::BTreeMap;
use std::sync::Arc;

use fidelity::limits::REPLY_TOKENS;
use fidelity::{
    Baseline, Caps, Cell, Check, Column, Estimate, Expectation, NO_PERSONA, Piece, RunState, Spent, Tally,
    TestReport,
};
use llm::ModelRef;
use persona::{AssemblyRequest, Bundle, Fidelity, Kind, Name, Scope, TokenCounter as _};
use store::FullRevision;
use uuid::Uuid;

use super::MOST_CELLS;
use super::cache::{Cache, subject_key};
use super::pieces::pieces;
use super::planned_inputs::{PlannedInput, planned_inputs};
use super::run::now;
use crate::inputs::{CompareTests, RevisionText, TestOptions, TestPersona};
use crate::running::{Performance, Subject};
use crate::{Error, Library, ModelError, Result, Runtime, TestError, Tokenizer};

/// The version of a persona that is in use, as a column's name.
pub(super) const NOW: &str = "now";
/// The tag that comparisons take as A.
const PRODUCTION: &str = "production";
/// Tokens of a judge's instructions and answer, for estimates.
const VERDICT_TOKENS: u64 = 600;

/// A run before it begins.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) id: Uuid,
    persona: Name,
    scope: Option<Scope>,
    pub(super) columns: Vec<PlannedColumn>,
    /// The model without the persona, if the lift is measured.
    pub(super) baseline: Option<PlannedColumn>,
    pub(super) inputs: Vec<PlannedInput>,
    pub(super) judge: Option<ModelRef>,
    pub(super) votes: u32,
    pub(super) pass: f64,
    pub(super) caps: Caps,
    pub(super) cache: Cache,
    estimate: Estimate,
}

/// A version of the persona, or its model without it.
#[derive(Debug)]
pub(super) struct PlannedColumn {
    pub(super) name: String,
    pub(super) subject: Subject,
    /// The hash of the subject.
    pub(super) key: String,
    bundle: Arc<Bundle>,
    pieces: BTreeMap<String, Piece>,
    reads_project: bool,
    without_prompt: bool,
}

/// A persona as it is now, or as it was at a revision.
type Version = (Arc<Bundle>, Option<FullRevision>);

impl PlannedColumn {
    /// A performance of this version. The model is fixed: a reply of another one is another subject's.
    pub(super) fn performance(&self) -> Performance {
        Performance {
            frozen: Some(Arc::clone(&self.bundle)),
            model: Some(self.subject.model.clone()),
            reads_project: self.reads_project,
            without_prompt: self.without_prompt,
            ..Performance::new(self.bundle.persona.name.clone(), "")
        }
    }

    fn report(&self) -> Column {
        Column {
            column: self.name.clone(),
            revision: self.bundle.meta.revision,
            subject: self.key.clone(),
            pieces: self.pieces.clone(),
            changed: Vec::new(),
            model: self.subject.model.to_string(),
            summary: Tally::default(),
        }
    }

    fn baseline_report(&self) -> Baseline {
        Baseline {
            column: self.name.clone(),
            subject: self.key.clone(),
            model: self.subject.model.to_string(),
            summary: Tally::default(),
        }
    }
}

impl Plan {
    pub(super) async fn of_test(runtime: &Runtime, input: TestPersona) -> Result<Self> {
        let TestPersona { persona, revision, scope, lift, options } = input;
        Self::new(runtime, (persona, scope), vec![revision], lift, options).await
    }

    pub(super) async fn of_comparison(runtime: &Runtime, input: CompareTests) -> Result<Self> {
        let CompareTests { persona, a, b, scope, options } = input;
        let a = a.unwrap_or_else(|| RevisionText(PRODUCTION.to_owned()));
        if b.as_ref() == Some(&a) {
            return Err(TestError::SameVersion { persona, same: a.0 }.into());
        }
        Self::new(runtime, (persona, scope), vec![Some(a), b], false, options).await
    }

    async fn new(
        runtime: &Runtime,
        (persona, scope): (Name, Option<Scope>),
        versions: Vec<Option<RevisionText>>,
        with_lift: bool,
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
            .map(|(_, (bundle, _))| Arc::clone(bundle))
            .ok_or_else(|| Error::from(TestError::NoInputs { persona: persona.clone() }))?;
        let inputs = planned_inputs(library, &persona, &bundle, &options).await?;
        let names: Vec<Name> = inputs.iter().map(|input| input.input.name.clone()).collect();
        let uses_tools = inputs.iter().flat_map(|input| &input.expectations);
        let reads_project =
            uses_tools.into_iter().any(|it| matches!(it.check, Check::Calls(_) | Check::CallsNot(_)));
        let mut columns = Vec::with_capacity(bundles.len());
        for (name, (bundle, frozen)) in bundles {
            let pieces = pieces(library, &bundle, frozen.as_ref(), &names).await?;
            let new = NewColumn { name, bundle, pieces, reads_project, without_prompt: false };
            columns.push(new.prepared(runtime, options.model.clone()).await?);
        }
        let baseline = match columns.last().filter(|_| with_lift) {
            Some(column) => Some(column.baseline(runtime).await?),
            None => None,
        };
        let settings = columns.last().map(|it| it.subject.fidelity.clone()).unwrap_or_default();
        let is_judged = inputs.iter().flat_map(|input| &input.expectations).any(Expectation::is_judged);
        let judge = match is_judged {
            true => Some(judge(runtime, &options, &settings, &columns).await?),
            false => None,
        };
        let caps = caps(runtime, &options, &columns, judge.as_ref())?;
        let votes = settings.votes.unwrap_or(1);
        let sides = columns.len() + usize::from(baseline.is_some());
        let cells = sides * inputs.iter().map(|input| input.samples as usize).sum::<usize>();
        if cells > MOST_CELLS {
            return Err(TestError::TooManyCells { count: cells, most: MOST_CELLS }.into());
        }
        let estimate = estimate(columns.iter().chain(&baseline), &inputs, votes);
        let cache = Cache { library: library.clone(), persona: persona.to_string(), fresh: options.fresh };
        let pass = settings.pass.unwrap_or(Fidelity::PASS);
        let id = Uuid::now_v7();
        Ok(Self { id, persona, scope, columns, baseline, inputs, judge, votes, pass, caps, cache, estimate })
    }

    /// The report of the run before its first cell.
    pub(super) fn report(&self) -> TestReport {
        let mut cells = Vec::new();
        for column in self.all_columns() {
            for input in &self.inputs {
                let waiting = |sample| Cell::waiting(input.input.name.as_str(), column.name.as_str(), sample);
                cells.extend((0..input.samples).map(waiting));
            }
        }
        let mut report = TestReport {
            id: self.id.to_string(),
            persona: self.persona.to_string(),
            scope: self.scope,
            state: RunState::Running,
            reached: None,
            judge: self.judge.as_ref().map(ToString::to_string),
            pass: self.pass,
            estimate: self.estimate,
            spent: Spent::default(),
            columns: self.columns.iter().map(PlannedColumn::report).collect(),
            cells,
            comparison: None,
            baseline: self.baseline.as_ref().map(PlannedColumn::baseline_report),
            lift: None,
            started_at: now(),
            ended_at: None,
        };
        report.tally();
        report
    }

    /// The versions of the persona, then the model without it.
    pub(super) fn all_columns(&self) -> impl Iterator<Item = &PlannedColumn> {
        self.columns.iter().chain(&self.baseline)
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
pub(super) async fn version_of(
    library: &Library,
    persona: &Name,
    scope: Option<Scope>,
    version: Option<&RevisionText>,
) -> Result<Version> {
    let Some(version) = version else {
        let loaded = library.load(persona, scope, &AssemblyRequest::default()).await?;
        return Ok((Arc::new(loaded.bundle.clone()), None));
    };
    let wanted = version.parse();
    let bundle = library.frozen(persona, scope, &wanted).await?;
    let (_, revision) = library.revision(Kind::Persona, persona, scope, &wanted).await?;
    Ok((Arc::new(bundle), Some(revision)))
}

/// A column before its model is known.
struct NewColumn {
    name: String,
    bundle: Arc<Bundle>,
    pieces: BTreeMap<String, Piece>,
    reads_project: bool,
    without_prompt: bool,
}

impl NewColumn {
    async fn prepared(self, runtime: &Runtime, model: Option<ModelRef>) -> Result<PlannedColumn> {
        let Self { name, bundle, pieces, reads_project, without_prompt } = self;
        if let Some(model) = &model {
            runtime.check_provider(model).await?;
        }
        let performance = Performance {
            frozen: Some(Arc::clone(&bundle)),
            model,
            reads_project,
            without_prompt,
            ..Performance::new(bundle.persona.name.clone(), "")
        };
        let subject = runtime.subject(&performance, &bundle).await?;
        let key = subject_key(&subject);
        Ok(PlannedColumn { name, subject, key, bundle, pieces, reads_project, without_prompt })
    }
}

impl PlannedColumn {
    /// The same model with the same tools and settings, without the persona's text.
    async fn baseline(&self, runtime: &Runtime) -> Result<Self> {
        let new = NewColumn {
            name: NO_PERSONA.to_owned(),
            bundle: Arc::clone(&self.bundle),
            pieces: BTreeMap::new(),
            reads_project: self.reads_project,
            without_prompt: true,
        };
        new.prepared(runtime, Some(self.subject.model.clone())).await
    }
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

/// The budget. A cost bounds nothing if the price of one of the models is unknown.
fn caps(
    runtime: &Runtime,
    options: &TestOptions,
    columns: &[PlannedColumn],
    judge: Option<&ModelRef>,
) -> Result<Caps> {
    let TestOptions { max_calls: calls, max_tokens: tokens, max_cost: cost, .. } = options;
    let models = columns.iter().map(|column| &column.subject.model).chain(judge);
    if let (Some(_), Some(model)) = (cost, models.into_iter().find(|model| runtime.price(model).is_none())) {
        return Err(TestError::Unpriced { model: model.to_string() }.into());
    }
    Ok(Caps { calls: *calls, tokens: *tokens, cost: *cost })
}

fn estimate<'a>(
    columns: impl Iterator<Item = &'a PlannedColumn>,
    inputs: &[PlannedInput],
    votes: u32,
) -> Estimate {
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
