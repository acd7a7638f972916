//! The layers of a persona: a color each, and a mark for people who cannot tell the colors apart.

use persona::LayerOrigin;

use super::Style;

pub(crate) const fn layer_mark(layer: LayerOrigin) -> &'static str {
    match layer {
        LayerOrigin::Base => "○",
        LayerOrigin::Own => "●",
        LayerOrigin::Stage => "◆",
        LayerOrigin::Override => "▲",
    }
}

pub(crate) const fn layer_style(layer: LayerOrigin) -> Style {
    match layer {
        LayerOrigin::Base => Style::BaseLayer,
        LayerOrigin::Own => Style::OwnLayer,
        LayerOrigin::Stage => Style::StageLayer,
        LayerOrigin::Override => Style::OverrideLayer,
    }
}
