//! The providers of models, which must be named and configured.

use std::collections::BTreeSet;

use persona::lint::{LintSettings, Rule};
use serde_json::json;

use super::referring::with;
use super::{check, check_with};

fn providers(names: &[&str]) -> LintSettings {
    let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    LintSettings { providers: Some(names), ..LintSettings::default() }
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
        &[r#"warning persona project:a preferred_models[1].provider ~ anthropic | "antropic""#],
    );
    check_with(
        &providers(&["ollama", "vllm"]),
        Rule::UnknownProvider,
        &[("project persona a", with("preferred_models", json!([model("openai")])))],
        &[r#"warning persona project:a preferred_models[0].provider | "openai" | ollama | vllm"#],
    );
    check_with(
        &providers(&[]),
        Rule::UnknownProvider,
        &[("project persona a", with("preferred_models", json!([model("openai")])))],
        &[r#"warning persona project:a preferred_models[0].provider | "openai""#],
    );
    // Without known providers, nothing is reported.
    check(Rule::UnknownProvider, &entries, &[]);
}

#[test]
fn a_provider_that_is_not_configured_may_be_meant() {
    let check_near = |provider: &str, near: &str| {
        let settings = LintSettings {
            other_providers: ["gemini", "openai"].map(str::to_owned).into(),
            ..providers(&["openai", "openai-work"])
        };
        let model = json!([{ "provider": provider, "model": "m" }]);
        let persona = [("project persona a", with("preferred_models", model))];
        let expected = format!("warning persona project:a preferred_models[0].provider{near} | {provider:?}");
        check_with(&settings, Rule::UnknownProvider, &persona, &[&expected]);
    };
    check_near("gemni", " ~ gemini");
    check_near("gemini", "");
    check_near("opneai", " ~ openai");
}

#[test]
fn a_plans_model_names_a_provider() {
    let plan = |model: &str| [("project persona a", with("plan_persona", json!({ "model": model })))];
    check_with(
        &providers(&["anthropic"]),
        Rule::UnknownProvider,
        &plan("openai/large"),
        &[r#"warning persona project:a plan_persona.model | "openai" | anthropic"#],
    );
    check_with(&providers(&["anthropic"]), Rule::UnknownProvider, &plan("anthropic/large"), &[]);
    for bare in ["large", "/large", "anthropic/"] {
        let said = format!("warning persona project:a plan_persona.model | {bare:?} | provider/model");
        check_with(&providers(&["anthropic"]), Rule::UnknownProvider, &plan(bare), &[&said]);
    }
}
