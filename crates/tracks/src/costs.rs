//! Calls of models: what each may cost at worst is reserved before it is sent, and settled after.
//!
//! The sums of the track, the ticket and the day change in the transaction of the call's own row, and always
//! in that order, so that calls at the same time wait for each other instead of meeting.

use chrono::{DateTime, Utc};
use conductor::{Account, CapUnit, Caps, Charge, Money, TicketId};
use database::{BuiltStatement, Column, Dialect, Parameter, Statement, now};
use serde::Deserialize;
use uuid::Uuid;

use crate::accounts::{Amount, add, refused};
use crate::claims::ticket_word;
use crate::work::locked;
use crate::{CALL_MICROS, CALL_TOKENS, Fence, OPEN_RESERVATIONS, Result, Tracks, Work, int};

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// The identity of the call: reserved again under the same claim, it counts once.
    pub id: Uuid,
    /// The claim of the ticket that the call is for.
    pub fence: Fence,
    /// The current day in UTC, as `2026-11-18`.
    pub day: String,
    /// The most that the call may cost.
    pub charge: Charge,
    /// The caps of the ticket, the track and the day.
    pub caps: Caps,
}

/// The outcome of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reserved {
    /// The call may be made.
    Granted,
    /// The call could exceed a cap. Nothing was reserved.
    Reached { account: Account, unit: CapUnit },
    /// The price of the model is not known, and the account has a cap in money. Nothing was reserved.
    Unpriced { account: Account },
    /// The call was reserved before, and may have been made: it is settled, abandoned, or of another claim.
    Known { state: CallState, charge: Charge },
    /// The claim ended, or another process has it.
    Fenced,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It is under way, and counts at worst.
    Reserved,
    /// It counts at its cost.
    Settled,
    /// Its worker was gone before it was settled. It counts at worst until it is settled after all.
    Unknown,
}

/// A call that is not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReservation {
    pub id: Uuid,
    /// The claim under which it was reserved.
    pub fence: Fence,
    pub day: String,
    pub state: CallState,
    pub charge: Charge,
    pub created_at: DateTime<Utc>,
}

/// A row of a call.
#[derive(Debug, Deserialize)]
struct Call {
    id: Uuid,
    track: Uuid,
    ticket: String,
    day: String,
    token: i64,
    tokens: u64,
    cost_micros: Option<u64>,
    state: CallState,
    created_at: DateTime<Utc>,
}

impl Call {
    fn charge(&self) -> Charge {
        Charge { tokens: self.tokens, cost: self.cost_micros.map(Money::from_micros) }
    }

    /// `None` for a row that this version does not write.
    fn ticket(&self) -> Option<Option<TicketId>> {
        let ticket = Some(self.ticket.as_str()).filter(|ticket| !ticket.is_empty());
        ticket.map(TicketId::parse).transpose().ok()
    }

    fn is_of(&self, fence: &Fence) -> bool {
        let ticket = ticket_word(fence.ticket.as_ref());
        (self.track, self.token) == (fence.track, fence.token) && self.ticket == ticket
    }
}

/// A call `c` as [`Call`] reads it.
fn call(dialect: Dialect) -> String {
    let call = dialect.object(&[
        ("id", "c.id".to_owned()),
        ("track", "c.track_id".to_owned()),
        ("ticket", "c.ticket".to_owned()),
        ("day", "c.day".to_owned()),
        ("token", "c.token".to_owned()),
        ("tokens", "c.tokens".to_owned()),
        ("cost_micros", "c.cost_micros".to_owned()),
        ("state", "c.state".to_owned()),
        ("created_at", dialect.json_value("c.created_at", Column::Time)),
    ]);
    format!("SELECT {} FROM masque_track_costs c", dialect.text(&call))
}

static CALL: BuiltStatement =
    BuiltStatement::new(|| Statement::new(|dialect| format!("{} WHERE c.id = $1", call(dialect))));

static LOCKED_CALL: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| format!("{} WHERE c.id = $1{}", call(dialect), locked(dialect, "UPDATE")))
});

static OPEN: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        format!(
            "{} WHERE c.track_id = $1 AND c.state <> 'settled' ORDER BY c.created_at, c.id \
             LIMIT {OPEN_RESERVATIONS}",
            call(dialect)
        )
    })
});

const RESERVE: &str = "INSERT INTO masque_track_costs \
                       (track_id, ticket, token, id, day, tokens, cost_micros, state, created_at) \
                       VALUES ($1, $2, $3, $4, $5, $6, $7, 'reserved', $8) ON CONFLICT (id) DO NOTHING";
const SETTLE: &str = "UPDATE masque_track_costs SET tokens = $1, cost_micros = $2, state = 'settled', \
                      settled_at = $3 WHERE id = $4";
