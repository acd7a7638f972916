//! Checks the collector of traces.

use serde::Serialize;
use telemetry::SendError;

use super::DoctorProblem;
use crate::failure::Result;
use crate::logging::trace_settings;
use crate::output::Output;

#[derive(Debug, Serialize)]
pub(super) struct TracesReport {
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<String>,
    /// The variable or the key that names the endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Off,
    Invalid,
    Answers,
    Refuses,
    DoesNotAnswer,
}

pub(super) async fn examine(problems: &mut Vec<DoctorProblem>) -> TracesReport {
    let none = |state| TracesReport { state, endpoint: None, protocol: None, service: None, from: None };
    let settings = match trace_settings() {
        Ok(None) => return none(State::Off),
        Ok(Some(settings)) => settings,
        Err(error) => {
            let advice = "fix it, or unset it; until then there are no traces";
            problems.push(DoctorProblem::new(error.to_string(), advice));
            return none(State::Invalid);
        }
    };
    let endpoint = settings.endpoint();
    let report = |state| TracesReport {
        state,
        endpoint: Some(endpoint.clone()),
        protocol: Some(settings.protocol()),
        service: Some(settings.service().to_owned()),
        from: Some(settings.origin().to_owned()),
    };
    let Err(error) = telemetry::probe(settings.clone()).await else { return report(State::Answers) };
    let (state, advice) = match &error {
        SendError::Refused { status: 401 | 403, .. } => {
            (State::Refuses, "check the key in OTEL_EXPORTER_OTLP_HEADERS")
        }
        SendError::Refused { status: 404 | 405, .. } => {
            (State::Refuses, "check the path; OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is used as written")
        }
        SendError::Refused { status: 415, .. } => {
            (State::Refuses, "set OTEL_EXPORTER_OTLP_PROTOCOL to http/json or http/protobuf")
        }
        SendError::Refused { .. } => (State::Refuses, "check the collector's own log"),
        SendError::Client(_) => (State::DoesNotAnswer, "fix the setting"),
        SendError::Transport(_) => {
            (State::DoesNotAnswer, "start the collector; its HTTP port is usually 4318 (4317 is grpc)")
        }
    };
    problems.push(DoctorProblem::new(format!("traces to {endpoint}: {error}"), advice));
    report(state)
}

impl TracesReport {
    pub(super) fn print(&self, output: &mut Output) -> Result<()> {
        let state = match self.state {
            State::Off => return output.field("traces", "off; OTEL_EXPORTER_OTLP_ENDPOINT turns them on"),
            State::Invalid => return output.field("traces", "off; their settings are invalid"),
            State::Answers => "answers",
            State::Refuses => "refuses them",
            State::DoesNotAnswer => "does not answer",
        };
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let (endpoint, service, from) = (text(&self.endpoint), text(&self.service), text(&self.from));
        let protocol = self.protocol.unwrap_or_default();
        output.field("traces", &format!("{endpoint} {state}\n{protocol} as {service}, from {from}"))
    }
}
