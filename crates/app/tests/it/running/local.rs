//! Models on this machine, found without configuration.

use std::net::SocketAddr;
use std::sync::Arc;

use agent::{Event, Mode, SelectionReason};
use persona::Scope;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::stage::{on_stage, say};

/// Something that looks like Ollama, with another model behind it.
async fn ollama(model: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(answer(client, model));
        }
    });
    address
}

async fn answer(mut client: TcpStream, model: SocketAddr) -> std::io::Result<()> {
    let mut asked = vec![0; 64 * 1024];
    let length = client.read(&mut asked).await?;
    if asked.starts_with(b"GET /api/tags ") {
        let body = r#"{"models":[]}"#;
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        return client.write_all(format!("{head}{body}").as_bytes()).await;
    }
    let mut model = TcpStream::connect(model).await?;
    model.write_all(&asked[..length]).await?;
    tokio::io::copy_bidirectional(&mut client, &mut model).await.map(|_| ())
}

/// Also where something else is set up, and where its own first model would be another one.
#[tokio::test(flavor = "multi_thread")]
async fn a_local_model_that_a_persona_prefers_answers() {
    on_stage("[[reply]]\ntext = \"Yes.\"", async |stage| {
        let host = ollama(stage.model.address()).await;
        let models = json!([
            { "provider": "absent", "model": "a" },
            { "provider": "ollama", "model": "small" },
            { "provider": "stage", "model": "actor" },
        ]);
        let local = json!({ "name": "local", "system_prompt": "Hi.", "preferred_models": models });
        stage.world.persona(Scope::Shared, local).await;
        let model_of = async |is_there: bool| {
            let runtime = stage
                .restarted_with(|options| {
                    // Without a server, none is found.
                    let host = if is_there { host.to_string() } else { "127.0.0.1:1".to_owned() };
                    options.environment = Arc::new(move |name| (name == "OLLAMA_HOST").then(|| host.clone()));
                })
                .await;
            let id = stage.session_of("local", Mode::Build).await;
            let events = say(&runtime, id, "hello").await;
            runtime.stop().await;
            let selected = events.iter().find_map(|event| match event {
                Event::ModelSelected { provider, model, reason } => {
                    Some((format!("{provider}/{model}"), *reason))
                }
                _ => None,
            });
            selected.unwrap_or_else(|| panic!("{events:?}"))
        };
        assert_eq!(model_of(true).await, ("ollama/small".to_owned(), SelectionReason::Preferred));
        assert_eq!(model_of(false).await, ("stage/actor".to_owned(), SelectionReason::Preferred));
    })
    .await;
}
