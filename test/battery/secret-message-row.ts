/**
 * A27: the content of a field that may hold a key, token or password is repeated by no output, log or answer, whatever its
 * form: each option, variable and file of each program, and each such field and parameter of each operation of the API.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exampleBodyOf, operations, type Operation } from '#contract';
import { JsonClient } from '#net/http';
import { runCommand } from '../support/part-process.ts';
import type { BatteryProduct } from './battery-product.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { SECRET_FILES, SECRET_PLACES, type SecretPlace } from './secret-place-table.ts';

/** Command lines at once: each is a process that ends by itself. */
const WIDTH = 2;
const SECRET_NAME = /secret|token|password|passphrase|key|code|jwt|pem|certificate|recovery/i;
const PARTS = ['control', 'router', 'gateway', 'agent'] as const;
const LONG = 20_000;

export const SECRET_MESSAGE_ROW: BatteryRow = {
  id: 'A27',
  title: 'no output, log or answer repeats a field that may hold a key, token or password',
  product: { logLevel: 'debug' },
  run: async (context, product) => {
    const tally = new Tally();
    const lines: string[] = [];
    const unwatch = PARTS.map((name) => product.parts[name].watch((line) => lines.push(`${name}: ${line}`)));
    try {
      const secrets = await checkOperations(tally, context, product);
      for (const line of lines) {
        const found = secrets.find((secret) => line.includes(secret));
        tally.check(found === undefined, 'a line of the log', () => line.slice(0, 400));
      }
    } finally {
      for (const stop of unwatch) stop();
    }
    await checkCommands(tally, context);
    return tally;
  },
};

async function checkCommands(tally: Tally, { quick, progress }: BatteryRowContext): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'frontdoor-secrets-'));
  const secret = newSecret();
  const filled = (text: string): string => text.replaceAll('{s}', secret).replaceAll('{dir}', dir);
  try {
    for (const [name, text] of Object.entries(SECRET_FILES))
      writeFileSync(join(dir, name), filled(text), { mode: 0o600 });
    writeFileSync(join(dir, 'a.pem'), 'no certificate');
    for (const name of ['agent', 'control', 'gateway']) mkdirSync(join(dir, name), { mode: 0o700 });
    const places = quick ? SECRET_PLACES.filter((_, i) => i % 8 === 0) : SECRET_PLACES;
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let place = places[next]; place !== undefined; place = places[next]) {
        next += 1;
        await checkCommand(tally, place, filled, secret, dir);
        progress(`${next} of ${places.length} command lines`);
      }
    };
    await Promise.all(Array.from({ length: WIDTH }, worker));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function checkCommand(
  tally: Tally,
  { args, env = {} }: SecretPlace,
  filled: (text: string) => string,
  secret: string,
  dir: string,
): Promise<void> {
  const more = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
  const name = `frontdoor ${args.join(' ')} ${JSON.stringify(env)}`;
  const output = await runCommand(args.map(filled), { HOME: dir, XDG_CONFIG_HOME: dir, ...more }).then(
    () => undefined,
    (error: unknown) => String(error).replace(/^Error: frontdoor [^]*? failed \(/, ''),
  );
  if (!tally.check(output !== undefined, `${name} is refused`)) return;
  tally.check(!output!.includes(secret), name, () => output!.replaceAll(secret, '{s}').slice(0, 600));
}

/** Returns the secrets that were sent. */
async function checkOperations(
  tally: Tally,
  { quick }: BatteryRowContext,
  { parts }: BatteryProduct,
): Promise<string[]> {
  const { apiUrl, accountId, apiToken } = parts.control.ready as unknown as Record<string, string>;
  const ca = readFileSync(join(parts.folder, 'api-ca.pem'), 'utf8');
  const client = new JsonClient({ origin: apiUrl!, ca });
  const own = `Basic ${accountId}:${apiToken}`;
  const secrets: string[] = [];
  const sent = (): string => {
    secrets.push(newSecret());
    return secrets.at(-1)!;
  };
  const check = async (
    { method, path }: Operation,
    what: string,
    body: unknown,
    authorization = own,
    values: Readonly<Record<string, string>> = {},
  ): Promise<void> => {
    const target = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
      name === 'frontdoorId' ? parts.frontdoorId : encodeURIComponent(values[name] ?? UNKNOWN_ID),
    );
    const { status, text } = await client.request({
      method,
      path: target,
      body,
      headers: { authorization, 'last-event-id': 'none' },
    });
    const found = secrets.find((secret) => text.includes(secret));
    const isRefused = status >= 400 && status < 500;
    tally.check(
      found === undefined && isRefused,
      `${method} ${path}: ${what}`,
      () => `${status} ${text.slice(0, 400)}`,
    );
  };
  try {
    for (const operation of Object.values(operations) as readonly Operation[]) {
      for (const name of operation.path.matchAll(/\{([^}]+)\}/g))
        // The token of a share is its name.
        if (SECRET_NAME.test(name[1]!) && name[1] !== 'token')
          await check(operation, name[1]!, undefined, own, { [name[1]!]: sent() });
      for (const scheme of quick ? ['Bearer ', 'Basic '] : ['Bearer ', 'Basic ', 'Basic a:', 'Digest ', ''])
        if (operation.scope !== undefined) await check(operation, scheme, undefined, `${scheme}${sent()}`);
      for (const [what, body] of wrongBodies(operation, sent)) await check(operation, what, body);
    }
  } finally {
    await client.close();
  }
  return secrets;
}

/** Exists nowhere. */
const UNKNOWN_ID = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';

const PROVIDER_FIELDS = ['client_secret', 'keys', 'password', 'token'];

function wrongBodies({ id, body }: Operation, sent: () => string): [string, unknown][] {
  if (body === undefined || body === 'own') return [];
  const example = exampleBodyOf(body);
  const forms = (): unknown[] => [
    [sent()],
    { value: sent() },
    `${sent()}\0`,
    sent().repeat(LONG),
    [[{ key: { key: sent() } }]],
  ];
  const found: [string, unknown][] = [
    ['a whole body', sent()],
    ['a list', [sent()]],
    ...['secret', 'password', 'token', 'key'].map((name): [string, unknown] => [
      `unknown ${name}`,
      { ...(example as object), [name]: { [sent()]: sent() } },
    ]),
  ];
  for (const name of Object.keys(example as object).filter((field) => SECRET_NAME.test(field)))
    for (const form of forms()) found.push([name, { ...(example as object), [name]: form }]);
  if (/AuthProvider$|LogIn$/.test(id))
    for (const type of ['OIDC', 'GOOGLE', 'GITHUB', 'API_KEY', sent()])
      for (const field of PROVIDER_FIELDS)
        for (const form of forms())
          found.push([`${type} ${field}`, { name: 'a27', type, data: { [field]: form } }]);
  if (/[Pp]olicy/.test(id))
    for (const form of forms()) found.push(['basicAuth', { basicAuth: [{ name: 'ann', password: form }] }]);
  return found;
}

function newSecret(): string {
  return `planted${randomBytes(16).toString('hex')}`;
}
