//! The result of a request.

use std::time::Duration;

use app::AsReport as _;
use operations::{CallError, Effect};
use tokio::time::timeout;
use tracing::Instrument as _;

use crate::problem::Problem;
use crate::request_error::RequestError;

pub(crate) type ApiResult<T> = Result<T, Problem>;

/// Runs work to its end even if the client disconnects, so that nothing is left half done.
pub(crate) async fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = ApiResult<T>> + Send + 'static,
) -> ApiResult<T> {
    match tokio::spawn(work.in_current_span()).await {
        Ok(done) => done,
        Err(error) => {
            tracing::error!(%error, "a request failed");
            Err(RequestError::Crashed.into())
        }
    }
}

/// Waits for an answer, but not forever. Work that was run to completion goes on.
pub(crate) async fn within<T>(
    limit: Duration,
    effect: Effect,
    work: impl Future<Output = ApiResult<T>>,
) -> ApiResult<T> {
    match timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => Err(RequestError::TimedOut { limit, writes: effect != Effect::Read }.into()),
    }
}

impl From<CallError> for Problem {
    fn from(refusal: CallError) -> Self {
        match refusal {
            CallError::Input(error) => error.into(),
            CallError::NoSessions => CallError::NoSessions.report().into(),
            CallError::Library(error) => error.into(),
            CallError::Json(error) => {
                tracing::error!(%error, "an answer could not be written");
                CallError::Json(error).report().into()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use uuid::Uuid;

    use super::*;
    use axum::response::IntoResponse as _;

    #[tokio::test]
    async fn work_outlives_its_client() {
        let (go, gone) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let work = run_to_completion(async move {
            let _ = gone.await;
            let _ = tell.send("done");
            Ok(())
        });
        assert!(timeout(Duration::from_millis(20), work).await.is_err(), "the client hangs up");
        go.send(()).expect("it is still at work");
        assert_eq!(timeout(Duration::from_secs(5), told).await.expect("in time"), Ok("done"));
    }

    #[tokio::test]
    async fn a_request_has_a_bound() {
        for (effect, may_have_happened) in [(Effect::Read, false), (Effect::Create, true)] {
            let problem = within::<()>(Duration::from_millis(1), effect, std::future::pending());
            let problem = problem.await.expect_err("no answer");
            let report = problem.report();
            assert_eq!(
                (report.code, report.may_have_happened),
                (app::Code::TimedOut, Some(may_have_happened))
            );
            let response = problem.into_response();
            assert_eq!(response.status().as_u16(), 503);
            assert!(response.headers().contains_key("retry-after"));
        }
    }

    #[tokio::test]
    async fn kinds_of_errors_have_their_statuses() {
        for (error, status) in [
            (app::Error::from(app::SessionError::Unknown(Uuid::nil())), 404),
            (app::SessionError::Busy(Uuid::nil()).into(), 409),
            (app::ValueError::Empty { field: "content" }.into(), 400),
            (app::SessionError::NoProject.into(), 403),
        ] {
            let said = error.to_string();
            let refused = async { Err(Problem::from(error)) };
            let response = run_to_completion::<()>(refused).await.expect_err("an error").into_response();
            assert_eq!(response.status().as_u16(), status, "{said}");
        }
    }
}
