//! Pays for the calls of models that work for a track: what a call may cost at worst is reserved before it is
//! made, and settled after.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use agent::Duty;
use chrono::Utc;
use conductor::{
    Account, Cap, CapUnit, Caps, Charge, Command, Fault, Model as ModelName, Money, Spent, TicketId,
};
use futures::{FutureExt as _, Stream, StreamExt as _, stream};
use llm::{EventStream, Failure, FailureKind, Model, ModelRef, Price, Provider, ReplyEvent, Request, Usage};
use tokio::task::JoinHandle;
use tracks::{Reservation, Reserved};
use uuid::Uuid;

use super::AtWork;
use crate::Runtime;
use crate::running::input_tokens;

/// Tokens of a reply under a cap, unless the persona asks for fewer: a reply without a bound could cost any
/// amount.
const REPLY_TOKENS: u32 = 8_192;
/// Tokens that a provider may count more than this process, and one part in so many of the input.
const MARGIN_TOKENS: u64 = 256;
const MARGIN_PART: u64 = 4;
/// Warns at this many hundredths of a cap.
const WARN_AT: u64 = 80;

/// What pays for the calls of one session.
#[derive(Debug)]
pub(crate) struct Till {
    runtime: Runtime,
    session: Uuid,
    duty: Duty,
    /// Calls that are being settled. The next one waits for them, so that it finds the room that they leave.
    settling: Mutex<Vec<JoinHandle<()>>>,
}

impl Till {
    pub(crate) fn new(runtime: Runtime, session: Uuid, duty: Duty) -> Self {
        Self { runtime, session, duty, settling: Mutex::default() }
    }

    /// Reserves a call. `None` if no step pays for the session: a person goes on with it by hand.
    async fn begin(
        self: &Arc<Self>,
        request: &mut Request,
        model: &ModelRef,
    ) -> Result<Option<PaidCall>, Failure> {
        let settling = std::mem::take(&mut *self.settling.lock().unwrap_or_else(PoisonError::into_inner));
        for settled in settling {
            let _ = settled.await;
        }
        let Some(work) = self.runtime.conducting().at_work(self.session) else { return Ok(None) };
        let caps = work.log.look(|conduct| caps_of(conduct, &self.duty)).await;
        let caps = caps.map_err(|error| broken(&error))?;
        if caps != Caps::default() {
            request.sampling.max_output_tokens.get_or_insert(REPLY_TOKENS);
        }
        let price = self.runtime.price(model);
        let most = request.sampling.max_output_tokens.unwrap_or(REPLY_TOKENS);
        let input = input_tokens(request);
        let usage = Usage {
            input_tokens: input + input / MARGIN_PART + MARGIN_TOKENS,
            output_tokens: u64::from(most),
            ..Usage::default()
        };
        let worst = charge(usage, price);
        let id = Uuid::now_v7();
        let day = Utc::now().format("%Y-%m-%d").to_string();
        let fence = work.fence.clone();
        let reservation = Reservation { id, fence, day, charge: worst, caps };
        let fault = match self.runtime.conducting().tracks.reserve(&reservation).await {
            Ok(Reserved::Granted) => {
                let till = Arc::clone(self);
                return Ok(Some(PaidCall {
                    till,
                    work,
                    reservation,
                    price,
                    has_begun: false,
                    is_settled: false,
                }));
            }
            Ok(Reserved::Reached { account, unit }) => Fault::Cap { account, unit },
            Ok(Reserved::Unpriced { .. }) => match ModelName::parse(&model.to_string()) {
                Ok(model) => Fault::Unpriced { model },
                Err(error) => return Err(refused(&error.to_string())),
            },
            // The session goes on under another claim.
            Ok(Reserved::Known { .. } | Reserved::Fenced) => {
                return Err(refused("the ticket was taken over"));
            }
            Err(error) => return Err(broken(&error)),
        };
        let message = super::wording::fault(&fault);
        self.runtime.conducting().set_fault(self.session, fault);
        Err(refused(&message))
    }
}

/// The caps of a session's ticket, its track and the day.
fn caps_of(conduct: &conductor::Conduct, duty: &Duty) -> Caps {
    let id = duty.ticket.as_deref().and_then(|id| TicketId::parse(id).ok());
    let ticket = id.and_then(|id| conduct.ticket(&id)).map(|progress| conduct.cap_of(&progress.ticket));
    Caps { ticket: ticket.unwrap_or_default(), track: conduct.track_cap(), day: conduct.day_cap() }
}

fn refused(message: &str) -> Failure {
    Failure::new(FailureKind::Rejected, message)
}

fn broken(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Rejected, format!("the call could not be paid for: {error}"))
}

fn charge(usage: Usage, price: Option<Price>) -> Charge {
    let cost = price.and_then(|price| Money::from_units(price.of(usage)));
    Charge { tokens: usage.input_tokens.saturating_add(usage.output_tokens), cost }
}

/// A reserved call. It is settled once, however it ends.
struct PaidCall {
    till: Arc<Till>,
    work: AtWork,
    reservation: Reservation,
    price: Option<Price>,
    /// True once the model has said something.
    has_begun: bool,
    is_settled: bool,
}

