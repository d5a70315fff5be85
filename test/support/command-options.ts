/** The command lines that shipped files contain, as the product reads them. */
import assert from 'node:assert/strict';
import { buildWholeProgram, type CliIo, type ProgramRunners } from '#cli';

const io: CliIo = { out: () => {}, err: () => {}, env: {}, exitCode: 0 };
const program = await buildWholeProgram('0.0.0', io, {} as ProgramRunners);

/** The options of a command line, after its words have led to a command that takes all of them. */
export function optionsOf(line: readonly string[]): Readonly<Record<string, unknown>> {
  let command = program;
  let words = [...line];
  for (let next: typeof program | undefined; ; command = next, words = words.slice(1)) {
    next = command.commands.find((each) => each.name() === words[0]);
    if (next === undefined) break;
  }
  const { operands, unknown } = command.parseOptions(words);
  assert.deepEqual(unknown, [], line.join(' '));
  assert.equal(operands.length, command.registeredArguments.filter(({ required }) => required).length);
  return command.opts();
}

/** The product accepts the line, and every file that it names is in one of the places. */
export function checkCommand(line: readonly string[], places: readonly string[]): void {
  optionsOf(line);
  for (const [path] of line.flatMap((word) => [...word.matchAll(/(?<=^|=)\/.*/g)]))
    assert.ok(
      places.some((place) => path === place || path.startsWith(`${place}/`)),
      `${line[0]}: ${path}`,
    );
}
