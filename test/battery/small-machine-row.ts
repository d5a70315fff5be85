/**
 * L13: an agent in a control group of 64 MiB, and `up` in one of 192 MiB, start for the first time and run on; an agent in 72 MiB
 * serves forty slow readers of a folder and of a service. From a fresh clone as `npm run build` leaves it, and from the package where
 * `npm run prepack` has made its programs.
 */
import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE } from '#domain/agent-shapes';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { ControlGroup } from '../support/control-group.ts';
import { until } from '../support/deadline.ts';
import { RowSkipped, Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { openSlowDownloads } from './slow-downloads.ts';

const MIB = 1_048_576;
const AGENT_BYTES = 64 * MIB;
/** What it takes beside forty slow readers. */
const READ_AGENT_BYTES = 72 * MIB;
const UP_BYTES = 192 * MIB;
/** Longer than a minute, after which programs once made a bundle of themselves. */
const RUNS_MS = 70_000;
const QUICK_MS = 5_000;
const READ_MS = 20_000;
const READY_MS = 60_000;
const READERS = { count: 40, bytesPerS: 200_000 };
const FILE_BYTES = 300 * MIB;
const FILE = 'large.bin';
const PIECE_BYTES = 64 * 1024;

export const SMALL_MACHINE_ROW: BatteryRow = {
  id: 'L13',
  title: 'an agent fits 64 MiB and up fits 192 MiB, from the first start on',
  hasOwnProduct: true,
  run: async (context) => {
    const probe = ControlGroup.open('small', UP_BYTES);
    const { isEnforced } = probe;
    await probe.close();
    if (!isEnforced) throw new RowSkipped('no control group whose memory this user may bound');
    const tally = new Tally();
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-small-'));
    try {
      await checkFits(context, tally, 'a clone', await cloneIn(join(folder, 'clone')), folder);
      const packed = packageIn(join(folder, 'package'));
      if (packed === undefined) context.note('no package: "npm run prepack" makes its programs');
      else await checkFits(context, tally, 'the package', packed, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    return tally;
  },
};

/** Committed files and the installed packages, with what `npm run build` makes of them. */
async function cloneIn(root: string): Promise<string> {
  const run = promisify(execFile);
  await run('git', ['clone', '--quiet', '--depth', '1', `file://${repositoryRoot}`, root]);
  symlinkSync(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'));
  await run(process.execPath, [join(root, 'bin/frontdoor.js'), 'dev', 'build']);
  return root;
}

/** Undefined where no programs were compiled. */
function packageIn(root: string): string | undefined {
  if (!existsSync(join(repositoryRoot, 'dist/programs'))) return undefined;
  mkdirSync(join(root, 'bin'), { recursive: true });
  for (const name of ['package.json', 'bin/frontdoor.js', 'bin/node-flags.js', 'dist'])
    cpSync(join(repositoryRoot, name), join(root, name), { recursive: true });
  symlinkSync(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'));
  return root;
}

async function checkFits(
  context: BatteryRowContext,
  tally: Tally,
  from: string,
  root: string,
  folder: string,
): Promise<void> {
  const dataDir = join(folder, from.replaceAll(' ', '-'));
  const readyFile = `${dataDir}.json`;
  const up = start(root, 'up', UP_BYTES, [
    'up',
    '--any-port',
    '--data-dir',
    dataDir,
    '--ready-file',
    readyFile,
  ]);
  let agent: Bounded | undefined;
  const service = createServer((_request, response) => sendLarge(response));
  try {
    const isUp = await becomes(() => existsSync(readyFile));
    tally.check(isUp && !up.group.isOverrun(), `up from ${from} starts in 192 MiB`, up.output);
    if (!isUp) return;
    const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as Readonly<Record<string, string>>;
    const { apiUrl = '', gatewayUrl = '' } = ready;
    const code = await enrollmentCode(apiUrl, join(dataDir, 'first-secrets.json'));
    const agentDir = `${dataDir}-agent`;
    const words = ['agent', 'start', '--data-dir', agentDir, '--api', apiUrl, '--enrollment-token', code];
    agent = start(root, 'agent', AGENT_BYTES, words);
    const socket = join(agentDir, AGENT_SOCKET_FILE);
    const isConnected = async (): Promise<boolean> =>
      (await callAgent(socket, { op: 'status' }, 1_000)).controlPlane === 'connected';
    const isThere = await becomes(isConnected);
    tally.check(isThere && !agent.group.isOverrun(), `an agent from ${from} starts in 64 MiB`, agent.output);
    await pause(context.quick ? QUICK_MS : RUNS_MS);
    for (const part of [up, agent]) {
      const name = `${part.name} from ${from} runs on`;
      tally.check(part.isRunning() && !part.group.isOverrun(), name, part.output);
    }
    await agent.group.close();
    agent = start(root, 'agent', READ_AGENT_BYTES, words);
    await becomes(isConnected);
    await checkReaders(context, tally, { agent, socket, gatewayUrl }, from, {
      folder: largeFolder(`${dataDir}-files`),
      service: await addressOf(service),
    });
  } finally {
    service.closeAllConnections();
    service.close();
    for (const part of [agent, up]) await part?.group.close();
  }
}

/** Forty readers of each target at once, of which none is slower than a bad mobile connection. */
async function checkReaders(
  { quick, note }: BatteryRowContext,
  tally: Tally,
  {
    agent,
    socket,
    gatewayUrl,
  }: { readonly agent: Bounded; readonly socket: string; readonly gatewayUrl: string },
  from: string,
  targets: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, target] of Object.entries(targets)) {
    const host = await share(socket, name, target);
    const readers = openSlowDownloads(gatewayUrl, host, `/${FILE}`, READERS);
    await pause(quick ? QUICK_MS : READ_MS);
    const { openCount, receivedBytes } = readers;
    readers.close();
    const what = `an agent from ${from} serves slow readers of a ${name}`;
    note(`${what}: ${Math.round(receivedBytes / MIB)} MiB`);
    tally.check(host !== '' && agent.isRunning() && !agent.group.isOverrun(), what, agent.output);
    tally.check(openCount === READERS.count, `${what} and cuts none`, () => `${openCount} are left`);
  }
}

interface Bounded {
  readonly name: string;
  readonly group: ControlGroup;
  isRunning(): boolean;
  output(): string;
}

/** With its launcher, as a service manager starts it. */
function start(root: string, name: string, bytes: number, words: readonly string[]): Bounded {
  const group = ControlGroup.open(name, bytes);
  const { file, args } = group.command(process.execPath, [join(root, 'bin/frontdoor.js'), ...words]);
  const env = { ...process.env, FRONTDOOR_FROM_SOURCES: '', FRONTDOOR_NODE_OPTIONS: '' };
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  group.watch(child.pid ?? 0);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(-2_000)));
  return {
    name,
    group,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    output: () => text,
  };
}

async function becomes(look: () => boolean | Promise<boolean>): Promise<boolean> {
  return until('the start', look, (is) => is, READY_MS).then(
    () => true,
    () => false,
  );
}

async function enrollmentCode(apiUrl: string, secretsFile: string): Promise<string> {
  const { frontdoorId, accountId, apiToken } = JSON.parse(readFileSync(secretsFile, 'utf8')) as Record<
    string,
    string
  >;
  const authorization = `Basic ${Buffer.from(`${accountId}:${apiToken}`).toString('base64')}`;
  const url = `${apiUrl}/frontdoor/${frontdoorId}/agents/enrollments`;
  const answer = await fetch(url, { method: 'POST', headers: { authorization } });
  return ((await answer.json()) as { readonly enrollmentCode: string }).enrollmentCode;
}

/** A folder with a file that takes no room on the disk. Returns the target of a share. */
function largeFolder(folder: string): string {
  mkdirSync(folder);
  writeFileSync(join(folder, FILE), '');
  truncateSync(join(folder, FILE), FILE_BYTES);
  return `file://${folder}`;
}

function sendLarge(response: ServerResponse): void {
  const piece = Buffer.alloc(PIECE_BYTES);
  let leftBytes = FILE_BYTES;
  const send = (): void => {
    while (leftBytes > 0) {
      leftBytes -= piece.length;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.writeHead(200, { 'Content-Length': FILE_BYTES });
  response.on('drain', send);
  send();
}

async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the host of the share once it can be dialed; empty when that fails. */
async function share(socket: string, name: string, target: string): Promise<string> {
  const request = { op: 'share', mode: 'public', target, grants: [], name } as const;
  const answer = await callAgent(socket, request, READY_MS);
  return answer.readiness.ready ? new URL(answer.share.endpoints[0]!).hostname : '';
}
