// `frontdoor apply` against the real product: the plan, what it makes, and that a second time nothing differs.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { runCommandLine } from '../support/command-line.ts';
import { openWorld, type World } from '../support/world.ts';

const SECRET = 'a-secret-of-the-file';
const folder = mkdtempSync(join(tmpdir(), 'apply-'));
const file = join(folder, 'frontdoor.yml');
let world: World;
let env: Record<string, string>;

before(async () => {
  world = await openWorld();
  await world.startAgent('laptop');
  const { accountId, apiToken, frontdoorId } = world.credentials;
  env = {
    FRONTDOOR_API_URL: world.up.control.apiUrl,
    FRONTDOOR_ACCOUNT_ID: accountId,
    FRONTDOOR_API_TOKEN: apiToken,
    FRONTDOOR_ID: frontdoorId,
    CLIENT_SECRET: SECRET,
  };
});
after(async () => {
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

const staff = `
  - name: staff
    type: OIDC
    data: { issuer: 'https://idp.example.com', client_id: door, client_secret: { fromEnv: CLIENT_SECRET } }`;
const app = `
  - name: app
    environment: laptop
    mode: public
    target: http://127.0.0.1:3000
    authProviders: [staff]
    policy:
      emails: ['*@Example.com']
      session: { idle: PT60M }
      basicAuth: [{ name: ann, password: correct horse }]
    upstream: { hostHeader: localhost }`;
const db = `
  - { name: db, environment: laptop, mode: private, target: 'tcp://127.0.0.1:5432', grants: [laptop] }`;

async function apply(text: string, ...options: readonly string[]) {
  writeFileSync(file, text);
  const ran = await runCommandLine(['apply', file, ...options], env);
  assert.ok(!`${ran.out}${ran.err}`.includes(SECRET), 'a secret was printed');
  return ran;
}

test('the plan names what differs, apply makes it, and then nothing differs', async () => {
  const text = `authProviders:${staff}\nshares:${app}${db}\n`;
  const plan = await apply(text, '--plan');
  assert.equal(plan.code, 2, plan.err);
  assert.match(plan.out, /^\+ auth provider staff\n\+ share app\n\+ share db\n/);
  const made = await apply(text);
  assert.equal(made.code, 0, made.err);
  for (const options of [['--plan'], []]) {
    const again = await apply(text, ...options);
    assert.equal(again.code, 0, again.out);
    assert.equal(again.out, 'Nothing differs from the file.\n');
  }
});

test('a change names its fields, and what the file no longer has goes with --prune alone', async () => {
  const changed = app
    .replace('hostHeader: localhost', 'hostHeader: target')
    .replace('[staff]', '[]')
    .replace("['*@Example.com']", '[]');
  const text = `authProviders: []\nshares:${changed}\n`;
  const plan = await apply(text, '--plan');
  assert.equal(plan.code, 2, plan.err);
  assert.match(plan.out, /^~ share app: authProviderIds, policy\.emails, upstream\.hostHeader\n/);
  assert.match(plan.out, /share db is not in the file and stays \(--prune deletes it\)/);
  const made = await apply(text, '--prune');
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /\n- share db\n- auth provider staff\n/);
  assert.equal((await apply(text, '--plan', '--prune')).out, 'Nothing differs from the file.\n');
});

test('domains of a share are added, and those that the file no longer has go with --prune alone', async () => {
  const domainsOf = async (share: string): Promise<string[]> => {
    const { json } = await world.call('GET', `/shares/${share}/domains`);
    return (json as { readonly hostname: string }[]).map(({ hostname }) => hostname).toSorted();
  };
  const share = (name: string, ...domains: readonly string[]): string =>
    `\n  - { name: ${name}, environment: laptop, mode: public, target: 'http://127.0.0.1:3000', domains: [${domains.join(', ')}] }`;
  const others = '\n  - { name: app, environment: laptop, mode: public, target: "http://127.0.0.1:3000" }';
  const first = await apply(`shares:${others}${share('site', 'One.example.com', 'two.example.com')}\n`);
  assert.equal(first.code, 0, first.err);
  assert.match(first.out, /\+ share site\n\+ domain one\.example\.com\n\+ domain two\.example\.com\n/);
  assert.deepEqual(await domainsOf('site'), ['one.example.com', 'two.example.com']);

  const changed = `shares:${others}${share('site', 'one.example.com', 'three.example.com')}\n`;
  const kept = await apply(changed);
  assert.equal(kept.code, 0, kept.err);
  assert.match(
    kept.out,
    /^\+ domain three\.example\.com\n {2}domain two\.example\.com is not in the file and stays/,
  );
  assert.deepEqual(await domainsOf('site'), ['one.example.com', 'three.example.com', 'two.example.com']);
  // A name moves to another share in one run: what has it gives it up first.
  const moved = `shares:${others}${share('site', 'one.example.com')}${share('shop', 'three.example.com')}\n`;
  const pruned = await apply(moved, '--prune');
  assert.equal(pruned.code, 0, pruned.err);
  assert.deepEqual(
    [await domainsOf('site'), await domainsOf('shop')],
    [['one.example.com'], ['three.example.com']],
  );
  assert.equal((await apply(moved, '--plan', '--prune')).out, 'Nothing differs from the file.\n');
  // A file without domains leaves them.
  assert.equal((await apply(`shares:${others}\n`, '--plan')).code, 0);
  const gone = await apply(`shares:${others}\n`, '--prune');
  assert.equal(gone.code, 0, gone.err);

  const wrong = await apply(
    `shares:${share('site', '"*.example.com"', 'a.example.com')}${share('shop', 'A.example.com')}\n`,
  );
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /must be a DNS name of two labels or more/);
  assert.match(wrong.err, /is also a domain of the share site/);
});

