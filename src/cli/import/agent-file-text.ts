/** Writes what an importer found as an agent's file that the agent's reader accepts. A share that it would refuse is left out. */
import { definedFields } from '#base';
import { agentFileSchema, type AgentConfig, type ConfiguredShare } from '#contract/schemas';
import { isShareName, parseShareTarget } from '#domain';
import { parseYamlFile, yamlText } from '#net/yaml-file';
import type { ImportDraft, ImportedShare } from './imported-share.ts';

const MAX_NAME = 63;
const MAX_ENTRY_LENGTH = 1_048_576;
const DUMMY = 'x'.repeat(8);

/** The share as a file has it, and the variables of its passwords. */
interface FileEntry {
  readonly share: object;
  readonly variables: readonly string[];
}

export interface AgentFileText {
  readonly text: string;
  readonly shares: number;
  readonly accesses: number;
}

export function agentFileText(
  { shares, accesses, intro }: ImportDraft,
  product: string,
  file: string,
): AgentFileText {
  const names = new Set<string>();
  const parts: string[] = [];
  for (const draft of shares) {
    const name = freeName(draft.name, names);
    const entry = entryOf(draft, name);
    const problem = problemOf(draft, entry);
    if (problem !== undefined) {
      draft.source.remark('', `The share is left out: ${problem}.`);
      continue;
    }
    names.add(name);
    const comments = [`${file}:${draft.source.line}`, ...hintsOf(draft, entry)];
    parts.push(indented([...comments.map(comment), yamlText([entry.share])].join('\n')));
  }
  const lines = [
    comment(`Made by "frontdoor import" of a file of ${product}. Read it before an agent uses it:`),
    comment('frontdoor agent start --config FILE'),
    ...intro.map(comment),
    parts.length === 0 ? 'shares: []\n' : `shares:\n${parts.join('')}`,
  ];
  const rest = accesses.length === 0 ? '' : yamlText({ accesses });
  return { text: lines.join('\n') + rest, shares: parts.length, accesses: accesses.length };
}

function entryOf(draft: ImportedShare, name: string): FileEntry {
  const { mode, target, authProviders, policy, users, upstream, domains, clientAuthorities } = draft;
  const variables = variablesOf(name, users);
  const basicAuth = users.map((user, at) => ({ name: user, password: { fromEnv: variables[at]! } }));
  const lists = Object.entries(Object.assign({ basicAuth }, policy)).filter(([, list]) => list.length > 0);
  const clientCertificate = clientAuthorities.length === 0 ? undefined : { authorities: clientAuthorities };
  const rules = definedFields(Object.assign(Object.fromEntries(lists), { clientCertificate }));
  const share = definedFields({
    name,
    mode,
    target,
    domains: someOf(domains),
    authProviders: someOf(authProviders),
    policy: Object.keys(rules).length === 0 ? undefined : rules,
    upstream: Object.keys(upstream).length === 0 ? undefined : upstream,
  });
  return { share, variables };
}

function hintsOf(draft: ImportedShare, { variables }: FileEntry): readonly string[] {
  return [
    ...draft.hints,
    ...(variables.length === 0 ? [] : [`Set for the agent: ${variables.join(', ')}`]),
    ...(draft.mode === 'private' ? ['grants: [NAME] lists the environments that can dial the share'] : []),
    ...(draft.domains.length === 0
      ? []
      : ['"frontdoor shares domains" shows the DNS records that the domains need']),
  ];
}

/** Returns why the agent's reader would refuse the share, without its values. */
function problemOf({ mode }: ImportedShare, { share, variables }: FileEntry): string | undefined {
  const read = parseYamlFile(yamlText({ shares: [share] }), {
    maxLength: MAX_ENTRY_LENGTH,
    schema: agentFileSchema,
    texts: { folder: '.', env: Object.fromEntries(variables.map((name) => [name, DUMMY])) },
    rules: () => [],
    whenEmpty: '',
  });
  if ('problems' in read) {
    const [{ path, message } = { path: '', message: '' }] = read.problems;
    return `${path.replace(/^shares\[0\]\.?/, '')} ${message}`;
  }
  return targetProblem(read.value, mode);
}

function targetProblem(
  { shares: [share] = [] }: AgentConfig,
  mode: ConfiguredShare['mode'],
): string | undefined {
  const target = parseShareTarget(share!.target);
  if (target === undefined)
    return 'a target is an address such as http://127.0.0.1:3000 without credentials and query';
  return mode === 'private' && 'path' in target && target.path !== ''
    ? 'the target of a private share has no path'
    : undefined;
}

/** A share name of the letters of a text, with a number if it is taken. */
function freeName(text: string, taken: ReadonlySet<string>): string {
  const cleaned = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME - 4)
    .replace(/^-+|-+$/g, '');
  const name = isShareName(cleaned) ? cleaned : `share-${cleaned}`.replace(/-+$/, '');
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name.slice(0, MAX_NAME - 7)}-${number}`;
    if (!taken.has(numbered)) return numbered;
  }
}

function variablesOf(name: string, users: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const user of users) {
    const wanted = `${name}_${user}_PASSWORD`.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    const variable = /^[0-9]/.test(wanted) ? `SHARE_${wanted}` : wanted;
    found.push(found.includes(variable) ? `${variable}_${found.length + 1}` : variable);
  }
  return found;
}

function someOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Texts of the file cannot end the comment. */
function comment(text: string): string {
  return `# ${text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')}`;
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
