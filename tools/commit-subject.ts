/**
 * Judges subjects of commits: `part: verb …`, imperative, one idea, at most 72 characters. With a file as its argument, as git's
 * hook `commit-msg` gives it, it judges the message in it; without, all commits since the one that added the hook.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const MAX_CHARACTERS = 72;
const HOOK = '.githooks/commit-msg';

/** Parts, folders and documents, such as `router/link`, `net, control/store` or `CONTRIBUTING`. */
const FORM = /^[\w.][\w./ ,*-]*: (?<verb>\S+) \S/;
/** What git writes itself. */
const BY_GIT = /^(?:Merge|Revert|fixup!|squash!|amend!) /;
const NO_VERB =
  /^(?:an?|the|no|one|each|every|all|any|what|who|how|when|where|why|this|that|these|those|it|its|their|only|more|some)$/;
/** Adds, added, adding. */
const NO_IMPERATIVE = /(?:[^s]s|ed|ing)$/;
const IMPERATIVE = /^(?:focus|feed|seed|need|embed|speed|shed|exceed|proceed|succeed|bring|ping|ring)$/;

/** Returns what is wrong with a subject, or undefined. */
export function subjectProblem(subject: string): string | undefined {
  if (BY_GIT.test(subject)) return undefined;
  if (subject.length > MAX_CHARACTERS)
    return `has ${subject.length} characters; at most ${MAX_CHARACTERS} are allowed, the body has room for more`;
  const verb = FORM.exec(subject)?.groups?.['verb'];
  if (verb === undefined) return 'is not of the form "part: verb what", such as "router/link: retry slowly"';
  if (NO_VERB.test(verb) || (NO_IMPERATIVE.test(verb) && !IMPERATIVE.test(verb)))
    return `does not begin with a verb in the imperative after the part, such as "add" or "refuse": "${verb}"`;
  if (subject.includes(', and ')) return 'holds ", and": one idea a commit';
  return undefined;
}

function subjectsSinceHook(): readonly string[] {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  try {
    const added = git('log', '--diff-filter=A', '--format=%H', '-1', '--', HOOK);
    if (added === '') return [];
    return git('log', '--no-merges', '--format=%s', `${added}..HEAD`).split('\n').filter(Boolean);
  } catch {
    // Sources without a repository, such as an archive.
    return [];
  }
}

function main([file]: readonly string[]): void {
  const subjects = file === undefined ? subjectsSinceHook() : [readFileSync(file, 'utf8').split('\n', 1)[0]!];
  for (const subject of subjects) {
    const problem = subjectProblem(subject);
    if (problem === undefined) continue;
    process.stderr.write(`commit: the subject "${subject}" ${problem}\n`);
    process.exitCode = 1;
  }
}

if (import.meta.main) main(process.argv.slice(2));
