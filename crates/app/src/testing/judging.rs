//! Asking a judge about one expectation.

use std::sync::{Arc, LazyLock};

use fidelity::{
    Answerer, Check, Expectation, ExpectationResult, Finding, Judging, Question, Transcript, Votes,
    is_same_model,
};
use llm::{ModelRef, OutputSchema, Schema};
use uuid::Uuid;

use super::cache::vote_key;
use super::cell::{Bench, Stop};
use crate::running::{ModelQuestion, NoAnswer};

static ANSWER_SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::new(fidelity::answer_schema()));

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
    let (subject, judge_name) = (bench.column.subject.model.to_string(), judge.to_string());
    let (mut findings, mut votes, mut self_judged) = (Vec::new(), Votes::default(), false);
    for at in transcript.chosen(expectation.on) {
        let question = Question::new(check.clone(), transcript, at);
        let judging = ask(bench, judge, Judging::new(question, bench.plan.votes)).await?;
        let (finding, cast) = judging.outcome();
        let served = transcript.exchanges.get(at).and_then(|exchange| exchange.model.as_deref());
        let subject = Answerer { configured: &subject, served };
        self_judged |= judging
            .models()
            .any(|served| is_same_model(subject, Answerer { configured: &judge_name, served }));
        findings.push(finding);
        votes.merge(cast);
    }
    let mut result = ExpectationResult::new(expectation, Finding::combined(&findings), Some(votes));
    result.self_judged = self_judged;
    Ok(result)
}

/// Asks until every vote is cast.
async fn ask(bench: &Bench<'_>, judge: &ModelRef, mut judging: Judging) -> Result<Judging, Stop> {
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
        let question = ModelQuestion {
            model: judge.clone(),
            system: ballot.system,
            message: ballot.message,
            output: OutputSchema {
                name: fidelity::ANSWER_NAME.to_owned(),
                schema: Schema::clone(&ANSWER_SCHEMA),
            },
            seed: judging.seed(),
            meter: Some(Arc::clone(&bench.judge)),
        };
        let asked = bench.runtime.ask(question, bench.cancel).await;
        if let Some(cap) = bench.judge.refused() {
            return Err(Stop::Budget(cap));
        }
        match asked {
            Ok(answer) => {
                let served = bench.judge.take_served();
                if let Some(vote) = judging.on_answer(&answer.text, served.as_deref()) {
                    bench.cache().keep_vote(&key, &bench.column.key, &vote).await;
                }
            }
            Err(NoAnswer::Cancelled) => return Err(Stop::Cancelled),
            Err(NoAnswer::Failed(failure)) => {
                return Err(Stop::Failed(format!("the judge {judge} does not answer: {failure}")));
            }
        }
    }
    Ok(judging)
}
