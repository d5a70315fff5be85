// The reference, the JSON Schema and the example of the configuration file have each option of each program, and agree with the reader.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readYaml } from '#net/yaml-file';
import { wholeProgram } from '../cli-fixture.ts';
import { readConfigText } from './config-file.ts';
import { describedSections, type ConfigKey, type DescribedSection } from './config-key.ts';

const program = await wholeProgram();
const sections = describedSections(program);
const referenceOf = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), 'utf8');
const example = referenceOf('configuration.example.yml');
const schema = JSON.parse(referenceOf('configuration.schema.json')) as object;
const isValid = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

function parse(text: string): unknown {
  const read = readYaml(text, 100_000);
  return 'value' in read ? read.value : undefined;
}

function problemsOf(text: string, section: DescribedSection): readonly string[] {
  const read = readConfigText(text, { section, keys: section.keys, folder: '/etc', isOpen: false });
  return 'problems' in read ? read.problems.map(({ message }) => message) : [];
}

/** The value of a key in the example, which is switched off there. */
function exampleOf({ path: [name, below] }: DescribedSection, key: string): string {
  const section = example.slice(example.indexOf(`\n${name}:\n`));
  const inside = below === undefined ? section : section.slice(section.indexOf(`\n  ${below}:\n`));
  const value = new RegExp(`^ +#${key}: (.+)$`, 'm').exec(inside)?.[1];
  assert.ok(value !== undefined, key);
  return value;
}

/** A file with one key. */
const fileWith = (path: readonly string[], key: string, value: string): string =>
  [...path, '']
    .map((name, depth) => `${'  '.repeat(depth)}${name === '' ? `${key}: ${value}` : `${name}:`}`)
    .join('\n');

test('every option of every program is a key', () => {
  for (const { words, keys } of sections) {
    const command = words.reduce(
      (above, word) => above.commands.find((each) => each.name() === word)!,
      program,
    );
    assert.ok(command.options.some(({ long }) => long === '--config'));
    assert.equal(keys.length, command.options.length - 1);
  }
  const programs = program.commands.flatMap((each) => [each, ...each.commands]);
  const withFile = programs.filter(({ options }) =>
    options.some(({ envVar }) => envVar === 'FRONTDOOR_CONFIG'),
  );
  assert.equal(withFile.length, sections.length);
});

test('the example has every key, and changes nothing as it is', () => {
  const page = referenceOf('configuration.md');
  for (const section of sections) {
    assert.deepEqual(problemsOf(example, section), []);
    for (const key of section.keys) {
      assert.notEqual(exampleOf(section, key.name), '');
      assert.ok(page.includes(`| \`${key.name}\` |`), key.name);
    }
  }
  assert.equal(isValid(parse(example)), true, JSON.stringify(isValid.errors));
});

test('the value of each key in the example is valid for the program and for editors', () => {
  for (const section of sections)
    for (const key of section.keys) {
      const text = fileWith(section.path, key.name, exampleOf(section, key.name));
      assert.deepEqual(problemsOf(text, section), [], text);
      assert.equal(isValid(parse(text)), true, `${text}: ${JSON.stringify(isValid.errors)}`);
    }
});

test('a value of another form is refused by the program and by the schema', () => {
  const wrongFor = ({ form: { kind } }: ConfigKey): readonly string[] =>
    kind === 'flag' || kind === 'number' ? ['"1"', '[1]'] : ['5', 'null', '""', '[]', '{ a: [] }'];
  for (const section of sections)
    for (const key of section.keys)
      for (const value of wrongFor(key)) {
        const text = fileWith(section.path, key.name, value);
        assert.equal(problemsOf(text, section).length, 1, text);
        assert.equal(isValid(parse(text)), false, text);
      }
});
