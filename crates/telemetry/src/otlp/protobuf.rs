//! Messages as protobuf.

use super::message::{Field, Message};

/// The wire types of fields.
const VARINT: u32 = 0;
const FIXED_64: u32 = 1;
const LENGTH: u32 = 2;
const FIXED_32: u32 = 5;

pub(super) fn write(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, _, field) in &message.fields {
        write_field(*number, field, &mut bytes);
    }
    bytes
}

fn write_field(number: u32, field: &Field, bytes: &mut Vec<u8>) {
    let tag = |kind: u32, bytes: &mut Vec<u8>| write_varint(u64::from(number << 3 | kind), bytes);
    match field {
        Field::Text(text) => {
            tag(LENGTH, bytes);
            write_bytes(text.as_bytes(), bytes);
        }
        Field::Id(id) => {
            tag(LENGTH, bytes);
            write_bytes(id, bytes);
        }
        Field::Time(time) => {
            tag(FIXED_64, bytes);
            bytes.extend(time.to_le_bytes());
        }
        Field::Number(value) => {
            tag(FIXED_64, bytes);
            bytes.extend(value.to_le_bytes());
        }
        Field::Flags(flags) => {
            tag(FIXED_32, bytes);
            bytes.extend(flags.to_le_bytes());
        }
        Field::Choice(choice) => {
            tag(VARINT, bytes);
            write_varint(*choice, bytes);
        }
        // A negative number has all ten bytes.
        Field::Whole(whole) => {
            tag(VARINT, bytes);
            write_varint(whole.cast_unsigned(), bytes);
        }
        Field::Flag(flag) => {
            tag(VARINT, bytes);
            write_varint(u64::from(*flag), bytes);
        }
        Field::One(message) => {
            tag(LENGTH, bytes);
            write_bytes(&write(message), bytes);
        }
        Field::Many(messages) => {
            for message in messages {
                tag(LENGTH, bytes);
                write_bytes(&write(message), bytes);
            }
        }
    }
}

fn write_bytes(written: &[u8], bytes: &mut Vec<u8>) {
    write_varint(written.len() as u64, bytes);
    bytes.extend(written);
}

/// Seven bits in each byte, the lowest first; the highest bit says that more follow.
fn write_varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
