//! The program under strace, which records its system calls and makes some of them fail.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::home::Home;

/// A strace that may trace; `cargo xtask test` provides it.
const STRACE: &str = "MASQUE_TEST_STRACE";

/// Starts programs under strace. Keeps a log per process until it is dropped.
#[derive(Debug)]
pub(crate) struct Tracer {
    strace: OsString,
    options: Vec<String>,
    logs: TempDir,
    started: AtomicUsize,
}

impl Tracer {
    /// A tracer with these options, or `None` without strace.
    pub(crate) fn with(options: Vec<String>) -> Option<Self> {
        static WARNED: Once = Once::new();
        let Some(strace) = std::env::var_os(STRACE).filter(|strace| !strace.is_empty()) else {
            WARNED.call_once(|| {
                // Past the capture of test output: a skipped test must not look like a passed one.
                let _ = std::io::stderr().write_all(
                    b"!!! MASQUE_TEST_STRACE is not set: tests of failing calls and power cuts are SKIPPED !!!\n",
                );
            });
            return None;
        };
        let logs = tempfile::tempdir().unwrap();
        Some(Self { strace, options, logs, started: AtomicUsize::new(0) })
    }

    /// The program in a home, under strace and after `wrapper`.
    pub(crate) fn command(&self, home: &Home, wrapper: &[&str]) -> Command {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let mut strace = Command::new(&self.strace);
        strace.args(["--follow-forks", "--seccomp-bpf", "--decode-fds=path", "--quiet=attach,exit", "-o"]);
        strace.arg(self.log(number)).args(&self.options).arg("--").args(wrapper);
        home.command_under(strace)
    }

    fn log(&self, number: usize) -> PathBuf {
        self.logs.path().join(format!("{number}.log"))
    }

    /// The calls of each process that was started.
    pub(crate) fn calls(&self) -> Vec<Vec<Call>> {
        let logs = (0..self.started.load(Ordering::Relaxed)).map(|number| self.log(number));
        logs.map(|log| parse(&std::fs::read_to_string(log).unwrap_or_default())).collect()
    }
}

/// A system call of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) thread: String,
    pub(crate) name: String,
    /// As strace prints them.
    pub(crate) arguments: String,
    pub(crate) result: String,
    /// The lines of the log at which it began and ended.
    pub(crate) began: usize,
    pub(crate) ended: usize,
}

impl Call {
    pub(crate) fn is_injected(&self) -> bool {
        self.result.ends_with("(INJECTED)")
    }

    pub(crate) fn succeeded(&self) -> bool {
        !self.result.starts_with('-') && !self.result.starts_with('?')
    }

    /// True if the call names a path in a directory, apart from the working directory.
    pub(crate) fn is_in(&self, directory: &str) -> bool {
        let mut rest = self.arguments.as_str();
        let mut others = String::new();
        while let Some((before, after)) = rest.split_once("AT_FDCWD<") {
            others.push_str(before);
            rest = after.split_once('>').map_or("", |(_, after)| after);
        }
        others.push_str(rest);
        others.contains(directory)
    }
}

/// The calls of a log in the order of their ends. A call that never ended has the result `?`.
fn parse(log: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut open: HashMap<&str, Call> = HashMap::new();
    for (line, text) in log.lines().enumerate() {
        let Some((thread, text)) = text.split_once(' ') else { continue };
        let text = text.trim_start();
        if let Some(resumed) = text.strip_prefix("<... ") {
            let Some(mut call) = open.remove(thread) else { continue };
            let after = resumed.split_once(" resumed>").map_or("", |(_, after)| after);
            let Some((rest, result)) = after.rsplit_once(" = ") else { continue };
            call.arguments.push_str(rest.trim_end().trim_end_matches(')'));
            (call.result, call.ended) = (result.to_owned(), line);
            calls.push(call);
            continue;
        }
        let Some((name, rest)) = text.split_once('(') else { continue };
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            continue;
        }
        let (thread_name, name) = (thread.to_owned(), name.to_owned());
        let call = |arguments: &str, result: &str| Call {
            thread: thread_name.clone(),
            name: name.clone(),
            arguments: arguments.to_owned(),
            result: result.to_owned(),
            began: line,
            ended: line,
        };
        match (rest.strip_suffix(" <unfinished ...>"), rest.rsplit_once(" = ")) {
            (Some(arguments), _) => drop(open.insert(thread, call(arguments, "?"))),
            (None, Some((arguments, result))) => {
                calls.push(call(arguments.trim_end().trim_end_matches(')'), result));
            }
            (None, None) => {}
        }
    }
    let end = log.lines().count();
    calls.extend(open.into_values().map(|call| Call { ended: end, ..call }));
    calls
}

#[test]
fn calls_of_several_threads_are_put_together() {
    let log = "\
7 openat(AT_FDCWD</home/u>, \"/etc/x\", O_RDONLY <unfinished ...>
8 fsync(9</home/u/masque.db>) = -1 EIO (Input/output error) (INJECTED)
7 <... openat resumed>)             = 3</etc/x>
7 --- SIGCHLD {si_signo=SIGCHLD} ---
8 pwrite64(9</home/u/masque.db>, \"a) = b\", 6, 0 <unfinished ...>
";
    let calls = parse(log);
    let shown: Vec<_> = calls.iter().map(|call| (call.name.as_str(), call.result.as_str())).collect();
    let fault = "-1 EIO (Input/output error) (INJECTED)";
    assert_eq!(shown, [("fsync", fault), ("openat", "3</etc/x>"), ("pwrite64", "?")]);
    assert_eq!((calls[1].began, calls[1].ended), (0, 2));
    assert_eq!(calls[1].arguments, "AT_FDCWD</home/u>, \"/etc/x\", O_RDONLY");
    assert!(calls[0].is_injected() && calls[0].is_in("/home/u") && !calls[0].succeeded());
    assert!(!calls[1].is_in("/home/u") && calls[1].succeeded() && !calls[2].succeeded());
}
