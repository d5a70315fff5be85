// `frontdoor import`: files written after the documentation of each program, what it makes of them, and files that are broken.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gatewayProxySkip } from '../../../test/support/gateway-proxies.ts';
import { runCli, type Ran } from '../cli-fixture.ts';

const vectors = join(import.meta.dirname, '../../../test/vectors/import');
const folder = mkdtempSync(join(tmpdir(), 'import-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** What the files have that must be nowhere in the output. */
const SECRET = /s3cret/;

/** Files of each program, with `NAME.agent.yml` and `NAME.remarks` beside them. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  cloudflared: ['cloudflared.yml', 'cloudflared-one.yml'],
  frpc: ['frpc.toml', 'frpc.ini'],
  ngrok: ['ngrok-tunnels.yml', 'ngrok-endpoints.yml'],
  Caddy: ['caddy.json'],
  zrok: ['zrok-share.env', 'zrok-private.env'],
};

async function imported(name: string): Promise<Ran> {
  const ran = await runCli(['import', join(vectors, name)], { PATH: process.env['PATH'] });
  return {
    out: ran.out.replaceAll(`${vectors}/`, ''),
    err: ran.err.replaceAll(`${vectors}/`, ''),
    code: ran.code,
  };
}

async function checkImport(name: string): Promise<void> {
  const { out, err, code } = await imported(name);
  const stem = name.replace(/\.(?!ini)\w+$/, '');
  assert.equal(code, 0, err);
  assert.doesNotMatch(out + err, SECRET);
  assert.equal(out, readFileSync(join(vectors, `${stem}.agent.yml`), 'utf8'));
  assert.equal(err, readFileSync(join(vectors, `${stem}.remarks`), 'utf8'));
}

for (const [program, names] of Object.entries(FILES))
  test(`files of ${program} become an agent's file, with a remark for each thing that is left out`, async () => {
    for (const name of names) await checkImport(name);
  });

const caddyfile = join(folder, 'site.conf');
writeFileSync(caddyfile, 'a.example.com {\n\tno_such_directive "s3cret"\n}\n');

test(
  'a Caddyfile is read by the real Caddy, and remarks name its own lines',
  { skip: gatewayProxySkip('Caddy') },
  async () => {
    await checkImport('Caddyfile');
    const { err, code } = await runCli(['import', caddyfile], { PATH: process.env['PATH'] });
    assert.match(err, /site\.conf: "caddy adapt" refuses the file: .*site\.conf:2.*no_such_directive/);
    assert.doesNotMatch(err, SECRET);
    assert.notEqual(code, 0);
  },
);

test('a Caddyfile on a machine without Caddy is refused with the command that makes JSON of it', async () => {
  const { err, code } = await runCli(['import', caddyfile], { PATH: folder });
  assert.match(err, /site\.conf: a Caddyfile is read by the program caddy.*run "caddy adapt --config/);
  assert.notEqual(code, 0);
});

interface BrokenFile {
  readonly text: string;
  readonly args?: readonly string[];
  readonly message: RegExp;
}

const BROKEN: readonly BrokenFile[] = [
  { text: 'ingress:\n  - hostname: [\n', message: /file:3:1 error: Flow sequence/ },
  { text: 'token: "s3cret"s3cret\ningress: []\n', message: /file:1:\d+ error/ },
  { text: 'ingress: yes please\n', message: /file:1:1 error ingress: must be a list: correct the value/ },
  {
    text: 'ingress:\n  - hostname: a.example.com\n    service: 8080\n',
    message: /file:3:5 error ingress\[0\].service: must be a text/,
  },
  { text: 'ingress:\n  - http://localhost\n', message: /file:2:5 error ingress\[0\]: must be a table/ },
  { text: 'ingress:\n  - service: http_status:404\n', message: /no share that can be carried over/ },
  {
    text: 'colour: red\n',
    message: /no key shows which program has written the file: add --from cloudflared/,
  },
  { text: 'tunnels:\n  web: { proto: http }\n', message: /file:2:3 error tunnels.web: must have addr/ },
  { text: 'tunnels:\n  - addr: 80\n', message: /file:1:1 error tunnels: must be a table/ },
  {
    text: 'tunnels:\n  web:\n    addr: 80\n    basic_auth: [s3cret]\n',
    message: /file:4:5 error tunnels.web.basic_auth: must have entries of the form NAME:PASSWORD/,
  },
  {
    text: 'serverAddr = "a"\nauth.token = "s3cret\n',
    args: ['--from', 'frpc'],
    message: /file:2:\d+ error: is no TOML here: correct the line/,
  },
  {
    text: 'serverAddr = "a"\n[[proxies]]\nname = "a"\n[[proxies]]\nname = "b"\nlocalPort = "80"\n',
    message: /file:6:1 error proxies\[1\].localPort: must be a number/,
  },
  { text: 'ZROK_TARGET=web\n', message: /file:1:1 error ZROK_TARGET: must be a URL such as/ },
  {
    text: 'ZROK_BACKEND_MODE=vpn\nZROK_TARGET=10.0.0.1/24\n',
    message: /file:1 ZROK_BACKEND_MODE: Frontdoor has no VPN/,
  },
  { text: '', message: /file:1:1 error: must have keys and values/ },
];

test('a file that cannot be read is refused with its line and a remedy', async () => {
  const path = join(folder, 'file');
  for (const { text, args = [], message } of BROKEN) {
    writeFileSync(path, text);
    const { out, err, code } = await runCli(['import', path, ...args]);
    assert.match(err, message, text);
    assert.doesNotMatch(err, SECRET);
    assert.equal(out, '');
    assert.notEqual(code, 0);
  }
  const { err } = await runCli(['import', join(folder, 'missing')]);
  assert.match(err, /cannot read .*missing: ENOENT/);
});

test('--out writes a file that others cannot read, and replaces none', async () => {
  const path = join(folder, 'agent.yml');
  const args = ['import', join(vectors, 'cloudflared.yml'), '--out', path];
  const { out, code } = await runCli(args);
  assert.deepEqual([out, code], ['', 0]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const again = await runCli(args);
  assert.match(again.err, /cannot write .*agent\.yml: EEXIST.*choose a file that does not exist/);
  assert.notEqual(again.code, 0);
});
