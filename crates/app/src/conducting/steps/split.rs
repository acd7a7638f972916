//! Lets the tech lead break a ticket down, in plan mode.

use agent::{ApprovalPolicy, DutyRole};
use conductor::{Command, Fault};

use super::{Cast, Job, Matter};
use crate::Result;
use crate::conducting::duties::HandedIn;
use crate::conducting::observing::Watching;
use crate::conducting::opening;
use crate::conducting::worker::{Assignment, Ended, drive};

pub(super) async fn take(
    job: &Job,
    matter: &Matter,
    answer: Option<&str>,
    cast: Cast,
) -> Result<Option<Command>> {
    let ticket = matter.ticket.clone();
    let place = job.place(matter).await?;
    let number = matter.key.number;
    let message = match answer {
        Some(answer) => opening::answer(number as usize, answer),
        None => opening::split(&matter.rules, &matter.progress.ticket, &super::handover(&matter.progress)),
    };
    let assignment = Assignment {
        session: cast.session,
        duty: matter.duty(job.log.id, DutyRole::Split),
        persona: cast.persona,
        model: cast.model,
        root: place.root.to_str().map(str::to_owned),
        policy: ApprovalPolicy::Read,
        message,
    };
    let ended = drive(job, &assignment, &mut Watching::of_reader()).await?;
    Ok(match ended {
        Ended::HandedIn(HandedIn::Pieces(tickets)) => Some(Command::Split { ticket, tickets }),
        Ended::HandedIn(HandedIn::Question(question) | HandedIn::Blocked(question)) => {
            Some(Command::Ask { ticket, attempt: number, question })
        }
        Ended::HandedIn(_) => Some(matter.failed(Fault::NoSubmission)),
        Ended::Fault(fault) => Some(matter.failed(fault)),
        Ended::Stopped => None,
    })
}
