import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { curlCommand, shellQuoted } from './curl-command.ts';

const LEFT_OUT = '********';
const REQUEST = { method: 'GET', host: 'app.example', target: '/a?b=1', headers: [], body: undefined };

test('a request becomes a command, without what curl sets itself, and with places for what was left out', () => {
  const headers = [
    { name: 'Host', value: 'app.example' },
    { name: 'Accept', value: '*/*' },
    { name: 'Authorization', value: '********' },
    { name: 'X-Empty', value: '' },
    { name: 'Content-Length', value: '2' },
  ];
  const request = { ...REQUEST, method: 'POST', target: '/a?key=********', headers, body: { text: '{}' } };
  assert.equal(
    curlCommand(request, [], LEFT_OUT),
    `curl --globoff --path-as-is -H 'Accept: */*' -H 'Authorization: …' -H 'X-Empty;' -H 'Content-Type:' --data-raw '{}' 'https://app.example/a?key=…'`,
  );
  assert.equal(
    curlCommand({ ...REQUEST, body: 'binary' }, [], LEFT_OUT),
    `curl --globoff --path-as-is -X 'GET' -H 'Content-Type:' --data-binary '@…' 'https://app.example/a?b=1'`,
  );
});

test('a command has scheme and port of the share’s address at the same host', () => {
  const addresses = ['https://other.example', 'no address', 'http://app.example:8080'];
  assert.equal(
    curlCommand(REQUEST, addresses, LEFT_OUT),
    `curl --globoff --path-as-is 'http://app.example:8080/a?b=1'`,
  );
});

test('no value leaves its quotes in a real shell', () => {
  for (const text of [`'; touch /tmp/x; '`, '$(id)', '`id`', 'a\nb', `it's`, '\\', '"']) {
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellQuoted(text)}`], { encoding: 'utf8' }), text);
  }
});

/** What a server gets when a shell runs the command. */
async function received(
  command: (address: string) => string,
): Promise<{ readonly line: string; readonly type: unknown; readonly body: string }> {
  const { promise, resolve } = Promise.withResolvers<{ line: string; type: unknown; body: string }>();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    response.end();
    resolve({ line: `${request.method} ${request.url}`, type: request.headers['content-type'], body });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    await promisify(execFile)('sh', ['-c', command(`http://127.0.0.1:${port}`)], {
      cwd: import.meta.dirname,
    });
    return await promise;
  } finally {
    server.close();
  }
}

test('curl sends any body and any address as they were recorded, and no file of this machine', async () => {
  const rows = [
    ['POST', '/a?list[]=1&range={1,2}', '@curl-command.test.ts'],
    ['POST', '/a/../b/./c', `@/etc/passwd\nit's`],
    ['PUT', '/[1-3]', '%00 a&b=c+d\r\n'],
    ['GET', '/find', '{"query":"@"}'],
    ['DELETE', '/x?[', undefined],
    ['HEAD', '/', undefined],
    ['OPTIONS', '*', undefined],
  ] as const;
  for (const [method, target, text] of rows) {
    const body = text === undefined ? undefined : { text };
    const got = await received((address) =>
      curlCommand({ ...REQUEST, host: '127.0.0.1', method, target, body }, [address], LEFT_OUT),
    );
    assert.deepEqual(got, { line: `${method} ${target}`, type: undefined, body: text ?? '' });
  }
});
