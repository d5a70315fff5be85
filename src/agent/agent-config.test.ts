import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FrontdoorError } from '#base';
import { loadAgentConfig, parseAgentConfig } from './agent-config.ts';

function problemsOf(text: string): string[] {
  const parsed = parseAgentConfig(text);
  assert.ok('problems' in parsed, 'the file was accepted');
  return parsed.problems.map(
    ({ path, line, message, value }) =>
      `${line} ${path}: ${message}${value === undefined ? '' : ` <- ${JSON.stringify(value)}`}`,
  );
}

test('a file with shares of both kinds is read', () => {
  const parsed = parseAgentConfig(`
shares:
  - { name: app, mode: public, target: 'http://127.0.0.1:3000' }
  - name: db-admin
    mode: private
    target: https://10.0.0.5
    grants: [e1, e2]
`);
  assert.deepEqual(parsed, {
    value: {
      shares: [
        { name: 'app', mode: 'public', target: 'http://127.0.0.1:3000' },
        { name: 'db-admin', mode: 'private', target: 'https://10.0.0.5', grants: ['e1', 'e2'] },
      ],
    },
  });
});

test('accesses to private shares have an address each, and a share only one', () => {
  const file = (...rows: string[]): string => ['shares: []', 'accesses:', ...rows].join('\n');
  const row = (share: string, listen: string): string => `  - { share: ${share}, listen: '${listen}' }`;
  assert.deepEqual(
    parseAgentConfig(file(row('db', '127.0.0.1:5432'), row('web', "[::1]:80', protocol: 'udp"))),
    {
      value: {
        shares: [],
        accesses: [
          { share: 'db', listen: '127.0.0.1:5432' },
          { share: 'web', listen: '[::1]:80', protocol: 'udp' },
        ],
      },
    },
  );
  assert.deepEqual(problemsOf(file(row('db', '127.0.0.1:0'), row('db', 'localhost:80'), '  - { name: x }')), [
    '5 accesses[2]: must have share',
    '5 accesses[2]: must have listen',
    '5 accesses[2].name: is not a field here; known fields are share, listen, protocol <- "x"',
  ]);
  assert.deepEqual(problemsOf(file(row('db', '127.0.0.1:0'), row('db', 'localhost:80'))), [
    '3 accesses[0].listen: must be HOST:PORT, such as 127.0.0.1:9000 <- "127.0.0.1:0"',
    '4 accesses[1].share: is also the share of accesses[0] <- "db"',
  ]);
});

test('all problems are reported at once, each with its path, line and value', () => {
  const problems = problemsOf(`shares:
  - name: App
    mode: open
    target: http://127.0.0.1:3000
  - mode: public
    target: 5
    tagret: x
extra: 1
`);
  assert.deepEqual(problems, [
    '3 shares[0].mode: must be one of public, private <- "open"',
    '5 shares[1]: must have name',
    '6 shares[1].target: must be a text <- 5',
    '7 shares[1].tagret: is not a field here; known fields are name, mode, target, grants, authProviders, policy, sharedPolicy, upstream, ingress, ingressPort, domains <- "x"',
    '8 extra: is not a field here; known fields are shares, accesses, up, control, gateway, tunnel, agent <- 1',
  ]);
});

test('rules across fields name both places', () => {
  const problems = problemsOf(`shares:
  - { name: app, mode: public, target: 'http://127.0.0.1:3000', grants: [e] }
  - { name: app, mode: public, target: 'http://u:p@127.0.0.1:3000' }
  - { name: bar, mode: public, target: 'http://127.0.0.1:3000/x?y' }
  - { name: App, mode: public, target: 'http://127.0.0.1:3000' }
  - { name: oauth, mode: public, target: 'http://127.0.0.1:3000' }
`);
  assert.deepEqual(
    problems.map((problem) => problem.replace(/ <-.*/, '')),
    [
      '2 shares[0].grants: only a private share has grants',
      '3 shares[1].target: must not contain credentials',
      '3 shares[1].name: is also the name of shares[0]',
      '4 shares[2].target: must not have a query',
      '5 shares[3].name: must be 1 to 63 of a-z, 0-9 and -, no - at either end, and no reserved word',
      '6 shares[4].name: must be 1 to 63 of a-z, 0-9 and -, no - at either end, and no reserved word',
    ],
  );
});

