//! The result of a request.

use app::AsReport as _;
use operations::CallError;

use crate::problem::Problem;
use crate::request_error::RequestError;

pub(crate) type ApiResult<T> = Result<T, Problem>;

/// Runs work to its end even if the client disconnects, so that nothing is left half done.
pub(crate) async fn run_to_completion<T: Send + 'static>(
    work: impl Future<Output = Result<T, CallError>> + Send + 'static,
) -> Result<T, Refused> {
    match tokio::spawn(work).await {
        Ok(done) => done.map_err(Refused::Operation),
        Err(error) => {
            tracing::error!(%error, "a request failed");
            Err(Refused::Crashed)
        }
    }
}

/// The failure of a request.
#[derive(Debug)]
pub(crate) enum Refused {
    Operation(CallError),
    Crashed,
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Operation(refusal) => refusal.into(),
            Refused::Crashed => RequestError::Crashed.into(),
        }
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
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;
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
    async fn kinds_of_errors_have_their_statuses() {
        for (error, status) in [
            (app::Error::from(app::SessionError::Unknown(Uuid::nil())), 404),
            (app::SessionError::Busy(Uuid::nil()).into(), 409),
            (app::ValueError::Empty { field: "content" }.into(), 400),
            (app::SessionError::NoProject.into(), 403),
        ] {
            let said = error.to_string();
            let response = run_to_completion::<()>(async { Err(error.into()) }).await.expect_err("an error");
            let response = Problem::from(response).into_response();
            assert_eq!(response.status().as_u16(), status, "{said}");
        }
    }
}
