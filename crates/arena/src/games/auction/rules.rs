//! The rules in words, from the settings.

use super::{AuctionSettings, Lot, Sale};

pub(super) fn how_to_play(settings: &AuctionSettings) -> String {
    let AuctionSettings { budget, least_value, most_value, step, .. } = settings;
    let lots: Vec<&str> = settings.lots.iter().map(|lot| lot.name.as_str()).collect();
    let mut rules = vec![
        format!("This is an auction of {} lots: {}.", lots.len(), lots.join(", ")),
        format!(
            "Everybody has {budget} for all lots together. What a lot is worth to a player is drawn between \
             {least_value} and {most_value}, and nobody else knows it."
        ),
        "A player's profit is the worth of its lots less their prices. The highest profit wins. Money that is left \
         counts nothing."
            .to_owned(),
    ];
    if settings.talk {
        rules.push("Before each lot everybody may speak once.".to_owned());
    }
    rules.push("Equal highest bids are decided by a draw. Who passes does not bid.".to_owned());
    rules.extend(settings.lots.iter().map(|lot| format!("{}: {}", lot.name, sale(lot, *step))));
    rules.join("\n")
}

pub(super) fn sale(lot: &Lot, step: i64) -> String {
    let how = match lot.sale {
        Sale::Sealed => "One sealed bid each; the highest one pays its bid.".to_owned(),
        Sale::SecondPrice => "One sealed bid each; the highest one pays the second highest bid.".to_owned(),
        Sale::Open => format!("Open bids, each at least {step} above the last; who does not raise is out."),
    };
    format!("{how} The least price is {}.", lot.reserve)
}
