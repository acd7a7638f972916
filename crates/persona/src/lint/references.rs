//! References: names that do not exist, and definitions that nothing uses.

use std::collections::HashSet;

use super::known::Known;
use super::{Finding, Findings, LintSettings, LintTarget, OtherDefinitions, Rule};
use crate::catalog::reach;
use crate::{AnyEntity, AsReport as _, ChainError, Kind, Name, Persona, Remedy, Scope, nearest};

pub(super) fn check(findings: &mut Findings<'_, '_>, known: &Known<'_>, settings: &LintSettings) {
    for reference in findings.target.entity.references() {
        // Bases have further errors, checked below.
        if reference.kind != Kind::Persona {
            find(findings, known, reference.kind, &reference.name, &reference.field);
        }
    }
    if let AnyEntity::Persona(persona) = findings.target.entity {
        bases(findings, known, persona);
        providers(findings, persona, settings);
    }
}

/// Reports an error in a chain for the persona at fault, or for the one that extends it if the former is
/// not checked.
fn bases(findings: &mut Findings<'_, '_>, known: &Known<'_>, persona: &Persona) {
    let scope = findings.target.scope;
    let Err(broken) = known.chain(scope, persona) else { return };
    let (at_scope, at_name) = &broken.at;
    let is_at_fault = *at_scope == scope && *at_name == persona.name;
    if broken.is_unread || !is_at_fault && known.is_target(*at_scope, Kind::Persona, at_name) {
        return;
    }
    let rule = match broken.error {
        ChainError::Missing { .. } => Rule::UnknownReference,
        _ => Rule::BaseChain,
    };
    let advice = broken.error.report().advice(|remedy| match remedy {
        // Repeating this for every finding does not help.
        Remedy::ListKind { .. } => None,
        remedy => Some(remedy.to_string()),
    });
    findings.add(rule, Some("extends"), broken.error.to_string(), advice);
    findings.with_candidates(broken.error.candidates());
}

fn find(findings: &mut Findings<'_, '_>, known: &Known<'_>, kind: Kind, name: &Name, field: &str) {
    let from = findings.target.scope;
    if known.find(from, kind, name).is_some() || known.is_unread(reach(from, None), kind, name) {
        return;
    }
    let stronger = Scope::ALL.iter().find(|scope| **scope > from && known.get(**scope, kind, name).is_some());
    if let Some(stronger) = stronger {
        let message = format!("unknown {} {:?}", kind.spoken(), name.as_str());
        let hint =
            format!("there is one in {stronger}, but a {from} definition sees {from} and weaker scopes only");
        return findings.add_named(Rule::UnknownReference, field, name.as_str(), (message, Some(hint)));
    }
    let others = Kind::ALL.iter().filter(|other| **other != kind);
    let other =
        others.copied().find(|other| key(*other).is_some() && known.find(from, *other, name).is_some());
    if let Some(other) = other {
        let message = format!("{:?} is {}, not {}", name.as_str(), with_article(other), with_article(kind));
        let hint = match (findings.target.entity, key(other)) {
            (AnyEntity::Persona(_), Some(key)) => format!("name it under {key:?}"),
            _ => "a stage has parts only".to_owned(),
        };
        return findings.add_named(Rule::WrongKind, field, name.as_str(), (message, Some(hint)));
    }
    let near = known.near(from, kind, name);
    let message = format!("unknown {} {:?}", kind.spoken(), name.as_str());
    findings.add_named(Rule::UnknownReference, field, name.as_str(), (message, did_you_mean(&near)));
    findings.with_candidates(near);
}

pub(super) fn did_you_mean(near: &[String]) -> Option<String> {
    let near: Vec<String> = near.iter().map(|name| format!("{name:?}")).collect();
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(" or ")))
}

/// The field of a persona that names entities of a kind.
fn key(kind: Kind) -> Option<&'static str> {
    kind.named_under().next().map(|field| field.name)
}

fn with_article(kind: Kind) -> String {
    let article = if kind == Kind::Arc { "an" } else { "a" };
    format!("{article} {}", kind.spoken())
}

fn providers(findings: &mut Findings<'_, '_>, persona: &Persona, settings: &LintSettings) {
    let plan = persona.plan_persona.as_ref().and_then(|plan| plan.model.as_deref());
    let named = plan.and_then(|model| model.split_once('/'));
    let named = named.filter(|(provider, model)| !provider.is_empty() && !model.is_empty());
    if let (Some(model), None) = (plan, named) {
        let hint = "write it as \"provider/model\"".to_owned();
        let message = format!("{model:?} is not a provider and a model, so that no plan can be made");
        findings.add(Rule::UnknownProvider, Some("plan_persona.model"), message, Some(hint));
    }
    let Some(configured) = &settings.providers else { return };
    let preferred = persona.preferred_models.iter().enumerate();
    let preferred =
        preferred.map(|(at, model)| (format!("preferred_models[{at}].provider"), model.provider.as_str()));
    let plan = named.map(|(provider, _)| ("plan_persona.model".to_owned(), provider));
    for (field, provider) in preferred.chain(plan).filter(|(_, provider)| !configured.contains(*provider)) {
        // An existing name is not misspelt.
        let others = &settings.other_providers;
        let others = others.iter().filter(|_| !others.contains(provider));
        let meant = configured.iter().chain(others).map(String::as_str);
        let near: Vec<String> = nearest(provider, meant).into_iter().map(str::to_owned).collect();
        let hint = did_you_mean(&near).unwrap_or_else(|| match configured.is_empty() {
            true => "no provider is configured yet".to_owned(),
            false => {
                let known: Vec<&str> = configured.iter().map(String::as_str).collect();
                format!("configure it, or use one of {}", known.join(", "))
            }
        });
        let message = format!("the provider {provider:?} is not configured");
        findings.add(Rule::UnknownProvider, Some(&field), message, Some(hint));
        findings.with_candidates(near);
    }
}

/// The definitions that the targets use.
pub(super) fn used(targets: &[LintTarget<'_>], known: &Known<'_>) -> HashSet<(Scope, Kind, Name)> {
    let references = targets
        .iter()
        .flat_map(|target| target.entity.references().into_iter().map(|reference| (target.scope, reference)));
    let found = references.filter_map(|(from, reference)| {
        let (scope, _) = known.find(from, reference.kind, &reference.name)?;
        Some((scope, reference.kind, reference.name))
    });
    found.collect()
}

/// Reports a piece or a preset that nothing uses. Test inputs are also used by hand, and builtins by
/// other libraries.
pub(super) fn unused(
    scope: Scope,
    kind: Kind,
    name: &Name,
    others: &dyn OtherDefinitions,
) -> Option<Finding> {
    let exempt = scope == Scope::Builtin || kind == Kind::TestInput || key(kind).is_none();
    if exempt || others.is_used(scope, kind, name) {
        return None;
    }
    let users = if kind == Kind::Part { "no persona and no arc uses" } else { "no persona uses" };
    let message = format!("{users} this {}", kind.spoken());
    Some(Finding::new(Rule::Unused, (scope, kind, name), message))
}
