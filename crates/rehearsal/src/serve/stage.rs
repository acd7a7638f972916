//! Requests come in, are read, recorded, and answered by the reply that fits.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{Method, StatusCode, request};
use serde_json::Value;

use super::log::{RequestLog, headers_without_secrets, query_without_secrets};
use super::player::Streams;
use super::{Options, Recorded, perform};
use crate::protocol::{self, Endpoint, Protocol, ReplyCall};
use crate::rendered_reply::RenderedReply;
use crate::request_content::{self, RequestContent};
use crate::script::Reply;
use crate::{Script, limits, wire};

#[derive(Debug)]
pub(super) struct Stage {
    script: Script,
    /// How often each reply was used.
    used: Vec<AtomicU32>,
    /// How many requests for an answer came.
    count: AtomicU64,
    log: Mutex<RequestLog>,
    options: Options,
    started: Instant,
    /// Makes ids differ from those of other runs, which a session may contain.
    run: String,
    pub(super) streams: Arc<Streams>,
}

impl Stage {
    pub(super) fn new(script: Script, options: Options) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let run = match options.fixed {
            Some(_) => String::new(),
            None => format!("{:x}", since.as_nanos() & 0xff_ffff_ffff),
        };
        Self {
            used: script.replies.iter().map(|_| AtomicU32::new(0)).collect(),
            script,
            count: AtomicU64::new(0),
            log: Mutex::default(),
            options,
            started: Instant::now(),
            run,
            streams: Arc::default(),
        }
    }

    pub(super) fn requests(&self) -> Vec<Recorded> {
        self.log().all()
    }

    pub(super) fn requests_since(&self, position: u64) -> (Vec<Recorded>, u64) {
        self.log().since(position)
    }

    pub(super) fn request_count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn clear(&self) {
        self.log().clear();
        self.count.store(0, Ordering::Relaxed);
        self.used.iter().for_each(|used| used.store(0, Ordering::Relaxed));
    }

    fn log(&self) -> MutexGuard<'_, RequestLog> {
        // Nothing is left half done under this lock.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, head: &request::Parts, bytes: usize, body: Value, reply_line: Option<usize>) {
        tracing::info!(path = head.uri.path(), bytes, reply_line, "asked");
        if !self.options.record {
            return;
        }
        let headers = headers_without_secrets(&head.headers);
        let size = bytes + headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        let request = Recorded {
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: head.uri.query().map(query_without_secrets),
            headers,
            body,
            at: self.started.elapsed(),
            reply_line,
        };
        self.log().add(request, size);
    }

    /// The first reply that holds and may still be used.
    fn choose(&self, received: &RequestContent, number: u64) -> Option<&Reply> {
        let mut numbered = self.script.replies.iter().zip(&self.used);
        let found = numbered.find(|(reply, used)| reply.when.holds(received, number) && may_use(reply, used));
        match found {
            Some((reply, _)) => Some(reply),
            None if self.script.strict => None,
            None => Some(&self.script.otherwise),
        }
    }

    fn created(&self) -> u64 {
        match self.options.fixed {
            Some(fixed) => fixed.created,
            None => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                since.map(|since| since.as_secs()).unwrap_or_default()
            }
        }
    }

    fn stamp(&self, number: u64) -> String {
        format!("{}{number:04}", self.run)
    }
}

/// Takes one use, unless all are taken.
fn may_use(reply: &Reply, used: &AtomicU32) -> bool {
    let Some(times) = reply.times else { return true };
    let take = |before| (before < times).then(|| before + 1);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
}

pub(super) async fn answer(State(stage): State<Arc<Stage>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let is_post = head.method == Method::POST;
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
    let endpoint = match head.method {
        Method::POST | Method::GET => protocol::endpoint(is_post, path, query, &head.headers),
        _ => None,
    };
    match endpoint {
        Some(Endpoint::Reply(call)) => stage.reply(&head, &call, body).await,
        Some(Endpoint::Models(protocol, one)) => {
            stage.record(&head, 0, Value::Null, None);
            match wire::models(protocol, &stage.script.models, one.as_deref()) {
                Some(models) => perform::json(StatusCode::OK, &models),
                None => perform::trouble(protocol, 404, "unknown model", ""),
            }
        }
        None => {
            stage.record(&head, 0, Value::Null, None);
            let message = format!(
                "a rehearsal has no {} {path}; it has POST /v1/messages, /v1/responses, /v1/chat/completions, \
                 /v1beta/models/MODEL:generateContent and :streamGenerateContent, GET /v1/models and \
                 /v1beta/models",
                head.method
            );
            perform::trouble(Protocol::OpenaiChat, 404, &message, "")
        }
    }
}

impl Stage {
    async fn reply(&self, head: &request::Parts, call: &ReplyCall, body: Body) -> Response {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let stamp = self.stamp(number);
        let refuse = |status, message: &str| perform::trouble(call.protocol, status, message, &stamp);
        let Some(bytes) = super::read(body).await else {
            return refuse(413, &format!("a request has at most {} bytes", limits::BODY_BYTES));
        };
        let value: Value = match serde_json::from_slice(&bytes) {
            Ok(value) => value,
            Err(error) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                self.record(head, bytes.len(), text.into(), None);
                return refuse(400, &format!("the body is not JSON: {error}"));
            }
        };
        let received = match request_content::read(call, &value) {
            Ok(received) => received,
            Err(rejected) => {
                self.record(head, bytes.len(), value, None);
                return perform::reject(call.protocol, &rejected, &stamp);
            }
        };
        let Some(reply) = self.choose(&received, number) else {
            self.record(head, bytes.len(), value, None);
            let text: String = received.last_user.chars().take(200).collect();
            let message = format!(
                "the rehearsal's script is strict and has no reply for this (call {}, last user text {text:?})",
                received.call
            );
            return refuse(400, &message);
        };
        self.record(head, bytes.len(), value, Some(reply.line));
        self.perform(reply, &received, &bytes, stamp).await
    }

    async fn perform(
        &self,
        reply: &Reply,
        received: &RequestContent,
        body: &Bytes,
        stamp: String,
    ) -> Response {
        let answer = RenderedReply::new(reply, received, body.len(), stamp, self.created());
        perform::perform(reply, received, &answer, &self.streams).await
    }
}