impl PaidCall {
    fn settle(&mut self, charge: Charge) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        let (runtime, work, reservation) =
            (self.till.runtime.clone(), self.work.clone(), self.reservation.clone());
        let settled = tokio::spawn(async move {
            if let Err(error) = runtime.conducting().tracks.settle(reservation.id, charge).await {
                tracing::warn!(%error, "a call of a model stays paid for at worst");
                return;
            }
            if reservation.caps != Caps::default()
                && let Err(error) = warn(&runtime, &work, &reservation).await
            {
                tracing::warn!(%error, "it is not known whether a cap is close");
            }
        });
        self.till.settling.lock().unwrap_or_else(PoisonError::into_inner).push(settled);
    }

    /// Settles a call that has no usage: an answer that broke off costs what was reserved, none costs nothing.
    fn break_off(&mut self) {
        let nothing = Charge { tokens: 0, cost: Some(Money::ZERO) };
        self.settle(if self.has_begun { self.reservation.charge } else { nothing });
    }

    fn on_event(&mut self, event: &Result<ReplyEvent, Failure>) {
        match event {
            Ok(ReplyEvent::Finished { usage, .. }) => self.settle(charge(*usage, self.price)),
            Ok(ReplyEvent::Started { .. }) => {}
            Ok(_) => self.has_begun = true,
            Err(_) => self.break_off(),
        }
    }
}

impl Drop for PaidCall {
    fn drop(&mut self) {
        self.break_off();
    }
}

/// Warns about the accounts that are close to their caps.
async fn warn(runtime: &Runtime, work: &AtWork, reservation: &Reservation) -> crate::Result<()> {
    let accounts = runtime.conducting().tracks.spent(work.log.id).await?;
    let (caps, day) = (reservation.caps, &reservation.day);
    let ticket = reservation.fence.ticket.clone();
    let of_ticket = accounts.tickets.iter().find(|(id, _)| Some(id) == ticket.as_ref());
    let of_day = accounts.days.iter().find(|(found, _)| found == day);
    let all = [
        (Some(Account::Track), caps.track, Some(accounts.track)),
        (
            ticket.map(|ticket| Account::Ticket { ticket }),
            caps.ticket,
            of_ticket.map(|(_, balance)| *balance),
        ),
        (Some(Account::Day { day: day.clone() }), caps.day, of_day.map(|(_, balance)| *balance)),
    ];
    for (account, cap, balance) in all {
        let (Some(account), Some(balance)) = (account, balance) else { continue };
        for unit in close(cap, balance.spent) {
            let command = Command::WarnCap { account: account.clone(), unit };
            work.log.say(&command, Some(&work.fence)).await?;
        }
    }
    Ok(())
}

/// The units in which a sum is close to its cap.
fn close(cap: Cap, spent: Spent) -> Vec<CapUnit> {
    let is_close = |spent: u64, cap: u64| spent.saturating_mul(100) >= cap.saturating_mul(WARN_AT);
    let tokens = cap.tokens.filter(|most| is_close(spent.tokens, *most)).map(|_| CapUnit::Tokens);
    let cost = cap.cost.filter(|most| is_close(spent.cost.micros(), most.micros())).map(|_| CapUnit::Cost);
    tokens.into_iter().chain(cost).collect()
}

/// A provider whose calls a till pays for.
#[derive(Debug)]
struct Paid {
    provider: Arc<dyn Provider>,
    model: ModelRef,
    till: Arc<Till>,
}

/// Has a till pay for the calls of a provider's model.
pub(crate) fn paid(provider: Arc<dyn Provider>, model: ModelRef, till: &Arc<Till>) -> Arc<dyn Provider> {
    Arc::new(Paid { provider, model, till: Arc::clone(till) })
}

impl Provider for Paid {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn stream(&self, mut request: Request) -> EventStream {
        let (provider, model, till) =
            (Arc::clone(&self.provider), self.model.clone(), Arc::clone(&self.till));
        let reply = async move {
            match till.begin(&mut request, &model).await {
                Ok(None) => provider.stream(request).left_stream(),
                Ok(Some(call)) => {
                    Settled { stream: provider.stream(request), call }.left_stream().right_stream()
                }
                Err(failure) => stream::once(std::future::ready(Err(failure))).right_stream().right_stream(),
            }
        };
        Box::pin(reply.flatten_stream())
    }

    fn models(&self) -> Pin<Box<dyn Future<Output = Result<Vec<Model>, Failure>> + Send + '_>> {
        self.provider.models()
    }

    fn context_tokens(&self, model: &str) -> Option<u32> {
        self.provider.context_tokens(model)
    }
}

/// A reply that settles its call.
struct Settled {
    stream: EventStream,
    call: PaidCall,
}

impl Stream for Settled {
    type Item = Result<ReplyEvent, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.stream.as_mut().poll_next(context));
        if let Some(event) = &event {
            self.call.on_event(event);
        }
        Poll::Ready(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_close_at_four_fifths() {
        let cap = Cap { tokens: Some(100), cost: Some(Money::from_micros(1_000)) };
        let spent = |tokens, micros| Spent { tokens, cost: Money::from_micros(micros), unpriced_tokens: 0 };
        assert_eq!(close(cap, spent(79, 799)), []);
        assert_eq!(close(cap, spent(80, 799)), [CapUnit::Tokens]);
        assert_eq!(close(cap, spent(100, 800)), [CapUnit::Tokens, CapUnit::Cost]);
        assert_eq!(close(Cap::default(), spent(100, 800)), []);
    }
}
