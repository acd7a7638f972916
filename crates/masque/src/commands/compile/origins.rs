//! `compile --origins`: the prompt, with the layer, the piece and the scope in front of each line.

use agent::Notice;
use app::outputs::{TextBlock, TextOrigins};
use persona::{BlockKind, LayerOrigin};

use super::persona_text;
use crate::failure::Result;
use crate::output::{Output, clean, layer_mark, layer_style, truncate, width_of};
use crate::wording;

/// The widest origin; a longer one is cut.
const ORIGIN_COLUMNS: usize = 48;
/// The longest name of a layer.
const LAYER_COLUMNS: usize = 8;

pub(super) fn print(origins: &TextOrigins, output: &mut Output) -> Result<()> {
    let labels: Vec<String> = origins.blocks.iter().map(label).collect();
    let width = labels.iter().map(|label| width_of(label)).max().unwrap_or(0).min(ORIGIN_COLUMNS);
    for (block, label) in origins.blocks.iter().zip(&labels) {
        let layer = word(block.layer);
        let mark = format!("{} {layer:<LAYER_COLUMNS$}", layer_mark(block.layer));
        let label = truncate(label, width);
        let padding = " ".repeat(width.saturating_sub(width_of(&label)));
        let before = format!("{} {label}{padding} │", output.styled(layer_style(block.layer), mark));
        for line in block.text.lines() {
            output.styled_line(format!("{before} {}", clean(line)).trim_end())?;
        }
    }
    if origins.blocks.is_empty() {
        output.advise(&wording::notice(&Notice::SaysNothing))?;
    }
    persona_text::advise_budget(origins.budget.as_ref(), output)
}

/// The origin of a block: `part calm-tone, builtin`, and the base that has it.
fn label(block: &TextBlock) -> String {
    let TextBlock { kind, name, scope, base, .. } = block;
    match (kind, base) {
        // The text of a base has its name already.
        (BlockKind::Persona, _) | (_, None) => format!("{kind} {name}, {scope}"),
        (_, Some(base)) => format!("{kind} {name}, {scope} (of {base})"),
    }
}

fn word(layer: LayerOrigin) -> &'static str {
    match layer {
        LayerOrigin::Base => "base",
        LayerOrigin::Own => "own",
        LayerOrigin::Stage => "stage",
        LayerOrigin::Override => "override",
    }
}
