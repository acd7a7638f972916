//! Text that reads like prose and costs like prose: sentences out of a fixed vocabulary, common
//! words more often than rare ones.

use std::sync::LazyLock;

use rand::Rng;
use rand::rngs::StdRng;

/// Common words first. A few have accents, apostrophes or no Latin letters, as in real libraries.
const WORDS: &str = "\
    the to and a of you in is it that for with as what be when not or this before on are by one an from \
    each then them first ask answer read write code change reader question reason test explain example \
    keep never always say name find small clear review plan decision cost risk goal work user team point \
    detail problem short plain calm warm direct patient careful honest don't it's you're because without \
    between against after while until every whole part failure error boundary contract interface measure \
    evidence assumption check invariant concurrency transaction database network latency memory thread \
    security secret permission attack input output format version migration history revision summary \
    outline paragraph sentence vocabulary metaphor story teacher student mentor critic optimist stranger \
    friend colleague courage doubt curiosity humour silence memory promise mistake habit prefer avoid \
    notice repeat refuse suggest propose compare summarise translate simplify verify reproduce isolate \
    bisect rename extract inline refactor deploy observe trace profile budget deadline estimate scope \
    stakeholder requirement ambiguity constraint tradeoff alternative consequence precedent principle \
    exception guarantee idempotent deterministic quorum lighthouse harbour compass anchor lantern \
    orchard winter cobalt violin cartography apprentice blacksmith archivist navigator gardener \
    astronomer naïve café façade über señor Zürich Kraków 東京 文書 библиотека ελπίδα";

static VOCABULARY: LazyLock<Vec<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());

/// A word; the early ones come up far more often than the late ones.
pub(crate) fn word(random: &mut StdRng) -> &'static str {
    let skewed = random.random::<f64>().powi(2) * VOCABULARY.len() as f64;
    VOCABULARY[(skewed as usize).min(VOCABULARY.len() - 1)]
}

/// Whole sentences, between `least` and `most` bytes together.
pub(crate) fn text(random: &mut StdRng, least: usize, most: usize) -> String {
    let wanted = random.random_range(least..=most);
    let mut text = String::with_capacity(most);
    let mut left = 0;
    loop {
        let next = word(random);
        // A full stop and a space, the word, and the full stop at the end.
        if text.len() + next.len() + 3 > wanted {
            break;
        }
        if left == 0 {
            if !text.is_empty() {
                text.push_str(". ");
            }
            left = random.random_range(5..15);
            let mut letters = next.chars();
            text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
            text.push_str(letters.as_str());
        } else {
            text.push(' ');
            text.push_str(next);
        }
        left -= 1;
    }
    text.push('.');
    text
}
