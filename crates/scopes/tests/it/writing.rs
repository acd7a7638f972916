//! Changing entries of a file: they change, everything else stays, and it is all or nothing.

use persona::{CharacterArc, Kind, Part, PartType, Persona, Scope, Skill};
use scopes::Error;
use store::Action;
use testkit::{Files, on_each_engine};

use super::{author, begin_in, brief, change_in, held_in, history, keep_in, load, remove_in, reread};
use crate::samples::{
    arc, bias_profile, context_preset, full_persona, guardrail, linking, name, names, part, persona, skill,
    stage, test_input, tone, tool_preset, trait_,
};

pub(super) const COMMENTED: &str = "\
# The project's own people.

[personas.guide] # shows the way
summary = 'A guide'   # short
parts = [
  \"voice\", # how it speaks
]
colour = \"green\" # an unknown key

# Below: what they are made of.
[parts.voice]
part_type = \"voice\"
content = \"\"\"
Speak
plainly.\"\"\"

# The end.
";

/// The text without an entry's own lines.
fn without(text: &str, lines: &[&str]) -> String {
    let kept: Vec<&str> = text.lines().filter(|line| !lines.contains(line)).collect();
    kept.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_come_change_and_go() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, COMMENTED);
        let scopes = files.open(database).await;
        let created = keep_in(&scopes, Scope::Project, &skill("reading")).await;
        assert_eq!((created.meta.scope, created.meta.revision, created.meta.guid), (Scope::Project, 1, None));
        let text = files.read(Scope::Project);
        assert!(text.starts_with(COMMENTED.trim_end()), "what was there stays as it is:\n{text}");
        assert!(text.contains("[skills.reading]"), "{text}");
        let read = scopes.get::<Skill>(&name("reading"), None).await.unwrap().unwrap();
        assert_eq!((&read.entity, read.meta.revision), (&skill("reading"), 1));

        let updated =
            change_in::<Skill>(&scopes, Scope::Project, "reading", |skill| skill.content = None).await;
        assert_eq!(updated.meta.revision, 2);
        assert!(updated.meta.created_at <= updated.meta.updated_at);
        let renamed =
            change_in::<Skill>(&scopes, Scope::Project, "reading", |skill| skill.name = name("browsing"))
                .await;
        assert_eq!(renamed.meta.revision, 3);
        let text = files.read(Scope::Project);
        assert!(text.contains("[skills.browsing]") && !text.contains("reading"), "{text}");
        assert!(scopes.get::<Skill>(&name("reading"), None).await.unwrap().is_none());
        let read = scopes.get::<Skill>(&name("browsing"), None).await.unwrap().unwrap();
        assert_eq!(read.entity, renamed.entity);
        assert_eq!(read.meta.revision, 3);
        remove_in::<Skill>(&scopes, Scope::Project, "browsing").await;
        assert_eq!(files.read(Scope::Project).trim_end(), COMMENTED.trim_end());
        let again = keep_in(&scopes, Scope::Project, &skill("browsing")).await;
        assert_eq!(again.meta.revision, 5, "a name never repeats a revision");
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_of_others_and_unknown_keys_survive() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, COMMENTED);
        let scopes = files.open(database).await;
        change_in::<Part>(&scopes, Scope::Project, "voice", |voice| voice.content = Some("Loud.".to_owned()))
            .await;
        let text = files.read(Scope::Project);
        let (above, _) = COMMENTED.split_once("[parts.voice]").unwrap();
        assert!(text.starts_with(above), "{text}");
        assert!(text.ends_with("\n# The end.\n") && text.contains("Loud."), "{text}");
        change_in::<Persona>(&scopes, Scope::Project, "guide", |guide| {
            guide.summary = Some("One who leads".to_owned());
        })
        .await;
        let text = files.read(Scope::Project);
        for kept in [
            "# shows the way",
            "# how it speaks",
            "colour = \"green\" # an unknown key",
            "# Below: what they are made of.",
        ] {
            assert!(text.contains(kept), "{kept} is gone:\n{text}");
        }
        let before = text.clone();
        let stored =
            change_in::<Persona>(&scopes, Scope::Project, "guide", |guide| guide.tags.push("new".to_owned()))
                .await;
        change_in::<Persona>(&scopes, Scope::Project, "guide", |guide| guide.tags.clear()).await;
        let line = "tags = [\"new\"]";
        assert_eq!(without(&files.read(Scope::Project), &[line]), without(&before, &[line]));
        assert_eq!(stored.entity.tags, ["new"]);
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uncommitted_write_leaves_no_trace() {
    on_each_engine(async |database| {
        let files = Files::new();
        files.write(Scope::Project, COMMENTED);
        let scopes = files.open(database).await;
        let count = "SELECT CAST(count(*) AS text) FROM agent_revisions";
        let before = files.local(database).texts(count).await;
        let mut changes = scopes.changes();
        let mut write = begin_in(&scopes, Scope::Project).await;
        write.insert(&skill("reading"), Action::Create).await.unwrap();
        let guide = held_in::<Persona>(&mut write, "guide").await;
        write.replace(&guide, &persona("leader"), Action::Rename).await.unwrap();
        let voice = held_in::<Part>(&mut write, "voice").await;
        write.remove(&voice).await.unwrap();
        assert!(write.has(Kind::Skill, &name("reading")).await.unwrap());
        assert!(write.has(Kind::Persona, &name("leader")).await.unwrap());
        assert!(!write.has(Kind::Persona, &name("guide")).await.unwrap());
        assert!(write.find::<Part>(&name("voice")).await.unwrap().is_none());
        assert_eq!(load(&scopes, "guide").await.parts.len(), 1, "no other reader sees it");
        drop(write);
        assert_eq!(files.read(Scope::Project), COMMENTED);
        assert_eq!(files.local(database).texts(count).await, before);
        assert_eq!(load(&scopes, "guide").await.parts.len(), 1);
        assert!(scopes.get::<Skill>(&name("reading"), None).await.unwrap().is_none());
        assert!(changes.try_recv().is_err(), "nothing is announced");
        // A change that changes nothing touches nothing.
        let modified = std::fs::metadata(files.path(Scope::Project)).unwrap().modified().unwrap();
        begin_in(&scopes, Scope::Project).await.commit().await.unwrap();
        assert_eq!(std::fs::metadata(files.path(Scope::Project)).unwrap().modified().unwrap(), modified);
        scopes.close().await;
    })
    .await;
}

