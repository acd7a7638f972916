//! Providers that do not answer, for personas that leave the model to the settings.

use std::net::TcpListener;

use agent::{End, ErrorCode, Event, Mode};
use persona::Scope;
use providers::Kind;
use serde_json::json;

use super::stage::{end, names, on_stage, provider, say};

#[tokio::test(flavor = "multi_thread")]
async fn a_default_provider_that_cannot_be_reached_is_named_with_its_address() {
    on_stage("[[reply]]\ntext = \"Yes.\"", async |stage| {
        stage.world.persona(Scope::Shared, json!({ "name": "anyone", "system_prompt": "Hi." })).await;
        // Nobody listens where somebody just did.
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
            for part in ["mine: ", &url, "is it running?", "masque doctor"] {
                assert!(message.contains(part), "{part} in {message}");
            }
            runtime.stop().await;
        }
    })
    .await;
}
