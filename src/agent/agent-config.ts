/**
 * The agent's configuration file: shares that it creates or reclaims at every start. One schema checks it, and
 * all problems are reported at once, each with path, line and value.
 */
import { readFileSync } from 'node:fs';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { FrontdoorError, messageOf } from '#base';
import { isShareLabel } from '#domain';
import { parseTarget } from './target-address.ts';
import { checkNotWritableByOthers } from './state-file.ts';

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;
const MAX_SHARES = 10_000;
const MAX_PROBLEMS = 100;

const ConfiguredShareSchema = Type.Object(
  {
    name: Type.String({ description: 'Name and token of the share: 3 to 63 of a-z, 0-9 and -' }),
    mode: Type.Enum(['public', 'private'], {
      description: 'Who may reach it: everyone, or only granted environments',
    }),
    target: Type.String({ description: 'http://HOST:PORT or https://HOST:PORT' }),
    grants: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { description: 'Environments that may dial it' }),
    ),
  },
  { additionalProperties: false },
);

export const AgentConfigSchema = Type.Object(
  { shares: Type.Array(ConfiguredShareSchema, { maxItems: MAX_SHARES }) },
  { additionalProperties: false },
);

export type AgentConfig = Static<typeof AgentConfigSchema>;
export type ConfiguredShare = Static<typeof ConfiguredShareSchema>;

export interface AgentConfigProblem {
  /** Such as `shares.2.target`; empty for the whole file. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly rule: string;
  /** The given value, shortened. */
  readonly given: string | undefined;
}

export type ParsedConfig =
  { readonly config: AgentConfig } | { readonly problems: readonly AgentConfigProblem[] };

const validator = Compile(AgentConfigSchema);

/** Throws a `FrontdoorError` with all problems. */
export function loadAgentConfig(path: string): AgentConfig {
  let text: string;
  try {
    checkNotWritableByOthers(path);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof FrontdoorError) throw error;
    throw new FrontdoorError('invalid', 'config-unreadable', `cannot read ${path}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const parsed = parseAgentConfig(text);
  if ('config' in parsed) return parsed.config;
  const lines = parsed.problems.map((problem) => `  ${path}:${problem.line} ${describe(problem)}`);
  const count = lines.length === 1 ? 'a problem' : `${lines.length} problems`;
  throw new FrontdoorError('invalid', 'config-invalid', `${path} has ${count}:\n${lines.join('\n')}`);
}

function describe({ path, rule, given }: AgentConfigProblem): string {
  return `${path === '' ? '' : `${path}: `}${rule}${given === undefined ? '' : `, not ${given}`}`;
}

export function parseAgentConfig(text: string): ParsedConfig {
  if (text.length > MAX_CONFIG_BYTES) {
    return {
      problems: [
        { path: '', line: 1, rule: `must be smaller than ${MAX_CONFIG_BYTES} bytes`, given: undefined },
      ],
    };
  }
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true });
  const problems: AgentConfigProblem[] = [...document.errors, ...document.warnings].map((error) => ({
    path: '',
    line: counter.linePos(error.pos[0]).line,
    rule: error.message.split('\n', 1)[0] ?? error.code,
    given: undefined,
  }));
  if (problems.length > 0) return { problems };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return { problems: [{ path: '', line: 1, rule: messageOf(error), given: undefined }] };
  }
  const add = (path: readonly string[], rule: string, given?: unknown): void => {
    if (problems.length >= MAX_PROBLEMS) return;
    const line = counter.linePos(offsetOf(document, path)).line;
    problems.push({
      path: path.join('.'),
      line,
      rule,
      given: given === undefined ? undefined : shorten(given),
    });
  };
  if (value === null) {
    return { problems: [{ path: '', line: 1, rule: 'must contain a list named shares', given: undefined }] };
  }
  if (!validator.Check(value)) {
    for (const [path, rule] of schemaProblems(value)) add(path, rule, valueAt(value, path));
  } else {
    for (const [path, rule] of crossProblems(value)) add(path, rule, valueAt(value, path));
    if (problems.length === 0) return { config: value };
  }
  return { problems: problems.toSorted((a, b) => a.line - b.line) };
}

function schemaProblems(value: unknown): [path: string[], rule: string][] {
  const found: [string[], string][] = [];
  const seen = new Set<string>();
  for (const error of validator.Errors(value)) {
    // An unknown name is reported by its own entry, not by its object.
    if (error.keyword === 'additionalProperties') continue;
    const path = error.instancePath.split('/').slice(1).map(unescapePointer);
    const missing = error.keyword === 'required' ? error.params.requiredProperties : [];
    for (const name of missing) found.push([[...path], `must have ${name}`]);
    if (missing.length > 0) continue;
    const key = path.join('\0');
    if (seen.has(key)) continue;
    seen.add(key);
    found.push([path, ruleOf(error.keyword, error.message, path)]);
  }
  return found;
}

function ruleOf(keyword: string, message: string, path: readonly string[]): string {
  const field = path.at(-1);
  if (keyword === 'boolean') return `is not a field here; known fields are ${knownAt(path).join(', ')}`;
  if (keyword === 'enum' && field === 'mode') return 'must be public or private';
  return message;
}

function knownAt(path: readonly string[]): string[] {
  return Object.keys(path.length > 1 ? ConfiguredShareSchema.properties : AgentConfigSchema.properties);
}

function crossProblems(config: AgentConfig): [path: string[], rule: string][] {
  const found: [string[], string][] = [];
  const names = new Map<string, number>();
  for (const [i, share] of config.shares.entries()) {
    const at = (field: string): string[] => ['shares', String(i), field];
    const parsed = parseTarget(share.target);
    if ('problem' in parsed) found.push([at('target'), parsed.problem.replace(/^target ".*?" /, '')]);
    if (share.mode === 'public' && (share.grants ?? []).length > 0)
      found.push([at('grants'), 'only a private share has grants']);
    // Rules for new names only are left to the control plane, because this share may be older.
    if (!isShareLabel(share.name)) {
      found.push([at('name'), 'must be 3 to 63 of a-z, 0-9 and -, no - at either end, and no reserved word']);
    }
    const first = names.get(share.name);
    if (first === undefined) names.set(share.name, i);
    else found.push([at('name'), `is also the name of shares.${first}`]);
  }
  return found;
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return typeof at === 'object' ? undefined : at;
}

function shorten(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** Returns the offset of the node, or of its nearest existing ancestor. */
function offsetOf(document: Document, path: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === part);
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    } else {
      break;
    }
  }
  return offset;
}
