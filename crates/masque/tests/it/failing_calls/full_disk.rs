//! A disk that is full: a file does not grow beyond a size, and the write that would make it grow is cut
//! short.

use persona::Scope;

use super::library::{Kept, read, write_project};
use super::steps::{Answer, Deed, Step, check, named};
use crate::home::{CommandOutput, Home};
use crate::strace::Tracer;

/// Starts a program that may not write files of more than so many blocks of 512 bytes. Without the trap, the
/// first such write would end it.
const LIMITED: &str = "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"";

/// The sizes of files in blocks. The shared memory of the database takes 64.
const SIZES: [usize; 4] = [80, 100, 120, 200];

/// The size of an included text. The files that the others write to are smaller.
const TEXT_BYTES: usize = 120 * 1024;

#[test]
fn a_full_disk_loses_no_acknowledged_write() {
    let Some(watch) = Tracer::with(vec!["--trace=write,pwrite64".to_owned()]) else { return };
    let home = Home::new();
    write_project(&home);
    let part = named(Scope::Project, "large");
    let entry =
        format!("[parts.{part}]\npart_type = \"tone\"\ncontent = \"\"\"{}\"\"\"\n", "x".repeat(TEXT_BYTES));
    home.write("project/personas.toml", &format!("{}\n{entry}", super::library::BY_HAND));
    let before = read(&home.path(""));
    let kept = Kept::of(&home, &[".local", "project"]);
    let steps = [
        Step::new(Scope::Project, Deed::Part(named(Scope::Project, "new"))),
        Step::new(
            Scope::Shared,
            Deed::Import((0..40).map(|number| named(Scope::Shared, &format!("part-{number}"))).collect()),
        ),
    ];
    for size in SIZES {
        kept.restore(&home);
        let mut answers = Vec::new();
        for step in &steps {
            let size = size.to_string();
            let mut command = watch.command(&home, &["sh", "-c", LIMITED, "sh", &size]);
            command.args(step.arguments(&home).expect("a command"));
            let output = CommandOutput::of(command.output().unwrap());
            answers.push((step.clone(), Answer::of(output.code == 0)));
            assert!(!output.stderr.contains("panicked"), "{size} blocks, {step:?}: {output:#?}");
        }
        check(&before, &answers, &read(&home.path("")));
    }
    let calls = watch.calls().concat();
    for (call, path) in [("write", ".personas-"), ("pwrite64", "masque.db-wal")] {
        let failed = |made: &&crate::strace::Call| {
            made.name == call && made.arguments.contains(path) && made.result.contains("EFBIG")
        };
        assert!(calls.iter().any(|made| failed(&made)), "no {call} to {path} failed");
    }
}
