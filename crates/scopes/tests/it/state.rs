//! The state of personas in files: in the local database, never in a team's, and never in the file.

use std::time::Duration;

use persona::{CharacterArc, CompiledText, Kind, Persona, Scope};
use scopes::{FileScopes, Overrides, Scopes};
use store::Change;
use testkit::{Database, Files, on_each_engine};

use super::{begin_in, change_in, held_in, keep_in, load, remove_in, reread};
use crate::samples::{keep, name, open, persona};

const FILE: &str = "[personas.walker]\narc = \"path\"\n\n[personas.idle]\n\n\
                    [arcs.path]\nstages = [{ name = \"one\" }, { name = \"two\" }, { name = \"three\" }]\n";

async fn put(scopes: &Scopes, of: &str, into: &str) {
    let mut write = begin_in(scopes, Scope::Project).await;
    let held = held_in::<Persona>(&mut write, of).await;
    write.set_stage(&held, &name("path"), &name(into)).await.unwrap();
    assert_eq!(write.stage(&held).await.unwrap(), Some(name(into)), "within the change");
    write.commit().await.unwrap();
}

async fn standing(scopes: &Scopes, of: &str) -> String {
    load(scopes, of).await.stage.unwrap().stage.to_string()
}

async fn compile(scopes: &Scopes, of: &str) {
    let text = persona::compile(&load(scopes, of).await.assembled());
    let kept = scopes.store_compiled(Scope::Project, &name(of), &text).await.unwrap();
    assert_eq!(load(scopes, of).await.compiled, Some(kept));
}

async fn kept(local: &Database) -> Vec<String> {
    let sql = "SELECT scope || ' ' || name || ' ' || coalesce(arc || ' ' || stage, '-') || ' ' || \
               (compiled_at IS NOT NULL) FROM persona_state ORDER BY name";
    local.texts(sql).await
}

async fn count(database: &Database, table: &str) -> String {
    database.texts(&format!("SELECT CAST(count(*) AS text) FROM {table}")).await.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_kept_in_the_local_database_only() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FILE);
        let scopes = files.open(database).await;
        assert_eq!(standing(&scopes, "walker").await, "one");
        put(&scopes, "walker", "two").await;
        compile(&scopes, "walker").await;
        compile(&scopes, "idle").await;
        assert_eq!(standing(&scopes, "walker").await, "two");
        assert_eq!(files.read(Scope::Project), FILE, "not a byte of it in the file");
        let revision = load(&scopes, "walker").await.meta.revision;
        assert_eq!(revision, 1, "it makes no revision");
        let local = files.local(database);
        assert_eq!(kept(&local).await, ["project idle - 1", "project walker path two 1"]);
        let origins = local.texts("SELECT DISTINCT origin FROM persona_state").await;
        let canonical = files.path(Scope::Project).canonicalize().unwrap().display().to_string();
        assert_eq!(origins, [canonical]);
        scopes.close().await;
        if database.engine == "postgres" {
            for table in ["persona_state", "agent_revisions", "file_entries", "file_origins"] {
                assert_eq!(count(database, table).await, "0", "{table} of the team's database");
            }
        }
        // It is there for the next process.
        let scopes = files.open(database).await;
        assert_eq!(standing(&scopes, "walker").await, "two");
        assert!(load(&scopes, "idle").await.compiled.is_some());
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn state_goes_with_the_persona() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FILE);
        let scopes = files.open(database).await;
        let local = files.local(database);
        put(&scopes, "walker", "two").await;
        compile(&scopes, "walker").await;
        change_in::<Persona>(&scopes, Scope::Project, "walker", |walker| walker.name = name("runner")).await;
        assert_eq!(kept(&local).await, ["project runner path two 1"]);
        assert_eq!(standing(&scopes, "runner").await, "two");
        assert!(load(&scopes, "runner").await.compiled.is_some());
        // The same by hand.
        let by_hand = files.read(Scope::Project).replace("[personas.runner]", "[personas.sprinter]");
        files.write(Scope::Project, &by_hand);
        reread(&scopes, Scope::Project).await;
        assert_eq!(kept(&local).await, ["project sprinter path two 1"]);
        assert_eq!(standing(&scopes, "sprinter").await, "two");
        // An arc under another name is the same arc, changed by hand or not.
        change_in::<CharacterArc>(&scopes, Scope::Project, "path", |path| path.name = name("way")).await;
        change_in::<Persona>(&scopes, Scope::Project, "sprinter", |of| of.arc = Some(name("way"))).await;
        assert_eq!(standing(&scopes, "sprinter").await, "two");
        let by_hand =
            files.read(Scope::Project).replace("[arcs.way]", "[arcs.road]").replace("\"way\"", "\"road\"");
        files.write(Scope::Project, &by_hand);
        reread(&scopes, Scope::Project).await;
        assert_eq!(standing(&scopes, "sprinter").await, "two");
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_persona_keeps_its_stage() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FILE);
        let scopes = files.open(database).await;
        put(&scopes, "walker", "three").await;
        // As from another branch: by hand, and a little changed.
        for text in ["", &FILE.replace("[personas.walker]", "[personas.walker]\nsummary = \"s\"")] {
            files.write(Scope::Project, text);
            reread(&scopes, Scope::Project).await;
        }
        assert_eq!(standing(&scopes, "walker").await, "three");
        // Another one of its name, or one that gets it, does not.
        remove_in::<Persona>(&scopes, Scope::Project, "walker").await;
        let walker = Persona { arc: Some(name("path")), ..persona("walker") };
        keep_in(&scopes, Scope::Project, &walker).await;
        assert_eq!(standing(&scopes, "walker").await, "one");
        put(&scopes, "walker", "two").await;
        remove_in::<Persona>(&scopes, Scope::Project, "walker").await;
        change_in::<Persona>(&scopes, Scope::Project, "idle", |idle| {
            (idle.name, idle.arc) = (name("walker"), Some(name("path")));
        })
        .await;
        assert_eq!(standing(&scopes, "walker").await, "one");
        scopes.close().await;
    })
    .await;
}

