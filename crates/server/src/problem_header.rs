//! A header on every response while a file has an error: the response itself shows the last valid
//! version.

use app::{Library, Problem, ProblemLevel};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderName, HeaderValue};
use persona::Scope;

use crate::limits::{HEADER_CHARS, HEADER_PROBLEMS};

const HEADER: HeaderName = HeaderName::from_static("masque-problem");

pub(crate) async fn tell(State(library): State<Library>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    // Read afterwards: the request itself may have reloaded the file.
    if library.has_errors() {
        for value in values(&library) {
            response.headers_mut().append(HEADER, value);
        }
    }
    response
}

fn values(library: &Library) -> Vec<HeaderValue> {
    let problems = library.problems();
    let errors = problems.iter().filter(|problem| problem.level == ProblemLevel::Error);
    let more = errors.clone().count().saturating_sub(HEADER_PROBLEMS);
    let mut said: Vec<String> = errors.take(HEADER_PROBLEMS).map(|problem| line(library, problem)).collect();
    if more > 0 {
        said.push(format!("{more} more"));
    }
    said.iter().filter_map(|said| HeaderValue::try_from(said).ok()).collect()
}

/// Scope, file, position and error, as far as a header can hold them. The directory stays private.
fn line(library: &Library, problem: &Problem) -> String {
    let is_of = |scope: &&Scope| library.path(**scope) == Some(problem.path.as_path());
    let scope = Scope::ALL.iter().find(is_of).map_or("", |scope| scope.as_str());
    let file = problem.path.file_name().unwrap_or_default().to_string_lossy();
    let place = match problem.line {
        0 => String::new(),
        line => format!(":{line}:{}", problem.column),
    };
    let text = format!("{scope} {file}{place}: {}", problem.message);
    let clean = |c: char| if c == ' ' || c.is_ascii_graphic() { c } else { '?' };
    text.trim_start().chars().take(HEADER_CHARS).map(clean).collect()
}
