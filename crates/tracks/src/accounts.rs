//! The sums of calls: of the track, of each ticket and of each day.

use conductor::{Account, Cap, CapUnit, Charge, Money, Spent, TicketId};
use database::{BuiltStatement, Dialect, Parameter, Statement};
use serde::Deserialize;
use uuid::Uuid;

use crate::{Reservation, Reserved, Result, Tracks, Work, int};

/// The money and tokens of a track.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Accounts {
    pub track: Balance,
    /// In the order of the tickets. A ticket without calls is left out.
    pub tickets: Vec<(TicketId, Balance)>,
    /// In their order.
    pub days: Vec<(String, Balance)>,
}

/// The sum of an account. Together, both parts never exceed a cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balance {
    /// Settled calls at their cost, and abandoned ones at worst.
    pub spent: Spent,
    /// Calls under way, at worst.
    pub reserved: Spent,
}

impl Balance {
    pub fn total(&self) -> Spent {
        Spent {
            tokens: self.spent.tokens.saturating_add(self.reserved.tokens),
            cost: self.spent.cost.plus(self.reserved.cost),
            unpriced_tokens: self.spent.unpriced_tokens.saturating_add(self.reserved.unpriced_tokens),
        }
    }
}

/// A change of a sum.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount {
    tokens: i64,
    micros: i64,
    unpriced: i64,
}

impl From<Charge> for Amount {
    fn from(charge: Charge) -> Self {
        let tokens = int(charge.tokens);
        let micros = charge.cost.map_or(0, |cost| int(cost.micros()));
        Self { tokens, micros, unpriced: if charge.cost.is_none() { tokens } else { 0 } }
    }
}

impl Amount {
    /// Charges are bounded, so differences are numbers.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens - other.tokens,
            micros: self.micros - other.micros,
            unpriced: self.unpriced - other.unpriced,
        }
    }
}

const TRACK: &str = "track";

fn ticket_account(ticket: &str) -> String {
    format!("ticket:{ticket}")
}

fn day_account(day: &str) -> String {
    format!("day:{day}")
}

/// The sum of an account after a change.
#[derive(Debug, Deserialize)]
pub(crate) struct Sum {
    account: String,
    tokens: i64,
    cost_micros: i64,
}

/// Adds to the sums of a track and a day, or also of a ticket between them.
static ADD: BuiltStatement = BuiltStatement::new(|| Statement::new(|dialect| add_rows(dialect, 2)));
static ADD_WITH_TICKET: BuiltStatement =
    BuiltStatement::new(|| Statement::new(|dialect| add_rows(dialect, 3)));

fn add_rows(dialect: Dialect, accounts: usize) -> String {
    let rows: Vec<String> = (0..accounts).map(|at| format!("($1, ${}, $2, $3, $4)", at + 5)).collect();
    let sum = dialect.object(&[
        ("account", "account".to_owned()),
        ("tokens", "tokens".to_owned()),
        ("cost_micros", "cost_micros".to_owned()),
    ]);
    let into = "masque_track_accounts";
    format!(
        "INSERT INTO {into} (track_id, account, tokens, cost_micros, unpriced_tokens) VALUES {} \
         ON CONFLICT (track_id, account) DO UPDATE SET tokens = {into}.tokens + excluded.tokens, \
         cost_micros = {into}.cost_micros + excluded.cost_micros, \
         unpriced_tokens = {into}.unpriced_tokens + excluded.unpriced_tokens RETURNING {}",
        rows.join(", "),
        dialect.text(&sum)
    )
}

/// Adds an amount to the sums that a call counts for, and returns them.
pub(crate) async fn add(
    work: &mut Work,
    track: Uuid,
    ticket: &str,
    day: &str,
    amount: Amount,
) -> Result<Vec<Sum>> {
    let mut values = vec![
        Parameter::Uuid(track),
        Parameter::Int(amount.tokens),
        Parameter::Int(amount.micros),
        Parameter::Int(amount.unpriced),
        Parameter::from(TRACK),
    ];
    if ticket.is_empty() {
        values.push(Parameter::Text(day_account(day)));
        return work.rows(&ADD, &values).await;
    }
    values.extend([Parameter::Text(ticket_account(ticket)), Parameter::Text(day_account(day))]);
    work.rows(&ADD_WITH_TICKET, &values).await
}