/// Several things at once in one change, and the personas at a stage.
#[tokio::test(flavor = "multi_thread")]
async fn stages_change_with_their_persona_or_not_at_all() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FILE);
        let scopes = files.open(database).await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let walker = held_in::<Persona>(&mut write, "walker").await;
        write.set_stage(&walker, &name("path"), &name("two")).await.unwrap();
        drop(write);
        assert_eq!(standing(&scopes, "walker").await, "one", "it was not committed");

        let mut write = begin_in(&scopes, Scope::Project).await;
        let new = Persona { arc: Some(name("path")), ..persona("newcomer") };
        write.insert(&new, store::Action::Create).await.unwrap();
        let newcomer = held_in::<Persona>(&mut write, "newcomer").await;
        assert_eq!(write.stage(&newcomer).await.unwrap(), None);
        write.set_stage(&newcomer, &name("path"), &name("two")).await.unwrap();
        write.set_stage(&newcomer, &name("path"), &name("three")).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(standing(&scopes, "newcomer").await, "three", "the last word counts");
        put(&scopes, "walker", "three").await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let there = write.personas_in_stage(&name("path"), &name("three")).await.unwrap();
        assert_eq!(there, crate::samples::names(&["newcomer", "walker"]));
        assert!(write.personas_in_stage(&name("path"), &name("one")).await.unwrap().is_empty());
        drop(write);
        // A stage that is taken out of the file takes them back to the first.
        change_in::<CharacterArc>(&scopes, Scope::Project, "path", |path| path.stages.truncate(2)).await;
        assert_eq!(standing(&scopes, "walker").await, "one");
        scopes.close().await;
    })
    .await;
}

