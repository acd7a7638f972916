//! `masque update [KIND] NAME`. With a kind, its subcommand checks the flags. Without one, the flags of all
//! kinds are taken as they are, and checked once the name's kind is known.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use persona::field::Input;
use persona::{Kind, Name, Scope};

use super::fields::{self, GivenFields};
use super::{ChangeIn, Why, chosen, command_for};
use crate::cli::scope::name_to_change;
use crate::cli::{ScopeOption, Target};
use crate::failure::{self, Result};

const UPDATE_HELP: &str = "\
Only the given fields change; an empty value (--summary \"\") clears one. With --if-revision, the \
update fails if the entity has changed since. `masque update KIND --help` lists the fields of a kind.

  masque update mentor --summary \"You teach by asking.\" --message \"shorter\"
  masque update part calm-tone --content-file calm.md
  masque show part calm-tone --json > calm.json   # edit it, then
  masque update part calm-tone --file calm.json   # fails if it has changed since";

const WORDS: &str = "words";
const RENAME: &str = "rename";

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Name of the entity
    #[arg(value_parser = name_to_change)]
    pub(crate) name: Name,
    #[command(flatten)]
    pub(crate) given: UpdateOptions,
}

/// The options of an update that all kinds have.
#[derive(Debug, Args)]
pub(crate) struct UpdateOptions {
    /// Fail unless it is at this revision
    #[arg(long, value_name = "N")]
    pub(crate) if_revision: Option<i64>,
    /// TOML or JSON file with the new values of fields; "-" for standard input
    #[arg(long, short, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) change: ChangeIn,
    #[command(flatten)]
    pub(crate) why: Why,
}

/// An update of an entity whose kind is known.
#[derive(Debug)]
pub(crate) struct UpdateKind {
    pub(crate) kind: Kind,
    pub(crate) rename: Option<Name>,
    pub(crate) args: UpdateArgs,
    pub(crate) fields: GivenFields,
}

/// An update, whose kind may still be open.
#[derive(Debug)]
pub(crate) enum UpdateCommand {
    OfKind(UpdateKind),
    Named(NamedUpdate),
}

/// An update before its kind is known.
#[derive(Debug)]
pub(crate) struct NamedUpdate {
    words: Vec<String>,
    pub(crate) scope: Option<Scope>,
    /// The given flags, each as `--flag=value`.
    flags: Vec<OsString>,
}

impl NamedUpdate {
    pub(crate) fn target(&self) -> Result<Target<'_>> {
        Target::parse(&self.words, (0, 0), ScopeOption::OF_WRITING)
    }

    /// Checks the flags against those of the kind.
    pub(crate) fn of_kind(&self, kind: Kind, name: &Name) -> Result<UpdateKind> {
        let words = self.flags.iter().cloned().chain(["--".into(), name.as_str().into()]);
        let matches = command_of(kind).no_binary_name(true).try_get_matches_from(words);
        let parsed = matches.and_then(|matches| UpdateKind::parse(kind, &matches));
        parsed.map_err(|error| failure::usage(&error).into())
    }
}

impl UpdateKind {
    fn parse(kind: Kind, matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let rename = if is_renamed_by_update(kind) { matches.get_one::<Name>(RENAME).cloned() } else { None };
        let fields = fields::collect(matches, kind, own_input);
        Ok(Self { kind, rename, args: UpdateArgs::from_arg_matches(matches)?, fields })
    }
}

/// True for a kind that `update` can rename too. `masque rename` renames every kind.
fn is_renamed_by_update(kind: Kind) -> bool {
    matches!(kind, Kind::Persona | Kind::Part | Kind::Trait | Kind::Skill | Kind::Guardrail | Kind::Arc)
}

fn own_input(input: Input) -> bool {
    input == Input::Own
}

/// The subcommand of a kind.
fn command_of(kind: Kind) -> Command {
    let command = UpdateArgs::augment_args(command_for(kind)).about(about(kind));
    let command = if is_renamed_by_update(kind) { command.arg(rename_argument()) } else { command };
    fields::augment(command, kind, own_input).mut_args(|argument| in_place(kind, argument))
}

