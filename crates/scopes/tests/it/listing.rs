//! Lists, searches and names over files, shared and builtins: every name once, as its strongest
//! scope has it.

use std::collections::BTreeMap;

use persona::{Kind, PartType, Persona, Scope};
use scopes::Scopes;
use store::{Action, Filter, Found};
use testkit::{Database, Files, on_each_engine};

use super::reread;
use crate::samples::{begin, keep, name, open, part, persona, tone, words};

/// Entries of each of the files together, and as many in shared.
const EACH: usize = 300;
const PAGE: usize = 7;

async fn listed(scopes: &Scopes, kind: Kind, filter: &Filter, limit: usize) -> Vec<Found> {
    let mut items = Vec::new();
    let mut cursor = None;
    loop {
        let filter = Filter { limit: Some(limit), cursor, ..filter.clone() };
        let page = scopes.list(kind, &filter).await.unwrap();
        assert!(page.items.len() <= limit);
        assert!(page.next.is_none() || page.items.len() == limit, "only the last page may be short");
        items.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return items;
        }
    }
}

async fn found(scopes: &Scopes, query: &str, scope: Option<Scope>, limit: usize) -> Vec<Found> {
    let mut items = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = scopes.search(query, &[], scope, Some(limit), cursor.as_deref()).await.unwrap();
        assert!(page.items.len() <= limit);
        items.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return items;
        }
    }
}

fn shown(items: &[Found]) -> Vec<String> {
    items.iter().map(|found| format!("{} {}", found.name, found.scope)).collect()
}

