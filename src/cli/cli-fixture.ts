/** Runs command lines in tests. The output is collected, and no program is started. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CliIo } from './cli-io.ts';
import { buildWholeProgram, runProgram, type ProgramRunners } from './program.ts';

export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

export const VERSION = '1.2.3';

const notHere = (): Promise<never> => Promise.reject(new Error('not this command'));
const noRunners: ProgramRunners = {
  up: notHere,
  control: notHere,
  resetAdmin: notHere,
  adminsCreate: notHere,
  consoleLink: notHere,
  gateway: notHere,
  dnsCheck: notHere,
  routerRun: notHere,
  routerEnroll: notHere,
  routerCheck: notHere,
  routerSchema: notHere,
  restore: notHere,
  agentStart: notHere,
  tunnelHost: notHere,
  tunnelProxy: notHere,
  serviceInstall: notHere,
  serviceUninstall: notHere,
  serviceStatus: notHere,
  schemaSteps: notHere,
  readDatabase: notHere,
  checkOf: notHere,
  buildFacts: notHere,
};

export interface RanIo extends CliIo {
  readonly ran: () => Ran;
}

export function keptIo(env: CliIo['env'] = {}, more: Partial<CliIo> = {}): RanIo {
  let [out, err] = ['', ''];
  const io: RanIo = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    env,
    exitCode: 0,
    ...more,
    ran: () => ({ out, err, code: io.exitCode }),
  };
  return io;
}

/** Uses `runners` instead of those that start nothing. Other parts call it by `test/support/command-line.ts`. */
export async function runCli(
  args: readonly string[],
  env: CliIo['env'] = {},
  more: Partial<CliIo> = {},
  runners: Partial<ProgramRunners> = {},
  version = VERSION,
): Promise<Ran> {
  const io = keptIo(env, more);
  await runProgram(args, version, io, { ...noRunners, ...runners });
  return io.ran();
}

/** Builds the whole tree of commands. */
export function wholeProgram(io: CliIo = keptIo()) {
  return buildWholeProgram(VERSION, io, noRunners);
}

export interface FakeApi {
  readonly url: string;
  readonly seen: { readonly method: string; readonly url: string; request: IncomingMessage; body: string }[];
  close(): void;
}

export interface FakeAnswer {
  readonly status: number;
  readonly json?: unknown;
  /** The body instead of `json`. */
  readonly raw?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts a server that answers each request with the function's result; for undefined it breaks the connection. */
export async function fakeApi(
  answer: (request: { method: string; url: string; body: string }) => FakeAnswer | undefined,
): Promise<FakeApi> {
  const seen: FakeApi['seen'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { method = '', url = '' } = request;
      seen.push({ method, url, request, body });
      const given = answer({ method, url, body });
      if (given === undefined) return void request.socket.destroy();
      const { status, json, raw, headers } = given;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(raw ?? (json === undefined ? undefined : JSON.stringify(json)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
