use std::collections::BTreeSet;

use super::*;

/// The schema lists the actions of all remedies.
#[test]
fn every_remedy_has_one_sample() {
    let schema = serde_json::json!(schemars::schema_for!(Remedy));
    let variants = schema["oneOf"].as_array().expect("one schema per remedy");
    let action = |variant: &serde_json::Value| {
        variant["properties"]["action"]["const"].as_str().expect("an action").to_owned()
    };
    let all: BTreeSet<String> = variants.iter().map(action).collect();
    let samples: Vec<String> = remedies().into_iter().map(|(action, _)| action).collect();
    assert_eq!(samples.iter().cloned().collect::<BTreeSet<_>>(), all, "samples() lacks a remedy");
    assert_eq!(samples.len(), all.len(), "samples() has a remedy twice");
}

#[test]
fn every_remedy_is_worded() {
    for remedy in samples() {
        assert!(!remedy.to_string().is_empty(), "{remedy:?} has no words");
    }
}

/// A written sample is only for a code that no error here has.
#[test]
fn no_sample_repeats_a_real_error() {
    for report in real() {
        assert!(written(report.code).is_none(), "the sample of {} is never used", report.code);
    }
}