const ABANDON: &str = "UPDATE masque_track_costs SET state = 'unknown' \
                       WHERE track_id = $1 AND ticket = $2 AND token < $3 AND state = 'reserved'";

impl Tracks {
    /// Reserves what a call may cost at worst, if the ticket, the track and the day all have room for it.
    pub async fn reserve(&self, reservation: &Reservation) -> Result<Reserved> {
        let Reservation { id, fence, day, .. } = reservation;
        let charge = bounded(reservation.charge);
        let mut values = fence.values().to_vec();
        values.extend([Parameter::Uuid(*id), Parameter::from(day.as_str())]);
        values.extend(charge_values(charge));
        values.push(Parameter::Time(now()));
        let mut work = Work::begin(self).await?;
        if !work.hold(fence.track).await? || !work.holds(fence).await? {
            return Ok(Reserved::Fenced);
        }
        if work.run(RESERVE, &values).await? == 0 {
            let known: Option<Call> = work.row(&CALL, &[Parameter::Uuid(*id)]).await?;
            return Ok(match known {
                Some(call) if call.state == CallState::Reserved && call.is_of(fence) => Reserved::Granted,
                Some(call) => Reserved::Known { state: call.state, charge: call.charge() },
                None => Reserved::Fenced,
            });
        }
        let ticket = ticket_word(fence.ticket.as_ref());
        let sums = add(&mut work, fence.track, ticket, day, charge.into()).await?;
        if let Some(refused) = refused(&sums, reservation) {
            return Ok(refused);
        }
        work.commit().await?;
        Ok(Reserved::Granted)
    }

    /// Replaces what was reserved for a call with what it cost, also if its claim has ended meanwhile. A call
    /// that was never sent cost nothing. Returns what counts: a call is settled once. `None` if there is no
    /// such call, or its track was deleted.
    pub async fn settle(&self, id: Uuid, charge: Charge) -> Result<Option<Charge>> {
        let charge = bounded(charge);
        let key = [Parameter::Uuid(id)];
        let mut work = Work::begin(self).await?;
        let Some(found) = work.row::<Call>(&CALL, &key).await? else { return Ok(None) };
        if !work.hold(found.track).await? {
            return Ok(None);
        }
        let Some(call) = work.row::<Call>(&LOCKED_CALL, &key).await? else { return Ok(None) };
        if call.state == CallState::Settled {
            return Ok(Some(call.charge()));
        }
        let [tokens, micros] = charge_values(charge);
        work.run(SETTLE, &[tokens, micros, Parameter::Time(now()), Parameter::Uuid(id)]).await?;
        let difference = Amount::from(charge).minus(call.charge().into());
        add(&mut work, call.track, &call.ticket, &call.day, difference).await?;
        work.commit().await?;
        Ok(Some(charge))
    }

    /// Gives back what was reserved for a call that was never sent.
    pub async fn release_reservation(&self, id: Uuid) -> Result<Option<Charge>> {
        self.settle(id, Charge { tokens: 0, cost: Some(Money::ZERO) }).await
    }

    /// Calls of a track that are not settled, the oldest first, at most 1,000. Those of an earlier claim of
    /// their ticket have lost their worker; they count at worst.
    pub async fn open_reservations(&self, track: Uuid) -> Result<Vec<OpenReservation>> {
        let found: Vec<Call> = self.rows(&OPEN, &[Parameter::Uuid(track)]).await?;
        let open = |call: Call| {
            let fence = Fence { track, ticket: call.ticket()?, token: call.token };
            let charge = call.charge();
            let Call { id, day, state, created_at, .. } = call;
            Some(OpenReservation { id, fence, day, state, charge, created_at })
        };
        Ok(found.into_iter().filter_map(open).collect())
    }

    /// Gives up the calls that earlier claims of a ticket left open: their cost is unknown, and they stay
    /// spent at worst. Returns how many there are, or `None` if the claim does not hold any more.
    pub async fn abandon(&self, fence: &Fence) -> Result<Option<u64>> {
        let mut work = Work::begin(self).await?;
        if !work.hold(fence.track).await? || !work.holds(fence).await? {
            return Ok(None);
        }
        let abandoned = work.run(ABANDON, &fence.values()).await?;
        work.commit().await?;
        Ok(Some(abandoned))
    }
}

/// A charge that no sum of which grows past what a column holds.
fn bounded(charge: Charge) -> Charge {
    let cost = charge.cost.map(|cost| Money::from_micros(cost.micros().min(CALL_MICROS)));
    Charge { tokens: charge.tokens.min(CALL_TOKENS), cost }
}

fn charge_values(charge: Charge) -> [Parameter; 2] {
    let micros = charge.cost.map(|cost| int(cost.micros()));
    [Parameter::Int(int(charge.tokens)), Parameter::MaybeInt(micros)]
}
