//! A compiled text with the origin of each line, and the budgets at which pieces drop out of it.

use super::fit::Fit;
use super::{AssemblyRequest, Form, LeftOut, Level, OverrideError, filtered};
use crate::compile::Block;
use crate::limits::BUDGET_POINTS;
use crate::{Bundle, TokenCounter};

/// A compiled text in blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    pub blocks: Vec<Block>,
    pub left_out: Vec<LeftOut>,
    pub over_budget: bool,
    /// Where pieces drop out, the largest budget first. Each leaves out what the one before it does, and
    /// more.
    pub budget_points: Vec<BudgetPoint>,
}

/// A budget that is just enough for the most important pieces. With one token less, the last of them drops
/// out or is shortened. Between two points a smaller piece of lower priority may fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetPoint {
    pub max_tokens: usize,
    /// The tokens of the text within that budget.
    pub tokens: usize,
    /// The ids of the pieces that the budget leaves out.
    pub left_out: Vec<String>,
}

impl Preview {
    pub fn tokens(&self) -> usize {
        self.blocks.iter().map(|block| block.tokens).sum()
    }
}

/// The compiled text of a request in blocks. The form of the request does not matter.
pub fn preview(
    bundle: &Bundle,
    request: &AssemblyRequest,
    counter: &dyn TokenCounter,
) -> Result<Preview, OverrideError> {
    let request = AssemblyRequest { form: Form::Text, ..request.clone() };
    let all = filtered(bundle, &request, counter)?;
    let fit = Fit::new(&all, &request, counter);
    let budget_points = points(&fit);
    Ok(match request.max_tokens {
        None => Preview {
            blocks: fit.blocks(&fit.everything()),
            left_out: all.left_out.clone(),
            over_budget: all.over_budget,
            budget_points,
        },
        Some(max_tokens) => {
            let solution = fit.solve(max_tokens);
            let settled = fit.settled(&solution, max_tokens);
            Preview {
                blocks: fit.blocks(&solution.levels),
                left_out: settled.left_out,
                over_budget: settled.over_budget,
                budget_points,
            }
        }
    })
}

/// The points at which the least important piece drops, then the next, and so on; evenly spread if there
/// are too many.
fn points(fit: &Fit<'_, '_>) -> Vec<BudgetPoint> {
    let count = fit.candidates.len();
    let steps = count.min(BUDGET_POINTS);
    let mut points: Vec<BudgetPoint> = Vec::with_capacity(steps);
    for step in (0..steps).rev() {
        // The number of pieces that are kept: `count` for all of them, down to none.
        let kept = (step * count).div_ceil(steps);
        let mut levels = vec![Level::Out; count];
        levels[..kept].fill(Level::Whole);
        let Some(max_tokens) = fit.text_tokens(&levels) else { continue };
        let levels = fit.solve(max_tokens).levels;
        let tokens = fit.text_tokens(&levels).unwrap_or(max_tokens);
        let left_out = left_out(fit, &levels);
        let is_further = points.last().is_none_or(|last| {
            max_tokens < last.max_tokens && last.left_out.iter().all(|id| left_out.contains(id))
        });
        // A piece without a text is in every text.
        if is_further && !left_out.is_empty() {
            points.push(BudgetPoint { max_tokens, tokens, left_out });
        }
    }
    points
}

/// The ids of what is left out, by kind, in assembly order.
fn left_out(fit: &Fit<'_, '_>, levels: &[Level]) -> Vec<String> {
    let out = fit.candidates.iter().zip(levels).filter(|(_, level)| **level == Level::Out);
    let mut out: Vec<_> = out.map(|(candidate, _)| candidate).collect();
    out.sort_by_key(|candidate| (candidate.kind, candidate.at));
    out.into_iter().map(|candidate| candidate.left_out().id()).collect()
}
