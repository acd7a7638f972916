//! Providers that do not answer, for personas that leave the model to the settings.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;

use agent::{End, ErrorCode, Event, Mode};
use persona::Scope;
use providers::{Kind, Providers};
use serde_json::json;

use super::stage::{end, names, on_stage, provider, say};

/// A user who has configured a model must not take a rehearsal for its answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_provider_without_its_key_is_named_in_place_of_a_rehearsal() {
    on_stage("[[reply]]\ntext = \"Yes.\"", async |stage| {
        stage.world.persona(Scope::Shared, json!({ "name": "anyone", "system_prompt": "Hi." })).await;
        let mut settings = super::stage::settings(Kind::OpenaiChat, &stage.model.url());
        settings.api_key_env = Some("ABSENT_KEY".to_owned());
        let settings = BTreeMap::from([("mine".to_owned(), settings)]);
        let providers = Providers::build(settings, &|_| None).unwrap();
        let runtime = stage
            .restarted_with(|options| {
                options.providers = providers;
                // Nothing listens there, so no local model is found.
                let unused = |name: &str| (name == "OLLAMA_HOST").then(|| "127.0.0.1:1".to_owned());
                options.environment = Arc::new(unused);
            })
            .await;
        let id = stage.session_of("anyone", Mode::Build).await;
        let events = say(&runtime, id, "hello").await;
        assert_eq!(names(&events), "error done");
        let Event::Error { code, message } = &events[0] else { panic!("{events:?}") };
        assert_eq!(*code, ErrorCode::Unauthorized);
        assert!(message.contains("[providers.mine]") && message.contains("ABSENT_KEY"), "{message}");
        runtime.stop().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_default_provider_that_cannot_be_reached_is_named_with_its_address() {
    on_stage("[[reply]]\ntext = \"Yes.\"", async |stage| {
        stage.world.persona(Scope::Shared, json!({ "name": "anyone", "system_prompt": "Hi." })).await;
        // The port is free again, so nothing listens there.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("http://{address}");
        for kind in Kind::ALL {
            let providers = provider("mine", kind, &url);
            let runtime = stage.restarted_with(|options| options.providers = providers).await;
            let id = stage.session_of("anyone", Mode::Build).await;
            let events = say(&runtime, id, "hello").await;
            assert_eq!(names(&events), "error done", "{kind:?}");
            assert_eq!(end(&events), Some(End::Failed));
            let Event::Error { code, message } = &events[0] else { panic!("{events:?}") };
            assert_eq!(*code, ErrorCode::Transport, "{message}");
            for part in ["mine: ", &url, "check that it is running"] {
                assert!(message.contains(part), "{part} in {message}");
            }
            runtime.stop().await;
        }
    })
    .await;
}
