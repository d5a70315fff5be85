// What a router can read of circuits, recorded between it and its SDKs: nothing of a private share, and of a public one
// only where ADR 0032 leaves encryption out.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { AGENT_IDENTITY_FILE, openSdkNetwork, startAgent } from '#agent';
import { silentLog } from '#base';
import { callAgent } from '#cli';
import { dialChannel, type ChannelOpener } from '#net/channel';
import type { IdentityFile } from '#net/files';
import { JsonClient } from '#net/http';
import { EdgeApiClient, enrollIdentity, fetchBootstrapToken, OverlayClient } from '#sdk';
import { contentType } from '#wire';
import { FrameTap, type TapIdentity } from '../interop/frame-tap.ts';
import { until, within } from '../support/deadline.ts';
import { PartProcess } from '../support/part-process.ts';
import { startSeparate, type Separate } from '../support/separate.ts';
import { httpGet } from '../support/world.ts';

const QUESTION = 'the-question-of-a-client';
const ANSWER = 'the-answer-of-a-service ';
const ANSWER_BYTES = 500_000;
const DIAL_MS = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'frontdoor-wire-'));
const body = Buffer.alloc(ANSWER_BYTES, ANSWER);
const service = createServer((_request, response) => response.end(body));
let target = '';

before(async () => {
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
after(() => {
  service.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The data of circuits that passed a tap, since the last look. */
class PassedData {
  readonly #names: ReadonlySet<string>;
  #parts: Buffer[] = [];

  /** `names` are those of the peers whose data is kept. */
  constructor(...names: string[]) {
    this.#names = new Set(names);
  }

  add(from: string, to: string, data: Uint8Array): void {
    if (this.#names.has(from) || this.#names.has(to)) this.#parts.push(Buffer.from(data));
  }

  /** What a reader finds in it, and its length. */
  take(): { readonly question: boolean; readonly answer: boolean; readonly bytes: number } {
    const data = Buffer.concat(this.#parts);
    this.#parts = [];
    return { question: data.includes(QUESTION), answer: data.includes(ANSWER), bytes: data.length };
  }
}

function openTap(
  port: number,
  routerFolder: string,
  identities: () => readonly TapIdentity[],
  passed: PassedData,
): Promise<FrameTap> {
  const read = (name: string): string => readFileSync(join(routerFolder, name), 'utf8');
  return FrameTap.open({
    alpn: 'ziti-edge',
    target: { name: 'router', port },
    server: () => ({ cert: read('server.pem'), key: read('key.pem') }),
    dialers: identities,
    onFrame: ({ from, to, frame }) => {
      if (frame.contentType === contentType.payload) passed.add(from, to, frame.body);
    },
  });
}

/** From the file of an enrolled program; none before there is one. */
function identityIn(name: string, file: string): TapIdentity[] {
  try {
    const { id } = JSON.parse(readFileSync(file, 'utf8')) as { id: { key: string; cert: string } };
    return [{ name, key: id.key.replace(/^pem:/, ''), cert: id.cert.replace(/^pem:/, '') }];
  } catch {
    return [];
  }
}

const tapIdentity = (name: string, { certPem, keyPem }: IdentityFile): TapIdentity => ({
  name,
  cert: certPem,
  key: keyPem,
});

/** Dials `serviceName` as an SDK of its own and gets the answer. */
async function askPrivately(
  overlay: OverlayClient,
  api: EdgeApiClient,
  serviceName: string,
): Promise<string> {
  const { value: listed } = await until(
    `the service ${serviceName}`,
    () => api.serviceByName(serviceName),
    (found) => found !== undefined,
  );
  const circuit = await overlay.dial(listed!.id, DIAL_MS);
  const parts: Uint8Array[] = [];
  circuit.onData = (view) => void parts.push(view);
  const ended = new Promise<void>((resolve) => {
    circuit.onEnd = resolve;
  });
  circuit.resume();
  circuit.write(Buffer.from(`GET /${QUESTION} HTTP/1.1\r\nHost: private\r\nConnection: close\r\n\r\n`));
  await within('the answer', ended);
  circuit.destroy();
  return Buffer.concat(parts).toString('latin1');
}

async function askPublicly(port: number, name: string): Promise<void> {
  await until(
    `the share ${name}`,
    () => httpGet(port, `${name}.share.localhost`, `/${QUESTION}`),
    ({ status, body: { length } }) => status === 200 && length === ANSWER_BYTES,
  );
}

test('a router of its own reads nothing of public and private shares', async (t) => {
  const parts = join(folder, 'parts');
  const passed = new PassedData('agent', 'gateway', 'guest');
  const guests: TapIdentity[] = [];
  let tap: FrameTap | undefined;
  const separate: Separate = await startSeparate({
    folder: parts,
    advertiseEdge: async (edgePort) => {
      const identities = (): TapIdentity[] => [
        ...identityIn('agent', join(parts, 'agent', AGENT_IDENTITY_FILE)),
        ...identityIn('gateway', join(parts, 'gateway', 'identity.json')),
        ...guests,
      ];
      tap = await openTap(edgePort, join(parts, 'router'), identities, passed);
      return tap.port;
    },
  });
  t.after(async () => {
    await separate.stop();
    await tap?.close();
  });
  await separate.share('public', target, 'open');
  await askPublicly(separate.port, 'open');
  const open = passed.take();
  assert.deepEqual([open.question, open.answer], [false, false]);
  // Each byte passes twice: between agent and router, and between router and gateway.
  assert.ok(open.bytes >= 2 * ANSWER_BYTES, String(open.bytes));

  const { json } = await separate.call('POST', '/agents/enrollments');
  const code = (json as { enrollmentCode: string }).enrollmentCode;
  const ca = readFileSync(join(parts, 'api-ca.pem'), 'utf8');
  const { token } = await fetchBootstrapToken({ apiUrl: separate.control.ready.apiUrl, code, ca });
  const { identity, id } = await enrollIdentity({ jwt: token, name: 'guest' });
  guests.push(tapIdentity('guest', identity));
  await callAgent(separate.agentSocket, {
    op: 'share',
    mode: 'private',
    target,
    name: 'closed',
    grants: [id],
  });
  const api = new EdgeApiClient({ identity, log: silentLog });
  const overlay = new OverlayClient({ api, log: silentLog, name: 'guest' });
  t.after(async () => {
    overlay.close();
    await api.close();
  });
  passed.take();
  assert.ok((await askPrivately(overlay, api, 'closed')).endsWith(body.toString('latin1')));
  const closed = passed.take();
  assert.deepEqual([closed.question, closed.answer], [false, false]);
  assert.ok(closed.bytes >= 2 * ANSWER_BYTES, String(closed.bytes));
});

test('between an agent and the process of up, public shares are in clear and private ones are not', async (t) => {
  const dataDir = join(folder, 'up');
  const readyFile = join(folder, 'up.json');
  const up = new PartProcess<{
    readonly apiUrl: string;
    readonly gatewayUrl: string;
    readonly frontdoorId: string;
    readonly accountId: string;
    readonly apiToken: string;
  }>({
    name: 'up',
    readyFile,
    args: () => ['up', '--any-port', '--data-dir', dataDir, '--ready-file', readyFile],
  });
  const { apiUrl, gatewayUrl, frontdoorId, accountId, apiToken } = await up.start();
  t.after(() => up.stop());
  const { edge } = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as { edge: number };
  const client = new JsonClient({ origin: apiUrl });
  t.after(() => client.close());
  const code = async (): Promise<string> => {
    const { json } = await client.request({
      method: 'POST',
      path: `/frontdoor/${frontdoorId}/agents/enrollments`,
      headers: { authorization: `Basic ${accountId}:${apiToken}` },
    });
    return (json as { enrollmentCode: string }).enrollmentCode;
  };

  const passed = new PassedData('agent');
  const identities: TapIdentity[] = [];
  const tap = await openTap(edge, join(dataDir, 'router'), () => identities, passed);
  t.after(() => tap.close());
  const overlayOf = (name: string, api: EdgeApiClient): OverlayClient => {
    identities.push(tapIdentity(name, api.identity));
    const openChannel: ChannelOpener = (_router, helloId, helloHeaders) =>
      dialChannel({
        host: 'localhost',
        port: tap.port,
        alpn: 'ziti-edge',
        helloId,
        helloHeaders,
        tls: { cert: api.identity.certPem, key: api.identity.keyPem, ca: api.identity.caPem },
        timeoutMs: DIAL_MS,
        log: silentLog,
      });
    return new OverlayClient({ api, log: silentLog, name, openChannel });
  };
  const agentDir = join(folder, 'up-agent');
  const common = { version: '0.0.0-test', log: silentLog };
  const enrollmentToken = await code();
  const agent = await startAgent({
    ...common,
    dataDir: agentDir,
    allowTargets: [],
    openNetwork: () =>
      openSdkNetwork({
        ...common,
        dataDir: agentDir,
        apiUrl,
        enrollmentToken,
        name: 'agent',
        openHost: (api) => overlayOf('agent', api),
      }),
  });
  t.after(() => agent.close());

  await callAgent(agent.socketPath, { op: 'share', mode: 'public', target, name: 'open', grants: [] });
  await askPublicly(Number(new URL(gatewayUrl).port), 'open');
  const open = passed.take();
  assert.deepEqual([open.question, open.answer], [true, true]);

  const { token } = await fetchBootstrapToken({ apiUrl, code: await code() });
  const { identity, id } = await enrollIdentity({ jwt: token, name: 'guest' });
  await callAgent(agent.socketPath, { op: 'share', mode: 'private', target, name: 'closed', grants: [id] });
  const api = new EdgeApiClient({ identity, log: silentLog });
  const overlay = overlayOf('guest', api);
  t.after(async () => {
    overlay.close();
    await api.close();
  });
  passed.take();
  assert.ok((await askPrivately(overlay, api, 'closed')).endsWith(body.toString('latin1')));
  const closed = passed.take();
  assert.deepEqual([closed.question, closed.answer], [false, false]);
  assert.ok(closed.bytes >= ANSWER_BYTES, String(closed.bytes));
});
