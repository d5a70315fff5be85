import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEADER_TABLE, headerRow, type HeaderRow } from './header-table.ts';
import { MESSAGE_TABLE, messageRow, type MessageRow } from './message-table.ts';
import { channelOf, loadRecordedFrames } from '../../test/support/recorded-frames.ts';

test('no content type and no name key stands twice in the message table', () => {
  const ids = Object.values<MessageRow>(MESSAGE_TABLE).map(({ id }) => id);
  assert.deepEqual([...new Set(ids)], ids);
  for (const row of Object.values<MessageRow>(MESSAGE_TABLE)) assert.equal(messageRow(row.id), row);
});

test('no header id stands twice in one context', () => {
  for (const [context, rows] of Object.entries(HEADER_TABLE)) {
    const ids = Object.values<HeaderRow>(rows).map(({ id }) => id);
    assert.deepEqual([...new Set(ids)], ids, context);
  }
});

test('every recorded frame has a known content type and known headers of the right size', () => {
  const frames = loadRecordedFrames();
  assert.equal(frames.length, 559);
  const sizes: Partial<Record<HeaderRow['type'], number>> = {
    bool: 1,
    byte: 1,
    u16: 2,
    u32: 4,
    i32: 4,
    u64: 8,
  };
  for (const frame of frames) {
    const row = messageRow(frame.type);
    assert.ok(row, `${frame.connection} ${String(frame.type)} ${frame.name}`);
    if (frame.type !== 3) assert.equal(row.name.startsWith(frame.name), true, `${row.name} ${frame.name}`);
    if (row.body === 'empty') assert.equal(frame.bodyBytes, 0, frame.name);
    for (const [id, hex] of frame.headers) {
      const header = headerRow(channelOf(frame), frame.type, id);
      assert.ok(header, `${frame.connection} ${frame.name} header ${String(id)}`);
      const size = sizes[header.type];
      if (size !== undefined) assert.equal(hex.length / 2, size, `${frame.name} ${header.name}`);
    }
  }
});

test('one number means different headers in different messages', () => {
  assert.equal(headerRow('link', 0, 1)?.name, 'ChannelType');
  assert.equal(headerRow('edge', 0, 1)?.name, 'ReplyFor');
  assert.equal(headerRow('ctrl', 20218, 11)?.name, 'SessionToken');
  assert.equal(headerRow('ctrl', 20219, 11)?.name, 'CircuitId');
  assert.equal(headerRow('ctrl', 20200, 1014)?.name, 'SyncStrategyState');
  assert.equal(headerRow('ctrl', 20002, 1014)?.name, 'ErrorCode');
});
