// Compares the JSON Schema that `router schema` prints, as another validator applies it, with the results of `router
// check`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { routerFileJsonSchema } from './file-json-schema.ts';
import { fileWith, read, WHOLE_FILE } from './testing/router-file-fixture.ts';

const isValid = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(routerFileJsonSchema());

/** Values of every kind that are the same in YAML and JSON. */
const VALUES = [
  'null',
  '0',
  '1',
  '-1',
  '10001',
  '1.5',
  'true',
  '"x"',
  '""',
  '"5s"',
  '"-5s"',
  '"1d"',
  '"tls:a.example:1"',
  '"a.example:1"',
  '"$NAME"',
  '[]',
  '{}',
  '["x"]',
];

/** Every key of the complete file with its value. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => fieldsOf(item, `${path}[${i}]`));
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return [at, ...fieldsOf(inner, at)];
  });
}

/**
 * Problems that the schema cannot express: rules over several keys, properties of this machine, texts without a
 * pattern.
 */
const BEYOND = [
  'order',
  'sans',
  'needs-edge',
  'port-shared',
  'required',
  'address',
  'host-port',
  'interface',
  'certificate',
  'key',
  'ip',
  'uri',
];

test('the schema accepts the whole file, and judges any changed value as check does', () => {
  assert.ok(isValid(WHOLE_FILE), JSON.stringify(isValid.errors));
  const more = [
    'forwarder.linkDialQueueLength',
    'forwarder.faultTxInterval',
    'metrics.reportInterval',
    'ctrl.options.connectTimeout',
    'ctrl.options.outQueueSize',
    'link.dialers[0].split',
    'link.dialers[0].groups',
    'link.dialers[0].healthyDialBackoff.retryBackoffFactor',
    'healthChecks.linkCheck.interval',
    'healthChecks.linkCheck.minLinks',
    'edge.dbSaveIntervalSeconds',
    'web[0].options.minTLSVersion',
    'listeners[3].options.mode',
    'listeners[3].options.resolver',
    'connectEvents.batchInterval',
  ];
  let compared = 0;
  for (const field of [...fieldsOf(WHOLE_FILE), ...more]) {
    for (const yaml of VALUES) {
      const text = fileWith(field, yaml);
      const { problems } = read(text, { NAME: '5s' });
      const errors = problems.filter(({ severity }) => severity === 'error');
      const isBeyond = errors.some(
        ({ rule, value }) => BEYOND.includes(rule) || (rule === 'minimum' && typeof value === 'string'),
      );
      if (isBeyond || yaml === '"$NAME"') continue;
      const said = isValid(JSON.parse(text));
      const shown = `${field}: ${yaml} ${JSON.stringify(isValid.errors)}`;
      // The schema can reject a value that check only warns of, but not the reverse.
      const mayDiffer = (): boolean =>
        errors.length === 0 && problems.some(({ path }) => path === field || path.startsWith(`${field}.`));
      assert.ok(said === (errors.length === 0) || mayDiffer(), shown);
      compared += 1;
    }
  }
  assert.ok(compared > 500, String(compared));
});

test('a text with a variable passes wherever a text belongs', () => {
  for (const field of [
    'ctrl.endpoint',
    'ctrl.defaultRequestTimeout',
    'identity.cert',
    'link.listeners[0].advertise',
  ])
    assert.ok(isValid(JSON.parse(fileWith(field, '"${NAME}"'))), field);
});

test('an unknown key is marked, a legacy one is not', () => {
  assert.equal(isValid(JSON.parse(fileWith('metricz', '1'))), false);
  assert.equal(isValid(JSON.parse(fileWith('ctrl.dataDir', '"x"'))), true);
});
