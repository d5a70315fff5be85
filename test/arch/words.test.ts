// Texts that no file of the repository may contain: paths that exist only on one machine, secrets, and
// the worst forms of an idiom that is hard to read.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../tools/source-tree.ts';

// Written in two pieces, so that this file does not break its own rule.
const WORDS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [new RegExp(`${'/'}work/`), 'a folder of one machine'],
  [new RegExp(`${'\\.\\./'}shared\\b`), 'a folder outside the repository'],
  [new RegExp(`${'/'}tmp/brief`), 'a folder of one machine'],
  [
    new RegExp(`registry\\.${'npmjs'}\\.org|registry\\.${'yarnpkg'}\\.com`),
    'the registry is the user’s choice',
  ],
  [
    new RegExp(`${'files'}\\.pythonhosted\\.org|${'pypi'}\\.org/simple`),
    'the package index is the user’s choice',
  ],
  [new RegExp(`\\b(?:localhost|127\\.0\\.0\\.1):4873\\b`), 'the registry of one developer'],
  [new RegExp(`BEGIN ${'(?:EC |RSA )?PRIVATE'} KEY-----\\n[A-Za-z0-9+/]{40}`), 'a private key'],
];

const NOT_OURS = ['node_modules/', '.git/', '.cache/', 'frontdoor-data/', 'test/bench/results/'];

/** Everything that a commit would hold: tracked files, and new ones that are not ignored. */
function repositoryFiles(): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const git = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 });
  // Without git, or in an unpacked archive: every file of the folder.
  const listed =
    git.status === 0 ? git.stdout.split('\0') : readdirSync(root, { recursive: true, encoding: 'utf8' });
  const ours = listed.filter((path) => path !== '' && !NOT_OURS.some((folder) => path.startsWith(folder)));
  return [...new Set(ours)].filter(isFile);
}

function isFile(path: string): boolean {
  return statSync(join(root, path), { throwIfNoEntry: false })?.isFile() === true;
}

