//! Packages of Go: directories. The module's own path is not known, so the end of an import's path counts.

use super::{Files, directories, directory, joined};

/// First parts of the paths of the standard library.
const STANDARD: [&str; 49] = [
    "archive",
    "bufio",
    "builtin",
    "bytes",
    "cmp",
    "compress",
    "container",
    "context",
    "crypto",
    "database",
    "debug",
    "embed",
    "encoding",
    "errors",
    "expvar",
    "flag",
    "fmt",
    "go",
    "hash",
    "html",
    "image",
    "index",
    "io",
    "iter",
    "log",
    "maps",
    "math",
    "mime",
    "net",
    "os",
    "path",
    "plugin",
    "reflect",
    "regexp",
    "runtime",
    "slices",
    "sort",
    "strconv",
    "strings",
    "structs",
    "sync",
    "syscall",
    "testing",
    "text",
    "time",
    "unicode",
    "unique",
    "unsafe",
    "weak",
];

/// Hosts whose paths start with the host, an owner and a repository.
const CODE_HOSTS: [&str; 5] = ["bitbucket.org", "codeberg.org", "github.com", "gitlab.com", "golang.org"];

pub(super) fn resolve(path: &str, from: &str, files: Files<'_>) -> Vec<String> {
    if path.starts_with('.') {
        let package = joined(directory(from), path).map(|path| format!("{path}/"));
        return package.filter(|package| files.has(package)).into_iter().collect();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let first = parts.first().copied().unwrap_or_default();
    if STANDARD.contains(&first) {
        return Vec::new();
    }
    let least = if CODE_HOSTS.contains(&first) { 3 } else { 1 };
    let ends = (least..parts.len()).filter_map(|start| parts.get(start..).map(|end| end.join("/")));
    ends.filter_map(|end| files.first(directories(from).map(|above| format!("{above}{end}/"))))
        .take(1)
        .collect()
}
