//! PostgreSQL only: the schema of a library, beside other programs and other libraries.

use database::Location;
use persona::{AsReport as _, Code, Kind, Part, Persona, Remedy};
use store::{Change, CopiedSessions, Error, HistoryKey, Store};
use testkit::sessions::stock_sessions;
use testkit::{Database, on_postgres};

use crate::samples::{change, keep, name, open, persona, tone};

/// The same database, with a schema named in the address.
fn within(database: &Database, schema: &str) -> Database {
    Database::at(&format!("{}?schema={schema}", database.location))
}

async fn refused(database: &Database) -> Error {
    let opened = Store::open(Location::parse(&database.location).unwrap(), true).await;
    opened.map(|store| format!("{} opened", store.location())).unwrap_err()
}

/// Tables with the schema that has them.
async fn tables(database: &Database) -> Vec<String> {
    let sql = "SELECT concat(schemaname, '.', tablename) FROM pg_tables \
               WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1";
    database.texts(sql).await
}

async fn schemas(database: &Database) -> Vec<String> {
    let sql = "SELECT CAST(nspname AS text) FROM pg_namespace \
               WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' ORDER BY 1";
    database.texts(sql).await
}

async fn found(store: &Store, query: &str) -> Vec<String> {
    let page = store.search(query, &[], None, None).await.unwrap();
    page.items.iter().map(|found| found.name.to_string()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_another_program_in_public_are_left_alone() {
    on_postgres(async |database| {
        let theirs = "CREATE TABLE public.sessions (theirs text); CREATE TABLE public.agent_personas (x int); \
                      CREATE TABLE public.masque_migrations (id uuid); INSERT INTO public.sessions VALUES ('kept')";
        database.execute(theirs).await;
        let store = open(database).await;
        keep(&store, &tone("warm")).await;
        assert!(store.location().to_string().ends_with("?schema=masque"), "{}", store.location());
        assert_eq!(store.info().await.unwrap().location, store.location().to_string());
        store.close().await;
        assert_eq!(database.texts("SELECT theirs FROM public.sessions").await, ["kept"]);
        let in_public: Vec<String> =
            tables(database).await.into_iter().filter(|table| table.starts_with("public.")).collect();
        assert_eq!(in_public, ["public.agent_personas", "public.masque_migrations", "public.sessions"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clash_in_the_chosen_schema_is_an_error_before_anything_is_made() {
    on_postgres(async |database| {
        let theirs = "CREATE TABLE public.sessions (theirs text); CREATE VIEW public.agent_parts AS SELECT 1; \
                      CREATE SCHEMA crew; CREATE TABLE crew.masque_migrations (id uuid)";
        database.execute(theirs).await;
        let before = tables(database).await;
        for (schema, clash) in [("public", "agent_parts sessions"), ("crew", "masque_migrations")] {
            let error = refused(&within(database, schema)).await;
            assert_eq!(error.code(), Code::ForeignDatabase, "{error}");
            assert_eq!(error.remedies(), [Remedy::OtherSchema]);
            let Error::Database(database::Error::ForeignTables { schema: of, tables }) = error else {
                panic!("{error:?}")
            };
            assert_eq!((of.as_str(), tables.join(" ")), (schema, clash.to_owned()));
        }
        assert_eq!(tables(database).await, before);
    })
    .await;
}

/// A library of an earlier version, made in `public`, is used where it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_library_in_public_is_found_whole() {
    on_postgres(async |database| {
        let earlier = within(database, "public");
        let opened = testkit::sessions::open(&earlier).await;
        stock_sessions(&opened.sessions).await;
        opened.close().await;
        let store = open(&earlier).await;
        keep(&store, &tone("warm")).await;
        change::<Part>(&store, "warm", |part| part.content = Some("Purr like a narwhal.".to_owned())).await;
        let sessions = database.texts("SELECT CAST(id AS text) FROM public.sessions ORDER BY id").await;
        store.close().await;
        assert!(!sessions.is_empty());

        let store = open(database).await;
        assert!(store.location().to_string().ends_with("?schema=public"), "{}", store.location());
        let history = store.history(HistoryKey::SHARED, Kind::Part, &name("warm"), 10).await.unwrap();
        assert_eq!(history.len(), 2);
        assert_eq!(found(&store, "narwhal").await, ["warm"]);
        let read = store.engine().texts("SELECT CAST(id AS text) FROM sessions ORDER BY id", &[]).await;
        assert_eq!(read.unwrap(), sessions);
        assert_eq!(schemas(database).await, ["public"], "nothing was made beside it");

        // A copy moves it into a schema of its own, which then counts.
        let target = Location::parse(&within(database, "masque").location).unwrap();
        store.copy_to(&target, CopiedSessions::All, &mut |_| ()).await.unwrap();
        store.close().await;
        let store = open(database).await;
        assert!(store.location().to_string().ends_with("?schema=masque"), "{}", store.location());
        assert_eq!(found(&store, "narwhal").await, ["warm"]);
        store.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_schemas_of_one_database_are_independent() {
    on_postgres(async |database| {
        let (ours, theirs) = (open(database).await, open(&within(database, "crew")).await);
        let mut heard = theirs.changes();
        keep(&ours, &persona("narwhal")).await;
        assert_eq!(found(&ours, "narwhal").await, ["narwhal"]);
        assert_eq!(found(&theirs, "narwhal").await, [""; 0]);
        assert!(theirs.get::<Persona>(&name("narwhal")).await.unwrap().is_none());
        keep(&theirs, &tone("beluga")).await;
        // Its own change is the first one that it hears of.
        let first = tokio::time::timeout(std::time::Duration::from_secs(60), heard.recv()).await;
        let expected = Change::Entity { kind: Kind::Part, name: name("beluga"), listed: true };
        assert_eq!(first.expect("news in time").unwrap(), expected);
        assert_eq!(found(&ours, "beluga").await, [""; 0]);
        ours.close().await;
        theirs.close().await;
        assert_eq!(schemas(database).await, ["crew", "masque", "public"]);
    })
    .await;
}

/// A role that may not make schemas is refused with the statement that helps, which then does.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_without_rights_learns_the_statement() {
    on_postgres(async |database| {
        let role = format!("masque_role_{}", uuid::Uuid::now_v7().simple());
        database
            .execute(&format!(
                "CREATE ROLE {role} LOGIN PASSWORD 'x'; REVOKE CREATE ON SCHEMA public FROM PUBLIC"
            ))
            .await;
        let (_, server) = database.location.split_once("://").unwrap();
        let server = server.split_once('@').map_or(server, |(_, server)| server);
        let theirs = Database::at(&format!("postgres://{role}:x@{server}"));
        let error = refused(&theirs).await;
        assert_eq!(error.code(), Code::SchemaDenied, "{error}");
        let remedies = error.remedies();
        let [Remedy::AskOwner { statement }, Remedy::OtherSchema] = &remedies[..] else {
            panic!("{remedies:?}")
        };
        let existing = refused(&within(&theirs, "public")).await;
        assert_eq!(existing.code(), Code::SchemaDenied, "{existing}");
        assert_eq!(schemas(database).await, ["public"], "nothing was made");

        database.execute(statement).await;
        let store = open(&theirs).await;
        keep(&store, &tone("warm")).await;
        store.close().await;

        // A role that may read but not write learns what to ask for, too.
        let reader = format!("{role}_reader");
        database
            .execute(&format!(
                "CREATE ROLE {reader} LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA masque TO {reader}; \
                 GRANT SELECT ON ALL TABLES IN SCHEMA masque TO {reader}"
            ))
            .await;
        let reading = open(&Database::at(&format!("postgres://{reader}:x@{server}"))).await;
        let error = reading.engine().texts("DELETE FROM agent_parts RETURNING name", &[]).await.unwrap_err();
        let remedies = error.remedies();
        assert!(
            matches!(remedies[..], [Remedy::AskOwner { .. }, Remedy::OtherSchema]),
            "{error}: {remedies:?}"
        );
        reading.close().await;
        database.execute(&format!("DROP OWNED BY {reader}; DROP ROLE {reader}")).await;
        database.execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
    })
    .await;
}

/// The server's message comes without the line of the server's source code.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_the_server_is_its_message_and_its_code() {
    on_postgres(async |database| {
        let store = open(database).await;
        let error = store.engine().texts("SELECT absent FROM sessions", &[]).await.unwrap_err();
        let database::Error::Database(failure) = &error else { panic!("{error:?}") };
        assert_eq!(failure.sqlstate().as_deref(), Some("42703"));
        assert_eq!(error.to_string(), "the database failed: column \"absent\" does not exist");
        store.close().await;
    })
    .await;
}
