//! A library, a request and its answer, each in one line.
//!
//! A script is a row of clauses with `|` between them; a clause is a word and its items:
//!
//! - `own tone=warm@10/5*3`: the persona's parts as `type=name`, with their order (else 0), their
//!   priority (else 0) and what their text costs (else 1)
//! - `append …`: the same, for a persona whose parts are added to its base's
//! - `stage tone=cold`: the parts of its active stage, in the stage's order; `arc shared` says behind
//!   it where the arc is kept, `arc shared cold=builtin` also where it found a part, if not there
//! - `override tone=dry`: the overrides of the call; `tone=voice:dry` names a part that is of type
//!   voice, `tone=?dry` one that does not exist
//! - `traits calm*2`, `skills sql`, `guardrails honest:critical`, and `persona *3` for what the
//!   persona itself costs
//! - `types tone voice`, `limit 2`, `max 7` (tokens) and `detail`: what the caller asks for
//!
//!
//! A persona with bases comes after them, root first, with `>` between them. A base
//! has the same clauses, as far as they are not about a request; the first is called `base-1`:
//!
//! - `own tone=warm > append tone=wry > own goal=win`: a persona, its base and its base's base
//! - `remove parts:warm traits:calm tags:old`: what a layer takes away
//! - `set summary=Kind plan.model=m`: fields; `prompt Be_kind` and `prompt+ And_brief`: the system
//!   prompt, in place of the base's or below it (an underscore is a space)
//! - `tags new`, `inputs hello`: tags and test inputs; `scope shared 7`: where the layer is kept and
//!   its revision; `from part:warm=builtin`: where it found a piece, if not there
//!
//! A cost of 3 is a text of three times the word `tok`, or thirty times in detail, and [`Toks`]
//! counts nothing but that word: a script says what everything costs, to the token.

use std::collections::BTreeMap;

use persona::{
    ActiveStage, AsReport as _, Assembled, AssemblyRequest, Base, Bundle, Example, Guardrail, LayerOrigin,
    LeftOutKind, LeftOutReason, MergeMode, Meta, Name, Part, PartLink, PartType, Persona, PieceScope, Remedy,
    Report, Scope, Severity, Skill, TokenCounter, Trait, TraitType, View, assemble,
};

/// The additional tokens of a piece in detail.
const DETAIL_FACTOR: usize = 10;

/// Counts the word `tok`.
pub(crate) struct Toks;

impl TokenCounter for Toks {
    fn tokenizer(&self) -> &'static str {
        "toks"
    }

    fn count(&self, text: &str) -> usize {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| *word == "tok").count()
    }
}

/// Asserts what the answer holds: the pieces that are kept, in order, with `~` behind the name of one of
/// which only the summary is kept; and then, where there is any
/// of it, `| types …`, `| limit …`, `| max …` with what each left out, `| 7 tokens` and
/// `| over budget`.
#[track_caller]
pub(crate) fn check(script: &str, expected: &str) {
    let (bundle, request) = read(script);
    let assembled = assemble(&bundle, &request, &Toks).unwrap_or_else(|error| panic!("{script}: {error}"));
    assert_eq!(answer(&assembled), expected, "\n  script: {script}");
}

/// Asserts where each part stands: `layer:type=name@order/priority`.
#[track_caller]
pub(crate) fn check_places(script: &str, expected: &str) {
    let (bundle, request) = read(script);
    let assembled = assemble(&bundle, &request, &Toks).unwrap_or_else(|error| panic!("{script}: {error}"));
    let places = assembled.parts.iter().map(|placed| {
        let layer = match placed.origin {
            LayerOrigin::Base => "base",
            LayerOrigin::Own => "own",
            LayerOrigin::Stage => "stage",
            LayerOrigin::Override => "override",
        };
        let Part { part_type, name, .. } = placed.part;
        format!("{layer}:{part_type}={name}@{}/{}", placed.order, placed.priority)
    });
    assert_eq!(places.collect::<Vec<_>>().join(" "), expected, "\n  script: {script}");
}

/// Asserts the code of a refused request, its field, the name that it gives, and the field to use instead.
#[track_caller]
pub(crate) fn check_refused(script: &str, expected: &str) {
    let (bundle, request) = read(script);
    match assemble(&bundle, &request, &Toks) {
        Ok(assembled) => panic!("{script}: answered {}", answer(&assembled)),
        Err(error) => {
            let Report { code, subject, remedies, .. } = error.report();
            let (field, name) = (subject.field.unwrap_or_default(), subject.name.unwrap_or_default());
            let instead = remedies.iter().find_map(|remedy| match remedy {
                Remedy::UseField { field } => Some(format!(", use {field}")),
                _ => None,
            });
            let refusal = format!("{code} {field}={name}{}", instead.unwrap_or_default());
            assert_eq!(refusal, expected, "\n  script: {script}");
        }
    }
}

