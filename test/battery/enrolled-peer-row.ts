/**
 * L10: one enrolled identity wants the memory of router, agent and gateway: 500 channels with unfinished frames of
 * 16 MiB, hellos that are never finished, and 200,000 payloads of one byte out of order. Each part has 512 MiB; nobody
 * grows by more than 96 MiB, and what others do continues.
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { callAgent } from '#cli';
import { PAYLOAD_FLAGS } from '#wire/xgress';
import { ControlGroup, residentBytesOf } from '../support/control-group.ts';
import { within } from '../support/deadline.ts';
import { GreedySdk } from '../support/greedy-sdk.ts';
import { hostOf, type BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { askBytes, statusOf } from './bytes-client.ts';
import { startLoadOrigin } from './load-origin.ts';
import { MIB, WATCHED_PARTS, type PartName } from './memory-watch.ts';

const LIMIT_BYTES = 512 * MIB;
const MAX_GROWTH = 96 * MIB;
const NAME = 'l10-others';
const PRIVATE_NAME = 'l10-private';
const HOSTED_NAME = 'l10-hosted';
const CIRCUITS = 4;
const ATTACK_MS = 180_000;
const OTHERS = 10;
const OTHERS_BYTES = 1 * MIB;

export const ENROLLED_PEER_ROW: BatteryRow = {
  id: 'L10',
  title: 'one enrolled identity takes at most 96 MiB of a part, and others continue',
  run: async (context, product) => {
    const tally = new Tally();
    const origin = await startLoadOrigin();
    const groups = new Map<PartName, ControlGroup>();
    const { parts } = product;
    const greedy = await GreedySdk.enroll({
      apiUrl: parts.control.ready.apiUrl,
      edgePort: parts.router.ready.edgePort,
      code: await enrollmentCode(product),
      ca: readFileSync(join(parts.folder, 'api-ca.pem'), 'utf8'),
    });
    try {
      await product.share(NAME, origin.port);
      await shareWith(greedy.id, product, origin.port);
      await askOthers(tally, product, 'before');
      for (const name of WATCHED_PARTS) {
        const { pid } = parts[name];
        const group = ControlGroup.open(`frontdoor-${name}`, LIMIT_BYTES - residentBytesOf(pid));
        group.adopt(pid);
        groups.set(name, group);
      }
      const attacks: readonly [string, () => Promise<void>][] = [
        ['unfinished frames', () => sendUnfinished(greedy, context.quick ? 100 : 500)],
        ['unfinished hellos', () => sendHellos(greedy, context.quick ? 50 : 500)],
        ['payloads out of order at the agent', () => gapAtAgent(greedy, context)],
        ['payloads out of order at the gateway', () => gapAtGateway(greedy, product, context)],
      ];
      for (const [what, attack] of attacks) {
        if (WATCHED_PARTS.some((name) => !parts[name].isRunning)) break;
        context.progress(what);
        await runAttack(what, attack, { tally, context, product, groups });
      }
    } finally {
      await greedy.close();
      await origin.stop();
      for (const group of groups.values()) {
        group.release();
        await group.close();
      }
    }
    return tally;
  },
};

interface Run {
  readonly tally: Tally;
  readonly context: BatteryRowContext;
  readonly product: BatteryProduct;
  readonly groups: ReadonlyMap<PartName, ControlGroup>;
}

async function runAttack(what: string, attack: () => Promise<void>, run: Run): Promise<void> {
  const { tally, context, product, groups } = run;
  const bases = new Map<PartName, number>();
  for (const [name, group] of groups) {
    bases.set(name, group.residentBytes());
    group.resetPeak();
  }
  const startedMs = performance.now();
  const sent = within(what, attack(), ATTACK_MS).catch((error: unknown) => String(error));
  await askOthers(tally, product, `while it sends ${what}`);
  const fault = await sent;
  await askOthers(tally, product, `after ${what}`);
  const growths = [...groups].map(([name, group]) => {
    const grown = group.peakBytes - bases.get(name)!;
    tally.check(grown <= MAX_GROWTH, `${what}: ${name} grows by at most 96 MiB`, () => inMib(grown));
    tally.check(product.parts[name].isRunning && !group.isOverrun(), `${what}: ${name} stays alive`);
    return `${name} +${inMib(grown)}`;
  });
  const tookS = ((performance.now() - startedMs) / 1_000).toFixed(1);
  context.note(`${what}: ${growths.join(', ')} MiB in ${tookS} s${fault === undefined ? '' : `; ${fault}`}`);
  for (const [name, group] of groups) context.note(`  ${name}: ${curve(group)}`);
}

/** 500 of them at the router; as many as it takes. */
async function sendUnfinished(greedy: GreedySdk, channels: number): Promise<void> {
  const sending: Promise<void>[] = [];
  for (let index = 0; index < channels; index += 1) {
    const peer = await greedy.openChannel().catch(() => undefined);
    if (peer !== undefined) sending.push(greedy.sendUnfinished(peer));
  }
  await Promise.all(sending);
  await pause(1_000);
}

