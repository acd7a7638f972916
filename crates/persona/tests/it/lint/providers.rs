//! The providers of models, which must be named and configured.

use std::collections::BTreeSet;

use persona::lint::{Rule, Settings};
use serde_json::json;

use super::referring::with;
use super::{check, check_with};

fn providers(names: &[&str]) -> Settings {
    let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    Settings { providers: Some(names), ..Settings::default() }
}

#[test]
fn providers_must_be_configured() {
    let model = |provider: &str| json!({ "provider": provider, "model": "m" });
    let persona = with("preferred_models", json!([model("anthropic"), model("antropic")]));
    let entries = [("project persona a", persona)];
    check_with(
        &providers(&["anthropic"]),
        Rule::UnknownProvider,
        &entries,
        &[
            r#"warning: persona project:a, preferred_models[1].provider: the provider "antropic" is not configured; did you mean "anthropic"?"#,
        ],
    );
    check_with(
        &providers(&["ollama", "vllm"]),
        Rule::UnknownProvider,
        &[("project persona a", with("preferred_models", json!([model("openai")])))],
        &[
            r#"warning: persona project:a, preferred_models[0].provider: the provider "openai" is not configured; configure it, or use one of ollama, vllm"#,
        ],
    );
    check_with(
        &providers(&[]),
        Rule::UnknownProvider,
        &[("project persona a", with("preferred_models", json!([model("openai")])))],
        &[
            r#"warning: persona project:a, preferred_models[0].provider: the provider "openai" is not configured; no provider is configured yet"#,
        ],
    );
    // Without known providers, nothing is reported.
    check(Rule::UnknownProvider, &entries, &[]);
}

#[test]
fn a_provider_that_is_not_configured_may_be_meant() {
    let check_hint = |provider: &str, hint: &str| {
        let settings = Settings {
            other_providers: ["gemini", "openai"].map(str::to_owned).into(),
            ..providers(&["openai", "openai-work"])
        };
        let model = json!([{ "provider": provider, "model": "m" }]);
        let persona = [("project persona a", with("preferred_models", model))];
        let expected = format!(
            "warning: persona project:a, preferred_models[0].provider: the provider {provider:?} is not configured; {hint}"
        );
        check_with(&settings, Rule::UnknownProvider, &persona, &[&expected]);
    };
    check_hint("gemni", r#"did you mean "gemini"?"#);
    check_hint("gemini", "configure it, or use one of openai, openai-work");
    check_hint("opneai", r#"did you mean "openai"?"#);
}

#[test]
fn a_plans_model_names_a_provider() {
    let plan = |model: &str| [("project persona a", with("plan_persona", json!({ "model": model })))];
    check_with(
        &providers(&["anthropic"]),
        Rule::UnknownProvider,
        &plan("openai/large"),
        &[
            r#"warning: persona project:a, plan_persona.model: the provider "openai" is not configured; configure it, or use one of anthropic"#,
        ],
    );
    check_with(&providers(&["anthropic"]), Rule::UnknownProvider, &plan("anthropic/large"), &[]);
    for bare in ["large", "/large", "anthropic/"] {
        let said = format!(
            "warning: persona project:a, plan_persona.model: {bare:?} is not a provider and a model, so that no plan can be made; write it as \"provider/model\""
        );
        check_with(&providers(&["anthropic"]), Rule::UnknownProvider, &plan(bare), &[&said]);
    }
}
