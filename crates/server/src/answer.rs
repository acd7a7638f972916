//! What a request gets: a problem, or the outcome of work that was done to its end.

use http::StatusCode;

use crate::problem::Problem;

pub(crate) type Answer<T> = Result<T, Problem>;

/// Does what was asked to its end, also when the client goes away meanwhile: nothing is left
/// half-way because somebody hung up.
pub(crate) async fn whole<T: Send + 'static>(
    work: impl Future<Output = app::Result<T>> + Send + 'static,
) -> Answer<T> {
    match tokio::spawn(work).await {
        Ok(done) => Ok(done?),
        Err(error) => {
            tracing::error!(%error, "a request failed");
            Err(Problem::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "this went wrong in a way that it never should",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;
    use axum::response::IntoResponse as _;

    #[tokio::test]
    async fn what_was_begun_is_done_though_nobody_waits() {
        let (go, gone) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let work = whole(async move {
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
            (app::Error::Absent("none".to_owned()), 404),
            (app::Error::Running("busy".to_owned()), 409),
            (app::Error::Invalid("wrong".to_owned()), 400),
            (app::Error::Denied("no".to_owned()), 403),
        ] {
            let said = error.to_string();
            let response = whole::<()>(async { Err(error) }).await.expect_err("an error").into_response();
            assert_eq!(response.status().as_u16(), status, "{said}");
        }
    }
}
