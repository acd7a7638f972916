//! Names: what was probably meant, what begins with a text, what was used last.

use persona::{Kind, Name, Persona, Scope};
use store::Store;
use testkit::on_each_engine;

use crate::samples::{change, keep, name, open, persona, remove, tone};

#[tokio::test(flavor = "multi_thread")]
async fn near_names_are_suggested() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for of in ["calm-tone", "warm_tone", "very-long-tone-name", "Zephyr"] {
            keep(&store, &tone(of)).await;
        }
        // A library in which the neighbours alone would not do.
        let mut write = crate::samples::begin(&store).await;
        for at in 0..450 {
            write.insert(&tone(&format!("calx-{at:03}")), store::Action::Create).await.unwrap();
        }
        write.commit().await.unwrap();
        let first = async |kind: Kind, word: &str| -> Option<String> {
            let near = store.near_names(kind, word).await.unwrap();
            assert!(near.len() <= 3);
            near.into_iter().next()
        };
        for (word, meant) in [
            ("clam-tone", Some("calm-tone")),
            ("calm_tone", Some("calm-tone")),
            ("CALM-TONE", Some("calm-tone")),
            ("warm-tone", Some("warm_tone")),
            ("tone-calm", None),
            ("zephyr", Some("Zephyr")),
            ("very-long-tone-nam", Some("very-long-tone-name")),
            ("qqqqqqqq", None),
            ("", None),
            ("é", None),
        ] {
            let near = first(Kind::Part, word).await;
            if let Some(meant) = meant {
                assert_eq!(near.as_deref(), Some(meant), "{word}");
            }
        }
        assert_eq!(first(Kind::Persona, "code-reviewer").await.as_deref(), Some("code_reviewer"));
        assert!(first(Kind::Guardrail, "calm-tone").await.is_none(), "other kinds are not meant");
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_complete() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for of in ["co", "code", "code_reviewer", "code-b", "cod", "cp", "Code"] {
            keep(&store, &persona(of)).await;
        }
        let complete = async |prefix: &str, limit: usize| -> Vec<String> {
            let names = store.names_with_prefix(Kind::Persona, prefix, limit).await.unwrap();
            names.iter().map(Name::to_string).collect()
        };
        assert_eq!(complete("code", 10).await, ["code", "code-b", "code_reviewer", "code_worker"]);
        assert_eq!(complete("code", 2).await, ["code", "code-b"]);
        assert_eq!(complete("c", 4).await, ["co", "cod", "code", "code-b"]);
        assert_eq!(complete("cr", 4).await, ["critic"], "builtins complete too");
        assert_eq!(complete("C", 4).await, ["Code"]);
        assert_eq!(complete("code_reviewer", 4).await, ["code_reviewer"]);
        for nothing in ["zz", "~", "é", "code~", "%", "_", "co_e"] {
            assert!(complete(nothing, 4).await.is_empty(), "{nothing}");
        }
        let all = complete("", 100).await;
        assert_eq!(all.len(), 7 + builtins::of::<Persona>().len() - 1);
        assert!(all.is_sorted());
        assert!(complete("c", 0).await.is_empty());
        store.close().await;
    })
    .await;
}

async fn recent(store: &Store, limit: usize) -> Vec<String> {
    let found = store.recent_personas(limit).await.unwrap();
    found.into_iter().map(|found| found.name.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_used_comes_first() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for of in ["first", "second", "third", "critic"] {
            keep(&store, &persona(of)).await;
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        let builtins = [
            "code_reviewer",
            "code_worker",
            "doc_writer",
            "mentor",
            "optimist",
            "orchestrator",
            "persona_editor",
            "qa_reviewer",
            "tech_lead",
            "test_writer",
        ];
        assert_eq!(recent(&store, 4).await, ["critic", "third", "second", "first"], "the last changed first");
        assert_eq!(recent(&store, 50).await[4..], builtins);
        change::<Persona>(&store, "first", |persona| persona.summary = Some("x".to_owned())).await;
        assert_eq!(recent(&store, 2).await, ["first", "critic"]);
        for of in ["second", "optimist", "gone"] {
            store.usage().note(&name(of));
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        assert_eq!(recent(&store, 3).await, ["optimist", "second", "first"], "the last used first of all");
        store.close().await;

        // Usage is kept when the store closes.
        let store = open(database).await;
        assert_eq!(recent(&store, 3).await, ["optimist", "second", "first"]);
        store.usage().note(&name("third"));
        assert_eq!(recent(&store, 3).await, ["third", "optimist", "second"]);
        remove::<Persona>(&store, "second").await;
        assert_eq!(recent(&store, 3).await, ["third", "optimist", "first"]);
        let critic = store.recent_personas(50).await.unwrap();
        let critics: Vec<Scope> =
            critic.iter().filter(|found| found.name == name("critic")).map(|found| found.scope).collect();
        assert_eq!(critics, [Scope::Shared], "an entity that hides a builtin replaces it");
        assert!(recent(&store, 0).await.is_empty());
        store.close().await;
    })
    .await;
}
