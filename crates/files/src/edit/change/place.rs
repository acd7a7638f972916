//! Adds and removes lines and headers.

use super::*;
use crate::edit::bracket::Bracketed;

impl Changes<'_> {
    /// Takes the whole entry away; false where that needs more than cutting lines.
    pub(crate) fn remove_entry(&mut self, entry: &Entry) -> bool {
        match &entry.written {
            Written::Table(table) => self.remove_table(entry, table),
            Written::Line(line) => self.cut_line(entry, *line),
            Written::Nested { line, item } => {
                let value = &entry.lines[*line].assign.value;
                let Shape::Table(assigns) = &value.shape else { return false };
                let spans: Vec<_> = assigns.iter().map(|assign| assign.start()..assign.end()).collect();
                let mut items = Bracketed::new(self.text, &value.span, &spans, self.newline.as_str());
                items.delete(*item);
                let text = if items.is_empty() { "{}".to_owned() } else { items.render() };
                self.replace(value, text);
            }
        }
        true
    }

    /// Puts a text in the place of the first section of an entry; false where it has none.
    pub(crate) fn in_its_place(&mut self, entry: &Entry, text: &str) -> bool {
        let Some(first) = entry.parts.iter().map(|part| part.section).min() else { return false };
        let at = self.outline.attached_start(first);
        self.splices.push(Splice::above(at, text.to_owned()));
        true
    }

    pub(super) fn remove(&mut self, entry: &Entry, node: &Node) {
        let (mut lines, mut parts) = (Vec::new(), Vec::new());
        node.collect(&mut lines, &mut parts);
        self.cut(entry, &lines, &parts);
    }

    pub(super) fn remove_table(&mut self, entry: &Entry, table: &Table) {
        let (mut lines, mut parts) = (Vec::new(), Vec::new());
        table.collect(&mut lines, &mut parts);
        self.cut(entry, &lines, &parts);
    }

    /// Cuts lines, and marks sections to be cut once it is known what comes in their place.
    fn cut(&mut self, entry: &Entry, lines: &[usize], parts: &[usize]) {
        self.cut.extend(parts.iter().map(|part| entry.parts[*part].section));
        for line in lines {
            let start = entry.lines[*line].assign.start();
            if !self.cut.iter().any(|section| self.outline.range(*section).contains(&start)) {
                self.cut_line(entry, *line);
            }
        }
    }

    fn cut_line(&mut self, entry: &Entry, line: usize) {
        self.splices.push(Splice::delete(entry.lines[line].region(self.text)));
    }

    /// All changes, in no order.
    pub(crate) fn into_parts(mut self) -> (Vec<Splice>, Vec<(PathBuf, String)>, Overlay) {
        let sections: Vec<usize> = self.cut.iter().copied().collect();
        for run in sections.chunk_by(|a, b| a + 1 == *b) {
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                self.cut_sections(*first, *last);
            }
        }
        (self.splices, self.files, self.overlay)
    }

    /// Cuts sections that follow each other, with the comments that touch them and one of the two
    /// gaps that would be left, unless something takes their place.
    fn cut_sections(&mut self, first: usize, last: usize) {
        let floor = self.outline.floor(first);
        let mut start = self.outline.attached_start(first);
        let mut end = self.outline.attached_end(last);
        if self.splices.iter().any(|splice| splice.range == (start..start)) {
            self.splices.push(Splice::delete(start..end));
            return;
        }
        let ceiling = self.outline.next_start(last);
        let mut below = end;
        while below < ceiling && is_blank(&self.text[below..line_end(self.text, below)]) {
            below = line_end(self.text, below);
        }
        let blank_above = |start: usize| {
            start > floor && is_blank(&self.text[line_start(self.text, start - 1).max(floor)..start])
        };
        if below == self.text.len() {
            end = below;
            while blank_above(start) {
                start = line_start(self.text, start - 1).max(floor);
            }
        } else if blank_above(start) || start == floor && first == 0 {
            end = below;
        }
        self.splices.push(Splice::delete(start..end));
    }

    /// Writes new fields of a table, in the manner in which it is written.
    pub(super) fn insert(
        &mut self,
        entry: &Entry,
        table: &Table,
        path: &str,
        fields: &[&Field],
        whole: bool,
    ) {
        if fields.is_empty() {
            return;
        }
        let newline = self.newline;
        if let Some(part) = table.header {
            let part = &entry.parts[part];
            let as_block = |field: &&&Field| whole && render::is_block(field);
            let blocks: Vec<&&Field> = fields.iter().filter(as_block).collect();
            let last = part.last_line.map(|line| &entry.lines[line]);
            let indent = last.map_or("", |line| line.indent(self.text));
            let above = last.map_or(part.header.span.end, |line| line.assign.end());
            let lines = fields.iter().filter(|field| !as_block(field));
            let lines: String = lines
                .map(|field| {
                    format!("{indent}{}", render::line(&render::key(&field.key), &field.value, newline))
                })
                .collect();
            self.lines_after(above, &lines);
            for field in blocks {
                self.block_after(entry, table, &render::block(path, field, newline));
            }
        } else if let Some((line, keys)) = table.dotted {
            let line = &entry.lines[line];
            let names = &line.assign.keys;
            let prefix = &self.text[names[0].span.start..names[keys - 1].span.end];
            let indent = line.indent(self.text);
            let text = fields.iter().map(|field| {
                let key = format!("{prefix}.{}", render::key(&field.key));
                format!("{indent}{}", render::line(&key, &field.value, newline))
            });
            let text: String = text.collect();
            self.lines_after(line.assign.end(), &text);
        } else {
            let mut text = format!("[{path}]{}", newline.as_str());
            text.extend(
                fields.iter().map(|field| render::line(&render::key(&field.key), &field.value, newline)),
            );
            self.block_before(entry, table, &text);
        }
    }

    /// Inserts whole lines below the line of an offset.
    fn lines_after(&mut self, offset: usize, lines: &str) {
        if lines.is_empty() {
            return;
        }
        let at = line_end(self.text, offset);
        let text = if self.text[..at].ends_with('\n') {
            lines.to_owned()
        } else {
            // The file has no end of line at its end, and gets none.
            let end = self.newline.as_str();
            format!("{end}{}", lines.strip_suffix(end).unwrap_or(lines))
        };
        self.splices.push(Splice::below(at, text));
    }

    /// Inserts a block of lines below all sections of a table.
    pub(super) fn block_after(&mut self, entry: &Entry, table: &Table, block: &str) {
        let Some((_, last)) = self.sections_of(entry, table) else { return };
        let at = self.outline.attached_end(last);
        let end = self.newline.as_str();
        let ended = if self.text[..at].ends_with('\n') { "" } else { end };
        let blank_below = at == self.text.len() || is_blank(&self.text[at..line_end(self.text, at)]);
        let below = if blank_below { "" } else { end };
        self.splices.push(Splice::below(at, format!("{ended}{end}{block}{below}")));
    }

    /// Inserts a block of lines above all sections of a table.
    pub(super) fn block_before(&mut self, entry: &Entry, table: &Table, block: &str) {
        let Some((first, _)) = self.sections_of(entry, table) else { return };
        let at = self.outline.attached_start(first);
        self.splices.push(Splice::above(at, format!("{block}{}", self.newline.as_str())));
    }

    /// The first and the last section of a table, by their place in the file, of those that stay.
    fn sections_of(&self, entry: &Entry, table: &Table) -> Option<(usize, usize)> {
        let (mut lines, mut parts) = (Vec::new(), Vec::new());
        table.collect(&mut lines, &mut parts);
        let all: Vec<usize> = parts.iter().map(|part| entry.parts[*part].section).collect();
        let left: Vec<usize> = all.iter().copied().filter(|section| !self.cut.contains(section)).collect();
        let sections = if left.is_empty() { all } else { left };
        Some((*sections.iter().min()?, *sections.iter().max()?))
    }
}