/// The bundle and the request that a script describes.
pub(crate) fn read(script: &str) -> (Bundle, AssemblyRequest) {
    let mut request = AssemblyRequest::default();
    let layers: Vec<&str> = script.split('>').collect();
    let (own, bases) = layers.split_last().expect("at least one");
    let mut bundle = layer(own, "someone", &mut request);
    for (at, base) in bases.iter().enumerate() {
        bundle.bases.push(as_base(layer(base, &format!("base-{}", at + 1), &mut request)));
    }
    (bundle, request)
}

/// A persona as one that others build on.
pub(crate) fn as_base(bundle: Bundle) -> Base {
    let Bundle { persona, meta, parts, traits, skills, guardrails, piece_scopes, .. } = bundle;
    Base { persona, meta, parts, traits, skills, guardrails, arc: None, piece_scopes }
}

fn layer(script: &str, called: &str, request: &mut AssemblyRequest) -> Bundle {
    let mut bundle = bundle(Persona::new(name(called)));
    for clause in script.split('|').map(str::trim).filter(|clause| !clause.is_empty()) {
        let (word, items) = clause.split_once(' ').unwrap_or((clause, ""));
        let items: Vec<&str> = items.split_whitespace().collect();
        match word {
            "own" => own(&mut bundle, &items),
            "append" => {
                bundle.persona.parts_mode = MergeMode::Append;
                own(&mut bundle, &items);
            }
            "stage" => bundle.stage = Some(stage(items.iter().map(|item| linked_part(item).1).collect())),
            "arc" => place_arc(&mut bundle, &items),
            "override" => overrides(&mut bundle, request, &items),
            "persona" => {
                let (_, cost) = costing(items[0]);
                bundle.persona.summary = Some(toks(cost));
                bundle.persona.system_prompt = Some(toks(cost * DETAIL_FACTOR));
            }
            "traits" => items.iter().for_each(|item| add_trait(&mut bundle, item)),
            "skills" => items.iter().for_each(|item| add_skill(&mut bundle, item)),
            "guardrails" => items.iter().for_each(|item| add_guardrail(&mut bundle, item)),
            "types" => request.types = items.iter().map(|item| part_type(item)).collect(),
            "limit" => request.limit = Some(number(items[0])),
            "max" => request.max_tokens = Some(number(items[0])),
            "detail" => request.view = View::Detail,
            word => inherited(&mut bundle, word, &items),
        }
    }
    bundle
}

fn place_arc(bundle: &mut Bundle, items: &[&str]) {
    let stage = bundle.stage.as_mut().expect("a stage comes before the place of its arc");
    stage.scope = items[0].parse().unwrap_or_else(|error| panic!("{error}"));
    stage.piece_scopes = items[1..].iter().map(|item| piece_scope(&format!("part:{item}"))).collect();
}

/// The clauses about what is inherited.
fn inherited(bundle: &mut Bundle, word: &str, items: &[&str]) {
    let Bundle { persona, meta, piece_scopes, .. } = bundle;
    match word {
        "remove" => items.iter().for_each(|item| remove(persona, item)),
        "set" => items.iter().for_each(|item| set(persona, item)),
        "prompt" => persona.system_prompt = Some(items.join(" ").replace('_', " ")),
        "prompt+" => {
            persona.system_prompt_mode = MergeMode::Append;
            persona.system_prompt = Some(items.join(" ").replace('_', " "));
        }
        "tags" => persona.tags = items.iter().map(|item| (*item).to_owned()).collect(),
        "inputs" => persona.test_inputs = items.iter().map(|item| name(item)).collect(),
        "scope" => {
            meta.scope = items[0].parse().unwrap_or_else(|error| panic!("{error}"));
            meta.revision = items.get(1).map_or(0, |digits| number(digits));
        }
        "from" => piece_scopes.extend(items.iter().map(|item| piece_scope(item))),
        word => panic!("unknown clause {word:?}"),
    }
}

