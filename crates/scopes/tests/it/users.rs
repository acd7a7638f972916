//! Names within a file: each is taken once, and who uses it is known.

use persona::{AsReport as _, Code, Guardrail, Kind, Part, Persona, Scope};
use store::Action;
use testkit::{Files, on_each_engine};

use super::writing::COMMENTED;
use super::{begin_in, held_in};
use crate::samples::{keep, linking, name, persona, tone};

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_taken_once() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, COMMENTED);
        let scopes = files.open(database).await;
        keep(scopes.database(), &tone("team")).await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let error = write.insert(&persona("guide"), Action::Create).await.unwrap_err();
        assert_eq!(error.code(), Code::AlreadyExists);
        drop(write);
        let mut write = begin_in(&scopes, Scope::Project).await;
        write.insert(&tone("warm"), Action::Create).await.unwrap();
        let warm = held_in::<Part>(&mut write, "warm").await;
        let error = write.replace(&warm, &tone("voice"), Action::Rename).await.unwrap_err();
        assert_eq!(error.code(), Code::AlreadyExists);
        // A caller that ignores the error cannot commit the steps before it.
        assert_eq!(write.commit().await.unwrap_err().code(), Code::WriteFailed);
        assert_eq!(files.read(Scope::Project), COMMENTED);
        // A name of another scope is free in this one.
        let mut write = begin_in(&scopes, Scope::Project).await;
        write.insert(&tone("team"), Action::Create).await.unwrap();
        write.insert(&persona("critic"), Action::Create).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(
            scopes.scopes_of(Kind::Part, &name("team")).await.unwrap(),
            [Scope::Project, Scope::Shared]
        );
        scopes.close().await;
    })
    .await;
}

/// The users whose reference would dangle if a name were deleted.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_knows_its_users() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(
            Scope::Project,
            "[personas.root]\nparts = [\"voice\", \"team\"]\n[personas.leaf]\nextends = \"root\"\n\
             [personas.exact]\nextends = \"project:root\"\n[arcs.path]\nstages = [{ name = \"one\", parts = [\"voice\"] }]\n\
             [parts.voice]\npart_type = \"voice\"\ncontent = \"x\"\n[parts.team]\npart_type = \"goal\"\ncontent = \"x\"\n[guardrails.unused]\n",
        );
        let scopes = files.open(database).await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let voice = held_in::<Part>(&mut write, "voice").await;
        let users = |of: &[(Kind, &str)]| of.iter().map(|(kind, of)| (*kind, name(of))).collect::<Vec<_>>();
        assert_eq!(write.users(&voice).await.unwrap(), users(&[(Kind::Persona, "root"), (Kind::Arc, "path")]));
        let root = held_in::<Persona>(&mut write, "root").await;
        assert_eq!(write.users(&root).await.unwrap(), users(&[(Kind::Persona, "exact"), (Kind::Persona, "leaf")]));
        let unused = held_in::<Guardrail>(&mut write, "unused").await;
        assert!(write.users(&unused).await.unwrap().is_empty());
        // Within the change, what it did counts.
        let leaf = held_in::<Persona>(&mut write, "leaf").await;
        write.replace(&leaf, &persona("leaf"), Action::Update).await.unwrap();
        write.insert(&linking("other", &["voice"]), Action::Create).await.unwrap();
        assert_eq!(write.users(&root).await.unwrap(), users(&[(Kind::Persona, "exact")]));
        assert_eq!(write.users(&voice).await.unwrap().len(), 3);
        drop(write);
        // If a weaker scope has the name too, they refer to that one instead.
        keep(scopes.database(), &tone("team")).await;
        keep(scopes.database(), &persona("root")).await;
        let mut write = begin_in(&scopes, Scope::Project).await;
        let team = held_in::<Part>(&mut write, "team").await;
        assert!(write.users(&team).await.unwrap().is_empty());
        let root = held_in::<Persona>(&mut write, "root").await;
        assert_eq!(write.users(&root).await.unwrap(), users(&[(Kind::Persona, "exact")]));
        drop(write);
        scopes.close().await;
    })
    .await;
}
