// Every operation of the contract has a command; its help and options follow from the operation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { entityTagKindOf, operations, takesIdempotencyKey, takesIfMatch, type Operation } from '#contract';
import { runCli, wholeProgram } from '../cli-fixture.ts';
import { everyCommand } from '../program.ts';
import { bodyFields } from './body-fields.ts';
import type { OperationCommand } from './operation-command.ts';
import { isOperationCommand, OPERATION_COMMANDS } from './operation-command-table.ts';

const rows = (operations as readonly Operation[]).map((operation) => ({
  operation,
  row: OPERATION_COMMANDS[operation.id as keyof typeof OPERATION_COMMANDS],
}));
const program = await wholeProgram();

function find(words: readonly string[]): Command | undefined {
  let command: Command | undefined = program;
  for (const word of words) command = command?.commands.find((each) => each.name() === word);
  return command;
}

const wordsOf = ({ noun, verb }: OperationCommand): string[] => [noun, ...verb.split(' ')];

const helpOf = async (words: readonly string[]): Promise<string> => (await runCli([...words, '--help'])).out;
const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

test('every operation has a command, and its help names method, path, scope and examples', async () => {
  for (const { operation, row } of rows) {
    const words = isOperationCommand(row) ? wordsOf(row) : row.elsewhere;
    if (words === undefined) {
      assert.ok(!isOperationCommand(row) && row.reason.length > 10, operation.id);
      continue;
    }
    const command = find(words);
    assert.ok(command !== undefined, `${operation.id}: there is no command ${words.join(' ')}`);
    assert.ok(command.description().length > 3, operation.id);
    const help = await helpOf(words);
    if (!isOperationCommand(row) && row.reason.startsWith('the same document')) continue;
    assert.ok(help.includes(`${operation.method} {`) && help.includes(operation.path), help);
    if (operation.scope !== undefined)
      assert.ok(help.includes(`requires the scope ${operation.scope}`), help);
    if (isOperationCommand(row))
      for (const example of row.examples) assert.ok(help.includes(`\n  frontdoor ${example}\n`), example);
  }
});

test('commands of one noun do not share a verb, and no operation is called by two', () => {
  const names = everyCommand(program).flatMap((command) => {
    const verbs = command.commands.map((each) => each.name());
    assert.equal(new Set(verbs).size, verbs.length, `${command.name()} ${verbs.join(' ')}`);
    return verbs;
  });
  assert.ok(names.length > 60);
});

test('the options of a command are the fields and parameters of its operation, and nothing else', () => {
  const caller = ['account', 'token', 'client', 'client-secret', 'credentials-file'];
  const common = ['api', 'profile', ...caller, 'ca', 'proxy', 'json'];
  for (const { operation, row } of rows) {
    if (!isOperationCommand(row)) continue;
    const expected = new Set(common);
    const add = (name: string): void =>
      void expected.add(row.called?.[name] ?? (name === 'organizationId' ? 'organization' : kebab(name)));
    for (const { name } of operation.query) add(name);
    if (operation.query.some(({ name }) => name === 'page')) expected.add('limit');
    if (row.checkedBy !== undefined) expected.add('no-check');
    if (row.isCodeOfAgent === true) for (const name of ['out', 'if-needed']) expected.add(name);
    if (row.columns !== undefined) expected.add('json-lines');
    if (takesIfMatch(operation)) expected.add('if-match');
    if (takesIdempotencyKey(operation)) expected.add('idempotency-key');
    if (operation.method === 'GET' && entityTagKindOf(operation) !== undefined) expected.add('etag');
    if (operation.path.includes('{frontdoorId}') && row.noun !== 'frontdoors') expected.add('frontdoor');
    if (operation.path.includes('{organizationId}') && row.noun !== 'organizations')
      expected.add('organization');
    if (typeof operation.body === 'object') {
      expected.add('body');
      const { properties } = operation.body as unknown as {
        properties: Record<string, { readOnly?: boolean; type?: unknown; minItems?: number }>;
      };
      for (const [name, schema] of Object.entries(properties)) {
        if (schema.readOnly === true || row.bodyOnly?.[name] !== undefined) continue;
        if (row.fieldArguments?.includes(name) === true) continue;
        const isList = schema.type === 'array';
        const isRenamed = row.called?.[name] !== undefined;
        add(isList && !isRenamed ? name.replace(/s$/, '') : name);
        const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
        if (isNullable || schema.type === 'boolean' || (isList && !schema.minItems))
          expected.add(`no-${row.called?.[name] ?? kebab(isList ? name.replace(/s$/, '') : name)}`);
      }
    }
    const options = find(wordsOf(row))!.options.map(({ long }) => long!.slice(2));
    assert.deepEqual(options.sort(), [...expected].sort(), operation.id);
  }
});

test('every path parameter is an argument, or follows from the logged-in account', () => {
  for (const { operation, row } of rows) {
    if (!isOperationCommand(row)) continue;
    const own = { frontdoors: 'frontdoorId', organizations: 'organizationId' }[row.noun as string];
    const parameters = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const expected = parameters.filter(
      (name) => name === own || !/^(?:frontdoor|organization)Id$/.test(name),
    );
    const command = find(wordsOf(row))!;
    assert.deepEqual(
      command.registeredArguments.map((argument) => argument.name()),
      [
        ...expected.map(kebab),
        ...(row.fieldArguments ?? []).map((name) => row.called?.[name] ?? kebab(name).replace(/s$/, '')),
      ],
    );
    // Commands that delete always require the name of the object.
    if (operation.method === 'DELETE')
      assert.ok(command.registeredArguments.every(({ required }) => required));
  }
});

test('columns and secrets of the table are fields of the answers', () => {
  for (const { operation, row } of rows) {
    if (!isOperationCommand(row)) continue;
    const schema: Schema | undefined = operation.answer.schema;
    const entry = schema?.items ?? schema?.properties?.['content']?.items ?? schema;
    for (const column of [...(row.columns ?? []), ...(row.once === undefined ? [] : [row.once])])
      assert.ok(fieldOf(entry, column) !== undefined, `${operation.id} ${column}`);
    const isList = schema?.items !== undefined || schema?.properties?.['content'] !== undefined;
    assert.equal(row.columns !== undefined, isList, operation.id);
  }
});

/** Returns the schema of a column, which names a field of a field as `createdBy.name`. */
function fieldOf(entry: Schema | undefined, column: string): Schema | undefined {
  return column.split('.').reduce((schema, name) => schema?.properties?.[name], entry);
}

interface Schema {
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

test('every example is a command line that is understood', () => {
  for (const command of everyCommand(program)) command.action(() => {}).allowExcessArguments(false);
  for (const { row } of rows) {
    if (!isOperationCommand(row)) continue;
    for (const example of row.examples) {
      const words = example.replace(/ [<>] .*$/, '').match(/"[^"]*"|\S+/g)!;
      program.parse(
        words.map((word) => word.replaceAll('"', '')),
        { from: 'user' },
      );
    }
  }
});

test('a schema that no option can express fails at once', () => {
  assert.throws(() => bodyFields({ properties: { odd: { type: 'number' } } }), /no option can represent odd/);
});
