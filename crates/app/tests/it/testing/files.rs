//! A persona that wants files of the project gets them in its tests.

use serde_json::json;

use super::{SCRIPT, offered, project, tested};
use crate::running::stage::{on_stage_with, system};

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_file_is_another_question() {
    let wanting = project("{ words = { min = 1 } }")
        .replace("'You are Eve.'", "'You are Eve.'\naggregation_strategy = 'full'");
    on_stage_with(&wanting, SCRIPT, async |stage| {
        let first = tested(stage, json!({})).await;
        let again = tested(stage, json!({})).await;
        assert_eq!((first.cells[0].cached, again.cells[0].cached), (false, true));
        // The question with its files is estimated to be longer than its prompt.
        assert!(first.estimate.tokens > first.cells[0].tokens / 2, "{:?}", first.estimate);
        std::fs::write(stage.root.path().join("notes.txt"), "the answer is 43\n").unwrap();
        let changed = tested(stage, json!({})).await;
        assert!(!changed.cells[0].cached);
        let sent = stage.sent();
        let [before, after] = sent.as_slice() else { panic!("{} calls", sent.len()) };
        assert!(system(before).contains("the answer is 42") && system(after).contains("the answer is 43"));
        // Files bring no tools along.
        assert_eq!(offered(after), Vec::<&str>::new());
    })
    .await;
}
