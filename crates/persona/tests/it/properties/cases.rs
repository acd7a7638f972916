//! Random libraries and requests. Seeded, so that a run tries what the last one tried.

use std::collections::BTreeMap;

use persona::{Assembled, AssemblyRequest, Bundle, Name, PartLink, PartType, Persona, View, assemble};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::script::{self, Toks, add_guardrail, add_skill, add_trait, name, part};

/// Few types, so that layers meet.
pub(crate) const TYPES: [PartType; 4] = [PartType::Identity, PartType::Tone, PartType::Goal, PartType::Voice];
const SEVERITIES: [&str; 4] = ["low", "medium", "high", "critical"];

/// One case.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) bundle: Bundle,
    pub(crate) overrides: BTreeMap<PartType, Name>,
    pub(crate) types: Vec<PartType>,
    pub(crate) limit: usize,
    pub(crate) max_tokens: usize,
    pub(crate) view: View,
}

impl Case {
    /// The request without filters and budgets.
    pub(crate) fn whole(&self) -> AssemblyRequest {
        AssemblyRequest { view: self.view, overrides: self.overrides.clone(), ..AssemblyRequest::default() }
    }

    pub(crate) fn with_types(&self) -> AssemblyRequest {
        AssemblyRequest { types: self.types.clone(), ..self.whole() }
    }

    pub(crate) fn with_limit(&self) -> AssemblyRequest {
        AssemblyRequest { limit: Some(self.limit), ..self.whole() }
    }

    pub(crate) fn with_max_tokens(&self) -> AssemblyRequest {
        AssemblyRequest { max_tokens: Some(self.max_tokens), ..self.whole() }
    }

    pub(crate) fn with_all(&self) -> AssemblyRequest {
        AssemblyRequest { types: self.types.clone(), limit: Some(self.limit), ..self.with_max_tokens() }
    }

    pub(crate) fn assemble(&self, request: &AssemblyRequest) -> Assembled<'_> {
        assemble(&self.bundle, request, &Toks).expect("its overrides exist")
    }
}

/// Runs a property on the same random cases each time.
pub(crate) fn holds(property: impl Fn(&Case) -> Result<(), TestCaseError>) {
    let config = ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x6d61_7371_7565),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&cases(), |case| property(&case));
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let own = vec((any::<u8>(), 0..TYPES.len(), -2..3_i32, -2..3_i32, 0..4_usize), 0..9);
    let stage = proptest::option::of(vec((0..TYPES.len(), 0..4_usize), 0..5));
    let overrides = btree_set(0..TYPES.len(), 0..4);
    let pieces = (vec(0..3_usize, 0..4), vec(0..3_usize, 0..4), vec((0..4_usize, 0..3_usize), 0..4));
    let request = (btree_set(0..TYPES.len(), 1..4), 0..8_usize, 0..40_usize, any::<bool>());
    (own, stage, overrides, pieces, request).prop_map(|(own, stage, overrides, pieces, request)| {
        let mut bundle = script::bundle(Persona::new(name("someone")));
        for (at, (letter, kind, order, priority, cost)) in own.into_iter().enumerate() {
            // The name's first letters are random, so that its order is not that of the links.
            let name = name(&format!("{letter:02x}-own-{at}"));
            bundle.parts.push(part(TYPES[kind], name.clone(), cost));
            bundle.persona.parts.push(PartLink { name, order, priority });
        }
        bundle.stage = stage.map(|parts| {
            let parts = parts.into_iter().enumerate();
            let parts = parts.map(|(at, (kind, cost))| part(TYPES[kind], name(&format!("stage-{at}")), cost));
            script::stage(parts.collect())
        });
        let overrides: BTreeMap<PartType, Name> =
            overrides.into_iter().map(|kind| (TYPES[kind], name(&format!("override-{kind}")))).collect();
        bundle.override_parts = overrides.iter().map(|(kind, name)| part(*kind, name.clone(), 2)).collect();
        let (traits, skills, guardrails) = pieces;
        for (at, cost) in traits.into_iter().enumerate() {
            add_trait(&mut bundle, &format!("trait-{at}*{cost}"));
        }
        for (at, cost) in skills.into_iter().enumerate() {
            add_skill(&mut bundle, &format!("skill-{at}*{cost}"));
        }
        for (at, (severity, cost)) in guardrails.into_iter().enumerate() {
            add_guardrail(&mut bundle, &format!("guardrail-{at}:{}*{cost}", SEVERITIES[severity]));
        }
        let (types, limit, max_tokens, detail) = request;
        let types = types.into_iter().map(|kind| TYPES[kind]).collect();
        let view = if detail { View::Detail } else { View::Summary };
        let max_tokens = if detail { max_tokens * 10 } else { max_tokens };
        Case { bundle, overrides, types, limit, max_tokens, view }
    })
}