/// Several entities, some of them several times, in one change.
#[tokio::test(flavor = "multi_thread")]
async fn one_change_may_do_much() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open(database).await;
        let mut write = begin_in(&scopes, Scope::Global).await;
        write.insert(&tone("warm"), Action::Create).await.unwrap();
        write.insert(&linking("guide", &["warm"]), Action::Create).await.unwrap();
        let guide = held_in::<Persona>(&mut write, "guide").await;
        assert_eq!(guide.stored.meta.revision, 1);
        let tagged = Persona { tags: vec!["x".to_owned()], ..guide.stored.entity.clone() };
        let second = write.replace(&guide, &tagged, Action::Update).await.unwrap();
        assert_eq!(second.meta.revision, 2);
        let guide = held_in::<Persona>(&mut write, "guide").await;
        assert_eq!((guide.stored.meta.revision, &guide.stored.entity), (2, &tagged));
        let renamed = Persona { name: name("leader"), ..tagged.clone() };
        write.replace(&guide, &renamed, Action::Rename).await.unwrap();
        write.insert(&tone("gone"), Action::Create).await.unwrap();
        let gone = held_in::<Part>(&mut write, "gone").await;
        write.remove(&gone).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(load(&scopes, "leader").await.persona, renamed);
        let text = files.read(Scope::Global);
        assert!(
            text.contains("[personas.leader]") && !text.contains("guide") && !text.contains("gone"),
            "{text}"
        );
        assert_eq!(
            brief(&history(&scopes, Scope::Global, Kind::Persona, "leader").await),
            [
                "rename leader 3 by tester with test",
                "update guide 2 by tester with test",
                "create guide 1 by tester with test"
            ]
        );
        assert_eq!(
            brief(&history(&scopes, Scope::Global, Kind::Part, "gone").await),
            ["delete gone 2 by tester with test", "create gone 1 by tester with test"]
        );
        scopes.close().await;
        // The next process finds nothing unrecorded.
        let scopes = files.open(database).await;
        let stored = scopes.get::<Persona>(&name("leader"), None).await.unwrap().unwrap();
        assert_eq!((stored.entity, stored.meta.revision), (renamed, 3));
        assert_eq!(history(&scopes, Scope::Global, Kind::Persona, "leader").await.len(), 3);
        assert!(scopes.get::<Part>(&name("gone"), None).await.unwrap().is_none());
        scopes.close().await;
    })
    .await;
}