/// The reason why a call may not be made, with the sums that include it already: of the ticket first, then of
/// the track, then of the day.
pub(crate) fn refused(sums: &[Sum], reservation: &Reservation) -> Option<Reserved> {
    let Reservation { fence, day, charge, caps, .. } = reservation;
    let ticket = fence.ticket.as_ref().map(|ticket| {
        (Account::Ticket { ticket: ticket.clone() }, ticket_account(ticket.as_str()), caps.ticket)
    });
    let others = [
        (Account::Track, TRACK.to_owned(), caps.track),
        (Account::Day { day: day.clone() }, day_account(day), caps.day),
    ];
    ticket.into_iter().chain(others).find_map(|(account, name, cap)| {
        let sum = sums.iter().find(|sum| sum.account == name)?;
        match sum.exceeds(cap) {
            _ if cap.cost.is_some() && charge.cost.is_none() => Some(Reserved::Unpriced { account }),
            Some(unit) => Some(Reserved::Reached { account, unit }),
            None => None,
        }
    })
}

impl Sum {
    fn exceeds(&self, cap: Cap) -> Option<CapUnit> {
        if cap.tokens.is_some_and(|most| self.tokens > int(most)) {
            return Some(CapUnit::Tokens);
        }
        let exceeds_cost = cap.cost.is_some_and(|most| self.cost_micros > int(most.micros()));
        exceeds_cost.then_some(CapUnit::Cost)
    }
}

/// The sum of an account, and the part of it that is under way.
#[derive(Debug, Deserialize)]
struct Row {
    account: String,
    tokens: u64,
    cost_micros: u64,
    unpriced_tokens: u64,
    open_tokens: u64,
    open_cost_micros: u64,
    open_unpriced_tokens: u64,
}

impl Row {
    fn balance(&self) -> Balance {
        let reserved = Spent {
            tokens: self.open_tokens,
            cost: Money::from_micros(self.open_cost_micros),
            unpriced_tokens: self.open_unpriced_tokens,
        };
        let spent = Spent {
            tokens: self.tokens.saturating_sub(reserved.tokens),
            cost: Money::from_micros(self.cost_micros).minus(reserved.cost),
            unpriced_tokens: self.unpriced_tokens.saturating_sub(reserved.unpriced_tokens),
        };
        Balance { spent, reserved }
    }
}

static BALANCES: BuiltStatement = BuiltStatement::new(|| {
    Statement::new(|dialect| {
        let open = |account: &str| {
            format!(
                "SELECT {account} AS account, c.tokens, c.cost_micros FROM masque_track_costs c \
                 WHERE c.track_id = $1 AND c.state = 'reserved'"
            )
        };
        let open =
            [open("'track'"), open("'ticket:' || c.ticket"), open("'day:' || c.day")].join(" UNION ALL ");
        let sum = |expression: &str| format!("coalesce(CAST(sum({expression}) AS bigint), 0)");
        let row = dialect.object(&[
            ("account", "a.account".to_owned()),
            ("tokens", "a.tokens".to_owned()),
            ("cost_micros", "a.cost_micros".to_owned()),
            ("unpriced_tokens", "a.unpriced_tokens".to_owned()),
            ("open_tokens", "o.tokens".to_owned()),
            ("open_cost_micros", "o.cost_micros".to_owned()),
            ("open_unpriced_tokens", "o.unpriced".to_owned()),
        ]);
        format!(
            "WITH calls AS ({open}) SELECT {} FROM (SELECT b.account, {} AS tokens, {} AS cost_micros, \
             {} AS unpriced FROM masque_track_accounts b LEFT JOIN calls ON calls.account = b.account \
             WHERE b.track_id = $1 GROUP BY b.account) o \
             JOIN masque_track_accounts a ON a.track_id = $1 AND a.account = o.account ORDER BY a.account",
            dialect.text(&row),
            sum("calls.tokens"),
            sum("calls.cost_micros"),
            sum("CASE WHEN calls.cost_micros IS NULL THEN calls.tokens END")
        )
    })
});

impl Tracks {
    /// The sums of a track.
    pub async fn spent(&self, track: Uuid) -> Result<Accounts> {
        let mut accounts = Accounts::default();
        for row in self.rows::<Row>(&BALANCES, &[Parameter::Uuid(track)]).await? {
            let balance = row.balance();
            match row.account.split_once(':') {
                None => accounts.track = balance,
                Some(("day", day)) => accounts.days.push((day.to_owned(), balance)),
                Some((_, ticket)) => {
                    // Another version wrote a ticket that this one cannot read.
                    let Ok(ticket) = TicketId::parse(ticket) else { continue };
                    accounts.tickets.push((ticket, balance));
                }
            }
        }
        Ok(accounts)
    }
}
