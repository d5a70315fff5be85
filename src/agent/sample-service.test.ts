import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { startSampleService, type SampleService } from './sample-service.ts';

let service: SampleService;
let url: string;
before(async () => {
  service = await startSampleService({ streamMs: 1 });
  url = `http://127.0.0.1:${service.port}`;
});
after(() => service.close());

test('the page shows the headers of the request, and no markup of theirs', async () => {
  const response = await fetch(url, { headers: { 'x-test': '<b>"hi"</b>' } });
  const text = await response.text();
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(text, /x-test<\/th><td>&lt;b&gt;&quot;hi&quot;/);
  assert.equal((await fetch(url, { method: 'HEAD' })).headers.get('content-length') !== null, true);
});

test('echo gives the body back', async () => {
  const body = 'x'.repeat(300_000);
  assert.equal(await (await fetch(`${url}/echo`, { method: 'POST', body })).text(), body);
});

test('bytes come in the number asked for, each one known', async () => {
  const bytes = new Uint8Array(await (await fetch(`${url}/bytes/200000`)).arrayBuffer());
  assert.equal(bytes.length, 200_000);
  assert.ok(bytes.every((byte, i) => byte === (i % 65_536) % 251));
  assert.equal((await fetch(`${url}/bytes/99999999999`)).status, 400);
});

test('the stream sends its events one by one and ends', async () => {
  const response = await fetch(`${url}/stream`);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  assert.equal((await response.text()).split('\n\n').length, 11);
});

test('other paths and methods are refused', async () => {
  assert.equal((await fetch(`${url}/nothing`)).status, 404);
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 405);
});

test('as a process it prints its port and ends on SIGTERM', { timeout: 60_000 }, async () => {
  const child = spawn(process.execPath, [new URL('./sample-service.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port, pid } = JSON.parse(line.toString()) as { port: number; pid: number };
  assert.equal(pid, child.pid);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});