/// Everything that can be written, with everything that it can say, is read back as it was.
#[tokio::test(flavor = "multi_thread")]
async fn every_kind_goes_to_a_file_and_comes_back() {
    on_each_engine(async |database| {
        let files = Files::new();
        std::fs::remove_dir(files.directory_of(Scope::Global)).unwrap();
        let scopes = files.open(database).await;
        let user = store::Attribution { front: "cli".to_owned(), ..testkit::samples::attribution() };
        let mut write = scopes.write(Scope::Global, user).await.unwrap();
        assert_eq!(write.scope(), Scope::Global);
        assert!(write.database().is_none());
        write.insert(&full_persona("full"), Action::Create).await.unwrap();
        write
            .insert(&part("voice", PartType::Voice, "It's \"odd\"\n\t\\ 東京 🙂"), Action::Create)
            .await
            .unwrap();
        write.insert(&trait_("patient"), Action::Create).await.unwrap();
        write.insert(&skill("reading"), Action::Create).await.unwrap();
        write.insert(&guardrail("honest"), Action::Create).await.unwrap();
        write
            .insert(&arc("path", vec![stage("start", 1, &["voice"]), stage("end", 2, &[])]), Action::Create)
            .await
            .unwrap();
        write.insert(&tool_preset("tools"), Action::Create).await.unwrap();
        write.insert(&bias_profile("bias"), Action::Create).await.unwrap();
        write.insert(&context_preset("context"), Action::Create).await.unwrap();
        write.insert(&test_input("morning"), Action::Create).await.unwrap();
        write.commit().await.unwrap();
        let before = scopes.all(Scope::Global).await.unwrap();
        scopes.close().await;
        let scopes = files.open(database).await;
        assert!(scopes.problems().is_empty(), "{:?}", scopes.problems());
        assert_eq!(scopes.all(Scope::Global).await.unwrap(), before);
        assert_eq!(
            scopes.get::<Persona>(&name("full"), None).await.unwrap().unwrap().entity,
            full_persona("full")
        );
        let path = scopes.get::<CharacterArc>(&name("path"), None).await.unwrap().unwrap();
        assert_eq!((path.entity.stages.len(), path.meta.revision), (2, 1), "nothing was recorded again");
        scopes.close().await;
    })
    .await;
}

