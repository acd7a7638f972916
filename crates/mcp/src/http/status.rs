//! The HTTP status of an error.

use http::StatusCode;
use persona::{Code, ErrorKind};

/// The status of a code: its own where HTTP has one for it, else that of its kind.
pub fn status_of(code: Code) -> StatusCode {
    match code {
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
        Code::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        // The request is fine: it succeeds once the database takes writes again.
        Code::DatabaseUnavailable | Code::DatabaseReadOnly => StatusCode::SERVICE_UNAVAILABLE,
        Code::DatabaseFull | Code::FileFull => StatusCode::INSUFFICIENT_STORAGE,
        code => match code.kind() {
            ErrorKind::Missing => StatusCode::NOT_FOUND,
            ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ErrorKind::Denied => StatusCode::FORBIDDEN,
            ErrorKind::Busy => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Broken => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_the_statuses() {
        let text = include_str!("../../../../docs/errors.md");
        for code in Code::ALL {
            let row = text.lines().find(|line| line.starts_with(&format!("| `{code}` |")));
            let status = row.and_then(|row| row.split('|').nth(3)).map(str::trim);
            assert_eq!(status, Some(status_of(*code).as_str()), "{code}");
        }
    }
}
