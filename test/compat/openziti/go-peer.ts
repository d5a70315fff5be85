/**
 * `go-peer/main.go`, a host and a dialer on OpenZiti's Go SDK, built with the `go` in PATH. Its go.mod
 * names the SDK's version; `FRONTDOOR_TEST_GO_SDK` takes a newer one, from v1.6.0 on.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from '../../../tools/pinned-process.ts';
import { findCommand } from '../../support/child-process.ts';
import type { LoadResult } from '../../bench/fabric/load-process.ts';
import { within } from '../../support/deadline.ts';
import { zitiBinary, zitiEnvironment } from '../../support/ziti-command.ts';

const SOURCE = join(repositoryRoot, 'test/compat/openziti/go-peer');
/** The SDK looks for the system's name at each dial: in this file of `HOST_ETC`, else it starts `lsb_release`, which takes 8 ms. */
const SYSTEM_NAME_FILE = 'lsb-release';
const BUILD_MS = 230_000;
/** 10,000 terminators take minutes. */
const READY_MS = 300_000;
const KEPT_CHARS = 100_000;

/** What a dialer found. `whole`: connections whose bytes came back unchanged, followed by the end of the stream. */
export interface GoDials {
  readonly connections: number;
  readonly whole: number;
  readonly ms: number;
  readonly errors: readonly string[];
}

/** Connections of a load that runs for `seconds`: one endless download each, requests in turn, or a new one each time. */
export interface GoLoad {
  readonly kind: 'download' | 'messages' | 'circuits';
  readonly connections: number;
  readonly seconds: number;
}

export interface GoHost {
  output(): string;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
}

/** Why the tests with the program are skipped, or false. */
export function skipGoPeer(): string | false {
  if (zitiBinary() === undefined) return 'ZITI_BIN is not set';
  return findCommand('go') === undefined ? 'go, which is needed beside ZITI_BIN, is not in PATH' : false;
}

export class GoPeer {
  readonly #binary: string;
  readonly #folder: string;

  private constructor(binary: string, folder: string) {
    this.#binary = binary;
    this.#folder = folder;
  }

  /** Builds it in `folder`, which takes minutes the first time, and is the home of its processes. */
  static async build(folder: string): Promise<GoPeer> {
    const version = process.env['FRONTDOOR_TEST_GO_SDK'] ?? '';
    const place = join(folder, 'go-peer');
    cpSync(SOURCE, place, { recursive: true });
    const go = async (...args: string[]): Promise<void> => {
      const child = spawn('go', args, {
        cwd: place,
        env: { ...process.env, GOFLAGS: '-mod=mod' },
        stdio: ['ignore', 'inherit', 'inherit'],
        timeout: BUILD_MS,
      });
      const [status] = (await once(child, 'exit')) as [number | null];
      if (status !== 0) throw new Error(`go ${args[0]} failed (${status ?? 'killed'})`);
    };
    if (version !== '') {
      await go('get', `github.com/openziti/sdk-golang@${version}`);
      await go('mod', 'tidy');
    }
    // Newer versions report the events of listeners in another way.
    await go('build', ...(version === '' ? [] : ['-tags', 'newer_sdk']), '-o', 'go-peer', '.');
    writeFileSync(join(place, SYSTEM_NAME_FILE), 'DISTRIB_ID=test\n');
    return new GoPeer(join(place, 'go-peer'), folder);
  }

  /** Hosts an echo; resolves once the service is bound. */
  host(identityFile: string, service: string): Promise<GoHost> {
    return this.#host(['host', identityFile, service]);
  }

  /** Hosts what `load` asks for; resolves once each service has this number of terminators. */
  serve(identityFile: string, services: readonly string[], terminators: number): Promise<GoHost> {
    return this.#host(['serve', identityFile, services.join(), String(terminators)]);
  }

  async #host(args: readonly string[]): Promise<GoHost> {
    const child = this.#start(args);
    const output = collect(child);
    const lines = createInterface({ input: child.stdout! });
    const kill = async (): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    };
    try {
      await within('a ready Go host', once(lines, 'line'), READY_MS);
    } catch (error) {
      await kill();
      throw new Error(output(), { cause: error });
    }
    return { output, kill };
  }

  /** Rejects with what it printed if it fails as a whole. */
  async dial(
    identityFile: string,
    service: string,
    load: { readonly connections: number; readonly atOnce: number; readonly bytes: number },
  ): Promise<GoDials> {
    const { connections, atOnce, bytes } = load;
    return this.#result<GoDials>([
      'dial',
      identityFile,
      service,
      ...[connections, atOnce, bytes].map(String),
    ]);
  }

  /** One measurement at a service that `serve` hosts. */
  load(identityFile: string, service: string, load: GoLoad): Promise<LoadResult> {
    const { kind, connections, seconds } = load;
    return this.#result(['load', identityFile, service, kind, String(connections), String(seconds)]);
  }

  /** Rejects with what it printed unless it ends by itself, with a result. */
  async #result<R>(args: readonly string[]): Promise<R> {
    const child = this.#start(args);
    const output = collect(child);
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [status] = (await once(child, 'close')) as [number | null];
    if (status !== 0) throw new Error(`go-peer ${args[0]} ended with ${status ?? 'a signal'}: ${output()}`);
    return JSON.parse(text) as R;
  }

  /** Dials and is killed in the middle of `bytes`; resolves once it has ended. */
  async dialAndDie(
    identityFile: string,
    service: string,
    bytes: number,
    wait: Promise<unknown>,
  ): Promise<void> {
    const child = this.#start(['dial', identityFile, service, '1', '1', String(bytes)]);
    collect(child);
    const ended = once(child, 'exit');
    await wait;
    child.kill('SIGKILL');
    await ended;
  }

  #start(args: readonly string[]): ChildProcess {
    return spawn(this.#binary, args, {
      cwd: this.#folder,
      env: { ...zitiEnvironment(this.#folder), HOST_ETC: dirname(this.#binary) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}

function collect(child: ChildProcess): () => string {
  let output = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-KEPT_CHARS);
  });
  return () => output;
}
