// What operators and owners see of requests, with every part a process of its own.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { PrometheusText } from '../support/prometheus-text.ts';
import { startSeparate, type Separate } from '../support/separate.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

const OF_PROCESSES = /^(?:process|nodejs|frontdoor_(?:build|contained|descriptor|log|ready|shape))(?:_|$)/;

describe('what is seen of requests', () => {
  let parts: Separate;
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-observability-'));
  const accessLog = join(folder, 'access.log');
  const seen: Seen[] = [];
  const service = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.once('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body });
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"made":1}');
    });
  });

  before(async () => {
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    parts = await startSeparate({
      gatewayArgs: ['--access-log', accessLog, '--metrics-listen', '127.0.0.1:0'],
      controlArgs: ['--metrics-listen', '127.0.0.1:0'],
      agentArgs: ['--metrics-listen', '127.0.0.1:0'],
    });
    const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    await parts.share('public', target, 'app');
    // Nobody takes this port once its service has stopped.
    const stopped = createServer().listen(await freePort(), '127.0.0.1');
    await once(stopped, 'listening');
    await parts.share('public', `http://127.0.0.1:${(stopped.address() as AddressInfo).port}`, 'broken');
    stopped.close();
    stopped.closeAllConnections();
    await once(stopped, 'close');
  });
  after(async () => {
    await parts?.stop();
    service.close();
    rmSync(folder, { recursive: true });
  });

  const metricsOf = async (part: 'gateway' | 'control' | 'agent'): Promise<string> => {
    const { value: port } = await until(
      'the port of the metrics',
      () => /"port":(\d+),[^\n]*metrics are served/.exec(parts[part].output)?.[1],
      (found) => found !== undefined,
    );
    return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  };
  const ask = async (name: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const sent = httpRequest({
      host: '127.0.0.1',
      port: parts.port,
      path,
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: { host: `${name}.share.localhost`, ...headers },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const bytes of response) text += String(bytes);
    return { status: response.statusCode ?? 0, text, headers: response.headers };
  };
  const linesWith = (path: string): Record<string, unknown>[] =>
    readFileSync(accessLog, 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"path":"${path}"`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const cli = (...args: string[]): Promise<string> =>
    parts.run(...args, '--ca', join(parts.folder, 'api-ca.pem'));
  const frontdoor = (): string[] => ['--frontdoor', parts.frontdoorId];

  it('the error id of a page leads to the reason why the request failed, within five seconds', async () => {
    const { status, text } = await ask('broken', '/orders?token=planted-secret');
    assert.equal(status, 502);
    const errorId = /Error ID: (\w+)/.exec(text)![1]!;
    const { value: explanation } = await until(
      'the reason',
      () => cli('why', errorId, ...frontdoor()).catch((error: unknown) => String(error)),
      (output) => output.includes(' to the share broken '),
      // Each try starts a process of its own.
      8_000,
    );
    assert.match(
      explanation,
      /^GET broken\.share\.localhost\/orders to the share broken was answered with 502\.$/m,
    );
    assert.match(explanation, /^Where {4}in the private service, or between the agent and the service$/m);
    assert.match(explanation, /^Why {6}.*\(service-refused\)$/m);
    assert.match(explanation, /^Next {5}.*start the service/m);
    assert.match(
      explanation,
      /^Times {4}decided after [\d.]+ ms, no circuit, no first byte, over after [\d.]+ ms$/m,
    );
    assert.doesNotMatch(explanation, /planted-secret/);
    const list = JSON.parse(
      await cli('failures', 'list', '--share-token', 'broken', '--json', ...frontdoor()),
    ) as {
      errorId: string;
    }[];
    assert.equal(list[0]!.errorId, errorId);
  });

  it('operators find the reason for a request to an unknown host without naming a frontdoor', async () => {
    const { status, text } = await ask('nobody', '/orders?token=planted-secret');
    assert.equal(status, 404);
    const errorId = /Error ID: (\w+)/.exec(text)![1]!;
    const { value: explanation } = await until(
      'the reason',
      () => cli('why', errorId).catch((error: unknown) => String(error)),
      (output) => output.includes(' to no share '),
      // Each try starts a process of its own.
      8_000,
    );
    assert.match(explanation, /^GET nobody\.share\.localhost\/orders to no share was answered with 404\.$/m);
    assert.match(explanation, /^Gateway {2}\S+$/m);
    assert.match(explanation, /^Why {6}no share has this host \(unknown-host\)$/m);
    assert.match(explanation, /^Next {5}No share has this host name/m);
    assert.doesNotMatch(explanation, /planted-secret/);
  });

  it('a recorded request is shown without its secrets, and sent once more reaches the service a second time', async () => {
    await cli('shares', 'inspect', 'on', 'app', '--bodies', '16KiB', '--for', '30m', ...frontdoor());
    // Gateways receive the change a moment later.
    const order = JSON.stringify({ order: 7, password: 'planted-secret' });
    const list = async (): Promise<{ id: string; replayOf: string | null; status: number }[]> =>
      JSON.parse(await cli('shares', 'inspect', 'list', 'app', '--json', ...frontdoor())) as never;
    await until(
      'a recorded request',
      async () => {
        const headers = { 'content-type': 'application/json', authorization: 'Bearer planted-secret' };
        assert.equal((await ask('app', '/orders?key=planted-secret', headers, order)).status, 201);
        return list();
      },
      (found) => found.length > 0,
      30_000,
    );
    const { id } = (await list())[0]!;
    const shown = await cli('shares', 'inspect', 'show', 'app', id, ...frontdoor());
    assert.doesNotMatch(shown, /planted-secret/);
    assert.match(shown, /^> POST \/orders\?key=\*{8}$/m);
    assert.match(shown, /^> authorization: \*{8}$/im);
    assert.match(shown, /"order":7/);
    assert.match(shown, /^< 201$/m);
    assert.match(shown, /\{"made":1\}/);

    const before = seen.length;
    await cli('shares', 'replay', 'app', id, '--header', 'X-Try: 2', ...frontdoor());
    const { value: found } = await until('the replay in the list', list, (entries) =>
      entries.some(({ replayOf }) => replayOf === id),
    );
    assert.equal(found.find(({ replayOf }) => replayOf === id)!.status, 201);
    assert.equal(seen.length, before + 1);
    const { method, headers, body } = seen.at(-1)!;
    assert.deepEqual(
      [method, headers['x-try'], headers['authorization'], headers['frontdoor-replay'], JSON.parse(body)],
      ['POST', '2', undefined, id, { order: 7, password: '********' }],
    );

    await cli('shares', 'inspect', 'off', 'app', ...frontdoor());
    await cli('shares', 'inspect', 'clear', 'app', ...frontdoor());
    assert.deepEqual(await list(), []);
  });

  it('operators get a log line for each request, and metrics, without secrets', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await ask('app', '/line?token=planted-secret', { traceparent });
    assert.equal(seen.at(-1)!.headers['traceparent'], traceparent);
    const { value: line } = await until(
      'the line',
      () => linesWith('/line')[0],
      (found) => found !== undefined,
    );
    const { outcome, status, share, trace, decision } = line!;
    assert.deepEqual(
      [outcome, status, share, trace, decision],
      ['served', 201, 'app', '0af7651916cd43dd8448eb211c80319c', 'open'],
    );
    for (const text of [readFileSync(accessLog, 'utf8'), parts.gateway.output])
      assert.doesNotMatch(text, /planted-secret/);
    assert.equal(statSync(accessLog).mode & 0o777, 0o600);
    const text = await metricsOf('gateway');
    assert.match(text, /^frontdoor_gateway_share_requests_total\{share="app"\} [1-9]\d*$/m);
    assert.match(
      text,
      /^frontdoor_gateway_failures_total\{hop="service",code="service-refused"\} [1-9]\d*$/m,
    );
    assert.match(text, /^frontdoor_gateway_feed_age_seconds \d/m);
  });

  it('gateway, control plane and agent each serve their own metrics, with those of their process', async () => {
    await ask('app', '/counted');
    const own = { gateway: 'shares', control: 'sql_statements_total', agent: 'circuits_total' } as const;
    for (const part of ['gateway', 'control', 'agent'] as const) {
      const text = new PrometheusText(await metricsOf(part));
      assert.ok(text.value(`frontdoor_${part}_${own[part]}`)! > 0, part);
      assert.ok(text.value('process_cpu_seconds_total')! > 0, part);
      for (const name of text.types.keys()) {
        const isOwn = name.startsWith(`frontdoor_${part}_`) || OF_PROCESSES.test(name);
        assert.ok(isOwn, `${name} at ${part}`);
      }
    }
  });

  it('the access log continues in a new file when it was moved away and the gateway got SIGHUP', async () => {
    renameSync(accessLog, `${accessLog}.1`);
    process.kill(parts.gateway.pid, 'SIGHUP');
    await until('a new file', () => existsSync(accessLog), Boolean);
    assert.equal((await ask('app', '/after')).status, 201);
    await until(
      'the line',
      () => linesWith('/after').length,
      (count) => count === 1,
    );
  });
});
