/**
 * Routers of Frontdoor in this process, each started from the text of a configuration file, with controllers that the test
 * plays. All of it ends with the test.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import * as tls from 'node:tls';
import { silentLog, type Log } from '#base';
import { parseRouterConfig, Router } from '#router';
import { recordingLog, type LogRecord } from './recording-log.ts';
import { makeTestAuthority, type TestAuthority, type TestIdentity } from './certificates.ts';
import { LinkPeer } from './link-peer.ts';
import {
  openScriptedController,
  type ScriptedController,
  type ScriptedControllerOptions,
} from './scripted-controller.ts';

export type Sections = Readonly<Record<string, unknown>>;

export interface StageRouterOptions {
  /** Also the name of its certificate; `router-1` when absent. */
  readonly id?: string;
  readonly log?: Log;
  readonly environment?: Readonly<Record<string, string>>;
}

export class RouterStage {
  readonly folder = mkdtempSync(join(tmpdir(), 'router-stage-'));
  readonly authority: TestAuthority;
  readonly #closers: (() => Promise<void> | void)[] = [];

  private constructor(authority: TestAuthority) {
    this.authority = authority;
  }

  static async open(t: TestContext): Promise<RouterStage> {
    const stage = new RouterStage(await makeTestAuthority());
    t.after(() => stage.#close());
    return stage;
  }

  /** `ctrl` gets the controllers' addresses unless it names some, `identity` certificates unless it is given. */
  async start(
    controllers: readonly { readonly port: number }[],
    sections: Sections & { readonly ctrl?: Sections } = {},
    { id = 'router-1', log = silentLog, environment = {} }: StageRouterOptions = {},
  ): Promise<Router> {
    const { ctrl = {}, ...rest } = sections;
    const own = await this.authority.issue(id);
    const endpoints = controllers.map(({ port }) => `tls:127.0.0.1:${port}`);
    const text = JSON.stringify({
      v: 3,
      ctrl: { ...(endpoints.length === 0 ? {} : { endpoints }), ...ctrl },
      identity: { cert: `pem:${own.cert}`, key: `pem:${own.key}`, ca: `pem:${own.ca}` },
      ...rest,
    });
    const file = join(this.folder, `${id}.yml`);
    writeFileSync(file, text);
    const interfaces = { loop2: [{ address: '127.0.0.2' }] };
    const { config, problems } = parseRouterConfig(text, file, {
      environment,
      interfaces,
      exists: existsSync,
    });
    assert.deepEqual(problems, []);
    const router = await Router.start({ config: config!, log, release: '1.2.3' });
    this.#closers.push(() => router.close());
    return router;
  }

  async controller(options: ScriptedControllerOptions = {}): Promise<ScriptedController> {
    const controller = await openScriptedController(
      await this.authority.issue(options.id ?? 'ctrl'),
      options,
    );
    this.#closers.push(() => controller.close());
    return controller;
  }

  /** Another router, that routers with link dialers dial when a controller sends them `news`. */
  async linkPeer(id: string, isSilent = false): Promise<LinkPeer> {
    const peer = await LinkPeer.open(id, await this.authority.issue(id), isSilent);
    this.#closers.push(() => peer.close());
    return peer;
  }

  /** A server that shakes hands as a controller would, and does with its sockets what the test wants. */
  async rawController(onSocket: (socket: tls.TLSSocket) => void): Promise<{ readonly port: number }> {
    const identity: TestIdentity = await this.authority.issue('ctrl');
    const server = tls.createServer(
      { ...identity, requestCert: true, rejectUnauthorized: false, ALPNProtocols: ['ziti-ctrl'] },
      (socket) => {
        socket.on('error', () => {});
        onSocket(socket);
      },
    );
    const sockets = new Set<{ destroy(): void }>();
    server.on('connection', (socket: tls.TLSSocket) => sockets.add(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#closers.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return server.address() as { port: number };
  }

  /** Ends before what was opened earlier does. */
  onClose(close: () => Promise<void> | void): void {
    this.#closers.push(close);
  }

  async #close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A log that keeps its lines. */
export function keptLog(): { readonly log: Log; readonly lines: readonly LogRecord[] } {
  const lines: LogRecord[] = [];
  return { log: recordingLog((record) => void lines.push(record)), lines };
}
