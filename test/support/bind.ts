/** BIND, Debian's `named`, as the primary server of a few zones that take signed updates of TXT records. */
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, startProcess, type Running } from './child-process.ts';
import { until } from './deadline.ts';
import { freePort } from './free-port.ts';

const NAMED = findCommand('named');

export const withoutBind =
  NAMED === undefined && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? 'named is not installed' : false;

export interface BindZone {
  readonly name: string;
  /** More lines of the zone file. */
  readonly records?: string;
  /** The name of the key that may change TXT records. */
  readonly key: string;
}

export interface NamedOptions {
  /** For its files. */
  readonly folder: string;
  /** Keys by name, with their algorithms. */
  readonly keys: Readonly<Record<string, string>>;
  readonly zones: readonly BindZone[];
}

export class Bind {
  /** `host:port`, where it answers as authoritative servers do: about its own zones, without following aliases. */
  readonly server: string;
  /** `host:port`, where it answers as resolvers do. */
  readonly resolving: string;
  readonly #folder: string;
  readonly #running: Running;

  private constructor(folder: string, port: number, running: Running) {
    this.#folder = folder;
    this.server = `127.0.0.1:${port}`;
    this.resolving = `127.0.0.2:${port}`;
    this.#running = running;
  }

  static async start({ folder, keys, zones }: NamedOptions): Promise<Bind> {
    const port = await freePort();
    const included = Object.entries(keys).map(([name, algorithm]) => {
      const file = join(folder, `${name}.key`);
      // As tsig-keygen writes it.
      const secret = randomBytes(32).toString('base64');
      writeFileSync(file, `key "${name}" {\n\talgorithm ${algorithm};\n\tsecret "${secret}";\n};\n`, {
        mode: 0o600,
      });
      return `include "${file}";`;
    });
    const declared = zones.map(({ name, records = '', key }) => {
      const file = join(folder, `${name}.zone`);
      writeFileSync(
        file,
        `$TTL 60\n@ SOA ns.${name}. root.${name}. 1 3600 600 86400 60\n@ NS ns.${name}.\nns A 127.0.0.1\n${records}\n`,
      );
      return `zone "${name}" { type primary; file "${file}"; update-policy { grant ${key} zonesub TXT; }; };`;
    });
    const root = join(folder, 'root.zone');
    writeFileSync(root, '$TTL 60\n@ SOA localhost. root.localhost. 1 3600 600 86400 60\n@ NS localhost.\n');
    const config = join(folder, 'named.conf');
    writeFileSync(
      config,
      [
        'options {',
        `  directory "${folder}"; pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";`,
        `  listen-on port ${port} { 127.0.0.1; 127.0.0.2; }; listen-on-v6 { none; };`,
        '  recursion yes; allow-recursion { any; }; allow-recursion-on { 127.0.0.2; }; allow-query-cache-on { 127.0.0.2; };',
        '  notify no; dnssec-validation no; allow-transfer { none; };',
        '};',
        'controls { };',
        ...included,
        ...declared,
        // Without it, names of no zone here would be looked up in the internet.
        `zone "." { type primary; file "${root}"; allow-query-on { 127.0.0.2; }; };`,
        '',
      ].join('\n'),
    );
    const running = startProcess(NAMED!, ['-g', '-n', '1', '-c', config]);
    const bind = new Bind(folder, port, running);
    await until(
      'named answers',
      () =>
        bind
          .resolver()
          .resolveSoa(zones[0]!.name)
          .catch(() => undefined),
      Boolean,
    ).catch((cause: unknown) => {
      throw new Error(`named does not answer: ${running.tail()}`, { cause });
    });
    return bind;
  }

  keyFile(name: string): string {
    return join(this.#folder, `${name}.key`);
  }

  resolver(): Resolver {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    resolver.setServers([this.server]);
    return resolver;
  }

  /** The values of the TXT records of a name, sorted; none without records. */
  async txt(name: string): Promise<readonly string[]> {
    const records = await this.resolver()
      .resolveTxt(name)
      .catch(() => []);
    return records.map((pieces) => pieces.join('')).sort();
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }
}
