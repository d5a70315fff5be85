/**
 * Router files for tests: a complete file, in which any value can be replaced by YAML text, and the result of `check`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkRouterFile, type RouterCheckOptions } from '../router-check.ts';
import type { ConfigProblem } from '../router-config.ts';
import { readRouterFile, type ReadRouterFile } from '../router-file.ts';

/** Contains every section, with the fewest keys that make it valid without a warning. */
export const WHOLE_FILE = {
  v: 3,
  identity: { cert: 'pki/cert.pem', key: 'pki/key.pem', server_cert: 'pki/server.pem', ca: 'pki/ca.pem' },
  ctrl: { endpoint: 'tls:ctrl.example:6262', options: {}, heartbeats: {} },
  edge: { csr: { sans: { dns: ['router.example'] } } },
  link: {
    listeners: [{ binding: 'transport', bind: 'tls:127.0.0.1:6000', advertise: 'router.example:6000' }],
    dialers: [{ binding: 'transport', options: {}, healthyDialBackoff: {}, unhealthyDialBackoff: {} }],
  },
  dialers: [{ binding: 'transport', options: {} }],
  listeners: [
    { binding: 'edge', address: 'tls:127.0.0.1:3022', options: { advertise: 'router.example:3022' } },
    { binding: 'transport', address: 'tls:127.0.0.1:7000', options: { advertise: 'router.example:7000' } },
    { binding: 'proxy', address: 'tcp:127.0.0.1:7001', service: 'web' },
    { binding: 'tunnel', options: {} },
  ],
  web: [
    {
      name: 'health',
      bindPoints: [{ interface: '127.0.0.1:8443', address: 'router.example:8443' }],
      options: {},
      apis: [{ binding: 'health-checks' }],
    },
  ],
  forwarder: {},
  healthChecks: { ctrlPingCheck: {}, linkCheck: {} },
  metrics: {},
  trace: { path: 'trace' },
  profile: { cpu: { path: 'cpu' }, memory: { path: 'memory' } },
  transport: {},
} as const;

export const INTERFACES = { eth7: [{ address: '192.0.2.7' }, { address: 'fe80::7' }] };

type Json = Record<string, unknown>;

const PLACE = '@place@';

/** Returns the sections that every file needs, and the one that `path` begins with, so that little has to be parsed. */
function fileAround(path: string): Json {
  const names = new Set(['v', 'identity', 'ctrl', 'edge', 'listeners', /^[^.[]*/.exec(path)![0]]);
  return Object.fromEntries(Object.entries(WHOLE_FILE).filter(([name]) => names.has(name)));
}

/** Returns a valid file with the value at `path` replaced by YAML text; undefined removes the key. */
export function fileWith(path: string, yaml: string | undefined, base: unknown = fileAround(path)): string {
  const root = structuredClone(base) as Json;
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  let at = root;
  for (const step of steps.slice(0, -1)) at = (at[step] ??= {}) as Json;
  const last = steps.at(-1)!;
  if (yaml === undefined) delete at[last];
  else at[last] = PLACE;
  // JSON is valid YAML, and the replacement can be YAML that is not JSON.
  return JSON.stringify(root, undefined, 1).replace(`"${PLACE}"`, () => yaml ?? '');
}

export function read(text: string, environment: Record<string, string> = {}): ReadRouterFile {
  return readRouterFile(text, '/etc/router/router.yml', { environment, interfaces: INTERFACES });
}

/** Problems as `severity rule path`, in the order of the file. */
export function summaryOf(problems: readonly ConfigProblem[]): string[] {
  return problems.map(({ severity, rule, path }) => `${severity} ${rule} ${path}`);
}

export interface Judged {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with files, and a function that runs the command on one of them. */
export class CheckedFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'router-file-'));

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    writeFileSync(path, content);
    return path;
  }

  check(file: string, options: Partial<RouterCheckOptions> = {}, env: Record<string, string> = {}): Judged {
    let [out, err] = ['', ''];
    const status = checkRouterFile(
      file,
      { json: false, effective: false, files: false, ...options },
      { out: (text) => void (out += text), err: (text) => void (err += text), env },
    );
    return { status, out, err };
  }

  /** Returns the result of `check --json` for a file with this text. */
  judge(content: string | Uint8Array): {
    readonly status: number;
    readonly problems: readonly ConfigProblem[];
  } {
    const { status, out } = this.check(this.write('router.yml', content), { json: true });
    return { status, ...(JSON.parse(out) as { problems: ConfigProblem[] }) };
  }

  close(): void {
    rmSync(this.path, { recursive: true });
  }
}
