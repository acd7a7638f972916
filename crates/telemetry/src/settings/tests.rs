use super::*;

fn find(
    variables: &[(&str, &str)],
    configured: Option<&str>,
) -> Result<Option<TraceSettings>, SettingsError> {
    let lookup = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    TraceSettings::find(&lookup, configured)
}

/// The settings with an endpoint and further variables.
fn with(variables: &[(&str, &str)]) -> TraceSettings {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    let all: Vec<_> = std::iter::once(endpoint).chain(variables.iter().copied()).collect();
    find(&all, None).expect("valid").expect("an endpoint")
}

fn refused(variables: &[(&str, &str)]) -> (String, SettingsProblem) {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    let all: Vec<_> = variables.iter().copied().chain([endpoint]).collect();
    let error = find(&all, None).expect_err("invalid");
    (error.name, error.problem)
}

#[test]
fn the_environment_wins_over_the_file() {
    const ALL: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318/base/");
    const TRACES: (&str, &str) = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://traces/exact");
    for (variables, configured, endpoint, origin) in [
        (&[][..], Some("http://file:4318"), "http://file:4318/v1/traces", "telemetry.endpoint"),
        (&[ALL][..], Some("http://file:4318"), "http://all:4318/base/v1/traces", ALL.0),
        (&[ALL, TRACES][..], None, "https://traces/exact", TRACES.0),
        (
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")][..],
            Some("http://f"),
            "http://f/v1/traces",
            "telemetry.endpoint",
        ),
    ] {
        let settings = find(variables, configured).expect("valid").expect("an endpoint");
        assert_eq!((settings.endpoint.as_str(), settings.origin()), (endpoint, origin));
    }
}

#[test]
fn without_an_endpoint_or_turned_off_there_are_no_traces() {
    assert!(find(&[("OTEL_SERVICE_NAME", "x")], None).expect("valid").is_none());
    for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        assert!(find(&[off], Some("http://file:4318")).expect("valid").is_none(), "{off:?}");
    }
    assert!(find(&[("OTEL_SDK_DISABLED", "false")], Some("http://file")).expect("valid").is_some());
}

#[test]
fn headers_are_decoded_and_secret() {
    let settings = with(&[("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20c2VjcmV0, x-team = blue,")]);
    assert_eq!(settings.headers["authorization"], "Basic c2VjcmV0");
    assert_eq!(settings.headers["x-team"], "blue");
    assert!(!format!("{settings:?}").contains("c2VjcmV0"), "{settings:?}");
    let of_traces = [("OTEL_EXPORTER_OTLP_HEADERS", "a=1"), ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2")];
    assert_eq!(with(&of_traces).headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_password_in_the_address_is_not_shown() {
    let settings = find(&[], Some("http://me:s3cret@host:4318/x?key=s3cret")).expect("valid").expect("one");
    assert_eq!(settings.endpoint(), "http://host:4318/x/v1/traces");
}

#[test]
fn the_service_has_a_name() {
    assert_eq!(with(&[]).service(), "masque");
    let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=a%2Cb");
    let settings = with(&[attributes]);
    assert_eq!(settings.service(), "other");
    assert!(settings.resource.contains(&("deployment.environment.name".to_owned(), "a,b".to_owned())));
    assert_eq!(with(&[attributes, ("OTEL_SERVICE_NAME", "third")]).service(), "third");
}

#[test]
fn invalid_settings_are_named() {
    for (name, value, problem) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "127.0.0.1:4318", SettingsProblem::Endpoint),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///run/otel", SettingsProblem::Endpoint),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "nowhere", SettingsProblem::Endpoint),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", SettingsProblem::Protocol),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "0", SettingsProblem::Timeout),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "60001", SettingsProblem::Timeout),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "soon", SettingsProblem::Timeout),
        ("OTEL_EXPORTER_OTLP_HEADERS", "no pair", SettingsProblem::Pairs),
        ("OTEL_EXPORTER_OTLP_HEADERS", "=value", SettingsProblem::Pairs),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a b=value", SettingsProblem::Header),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=new%0Aline", SettingsProblem::Header),
        ("OTEL_RESOURCE_ATTRIBUTES", "a=%ff", SettingsProblem::Pairs),
    ] {
        assert_eq!(refused(&[(name, value)]), (name.to_owned(), problem), "{value}");
    }
}

#[test]
fn both_forms_of_http_are_offered() {
    assert_eq!(with(&[]).protocol(), "http/protobuf");
    for protocol in ["http/protobuf", "http/json"] {
        assert_eq!(with(&[("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)]).protocol(), protocol);
    }
    assert_eq!(with(&[("OTEL_EXPORTER_OTLP_TIMEOUT", "2500")]).timeout, Duration::from_millis(2_500));
}
