// The compose files of deploy/image: every command is one that the product accepts, what they name exists, and no container has more
// rights than it needs.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { agentFileSchema } from '#contract/schemas';
import { parseYamlFile } from '#net/yaml-file';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { EXCHANGE_FOLDER, STATE_FOLDER } from '../../tools/release/image-root.ts';
import { checkCommand, optionsOf } from '../support/command-options.ts';

interface Service {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly deploy?: { readonly resources: { readonly limits: Readonly<Record<string, string | number>> } };
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly networks?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
  readonly configs?: Readonly<Record<string, { readonly file: string }>>;
}

const FOLDER = join(repositoryRoot, 'deploy/image');
const GUIDE = readFileSync(join(repositoryRoot, 'docs/guide/containers.md'), 'utf8');
const OURS = 'localhost/frontdoor:';

/** Variables have their defaults. */
function readFile(name: string): ComposeFile {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  for (const [, variable] of text.matchAll(/\$\{(\w+)/g))
    assert.ok(GUIDE.includes(`\`${variable}\``), `${variable} is in the guide`);
  return parse(text.replaceAll(/\$\{\w+:-([^{}]*)\}/g, '$1'), { merge: true }) as ComposeFile;
}

for (const name of ['compose.yaml', 'compose.up.yaml']) {
  describe(name, () => {
    const file = readFile(name);
    const services = Object.entries(file.services);
    const ours = services.filter(([, { image }]) => image.startsWith(OURS));

    it('runs commands of the product, whose files are in volumes, secrets and configurations of their container', () => {
      for (const [, { command = [], entrypoint, volumes = [], secrets = [], configs = [] }] of ours) {
        if (entrypoint !== undefined) continue;
        const places = [
          ...volumes.map((volume) => volume.split(':')[1]!),
          ...secrets.map((secret) => `/run/secrets/${secret}`),
          ...configs.map(({ target }) => target),
        ];
        checkCommand(command, places);
        // A volume at another place would belong to root.
        for (const volume of volumes.filter((each) => !each.endsWith(':ro')))
          assert.ok([STATE_FOLDER, EXCHANGE_FOLDER].includes(volume.split(':')[1]!), volume);
      }
    });

    it('names nothing that it does not define, and files that are there or that the guide creates', () => {
      const has = (kind: object | undefined, what: string): boolean => Object.hasOwn(kind ?? {}, what);
      for (const [, service] of services) {
        const { volumes = [], networks = [], secrets = [], configs = [], depends_on: needed = {} } = service;
        for (const volume of volumes) assert.ok(has(file.volumes, volume.split(':')[0]!), volume);
        for (const network of Array.isArray(networks) ? networks : Object.keys(networks))
          assert.ok(has(file.networks, network as string), String(network));
        for (const secret of secrets) assert.ok(has(file.secrets, secret), secret);
        for (const { source } of configs) assert.ok(has(file.configs, source), source);
        for (const [other, { condition }] of Object.entries(needed)) {
          const isOneShot = condition === 'service_completed_successfully';
          assert.equal(isOneShot, file.services[other]!.healthcheck === undefined, other);
        }
      }
      for (const { file: path } of Object.values(file.configs ?? {}))
        assert.ok(existsSync(join(FOLDER, path)));
      for (const { file: path } of Object.values(file.secrets ?? {}))
        assert.ok(GUIDE.includes(`> ${path.replace('./', '')}\n`), path);
    });

    it('gives no container rights, a writable root, or all memory, and time to drain', () => {
      for (const [service, { deploy, stop_grace_period: grace, healthcheck, ...one }] of services) {
        assert.deepEqual([one.read_only, one.cap_drop], [true, ['ALL']], service);
        assert.deepEqual(one.security_opt, ['no-new-privileges:true'], service);
        assert.deepEqual(Object.keys(deploy!.resources.limits), ['cpus', 'memory', 'pids'], service);
        if (healthcheck === undefined) continue;
        assert.ok(Number.parseInt(grace!, 10) > 30, service);
        const [form, command, ...words] = healthcheck.test;
        assert.equal(form, 'CMD');
        if (command === 'frontdoor')
          assert.ok('live' in optionsOf(words.filter((word) => !word.includes(':9100'))));
      }
    });
  });
}

it('the configuration of the agent is valid', () => {
  const text = readFileSync(join(FOLDER, 'agent.yml'), 'utf8');
  const texts = { folder: FOLDER, env: {} };
  const read = parseYamlFile(text, {
    schema: agentFileSchema,
    maxLength: 10_000,
    texts,
    rules: () => [],
    whenEmpty: '',
  });
  assert.ok('value' in read);
  assert.deepEqual(
    read.value.shares!.map(({ name, target }) => [name, target]),
    [['sample', 'http://sample:8080']],
  );
});
