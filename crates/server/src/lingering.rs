//! A connection that reads on after its last answer.
//!
//! A client that is still sending when the server closes gets a reset, and with it loses the answer. So
//! the server ends its own side first, and discards what arrives until the client closes too.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use crate::limits::{LINGER_BYTES, LINGER_TIMEOUT};

/// Set if a client may still be sending when its connection closes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Linger(Arc<AtomicBool>);

impl Linger {
    pub(crate) fn request(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_requested(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A connection that may linger.
#[derive(Debug)]
pub(crate) struct Lingering {
    stream: TcpStream,
    linger: Linger,
    closing: Option<Closing>,
}

/// Our side is closed.
#[derive(Debug)]
struct Closing {
    until: Pin<Box<Sleep>>,
    left_bytes: usize,
}

impl Lingering {
    pub(crate) fn new(stream: TcpStream, linger: Linger) -> Self {
        Self { stream, linger, closing: None }
    }
}

impl AsyncRead for Lingering {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Lingering {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.closing.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
            if !this.linger.is_requested() {
                return Poll::Ready(Ok(()));
            }
        }
        let closing = this.closing.get_or_insert_with(|| Closing {
            until: Box::pin(sleep(LINGER_TIMEOUT)),
            left_bytes: LINGER_BYTES,
        });
        let mut discarded = [0; 16 * 1024];
        loop {
            if closing.until.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut buffer = ReadBuf::new(&mut discarded);
            // A client that is gone needs no answer.
            let Ok(()) = ready!(Pin::new(&mut this.stream).poll_read(context, &mut buffer)) else {
                return Poll::Ready(Ok(()));
            };
            let read = buffer.filled().len();
            closing.left_bytes = closing.left_bytes.saturating_sub(read);
            if read == 0 || closing.left_bytes == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
