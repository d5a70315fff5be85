// Headers that the owner of a share sets, adds or removes, towards the service and towards clients.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { reservedHeaderReason } from '#domain/upstream';
import { fieldCode, OTHER } from './http/field-name-table.ts';
import { get, GatewayWorld } from './testing/gateway-world.ts';

describe('header rules of a share', () => {
  let world: GatewayWorld;
  let seen: IncomingMessage;
  before(async () => {
    world = await GatewayWorld.start();
    await world.serve(
      'app',
      (request, response) => {
        seen = request;
        const upgraded = ['Server', 'old', 'X-Frame-Options', 'SAMEORIGIN', 'Via', 'a', 'server', 'older'];
        response.writeHead(200, upgraded).end('ok');
      },
      {
        upstream: {
          requestHeaders: [
            { action: 'set', name: 'X-Tenant', value: 'blue' },
            { action: 'add', name: 'Accept-Language', value: 'de' },
            { action: 'remove', name: 'User-Agent' },
          ],
          responseHeaders: [
            { action: 'remove', name: 'Server' },
            { action: 'set', name: 'X-Frame-Options', value: 'DENY' },
            { action: 'add', name: 'Via', value: 'b' },
          ],
        },
      },
    );
  });
  after(() => world.close());

  it('change requests, in any spelling of the name', async () => {
    const client = await world.client();
    client.send(
      get('app', '/', 'x-TENANT: red\r\nUser-Agent: u\r\nAccept-Language: en\r\nConnection: close\r\n'),
    );
    const answer = await client.ended();
    const lines = seen.rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [`${name}: ${seen.rawHeaders[at + 1]}`] : [],
    );
    assert.deepEqual(
      lines.filter((line) => /tenant|user-agent|accept-language/i.test(line)),
      ['Accept-Language: en', 'X-Tenant: blue', 'Accept-Language: de'],
    );
    assert.equal(
      lines.some((line) => line.startsWith('X-Forwarded-For: 127.0.0.1')),
      true,
    );
    const head = answer.split('\r\n').filter((line) => /^(?:server|x-frame|via)/i.test(line));
    assert.deepEqual(head, ['Via: a', 'X-Frame-Options: DENY', 'Via: b']);
  });

  it('cannot name what gateways interpret or set', () => {
    const names = [
      'Host',
      'Content-Length',
      'TRANSFER_ENCODING',
      'connection',
      'Cookie',
      'authorization',
      'te',
    ];
    const reserved = [
      'Forwarded',
      'X_Forwarded_For',
      'x-forwarded-anything',
      'Frontdoor-Identity',
      'zrok-auth-email',
    ];
    for (const name of [
      ...names,
      ...reserved,
      'x-real-ip',
      'Proxy',
      'X-Original-URL',
      'http2-settings',
      'expect',
    ]) {
      assert.notEqual(fieldCode(name, 0, name.length), OTHER, name);
      assert.notEqual(reservedHeaderReason(name), undefined, name);
    }
    for (const name of ['X-Frame-Options', 'Accept', 'traceparent'])
      assert.equal(reservedHeaderReason(name), undefined, name);
  });
});
