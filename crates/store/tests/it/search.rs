//! Search: the same words find the same things on both engines, names first, and the index follows
//! every change.

use std::collections::BTreeSet;

use persona::{AsReport as _, Code};
use persona::{CharacterArc, Kind, Part, PartType, Persona, Scope, Skill, TestInput, ToolPreset};
use store::{Found, Store};
use testkit::on_each_engine;

use crate::samples::{
    arc, bias_profile, change, context_preset, guardrail, keep, name, open, part, persona, remove, skill,
    stage, test_input, tone, tool_preset, trait_, words,
};

/// Names of the shared entities that a search finds, page by page.
async fn found(store: &Store, query: &str, kinds: &[Kind], limit: usize) -> Vec<Found> {
    let mut items = Vec::new();
    let mut cursor = None;
    loop {
        let page = store.search(query, kinds, Some(limit), cursor.as_deref()).await.unwrap();
        assert!(page.items.len() <= limit);
        items.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return items;
        }
    }
}

async fn shared(store: &Store, query: &str) -> BTreeSet<String> {
    let found = found(store, query, &[], 50).await.into_iter();
    let shared = found.filter(|found| found.scope == Scope::Shared);
    shared.map(|found| format!("{} {}", found.kind, found.name)).collect()
}

async fn keep_texts(store: &Store) {
    for (of, content) in [
        ("calm-reviewer", "Reads slowly"),
        ("fold2", "a 2-fold way, version 1.5, x86_64"),
        ("accents", "Été à la plage, naïve façade, ÜBER straße"),
        ("kanji", "東京タワー and 文書 を読む"),
        ("quoting", "it's \"quoted\" and (bracketed) [x] {y} <z>"),
        ("operators", "this OR that AND NOT the other NEAR here"),
        ("star", "wild*card col:umn ^first -minus +plus"),
        ("under_score", "snake_case_word kebab-case-word"),
        ("emoji", "🙂 smile İstanbul ǅ"),
    ] {
        keep(store, &part(of, PartType::Protocol, content)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_words_find_the_same_things() {
    let cases: &[(&str, &[&str])] = &[
        ("slowly", &["calm-reviewer"]),
        ("SLOWLY reads", &["calm-reviewer"]),
        ("slow", &["calm-reviewer"]),
        ("slow reads", &[]),
        ("calm-rev", &["calm-reviewer"]),
        ("calm reviewer", &["calm-reviewer"]),
        ("calmreviewer", &[]),
        ("2-fold", &["fold2"]),
        ("fold2", &["fold2"]),
        ("1.5", &["fold2"]),
        ("x86 64", &["fold2"]),
        ("x86_64", &["fold2"]),
        ("86", &[]),
        ("été", &["accents"]),
        ("ÉTÉ", &["accents"]),
        ("ete", &[]),
        ("naïv", &["accents"]),
        ("über", &["accents"]),
        ("straße", &["accents"]),
        ("東京タワー", &["kanji"]),
        ("東京", &["kanji"]),
        ("京", &[]),
        ("文書", &["kanji"]),
        ("\"quoted\"", &["quoting"]),
        ("it's", &["quoting"]),
        ("'", &[]),
        ("it''s (bracketed)", &["quoting"]),
        ("this OR that", &["operators"]),
        ("OR", &["operators"]),
        ("NOT other", &["operators"]),
        ("NOT slowly", &[]),
        ("NEAR here", &["operators"]),
        ("that AND", &["operators"]),
        ("wild*card", &["star"]),
        ("wild* ca", &["star"]),
        ("col:umn", &["star"]),
        ("name:star", &[]),
        ("^first", &["star"]),
        ("-minus +plus", &["star"]),
        ("snake_case", &["under_score"]),
        ("case word", &["under_score"]),
        ("kebab case", &["under_score"]),
        ("under", &["under_score"]),
        ("istanbul", &[]),
        ("İstanbul", &["emoji"]),
        ("🙂 smile", &["emoji"]),
        ("slowly & (reads | !x)", &[]),
        ("reads slowly:*", &["calm-reviewer"]),
        ("slowly\\", &["calm-reviewer"]),
        ("the the the other", &["operators"]),
    ];
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_texts(&store).await;
        for (query, expected) in cases {
            if !query.chars().any(char::is_alphanumeric) {
                let error = store.search(query, &[], None, None).await.unwrap_err();
                let expected = if query.trim().is_empty() { Code::Empty } else { Code::InvalidValue };
                assert_eq!(error.code(), expected, "{query}");
                continue;
            }
            let expected: BTreeSet<String> = expected.iter().map(|of| format!("part {of}")).collect();
            assert_eq!(shared(&store, query).await, expected, "{query}");
        }
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_field_that_is_read_is_found() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let some = |text: &str| Some(text.to_owned());
        let fields = Persona {
            display_name: some("qdisplay"),
            description: some("qdescription"),
            summary: some("qsummary"),
            detail: some("qdetail"),
            author: some("qauthor"),
            system_prompt: some("qprompt"),
            tags: words(&["qtag"]),
            ..persona("qname")
        };
        keep(&store, &fields).await;
        keep(&store, &Part { summary: some("qsummary"), tags: words(&["qtag"]), ..tone("qpart") }).await;
        let mut walk = arc("qarc", vec![stage("qstage", 1, &[])]);
        (walk.stages[0].condition, walk.description) = (some("qcondition"), some("qdescription"));
        keep(&store, &walk).await;
        keep(&store, &persona::Trait { instruction: some("qinstruction"), ..trait_("qtrait") }).await;
        keep(&store, &Skill { content: some("qcontent"), ..skill("qskill") }).await;
        keep(&store, &persona::Guardrail { content: some("qcontent"), ..guardrail("qguardrail") }).await;
        let mut tools = ToolPreset { description: some("qdescription"), ..tool_preset("qtools") };
        tools.categories.get_mut("shell").unwrap()[0].name = "qtool*".to_owned();
        keep(&store, &tools).await;
        let mut bias = bias_profile("qbias");
        bias.multipliers.insert("qcategory".to_owned(), 1.0);
        keep(&store, &bias).await;
        let mut context = context_preset("qcontext");
        (context.entries[0].glob, context.entries[1].path) = (some("qglob/**"), some("docs/qpath.md"));
        keep(&store, &context).await;
        let input = TestInput {
            content: some("qcontent"),
            expectations: vec!["qexpects".into()],
            ..test_input("qinput")
        };
        keep(&store, &input).await;
        let check = async |query: &str, expected: &[&str]| {
            let expected: BTreeSet<String> = expected.iter().map(|of| (*of).to_owned()).collect();
            assert_eq!(shared(&store, query).await, expected, "{query}");
        };
        check("qtool", &["tool_preset qtools"]).await;
        check("qexpects", &["test_input qinput"]).await;
        check("qcategory", &["bias_profile qbias"]).await;
        check("qglob", &["context_preset qcontext"]).await;
        check("docs qpath", &["context_preset qcontext"]).await;
        for word in ["qname", "qdisplay", "qdetail", "qauthor", "qprompt"] {
            check(word, &["persona qname"]).await;
        }
        check("qdescription", &["arc qarc", "persona qname", "tool_preset qtools"]).await;
        check("qsummary", &["part qpart", "persona qname"]).await;
        check("qtag", &["part qpart", "persona qname"]).await;
        check("tone qpart", &["part qpart"]).await;
        check("qstage", &["arc qarc"]).await;
        check("qcondition", &["arc qarc"]).await;
        check("qinstruction", &["trait qtrait"]).await;
        check("qtrait social", &["trait qtrait"]).await;
        check("qcontent", &["guardrail qguardrail", "skill qskill", "test_input qinput"]).await;
        check("high qguardrail", &["guardrail qguardrail"]).await;
        let only = found(&store, "q", &[Kind::Skill, Kind::Arc, Kind::Skill], 1).await;
        let only: BTreeSet<Kind> = only.iter().map(|found| found.kind).collect();
        assert_eq!(only, BTreeSet::from([Kind::Skill, Kind::Arc]));
        store.close().await;
    })
    .await;
}

/// A name says more than a text, however long or short the texts are.
#[tokio::test(flavor = "multi_thread")]
async fn names_come_first() {
    on_each_engine(async |database| {
        let store = open(database).await;
        let filler: String = (0..1_500).map(|at| format!("filler{at} ")).collect();
        for at in 0..10 {
            keep(&store, &part(&format!("other-{at}"), PartType::Goal, "lantern keeper")).await;
            keep(&store, &part(&format!("keeper-{at}"), PartType::Goal, "lantern")).await;
        }
        keep(&store, &part("zz-lantern-keeper", PartType::Goal, &filler)).await;
        keep(&store, &part("yy-lantern", PartType::Goal, &filler)).await;
        let first = async |query: &str, count: usize| -> BTreeSet<String> {
            let items = found(&store, query, &[], 3).await;
            items.into_iter().take(count).map(|found| found.name.to_string()).collect()
        };
        let named = |of: &[&str]| -> BTreeSet<String> { of.iter().map(|of| (*of).to_owned()).collect() };
        assert_eq!(first("lantern", 2).await, named(&["yy-lantern", "zz-lantern-keeper"]));
        assert_eq!(first("lantern keeper", 1).await, named(&["zz-lantern-keeper"]));
        assert_eq!(first("keeper lant", 1).await, named(&["zz-lantern-keeper"]));
        assert_eq!(found(&store, "lantern", &[], 50).await.len(), 22);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_search_fit_together() {
    on_each_engine(async |database| {
        let store = open(database).await;
        for at in 0..9 {
            keep(&store, &part(&format!("code-{at}"), PartType::Goal, "about code")).await;
            keep(&store, &skill(&format!("plain-{at}"))).await;
        }
        // The word is in builtins too: they follow what people keep themselves.
        let whole = found(&store, "code", &[], 200).await;
        let shared = whole.iter().filter(|found| found.scope == Scope::Shared).count();
        assert_eq!(shared, 9);
        assert!(whole.len() > shared, "a builtin is about code");
        assert!(whole[..shared].iter().all(|found| found.scope == Scope::Shared));
        for limit in 1..=whole.len() + 1 {
            assert_eq!(found(&store, "code", &[], limit).await, whole, "{limit} a page");
        }
        let nothing = store.search("zzzzzz", &[], None, None).await.unwrap();
        assert!(nothing.items.is_empty() && nothing.next.is_none());
        let refuses = async |query: &str, cursor: Option<&str>, code: Code| {
            let error = store.search(query, &[], None, cursor).await.unwrap_err();
            assert_eq!(error.code(), code, "{query} {cursor:?}: {error}");
        };
        for cursor in
            ["", "x", "at:", "at:-1", "at:x", "builtin:", "after:code", "at:1;", "at:18446744073709551615"]
        {
            refuses("code", Some(cursor), Code::InvalidCursor).await;
        }
        refuses("builtin", Some("builtin:99999999999999999999"), Code::InvalidCursor).await;
        refuses("", None, Code::Empty).await;
        refuses(" \t", None, Code::Empty).await;
        refuses("?!", None, Code::InvalidValue).await;
        refuses(&"x".repeat(513), None, Code::TooLong).await;
        store.search(&"x ".repeat(256), &[], None, None).await.unwrap();
        store.search(&"x".repeat(512), &[], None, None).await.unwrap();
        store.search("code", &[], None, Some("builtin:9999")).await.unwrap();
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_follows() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep(&store, &part("one", PartType::Goal, "ocelot")).await;
        keep(&store, &Skill { content: Some("ocelot".to_owned()), ..skill("one") }).await;
        let check = async |query: &str, expected: &[&str]| {
            let expected: BTreeSet<String> = expected.iter().map(|of| (*of).to_owned()).collect();
            assert_eq!(shared(&store, query).await, expected, "{query}");
        };
        check("ocelot", &["part one", "skill one"]).await;
        change::<Part>(&store, "one", |part| part.content = Some("pangolin".to_owned())).await;
        check("ocelot", &["skill one"]).await;
        check("pangolin", &["part one"]).await;
        change::<Part>(&store, "one", |part| part.name = name("quokka")).await;
        check("pangolin", &["part quokka"]).await;
        check("quokka", &["part quokka"]).await;
        check("one", &["skill one"]).await;
        change::<Part>(&store, "quokka", |part| part.tags = words(&["wombat"])).await;
        check("wombat", &["part quokka"]).await;
        remove::<Part>(&store, "quokka").await;
        check("pangolin", &[]).await;
        remove::<Skill>(&store, "one").await;
        check("ocelot", &[]).await;
        // A new entity in the place of an old one inherits none of its words.
        keep(&store, &part("quokka", PartType::Goal, "echidna")).await;
        check("quokka", &["part quokka"]).await;
        check("pangolin", &[]).await;
        keep(&store, &arc("way", vec![stage("numbat", 1, &[])])).await;
        change::<CharacterArc>(&store, "way", |arc| arc.stages[0].name = name("bilby")).await;
        check("numbat", &[]).await;
        check("bilby", &["arc way"]).await;
        store.close().await;
    })
    .await;
}

/// Each search is dropped after its first poll, while the engine works on it.
#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_is_cancelled_leaves_the_next_one_whole() {
    on_each_engine(async |database| {
        let store = open(database).await;
        keep_texts(&store).await;
        let expected = found(&store, "code", &[], 50).await;
        for _ in 0..20 {
            let mut search = Box::pin(store.search("code", &[], Some(50), None));
            let _ = futures::poll!(search.as_mut());
            drop(search);
        }
        assert_eq!(found(&store, "code", &[], 50).await, expected);
        keep(&store, &part("coded", PartType::Protocol, "code")).await;
        assert_eq!(found(&store, "code", &[], 50).await.len(), expected.len() + 1, "writing goes on");
        store.close().await;
    })
    .await;
}

/// A word that very many entities have is not ranked in all of them, and the answer says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_very_common_word_is_ranked_in_part() {
    const MATCHES: usize = 10_001;
    on_each_engine(async |database| {
        let store = open(database).await;
        let columns = "agent_parts (id, guid, name, part_type, tags, created_at, updated_at)";
        let time = "'2026-01-01T00:00:00.000000Z'";
        let (script, one_less) = match database.engine {
            "sqlite" => (
                format!(
                    "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MATCHES}) SELECT i FROM n; \
                     INSERT INTO {columns} SELECT i, printf('018f0000-0000-7000-8000-%012d', i), 'n' || i, 'tone', '[]', {time}, {time} FROM n; \
                     INSERT INTO library_search (rowid, name, words) SELECT i * 16 + 1, 'n' || i, 'narwhal' FROM n"
                ),
                "DELETE FROM library_search WHERE rowid = 17",
            ),
            _ => (
                format!(
                    "INSERT INTO {columns} SELECT i, gen_random_uuid(), 'n' || i, 'tone', '{{}}', now(), now() FROM generate_series(1, {MATCHES}) i; \
                     INSERT INTO library_search SELECT 1, i, CAST('narwhal:2D' AS tsvector) FROM generate_series(1, {MATCHES}) i"
                ),
                "DELETE FROM library_search WHERE entity_id = 1",
            ),
        };
        database.execute(&script).await;
        let page = store.search("narwhal", &[], Some(5), None).await.unwrap();
        assert_eq!((page.items.len(), page.ranked), (5, Some(10_000)));
        let next = store.search("narwhal", &[], Some(5), page.next.as_deref()).await.unwrap();
        assert!(next.items.iter().all(|found| !page.items.contains(found)), "{next:?}");

        database.execute(one_less).await;
        let page = store.search("narwhal", &[], Some(5), None).await.unwrap();
        assert_eq!((page.items.len(), page.ranked), (5, None));
        store.close().await;
    })
    .await;
}
