use super::*;

/// Imports from a file of a project. Paths and names are `PATH` or `PATH:NAME,NAME`.
#[track_caller]
fn check(project: &str, from: &str, import: &str, expected: &str) {
    let files: Vec<&str> = project.split_whitespace().chain([from]).collect();
    let exists = |path: &str| match path.ends_with('/') {
        true => files.iter().any(|file| file.starts_with(path)),
        false => files.contains(&path),
    };
    let (path, names) = import.split_once(" : ").unwrap_or((import, ""));
    let names = names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let import = Import { path: path.to_owned(), names };
    let found = resolve(&import, from, Language::of_path(from).expect("a language"), &exists);
    assert_eq!(found.join(" "), expected, "{from}: {import:?}");
}

#[test]
fn rust_modules() {
    let project = "src/lib.rs src/main.rs src/a.rs src/a/b.rs src/a/b/c.rs src/old/mod.rs src/old/deep.rs";
    let rust = |from, import, expected| check(project, from, import, expected);
    rust("src/lib.rs", "mod a", "src/a.rs");
    rust("src/lib.rs", "mod old", "src/old/mod.rs");
    rust("src/a.rs", "mod b", "src/a/b.rs");
    rust("src/old/mod.rs", "mod deep", "src/old/deep.rs");
    rust("src/lib.rs", "mod missing", "");
    rust("src/a/b/c.rs", "crate : old,Item", "src/lib.rs src/old/mod.rs");
    rust("src/a/b/c.rs", "crate::a : b", "src/a/b.rs");
    rust("src/a/b/c.rs", "crate::a : *", "src/a.rs");
    rust("src/a/b/c.rs", "crate::a::Enum : One", "src/a.rs");
    rust("src/a/b/c.rs", "super : helper", "src/a/b.rs");
    rust("src/a/b/c.rs", "super::super : Item", "src/a.rs");
    rust("src/a/b/c.rs", "super::super::super::old : Item", "src/old/mod.rs");
    rust("src/old/deep.rs", "super : Item", "src/old/mod.rs");
    rust("src/a.rs", "self::b : Item", "src/a/b.rs");
    rust("src/lib.rs", "a::b : Item", "src/a/b.rs");
    rust("src/main.rs", "crate::a : Item", "src/a.rs");
    rust("src/lib.rs", "std::collections : HashMap", "");
    rust("src/lib.rs", "super : Item", "");
    rust("src/bin/tool.rs", "mine::old::deep : Item", "src/old/deep.rs");
    rust("tests/it.rs", "mine::a : Item", "src/a.rs");
    rust("tests/it.rs", "serde : Deserialize", "");
    check("tests/common/mod.rs", "tests/it.rs", "mod common", "tests/common/mod.rs");
}

#[test]
fn rust_crates() {
    let project = "crates/my-store/src/lib.rs crates/my-store/src/rows.rs crates/app/src/lib.rs";
    check(project, "crates/app/src/lib.rs", "my_store : Row", "crates/my-store/src/lib.rs");
    check(project, "crates/app/src/lib.rs", "my_store::rows : Row", "crates/my-store/src/rows.rs");
    check(project, "crates/app/tests/it/main.rs", "app : run", "crates/app/src/lib.rs");
    check(project, "src/main.rs", "::my_store::rows", "crates/my-store/src/rows.rs");
}

#[test]
fn python_modules() {
    let project =
        "pkg/__init__.py pkg/models.py pkg/sub/__init__.py pkg/sub/deep.py tool.py lib/src/core/run.py";
    let python = |from, import, expected| check(project, from, import, expected);
    python("main.py", "pkg.models : User", "pkg/models.py");
    python("main.py", "pkg : models,helper", "pkg/__init__.py pkg/models.py");
    python("main.py", "pkg : models", "pkg/models.py");
    python("main.py", "pkg.sub.deep", "pkg/sub/deep.py");
    python("main.py", "pkg.sub.deep.Thing", "pkg/sub/deep.py");
    python("main.py", "os.path : join", "");
    python("pkg/sub/deep.py", ". : other", "pkg/sub/__init__.py");
    python("pkg/sub/deep.py", ".. : models", "pkg/models.py");
    python("pkg/sub/deep.py", "..models : *", "pkg/models.py");
    python("pkg/sub/deep.py", "..... : x", "");
    python("pkg/sub/deep.py", "tool", "tool.py");
    python("lib/tests/test_run.py", "core.run : main", "lib/src/core/run.py");
}

#[test]
fn script_modules() {
    let project = "src/a.ts src/ui/index.tsx src/ui/button.svelte src/lib/api.js src/types.d.ts data/x.json \
                   packages/core/src/index.ts packages/core/src/math.ts";
    let script = |from, import, expected| check(project, from, import, expected);
    script("src/main.ts", "./a", "src/a.ts");
    script("src/main.ts", "./a.js", "src/a.ts");
    script("src/main.ts", "./ui", "src/ui/index.tsx");
    script("src/ui/x.tsx", "../a", "src/a.ts");
    script("src/ui/x.tsx", ".", "src/ui/index.tsx");
    script("src/ui/x.tsx", "./button.svelte", "src/ui/button.svelte");
    script("src/main.ts", "./types", "src/types.d.ts");
    script("src/main.ts", "../data/x.json", "data/x.json");
    script("src/main.ts", "../../out", "");
    script("src/ui/x.tsx", "@/a", "src/a.ts");
    script("src/ui/x.tsx", "$lib/api", "src/lib/api.js");
    script("src/ui/x.tsx", "src/a", "src/a.ts");
    script("src/main.js", "@scope/core", "packages/core/src/index.ts");
    script("src/main.js", "@scope/core/math", "packages/core/src/math.ts");
    script("src/main.js", "react", "");
    script("src/main.js", "lodash/map", "");
}

#[test]
fn go_packages() {
    let project = "store/store.go internal/api/api.go http/local.go services/pay/card/card.go";
    let go = |from, import, expected| check(project, from, import, expected);
    go("main.go", "github.com/me/shop/store", "store/");
    go("main.go", "example.com/internal/api", "internal/api/");
    go("main.go", "shop/internal/api", "internal/api/");
    go("main.go", "net/http", "");
    go("main.go", "github.com/other/http", "");
    go("services/pay/main.go", "github.com/me/pay/card", "services/pay/card/");
    go("internal/api/x.go", "../../store", "store/");
}

#[test]
fn headers() {
    let project = "include/shop/cart.h src/util.h src/deep/own.h";
    let header = |from, import, expected| check(project, from, import, expected);
    header("src/deep/main.c", "own.h", "src/deep/own.h");
    header("src/deep/main.c", "../util.h", "src/util.h");
    header("src/deep/main.c", "util.h", "src/util.h");
    header("src/deep/main.cpp", "<shop/cart.h>", "include/shop/cart.h");
    header("src/deep/main.cpp", "<vector>", "");
    header("src/deep/main.cpp", "../../../x.h", "");
}

#[test]
fn java_classes() {
    let project = "src/main/java/shop/Cart.java src/main/java/shop/items/Item.java";
    let java = |from, import, expected| check(project, from, import, expected);
    java("src/main/java/shop/items/Item.java", "shop.Cart", "src/main/java/shop/Cart.java");
    java("src/main/java/shop/Cart.java", "shop.items.Item.Size", "src/main/java/shop/items/Item.java");
    java("src/main/java/shop/Cart.java", "shop.items : *", "src/main/java/shop/items/");
    java("src/test/java/shop/CartTest.java", "shop.Cart : of", "src/main/java/shop/Cart.java");
    java("src/test/java/shop/CartTest.java", "java.util.List", "");
}
