/**
 * L9: callers without credentials at each API of the control plane: many connections from three addresses, with bodies that
 * are too large, never finished, or slow, or with nothing at all. `frontdoor up` runs in a control group of 512 MiB (where
 * one can be made): it lives, grows by 128 MiB at most, and answers others within a second.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ControlGroup } from '../support/control-group.ts';
import { PartProcess } from '../support/part-process.ts';
import { COLLECTION } from './battery-product.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { askBytes, statusOf } from './bytes-client.ts';
import { MIB } from './memory-watch.ts';
import { openUnprovenCrowd, type UnprovenCrowdOptions } from './unproven-crowd.ts';

interface UpReady {
  readonly apiUrl: string;
  readonly edgeApiUrl: string;
  readonly accountId: string;
  readonly apiToken: string;
}

interface Api {
  readonly name: string;
  readonly port: number;
  readonly isTls: boolean;
  /** Head of a request whose body is read before its caller is known. */
  readonly head: string;
  /** Head of a request that needs a credential. */
  readonly guardedHead: string;
  /** The largest body that `head` may have. */
  readonly maxBytes: number;
  /** The request of other callers. */
  readonly normal: string;
}

type Attack = Pick<UnprovenCrowdOptions, 'head' | 'statedBytes' | 'sentBytes' | 'isTrickling'> & {
  readonly name: string;
};

const LIMIT_BYTES = 512 * MIB;
/**
 * The live heap grows by a few MiB. The rest is read buffers of 64 KiB that were collected, whose memory the allocator keeps
 * for the next ones: every further attack finds the same peak.
 */
const MOST_GROWTH = 128 * MIB;
const ADDRESSES = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
const NORMAL_ADDRESS = '127.0.0.9';
const NORMAL_MS = 1_000;
/** In the quick form, which runs beside other tests: that there is an answer. */
const QUICK_NORMAL_MS = 30_000;
const NORMAL_EVERY_MS = 200;
const SETTLE_MS = 6_000;
/**
 * Ordinary requests to each API before the memory is measured. A program starts small and grows with its first
 * traffic (ADR 0018); the row measures the growth that callers without credentials add.
 */
const WARM_REQUESTS = 1_000;
const QUICK_WARM_REQUESTS = 50;
const WARM_CONCURRENCY = 50;
/** Longer than a body may take. */
const STAY_MS = 11_000;

export const UNPROVEN_ROW: BatteryRow = {
  id: 'L9',
  title: 'callers without credentials cost the APIs little, and others are answered',
  hasOwnProduct: true,
  run: async (context) => {
    const tally = new Tally();
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-unproven-'));
    const group = ControlGroup.open('frontdoor-unproven', LIMIT_BYTES);
    const readyFile = join(folder, 'ready.json');
    const up = new PartProcess<UpReady>({
      name: 'up',
      group,
      readyFile,
      nodeArgs: ['--import', COLLECTION],
      env: { FRONTDOOR_LOG: 'error' },
      args: () => ['up', '--data-dir', join(folder, 'data'), '--any-port', '--ready-file', readyFile],
    });
    try {
      const ready = await up.start();
      const coldBytes = group.residentBytes();
      for (const api of apisOf(ready)) await warmUp(api, context.quick ? QUICK_WARM_REQUESTS : WARM_REQUESTS);
      await pause(SETTLE_MS);
      const baseBytes = group.residentBytes();
      let peakBytes = baseBytes;
      context.note(
        `up: ${inMib(coldBytes)} MiB at the start, ${inMib(baseBytes)} MiB after ordinary requests`,
      );
      if (!group.isEnforced)
        context.note('no control group can be made here: resident memory is judged alone');
      for (const api of apisOf(ready)) {
        for (const attack of attacksOn(api, context.quick)) {
          await runAttack(tally, api, attack, group, context);
          peakBytes = Math.max(peakBytes, group.peakBytes);
        }
      }
      const growth = peakBytes - baseBytes;
      tally.check(up.isRunning, 'up is alive', () => up.output.slice(-2_000));
      tally.check(!group.isOverrun(), 'up needs no more than 512 MiB');
      tally.check(growth <= MOST_GROWTH, 'up grows by 128 MiB at most', () => `${inMib(growth)} MiB`);
      context.note(`up grows by ${inMib(growth)} MiB at most`);
    } finally {
      await up.kill();
      await group.close();
      rmSync(folder, { recursive: true, force: true });
    }
    return tally;
  },
};

