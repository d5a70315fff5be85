// The help of every command describes each option, the form of its value, and an example.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Option } from 'commander';
import { wholeProgram } from '../cli-fixture.ts';
import { everyCommand } from '../program.ts';

const program = await wholeProgram();

test('every option of every command has a description, a form of its value, and an example', () => {
  let count = 0;
  const wrong: string[] = [];
  const visit = (command: typeof program, path: string): void => {
    for (const option of command.options) {
      count += 1;
      for (const problem of problemsOf(option)) wrong.push(`${path} --${option.name()}: ${problem}`);
    }
    for (const each of command.commands) visit(each, `${path} ${each.name()}`.trim());
  };
  visit(program, '');
  assert.deepEqual(wrong, []);
  assert.ok(count > 600, String(count));
  assert.ok(everyCommand(program).length > 80);
});

function problemsOf({ flags, description, required, optional, argChoices, defaultValue }: Option): string[] {
  const problems: string[] = [];
  if (description.length < 10 || /^field |the field \w+/.test(description))
    problems.push(`says only "${description}"`);
  if (!required && !optional) return problems;
  const placeholder = /[<[]([^>\]]+)/.exec(flags)?.[1] ?? '';
  if (placeholder === 'string') problems.push('has no form');
  const hasDefault = !['undefined', '', 'false'].includes(String(defaultValue));
  const isShown =
    argChoices !== undefined || hasDefault || /for example \S|such as \S|default: \S/.test(description);
  if (!isShown) problems.push('has no example');
  return problems;
}
