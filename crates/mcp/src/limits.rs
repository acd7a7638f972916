//! Limits on input, and lifetimes of answers.

use std::time::Duration;

/// Bytes in the body of one HTTP request.
pub(crate) const BODY_BYTES: usize = 4 * 1024 * 1024;
/// How long a client may take to send one body.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Sessions of the older protocol era. The one that was idle longest is closed first; its client
/// starts a new one.
pub(crate) const SESSIONS: usize = 1_024;
/// How long a session of the older era may be idle. Clients leave one open for a working day.
pub(crate) const SESSION_IDLE: Duration = Duration::from_secs(8 * 60 * 60);
/// Resources that one session or one stream may watch.
pub(crate) const SUBSCRIPTIONS: usize = 256;
/// Personas in the client's menu of prompts.
pub(crate) const PROMPTS: usize = 100;
/// Values in one completion; the protocol allows no more.
pub(crate) const COMPLETIONS: usize = 100;
/// Pages of parts that are searched to complete the name of a part of a given type.
pub(crate) const COMPLETION_PAGES: usize = 5;
/// Personas, or skills, in one page of `resources/list`.
pub(crate) const RESOURCE_PAGE: u32 = 50;
/// Skills in one page of `skills/list`, each of which is read for its digest.
pub(crate) const SKILL_PAGE: u32 = 25;
/// Characters in a skill's description, by the Skills extension.
pub(crate) const SKILL_DESCRIPTION_CHARS: usize = 1_024;
/// Characters of a client's name and version that are kept as the author of a change.
pub(crate) const AUTHOR_CHARS: usize = 100;
/// Errors in files that one answer shows; the rest is counted.
pub(crate) const PROBLEMS: usize = 3;
/// How long open streams may last once the server stops.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(200);

/// How long clients may cache tools and templates, which never change while the server runs.
pub(crate) const FIXED_TTL_MS: u64 = 300_000;
/// How long clients may cache a list of the library.
pub(crate) const LIST_TTL_MS: u64 = 1_000;
/// How long clients may cache a resource: the next read sees the last write.
pub(crate) const READ_TTL_MS: u64 = 0;
