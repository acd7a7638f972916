//! The parts of a source outside of symbols, as a skeleton treats them.

use std::ops::Range;

/// The parts of a source that are not the signature, doc comment or body of a symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) loose: Vec<Loose>,
    /// The imports, and the group of the package or module.
    pub(crate) imports: Vec<Range<usize>>,
    /// Inner frames come before the ones around them.
    pub(crate) frames: Vec<Frame>,
    /// Symbols with errors of syntax in them, by index.
    pub(crate) broken: Vec<usize>,
    pub(crate) has_error: bool,
}

/// Statements and comments that are shown only if the symbol around them is shown in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loose {
    /// The symbol around them, by index; `None` at the top of the file.
    pub(crate) owner: Option<usize>,
    pub(crate) bytes: Range<usize>,
    /// True if the parser could not read them.
    pub(crate) is_error: bool,
}

/// A construct around symbols that is no symbol: `#ifdef`, `const (…)`, `if TYPE_CHECKING:`, the block of a
/// class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The construct; it goes if all of its blocks are empty. `None` if it stays.
    pub(crate) bytes: Option<Range<usize>>,
    pub(crate) blocks: Vec<Range<usize>>,
    /// True if the grammar needs a statement in each block.
    pub(crate) needs_filler: bool,
}
