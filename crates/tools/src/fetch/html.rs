//! HTML as plain text: one pass without a tree, so that no page, however nested, costs more than its
//! length.

use reqwest::Url;

use crate::limits;

/// The text of a page, with marks for headings, items and links.
pub(super) fn to_text(html: &str, base: &Url) -> String {
    let mut page = Page { base, text: String::new(), breaks: 0, space: false, pre: 0, link: None };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        page.say(&rest[..at]);
        rest = &rest[at..];
        rest = match markup(rest) {
            Markup::Tag(tag, after) => {
                page.tag(&tag);
                if !tag.is_end && is_unseen(&tag.name) { past_end(after, &tag.name) } else { after }
            }
            Markup::Skipped(after) => after,
            Markup::None => {
                page.say("<");
                &rest[1..]
            }
        };
    }
    page.say(rest);
    page.text.trim().to_owned()
}

struct Tag<'a> {
    name: String,
    is_end: bool,
    attributes: &'a str,
}

enum Markup<'a> {
    Tag(Tag<'a>, &'a str),
    Skipped(&'a str),
    /// A `<` that means itself.
    None,
}

fn markup(text: &str) -> Markup<'_> {
    if let Some(comment) = text.strip_prefix("<!--") {
        return Markup::Skipped(comment.split_once("-->").map_or("", |(_, after)| after));
    }
    let inner = &text[1..];
    if inner.starts_with(['!', '?']) {
        return Markup::Skipped(inner.split_once('>').map_or("", |(_, after)| after));
    }
    let (is_end, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
    if !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Markup::None;
    }
    let name_end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(inner.len());
    let name = inner[..name_end].to_ascii_lowercase();
    let mut quote = None;
    for (at, byte) in inner.bytes().enumerate().skip(name_end) {
        match (quote, byte) {
            (None, b'>') => {
                return Markup::Tag(Tag { name, is_end, attributes: &inner[name_end..at] }, &inner[at + 1..]);
            }
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    Markup::Skipped("")
}

/// Elements whose content is not shown.
fn is_unseen(name: &str) -> bool {
    matches!(name, "script" | "style" | "template" | "svg" | "math" | "iframe" | "object" | "canvas")
}

fn past_end<'a>(text: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let inner = from + at + 2;
        let is_it = text.get(inner..inner + name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
        if is_it {
            return text[inner..].split_once('>').map_or("", |(_, after)| after);
        }
        from = inner;
    }
    ""
}

struct Page<'a> {
    base: &'a Url,
    text: String,
    /// Line ends that are due before the next text.
    breaks: usize,
    /// A space that is due before the next text on the same line.
    space: bool,
    /// How many `pre` are open.
    pre: usize,
    link: Option<String>,
}

impl Page<'_> {
    fn tag(&mut self, tag: &Tag<'_>) {
        match tag.name.as_str() {
            "br" => self.breaks = (self.breaks + 1).min(2),
            "pre" => {
                self.pre = if tag.is_end { self.pre.saturating_sub(1) } else { self.pre + 1 };
                self.breaks = 2;
            }
            "title" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.breaks = 2;
                if !tag.is_end {
                    let level = tag.name.as_bytes()[1].saturating_sub(b'0').clamp(1, 6);
                    let level = if tag.name == "title" { 1 } else { usize::from(level) };
                    self.put(&format!("{} ", "#".repeat(level)));
                }
            }
            "li" if !tag.is_end => {
                self.breaks = self.breaks.max(1);
                self.put("- ");
            }
            "td" | "th" if tag.is_end => self.put(" | "),
            "a" if !tag.is_end => {
                self.link = attribute(tag.attributes, "href").and_then(|to| self.address(&to));
            }
            "a" => {
                if let Some(to) = self.link.take() {
                    self.put(&format!(" ({to})"));
                }
            }
            "img" => {
                if let Some(alternative) =
                    attribute(tag.attributes, "alt").filter(|text| !text.trim().is_empty())
                {
                    self.say(&format!("[{}]", alternative.trim()));
                }
            }
            "p" | "div" | "section" | "article" | "header" | "footer" | "main" | "ul" | "ol" | "dl"
            | "table" | "blockquote" | "figure" | "form" | "nav" | "aside" | "details" | "hr" | "body" => {
                self.breaks = 2;
            }
            "tr" | "li" | "dt" | "dd" | "summary" | "option" | "figcaption" | "address" => {
                self.breaks = self.breaks.max(1);
            }
            _ => {}
        }
    }

    /// The target of a link, if it can be fetched and is not too long.
    fn address(&self, to: &str) -> Option<String> {
        if to.starts_with('#') {
            return None;
        }
        let url = self.base.join(to).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        Some(String::from(url)).filter(|url| url.len() <= limits::LINK_CHARS)
    }

    fn say(&mut self, raw: &str) {
        let text = unescaped(raw);
        if self.pre > 0 {
            self.put(&text);
            return;
        }
        for (index, word) in text.split([' ', '\t', '\n', '\r', '\u{c}']).enumerate() {
            self.space |= index > 0;
            if !word.is_empty() {
                self.put(word);
            }
        }
    }

    fn put(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.breaks > 0 && !self.text.is_empty() {
            self.text.truncate(self.text.trim_end().len());
            self.text.push_str(&"\n\n"[..self.breaks]);
        } else if self.space && !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
        self.breaks = 0;
        self.space = false;
        self.text.push_str(text);
    }
}

fn attribute(attributes: &str, wanted: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        let end = rest.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() && end == rest.len() {
            return None;
        }
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            (value, rest) = match after.chars().next() {
                Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                _ => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
            };
        }
        if name.eq_ignore_ascii_case(wanted) {
            return Some(unescaped(value));
        }
    }
}

fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        // No name is longer than this, and looking no further keeps it one pass.
        let end = rest.bytes().take(12).position(|byte| byte == b';');
        match end.and_then(|end| Some((end, entity(&rest[1..end])?))) {
            Some((end, c)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => {
                out.push('&');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| !c.is_control() || c.is_whitespace());
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "ndash" => '–',
        "mdash" => '—',
        "hellip" => '…',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "bull" => '•',
        "middot" => '·',
        "times" => '×',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "larr" => '←',
        "rarr" => '→',
        "deg" => '°',
        "euro" => '€',
        "sect" => '§',
        "auml" => 'ä',
        "ouml" => 'ö',
        "uuml" => 'ü',
        "Auml" => 'Ä',
        "Ouml" => 'Ö',
        "Uuml" => 'Ü',
        "szlig" => 'ß',
        "eacute" => 'é',
        "egrave" => 'è',
        "agrave" => 'à',
        "ccedil" => 'ç',
        _ => return None,
    })
}
