//! Lists: pages that fit together whatever their size, and filters that mean the same everywhere.

use builtins::Builtins;
use persona::{AsReport as _, Code};
use persona::{Kind, PartType, Persona, Scope, Trait, TraitType, limits};
use store::{Filter, Found, Store};
use testkit::on_each_engine;

use crate::samples::{keep, keep_pieces, open, part, persona, remove, tone, trait_, words};

/// All pages of a list, one after the other.
async fn all(store: &Store, kind: Kind, filter: &Filter, limit: usize) -> Vec<Found> {
    let mut items = Vec::new();
    let mut cursor = None;
    loop {
        let filter = Filter { limit: Some(limit), cursor, ..filter.clone() };
        let page = store.list(kind, &filter).await.unwrap();
        assert!(page.items.len() <= limit);
        assert!(page.next.is_none() || page.items.len() == limit, "only the last page may be short");
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

fn named(items: &[Found]) -> Vec<&str> {
    items.iter().map(|found| found.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_size_gives_the_same_list() {
    on_each_engine(async |database| {
        let store = open(database).await;
        // Before, between and after the builtins, and one that hides a builtin.
        for of in ["aaa", "code_reviewer", "critic2", "d", "mentor-b", "zzz", "Upper", "0"] {
            keep(&store, &persona(of)).await;
        }
        let whole = all(&store, Kind::Persona, &Filter::default(), 200).await;
        let expected = [
            "0 shared",
            "Upper shared",
            "aaa shared",
            "code_reviewer shared",
            "code_worker builtin",
            "critic builtin",
            "critic2 shared",
            "d shared",
            "doc_writer builtin",
            "mentor builtin",
            "mentor-b shared",
            "optimist builtin",
            "orchestrator builtin",
            "persona_editor builtin",
            "qa_reviewer builtin",
            "tech_lead builtin",
            "test_writer builtin",
            "zzz shared",
        ];
        assert_eq!(shown(&whole), expected);
        for limit in 1..=whole.len() + 1 {
            assert_eq!(all(&store, Kind::Persona, &Filter::default(), limit).await, whole, "{limit} a page");
        }
        // Writes between two pages neither repeat nor hide other entries.
        let filter = Filter { limit: Some(5), ..Filter::default() };
        let first = store.list(Kind::Persona, &filter).await.unwrap();
        keep(&store, &persona("bbb")).await;
        remove::<Persona>(&store, "aaa").await;
        let rest = Filter { limit: Some(50), cursor: first.next, ..Filter::default() };
        let rest = store.list(Kind::Persona, &rest).await.unwrap();
        assert_eq!(shown(&rest.items), expected[5..]);
        assert!(rest.next.is_none());
        store.close().await;
    })
    .await;
}

fn builtin_names(kind: Kind) -> Vec<String> {
    let of_kind = Builtins::get().all().filter(|entity| entity.kind() == kind);
    of_kind.map(|entity| entity.name().to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_lists_its_builtins() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for kind in Kind::ALL {
            let listed = all(&store, *kind, &Filter::default(), 3).await;
            assert_eq!(named(&listed), builtin_names(*kind), "{kind}");
            assert!(listed.iter().all(|found| found.kind == *kind && found.scope == Scope::Builtin));
        }
        keep_pieces(&store).await;
        for kind in Kind::ALL {
            let count = store.info().await.unwrap().counts.iter().find(|(of, _)| of == kind).unwrap().1;
            let listed = all(&store, *kind, &Filter::default(), 7).await;
            let shared = listed.iter().filter(|found| found.scope == Scope::Shared).count();
            assert_eq!(shared as i64, count, "{kind}");
            let once = |of: &String| listed.iter().filter(|found| found.name.as_str() == of).count() == 1;
            assert!(builtin_names(*kind).iter().all(once), "{kind}");
        }
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_keep_what_has_all_of_it() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for (of, part_type, content, tags) in [
            ("one", PartType::Goal, "catch the early bird", &["x", "y"][..]),
            ("two", PartType::Goal, "catch the late train", &["x"]),
            ("three", PartType::Voice, "a bird that sings early", &["y", "x", "it's \"odd\""]),
            ("four", PartType::Voice, "early", &[]),
        ] {
            keep(&store, &persona::Part { tags: words(tags), ..part(of, part_type, content) }).await;
        }
        let social = Trait { tags: words(&["x"]), ..trait_("kind") };
        keep(&store, &Trait { trait_type: TraitType::Behavioral, ..social }).await;
        let check = async |filter: Filter, expected: &[&str]| {
            for limit in [1, 2, 50] {
                let found = all(&store, Kind::Part, &filter, limit).await;
                let shared: Vec<&str> = named(&found).into_iter().filter(|of| expected.contains(of)).collect();
                assert_eq!(shared, expected, "{filter:?}");
                assert!(
                    found.iter().all(|found| found.scope == Scope::Builtin || expected.contains(&found.name.as_str())),
                    "{filter:?}"
                );
            }
        };
        let tags = |tags: &[&str]| Filter { tags: words(tags), ..Filter::default() };
        check(tags(&["x"]), &["one", "three", "two"]).await;
        check(tags(&["x", "y"]), &["one", "three"]).await;
        check(tags(&["y", "x", "x"]), &["one", "three"]).await;
        check(tags(&["it's \"odd\""]), &["three"]).await;
        check(tags(&["X"]), &[]).await;
        check(tags(&[""]), &[]).await;
        let goal = Filter { part_type: Some(PartType::Goal), ..Filter::default() };
        check(goal.clone(), &["one", "two"]).await;
        check(Filter { tags: words(&["y"]), ..goal.clone() }, &["one"]).await;
        let query = |text: &str| Filter { query: Some(text.to_owned()), ..Filter::default() };
        check(query("early bird"), &["one", "three"]).await;
        check(query("bird ear"), &["one", "three"]).await;
        check(query("  "), &["four", "one", "three", "two"]).await;
        check(Filter { query: Some("train".to_owned()), ..goal }, &["two"]).await;
        check(Filter { query: Some("early".to_owned()), ..tags(&["y"]) }, &["one", "three"]).await;

        let behavioral = Filter { trait_type: Some(TraitType::Behavioral), ..Filter::default() };
        let found = all(&store, Kind::Trait, &behavioral, 50).await;
        assert!(named(&found).contains(&"kind"));
        assert!(found.iter().all(|found| found.trait_type == Some(TraitType::Behavioral)));
        store.close().await;
    })
    .await;
}

/// A builtin that the shared scope hides stays hidden where the filter drops what hides it.
#[tokio::test(flavor = "multi_thread")]
async fn filters_do_not_bring_hidden_builtins_back() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let builtin = builtins::of::<Persona>().values().find(|persona| !persona.tags.is_empty()).unwrap();
        let tagged = Filter { tags: builtin.tags.clone(), ..Filter::default() };
        let worded = Filter { query: Some(builtin.name.to_string()), ..Filter::default() };
        for filter in [&tagged, &worded] {
            assert!(named(&all(&store, Kind::Persona, filter, 50).await).contains(&builtin.name.as_str()));
        }
        keep(&store, &persona(builtin.name.as_str())).await;
        assert!(!named(&all(&store, Kind::Persona, &tagged, 50).await).contains(&builtin.name.as_str()));
        let found = all(&store, Kind::Persona, &worded, 50).await;
        let hiding = found.iter().find(|found| found.name == builtin.name).unwrap();
        assert_eq!(hiding.scope, Scope::Shared);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_say_what_there_is_in_one_line() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &part("lead", PartType::Goal, "First line.\nSecond.")).await;
        let described = persona::Part { description: Some("Said".to_owned()), ..tone("said") };
        keep(&store, &described).await;
        let prompted = Persona { system_prompt: Some("You lead! Always.".to_owned()), ..persona("led") };
        keep(&store, &Persona { display_name: Some("Led".to_owned()), ..prompted }).await;
        let find = async |kind: Kind, of: &str| {
            let found = all(&store, kind, &Filter::default(), 200).await;
            found.into_iter().find(|found| found.name.as_str() == of).unwrap()
        };
        let lead = find(Kind::Part, "lead").await;
        assert_eq!((lead.summary.as_deref(), lead.part_type), (Some("First line. …"), Some(PartType::Goal)));
        let said = find(Kind::Part, "said").await;
        assert_eq!((said.summary, said.description.as_deref()), (None, Some("Said")));
        let led = find(Kind::Persona, "led").await;
        assert_eq!(
            (led.summary.as_deref(), led.display_name.as_deref()),
            (Some("You lead! Always."), Some("Led"))
        );
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_refused() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &tone("one")).await;
        let refuses = async |filter: Filter, code: Code| {
            let error = store.list(Kind::Part, &filter).await.unwrap_err();
            assert_eq!(error.code(), code, "{filter:?}: {error}");
        };
        for cursor in ["", "x", "after:", "after:not a name", "after:../x", "at:1", "after:a\0"] {
            let filter = Filter { cursor: Some(cursor.to_owned()), ..Filter::default() };
            refuses(filter, Code::InvalidCursor).await;
        }
        refuses(Filter { query: Some("!!!".to_owned()), ..Filter::default() }, Code::InvalidValue).await;
        let long = "x".repeat(limits::QUERY_BYTES + 1);
        refuses(Filter { query: Some(long), ..Filter::default() }, Code::TooLong).await;
        let many = (0..5_000).map(|at| at.to_string()).collect();
        refuses(Filter { tags: many, ..Filter::default() }, Code::TooLong).await;
        // A cursor may name what is gone, and any page size is brought within bounds.
        let gone = Filter { cursor: Some("after:gone".to_owned()), limit: Some(0), ..Filter::default() };
        assert_eq!(store.list(Kind::Part, &gone).await.unwrap().items.len(), 1);
        let huge = Filter { limit: Some(usize::MAX), ..Filter::default() };
        assert!(store.list(Kind::Part, &huge).await.unwrap().items.len() <= limits::PAGE);
        store.close().await;
    })
    .await;
}