test('no file names a place or a secret that is not the repository’s', () => {
  const wrong: string[] = [];
  for (const path of repositoryFiles()) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const [pattern, why] of WORDS) {
      const at = text.search(pattern);
      if (at >= 0) wrong.push(`${path}:${text.slice(0, at).split('\n').length}: ${why}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('nothing that is made at run time is committed', () => {
  const made =
    /(?:^|\/)(?:node_modules|frontdoor-data|\.cache|results)\/|\.(?:log|sqlite|sqlite-wal|pem|key|jwt)$/;
  const wrong = repositoryFiles().filter((path) => made.test(path) && !path.startsWith('test/vectors/'));
  assert.deepEqual(wrong, []);
});

/** Folders and files whose prose is held to the rules below. */
const PLAIN_ENGLISH = [
  'bin/',
  'src/',
  'test/',
  'tools/',
  'docs/',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CODE_OF_CONDUCT.md',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
];

/** The worst forms of the former idiom, with the plain form. Matched in comments, texts of the code and Markdown. */
const IDIOMS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:tells?|told)\b/i, 'report, notify, state or show'],
  [/\bsays? so\b/i, 'report or announce'],
  [/\b(?:hears?|heard)\b/i, 'receive, or be notified'],
  [/\bwhoever\b/i, 'the name of the party'],
  [/\blets? (?:\w+ )?in\b/i, 'admit or accept'],
  [/\bwithout a word\b/i, 'silently, or without an answer'],
  // "whatever the order" means "in any order", and is plain.
  [/\bwhatever (?!the |its |their |is cached|was measured|a gateway)/i, 'the name of the thing'],
  [/^Of /, 'a sentence with a subject and a verb'],
  [/\blets? (?:it |them |this )?go\b/i, 'release, close or remove'],
  [/(?:^|[.:;] )Who (?!may|can|owns)[a-z][^?]*?[.;]/, 'the party as the subject'],
  [/(?:^|[.;] )What (?:is|was|has|waits|stands|comes|came|goes)\b[^?]*?[.;]/, 'the thing as the subject'],
  [/\b(?:an?|the|no|this|’s|'s) wish\b|\bwished\b/i, 'request'],
  [/\banew\b/i, 'again'],
  [/\b\w+ of ours\b/i, 'the name of the part, or Frontdoor'],
  [/\bgets? none\b/i, 'the verb that says what does not happen'],
  [/\b(?:go|goes|went|going) on\b(?! (?:top|the))/i, 'continue'],
  [/(?<!and )(?<!for )\bno more(?= *(?:[.,;)]|$))/i, 'no longer'],
  [/\bpermit(?:s|ted)? to\b/i, 'allow, with an object before the infinitive'],
  [/\bin doubt\b|\bdoubted\b/i, 'unsure, or the condition'],
  [/\bany ?more\b/i, 'no longer'],
  // At the start of a sentence it is plain.
  [/(?<!^|[.:] )\bmeanwhile\b/i, 'in the meantime, or the event'],
  [/\bin place of\b/i, 'instead of'],
  [/\bsomebody\b/i, 'someone, or the name of the party'],
  [/\beverybody\b/i, 'everyone, or the name of the parties'],
];

/** Files whose prose users see first. It is held to the terms of docs/glossary.md, too. */
const USER_TEXTS =
  /^(?:src\/(?:console\/.*(?:text|english)\.ts$|cli\/|contract\/)|src\/gateway\/(?:answers|access)\/|src\/control\/console\/|docs\/guide\/|README\.md$)/;

/** Private words and second names of a thing, with the term. Matched in texts of the code and in Markdown, not in comments. */
const TERMS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/(?<![-/\w])log(?:s|ged|ging)?[- ](?:in|out|ins|outs)\b(?![-/])/i, 'sign in, sign-in, sign out'],
  [/\b[Ee]-mail/, 'email'],
  [/\balone\b/i, 'only'],
  [/\bmay come in\b/i, 'has access'],
  [/\b(?:[Ee]rror|[Tt]race) ids?\b/, 'ID'],
  [/\bpermits? (?!cookies)/i, 'allow'],
];

/** Prose that may keep a form, with the reason. */
const MAY_STAY: readonly (readonly [text: string, why: string])[] = [
  ['whoever owns them', 'the owner is not known, and does not matter'],
  ['update login_session set email = told.column2', 'a migration that was released is never edited'],
  ['log-in at the console ${name', 'an input of a key, whose value tokens and locks depend on'],
  ['second factor of a log-in', 'an input of a key'],
  ['| Term | Instead of |', 'the table of terms itself'],
  ['${before}', 'a hosts file with a name that begins with a `t` after a tab'],
];

function proseOf(path: string, text: string): string[] {
  // Names of tests are quoted after `›`.
  if (path.endsWith('.md')) return text.replaceAll(/```[^]*?```|›\s+"[^"]*"/g, '').split(/\n{2,}/);
  const blocks = text.match(/^[ \t]*\/\*\*[^]*?\*\/|(?:^[ \t]*\/\/ .*\n?)+/gm) ?? [];
  const comments = blocks.map((block) =>
    block.replaceAll(/^[ \t]*(?:\/\*\*|\*\/|\*|\/\/)[ \t]?|[ \t]*\*\/$/gm, ''),
  );
  if (path === 'test/arch/words.test.ts') return comments;
  return [...comments, ...textsOf(text)];
}

function userTextsOf(path: string, text: string): string[] {
  if (!path.endsWith('.md')) return textsOf(text);
  return proseOf(path, text).map((piece) => piece.replaceAll(/`[^`]*`|\]\([^)]*\)/g, '…'));
}

/** String literals of several words: names of tests, messages, descriptions. */
function textsOf(source: string): string[] {
  const code = source.replaceAll(/^[ \t]*\/\*\*[^]*?\*\/|^[ \t]*\/\/ .*$/gm, '');
  const literals = code.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? [];
  return literals.map((literal) => literal.slice(1, -1)).filter((literal) => /\w \w/.test(literal));
}

test('prose avoids the forms that hide the subject or the verb of a sentence', () => {
  const wrong: string[] = [];
  for (const path of repositoryFiles()) {
    if (!/\.(?:tsx?|md)$/.test(path) || path.includes('/gen/')) continue;
    if (!PLAIN_ENGLISH.some((held) => path.startsWith(held))) continue;
    for (const piece of proseOf(path, readFileSync(join(root, path), 'utf8'))) {
      const line = piece.replaceAll(/\s+/g, ' ').trim();
      if (MAY_STAY.some(([text]) => line.includes(text))) continue;
      const found = IDIOMS.find(([pattern]) => pattern.test(line));
      if (found !== undefined) wrong.push(`${path}: "${line.slice(0, 100)}": use ${found[1]}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('texts for users have one term for each thing', () => {
  const wrong: string[] = [];
  for (const path of repositoryFiles()) {
    if (!USER_TEXTS.test(path) || /\.test\.ts$|fixture|-suite/.test(path)) continue;
    for (const piece of userTextsOf(path, readFileSync(join(root, path), 'utf8'))) {
      const line = piece.replaceAll(/\s+/g, ' ').trim();
      if (MAY_STAY.some(([text]) => line.includes(text))) continue;
      const found = TERMS.find(([pattern]) => pattern.test(line));
      if (found !== undefined) wrong.push(`${path}: "${line.slice(0, 100)}": use ${found[1]}`);
    }
  }
  assert.deepEqual(wrong, []);
});
