//! Bradley–Terry: strengths of personas and effects of seats, from pairs of a winner and a loser.
//!
//! The chance that one beats another is logistic in the difference of their strengths plus that of their
//! seats. A small penalty keeps the strength of a persona finite that never lost.

/// One persona beat another one, in a game of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    pub block: u32,
    pub winner: usize,
    pub loser: usize,
    pub winner_seat: usize,
    pub loser_seat: usize,
    /// A game counts one in all, however many pairs it has.
    pub weight: f64,
}

/// The pairs of one game: each winner beat each loser. Without winners, or without losers, everybody ties.
pub fn comparisons(block: u32, personas: &[usize], winners: &[usize]) -> Vec<Comparison> {
    let is_winner = |seat: usize| winners.contains(&seat);
    let pair = |winner: usize, loser: usize, weight: f64| Comparison {
        block,
        winner: personas[winner],
        loser: personas[loser],
        winner_seat: winner,
        loser_seat: loser,
        weight,
    };
    let seats = 0..personas.len();
    let decided: Vec<(usize, usize)> = seats
        .clone()
        .flat_map(|one| seats.clone().map(move |other| (one, other)))
        .filter(|(one, other)| is_winner(*one) && !is_winner(*other))
        .collect();
    let pairs = if decided.is_empty() {
        // A tie is half a win of each.
        seats
            .clone()
            .flat_map(|one| seats.clone().map(move |other| (one, other)))
            .filter(|(one, other)| one != other)
            .collect()
    } else {
        decided
    };
    let weight = 1.0 / pairs.len().max(1) as f64;
    pairs.into_iter().map(|(winner, loser)| pair(winner, loser, weight)).collect()
}

/// Strengths in logits. Both lists sum to 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Strengths {
    pub personas: Vec<f64>,
    pub seats: Vec<f64>,
}

/// The weight of the penalty: as much as a few hundredths of a game for each persona and seat.
const PENALTY: f64 = 0.05;
const MOST_STEPS: usize = 50;

/// Finds the strengths that explain the comparisons best.
pub fn fit(personas: usize, seats: usize, comparisons: &[Comparison]) -> Strengths {
    let cells = cells(personas, seats, comparisons);
    let size = personas + seats;
    let mut values = vec![0.0; size];
    for _ in 0..MOST_STEPS {
        let (gradient, mut hessian) = slope(&values, &cells);
        let step = solve(&mut hessian, gradient);
        let most = step.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        // Newton's steps overshoot where nearly everything was won.
        let scale = if most > 2.0 { 2.0 / most } else { 1.0 };
        values.iter_mut().zip(&step).for_each(|(value, step)| *value += scale * step);
        if most < 1e-9 {
            break;
        }
    }
    let (strengths, effects) = values.split_at(personas);
    Strengths { personas: centered(strengths), seats: centered(effects) }
}

fn centered(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| value - mean).collect()
}

/// Equal comparisons, taken together.
struct Cell {
    /// Indices of what speaks for the winner, and against it.
    plus: [usize; 2],
    minus: [usize; 2],
    weight: f64,
}

fn cells(personas: usize, seats: usize, comparisons: &[Comparison]) -> Vec<Cell> {
    let mut weights = std::collections::BTreeMap::new();
    for it in comparisons {
        let is_known = it.winner.max(it.loser) < personas && it.winner_seat.max(it.loser_seat) < seats;
        if is_known && it.winner != it.loser {
            *weights.entry((it.winner, it.loser, it.winner_seat, it.loser_seat)).or_insert(0.0) += it.weight;
        }
    }
    let cell = |((winner, loser, winner_seat, loser_seat), weight)| Cell {
        plus: [winner, personas + winner_seat],
        minus: [loser, personas + loser_seat],
        weight,
    };
    weights.into_iter().map(cell).collect()
}

/// The gradient of the penalised likelihood, and the negative of its second derivatives.
fn slope(values: &[f64], cells: &[Cell]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = values.len();
    let mut gradient: Vec<f64> = values.iter().map(|value| -PENALTY * value).collect();
    let mut hessian = vec![vec![0.0; size]; size];
    for (at, row) in hessian.iter_mut().enumerate() {
        row[at] = PENALTY;
    }
    for cell in cells {
        let sum = |indices: [usize; 2]| indices.iter().map(|at| values[*at]).sum::<f64>();
        let chance = 1.0 / (1.0 + (sum(cell.minus) - sum(cell.plus)).exp());
        let signs = [(cell.plus, 1.0), (cell.minus, -1.0)];
        let terms: Vec<(usize, f64)> =
            signs.iter().flat_map(|(indices, sign)| indices.map(|at| (at, *sign))).collect();
        for (at, sign) in &terms {
            gradient[*at] += cell.weight * (1.0 - chance) * sign;
            for (other, other_sign) in &terms {
                hessian[*at][*other] += cell.weight * chance * (1.0 - chance) * sign * other_sign;
            }
        }
    }
    (gradient, hessian)
}

/// Gaussian elimination. The matrix is positive definite: its diagonal has the penalty.
fn solve(matrix: &mut [Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for pivot in 0..size {
        let (above, below) = matrix.split_at_mut(pivot + 1);
        let row = &above[pivot];
        for (at, other) in below.iter_mut().enumerate() {
            let factor = other[pivot] / row[pivot];
            other.iter_mut().zip(row).skip(pivot).for_each(|(value, of)| *value -= factor * of);
            right[pivot + 1 + at] -= factor * right[pivot];
        }
    }
    for pivot in (0..size).rev() {
        let known: f64 = (pivot + 1..size).map(|at| matrix[pivot][at] * right[at]).sum();
        right[pivot] = (right[pivot] - known) / matrix[pivot][pivot];
    }
    right
}
