// The files of a folder as a client of a share receives them, and what is never served.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { folderTarget } from '#domain/backend-modes';
import { until, within } from '../../../test/support/deadline.ts';
import type { LocalSide } from '../circuit-copy.ts';
import { parseTarget } from '../target-address.ts';
import { backendFor, backendParts } from '../testing/backend-parts.ts';
import type { Backend, BackendParts } from './backend.ts';
import { backendOf } from './backend-of-mode.ts';
import { problemOf } from './web/served-folder.ts';
import { socketPair } from './web/server-socket.ts';
import { UNKNOWN_HEALTH, type LookResult } from './target-health-machine.ts';

let top: string;
let site: string;
let parts: Partial<BackendParts>;

before(() => {
  top = mkdtempSync(join(tmpdir(), 'web-'));
  site = join(top, 'site');
  const data = join(top, 'data');
  for (const folder of [
    data,
    join(site, 'docs'),
    join(site, 'empty'),
    join(site, '.git'),
    join(site, '.well-known'),
  ])
    mkdirSync(folder, { recursive: true });
  const files = {
    'index.html': '<p>start</p>',
    '404.html': '<p>nothing here</p>',
    'app.js': 'let answer = 42;',
    'app.js.br': 'brotli',
    'app.js.gz': 'gzip',
    'ten.bin': '0123456789',
    'none.txt': '',
    'a b%.ö': 'odd name',
    'docs/index.html': '<p>docs</p>',
    'docs/page.html': '<p>page</p>',
    '.env': 'SECRET=1',
    '.git/config': 'secret',
    '.well-known/security.txt': 'Contact: a',
    '../secret.txt': 'secret',
    '../data/identity.json': 'key',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(site, name), text);
  symlinkSync('ten.bin', join(site, 'inside.bin'));
  symlinkSync('../secret.txt', join(site, 'outside.txt'));
  symlinkSync('..', join(site, 'up'));
  symlinkSync('.git', join(site, 'git'));
  symlinkSync('loop', join(site, 'loop'));
  symlinkSync('../secret.txt', join(site, 'docs/page.html.gz'));
  execFileSync('mkfifo', [join(site, 'pipe')]);
  parts = { dataDir: data };
});
after(() => rmSync(top, { recursive: true, force: true }));

function served(options: readonly string[] = [], folder = site): Backend {
  return backendFor(folderTarget(folder, options), parts);
}

function opened(backend: Backend): Promise<LocalSide> {
  return within('a connection', new Promise((resolve, reject) => backend.open(resolve, reject)));
}

/** A circuit without an overlay: what one side has, the other is given. */
function join2(one: LocalSide, other: LocalSide): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.onData = (view) => to.write(Uint8Array.from(view));
    from.onEnd = () => to.end();
    from.onDrain = () => to.resume();
    from.onClose = () => to.abort();
  }
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function requested(
  backend: Backend,
  path: string,
  { method = 'GET', ...headers }: Readonly<Record<string, string>> = {},
): Promise<IncomingMessage> {
  const { socket, side } = socketPair();
  const service = new Promise<void>((resolve, reject) =>
    backend.open((local) => {
      join2(side, local);
      resolve();
    }, reject),
  );
  await within('a connection', service);
  const request = httpRequest({
    path,
    method,
    headers: { host: 'app.example', ...headers },
    createConnection: () => socket,
  });
  request.end();
  const [response] = (await within('an answer', once(request, 'response'))) as [IncomingMessage];
  return response;
}

