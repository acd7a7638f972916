//! The tokens of a text and of its blocks. A block is counted once for each text that it may have, so
//! that a budget can try many combinations.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::Block;
use super::sheet::{Placement, Sheet};
use crate::TokenCounter;
use crate::assembly::Level;
use crate::tokens::each_adds;

/// The count of a block by itself.
#[derive(Clone, Copy)]
struct Counted {
    tokens: usize,
    /// True if it can be counted apart from the block above it.
    is_apart: bool,
}

pub(crate) struct CountedSheet<'s> {
    pub(crate) sheet: Sheet<'s>,
    counter: &'s dyn TokenCounter,
    /// By item and variant.
    counts: Vec<Cell<Option<Counted>>>,
}

impl<'s> CountedSheet<'s> {
    pub(crate) fn new(sheet: Sheet<'s>, counter: &'s dyn TokenCounter) -> Self {
        let counts = vec![Cell::new(None); sheet.len() * Placement::VARIANTS];
        Self { sheet, counter, counts }
    }

    /// The tokens of the text with each item at its level.
    pub(crate) fn tokens(&self, levels: &[Level]) -> usize {
        let placements = self.sheet.lay_out(levels);
        self.groups(&placements).map(|group| self.tokens_of(group)).sum()
    }

    /// The tokens of an item that is in a text alone.
    pub(crate) fn tokens_alone(&self, item: usize, level: Level) -> usize {
        let mut levels = vec![Level::Out; self.sheet.len()];
        levels[item] = level;
        let mut placements = self.sheet.lay_out(&levels);
        placements.iter_mut().for_each(|placement| placement.has_heading = false);
        placements.iter().map(|placement| self.count(*placement).tokens).sum()
    }

    /// The blocks of the text with each item at its level.
    pub(crate) fn blocks(&self, levels: &[Level]) -> Vec<Block> {
        let placements = self.sheet.lay_out(levels);
        let mut blocks: Vec<Block> = placements.iter().map(|it| self.sheet.block(*it)).collect();
        let mut ids = BTreeSet::new();
        let mut first_line = 1;
        for block in &mut blocks {
            block.first_line = first_line;
            first_line += block.text.matches('\n').count();
            // A stage or a call may have a part of the name that the persona has for another type.
            let (id, mut number) = (block.id.clone(), 1);
            while !ids.insert(block.id.clone()) {
                number += 1;
                block.id = format!("{id}#{number}");
            }
        }
        let mut at = 0;
        for group in self.groups(&placements) {
            let tokens = match group {
                [alone] => vec![self.count(*alone).tokens],
                group => {
                    let texts: Vec<&str> =
                        blocks[at..at + group.len()].iter().map(|block| block.text.as_str()).collect();
                    each_adds(self.counter, &texts)
                }
            };
            for (block, tokens) in blocks[at..].iter_mut().zip(tokens) {
                block.tokens = tokens;
            }
            at += group.len();
        }
        blocks
    }

    /// The placements in runs that must be counted together.
    fn groups<'p>(&self, placements: &'p [Placement]) -> impl Iterator<Item = &'p [Placement]> {
        placements.chunk_by(|_, next| !self.count(*next).is_apart)
    }

    fn tokens_of(&self, group: &[Placement]) -> usize {
        match group {
            [alone] => self.count(*alone).tokens,
            group => {
                let mut text = String::new();
                group.iter().for_each(|placement| self.sheet.write(*placement, &mut text));
                self.counter.count(&text)
            }
        }
    }

    fn count(&self, placement: Placement) -> Counted {
        let known = &self.counts[placement.item * Placement::VARIANTS + placement.variant()];
        if let Some(counted) = known.get() {
            return counted;
        }
        let mut text = String::new();
        self.sheet.write(placement, &mut text);
        let counted = Counted { tokens: self.counter.count(&text), is_apart: self.counter.is_apart(&text) };
        known.set(Some(counted));
        counted
    }
}