fn remove(persona: &mut Persona, item: &str) {
    let (list, gone) = item.split_once(':').unwrap_or_else(|| panic!("{item:?} is not a removal"));
    match list {
        "parts" => persona.remove_parts.push(name(gone)),
        "traits" => persona.remove_traits.push(name(gone)),
        "skills" => persona.remove_skills.push(name(gone)),
        "guardrails" => persona.remove_guardrails.push(name(gone)),
        "inputs" => persona.remove_test_inputs.push(name(gone)),
        "tags" => persona.remove_tags.push(gone.to_owned()),
        list => panic!("there is no list {list:?}"),
    }
}

fn set(persona: &mut Persona, item: &str) {
    let (field, value) = item.split_once('=').unwrap_or_else(|| panic!("{item:?} is not a field"));
    let text = Some(value.replace('_', " "));
    match field {
        "display_name" => persona.display_name = text,
        "description" => persona.description = text,
        "summary" => persona.summary = text,
        "detail" => persona.detail = text,
        "author" => persona.author = text,
        "license" => persona.license = text,
        "greetings" => persona.greetings = value.split(',').map(str::to_owned).collect(),
        "examples" => {
            let example = |word: &str| Example { user: "Say it.".to_owned(), persona: word.to_owned() };
            persona.examples = value.split(',').map(example).collect();
        }
        "models" => {
            let model = |word: &str| serde_json::json!({ "provider": "p", "model": word });
            let models = value.split(',').map(model).map(serde_json::from_value);
            persona.preferred_models = models.map(|model| model.expect("a model")).collect();
        }
        "tool_preset" => persona.tool_preset = Some(name(value)),
        "bias_profile" => persona.bias_profile = Some(name(value)),
        "context_preset" => persona.context_preset = Some(name(value)),
        "aggregation" => persona.aggregation_strategy = value.parse().ok(),
        "rounds" => persona.max_tool_rounds = value.parse().ok(),
        "arc" => persona.arc = Some(name(value)),
        "plan.instruction" => persona.plan_persona.get_or_insert_default().instruction = text,
        "plan.model" => persona.plan_persona.get_or_insert_default().model = text,
        "plan.tool_preset" => persona.plan_persona.get_or_insert_default().tool_preset = Some(name(value)),
        field => panic!("there is no field {field:?}"),
    }
}

fn piece_scope(item: &str) -> PieceScope {
    let (kind, rest) = item.split_once(':').unwrap_or_else(|| panic!("{item:?} is not a piece"));
    let (piece, scope) = rest.split_once('=').unwrap_or_else(|| panic!("{item:?} has no scope"));
    PieceScope {
        kind: kind.parse().unwrap_or_else(|error| panic!("{error}")),
        name: name(piece),
        scope: scope.parse().unwrap_or_else(|error| panic!("{error}")),
    }
}

/// A bundle of a persona that links nothing yet.
pub(crate) fn bundle(persona: Persona) -> Bundle {
    Bundle {
        persona,
        meta: Meta::BUILTIN,
        parts: Vec::new(),
        traits: Vec::new(),
        skills: Vec::new(),
        guardrails: Vec::new(),
        bases: Vec::new(),
        stage: None,
        compiled: None,
        override_parts: Vec::new(),
        override_scopes: Vec::new(),
        piece_scopes: Vec::new(),
    }
}

pub(crate) fn stage(parts: Vec<Part>) -> ActiveStage {
    ActiveStage {
        arc: name("growth"),
        stage: name("now"),
        order: 1,
        of: 3,
        position: 1,
        description: None,
        condition: None,
        parts,
        scope: Scope::Builtin,
        piece_scopes: Vec::new(),
    }
}

pub(crate) fn part(part_type: PartType, name: Name, cost: usize) -> Part {
    Part {
        name,
        part_type,
        description: None,
        summary: Some(toks(cost)),
        content: Some(toks(cost * DETAIL_FACTOR)),
        tags: Vec::new(),
    }
}

