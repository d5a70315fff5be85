import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailTextOf } from './mail-message.ts';

test('a mail has its other messages although some are damaged', () => {
  const dataOf = (id: string) =>
    JSON.stringify({ total: 1, resources: [{ kind: 'share', id, frontdoorId: 'f' }] });
  const type = 'share.failing';
  const messages = [
    { id: '1', type, atMs: 1, data: dataOf('whole') },
    { id: '2', type, atMs: 9e15, data: dataOf('of no time') },
    { id: '3', type, atMs: 1, data: '{' },
    { id: '4', type, atMs: 1, data: dataOf('half a character \ud800') },
  ];
  const destination = { id: 'd', name: 'pager' };
  const { text, html } = mailTextOf(messages, { consoleUrl: 'https://console.example.com', destination });
  for (const shown of [text, html]) {
    assert.ok(shown.includes('whole'));
    assert.equal(shown.split('A notification cannot be read').length, 4);
  }
});
