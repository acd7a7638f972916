//! How the generated sources look in each language. `{KEY}` in a template is replaced.

/// The templates of a language.
#[derive(Debug)]
pub(super) struct Dialect {
    directory: &'static str,
    /// Endings of every other file. The first one can be imported.
    endings: [&'static str; 2],
    is_camel: bool,
    pub(super) header: &'static str,
    pub(super) import: &'static str,
    /// A type, and the start of a class that all functions are in.
    pub(super) opening: &'static str,
    pub(super) function: &'static str,
    pub(super) statement: &'static str,
    pub(super) branch: &'static str,
    pub(super) closing: &'static str,
}

pub(super) const DIALECTS: [Dialect; 8] = [RUST, PYTHON, TYPESCRIPT, GO, JAVA, JAVASCRIPT, C, CPP];

const RUST: Dialect = Dialect {
    directory: "crates/p{PACKAGE}/src",
    endings: ["rs", "rs"],
    is_camel: false,
    header: "//! Orders and what becomes of them.\n\n",
    import: "use crate::{FILE}::{NAME};\n",
    opening: "\n/// {TEXT}\n#[derive(Debug, Clone)]\npub struct {TYPE} {\n    pub name: String,\n    pub values: Vec<u64>,\n}\n\nimpl {TYPE} {\n    /// {TEXT}\n    pub fn find(&self, key: &str) -> Option<u64> {\n        self.values.iter().copied().find(|value| *value > key.len() as u64)\n    }\n}\n\n",
    function: "/// {TEXT}\npub fn {NAME}(value: u64, limit: u64) -> u64 {\n    let mut total = value;\n{BODY}    total.min(limit)\n}\n\n",
    statement: "    total = total.wrapping_add({CALL}(total, {N}));\n",
    branch: "    if total > limit {\n        total = total.rotate_left({N}) ^ value;\n    }\n",
    closing: "",
};

const PYTHON: Dialect = Dialect {
    directory: "python/p{PACKAGE}",
    endings: ["py", "py"],
    is_camel: false,
    header: "\"\"\"Orders and what becomes of them.\"\"\"\n\n",
    import: "from .{FILE} import {NAME}\n",
    opening: "\n\nclass {TYPE}:\n    \"\"\"{TEXT}\"\"\"\n\n    def __init__(self, name: str, values: list[int]) -> None:\n        self.name = name\n        self.values = values\n\n    def find(self, key: str) -> int | None:\n        \"\"\"{TEXT}\"\"\"\n        return next((value for value in self.values if value > len(key)), None)\n\n\n",
    function: "def {NAME}(value: int, limit: int) -> int:\n    \"\"\"{TEXT}\"\"\"\n    total = value\n{BODY}    return min(total, limit)\n\n\n",
    statement: "    total = total + {CALL}(total, {N})\n",
    branch: "    if total > limit:\n        total = (total << {N}) ^ value\n",
    closing: "",
};

const TYPESCRIPT: Dialect = Dialect {
    directory: "web/p{PACKAGE}",
    endings: ["ts", "ts"],
    is_camel: true,
    header: "// Orders and what becomes of them.\n",
    import: "import { {NAME} } from './{FILE}';\n",
    opening: "\n/** {TEXT} */\nexport interface {TYPE} {\n  name: string;\n  values: readonly number[];\n}\n\n/** {TEXT} */\nexport const EMPTY: {TYPE} = { name: '', values: [] };\n\n",
    function: "/** {TEXT} */\nexport function {NAME}(value: number, limit: number): number {\n  let total = value;\n{BODY}  return Math.min(total, limit);\n}\n\n",
    statement: "  total = total + {CALL}(total, {N});\n",
    branch: "  if (total > limit) {\n    total = (total << {N}) ^ value;\n  }\n",
    closing: "",
};

const JAVASCRIPT: Dialect = Dialect {
    directory: "scripts/p{PACKAGE}",
    endings: ["js", "mjs"],
    import: "import { {NAME} } from './{FILE}.js';\n",
    opening: "\n/** {TEXT} */\nexport class {TYPE} {\n  constructor(name, values) {\n    this.name = name;\n    this.values = values;\n  }\n\n  /** {TEXT} */\n  find(key) {\n    return this.values.find((value) => value > key.length);\n  }\n}\n\n",
    function: "/** {TEXT} */\nexport function {NAME}(value, limit) {\n  let total = value;\n{BODY}  return Math.min(total, limit);\n}\n\n",
    ..TYPESCRIPT
};

const GO: Dialect = Dialect {
    directory: "go/p{PACKAGE}",
    endings: ["go", "go"],
    is_camel: true,
    header: "// Package p{PACKAGE} has orders and what becomes of them.\npackage p{PACKAGE}\n\n",
    import: "import _ \"example.com/go/p{EARLIER}\"\n",
    opening: "\n// {TYPE} is a type. {TEXT}\ntype {TYPE} struct {\n\tName   string\n\tValues []uint64\n}\n\n// Find is a method. {TEXT}\nfunc (it *{TYPE}) Find(key string) uint64 {\n\tfor _, value := range it.Values {\n\t\tif value > uint64(len(key)) {\n\t\t\treturn value\n\t\t}\n\t}\n\treturn 0\n}\n\n",
    function: "// {NAME} is a function. {TEXT}\nfunc {NAME}(value, limit uint64) uint64 {\n\ttotal := value\n{BODY}\treturn min(total, limit)\n}\n\n",
    statement: "\ttotal = total + {CALL}(total, {N})\n",
    branch: "\tif total > limit {\n\t\ttotal = (total << {N}) ^ value\n\t}\n",
    closing: "",
};

const JAVA: Dialect = Dialect {
    directory: "java/src/p{PACKAGE}",
    endings: ["java", "java"],
    is_camel: true,
    header: "package p{PACKAGE};\n\n",
    import: "import static p{PACKAGE}.{FILE}.{NAME};\n",
    opening: "\n/** {TEXT} */\npublic final class {TYPE} {\n    private final long[] values = new long[8];\n\n    /** {TEXT} */\n    public long find(String key) {\n        for (long value : values) {\n            if (value > key.length()) {\n                return value;\n            }\n        }\n        return 0;\n    }\n\n",
    function: "    /** {TEXT} */\n    public static long {NAME}(long value, long limit) {\n        long total = value;\n{BODY}        return Math.min(total, limit);\n    }\n\n",
    statement: "        total = total + {CALL}(total, {N});\n",
    branch: "        if (total > limit) {\n            total = (total << {N}) ^ value;\n        }\n",
    closing: "}\n",
};

const C: Dialect = Dialect {
    directory: "c/p{PACKAGE}",
    endings: ["h", "c"],
    is_camel: false,
    header: "/* Orders and what becomes of them. */\n#include <stdint.h>\n",
    import: "#include \"{FILE}.h\"\n",
    opening: "\n/* {TEXT} */\nstruct {TYPE} {\n    const char *name;\n    uint64_t values[8];\n};\n\n",
    function: "/* {TEXT} */\nstatic inline uint64_t {NAME}(uint64_t value, uint64_t limit) {\n    uint64_t total = value;\n{BODY}    return total < limit ? total : limit;\n}\n\n",
    statement: "    total = total + {CALL}(total, {N});\n",
    branch: "    if (total > limit) {\n        total = (total << {N}) ^ value;\n    }\n",
    closing: "",
};

const CPP: Dialect = Dialect {
    directory: "cpp/p{PACKAGE}",
    endings: ["hpp", "cpp"],
    header: "// Orders and what becomes of them.\n#include <cstdint>\n#include <string>\n#include <vector>\n",
    import: "#include \"{FILE}.hpp\"\n",
    opening: "\nnamespace orders {\n\n/// {TEXT}\nclass {TYPE} {\npublic:\n    explicit {TYPE}(std::string name) : name_(std::move(name)) {}\n\n    /// {TEXT}\n    uint64_t find(const std::string &key) const {\n        for (auto value : values_) {\n            if (value > key.size()) {\n                return value;\n            }\n        }\n        return 0;\n    }\n\nprivate:\n    std::string name_;\n    std::vector<uint64_t> values_;\n};\n\n",
    closing: "}  // namespace orders\n",
    ..C
};

impl Dialect {
    pub(super) fn directory(&self, package: usize) -> String {
        self.directory.replace("{PACKAGE}", &package.to_string())
    }

    pub(super) fn ending(&self, number: usize) -> &'static str {
        self.endings[number % 2]
    }

    pub(super) fn is_importable(&self, number: usize) -> bool {
        self.ending(number) == self.endings[0] && !self.is_root(number)
    }

    /// True for the file that makes a directory a crate.
    pub(super) fn is_root(&self, number: usize) -> bool {
        self.endings[0] == "rs" && number == 0
    }

    /// A name with underscores, as functions are named in the language.
    pub(super) fn cased(&self, name: &str) -> String {
        if !self.is_camel {
            return name.to_owned();
        }
        let mut words = name.split('_');
        words.next().unwrap_or_default().to_owned() + &words.map(capitalised).collect::<String>()
    }

    /// The name of a file. One of Java is called as its class.
    pub(super) fn type_or_file(&self, name: &str) -> String {
        if self.endings[0] == "java" { self.type_name(name) } else { name.to_owned() }
    }

    pub(super) fn type_name(&self, name: &str) -> String {
        name.split('_').map(capitalised).collect()
    }

    pub(super) fn filled(&self, template: &str, values: &[(&str, &str)]) -> String {
        values
            .iter()
            .fold(template.to_owned(), |text, (key, value)| text.replace(&format!("{{{key}}}"), value))
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