pub(crate) fn name(text: &str) -> Name {
    Name::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

pub(crate) fn add_trait(bundle: &mut Bundle, item: &str) {
    let (item, cost) = costing(item);
    bundle.persona.traits.push(name(item));
    bundle.traits.push(Trait {
        name: name(item),
        trait_type: TraitType::Social,
        description: Some(toks(cost)),
        instruction: Some(toks(cost * DETAIL_FACTOR)),
        tags: Vec::new(),
    });
}

pub(crate) fn add_skill(bundle: &mut Bundle, item: &str) {
    let (item, cost) = costing(item);
    bundle.persona.skills.push(name(item));
    bundle.skills.push(Skill {
        name: name(item),
        description: Some(toks(cost)),
        content: Some(toks(cost * DETAIL_FACTOR)),
        tags: Vec::new(),
    });
}

pub(crate) fn add_guardrail(bundle: &mut Bundle, item: &str) {
    let (item, cost) = costing(item);
    let (item, severity) = item.split_once(':').unwrap_or((item, "medium"));
    bundle.persona.guardrails.push(name(item));
    bundle.guardrails.push(Guardrail {
        name: name(item),
        severity: severity.parse::<Severity>().unwrap_or_else(|error| panic!("{error}")),
        description: Some(toks(cost)),
        content: Some(toks(cost * DETAIL_FACTOR)),
        deny_tools: Vec::new(),
        tags: Vec::new(),
    });
}

fn own(bundle: &mut Bundle, items: &[&str]) {
    for item in items {
        let (link, part) = linked_part(item);
        bundle.persona.parts.push(link);
        bundle.parts.push(part);
    }
}

fn overrides(bundle: &mut Bundle, request: &mut AssemblyRequest, items: &[&str]) {
    for item in items {
        let (key, target) = item.split_once('=').unwrap_or_else(|| panic!("{item:?} is not an override"));
        let key = part_type(key);
        let (target, cost) = costing(target);
        let target = match (target.strip_prefix('?'), target.split_once(':')) {
            (Some(unknown), _) => unknown,
            (None, Some((actual, target))) => {
                bundle.override_parts.push(part(part_type(actual), name(target), cost));
                target
            }
            (None, None) => {
                bundle.override_parts.push(part(key, name(target), cost));
                target
            }
        };
        request.overrides.insert(key, name(target));
    }
}

/// Reads `type=name@order/priority*cost`, of which all but the first two may be missing.
fn linked_part(item: &str) -> (PartLink, Part) {
    let (rest, cost) = costing(item);
    let (rest, priority) = rest.split_once('/').unwrap_or((rest, "0"));
    let (rest, order) = rest.split_once('@').unwrap_or((rest, "0"));
    let (kind, rest) = rest.split_once('=').unwrap_or_else(|| panic!("{item:?} is not a part"));
    let link = PartLink { name: name(rest), order: number(order), priority: number(priority) };
    (link, part(part_type(kind), name(rest), cost))
}

fn costing(item: &str) -> (&str, usize) {
    item.split_once('*').map_or((item, 1), |(item, cost)| (item, number(cost)))
}

fn toks(cost: usize) -> String {
    vec!["tok"; cost].join(" ")
}

fn part_type(word: &str) -> PartType {
    word.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn number<T: std::str::FromStr>(digits: &str) -> T {
    digits.parse().unwrap_or_else(|_| panic!("{digits:?} is not a number"))
}

fn answer(assembled: &Assembled<'_>) -> String {
    let short = |kind, name: &Name| match assembled.shortened.contains(&(kind, name.clone())) {
        true => format!("{name}~"),
        false => name.to_string(),
    };
    let parts = assembled
        .parts
        .iter()
        .map(|placed| format!("{}={}", placed.part.part_type, short(LeftOutKind::Part, &placed.part.name)));
    let traits =
        assembled.traits.iter().map(|item| format!("trait:{}", short(LeftOutKind::Trait, &item.name)));
    let skills =
        assembled.skills.iter().map(|item| format!("skill:{}", short(LeftOutKind::Skill, &item.name)));
    let pieces = parts
        .chain(traits)
        .chain(skills)
        .chain(assembled.guardrails.iter().map(|item| format!("guardrail:{}", item.name)));
    let mut clauses = vec![pieces.collect::<Vec<_>>().join(" ")];
    let mut left_out: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for piece in &assembled.left_out {
        let shown = match piece.kind {
            LeftOutKind::Part => piece.name.clone(),
            kind => format!("{kind}:{}", piece.name),
        };
        left_out.entry(rank(piece.reason)).or_default().push(shown);
    }
    for (rank, names) in left_out {
        clauses.push(format!("{} {}", ["types", "limit", "max"][rank], names.join(" ")));
    }
    clauses.extend(assembled.tokens.map(|tokens| format!("{tokens} tokens")));
    clauses.extend(assembled.over_budget.then(|| "over budget".to_owned()));
    clauses.join(" | ")
}

fn rank(reason: LeftOutReason) -> usize {
    match reason {
        LeftOutReason::Types => 0,
        LeftOutReason::Limit => 1,
        LeftOutReason::MaxTokens => 2,
    }
}
