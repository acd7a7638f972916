//! `list_files`.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::root::{Root, shown};
use super::walk::{Ended, Walk, Watch};
use crate::Consent;
use crate::input::parsed;
use crate::limits;

#[derive(Debug, Deserialize)]
struct Input {
    path: Option<String>,
    glob: Option<String>,
    depth: Option<usize>,
}

pub(super) fn run(
    root: &Root,
    input: Map<String, Value>,
    watch: &Watch,
    _: Consent,
) -> Result<String, String> {
    let input: Input = parsed(input)?;
    let path = root.relative(input.path.as_deref().unwrap_or("."))?;
    let default = if input.glob.is_some() { limits::WALK_DEPTH } else { limits::LIST_DEPTH };
    let walk = Walk::new(root, &path, input.glob.as_deref(), input.depth.unwrap_or(default), watch)?;
    let mut lines: Vec<String> = Vec::new();
    let mut bytes = 0;
    let ended = walk.run(&mut |found| {
        let mut line = shown(found.path);
        if found.kind.is_dir() {
            line.push('/');
        } else if found.kind.is_symlink() {
            line.push_str(" (link)");
        } else if !found.kind.is_file() {
            line.push_str(" (special file)");
        }
        if lines.len() >= limits::LISTED_ENTRIES || bytes + line.len() >= limits::FILES_ANSWER_BYTES {
            return Ok(ControlFlow::Break(()));
        }
        bytes += line.len() + 1;
        lines.push(line);
        Ok(ControlFlow::Continue(()))
    })?;
    if lines.is_empty() && ended == Ended::Complete {
        return Ok(match input.glob {
            Some(glob) => format!(
                "[no file below {} matches {glob}; ignored and hidden files are left out]",
                shown(&path)
            ),
            None => format!("[{} holds nothing but, perhaps, ignored and hidden files]", shown(&path)),
        });
    }
    if ended == Ended::Enough {
        lines.push(format!(
            "[stopped after {} entries; name a smaller path, a glob or less depth]",
            lines.len()
        ));
    }
    lines.extend(ended.note());
    Ok(lines.join("\n"))
}
