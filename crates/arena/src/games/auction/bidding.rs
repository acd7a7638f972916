//! Bids: sealed ones at once, open ones in turn, and the sale that follows.

use serde_json::{Value, json};

use super::{Auction, MOST_MONEY, Phase, Sale};
use crate::{Desk, Move, Next, Request, SeatId, Tool};

impl Auction {
    pub(super) fn sealed(&mut self, desk: &mut Desk<'_>) -> Next {
        let least = self.current().map_or(1, |lot| lot.reserve);
        let bidders: Vec<SeatId> = self.order.drain(..).collect();
        if bidders.is_empty() {
            self.unsold(desk);
            return Next::Again;
        }
        let requests = bidders.into_iter().map(|seat| {
            let tool = Tool::action("bid", "Bids for the lot. Nobody sees it before all bids are in.");
            let tools = vec![tool.integer("amount", least, self.purse(seat)), purse_tool()];
            Request::act(seat, self.question(seat, "Bid, or pass."), tools)
        });
        Next::Ask(requests.collect())
    }

    pub(super) fn least_raise(&self) -> i64 {
        match (self.high, self.current()) {
            (Some((_, price)), _) => price + self.settings.step,
            (None, lot) => lot.map_or(1, |lot| lot.reserve),
        }
    }

    pub(super) fn rising(&mut self, desk: &mut Desk<'_>) -> Next {
        let least = self.least_raise();
        let leader = self.high.map(|(seat, _)| seat);
        while let Some(seat) = self.order.pop_front() {
            // The leader does not bid against itself, and who cannot raise is out.
            if Some(seat) != leader && self.purse(seat) >= least {
                let tool = Tool::action("raise", "Bids more than anybody before. Who does not raise is out.");
                let tools = vec![tool.integer("amount", least, self.purse(seat)), purse_tool()];
                return Next::Ask(vec![Request::act(
                    seat,
                    self.question(seat, "Raise, or pass and be out."),
                    tools,
                )]);
            }
        }
        match self.high {
            Some((seat, price)) => self.sell(seat, price, desk),
            None => self.unsold(desk),
        }
        Next::Again
    }

    pub(super) fn take_sealed(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        let amount = |it: &Move| Some((it.seat, it.act.as_ref()?.integer("amount", 0, MOST_MONEY).ok()?));
        let mut bids: Vec<(SeatId, i64)> = moves.iter().filter_map(amount).collect();
        bids.sort_by_key(|(seat, bid)| (-bid, *seat));
        let Some((_, highest)) = bids.first().copied() else { return self.unsold(desk) };
        let shown: Vec<String> =
            bids.iter().map(|(seat, bid)| format!("{} {bid}", desk.seats.name(*seat))).collect();
        desk.tell("bids", format!("The bids: {}.", shown.join(", ")), json!({ "bids": bids }));
        let best: Vec<SeatId> =
            bids.iter().filter(|(_, bid)| *bid == highest).map(|(seat, _)| *seat).collect();
        let Some(winner) = desk.pick("tie", &best) else { return };
        let reserve = self.current().map_or(1, |lot| lot.reserve);
        let second = bids.iter().find(|(seat, _)| *seat != winner).map_or(reserve, |(_, bid)| *bid);
        let is_second = self.current().is_some_and(|lot| lot.sale == Sale::SecondPrice);
        self.sell(winner, if is_second { second } else { highest }, desk);
    }

    pub(super) fn take_raise(&mut self, moves: &[Move], desk: &mut Desk<'_>) {
        for it in moves {
            let name = desk.seats.name(it.seat);
            let amount = it.act.as_ref().and_then(|act| act.integer("amount", 0, MOST_MONEY).ok());
            match amount {
                Some(amount) => {
                    desk.tell(
                        "raise",
                        format!("{name} bids {amount}."),
                        json!({"seat": it.seat, "amount": amount}),
                    );
                    if let Some((before, _)) = self.high.replace((it.seat, amount)) {
                        self.order.push_back(before);
                    }
                }
                None => desk.tell("drop_out", format!("{name} is out."), json!({"seat": it.seat})),
            }
        }
    }

    fn sell(&mut self, seat: SeatId, price: i64, desk: &mut Desk<'_>) {
        let lot = self.current().map_or("", |lot| lot.name.as_str());
        let text = format!("{} has {lot} for {price}.", desk.seats.name(seat));
        desk.tell("sold", text, json!({"seat": seat, "price": price, "lot": lot}));
        if let Some(bidder) = self.bidders.get_mut(&seat) {
            bidder.purse -= price;
            bidder.won.push((self.lot, price));
        }
        self.close_lot();
    }

    fn unsold(&mut self, desk: &mut Desk<'_>) {
        let lot = self.current().map_or("", |lot| lot.name.as_str());
        desk.tell("unsold", format!("Nobody bids for {lot}."), Value::Null);
        self.close_lot();
    }

    fn close_lot(&mut self) {
        self.lot += 1;
        self.order.clear();
        self.phase = Phase::Announce;
    }
}

fn purse_tool() -> Tool {
    Tool::information("purse", "Tells what you have, hold and value.")
}
