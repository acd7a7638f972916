//! PostgreSQL only: what goes over the wire, watched from a proxy between store and server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use database::Location;
use persona::{AsReport as _, PartType, Persona, Remedy, Scope};
use scopes::{Overrides, Scopes};
use store::Store;
use testkit::{Files, on_postgres};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::samples::{extending, full_persona, keep, keep_pieces, name, tone};

/// The types of the messages that each connection sent, as letters: `B` binds, `E` executes, `P`
/// prepares, `S` ends a round trip.
type Sent = Arc<Mutex<Vec<String>>>;

/// Listens on a port of its own and hands everything on.
async fn watched(location: &str) -> (String, Sent) {
    proxied(location, |_| ()).await
}

/// The same, with the message that opens a connection changed on its way.
async fn proxied(location: &str, change: fn(&mut Vec<u8>)) -> (String, Sent) {
    let (start, database) = location.rsplit_once('/').unwrap();
    let (user, server) = start.trim_start_matches("postgres://").rsplit_once('@').unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let sent = Sent::default();
    let (server, seen) = (server.to_owned(), sent.clone());
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = TcpStream::connect(&server).await else { return };
            for side in [&client, &server] {
                let _ = side.set_nodelay(true);
            }
            let number = {
                let mut seen = seen.lock().unwrap();
                seen.push(String::new());
                seen.len() - 1
            };
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            tokio::spawn(hand_back(from_server, to_client));
            tokio::spawn(hand_on(from_client, to_server, seen.clone(), number, change));
        }
    });
    // Encryption would hide what is sent.
    (format!("postgres://{user}@127.0.0.1:{port}/{database}?sslmode=disable"), sent)
}

async fn hand_back(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let _ = tokio::io::copy(&mut from, &mut to).await;
}

