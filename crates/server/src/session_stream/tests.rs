use futures::StreamExt as _;
use std::sync::Mutex;

use app::running::EventId;
use futures::channel::mpsc;

use super::*;

fn reported(seq: i64, delta: u32, event: Event) -> Arc<Reported> {
    Arc::new(Reported { id: EventId { seq, delta }, event })
}

fn delta(number: u32, content: &str) -> app::Result<Arc<Reported>> {
    Ok(reported(1, number, Event::TextDelta { content: content.to_owned() }))
}

fn pieces(
    interval: Duration,
    opening: Opening,
) -> (mpsc::UnboundedSender<app::Result<Arc<Reported>>>, impl Stream<Item = Result<Bytes, Infallible>> + Unpin)
{
    let (sender, heard) = mpsc::unbounded();
    (sender, Pieces::new(heard, Form::Session, opening, interval))
}

async fn next(pieces: &mut (impl Stream<Item = Result<Bytes, Infallible>> + Unpin)) -> Option<String> {
    let Ok(bytes) = pieces.next().await?;
    Some(String::from_utf8(bytes.to_vec()).expect("text"))
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn ready_events_are_sent_as_one_piece() {
    let (sender, mut pieces) = pieces(LONG, Opening::Plain);
    for (number, content) in ["one", "two\nlines", "\u{2028}"].into_iter().enumerate() {
        sender.unbounded_send(delta(number as u32, content)).expect("heard");
    }
    let expected = "id: 1\nevent: text_delta\ndata: {\"type\":\"text_delta\",\"content\":\"one\"}\n\n\
                    id: 1.1\nevent: text_delta\ndata: {\"type\":\"text_delta\",\"content\":\"two\\nlines\"}\n\n\
                    id: 1.2\nevent: text_delta\ndata: {\"type\":\"text_delta\",\"content\":\"\u{2028}\"}\n\n";
    assert_eq!(next(&mut pieces).await.as_deref(), Some(expected));
    sender.unbounded_send(delta(3, "three")).expect("heard");
    assert!(next(&mut pieces).await.expect("a piece").starts_with("id: 1.3\n"));
    drop(sender);
    assert_eq!(next(&mut pieces).await, None);
}

#[tokio::test]
async fn a_piece_is_bounded() {
    let (sender, mut pieces) = pieces(LONG, Opening::Plain);
    let content = "x".repeat(SESSION_PIECE_BYTES / 2);
    for number in 0..6 {
        sender.unbounded_send(delta(number, &content)).expect("heard");
    }
    drop(sender);
    let mut counts = Vec::new();
    while let Some(piece) = next(&mut pieces).await {
        counts.push(piece.matches("id: ").count());
    }
    assert_eq!(counts, [2, 2, 2]);
}

#[tokio::test]
async fn a_resumable_stream_begins_with_its_retry_time() {
    let (_sender, mut pieces) = pieces(LONG, Opening::Resumable);
    assert_eq!(next(&mut pieces).await.as_deref(), Some("retry: 2000\n\n"));
}

#[tokio::test]
async fn only_silence_is_filled_with_comments() {
    let interval = Duration::from_millis(80);
    let (sender, mut pieces) = pieces(interval, Opening::Plain);
    let began = Instant::now();
    assert_eq!(next(&mut pieces).await.as_deref(), Some(": still here\n\n"));
    assert!(began.elapsed() >= interval);
    tokio::time::sleep(interval / 2).await;
    sender.unbounded_send(delta(1, "one")).expect("heard");
    assert!(next(&mut pieces).await.expect("a piece").contains("one"));
    let spoke = Instant::now();
    assert_eq!(next(&mut pieces).await.as_deref(), Some(": still here\n\n"));
    assert!(spoke.elapsed() >= interval - Duration::from_millis(2), "counted from the last event");
}

#[tokio::test]
async fn a_failure_ends_the_stream_with_an_error() {
    let (sender, mut pieces) = pieces(LONG, Opening::Plain);
    sender.unbounded_send(delta(1, "one")).expect("heard");
    sender.unbounded_send(Err(app::SessionError::NoProject.into())).expect("heard");
    sender.unbounded_send(delta(2, "never")).expect("heard");
    let piece = next(&mut pieces).await.expect("a piece");
    let (before, last) = piece.split_once("event: error\n").expect("an error");
    assert!(before.starts_with("id: 1.1\n") && before.matches("id: ").count() == 1, "{piece}");
    assert!(last.contains("\"code\":\"storage\"") && last.contains("no project is open"), "{last}");
    assert_eq!(next(&mut pieces).await, None);
}

/// A client that leaves frees its subscription.
#[tokio::test]
async fn a_dropped_stream_drops_its_source() {
    let held = Arc::new(Mutex::new(()));
    let kept = Arc::clone(&held);
    let heard = futures::stream::unfold(kept, |kept| async move {
        std::future::pending::<()>().await;
        Some((delta(1, "never"), kept))
    });
    let mut pieces = Pieces::new(heard, Form::Session, Opening::Plain, LONG);
    let first = timeout(Duration::from_millis(20), pieces.next()).await;
    assert!(first.is_err(), "nothing is sent");
    assert_eq!(Arc::strong_count(&held), 2);
    drop(pieces);
    assert_eq!(Arc::strong_count(&held), 1);
}

/// A chat has the data of its six events and nothing else, and never ends silently.
#[tokio::test]
async fn a_chat_is_bare() {
    let chat = || {
        let (sender, heard) = mpsc::unbounded();
        (sender, Pieces::new(heard, Form::Chat(ChatEvents::default()), Opening::Plain, LONG))
    };
    let done = || Ok(reported(2, 0, Event::Done { stop_reason: agent::End::EndTurn }));
    let (sender, mut pieces) = chat();
    sender.unbounded_send(Ok(reported(1, 0, Event::ModeChanged { mode: agent::Mode::Plan }))).expect("heard");
    sender.unbounded_send(delta(1, "one")).expect("heard");
    sender.unbounded_send(done()).expect("heard");
    drop(sender);
    let expected = "data: {\"type\":\"text_delta\",\"content\":\"one\"}\n\ndata: {\"type\":\"done\"}\n\n";
    assert_eq!(next(&mut pieces).await.as_deref(), Some(expected));
    assert_eq!(next(&mut pieces).await, None);

    let (sender, mut pieces) = chat();
    drop(sender);
    assert!(next(&mut pieces).await.expect("a piece").starts_with("data: {\"type\":\"error\""));
    let (sender, mut pieces) = chat();
    sender.unbounded_send(Err(app::SessionError::NoProject.into())).expect("heard");
    let piece = next(&mut pieces).await.expect("a piece");
    assert!(
        piece.starts_with("data: {\"type\":\"error\"") && piece.matches("data: ").count() == 1,
        "{piece}"
    );
    assert_eq!(next(&mut pieces).await, None);
}