/// Long texts in files of their own are written where they are.
#[tokio::test(flavor = "multi_thread")]
async fn included_texts_are_written_where_they_stand() {
    on_each_engine(async |database| {
        let files = Files::new();
        let text = "[parts.voice] # long\npart_type = \"voice\"\ncontent_file = \"prompts/voice.md\"\n\n[personas.guide]\nparts = [\"voice\"]\n";
        files.write(Scope::Project, text);
        files.write_beside(Scope::Project, "prompts/voice.md", "Speak plainly.\n");
        let scopes = files.open(database).await;
        let content = async || load(&scopes, "guide").await.parts[0].content.clone().unwrap();
        assert_eq!(content().await, "Speak plainly.\n");
        change_in::<Part>(&scopes, Scope::Project, "voice", |voice| voice.content = Some("Sing.\n".to_owned())).await;
        assert_eq!(files.read(Scope::Project), text, "the file itself says the same");
        let beside = files.directory_of(Scope::Project).join("prompts/voice.md");
        assert_eq!(std::fs::read_to_string(&beside).unwrap(), "Sing.\n");
        assert_eq!(content().await, "Sing.\n");
        let all = brief(&history(&scopes, Scope::Project, Kind::Part, "voice").await);
        assert_eq!(all, ["update voice 2 by tester with test", "create voice 1 by personas.toml with file"]);
        // By hand, in the other file.
        std::fs::write(&beside, "Hum.\n").unwrap();
        reread(&scopes, Scope::Project).await;
        assert_eq!(content().await, "Hum.\n");
        assert_eq!(brief(&history(&scopes, Scope::Project, Kind::Part, "voice").await)[0], "update voice 3 by personas.toml with file");
        scopes.close().await;
    })
    .await;
}

/// A text is never written over the file of another scope.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_text_does_not_take_the_place_of_another_scope() {
    on_each_engine(async |database| {
        let files = Files::new();
        let mine = "[skills.mine]\ncontent = \"Mine.\"\n";
        files.write_beside(Scope::Global, "kept/mine.toml", mine);
        let kept = files.directory_of(Scope::Global).join("kept/mine.toml");
        std::os::unix::fs::symlink(&kept, files.path(Scope::Project)).unwrap();
        let text = "[skills.theirs]\ncontent_file = \"kept/mine.toml\"\n";
        files.write(Scope::Global, text);
        let scopes = files.open(database).await;
        let mut write = begin_in(&scopes, Scope::Global).await;
        let theirs = held_in::<Skill>(&mut write, "theirs").await;
        let changed = Skill { content: Some("Other.".to_owned()), ..theirs.stored.entity.clone() };
        write.replace(&theirs, &changed, Action::Update).await.unwrap();
        let refused = write.commit().await.unwrap_err();
        assert!(matches!(refused, Error::IncludesScope { scope: Scope::Project, .. }), "{refused:?}");
        assert_eq!(files.read(Scope::Global), text);
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), mine);
        assert_eq!(history(&scopes, Scope::Global, Kind::Skill, "theirs").await.len(), 1);
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn author_and_reason_are_recorded() {
    on_each_engine(async |database| {
        let files = Files::new();
        let scopes = files.open(database).await;
        let because = store::Attribution { message: Some("try it".to_owned()), ..author("Ada") };
        let mut write = scopes.write(Scope::Project, because).await.unwrap();
        write.insert(&tone("warm"), Action::Create).await.unwrap();
        write.insert(&linking("guide", &["warm"]), Action::Create).await.unwrap();
        write.commit().await.unwrap();
        for (kind, of) in [(Kind::Part, "warm"), (Kind::Persona, "guide")] {
            let all = history(&scopes, Scope::Project, kind, of).await;
            assert_eq!(brief(&all), [format!("create {of} 1 by Ada with test")]);
            assert_eq!(all[0].message.as_deref(), Some("try it"));
        }
        let mut write = begin_in(&scopes, Scope::Project).await;
        let guide = held_in::<Persona>(&mut write, "guide").await;
        let mut linked = guide.stored.entity.clone();
        linked.traits = names(&["patient"]);
        write.replace(&guide, &linked, Action::Link).await.unwrap();
        write.commit().await.unwrap();
        assert_eq!(history(&scopes, Scope::Project, Kind::Persona, "guide").await[0].action, "link");
        if database.engine == "postgres" {
            let count = "SELECT CAST(count(*) AS text) FROM agent_revisions";
            assert_eq!(database.texts(count).await, ["0"], "never in a team's database");
        }
        scopes.close().await;
    })
    .await;
}
