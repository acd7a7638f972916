//! Personas out of templates and out of each other.

use app::Code;
use app::inputs::DuplicateEntity;
use persona::{Kind, Scope};
use serde_json::{Value, json};

use crate::world::{World, code, in_each_world, input, name, not_found, pieces, refused, suggested};

#[tokio::test(flavor = "multi_thread")]
async fn a_template_becomes_an_ordinary_persona_in_any_scope() {
    in_each_world(async |world| {
        let new = async |of: &str, to: Option<Scope>| {
            let (library, author) = (&world.library, &world.author);
            library.new_from_template(author, &name(of), name("mine"), to, None).await
        };
        let written = new("code_reviewer", None).await.unwrap();
        assert_eq!((written.scope, written.revision, written.name.as_str()), (Scope::Shared, 1, "mine"));
        assert!(pieces(&written.copied).contains(&(Kind::Part, "review-identity")), "{written:?}");
        assert!(!pieces(&written.copied).iter().any(|(kind, _)| *kind == Kind::Persona));
        let tags = |shown: &Value| shown["tags"].clone();
        assert_eq!(
            tags(&world.view(json!({ "name": "mine" })).await),
            json!(["code", "review"]),
            "it is not a builtin"
        );
        for scope in [Scope::Global, Scope::Project] {
            let written = new("mentor", Some(scope)).await.unwrap();
            assert_eq!((written.scope, written.copied.len()), (scope, 0));
            let shown = world.view(json!({ "name": "mine" })).await;
            assert_eq!((&shown["scope"], &shown["arc"]["position"]), (&json!(scope), &json!(1)));
        }
        assert_eq!(code(new("mentor", None).await), Code::AlreadyExists);
        let near = (Code::UnknownTemplate, Some("mentor".to_owned()));
        assert_eq!(suggested(new("mentr", None).await), near);
        let unknown = refused(new("qqqqqqq", None).await);
        assert_eq!(unknown.code, Code::UnknownTemplate);
        let all = [
            "code_reviewer",
            "code_worker",
            "critic",
            "doc_writer",
            "mentor",
            "optimist",
            "orchestrator",
            "persona_editor",
            "qa_reviewer",
            "tech_lead",
            "test_writer",
        ];
        assert_eq!(unknown.candidates, all);
        let history = world.library.history(Kind::Persona, &name("mine"), None, None).await.unwrap();
        assert_eq!(history.items[0].message.as_deref(), Some("from the template mentor"));
    })
    .await;
}

async fn duplicate(
    world: &World,
    kind: Kind,
    names: [&str; 2],
    from: Option<Scope>,
    to: Option<Scope>,
) -> Result<app::outputs::Written, app::Error> {
    let [name, new_name] = names.map(name);
    let input = DuplicateEntity { kind, name, new_name, to, message: None, if_revision: None, scope: from };
    world.library.duplicate(&world.author, input).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_stays_in_its_scope_or_goes_to_another() {
    in_each_world(async |world| {
        for scope in [Scope::Shared, Scope::Project] {
            world.persona(scope, json!({ "name": "coder", "summary": scope, "skills": ["steelman"] })).await;
        }
        let written = duplicate(world, Kind::Persona, ["coder", "copy"], None, None).await.unwrap();
        assert_eq!((written.scope, written.copied.len()), (Scope::Project, 0));
        assert_eq!(world.view(json!({ "name": "copy" })).await["summary"], "project");
        let from = Some(Scope::Shared);
        let written = duplicate(world, Kind::Persona, ["coder", "team"], from, None).await.unwrap();
        assert_eq!((written.scope, written.revision), (Scope::Shared, 1));
        let to = Some(Scope::Global);
        let written = duplicate(world, Kind::Persona, ["coder", "coder"], from, to).await.unwrap();
        assert_eq!(written.scope, Scope::Global);
        assert_eq!(world.entity(Kind::Persona, Scope::Global, "coder").await["summary"], "shared");
        // A builtin's goes to the default scope.
        let written = duplicate(world, Kind::ToolPreset, ["editor", "mine"], None, None).await.unwrap();
        assert_eq!(written.scope, Scope::Shared);
        let history = world.library.history(Kind::ToolPreset, &name("mine"), None, None).await.unwrap();
        assert_eq!(history.items[0].message.as_deref(), Some("a copy of builtin:editor"));
        let preset = world.entity(Kind::ToolPreset, Scope::Shared, "mine").await;
        assert_eq!(
            preset["categories"],
            world.entity(Kind::ToolPreset, Scope::Builtin, "editor").await["categories"]
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impossible_duplicate_is_refused() {
    in_each_world(async |world| {
        world.part(Scope::Project, "ours", "tone", "As we do.").await;
        world.persona(Scope::Project, json!({ "name": "coder", "parts": [{ "name": "ours" }] })).await;
        world.persona(Scope::Project, json!({ "name": "other" })).await;
        let taken = duplicate(world, Kind::Persona, ["coder", "other"], None, None).await;
        assert_eq!(code(taken), Code::AlreadyExists);
        let up = duplicate(world, Kind::Persona, ["coder", "copy"], None, Some(Scope::Shared)).await;
        assert_eq!(code(up), Code::OutOfReach);
        assert_eq!(world.entity(Kind::Persona, Scope::Shared, "copy").await, Value::Null);
        let none = duplicate(world, Kind::Persona, ["codr", "copy"], None, None).await;
        assert_eq!(suggested(none), not_found("coder"));
        let elsewhere = duplicate(world, Kind::Persona, ["coder", "copy"], Some(Scope::Shared), None).await;
        assert_eq!(code(elsewhere), Code::InOtherScope);
        let _: Value = world.view(json!({ "name": "coder" })).await;
        let listed =
            world.library.list(Kind::Persona, input::<app::inputs::List>(json!({ "query": "copy" })));
        assert!(listed.await.unwrap().items.is_empty());
    })
    .await;
}
