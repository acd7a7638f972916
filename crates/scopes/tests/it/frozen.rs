//! A tagged persona of a file keeps its whole prompt, from whichever scopes it came.

use persona::{AsReport as _, CharacterArc, Code, Kind, Part, PartType, Persona, Scope, Subject};
use scopes::Scopes;
use store::RevisionRef;
use testkit::{Database, Files, on_each_engine};

use super::{begin_in, change_in, held_in, load, remove_in, reread};
use crate::samples::{
    arc, attribution, base, change, keep, linking, name, open, part, persona, prompt, remove, stage,
};

async fn tag_newest(scopes: &Scopes, scope: Scope, of: &str, tag: &str) {
    let newest = scopes.history(scope, Kind::Persona, &name(of), 1).await.unwrap().remove(0);
    scopes.tag(scope, Kind::Persona, &name(of), &newest, tag, attribution()).await.unwrap();
}

async fn frozen(scopes: &Scopes, scope: Scope, of: &str, tag: &str) -> String {
    let wanted = RevisionRef::parse(tag);
    let revision = scopes.revision(scope, Kind::Persona, &name(of), &wanted).await.unwrap().unwrap();
    prompt(&scopes.frozen(scope, &revision).await.unwrap().unwrap())
}

const GLOBAL: &str = "[personas.user]\nextends = \"team\"\nparts = [\"aim\"]\nparts_mode = \"append\"\n\n\
                      [parts.aim]\npart_type = \"goal\"\ncontent = \"Aim as the user does.\"\n";
const PROJECT: &str = "[personas.here]\nextends = \"user\"\nparts = [\"flaw\"]\nparts_mode = \"append\"\n\
                       guardrails = [\"strict\"]\n\n\
                       [parts.flaw]\npart_type = \"flaw\"\ncontent = \"Flawed here.\"\n\n\
                       [guardrails.strict]\ncontent = \"Strict here.\"\n\n\
                       [personas.walker]\narc = \"path\"\n\n\
                       [arcs.path]\nstages = [{ name = \"one\", parts = [\"calm\"] }, { name = \"two\", parts = [\"flaw\"] }]\n\n\
                       [parts.calm]\npart_type = \"tone\"\ncontent = \"Calm here.\"\n";

/// The shared entities that the texts of [`GLOBAL`] and [`PROJECT`] refer to.
async fn keep_team(scopes: &Scopes) {
    let store = scopes.database();
    keep(store, &part("voice", PartType::Voice, "Speak as the team does.")).await;
    keep(store, &part("hushed", PartType::Tone, "Hush as the team does.")).await;
    keep(store, &arc("climb", vec![stage("early", 1, &["hushed"]), stage("late", 2, &[])])).await;
    keep(store, &Persona { arc: Some(name("climb")), ..linking("root", &["voice"]) }).await;
    keep(store, &Persona { extends: base("root"), ..persona("team") }).await;
}