async function get(
  backend: Backend,
  path: string,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> {
  const response = await requested(backend, path, headers);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

async function statusOf(path: string, headers?: Readonly<Record<string, string>>): Promise<number> {
  return (await get(served(), path, headers)).status;
}

function checked(backend: Backend): Promise<LookResult> {
  return within('a check', new Promise((resolve) => backend.health(UNKNOWN_HEALTH, resolve)));
}

describe('a folder that is shared', () => {
  it('is served with index files, types and names of any character', async () => {
    const start = await get(served(), '/?a=1');
    assert.deepEqual([start.status, start.body], [200, '<p>start</p>']);
    assert.equal(start.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(start.headers['x-content-type-options'], 'nosniff');
    assert.equal((await get(served(), '/docs/')).body, '<p>docs</p>');
    assert.equal((await get(served(), '/a%20b%25.%C3%B6')).body, 'odd name');
    assert.equal((await get(served(), '/ten.bin')).headers['content-type'], 'application/octet-stream');
    assert.equal((await get(served(), '/inside.bin')).body, '0123456789');
    assert.equal((await get(served(), '/.well-known/security.txt')).body, 'Contact: a');
    assert.deepEqual([(await get(served(), '/none.txt')).body, await statusOf('/none.txt')], ['', 200]);
    const moved = await get(served(), '/docs?a=/../b');
    assert.deepEqual([moved.status, moved.headers.location], [308, '/docs/?a=/../b']);
  });

  it('answers ranges, conditions and HEAD', async () => {
    const whole = await get(served(), '/ten.bin', { method: 'HEAD' });
    assert.deepEqual([whole.status, whole.headers['content-length'], whole.body], [200, '10', '']);
    const part = await get(served(), '/ten.bin', { range: 'bytes=2-4' });
    assert.deepEqual([part.status, part.body, part.headers['content-range']], [206, '234', 'bytes 2-4/10']);
    assert.equal((await get(served(), '/ten.bin', { range: 'bytes=-2' })).body, '89');
    const beyond = await get(served(), '/ten.bin', { range: 'bytes=10-' });
    assert.deepEqual([beyond.status, beyond.headers['content-range']], [416, 'bytes */10']);
    const { etag = '', 'last-modified': modified = '' } = whole.headers;
    for (const condition of [{ 'if-none-match': etag }, { 'if-modified-since': modified }]) {
      const same = await get(served(), '/ten.bin', condition);
      assert.deepEqual([same.status, same.body, same.headers.etag], [304, '', etag]);
    }
    assert.equal(await statusOf('/ten.bin', { 'if-match': '"other"' }), 412);
    assert.equal(await statusOf('/ten.bin', { 'if-none-match': '"other"' }), 200);
    const stale = await get(served(), '/ten.bin', { range: 'bytes=0-1', 'if-range': '"other"' });
    assert.deepEqual([stale.status, stale.body], [200, '0123456789']);
  });

  it('sends the compressed form that is stored beside a file, to those who accept it', async () => {
    const encodings = ['br', 'gzip', 'gzip, br', 'identity'];
    const answers = await Promise.all(
      encodings.map((each) => get(served(), '/app.js', { 'accept-encoding': each })),
    );
    assert.deepEqual(
      answers.map(({ headers, body }) => [headers['content-encoding'], body]),
      [
        ['br', 'brotli'],
        ['gzip', 'gzip'],
        ['br', 'brotli'],
        [undefined, 'let answer = 42;'],
      ],
    );
    for (const { headers } of answers) {
      assert.equal(headers['content-type'], 'text/javascript; charset=utf-8');
      assert.equal(headers.vary, 'Accept-Encoding');
    }
    assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, 3);
    // A link out of the folder is no stored form.
    assert.equal((await get(served(), '/docs/page.html', { 'accept-encoding': 'gzip' })).body, '<p>page</p>');
  });

  it('answers what is not there with its own page, or ours, and lists nothing', async () => {
    const absent = await get(served(), '/absent', { range: 'bytes=0-1', 'if-none-match': '*' });
    assert.deepEqual([absent.status, absent.body], [404, '<p>nothing here</p>']);
    assert.equal((await get(served(), '/empty/')).status, 404);
    assert.equal((await get(served(), '/ten.bin/')).status, 404);
    assert.deepEqual(
      await get(served([], join(site, 'docs')), '/absent').then(({ status, body }) => [status, body]),
      [404, '404 Not Found\n'],
    );
  });

  it('takes GET and HEAD only, and the next request of the connection', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const { status, headers } = await get(served(), '/', { method });
      assert.deepEqual([status, headers.allow], [405, 'GET, HEAD']);
    }
  });

  it('serves nothing outside, no hidden name and nothing that is no file', async () => {
    for (const path of [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/docs/..%2f..%2fsecret.txt',
      '/%2e%2e%5csecret.txt',
      '/ten.bin%00.html',
      '/outside.txt',
      '/up/secret.txt',
      '/up/data/identity.json',
      '/.env',
      '/%2eenv',
      '/.git/config',
      '/git/config',
      '/loop',
      '/pipe',
      `/${'a'.repeat(4_000)}`,
      `/${'a/'.repeat(3_000)}b`,
      '//docs/',
    ])
      assert.deepEqual(
        [path, (await get(served(['listing', 'single-page']), path)).body.includes('secret')],
        [path, false],
      );
    for (const path of ['/outside.txt', '/up/', '/git/config', '/.env', '/pipe', '/loop', '//docs/'])
      assert.equal(await statusOf(path), 404, path);
    assert.equal(await statusOf(`/${'a'.repeat(170_000)}`), 431);
  });

  it('lists a folder and serves one page for all paths, as its options say', async () => {
    const { body, headers } = await get(served(['listing']), '/empty/');
    assert.match(body, /<h1>\/empty<\/h1>/);
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    renameSync(join(site, 'index.html'), join(site, 'kept.html'));
    try {
      const listed = await get(served(['listing']), '/');
      assert.match(listed.body, /href="\/a%20b%25.%C3%B6"/);
      assert.match(listed.body, /href="\/docs\/"/);
      for (const name of ['.env', '.git', 'outside', 'pipe', 'up', 'loop', 'href="/git'])
        assert.ok(!listed.body.includes(name), name);
    } finally {
      renameSync(join(site, 'kept.html'), join(site, 'index.html'));
    }
    const page = await get(served(['single-page']), '/orders/7');
    assert.deepEqual([page.status, page.body], [200, '<p>start</p>']);
    assert.equal((await get(served(['single-page']), '/absent.js')).status, 404);
  });

  it('breaks off a file that becomes shorter, and ends one that grows where it ended', async () => {
    const path = join(site, 'long.bin');
    const size = 8 * 1024 * 1024;
    writeFileSync(path, Buffer.alloc(size, 'a'));
    const shorter = await requested(served(), '/long.bin');
    assert.equal(shorter.headers['content-length'], String(size));
    truncateSync(path, 1024);
    await assert.rejects(async () => {
      for await (const chunk of shorter) assert.ok((chunk as Buffer).length > 0);
    }, /aborted/);
    writeFileSync(path, Buffer.alloc(size, 'a'));
    const longer = await requested(served(), '/long.bin');
    appendFileSync(path, Buffer.alloc(1024, 'b'));
    let bytes = 0;
    for await (const chunk of longer) bytes += (chunk as Buffer).length;
    assert.equal(bytes, size);
    rmSync(path);
  });

  it('waits for a slow reader, and keeps no file open for one that has gone', async (t: TestContext) => {
    const path = join(site, 'huge.bin');
    writeFileSync(path, '');
    truncateSync(path, 4 * 1024 ** 3);
    t.after(() => rmSync(path));
    const response = await requested(served(), '/huge.bin');
    assert.equal(response.headers['content-length'], String(4 * 1024 ** 3));
    await within('the first bytes', once(response, 'readable'));
    const before = process.memoryUsage().rss;
    const held = (): number =>
      Number(execFileSync('sh', ['-c', `ls -l /proc/${process.pid}/fd | grep -c huge.bin || true`]));
    assert.ok(held() >= 1);
    assert.ok(process.memoryUsage().rss - before < 64 * 1024 * 1024);
    response.destroy();
    await until('the file to be closed', held, (count) => count === 0);
  });
});

