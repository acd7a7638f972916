//! A library, a request and its answer, each in one line.
//!
//! A script is a row of clauses with `|` between them; a clause is a word and its items:
//!
//! - `own tone=warm@10/5*3`: the persona's parts as `type=name`, with their order (else 0), their
//!   priority (else 0) and what their text costs (else 1)
//! - `append …`: the same, for a persona whose parts are added to its base's
//! - `stage tone=cold`: the parts of its active stage, in the stage's order
//! - `override tone=dry`: the overrides of the call; `tone=voice:dry` names a part that is of type
//!   voice, `tone=?dry` one that does not exist
//! - `traits calm*2`, `skills sql`, `guardrails honest:critical`, and `persona *3` for what the
//!   persona itself costs
//! - `types tone voice`, `limit 2`, `max 7` (tokens) and `detail`: what the caller asks for
//!
//! A cost of 3 is a text of three times the word `tok`, or thirty times in detail, and [`Toks`]
//! counts nothing but that word: a script says what everything costs, to the token.

use std::collections::BTreeMap;

use persona::{
    ActiveStage, Assembled, Bundle, Guardrail, Kind, LayerOrigin, LeftOutReason, MergeMode, Meta, Name, Part,
    PartLink, PartType, Persona, Request, Severity, Skill, TokenCounter, Trait, TraitType, View, assemble,
};

/// What a piece costs more in detail than in summary.
const DETAIL_FACTOR: usize = 10;

/// Counts the word `tok`.
pub(crate) struct Toks;

impl TokenCounter for Toks {
    fn tokenizer(&self) -> &'static str {
        "toks"
    }

    fn count(&self, text: &str) -> usize {
        text.matches("tok").count()
    }
}

/// Asserts what the answer holds: the pieces that are kept, in order, and then, where there is any
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

/// Asserts that the request is refused, and what the caller reads.
#[track_caller]
pub(crate) fn check_refused(script: &str, expected: &str) {
    let (bundle, request) = read(script);
    match assemble(&bundle, &request, &Toks) {
        Ok(assembled) => panic!("{script}: answered {}", answer(&assembled)),
        Err(error) => assert_eq!(error.to_string(), expected, "\n  script: {script}"),
    }
}

/// The bundle and the request that a script describes.
pub(crate) fn read(script: &str) -> (Bundle, Request) {
    let mut bundle = bundle(Persona::new(name("someone")));
    let mut request = Request::default();
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
            "override" => overrides(&mut bundle, &mut request, &items),
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
            word => panic!("unknown clause {word:?} in {script:?}"),
        }
    }
    (bundle, request)
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
        stage: None,
        compiled: None,
        override_parts: Vec::new(),
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

fn overrides(bundle: &mut Bundle, request: &mut Request, items: &[&str]) {
    for item in items {
        let (key, target) = item.split_once('=').unwrap_or_else(|| panic!("{item:?} is no override"));
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
    let (kind, rest) = rest.split_once('=').unwrap_or_else(|| panic!("{item:?} is no part"));
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
    digits.parse().unwrap_or_else(|_| panic!("{digits:?} is no number"))
}

fn answer(assembled: &Assembled<'_>) -> String {
    let parts =
        assembled.parts.iter().map(|placed| format!("{}={}", placed.part.part_type, placed.part.name));
    let pieces = parts
        .chain(assembled.traits.iter().map(|item| format!("trait:{}", item.name)))
        .chain(assembled.skills.iter().map(|item| format!("skill:{}", item.name)))
        .chain(assembled.guardrails.iter().map(|item| format!("guardrail:{}", item.name)));
    let mut clauses = vec![pieces.collect::<Vec<_>>().join(" ")];
    let mut left_out: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for piece in &assembled.left_out {
        let shown = match piece.kind {
            Kind::Part => piece.name.to_string(),
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