function apisOf({ apiUrl, edgeApiUrl, accountId, apiToken }: UpReady): readonly Api[] {
  const json = 'Host: localhost\r\nContent-Type: application/json\r\n';
  const normal = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`;
  return [
    {
      name: 'edge API',
      port: Number(new URL(edgeApiUrl).port),
      isTls: true,
      head: `POST /enroll?method=ott&token=x HTTP/1.1\r\n${json}`,
      guardedHead: `POST /edge/client/v1/authenticate?method=cert HTTP/1.1\r\n${json}`,
      maxBytes: 65_536,
      normal: normal('/version'),
    },
    {
      name: 'Management API',
      port: Number(new URL(apiUrl).port),
      isTls: false,
      head: `POST /oauth/token HTTP/1.1\r\n${json}`,
      guardedHead: `POST /frontdoor HTTP/1.1\r\n${json}`,
      maxBytes: 16_384,
      normal: normal('/caller', `Authorization: Basic ${accountId}:${apiToken}\r\n`),
    },
  ];
}

function attacksOn({ head, guardedHead, maxBytes }: Api, isQuick: boolean): readonly Attack[] {
  const unfinished: Attack = {
    name: 'the largest bodies, unfinished',
    head,
    statedBytes: maxBytes,
    sentBytes: maxBytes - 1,
    isTrickling: false,
  };
  if (isQuick) return [unfinished];
  const large = { sentBytes: MIB - 1, isTrickling: false };
  return [
    { ...large, name: 'bodies of 1 MiB', head, statedBytes: MIB },
    { ...large, name: 'bodies of 1 MiB that state no length', head, statedBytes: 'chunked' },
    {
      ...large,
      name: 'bodies of 1 MiB where a credential is needed',
      head: guardedHead,
      statedBytes: 'chunked',
    },
    unfinished,
    { name: 'slow bodies', head, statedBytes: maxBytes, sentBytes: 1, isTrickling: true },
    {
      name: 'connections that ask nothing',
      head: undefined,
      statedBytes: 0,
      sentBytes: 0,
      isTrickling: false,
    },
  ];
}

async function runAttack(
  tally: Tally,
  api: Api,
  attack: Attack,
  group: ControlGroup,
  { quick, note, progress }: BatteryRowContext,
): Promise<void> {
  const what = `${api.name}, ${attack.name}`;
  progress(what);
  group.resetPeak();
  const others = askMeanwhile(api, quick ? QUICK_NORMAL_MS : NORMAL_MS);
  const crowd = await openUnprovenCrowd({
    ...attack,
    port: api.port,
    isTls: api.isTls,
    size: quick ? 300 : 2_500,
    addresses: ADDRESSES,
  });
  if (!quick) await pause(STAY_MS);
  const { good, bad, slowestMs } = await others.stop();
  tally.count(good, bad, `${what}: another caller is answered in time`);
  const ended = [...crowd.statuses].map(([status, count]) => `${count} × ${status || 'closed'}`).join(', ');
  note(
    `${what}: at most ${inMib(group.peakBytes)} MiB; ${ended || 'none ended'}, ${crowd.openCount} open; ` +
      `slowest other answer ${slowestMs.toFixed(0)} ms of ${good + bad}`,
  );
  crowd.close();
}

async function warmUp(api: Api, requests: number): Promise<void> {
  const target = normalTarget(api);
  for (let sent = 0; sent < requests; sent += WARM_CONCURRENCY)
    await Promise.all(Array.from({ length: WARM_CONCURRENCY }, () => askBytes(target, api.normal)));
}

function normalTarget(api: Api) {
  const tls = api.isTls ? { tls: { ca: undefined, servername: 'localhost' } } : {};
  return { port: api.port, localAddress: NORMAL_ADDRESS, ...tls };
}

function askMeanwhile(api: Api, mostMs: number) {
  let isOver = false;
  let good = 0;
  let bad = 0;
  let slowestMs = 0;
  const asking = (async () => {
    while (!isOver) {
      const startedMs = performance.now();
      const answer = await askBytes(normalTarget(api), api.normal).catch((error: unknown) => String(error));
      const tookMs = performance.now() - startedMs;
      slowestMs = Math.max(slowestMs, tookMs);
      if (statusOf(answer) === 200 && tookMs < mostMs) good += 1;
      else bad += 1;
      await pause(NORMAL_EVERY_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await asking;
      return { good, bad, slowestMs };
    },
  };
}

function inMib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}