test('a step that fails ends the command, which shows what was made and what was not', async () => {
  const wrong = staff.replace('staff', 'other').replace('https://idp', 'ftp://idp');
  const ran = await apply(`authProviders:${staff}${wrong}\nshares:${app}${db}\n`);
  assert.notEqual(ran.code, 0);
  assert.match(
    ran.err,
    /\+ auth provider staff: done\n\+ auth provider other: failed\n.*~ share app.*: not made\n/,
  );
});

test('a file with errors changes nothing', async () => {
  const ran = await apply(`shares:${app}\n  - { name: x, mode: public }\n`);
  assert.equal(ran.code, 2);
  assert.match(ran.err, /frontdoor\.yml:\d+:\d+.*must have target/s);
  const missing = await apply(`shares:${app.replace('[staff]', '[stuff]')}\n`, '--plan');
  assert.match(missing.err, /there is no auth provider called stuff; the nearest names are staff/);
});

test('shared policies are made before the shares that name them, changed for all, and left by a share with rules of its own', async () => {
  const shared = (mail: string) => `policies:
  - { name: office, ipDeny: ['${mail}'] }
shares:
  - { name: shared, environment: laptop, mode: public, target: 'http://127.0.0.1:3000', sharedPolicy: office }
`;
  const made = await apply(shared('203.0.113.0/24'));
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /^\+ policy office\n\+ share shared$/m);
  const changed = await apply(shared('203.0.113.0/25'));
  assert.match(changed.out, /^~ policy office: ipDeny$/m);
  const again = await apply(shared('203.0.113.0/25'), '--plan');
  assert.equal(again.code, 0, again.out);
  const own = shared('203.0.113.0/25').replace('sharedPolicy: office', "policy: { ipDeny: ['192.0.2.1'] }");
  const left = await apply(own);
  assert.equal(left.code, 0, left.err);
  assert.match(left.out, /^~ share shared: policyId, policy\.ipDeny$/m);
  assert.equal((await apply(own, '--plan')).code, 0);
  const both = own.replace('policy: {', 'sharedPolicy: office, policy: {');
  assert.match((await apply(both, '--plan')).err, /share shared has policy and sharedPolicy/);
});
