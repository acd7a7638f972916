//! The command line as it is parsed: some commands have short names, and every command names the global
//! options in one line of its help.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use clap::{Arg, Command, CommandFactory as _};

use super::{Cli, KindWord};

/// Commands and their short names.
pub(crate) const SHORT_NAMES: [(&str, &str); 4] =
    [("list", "ls"), ("duplicate", "cp"), ("rename", "mv"), ("delete", "rm")];

/// The command line.
pub(crate) fn command() -> Command {
    let root = SHORT_NAMES.into_iter().fold(Cli::command(), |root, (name, short)| {
        root.mut_subcommand(name, |command| command.visible_alias(short))
    });
    let root = with_typed_kinds(root);
    let global: Vec<Arg> =
        root.get_arguments().filter(|argument| argument.is_global_set()).cloned().collect();
    let named: Vec<String> =
        global.iter().filter_map(|argument| argument.get_long()).map(|long| format!("--{long}")).collect();
    let line = format!("Global options: {} (see `masque --help`)", named.join(", "));
    root.mut_subcommands(|command| with_line(command, &global, &line))
}

/// The kinds on the command line that are written in another case, such as `Part`, with their spelling.
static TYPED_KINDS: LazyLock<BTreeMap<String, KindWord>> = LazyLock::new(|| {
    let words = std::env::args_os().filter_map(|word| word.into_string().ok());
    words.filter_map(|word| KindWord::in_another_case(&word).map(|kind| (word, kind))).collect()
});

/// Takes the kinds of `create` in any case. Values have an option for that, commands have none, so the
/// spelling that was typed becomes an alias.
fn with_typed_kinds(root: Command) -> Command {
    TYPED_KINDS.iter().fold(root, |root, (word, kind)| {
        root.mut_subcommand("create", |create| {
            create.mut_subcommand(kind.dashed(), |kind| kind.alias(word.as_str()))
        })
    })
}

/// Replaces the list of global options by a line. A command that has an option of the same name keeps it.
fn with_line(command: Command, global: &[Arg], line: &str) -> Command {
    let help = match command.get_after_help() {
        Some(help) => format!("{}\n\n{line}", help.to_string().trim_end()),
        None => line.to_owned(),
    };
    let own = |argument: &&Arg| !command.get_arguments().any(|own| own.get_id() == argument.get_id());
    let hidden: Vec<Arg> = global.iter().filter(own).map(|argument| argument.clone().hide(true)).collect();
    command.args(hidden).after_help(help).mut_subcommands(|command| with_line(command, global, line))
}
