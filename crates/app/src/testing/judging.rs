//! Asking a judge about one expectation.

use fidelity::{Check, Expectation, ExpectationResult, Finding, Judging, Question, Transcript, Votes};
use llm::ModelRef;
use uuid::Uuid;

use super::cache::vote_key;
use super::cell::{Bench, Stop};
use crate::running::{ModelQuestion, NoAnswer};

/// The judge's verdict about the chosen replies of a conversation.
pub(super) async fn judge(
    bench: &Bench<'_>,
    expectation: &Expectation,
    transcript: Transcript<'_>,
) -> Result<ExpectationResult, Stop> {
    let Check::Judged(check) = &expectation.check else {
        return Err(Stop::Failed("the expectation needs no judge".to_owned()));
    };
    let Some(judge) = bench.plan.judge.as_ref() else {
        return Err(Stop::Failed("there is no judge".to_owned()));
    };
    let (mut findings, mut votes) = (Vec::new(), Votes::default());
    for at in transcript.chosen(expectation.on) {
        let question = Question::new(check.clone(), transcript, at);
        let (finding, cast) = ask(bench, judge, Judging::new(question, bench.plan.votes)).await?;
        findings.push(finding);
        votes.merge(cast);
    }
    let mut result = ExpectationResult::new(expectation, Finding::combined(&findings), Some(votes));
    result.self_judged = *judge == bench.column.subject.model;
    Ok(result)
}

async fn ask(bench: &Bench<'_>, judge: &ModelRef, mut judging: Judging) -> Result<(Finding, Votes), Stop> {
    while let Some(vote) = judging.next() {
        let key = vote_key(judge, judging.question(), vote);
        if let Some(known) = bench.cache().vote(&key).await {
            judging.on_vote(known);
            continue;
        }
        let ballot = loop {
            // 122 random bits that no reply can know.
            if let Some(ballot) = judging.question().ballot(&Uuid::new_v4().simple().to_string()) {
                break ballot;
            }
        };
        bench.reserve()?;
        let question = ModelQuestion { model: judge.clone(), system: ballot.system, message: ballot.message };
        let asked = bench.runtime.ask(question, bench.cancel).await;
        bench
            .settle(asked.as_ref().map_or_else(|_| Vec::new(), |answer| vec![(judge.clone(), answer.usage)]));
        match asked {
            Ok(answer) => {
                if let Some(vote) = judging.on_answer(&answer.text) {
                    bench.cache().keep_vote(&key, &bench.column.key, &vote).await;
                }
            }
            Err(NoAnswer::Cancelled) => return Err(Stop::Cancelled),
            Err(NoAnswer::Failed(failure)) => {
                return Err(Stop::Failed(format!("the judge {judge} does not answer: {failure}")));
            }
        }
    }
    Ok(judging.outcome())
}