test('broken YAML, an empty file, duplicate keys and an alias bomb are problems, not crashes', () => {
  assert.match(problemsOf('shares: [')[0] ?? '', /^\d+ : /);
  assert.match(problemsOf('')[0] ?? '', /shares/);
  assert.match(problemsOf('[]')[0] ?? '', /object/);
  assert.match(problemsOf('shares: []\nshares: []')[0] ?? '', /^2 .*unique/i);
  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    ...'bcdefgh'.split('').map((name, i) => {
      const before = 'abcdefgh'[i] ?? '';
      return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(',')}]`;
    }),
  ].join('\n');
  assert.match(problemsOf(bomb)[0] ?? '', /alias/i);
});

test('a file that others may write is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-config-'));
  try {
    const path = join(folder, 'agent.yml');
    writeFileSync(path, 'shares: []\n');
    chmodSync(path, 0o664);
    assert.throws(() => loadAgentConfig(path), /chmod go-w/);
    chmodSync(path, 0o644);
    assert.deepEqual(loadAgentConfig(path), { shares: [] });
    writeFileSync(path, 'shares: 5\n');
    assert.throws(
      () => loadAgentConfig(path),
      (error) =>
        error instanceof FrontdoorError &&
        error.kind === 'invalid' &&
        error.message.includes(`${path}:1:1 error shares: must be a list of at most 10000 entries (given 5)`),
    );
    assert.throws(() => loadAgentConfig(join(folder, 'none.yml')), /cannot read/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('guards are read, and a password may be in a file or a variable', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-config-'));
  writeFileSync(join(folder, 'password'), 'correct horse\n');
  const file = (password: string): string => `
shares:
  - name: app
    mode: public
    target: http://127.0.0.1:3000
    authProviders: [staff]
    policy:
      basicAuth:
        - { name: ann, password: ${password} }
`;
  const parsed = parseAgentConfig(file('{ fromFile: password }'), { folder, env: {} });
  assert.ok('value' in parsed);
  const [share] = parsed.value.shares!;
  assert.deepEqual(share?.authProviders, ['staff']);
  assert.deepEqual(share?.policy?.basicAuth, [{ name: 'ann', password: 'correct horse' }]);
  rmSync(folder, { recursive: true });
  assert.deepEqual(problemsOf(file('{ fromEnv: NO_SUCH_VARIABLE }')), [
    '9 shares[0].policy.basicAuth[0].password: the environment variable NO_SUCH_VARIABLE is not set',
  ]);
  assert.match(
    problemsOf(file('{ fromFile: /nowhere/password }'))[0]!,
    /^9 .*cannot read \/nowhere\/password/,
  );
  // The text is not shown.
  assert.match(problemsOf(file('{ fromFile: /dev/null }'))[0]!, /^9 .*password: must be [^<]*$/);
});

test('a wrong rule of a policy is named with its line', () => {
  const problems = problemsOf(`shares:
  - { name: app, mode: public, target: 'http://127.0.0.1:3000', policy: { emails: [nobody],
      rateLimit: null, session: { idle: 8h },
      colour: red } }`);
  assert.match(problems[0]!, /^2 shares\[0\]\.policy\.emails\[0\]: must be of /);
  assert.match(problems[1]!, /^3 shares\[0\]\.policy\.session\.idle: must be of /);
  assert.match(problems[2]!, /^4 shares\[0\]\.policy\.colour: is not a field here/);
  assert.equal(problems.length, 3);
  assert.deepEqual(
    problemsOf("shares: [{ name: db, mode: private, target: 'tcp://127.0.0.1:5432', authProviders: [a] }]"),
    ['1 shares[0].authProviders: only a public share has it; a private one is for its grants'],
  );
});

test("the files that `frontdoor import` writes are an agent's files", () => {
  const folder = join(import.meta.dirname, '../../test/vectors/import');
  const names = readdirSync(folder).filter((name) => name.endsWith('.agent.yml'));
  assert.ok(names.length > 0);
  for (const name of names) {
    const text = readFileSync(join(folder, name), 'utf8');
    const variables = [...text.matchAll(/fromEnv: (\w+)/g)].map(([, variable]) => variable!);
    const env = Object.fromEntries(variables.map((variable) => [variable, 'a-new-password']));
    const read = parseAgentConfig(text, { folder, env });
    assert.ok('value' in read, `${name}: ${JSON.stringify(read)}`);
  }
});