async function sendHellos(greedy: GreedySdk, connections: number): Promise<void> {
  for (let index = 0; index < connections; index += 1) {
    await greedy.openSilent(index % 2 === 0 ? 0 : 1_000).catch(() => {});
  }
}

async function gapAtAgent(greedy: GreedySdk, { quick }: BatteryRowContext): Promise<void> {
  const service = await greedy.api.serviceByName(PRIVATE_NAME);
  const circuits = [];
  for (let index = 0; index < CIRCUITS; index += 1) circuits.push(await greedy.dial(service!.id));
  await greedy.sendGapped(circuits, quick ? 10_000 : 200_000, 0);
  await pause(1_000);
}

async function gapAtGateway(
  greedy: GreedySdk,
  product: BatteryProduct,
  { quick }: BatteryRowContext,
): Promise<void> {
  const circuits: { peer: Parameters<GreedySdk['sendUnfinished']>[0]; circuitId: string }[] = [];
  const { stop } = await greedy.host(
    HOSTED_NAME,
    (peer, circuitId) => void circuits.push({ peer, circuitId }),
  );
  const asks: ReturnType<typeof get>[] = [];
  try {
    const headers = { host: hostOf(HOSTED_NAME) };
    for (let tries = 0; circuits.length < CIRCUITS && tries < 200; tries += 1) {
      const ask = get({ port: product.plainPort, headers, path: '/' });
      ask.on('error', () => {});
      ask.on('response', (response) => response.resume());
      asks.push(ask);
      await pause(50);
    }
    await greedy.sendGapped(circuits, quick ? 10_000 : 200_000, PAYLOAD_FLAGS.originator);
    await pause(1_000);
  } finally {
    stop();
    for (const ask of asks) ask.destroy();
  }
}

async function askOthers(tally: Tally, product: BatteryProduct, when: string): Promise<void> {
  const request = `GET /bytes/${OTHERS_BYTES} HTTP/1.1\r\nHost: ${hostOf(NAME)}\r\nConnection: close\r\n\r\n`;
  let intact = 0;
  for (let index = 0; index < OTHERS; index += 1) {
    const answer = await askBytes(product.target('plain', NAME), request, 60_000).catch(() => '');
    if (statusOf(answer) === 200 && answer.length > OTHERS_BYTES) intact += 1;
  }
  tally.count(intact, OTHERS - intact, `circuits of others ${when}`);
}

async function enrollmentCode(product: BatteryProduct): Promise<string> {
  const { json } = await product.parts.call('POST', '/agents/enrollments');
  return (json as { enrollmentCode: string }).enrollmentCode;
}

async function shareWith(id: string, { parts }: BatteryProduct, port: number): Promise<void> {
  const target = `http://127.0.0.1:${port}`;
  await callAgent(
    parts.agentSocket,
    { op: 'share', mode: 'private', target, name: PRIVATE_NAME, grants: [id] },
    20_000,
  );
}

/** A dozen points of the curve since the group was opened: seconds and MiB. */
function curve({ samples }: ControlGroup): string {
  const step = Math.max(1, Math.floor(samples.length / 12));
  return samples
    .filter((_, index) => index % step === 0)
    .map(({ atMs, bytes }) => `${(atMs / 1_000).toFixed(0)}s ${inMib(bytes)}`)
    .join(', ');
}

function inMib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}
