use llm::{OutputSchema, Sampling, Schema};
use reqwest::header::HeaderMap;
use serde_json::json;
use std::time::SystemTime;

use super::*;
use crate::failure::ErrorBody;
use crate::trial;

const ALL: &[Parameter] = &[Parameter::OutputSchema, Parameter::Seed, Parameter::Temperature];

fn request(may_omit: &'static [Parameter]) -> Request {
    Request {
        sampling: Sampling { temperature: Some(0.0), seed: Some(1), ..Sampling::default() },
        output: Some(OutputSchema { name: "answer".into(), schema: Schema::new(json!({})) }),
        may_omit,
        ..trial::request(vec![trial::user("Hi")])
    }
}

#[track_caller]
fn check(kind: Kind, status: u16, body: &str, expected: Option<Parameter>) {
    let failure = ErrorBody::read(body).with_status(status, &HeaderMap::new(), SystemTime::UNIX_EPOCH);
    assert_eq!(rejected(kind, &request(ALL), &failure), expected, "{kind} {body}");
    assert_eq!(rejected(kind, &request(&[]), &failure), None, "{kind} {body}");
}

#[test]
fn the_rejected_parameter_is_left_out() {
    use Kind::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    use Parameter::{OutputSchema, Seed, Temperature};
    for (kind, body, expected) in [
        // By a field of the error.
        (
            OpenaiChat,
            r#"{"error":{"message":"no","param":"response_format","code":"unsupported_parameter"}}"#,
            Some(OutputSchema),
        ),
        (
            OpenaiChat,
            r#"{"error":{"message":"no","param":"response_format.json_schema"}}"#,
            Some(OutputSchema),
        ),
        (OpenaiChat, r#"{"error":{"message":"no","param":"temperature"}}"#, Some(Temperature)),
        (OpenaiChat, r#"{"error":{"message":"no","param":"seed"}}"#, Some(Seed)),
        (OpenaiResponses, r#"{"error":{"message":"no","param":"text.format"}}"#, Some(OutputSchema)),
        (
            OpenaiChat,
            r#"{"detail":[{"loc":["body","response_format","type"],"msg":"no"}]}"#,
            Some(OutputSchema),
        ),
        (
            Gemini,
            r#"{"error":{"status":"INVALID_ARGUMENT","message":"no","details":[{"fieldViolations":[
            {"field":"generation_config.response_json_schema"}]}]}}"#,
            Some(OutputSchema),
        ),
        // By a name in the message.
        (
            Anthropic,
            r#"{"error":{"type":"invalid_request_error","message":"output_config.format: Extra inputs are not permitted"}}"#,
            Some(OutputSchema),
        ),
        (
            Anthropic,
            r#"{"error":{"type":"invalid_request_error","message":"`temperature` is deprecated for this model."}}"#,
            Some(Temperature),
        ),
        (
            OpenaiChat,
            r#"{"error":{"message":"Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.","param":null}}"#,
            Some(OutputSchema),
        ),
        (
            Gemini,
            r#"{"error":{"status":"INVALID_ARGUMENT","message":"Unknown name \"responseJsonSchema\" at 'generation_config'",
            "details":[{"fieldViolations":[{"field":"generation_config"}]}]}}"#,
            Some(OutputSchema),
        ),
        // Nothing is named: the first that the caller can do without.
        (OpenaiChat, "Bad request", Some(OutputSchema)),
        (OpenaiChat, r#"{"error":{"message":"the seedling failed"}}"#, Some(OutputSchema)),
        // Something else is.
        (OpenaiChat, r#"{"error":{"message":"no","param":"messages"}}"#, None),
    ] {
        check(kind, 400, body, expected);
    }
    check(OpenaiChat, 422, "no", Some(OutputSchema));
    for status in [401, 404, 413, 429, 500] {
        check(OpenaiChat, status, r#"{"error":{"message":"no","param":"seed"}}"#, None);
    }
    check(OpenaiChat, 400, r#"{"error":{"code":"context_length_exceeded","message":"seed"}}"#, None);
}

#[test]
fn what_a_model_rejected_is_left_out_for_it_alone() {
    let omissions = Omissions::default();
    omissions.add("model-1", &[Parameter::Seed]);
    omissions.add("model-1", &[Parameter::Seed, Parameter::Temperature]);
    let left = |model: &str, may_omit| {
        let mut request = Request { model: model.into(), ..request(may_omit) };
        omissions.apply(&mut request);
        ALL.iter().copied().filter(|parameter| request.has(*parameter)).collect::<Vec<_>>()
    };
    assert_eq!(left("model-1", ALL), [Parameter::OutputSchema]);
    assert_eq!(left("model-1", &[Parameter::Seed]), [Parameter::OutputSchema, Parameter::Temperature]);
    assert_eq!(left("model-2", ALL), ALL);
}

#[test]
fn the_number_of_remembered_models_is_bounded() {
    let omissions = Omissions::default();
    for number in 0..OMITTING_MODELS + 5 {
        omissions.add(&number.to_string(), &[Parameter::Seed]);
    }
    assert_eq!(omissions.0.read().expect("a map").len(), OMITTING_MODELS);
}