/// From the project through the user's file and two shared bases: every text is one that changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_persona_over_files_and_shared_is_frozen_whole() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open(database).await;
        keep_team(&scopes).await;
        files.write(Scope::Global, GLOBAL);
        files.write(Scope::Project, PROJECT);
        reread(&scopes, Scope::Global).await;
        reread(&scopes, Scope::Project).await;
        let expected = prompt(&load(&scopes, "here").await);
        for text in [
            "Flawed here.",
            "Strict here.",
            "Aim as the user does.",
            "Speak as the team does.",
            "Hush as the team does.",
        ] {
            assert!(expected.contains(text), "{text} is not in\n{expected}");
        }
        tag_newest(&scopes, Scope::Project, "here", "production").await;
        assert_eq!(
            frozen(&scopes, Scope::Project, "here", "production").await,
            expected,
            "nothing changed yet"
        );

        for (scope, of) in [(Scope::Project, "flaw"), (Scope::Global, "aim")] {
            change_in::<Part>(&scopes, scope, of, |part| part.content = Some("Changed.".to_owned())).await;
        }
        for of in ["voice", "hushed"] {
            change::<Part>(scopes.database(), of, |part| part.content = Some("Changed.".to_owned())).await;
        }
        assert_ne!(prompt(&load(&scopes, "here").await), expected);
        assert_eq!(frozen(&scopes, Scope::Project, "here", "production").await, expected, "pieces changed");

        // By hand, with everything else gone.
        files.write(Scope::Project, "[personas.here]\nsystem_prompt = \"Changed.\"\n");
        files.write(Scope::Global, "");
        reread(&scopes, Scope::Global).await;
        reread(&scopes, Scope::Project).await;
        for of in ["team", "root"] {
            remove::<Persona>(scopes.database(), of).await;
        }
        remove::<CharacterArc>(scopes.database(), "climb").await;
        for of in ["voice", "hushed"] {
            remove::<Part>(scopes.database(), of).await;
        }
        assert_eq!(frozen(&scopes, Scope::Project, "here", "production").await, expected, "all else is gone");
        scopes.prune(1).await.unwrap();
        assert_eq!(frozen(&scopes, Scope::Project, "here", "production").await, expected, "after forgetting");
        scopes.close().await;
        let scopes = files.open(database).await;
        assert_eq!(
            frozen(&scopes, Scope::Project, "here", "production").await,
            expected,
            "in the next process"
        );
        scopes.close().await;
    })
    .await;
}

/// A revision of a file refers to entries of files by content and to others by number.
#[tokio::test(flavor = "multi_thread")]
async fn a_revision_of_a_file_refers_to_everything_below_it() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open(database).await;
        keep_team(&scopes).await;
        change::<Part>(scopes.database(), "voice", |voice| voice.summary = Some("x".to_owned())).await;
        files.write(Scope::Global, GLOBAL);
        files.write(Scope::Project, PROJECT);
        reread(&scopes, Scope::Global).await;
        reread(&scopes, Scope::Project).await;
        let sql = "SELECT (j.value ->> 'scope') || ' ' || (j.value ->> 'kind') || ' ' || (j.value ->> 'name') || ' ' || \
                   coalesce(j.value ->> 'revision', length(j.value ->> 'hash') || ' digits') \
                   FROM agent_revisions r, json_each(r.refs) j WHERE r.scope = 'project' AND r.name = 'here' ORDER BY 1";
        let refs = files.local(database).texts(sql).await;
        let expected = [
            "global part aim 64 digits",
            "global persona user 64 digits",
            "project guardrail strict 64 digits",
            "project part flaw 64 digits",
            "shared arc climb 1",
            "shared part hushed 1",
            "shared part voice 2",
            "shared persona root 1",
            "shared persona team 1",
        ];
        assert_eq!(refs, expected);
        scopes.close().await;
    })
    .await;
}

/// Within one file, with an arc, under a name that changes and for an entry that goes.
#[tokio::test(flavor = "multi_thread")]
async fn a_persona_of_one_file_is_frozen_whole() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, PROJECT);
        let scopes = files.open(database).await;
        let expected = prompt(&load(&scopes, "walker").await);
        assert!(expected.contains("Calm here."), "{expected}");
        tag_newest(&scopes, Scope::Project, "walker", "v1").await;
        change_in::<Part>(&scopes, Scope::Project, "calm", |calm| calm.content = Some("Changed.".to_owned()))
            .await;
        change_in::<CharacterArc>(&scopes, Scope::Project, "path", |path| {
            path.stages[0].parts.clear();
            path.stages.truncate(1);
        })
        .await;
        assert_eq!(frozen(&scopes, Scope::Project, "walker", "v1").await, expected);
        change_in::<Persona>(&scopes, Scope::Project, "walker", |walker| walker.name = name("runner")).await;
        assert_eq!(frozen(&scopes, Scope::Project, "runner", "v1").await, expected);
        files.write(Scope::Project, "# nothing is left\n");
        reread(&scopes, Scope::Project).await;
        assert_eq!(frozen(&scopes, Scope::Project, "runner", "v1").await, expected);
        scopes.close().await;
    })
    .await;
}

