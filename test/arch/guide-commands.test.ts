// The command lines of the documents are read by the product's own parser of options, so that none of them names a command,
// an option or a value that does not exist. `test/e2e/first-share-guide.test.ts` runs those of the first share.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { buildWholeProgram, type CliIo, type ProgramRunners } from '#cli';
import { root } from '../../tools/source-tree.ts';
import {
  codeBlocks,
  mentionedCommands,
  productCommands,
  SHELL_LANGUAGES,
  shellLines,
  type ShownCommand,
} from '../support/document-commands.ts';

type Program = Awaited<ReturnType<typeof buildWholeProgram>>;

/** Decisions are of their time. */
const NOT_HELD = /^docs\/(?:adr|conformance)\//;

const documents = globSync(['*.md', 'docs/**/*.md', 'examples/**/*.md'], { cwd: root })
  .filter((path) => !NOT_HELD.test(path))
  .toSorted()
  .map((path) => [path, readFileSync(join(root, path), 'utf8')] as const);

/** The least number of lines that are found, so that none of them is lost unnoticed. */
const LEAST_COMMANDS = 600;

let program: Program;
let printed = '';

before(async () => {
  const io: CliIo = { out: () => {}, err: (text) => void (printed += text), env: {}, exitCode: 0 };
  program = await buildWholeProgram('0.0.0', io, {} as ProgramRunners);
  for (const command of leaves(program)) command.action(() => {});
});

function leaves(command: Program): Program[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap((each) => leaves(each));
}

/** The problem of a command line, or undefined. */
async function problemOf({ place, words }: ShownCommand): Promise<string | undefined> {
  printed = '';
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (
      (error as { exitCode?: number }).exitCode !== 0 ||
      (error as { code?: string }).code === 'commander.help'
    )
      return `${place}: frontdoor ${words.join(' ')}: ${printed.split('\n')[0] || (error as Error).message}`;
  }
  return undefined;
}

test('every command line of the documents has commands, options and values that exist', async () => {
  const shown = documents.flatMap(([path, text]) => productCommands(path, text));
  assert.ok(shown.length >= LEAST_COMMANDS, `only ${shown.length} were found`);
  const problems: string[] = [];
  for (const each of shown) {
    const problem = await problemOf(each);
    // What another program prints there is not known.
    if (problem !== undefined && !problem.includes("'VALUE' is invalid")) problems.push(problem);
  }
  assert.deepEqual(problems, []);
});

test('every command and option that a sentence of the documents names exists', () => {
  const problems = documents
    .flatMap(([path, text]) => mentionedCommands(path, text))
    // Development commands have a parser of their own.
    .filter(({ words }) => words[0] !== 'dev')
    .flatMap(({ place, words }) => {
      let command = program;
      for (const [at, word] of words.entries()) {
        const below = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
        if (below === undefined) {
          const isValue = command.commands.length === 0 || /^(?:[A-Z…<-]|$)/.test(word);
          if (!isValue) return [`${place}: frontdoor ${words.slice(0, at + 1).join(' ')}`];
          break;
        }
        command = below;
      }
      const known = ['--help', '--version', ...command.options.flatMap(({ long, short }) => [long, short])];
      return words
        .filter((word) => /^--?[a-z]/.test(word) && !known.includes(word.split('=')[0]))
        .map((word) => `${place}: frontdoor ${words.join(' ')}: ${word}`);
    });
  assert.deepEqual(problems, []);
});

test('every npm script that a document names exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const missing = documents.flatMap(([path, text]) =>
    [...text.matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)]
      .filter(([, name]) => !(name! in scripts))
      .map(([line]) => `${path}: ${line}`),
  );
  assert.deepEqual(missing, []);
});

test('a shell accepts the syntax of every block of commands', () => {
  const blocks = documents
    .flatMap(([path, text]) => codeBlocks(path, text))
    .filter(({ language }) => SHELL_LANGUAGES.includes(language) && language !== '');
  // One shell for all: each block is a function, and the name of a function is its place.
  const script = blocks
    .map(
      (block, at) =>
        `block_${at}() {\n${shellLines(block)
          .map(([, line]) => line)
          .join('\n')}\n:\n}`,
    )
    .join('\n');
  const { stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
  assert.equal(stderr, '');
});