/// Hands on message by message. The first one, which opens the connection, has no type.
async fn hand_on(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    sent: Sent,
    number: usize,
    change: fn(&mut Vec<u8>),
) {
    let mut opened = false;
    loop {
        let mut message = Vec::new();
        if opened {
            let Ok(kind) = from.read_u8().await else { return };
            message.push(kind);
            sent.lock().unwrap()[number].push(char::from(kind));
        }
        let is_first = !std::mem::replace(&mut opened, true);
        let Ok(length) = from.read_u32().await else { return };
        message.extend(length.to_be_bytes());
        let mut body = vec![0; length as usize - 4];
        if from.read_exact(&mut body).await.is_err() {
            return;
        }
        if is_first {
            change(&mut body);
        }
        message.extend(body);
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}

/// The messages of each connection during an action, if it executes anything.
async fn news(sent: &Sent, act: impl AsyncFn()) -> Vec<String> {
    let before = sent.lock().unwrap().clone();
    act().await;
    // The connection goes back to its pool, which asks whether it is well.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let after = sent.lock().unwrap().clone();
    let news = after.iter().enumerate().map(|(at, all)| {
        let known = before.get(at).map_or(0, String::len);
        all[known..].to_owned()
    });
    news.filter(|sent| sent.contains('E')).collect()
}

/// Does something a dozen times: it is one statement, in one round trip.
async fn is_one_round_trip(sent: &Sent, act: impl AsyncFn()) {
    let mut rounds = Vec::new();
    for _ in 0..12 {
        rounds.push(news(sent, &act).await);
    }
    // The statement is prepared once on each connection; from then on it is bound and executed.
    let bound: Vec<&String> = rounds.iter().flatten().filter(|sent| !sent.contains('P')).collect();
    assert!(bound.len() > 5, "{rounds:?}");
    assert!(rounds.iter().all(|round| round.len() == 1), "one connection: {rounds:?}");
    for sent in bound {
        assert_eq!(sent.matches('E').count(), 1, "one statement: {rounds:?}");
        let (first, _) = sent.split_once('S').unwrap();
        assert!(first.contains('E'), "it is executed in the first round trip: {rounds:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_is_one_round_trip() {
    on_postgres(async |database| {
        let (location, sent) = watched(&database.location).await;
        let store = Store::open(Location::parse(&location).unwrap(), true).await.unwrap();
        keep_pieces(&store).await;
        keep(&store, &full_persona("guide")).await;
        keep(&store, &extending("heir", "guide")).await;
        keep(&store, &extending("leaf", "heir")).await;
        keep(&store, &tone("stern")).await;
        // With an override, so that no cache answers.
        let critic = builtins::of::<Persona>()[&name("critic")].parts.len();
        for (of, parts, bases) in [("guide", 2, 1), ("leaf", 0, 3), ("critic", critic, 0)] {
            is_one_round_trip(&sent, async || {
                let loaded = store.load(&name(of), &[&name("stern")]).await.unwrap().unwrap();
                assert_eq!(
                    (loaded.bundle.parts.len(), loaded.bundle.override_parts.len()),
                    (parts, 1),
                    "{of}"
                );
                assert_eq!(loaded.bundle.bases.len(), bases, "{of}");
            })
            .await;
        }

        // A cached persona costs none.
        for of in ["guide", "leaf"] {
            crate::samples::settle(&store, of).await;
            let sent = news(&sent, async || {
                for _ in 0..20 {
                    store.load(&name(of), &[]).await.unwrap().unwrap();
                }
            })
            .await;
            assert!(sent.is_empty(), "{of}: {sent:?}");
        }
        store.close().await;
    })
    .await;
}

/// A persona of a file asks the server once for all that the files do not have, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_load_from_a_file_is_one_round_trip() {
    on_postgres(async |database| {
        let (location, sent) = watched(&database.location).await;
        let store = Store::open(Location::parse(&location).unwrap(), true).await.unwrap();
        keep_pieces(&store).await;
        keep(&store, &full_persona("guide")).await;
        keep(&store, &extending("heir", "guide")).await;
        keep(&store, &tone("stern")).await;
        let files = Files::new();
        files.write(
            Scope::Project,
            "[personas.here]\nextends = \"heir\"\nparts = [\"own\", \"warm\"]\ntraits = [\"bold\"]\n\
             [personas.alone]\nparts = [\"own\"]\n[parts.own]\npart_type = \"goal\"\ncontent = \"x\"\n",
        );
        let scopes = Scopes::open(store, files.scopes(&files.local_apart())).await.unwrap();
        let overrides = Overrides::from([(PartType::Tone, name("stern"))]);
        is_one_round_trip(&sent, async || {
            let loaded = scopes.load(&name("here"), None, &overrides).await.unwrap().unwrap();
            assert_eq!((loaded.bundle.parts.len(), loaded.bundle.traits.len()), (2, 1));
            assert_eq!((loaded.bundle.bases.len(), loaded.bundle.override_parts.len()), (3, 1));
            assert!(loaded.bundle.stage.is_some(), "inherited");
        })
        .await;
        let none = news(&sent, async || {
            for _ in 0..5 {
                scopes.load(&name("alone"), Some(Scope::Project), &Overrides::new()).await.unwrap().unwrap();
            }
        })
        .await;
        assert!(none.is_empty(), "{none:?}");
        scopes.close().await;
    })
    .await;
}

/// A pooler may drop the path of a connection. The tables of another schema must not be taken for ours.
#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_gets_lost_on_the_way_is_an_error() {
    on_postgres(async |database| {
        let (location, _) = proxied(&database.location, |opening| {
            let path = b"search_path=\"masque\"";
            let at = opening.windows(path.len()).position(|window| window == path);
            at.into_iter()
                .for_each(|at| opening[at..at + path.len()].copy_from_slice(b"application_name=xyz"));
        })
        .await;
        let opened = Store::open(Location::parse(&location).unwrap(), true).await;
        let error = opened.map(|_| "it opened").unwrap_err();
        assert_eq!(error.remedies(), [Remedy::PassSearchPath], "{error}");
        assert_eq!(
            database.texts("SELECT CAST(tablename AS text) FROM pg_tables WHERE schemaname = 'public'").await,
            [""; 0]
        );
    })
    .await;
}
