import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import type { FrontdoorError } from '#base';
import type { LoginQuestions } from '../access/login-questions.ts';
import { keptIo, runCli, wholeProgram, type RanIo } from '../cli-fixture.ts';
import { configKeysOf } from '../config-file/config-key.ts';
import { runSetup } from './setup.ts';
import type { SetupFlags } from './setup-answers.ts';
import type { SetupService } from './setup-service.ts';

const pair = await (
  await makeTestAuthority()
).issue('share.localhost', {
  dns: ['share.localhost', '*.share.localhost', 'front.localhost', '*.front.localhost', 'console.localhost'],
});
let folder: string;
let config: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setup-'));
  config = join(folder, 'frontdoor.yaml');
  writeFileSync(join(folder, 'front.pem'), pair.cert);
  writeFileSync(join(folder, 'front.key'), pair.key);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const NO_SERVICE: SetupService = {
  dataDir: '/var/lib/frontdoor',
  hasUnit: () => false,
  start: () => assert.fail('there is no unit'),
};

function flagsOf(more: Partial<SetupFlags> = {}): SetupFlags {
  const places = { config, dataDir: join(folder, 'data'), listen: '127.0.0.1' };
  const certificates = { tlsCert: join(folder, 'front.pem'), tlsKey: join(folder, 'front.key') };
  return {
    ...places,
    ...certificates,
    httpPort: 1,
    httpsPort: 2,
    domain: 'share.localhost',
    yes: true,
    start: true,
    ...more,
  };
}

async function setup(
  flags: SetupFlags,
  { questions, service = NO_SERVICE }: { questions?: LoginQuestions; service?: SetupService } = {},
): Promise<RanIo & { readonly error: unknown }> {
  const io = keptIo();
  const keys = configKeysOf((await wholeProgram()).commands.find((each) => each.name() === 'up')!);
  const error: unknown = await runSetup({ io, flags, version: '1.2.3', questions, service, keys }).catch(
    (cause: unknown) => cause,
  );
  return { ...io, error };
}

/** Answers that a person gives, by the beginning of the question. */
function answering(
  answers: Readonly<Record<string, string>>,
  confirms = true,
): LoginQuestions & { asked: string[] } {
  const asked: string[] = [];
  const answer = (message: string, suggested?: string): Promise<string> => {
    asked.push(message);
    const key = Object.keys(answers).find((each) => message.startsWith(each));
    return Promise.resolve(key === undefined ? (suggested ?? '') : answers[key]!);
  };
  return {
    asked,
    text: answer,
    secret: answer,
    choose: (message) => answer(message, 'embedded'),
    confirm: (message) => {
      asked.push(message);
      return Promise.resolve(confirms);
    },
  };
}

test('options make a file that "up" accepts, which only its owner reads, and the command to start it', async () => {
  const { ran, error } = await setup(flagsOf());
  assert.equal(error, undefined);
  assert.match(ran().out, /\+ up\.zone: share\.localhost\n[^]*frontdoor up --config /);
  assert.equal(statSync(config).mode & 0o777, 0o600);
  const started: { options?: Readonly<Record<string, unknown>> } = {};
  const up = async (options: object): Promise<void> => void Object.assign(started, { options });
  const { err } = await runCli(['up', '--config', config], {}, {}, { up });
  assert.equal(err, '');
  const { zone, apiName, onePort, advertise, httpsPort, dataDir } = started.options!;
  assert.deepEqual([zone, apiName, onePort, httpsPort], ['share.localhost', 'api.share.localhost', true, 2]);
  assert.deepEqual([advertise, dataDir], [['share.localhost'], join(folder, 'data')]);
});

test('a file that exists is changed only after a confirmation, and keeps its comments and other keys', async () => {
  const text =
    '# mine\nup:\n  zone: old.localhost # the first one\n  acmeDirectory: https://ca.example/dir\nagent:\n  name: here\n';
  writeFileSync(config, text, { mode: 0o640 });
  const refused = await setup(flagsOf({ yes: false }));
  assert.match((refused.error as Error).message, /exists: change it with --yes/);
  const questions = answering({}, false);
  assert.equal(
    ((await setup(flagsOf({ yes: false }), { questions })).error as FrontdoorError).code,
    'cancelled',
  );
  assert.equal(readFileSync(config, 'utf8'), text, 'nothing was changed');
  const { ran } = await setup(flagsOf());
  assert.match(ran().out, /~ up\.zone: old\.localhost -> share\.localhost\n/);
  const now = readFileSync(config, 'utf8');
  assert.match(
    now,
    /^# mine\nup:\n {2}zone: share\.localhost # the first one\n {2}acmeDirectory: https:[^]*\nagent:\n {2}name: here\n$/,
  );
  assert.equal(statSync(config).mode & 0o777, 0o640);
  assert.match((await setup(flagsOf())).ran().out, /needs no change/);
});