describe('the health of a folder', () => {
  it('is whether the folder can be read, with the path and the remedy', async () => {
    assert.deepEqual(await checked(served()), { type: 'passed' });
    const absent = served([], join(top, 'absent'));
    const result = await checked(absent);
    assert.ok(result.type === 'failed');
    assert.match(result.reason, /the folder .*\/absent does not exist: create it/);
    await assert.rejects(opened(absent), /absent does not exist/);
    mkdirSync(join(top, 'absent'));
    assert.deepEqual(await checked(absent), { type: 'passed' });
    rmSync(join(top, 'absent'), { recursive: true });
    const file = await checked(served([], join(site, 'ten.bin')));
    assert.ok(file.type === 'failed' && /ten\.bin is not a folder/.test(file.reason));
  });

  it('names the user of the agent if that may not read it', () => {
    // No mode of a folder keeps out the superuser, as whom tests may run.
    const { message } = problemOf('/srv/www', Object.assign(new Error('denied'), { code: 'EACCES' }));
    assert.match(message, /may not read the folder \/srv\/www: let its user \(uid \d+\) read it/);
  });
});

describe('a folder that may not be shared', () => {
  it('is one that the API set outside of what is allowed, also by a link', async () => {
    const parsed = parseTarget(folderTarget(join(site, 'docs')));
    assert.ok('target' in parsed);
    const judged = (allowFolders: string[]) =>
      backendOf(parsed.target, false, backendParts({ ...parts, allowFolders }));
    for (const allowed of [[], [join(top, 'other')], [join(site, 'do')]]) {
      const refused = judged(allowed);
      assert.ok('problem' in refused);
      assert.match(refused.problem, /not allowed on this agent; start it with --allow-target \/.*docs$/);
    }
    for (const allowed of [[site], [join(site, 'docs')], ['/']]) assert.ok(!('problem' in judged(allowed)));
    symlinkSync('../site', join(top, 'data/link'));
    const link = folderTarget(join(top, 'data/link'));
    const result = await checked(backendFor(link, { ...parts, allowFolders: [join(top, 'data')] }, false));
    assert.ok(result.type === 'failed' && /is not allowed on this agent/.test(result.reason));
  });

  it('is one with the key of the agent in it, or below that', async () => {
    for (const folder of [top, join(top, 'data')]) {
      const result = await checked(served([], folder));
      assert.ok(result.type === 'failed' && /data directory of this agent/.test(result.reason));
    }
  });
});
