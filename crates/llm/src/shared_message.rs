//! Messages that several requests share.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde_json::value::RawValue;

use crate::Message;

/// A message of a conversation. Every request sends all of them, so clones share the message and the JSON
/// that an adapter wrote for it.
#[derive(Clone)]
pub struct SharedMessage(Arc<Kept>);

struct Kept {
    message: Message,
    written: OnceLock<Written>,
}

/// The JSON of a message.
struct Written {
    form: Arc<str>,
    values: Vec<Box<RawValue>>,
}

impl SharedMessage {
    /// The message, to change it. Drops its JSON. Clones keep the message as it was.
    pub fn make_mut(&mut self) -> &mut Message {
        if Arc::get_mut(&mut self.0).is_none() {
            *self = Self::from(self.0.message.clone());
        }
        match Arc::get_mut(&mut self.0) {
            Some(kept) => {
                kept.written.take();
                &mut kept.message
            }
            None => unreachable!("a message that was just made has no clones"),
        }
    }

    /// The message's JSON in a form, as several values if the form needs them. Writes it at the first
    /// request. `None` if the message was written in another form before, as when its session moved to
    /// another provider.
    pub fn written<E>(
        &self,
        form: &Arc<str>,
        write: impl FnOnce() -> Result<Vec<Box<RawValue>>, E>,
    ) -> Result<Option<&[Box<RawValue>]>, E> {
        let written = match self.0.written.get() {
            Some(written) => written,
            None => {
                let values = write()?;
                self.0.written.get_or_init(|| Written { form: Arc::clone(form), values })
            }
        };
        Ok((written.form == *form).then_some(written.values.as_slice()))
    }
}

impl From<Message> for SharedMessage {
    fn from(message: Message) -> Self {
        Self(Arc::new(Kept { message, written: OnceLock::new() }))
    }
}

impl Deref for SharedMessage {
    type Target = Message;

    fn deref(&self) -> &Message {
        &self.0.message
    }
}

impl PartialEq for SharedMessage {
    fn eq(&self, other: &Self) -> bool {
        self.0.message == other.0.message
    }
}

impl fmt::Debug for SharedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.message.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn said(text: &str) -> Message {
        Message::User { results: Vec::new(), texts: vec![text.to_owned()] }
    }

    /// The JSON of a message, and true if it was written now.
    fn json(message: &SharedMessage, form: &str) -> (Option<String>, bool) {
        let mut is_new = false;
        let write = || {
            is_new = true;
            to_raw_value(&format!("{:?}", &**message)).map(|value| vec![value])
        };
        let values = message.written(&Arc::from(form), write).expect("JSON");
        (values.map(|values| values[0].get().to_owned()), is_new)
    }

    #[test]
    fn a_message_is_written_once_for_all_clones() {
        let message = SharedMessage::from(said("Hi"));
        let (first, is_new) = json(&message.clone(), "chat");
        assert!(first.is_some() && is_new);
        assert_eq!(json(&message, "chat"), (first, false));
        assert_eq!(json(&message, "gemini"), (None, false));
    }

    #[test]
    fn a_changed_message_is_written_again() {
        let mut message = SharedMessage::from(said("Hi"));
        json(&message, "chat");
        let earlier = message.clone();
        for text in ["Ho", "Hey"] {
            *message.make_mut() = said(text);
            let (written, is_new) = json(&message, "chat");
            assert!(is_new && written.is_some_and(|json| json.contains(text)));
        }
        assert_eq!(*earlier, said("Hi"));
        assert!(!json(&earlier, "chat").1);
    }
}