/// A frozen persona has its current stage.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_persona_of_a_file_has_its_current_stage() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, PROJECT);
        let scopes = files.open(database).await;
        tag_newest(&scopes, Scope::Project, "walker", "v1").await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let walker = held_in::<Persona>(&mut write, "walker").await;
        write.set_stage(&walker, &name("path"), &name("two")).await.unwrap();
        write.commit().await.unwrap();
        let text = frozen(&scopes, Scope::Project, "walker", "v1").await;
        assert!(text.contains("Flawed here.") && !text.contains("Calm here."), "{text}");
        change_in::<Persona>(&scopes, Scope::Project, "walker", |walker| walker.name = name("runner")).await;
        remove_in::<Persona>(&scopes, Scope::Project, "here").await;
        assert_eq!(frozen(&scopes, Scope::Project, "runner", "v1").await, text);
        scopes.close().await;
    })
    .await;
}

/// A part of the team's library, and a persona of the project that has it.
async fn keep_voice(scopes: &Scopes, files: &Files) {
    keep(scopes.database(), &part("voice", PartType::Voice, "Speak as the team does.")).await;
    files.write(Scope::Project, "[personas.here]\nparts = [\"voice\"]\n");
    reread(scopes, Scope::Project).await;
}

/// Changes the part until its library has forgotten how it was, as another machine would.
async fn forget_voice(scopes: &Scopes) {
    change::<Part>(scopes.database(), "voice", |voice| voice.content = Some("Changed.".to_owned())).await;
    scopes.database().prune(1).await.unwrap();
}

/// A library in which another part has the name and the number.
async fn another_library() -> Database {
    let database = Database::sqlite();
    let store = open(&database).await;
    keep(&store, &part("voice", PartType::Voice, "Speak as others do.")).await;
    store.close().await;
    database
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tagged_persona_is_whole_whatever_becomes_of_the_library() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open_apart(database).await;
        keep_voice(&scopes, &files).await;
        let expected = prompt(&load(&scopes, "here").await);
        assert!(expected.contains("Speak as the team does."), "{expected}");
        tag_newest(&scopes, Scope::Project, "here", "production").await;
        forget_voice(&scopes).await;
        assert_eq!(frozen(&scopes, Scope::Project, "here", "production").await, expected);
        scopes.close().await;
        let other = another_library().await;
        let scopes = files.open_apart(&other).await;
        assert_eq!(frozen(&scopes, Scope::Project, "here", "production").await, expected, "another library");
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_that_lost_a_piece_is_refused() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open_apart(database).await;
        keep_voice(&scopes, &files).await;
        scopes.close().await;
        let refuse = async |scopes: &Scopes| {
            let newest = RevisionRef::Number(1);
            let revision = scopes.revision(Scope::Project, Kind::Persona, &name("here"), &newest).await;
            let revision = revision.unwrap().unwrap();
            let shown = scopes.frozen(Scope::Project, &revision).await.map(|_| ());
            let tagged = scopes
                .tag(Scope::Project, Kind::Persona, &name("here"), &revision.about, "x", attribution())
                .await;
            for refused in [shown, tagged.map(|_| ())] {
                let error = refused.unwrap_err();
                assert_eq!(error.code(), Code::ForgottenRevision);
                let voice = Subject::entity(Kind::Part, "voice").in_scope(Scope::Shared).at_revision(1);
                assert_eq!(error.subject(), voice);
            }
            let (known, forgotten) = scopes.referred(&revision).await.unwrap();
            assert_eq!((known.len(), forgotten.len()), (0, 1));
        };
        let other = another_library().await;
        let scopes = files.open_apart(&other).await;
        refuse(&scopes).await;
        scopes.close().await;
        let scopes = files.open_apart(database).await;
        assert!(frozen(&scopes, Scope::Project, "here", "1").await.contains("Speak as the team does."));
        forget_voice(&scopes).await;
        refuse(&scopes).await;
        scopes.close().await;
    })
    .await;
}
