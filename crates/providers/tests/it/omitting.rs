//! Parameters that a server rejects and the caller can do without.

use axum::response::Response;
use futures_util::StreamExt as _;
use llm::{Failure, OutputSchema, Parameter, Provider, ReplyEvent, Request, Sampling, Schema};
use providers::{Kind, ProviderSettings};
use serde_json::{Value, json};

use crate::server::{Seen, Server, events, hello, provider, request, status};

const ALL: &[Parameter] = &[Parameter::OutputSchema, Parameter::Seed, Parameter::Temperature];

fn judging(may_omit: &'static [Parameter]) -> Request {
    Request {
        sampling: Sampling { temperature: Some(0.0), seed: Some(1), ..Sampling::default() },
        output: Some(OutputSchema { name: "vote".into(), schema: Schema::new(json!({ "type": "object" })) }),
        may_omit,
        ..request()
    }
}

/// Sends a request. Fails with the first failure.
async fn send(provider: &dyn Provider, request: Request) -> Result<Vec<ReplyEvent>, Failure> {
    provider.stream(request).collect::<Vec<_>>().await.into_iter().collect()
}

fn rejects(parameter: &str, names: bool) -> Response {
    let error = match names {
        true => json!({ "message": "unsupported", "param": parameter, "code": "unsupported_parameter" }),
        false => json!({ "message": "Bad request" }),
    };
    status(400, &[], json!({ "error": error }).to_string())
}

fn has(seen: &Seen) -> Vec<&'static str> {
    let fields = ["response_format", "seed", "temperature"];
    fields.into_iter().filter(|field| seen.body.get(field).is_some()).collect()
}

/// A server of chat completions that rejects these fields.
async fn strict(fields: &'static [&'static str], names: bool) -> Server {
    Server::start(move |seen| {
        let wrong = fields.iter().find(|field| seen.body.get(field).is_some());
        wrong.map_or_else(|| events(hello(Kind::OpenaiChat)), |field| rejects(field, names))
    })
    .await
}

#[tokio::test]
async fn a_rejected_parameter_is_left_out_and_remembered() {
    let server = strict(&["response_format", "temperature"], true).await;
    // One place: sending again must not wait for a second.
    let settings = ProviderSettings { max_concurrent: Some(1), ..server.settings(Kind::OpenaiChat) };
    let provider = provider(settings, &[]);
    let events = send(&*provider, judging(ALL)).await.expect("an answer");
    assert_eq!(events.iter().filter(|event| matches!(event, ReplyEvent::Started { .. })).count(), 1);
    send(&*provider, judging(ALL)).await.expect("an answer");
    let sent: Vec<_> = server.seen().iter().map(has).collect();
    let [all, fewer, fewest] =
        [vec!["response_format", "seed", "temperature"], vec!["seed", "temperature"], vec!["seed"]];
    assert_eq!(sent, [all.clone(), fewer, fewest.clone(), fewest]);
    // Another model may take everything.
    send(&*provider, Request { model: "model-2".into(), ..judging(ALL) }).await.expect("an answer");
    assert_eq!(has(&server.seen()[4]), all);
}

#[tokio::test]
async fn a_server_that_names_nothing_gets_less_and_less() {
    let server = strict(&["seed"], false).await;
    let provider = provider(server.settings(Kind::OpenaiChat), &[]);
    send(&*provider, judging(ALL)).await.expect("an answer");
    let sent: Vec<_> = server.seen().iter().map(has).collect();
    assert_eq!(sent.last(), Some(&vec!["temperature"]));
    assert_eq!(sent.len(), 3);
    // A request that nobody takes ends.
    let server = strict(&["model"], false).await;
    let provider = crate::server::provider(server.settings(Kind::OpenaiChat), &[]);
    let failure = send(&*provider, judging(ALL)).await.expect_err("no answer");
    assert_eq!((failure.status, server.seen().len()), (Some(400), 4));
}

#[tokio::test]
async fn a_caller_that_needs_a_parameter_gets_the_failure() {
    let server = strict(&["temperature"], true).await;
    let provider = provider(server.settings(Kind::OpenaiChat), &[]);
    let insists = judging(&[Parameter::OutputSchema, Parameter::Seed]);
    let failure = send(&*provider, insists).await.expect_err("no answer");
    assert_eq!((failure.parameter.as_deref(), server.seen().len()), (Some("temperature"), 1));
    // Not even after another caller did without it.
    send(&*provider, judging(ALL)).await.expect("an answer");
    send(&*provider, judging(&[])).await.expect_err("no answer");
}

#[tokio::test]
async fn every_protocol_falls_back() {
    for (kind, field) in [
        (Kind::Anthropic, "/output_config"),
        (Kind::OpenaiResponses, "/text"),
        (Kind::OpenaiChat, "/response_format"),
        (Kind::Gemini, "/generationConfig/responseJsonSchema"),
    ] {
        let server = Server::start(move |seen| match seen.body.pointer(field) {
            Some(_) => {
                let message =
                    format!("{}: Extra inputs are not permitted", field.rsplit('/').next().expect("a name"));
                status(400, &[], json!({ "error": { "message": message } }).to_string())
            }
            None => events(hello(kind)),
        })
        .await;
        let provider = provider(server.settings(kind), &[]);
        send(&*provider, judging(ALL)).await.expect("an answer");
        let sent: Vec<Value> = server.seen().into_iter().map(|seen| seen.body).collect();
        assert_eq!(sent.len(), 2, "{kind}");
        assert!(sent[0].pointer(field).is_some() && sent[1].pointer(field).is_none(), "{kind}");
    }
}