test('a file that "up" would refuse is not changed, and its problems are named', async () => {
  const text = 'up:\n  zoen: share.localhost\n';
  writeFileSync(config, text, { mode: 0o600 });
  const { error } = await setup(flagsOf());
  assert.match(
    String(error),
    /nothing was changed: [^]*:2:3 error up\.zoen: is not known here; the nearest known name is zone/,
  );
  assert.equal(readFileSync(config, 'utf8'), text);
});

test('a person is asked for what no option has', async () => {
  const questions = answering({ Domain: 'front.localhost', Name: 'console.localhost' });
  const flags = flagsOf({ yes: false });
  delete (flags as { domain?: string }).domain;
  assert.equal((await setup(flags, { questions })).error, undefined);
  assert.deepEqual(questions.asked, [
    'Domain (shares are served as <share>.<domain>)',
    'Name of the console and the Management API',
    'Database',
    'Email address of the first operator (may be empty)',
  ]);
  assert.match(readFileSync(config, 'utf8'), /apiName: console\.localhost/);
  assert.doesNotMatch(readFileSync(config, 'utf8'), /adminEmail/);
});

test('a person who mistypes is asked once more', async () => {
  const questions = answering({ Name: 'no_name', '"no_name"': 'console.localhost' });
  assert.equal((await setup(flagsOf({ yes: false }), { questions })).error, undefined);
  assert.match(readFileSync(config, 'utf8'), /apiName: console\.localhost/);
  const again = answering({ Name: 'no_name', '"no_name"': 'no_name' });
  assert.match(
    String((await setup(flagsOf({ yes: false }), { questions: again })).error),
    /apiName: "no_name" cannot/,
  );
});

test('without a terminal, what is missing is named, and nothing is written', async () => {
  const ran = await runCli(['setup', '--config', config]);
  assert.deepEqual([ran.code, existsSync(config)], [2, false]);
  assert.match(ran.err, /give --domain, and --acme-email, or --tls-cert and --tls-key/);
  const bad = await runCli([
    'setup',
    '--config',
    config,
    '--domain',
    'no_name',
    '--acme-email',
    'a@b.example',
  ]);
  assert.match(bad.err, /zone: "no_name" cannot be used/);
});

test('a check that fails stops the setup before anything is written, unless --yes is given', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { ran, error } = await setup(flagsOf({ httpPort: port, yes: false }));
  assert.match(ran().out, new RegExp(`FAIL {2}port ${port} .*another program listens`));
  assert.match((error as Error).message, /nothing was changed: a check failed/);
  assert.equal(existsSync(config), false);
  assert.equal((await setup(flagsOf({ httpPort: port }))).error, undefined);
  other.close();
});

test('a certificate that cannot serve the names stops the setup', async () => {
  const missing = await setup(flagsOf({ tlsCert: join(folder, 'none.pem'), yes: false }));
  assert.match(missing.ran().out, /FAIL {2}certificate .*none\.pem.* cannot be used: ENOENT/);
  const other = await (await makeTestAuthority()).issue('elsewhere.localhost');
  writeFileSync(join(folder, 'front.pem'), other.cert);
  assert.match(
    (await setup(flagsOf({ yes: false }))).ran().out,
    /FAIL {2}certificate .*front\.key is not the key of /,
  );
  writeFileSync(join(folder, 'front.key'), other.key);
  const { ran, error } = await setup(flagsOf({ yes: false }));
  assert.match(
    ran().out,
    /front\.pem is not for share\.localhost, api\.share\.localhost, any-share\.share\.localhost/,
  );
  assert.match((error as Error).message, /nothing was changed/);
});

test('the service is started, and the link of a first start shown', async () => {
  const dataDir = join(folder, 'data');
  const service: SetupService = {
    dataDir,
    hasUnit: (path) => path === config,
    start() {
      mkdirSync(dataDir, { recursive: true });
      writeFileSync(
        join(dataDir, 'console-link.json'),
        '{"link":"https://api.share.localhost/console/welcome#code"}',
      );
      return undefined;
    },
  };
  assert.match(
    (await setup(flagsOf({ admin: 'ann@example.com' }), { service })).ran().out,
    /link within an hour.*makes ann@example\.com the first operator:\n {2}https:\/\/api\.share\.localhost\/console\/welcome#code/,
  );
  assert.match(
    (await setup(flagsOf(), { service })).ran().out,
    /console: https:\/\/api\.share\.localhost:2\/console/,
    'a further start',
  );
  assert.match(readFileSync(config, 'utf8'), /adminEmail: ann@example\.com/);
  const failing = { ...service, start: () => 'Unit has a bad setting' };
  assert.match(
    String((await setup(flagsOf(), { service: failing })).error),
    /did not start: Unit has a bad setting/,
  );
  const elsewhere = { ...service, dataDir: '/var/lib/frontdoor' };
  assert.match(String((await setup(flagsOf(), { service: elsewhere })).error), /has its data in/);
});
