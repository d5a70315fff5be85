import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64OfText, bodyView, bytesOfBase64, textOf } from './body-view.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

test('JSON is formatted, and a part of it is shown as it is', () => {
  assert.deepEqual(bodyView(bytes('{"a":[1]}'), 'application/json; charset=utf-8', false), {
    kind: 'json',
    text: '{\n  "a": [\n    1\n  ]\n}',
  });
  assert.deepEqual(bodyView(bytes('{"a":['), 'application/problem+json', false), {
    kind: 'json',
    text: '{"a":[',
  });
});

test('forms are fields, and text is text', () => {
  const form = bodyView(bytes('a=1&b=x%20y'), 'application/x-www-form-urlencoded', false);
  assert.deepEqual(form, {
    kind: 'form',
    fields: [
      ['a', '1'],
      ['b', 'x y'],
    ],
  });
  const page = '<script>alert(1)</script>';
  assert.deepEqual(bodyView(bytes(page), 'text/html', false), { kind: 'text', text: page });
});

test('images that cannot run anything are images, an SVG is text', () => {
  assert.deepEqual(bodyView(bytes('x'), 'image/png', false), { kind: 'image', type: 'image/png' });
  assert.equal(bodyView(bytes('<svg onload="x"/>'), 'image/svg+xml', false).kind, 'text');
});

test('other bytes, and compressed ones, are shown in hex, bounded', () => {
  const view = bodyView(Uint8Array.of(0xff, 0x00, 0x41), 'text/plain', false);
  assert.equal(view.kind, 'hex');
  assert.match(view.kind === 'hex' ? view.text : '', /^00000000 {2}ff 00 41 .* {2}\.\.A$/);
  assert.equal(bodyView(bytes('{}'), 'application/json', true).kind, 'hex');
  const long = bodyView(new Uint8Array(100_000).fill(0xff), '', false);
  assert.ok(long.kind === 'hex' && long.text.length < 100_000 && long.text.endsWith('…'));
});

test('text survives base64 in both directions', () => {
  const text = 'Grüße 🌍';
  assert.equal(textOf(bytesOfBase64(base64OfText(text))), text);
});
