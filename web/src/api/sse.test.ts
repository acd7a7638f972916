import { expect, test } from 'vitest';
import { SseParser, backoffMs } from './sse';

const STREAM = ': hello\r\nid: 7\nevent: change\ndata: {"a":1}\n\nretry: 2000\nid: 8\ndata: one\ndata:two\n\ndata: unfinished';

test('parses events, however the stream is cut', () => {
  const whole = new SseParser().push(STREAM);
  expect(whole).toEqual([
    { id: '7', event: 'change', data: '{"a":1}' },
    { id: '8', event: 'message', data: 'one\ntwo' },
  ]);
  for (let size = 1; size < STREAM.length; size += 1) {
    const parser = new SseParser();
    const events = [];
    for (let at = 0; at < STREAM.length; at += size) events.push(...parser.push(STREAM.slice(at, at + size)));
    expect(events, `in pieces of ${size}`).toEqual(whole);
    expect(parser.retryMs).toBe(2000);
  }
});

test('CRLF between chunks is one line end', () => {
  const parser = new SseParser();
  expect(parser.push('data: a\r')).toEqual([]);
  expect(parser.push('\ndata: b\r\n\r\n')).toEqual([{ id: '', event: 'message', data: 'a\nb' }]);
});

test('an event without data is none, and an id stays until the next one', () => {
  const parser = new SseParser();
  expect(parser.push('id: 3\nevent: ping\n\ndata: x\n\n')).toEqual([{ id: '3', event: 'message', data: 'x' }]);
});

test('waits longer each time, to a limit, and never less than the server asks', () => {
  expect([1, 2, 3, 10, 99].map((n) => backoffMs(n, undefined, 0))).toEqual([500, 1000, 2000, 15_000, 15_000]);
  expect(backoffMs(1, 2000, 0)).toBe(2000);
  expect(backoffMs(1, undefined, 1)).toBe(625);
});

test('an event that breaks off in the middle does not count', () => {
  const parser = new SseParser();
  parser.push('id: 7\ndata: x\n\nid: 8\nevent: te');
  expect(parser.lastId).toBe('7');
});
