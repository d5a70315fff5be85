// The guides to the agent's file and to that of `apply`, their JSON Schemas and their readers agree.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Part } from '#base/shapes';
import { agentFileSchema, frontdoorFileSchema } from '#contract/schemas';
import { parseYamlFile, type ParsedYamlFile } from '#net/yaml-file';
import { repositoryRoot } from '../../tools/pinned-process.ts';

const page = readFileSync(join(repositoryRoot, 'docs/guide/agent-file.md'), 'utf8');
const schema = JSON.parse(
  readFileSync(join(repositoryRoot, 'docs/reference/configuration.schema.json'), 'utf8'),
) as object;
const check = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!);

const kind = { maxLength: 10_000, rules: () => [], whenEmpty: 'is empty' };
const parseAgentFile = (text: string): ParsedYamlFile<unknown> =>
  parseYamlFile(text, { ...kind, schema: agentFileSchema });

function valueOf(text: string): unknown {
  const parsed = parseYamlFile(text, { ...kind, schema: Part.anyObject() });
  return 'value' in parsed ? parsed.value : undefined;
}

test('the examples of the guide are valid for editors and for the agent', () => {
  assert.equal(examples.length, 2);
  for (const text of examples) assert.equal(check(valueOf(text)), true, JSON.stringify(check.errors));
  const parsed = parseAgentFile(examples[0]!);
  assert.ok('value' in parsed, JSON.stringify(parsed));
});

test('the schema refuses what the reader refuses', () => {
  const share = { name: 'app', mode: 'public', target: 'http://127.0.0.1:3000' };
  const wrong = [
    { ...share, colour: 'red' },
    { ...share, mode: 'open' },
    { ...share, policy: { emails: ['nobody'] } },
    { ...share, policy: { rateLimit: { requests: 0, per: 'PT1M' } } },
    { ...share, upstream: { lenient: 'yes' } },
  ];
  for (const each of wrong) {
    const file = { shares: [each] };
    assert.equal(check(file), false, JSON.stringify(each));
    assert.ok('problems' in parseAgentFile(JSON.stringify(file)), JSON.stringify(each));
  }
  const right = { shares: [{ ...share, policy: { rateLimit: null, session: { idle: 'PT1H' } } }] };
  assert.equal(check(right), true, JSON.stringify(check.errors));
  assert.ok('value' in parseAgentFile(JSON.stringify(right)));
});

test('the example of the guide to apply is valid for editors and for the command', () => {
  const guide = readFileSync(join(repositoryRoot, 'docs/guide/apply.md'), 'utf8');
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(guide)!;
  const document = readFileSync(join(repositoryRoot, 'docs/reference/frontdoor.schema.json'), 'utf8');
  const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(document) as object,
  );
  assert.equal(isValid(valueOf(text)), true, JSON.stringify(isValid.errors));
  const parsed = parseYamlFile(text, {
    ...kind,
    schema: frontdoorFileSchema,
    texts: { folder: '.', env: { OIDC_SECRET: 'secret' } },
  });
  assert.ok('value' in parsed, JSON.stringify(parsed));
});
