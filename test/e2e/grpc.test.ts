// gRPC through the whole product: a service without and with TLS behind an agent, clients with TLS and without, and Go's own
// interop programs where FRONTDOOR_TEST_GRPC_INTEROP names the folder with `client` and `server` of grpc-go.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { callAgent } from '#cli';
import { makeTestAuthority } from '../support/certificates.ts';
import { freePort, untilListening, startProcess } from '../support/child-process.ts';
import { within } from '../support/deadline.ts';
import { CallClient, CALLS, startCalls, status, type CallService } from '../support/grpc-calls.ts';
import { openWorld, type World, type WorldAgent } from '../support/world.ts';

const interop = process.env['FRONTDOOR_TEST_GRPC_INTEROP'] ?? '';
const CASE_MS = 60_000;
const CASES = [
  ...['empty_unary', 'large_unary', 'client_streaming', 'server_streaming', 'ping_pong', 'empty_stream'],
  ...['timeout_on_sleeping_server', 'cancel_after_begin', 'cancel_after_first_response', 'custom_metadata'],
  ...['status_code_and_message', 'special_status_message', 'unimplemented_method', 'unimplemented_service'],
];

let world: World;
let agent: WorldAgent;
let service: CallService;
let folder: string;
let ca: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frontdoor-grpc-'));
  const authority = await makeTestAuthority('clients');
  const { cert, key } = await authority.issue('shares', { dns: ['*.share.localhost'] });
  ({ ca } = authority);
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key, { mode: 0o600 });
  writeFileSync(join(folder, 'ca.pem'), ca);
  world = await openWorld({ h2c: true, gatewayTls: files, redirectsToHttps: false });
  agent = await world.startAgent('site');
  service = await startCalls();
  await agent.share(`grpc://127.0.0.1:${service.port}`, { name: 'calls' });
});

after(async () => {
  service?.stop();
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a share with a target of gRPC', () => {
  it('serves calls over TLS and without, and says what failed when the service is gone', async () => {
    const large = Buffer.alloc(5_000_000, 'z');
    for (const [port, authority] of [
      [world.up.httpPort, undefined],
      [world.up.httpsPort, ca],
    ] as const) {
      const client = new CallClient(port, 'calls.share.localhost', authority);
      const { error, message } = await client.unary(CALLS.unary, large);
      assert.deepEqual([error, message?.equals(large)], [null, true]);
      assert.equal((await client.unary(CALLS.fail, large)).error?.code, status.FAILED_PRECONDITION);
      client.close();
    }
    service.stop();
    const client = new CallClient(world.up.httpsPort, 'calls.share.localhost', ca);
    const { error } = await client.unary(CALLS.unary, Buffer.from('x'));
    client.close();
    assert.equal(error?.code, status.UNAVAILABLE);
    assert.match(error?.details ?? '', /\((?:service-refused|no-terminator), error ID \w+\)/);
  });

  it('reaches a service with TLS that agrees on HTTP/2, and refuses one that does not', async (test) => {
    const { cert, key } = await (await makeTestAuthority()).issue('localhost');
    const server = createSecureServer({ cert, key });
    const old = createServer({ cert, key });
    const ports: number[] = [];
    for (const each of [server, old]) {
      each.listen(0, '127.0.0.1');
      await once(each, 'listening');
      ports.push((each.address() as { port: number }).port);
      test.after(() => void each.close());
    }
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.respond({ ':status': 200 });
      stream.end(`${headers[':scheme']} ${headers[':path']}`);
    });
    const upstream = { tlsInsecure: true };
    const share = (name: string, port: number | undefined) =>
      callAgent(agent.agent.socketPath, {
        op: 'share',
        mode: 'public',
        name,
        target: `h2://127.0.0.1:${port}`,
        grants: [],
        upstream,
      });
    await share('secure', ports[0]);
    const answer = await world.get('secure.share.localhost', '/a');
    assert.deepEqual([answer.status, answer.body.toString()], [200, 'https /a']);
    const { readiness } = await share('old', ports[1]);
    assert.match(JSON.stringify(readiness), /does not speak HTTP\/2/);
  });
});

describe(
  'the interop programs of grpc-go',
  { skip: interop === '' && 'FRONTDOOR_TEST_GRPC_INTEROP is not set' },
  () => {
    let stop = (): Promise<unknown> => Promise.resolve();
    before(async () => {
      const port = await freePort();
      const server = startProcess(join(interop, 'server'), [`--port=${port}`]);
      stop = () => server.stop();
      await untilListening('the interop server', server, port);
      await agent.share(`grpc://127.0.0.1:${port}`, { name: 'interop' });
    });
    after(() => stop());

    for (const name of CASES)
      it(`pass ${name} through a share`, async () => {
        const args = [
          `--server_host=127.0.0.1`,
          `--server_port=${world.up.httpsPort}`,
          '--use_tls',
          '--use_test_ca',
          `--ca_file=${join(folder, 'ca.pem')}`,
          '--server_host_override=interop.share.localhost',
          `--test_case=${name}`,
        ];
        const client = spawn(join(interop, 'client'), args, {
          stdio: ['ignore', 'pipe', 'pipe'],
          timeout: CASE_MS,
        });
        let output = '';
        for (const stream of [client.stdout, client.stderr])
          stream.on('data', (bytes: Buffer) => (output += bytes.toString()));
        const [code] = (await within(name, once(client, 'close'))) as [number];
        assert.equal(code, 0, output.slice(-2_000));
      });
  },
);