fn about(kind: Kind) -> String {
    match kind {
        Kind::Persona => "Update a persona's own fields; `link` and `arc` change its pieces".to_owned(),
        Kind::Arc => "Update an arc's own fields; `masque arc` changes its stages".to_owned(),
        kind => format!("Update a {}", kind.spoken()),
    }
}

fn rename_argument() -> Arg {
    Arg::new(RENAME)
        .long(RENAME)
        .value_name("NEW")
        .value_parser(clap::value_parser!(Name))
        .help("Rename it, and update all references to it")
}

/// Adds the fate of the current value to a flag's help.
fn in_place(kind: Kind, argument: Arg) -> Arg {
    let Some(note) = fields::update_note(kind, argument.get_id().as_str()) else { return argument };
    match argument.get_help().map(|help| format!("{help}; {note}")) {
        Some(help) => argument.help(help),
        None => argument,
    }
}

/// The flags of all kinds and their aliases, without those that all kinds have.
static FLAGS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let common = UpdateArgs::augment_args(Command::new("update"));
    let is_common = |argument: &Arg| common.get_arguments().any(|known| known.get_id() == argument.get_id());
    let mut longs = BTreeSet::new();
    for command in Kind::ALL.iter().map(|kind| command_of(*kind)) {
        for flag in command.get_arguments().filter(|flag| !is_common(flag)) {
            let aliases = flag.get_all_aliases().into_iter().flatten();
            longs.extend(flag.get_long().into_iter().chain(aliases).map(str::to_owned));
        }
    }
    longs
});

/// The flags of all kinds, untyped.
fn flags_of_kinds() -> impl Iterator<Item = Arg> {
    FLAGS.iter().map(|long| {
        let flag = Arg::new(long.as_str()).long(long.as_str()).value_name("VALUE");
        flag.action(ArgAction::Append).value_parser(clap::value_parser!(OsString)).hide(true)
    })
}

impl Args for UpdateCommand {
    fn augment_args(command: Command) -> Command {
        let words = Arg::new(WORDS)
            .value_name("NAME")
            .num_args(1..=2)
            .required(true)
            .help("Name of the entity, after its kind if several kinds have the name");
        let command = command
            .subcommands(Kind::ALL.iter().map(|kind| command_of(*kind)))
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
            .arg_required_else_help(true)
            .subcommand_help_heading("Kinds")
            .override_usage("masque update [OPTIONS] [KIND] <NAME>")
            .after_help(UPDATE_HELP)
            .arg(words);
        UpdateOptions::augment_args(command).args(flags_of_kinds())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for UpdateCommand {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        if matches.subcommand_name().is_some() {
            let (kind, matches) = chosen(matches)?;
            return Ok(Self::OfKind(UpdateKind::parse(kind, matches)?));
        }
        let words = matches.get_many::<String>(WORDS).into_iter().flatten().cloned().collect();
        let scope = UpdateOptions::from_arg_matches(matches)?.change.scope;
        let common = UpdateOptions::augment_args(Command::new("update"));
        let known: Vec<Arg> = common.get_arguments().cloned().chain(flags_of_kinds()).collect();
        let flags = known.iter().flat_map(|flag| given(flag, matches)).collect();
        Ok(Self::Named(NamedUpdate { words, scope, flags }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A flag as it was given, once for each value.
fn given(flag: &Arg, matches: &ArgMatches) -> Vec<OsString> {
    let id = flag.get_id().as_str();
    let (Some(long), Some(ValueSource::CommandLine)) = (flag.get_long(), matches.value_source(id)) else {
        return Vec::new();
    };
    let values = matches.get_raw(id).into_iter().flatten();
    let written = values.map(|value| {
        let mut written = OsString::from(format!("--{long}="));
        written.push(value);
        written
    });
    written.collect()
}
