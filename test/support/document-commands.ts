/** The command lines that a document shows: in its blocks of commands, in units of systemd, and among its sentences. */

export interface ShownCommand {
  /** `docs/guide/keys.md:14`. */
  readonly place: string;
  readonly words: readonly string[];
}

export interface CodeBlock {
  readonly path: string;
  /** The number of its first line. */
  readonly line: number;
  readonly language: string;
  readonly lines: readonly string[];
}

/** Languages of blocks that people paste into a shell. A block without one may also be output. */
export const SHELL_LANGUAGES: readonly string[] = ['', 'sh', 'console'];

export function codeBlocks(path: string, text: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { line: number; language: string; lines: string[] } | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    const [, language] = /^\s*```(\S*)/.exec(line) ?? [];
    if (language === undefined) open?.lines.push(line);
    else if (open === undefined) open = { line: at + 2, language, lines: [] };
    else {
      blocks.push({ path, line: open.line, language: open.language, lines: open.lines });
      open = undefined;
    }
  }
  return blocks;
}

/** The lines of a block that a shell runs, those that end with a backslash joined with the next, each with its number. */
export function shellLines({ line, lines }: CodeBlock): [at: number, text: string][] {
  const isTranscript = lines.some((each) => each.startsWith('$ '));
  const joined: [number, string][] = [];
  let before = '';
  for (const [index, each] of lines.entries()) {
    if (isTranscript && before === '' && !each.startsWith('$ ')) continue;
    const text = before === '' ? each.replace(/^\$ /, '') : `${before} ${each.trim()}`;
    before = text.endsWith('\\') ? text.slice(0, -1).trimEnd() : '';
    if (before === '') joined.push([line + index, text]);
  }
  return joined;
}

/** Every command of a line, as words: those of a pipe, of a condition and of a substitution are commands of their own. */
export function commandsOfLine(line: string): string[][] {
  const inner: string[][] = [];
  let rest = line;
  for (;;) {
    const found = /\$\(([^()]*)\)/.exec(rest);
    if (found === null) break;
    inner.push(...commandsOfLine(found[1]!));
    rest = rest.replace(found[0], 'VALUE');
  }
  return [...wordsOfCommands(rest), ...inner];
}

const OPERATORS = new Set([';', '&', '|', '(', ')']);

function wordsOfCommands(line: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  let quote: string | undefined;
  let isRedirected = false;
  const endWord = (): void => {
    if (word !== undefined && !isRedirected) commands.at(-1)!.push(word);
    if (word !== undefined) isRedirected = false;
    word = undefined;
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at]!;
    if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else word = `${word ?? ''}${character}`;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= '';
    } else if (character === '#' && word === undefined) break;
    else if (/\s/.test(character)) endWord();
    else if (character === '>' || character === '<') {
      // `2> file`: the number is no word.
      if (word !== undefined && /^\d$/.test(word)) word = undefined;
      endWord();
      isRedirected = true;
    } else if (OPERATORS.has(character)) {
      endWord();
      isRedirected = false;
      commands.push([]);
    } else word = `${word ?? ''}${character === '\\' ? (line[++at] ?? '') : character}`;
  }
  endWord();
  return commands.filter(({ length }) => length > 0);
}

/** Words that stand before the program. */
const BEFORE = /^(?:\w+=.*|sudo|exec|npx|if|while|until|then|do|!)$/;

/** The arguments of `frontdoor`, if that is what the command runs. */
export function argumentsOfProduct(words: readonly string[]): string[] | undefined {
  const first = words.findIndex((word) => !BEFORE.test(word));
  const [program = '', ...rest] = words.slice(Math.max(first, 0));
  // Options that a line leaves out, which are not of interest there.
  const given = rest.filter((word) => word !== '…');
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (name === 'frontdoor') return given;
  if (name !== 'frontdoor-agent') return undefined;
  return given[0] === 'service' ? given : ['agent', ...given];
}

/** The command lines of the product in the blocks of a document. */
export function productCommands(path: string, text: string): ShownCommand[] {
  return codeBlocks(path, text).flatMap((block) => {
    const lines =
      block.language === 'ini'
        ? block.lines.flatMap((line, at): [number, string][] => {
            const [, command] = /^Exec\w+=[-+!@:]*(.*)$/.exec(line) ?? [];
            return command === undefined ? [] : [[block.line + at, command]];
          })
        : SHELL_LANGUAGES.includes(block.language)
          ? shellLines(block)
          : [];
    return lines.flatMap(([at, line]) =>
      commandsOfLine(line).flatMap((words) => {
        const given = argumentsOfProduct(words);
        return given === undefined ? [] : [{ place: `${path}:${at}`, words: given }];
      }),
    );
  });
}

/** The command lines of the product among the sentences of a document, where values are often left out. */
export function mentionedCommands(path: string, text: string): ShownCommand[] {
  const prose = text.replaceAll(/^\s*```[^]*?^\s*```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  return [...prose.matchAll(/`(?:npx )?frontdoor((?:-agent)? [^`]+)`/g)].map(({ 1: rest = '', index }) => ({
    place: `${path}:${prose.slice(0, index).split('\n').length}`,
    words: rest
      .replace(/^-agent /, 'agent ')
      .trim()
      .split(/\s+/),
  }));
}