/// `n000` to `n599`: every other one in shared, the rest in the user's and the project's file in
/// turn. Every tenth of the shared ones is in a file too, which hides it.
async fn open_interleaved(files: &Files, database: &Database) -> (Scopes, BTreeMap<String, Scope>) {
    let store = open(database).await;
    let mut write = begin(&store).await;
    let (mut global, mut project) = (String::new(), String::new());
    let mut expected = BTreeMap::new();
    for at in 0..2 * EACH {
        let of = format!("n{at:03}");
        let entry = format!("[personas.{of}]\ndescription = \"one of many lanterns\"\n");
        if at % 2 == 0 {
            let described = Persona { description: Some("one of many lanterns".to_owned()), ..persona(&of) };
            write.insert(&described, Action::Create).await.unwrap();
        }
        let scope = match at % 20 {
            0 => Scope::Project,
            10 => Scope::Global,
            _ if at % 2 == 0 => Scope::Shared,
            _ if at % 4 == 1 => Scope::Global,
            _ => Scope::Project,
        };
        match scope {
            Scope::Global => global.push_str(&entry),
            Scope::Project => project.push_str(&entry),
            _ => {}
        }
        expected.insert(of, scope);
    }
    write.commit().await.unwrap();
    store.close().await;
    files.write(Scope::Global, &global);
    files.write(Scope::Project, &project);
    (files.open(database).await, expected)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_name_is_listed_once() {
    on_each_engine(async |database| {
        let files = Files::new();
        let (scopes, mut expected) = open_interleaved(&files, database).await;
        let hidden = expected.iter().filter(|(of, _)| of.ends_with('0')).count();
        assert_eq!((expected.len(), hidden), (2 * EACH, 60));
        for builtin in builtins::of::<Persona>().keys() {
            expected.insert(builtin.to_string(), Scope::Builtin);
        }
        let expected: Vec<String> = expected.iter().map(|(of, scope)| format!("{of} {scope}")).collect();
        for limit in [PAGE, 1, 200] {
            let all = listed(&scopes, Kind::Persona, &Filter::default(), limit).await;
            assert_eq!(shown(&all), expected, "{limit} a page");
        }
        // Hidden entities stay hidden in pages of any filter.
        let lanterns = Filter { query: Some("lanterns".to_owned()), ..Filter::default() };
        let all = listed(&scopes, Kind::Persona, &lanterns, PAGE).await;
        assert_eq!(
            shown(&all),
            expected.iter().filter(|line| line.starts_with('n')).cloned().collect::<Vec<_>>()
        );
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_name_is_found_once() {
    on_each_engine(async |database| {
        let files = Files::new();
        let (scopes, expected) = open_interleaved(&files, database).await;
        for limit in [PAGE, 200] {
            let hits = found(&scopes, "lanterns", None, limit).await;
            let mut hits: Vec<String> = shown(&hits);
            hits.sort();
            let expected: Vec<String> = expected.iter().map(|(of, scope)| format!("{of} {scope}")).collect();
            assert_eq!(hits, expected, "{limit} a page");
        }
        for scope in [Scope::Project, Scope::Global] {
            let hits = found(&scopes, "lanterns", Some(scope), PAGE).await;
            let count = expected.values().filter(|known| **known == scope).count();
            assert_eq!(hits.len(), count, "{scope}");
            assert!(hits.iter().all(|hit| hit.scope == scope));
        }
        assert_eq!(
            found(&scopes, "lanterns", Some(Scope::Shared), PAGE).await.len(),
            EACH,
            "hidden ones too"
        );
        assert!(found(&scopes, "lanterns", Some(Scope::Builtin), PAGE).await.is_empty());
        scopes.close().await;
    })
    .await;
}

/// A scope's list has all that it has, whether a stronger one hides it or not.
#[tokio::test(flavor = "multi_thread")]
async fn one_scope_can_be_listed() {
    on_each_engine(async |database| {
        let files = Files::new();
        let (scopes, expected) = open_interleaved(&files, database).await;
        let of_scope = async |scope: Scope, limit: usize| {
            let filter = Filter { scope: Some(scope), ..Filter::default() };
            let all = listed(&scopes, Kind::Persona, &filter, limit).await;
            assert!(all.iter().all(|found| found.scope == scope), "{scope}");
            assert!(all.is_sorted_by(|one, other| one.name < other.name), "{scope}");
            all.len()
        };
        assert_eq!(of_scope(Scope::Shared, PAGE).await, EACH);
        assert_eq!(of_scope(Scope::Builtin, 2).await, builtins::of::<Persona>().len());
        for scope in [Scope::Global, Scope::Project] {
            let count = expected.values().filter(|known| **known == scope).count();
            assert_eq!(of_scope(scope, PAGE).await, count, "{scope}");
        }
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_reach_into_files() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        keep(&store, &persona::Part { tags: words(&["x"]), ..part("shared-goal", PartType::Goal, "heron") }).await;
        keep(&store, &tone("hidden")).await;
        store.close().await;
        files.write(
            Scope::Project,
            "[parts.file-goal]\npart_type = \"goal\"\ncontent = \"First heron. Second.\"\ntags = [\"x\", \"y\"]\n\
             [parts.hidden]\npart_type = \"voice\"\ncontent = \"x\"\n[traits.kind]\ntrait_type = \"social\"\ndescription = \"Said\"\n",
        );
        let scopes = files.open(database).await;
        let check = async |filter: Filter, expected: &[&str]| {
            let found = listed(&scopes, Kind::Part, &filter, 1).await;
            let ours: Vec<String> = shown(&found).into_iter().filter(|line| !line.ends_with("builtin")).collect();
            assert_eq!(ours, expected, "{filter:?}");
        };
        let tags = |tags: &[&str]| Filter { tags: words(tags), ..Filter::default() };
        check(tags(&["x"]), &["file-goal project", "shared-goal shared"]).await;
        check(tags(&["x", "y"]), &["file-goal project"]).await;
        let of_type = |part_type: PartType| Filter { part_type: Some(part_type), ..Filter::default() };
        check(of_type(PartType::Goal), &["file-goal project", "shared-goal shared"]).await;
        check(of_type(PartType::Voice), &["hidden project"]).await;
        check(of_type(PartType::Tone), &[]).await;
        check(Filter { query: Some("heron fir".to_owned()), ..Filter::default() }, &["file-goal project"]).await;
        let lead = listed(&scopes, Kind::Part, &tags(&["y"]), 1).await.remove(0);
        assert_eq!((lead.summary.as_deref(), lead.part_type), (Some("First heron. Second."), Some(PartType::Goal)));
        scopes.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_come_from_everywhere() {
    on_each_engine(async |database| {
        let files = Files::new();
        let store = open(database).await;
        for of in ["gardener", "garnet"] {
            keep(&store, &persona(of)).await;
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        store.close().await;
        files.write(Scope::Global, "[personas.garland]\n[personas.garnet]\n");
        files.write(Scope::Project, "[personas.garlic]\n");
        let scopes = files.open(database).await;
        let names = scopes.names_with_prefix(Kind::Persona, "gar", 10).await.unwrap();
        assert_eq!(names, crate::samples::names(&["gardener", "garland", "garlic", "garnet"]));
        assert_eq!(scopes.names_with_prefix(Kind::Persona, "gar", 2).await.unwrap().len(), 2);
        let near = async |of: &str| scopes.near_names(Kind::Persona, of).await.unwrap().into_iter().next();
        assert_eq!(near("garlik").await.as_deref(), Some("garlic"));
        assert_eq!(near("graland").await.as_deref(), Some("garland"));
        assert_eq!(near("gadrener").await.as_deref(), Some("gardener"));

        let recent = async |limit: usize| {
            let found = scopes.recent_personas(limit).await.unwrap();
            shown(&found)
        };
        let all = recent(100).await;
        assert_eq!(all.len(), 4 + builtins::of::<Persona>().len(), "{all:?}");
        for line in ["garlic project", "garland global", "garnet global", "gardener shared", "critic builtin"]
        {
            assert_eq!(all.iter().filter(|known| *known == line).count(), 1, "{line} in {all:?}");
        }
        scopes.database().usage().note(&name("garlic"));
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        scopes.database().usage().note(&name("critic"));
        assert_eq!(recent(2).await, ["critic builtin", "garlic project"]);
        // Lists follow the files.
        files.write(Scope::Project, "[personas.ginger]\n");
        reread(&scopes, Scope::Project).await;
        let names = scopes.names_with_prefix(Kind::Persona, "g", 10).await.unwrap();
        assert!(names.contains(&name("ginger")) && !names.contains(&name("garlic")), "{names:?}");
        assert!(!recent(100).await.iter().any(|line| line.starts_with("garlic")));
        scopes.close().await;
    })
    .await;
}
