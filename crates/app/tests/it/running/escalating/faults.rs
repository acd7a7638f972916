//! Each fault of the scripted model against each kind of provider: the run ends in a named way, nothing
//! half-said is kept, and the session is usable afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use agent::{End, ErrorCode, Event, SessionStatus};
use app::Runtime;
use app::running::CreateSession;
use futures::future::join_all;
use providers::{Kind, Providers};
use serde_json::json;

use super::super::stage::{assert_whole, end, names, on_stage, results, settings, to_the_end, turns};
use crate::world::input;

/// The outcome of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    /// The run fails, and this is why.
    Fails(ErrorCode),
    /// It fails, and the protocols differ in what they call it.
    FailsSomehow,
    /// The model learns what is wrong with its arguments, and continues.
    Recovers,
}

const CASES: [(&str, Comes); 17] = [
    ("{ status = 500 }", Comes::Fails(ErrorCode::Transport)),
    ("{ status = 503 }", Comes::Fails(ErrorCode::Transport)),
    ("{ status = 529 }", Comes::Fails(ErrorCode::Transport)),
    ("{ status = 429 }", Comes::Fails(ErrorCode::RateLimited)),
    ("{ status = 400 }", Comes::Fails(ErrorCode::Rejected)),
    ("{ status = 401 }", Comes::Fails(ErrorCode::Unauthorized)),
    ("{ status = 404 }", Comes::FailsSomehow),
    ("{ context_exceeded = true }", Comes::Fails(ErrorCode::ContextExceeded)),
    ("{ stall_ms = 30000 }", Comes::Fails(ErrorCode::Transport)),
    ("{ stall_ms = 30000, after = 3 }", Comes::Fails(ErrorCode::Transport)),
    ("{ cut_after = 3 }", Comes::Fails(ErrorCode::Transport)),
    ("{ cut_after = 0 }", Comes::Fails(ErrorCode::Transport)),
    ("{ cut_after = 3, half_event = true }", Comes::Fails(ErrorCode::Transport)),
    ("{ cut_after = 3, clean = true }", Comes::Fails(ErrorCode::Transport)),
    ("{ error_event = \"overloaded_error\", after = 3 }", Comes::FailsSomehow),
    ("{ content_type = \"text/html\", body = \"<p>Sign in</p>\" }", Comes::FailsSomehow),
    ("{ malformed_tool_json = true }", Comes::Recovers),
];

fn script() -> String {
    let mut script =
        String::from("[[reply]]\nwhen = { tool_result_of = \"read_file\" }\ntext = \"I see.\"\n");
    for (at, (fault, _)) in CASES.iter().enumerate() {
        let _ = write!(
            script,
            "[[reply]]\nwhen = {{ last_user = \"/^fault-{at}$/\" }}\nfault = {fault}\n\
             say = [{{ text = \"void void void void\" }}, {{ tool = \"read_file\", input = {{ path = \"notes.txt\" }} }}]\n"
        );
    }
    script.push_str("[[reply]]\ntext = \"Well again.\"\n");
    script
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_with_each_kind_of_provider() {
    on_stage(&script(), async |stage| {
        let providers = Kind::ALL.map(|kind| {
            let mut settings = settings(kind, &stage.model.url());
            settings.idle_timeout_s = Some(2);
            (kind.to_string(), settings)
        });
        let runtime = stage
            .restarted_with(|options| {
                options.providers = Providers::build(BTreeMap::from(providers), &|_| None).unwrap();
            })
            .await;
        for kind in Kind::ALL {
            join_all((0..CASES.len()).map(|at| suffers(&runtime, kind, at))).await;
        }
        runtime.stop().await;
    })
    .await;
}

async fn suffers(runtime: &Runtime, kind: Kind, at: usize) {
    let (fault, comes) = CASES[at];
    let case = format!("{kind} {fault}");
    let create: CreateSession = input(json!({ "persona": "ada", "model": format!("{kind}/actor") }));
    let id = runtime.create_session(create).await.unwrap().session.id;
    let say =
        async |text: String| to_the_end(runtime.send(id, text, Default::default()).await.unwrap()).await;
    let events = say(format!("fault-{at}")).await;
    let view = runtime.session(id).await.unwrap();
    let codes: Vec<ErrorCode> = events
        .iter()
        .filter_map(|event| match event {
            Event::Error { code, message } => {
                assert!(!message.is_empty(), "{case}");
                Some(*code)
            }
            _ => None,
        })
        .collect();
    match comes {
        Comes::Fails(code) => assert_eq!(codes, [code], "{case}: {}", names(&events)),
        Comes::FailsSomehow => assert_eq!(codes.len(), 1, "{case}: {}", names(&events)),
        Comes::Recovers => assert_eq!(codes, [], "{case}"),
    }
    if comes == Comes::Recovers {
        assert_eq!(end(&events), Some(End::EndTurn), "{case}");
        let results = results(&view);
        assert!(results.len() == 1 && results[0].1 && results[0].0.contains("could not be read"), "{case}");
    } else {
        assert_eq!(end(&events), Some(End::Failed), "{case}: {}", names(&events));
        assert_eq!(turns(&view), "user", "{case}");
    }
    // Text that was streamed is taken back, and comes first.
    let streamed = events.iter().any(|event| event.name() == "text_delta");
    let voided = events.iter().any(|event| event.name() == "text_discarded");
    assert_eq!(streamed && comes != Comes::Recovers, voided, "{case}: {}", names(&events));
    assert_whole(&view);
    assert_eq!(view.session.status, SessionStatus::Idle, "{case}");

    assert_eq!(end(&say("and now?".to_owned()).await), Some(End::EndTurn), "{case}");
    let view = runtime.session(id).await.unwrap();
    assert!(turns(&view).ends_with("user assistant_text"), "{case}: {}", turns(&view));
    assert_whole(&view);
}