/// A stage belongs to one arc, which may come from a base.
#[tokio::test(flavor = "multi_thread")]
async fn a_stage_is_of_the_arc_that_a_persona_walks() {
    on_each_engine(async |database| {
        let files = Files::new();
        let heir = "\n[personas.heir]\nextends = \"walker\"\n\n[arcs.climb]\nstages = [{ name = \"foot\" }, { name = \"two\" }]\n";
        files.write(Scope::Project, &format!("{FILE}{heir}"));
        let scopes = files.open(database).await;
        put(&scopes, "walker", "two").await;
        put(&scopes, "heir", "two").await;
        let in_stage = async |arc: &str| {
            let mut write = begin_in(&scopes, Scope::Project).await;
            write.personas_in_stage(&name(arc), &name("two")).await.unwrap()
        };
        assert_eq!(in_stage("path").await, crate::samples::names(&["heir", "walker"]));
        change_in::<Persona>(&scopes, Scope::Project, "walker", |of| of.arc = Some(name("climb"))).await;
        assert!(in_stage("path").await.is_empty());
        let mut write = begin_in(&scopes, Scope::Project).await;
        for of in ["walker", "heir"] {
            let held = held_in::<Persona>(&mut write, of).await;
            assert_eq!(write.stage(&held).await.unwrap(), None, "{of} was in the stage two of another arc");
        }
        drop(write);
        assert_eq!((standing(&scopes, "walker").await, standing(&scopes, "heir").await), ("foot".into(), "foot".into()));
        scopes.close().await;
    })
    .await;
}

/// State is not in the file, so it changes also where the file must not.
#[tokio::test(flavor = "multi_thread")]
async fn stages_change_where_files_are_not_written_to() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FILE);
        let given = FileScopes { writable: false, ..files.scopes(&files.local(database)) };
        let scopes = Scopes::open(open(database).await, given).await.unwrap();
        put(&scopes, "walker", "two").await;
        assert_eq!(standing(&scopes, "walker").await, "two");
        assert_eq!(files.read(Scope::Project), FILE);
        scopes.close().await;
    })
    .await;
}

/// Listeners learn of a new stage or text, wherever the state is stored.
#[tokio::test(flavor = "multi_thread")]
async fn changes_of_state_are_announced() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, FILE);
        let scopes = files.open(database).await;
        let mut changes = scopes.changes();
        let mut announced = async |of: &str| {
            let expected = Change::Entity { kind: Kind::Persona, name: name(of), listed: false };
            let wait = async { while changes.recv().await.unwrap() != expected {} };
            tokio::time::timeout(Duration::from_secs(60), wait).await.expect("news in time");
        };
        put(&scopes, "walker", "two").await;
        announced("walker").await;
        compile(&scopes, "idle").await;
        announced("idle").await;
        scopes.close().await;
    })
    .await;
}

/// The same name in another project, in the user's file and in shared: each has its own state.
#[tokio::test(flavor = "multi_thread")]
async fn each_file_has_its_own_state() {
    on_each_engine(async |database| {
        let (here, there) = (Files::new(), Files::new());
        let local = here.local(database);
        for files in [&here, &there] {
            files.write(Scope::Project, FILE);
        }
        here.write(Scope::Global, FILE);
        let store = open(database).await;
        keep(&store, &persona("walker")).await;
        let one = here.open(database).await;
        let elsewhere = FileScopes { global: None, ..there.scopes(&local) };
        let two = Scopes::open(store, elsewhere).await.unwrap();
        put(&one, "walker", "two").await;
        put(&two, "walker", "three").await;
        assert_eq!(
            (standing(&one, "walker").await, standing(&two, "walker").await),
            ("two".into(), "three".into())
        );
        let global =
            one.load(&name("walker"), Some(Scope::Global), &Overrides::new()).await.unwrap().unwrap();
        assert_eq!(global.bundle.stage.as_ref().unwrap().stage, name("one"));
        let shared =
            one.load(&name("walker"), Some(Scope::Shared), &Overrides::new()).await.unwrap().unwrap();
        assert!(shared.bundle.stage.is_none());
        let text =
            CompiledText { summary: "s".to_owned(), detail: "d".to_owned(), fingerprint: "f".to_owned() };
        one.store_compiled(Scope::Shared, &name("walker"), &text).await.unwrap();
        assert!(load(&one, "walker").await.compiled.is_none());
        one.close().await;
        two.close().await;
    })
    .await;
}
