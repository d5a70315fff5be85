/**
 * The content of the trusted issuers' file: a list in YAML or JSON. One schema checks it, and all problems are
 * reported at once, each with path, line and value.
 */
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { messageOf } from '#base';
import { SCOPES } from '#contract';
import { isUuid } from '#domain';

const MAX_FILE_BYTES = 1_048_576;
const MAX_ISSUERS = 100;
const MAX_PROBLEMS = 100;

/** Asymmetric only, because a party that verifies tokens must not be able to make them. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

const text = (description: string) => Type.String({ minLength: 1, maxLength: 2_048, description });
const choice = (values: readonly string[], description: string) =>
  Type.Array(Type.Enum([...values]), { minItems: 1, uniqueItems: true, description });

const TrustedIssuerSchema = Type.Object(
  {
    issuer: text('The claim iss of its tokens, letter by letter'),
    audience: text('What their claim aud must hold'),
    jwksUri: text('Where its public keys are; http:// only where --allow-egress opens the address'),
    algorithms: Type.Optional(choice(ALGORITHMS, 'How its tokens may be signed; RS256 and ES256')),
    organizationClaim: text('The claim that says whose the caller is'),
    organizations: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'Ids of organizations by values of that claim; without it the value is the id',
      }),
    ),
    scopeClaim: Type.Optional(text('The claim with the scopes, a text or a list; scope')),
    scopes: Type.Optional(choice(SCOPES, 'All that its tokens can give; frontdoor.read and frontdoor.write')),
  },
  { additionalProperties: false },
);
const FileSchema = Type.Array(TrustedIssuerSchema, { maxItems: MAX_ISSUERS });
const validator = Compile(FileSchema);

type Entry = Static<typeof TrustedIssuerSchema>;
export type TrustedIssuer = Entry & Required<Pick<Entry, 'algorithms' | 'scopeClaim' | 'scopes'>>;

const DEFAULTS = {
  algorithms: ['RS256', 'ES256'],
  scopeClaim: 'scope',
  scopes: ['frontdoor.read', 'frontdoor.write'],
};

export interface IssuerProblem {
  /** Such as `0.jwksUri`; empty for the whole file. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  /** The problem and the given value. */
  readonly message: string;
}

export type ParsedIssuers =
  { readonly issuers: readonly TrustedIssuer[] } | { readonly problems: readonly IssuerProblem[] };

export function parseTrustedIssuers(content: string): ParsedIssuers {
  if (content.length > MAX_FILE_BYTES) return whole(`must be smaller than ${MAX_FILE_BYTES} bytes`);
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, uniqueKeys: true });
  const syntax = [...document.errors, ...document.warnings].map((error) => ({
    path: '',
    line: lines.linePos(error.pos[0]).line,
    message: error.message.split('\n', 1)[0] ?? error.code,
  }));
  if (syntax.length > 0) return { problems: syntax };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return whole(messageOf(error));
  }
  if (!Array.isArray(value)) return whole('must be a list of issuers');
  const found = validator.Check(value) ? crossProblems(value) : schemaProblems(value);
  const problems = found.slice(0, MAX_PROBLEMS).map(([path, rule]) => {
    const given = valueAt(value, path);
    const message = given === undefined ? rule : `${rule}, not ${given}`;
    return { path: path.join('.'), line: lineOf(document, lines, path), message };
  });
  if (problems.length > 0) return { problems: problems.toSorted((a, b) => a.line - b.line) };
  return { issuers: (value as Entry[]).map((entry) => ({ ...DEFAULTS, ...entry })) };
}

type Problem = [path: string[], rule: string];

function schemaProblems(value: unknown): Problem[] {
  const problems = new Map<string, Problem>();
  for (const { instancePath, keyword, params, message } of validator.Errors(value)) {
    // An unknown name is reported by its own entry, not by its object.
    if (keyword === 'additionalProperties') continue;
    const path = instancePath.split('/').slice(1).map(unescapePointer);
    const missing = keyword === 'required' ? params.requiredProperties : [];
    for (const name of missing) problems.set([...path, name].join('/'), [path, `must have ${name}`]);
    if (missing.length === 0 && !problems.has(path.join('/')))
      problems.set(path.join('/'), [path, ruleOf(keyword, message, path)]);
  }
  return [...problems.values()];
}

function ruleOf(keyword: string, message: string, path: readonly string[]): string {
  if (keyword === 'boolean')
    return `is no field here; known are ${Object.keys(TrustedIssuerSchema.properties).join(', ')}`;
  if (keyword !== 'enum') return message;
  const isScope = path.at(-2) === 'scopes';
  return isScope
    ? `must be ${SCOPES.join(' or ')}`
    : `must be an asymmetric algorithm: ${ALGORITHMS.join(', ')}`;
}

function crossProblems(entries: readonly Entry[]): Problem[] {
  const problems: Problem[] = [];
  const seen = new Map<string, number>();
  for (const [index, { issuer, jwksUri, organizations }] of entries.entries()) {
    const at = (...path: string[]): string[] => [String(index), ...path];
    if (!/^https?:$/.test(URL.canParse(jwksUri) ? new URL(jwksUri).protocol : ''))
      problems.push([at('jwksUri'), 'must be an https:// address']);
    // With a `#`, `<issuer>#<sub>` would be ambiguous.
    if (issuer.includes('#')) problems.push([at('issuer'), 'must not hold #']);
    const first = seen.get(issuer);
    if (first !== undefined) problems.push([at('issuer'), `is also the issuer of ${first}`]);
    seen.set(issuer, first ?? index);
    for (const [value, id] of Object.entries(organizations ?? {}))
      if (!isUuid(id)) problems.push([at('organizations', value), 'must be the id of an organization']);
  }
  return problems;
}

function whole(message: string): ParsedIssuers {
  return { problems: [{ path: '', line: 1, message }] };
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Returns shortened JSON, or undefined for a missing value or a nested one. */
function valueAt(value: unknown, path: readonly string[]): string | undefined {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return typeof at === 'object' && at !== null ? undefined : JSON.stringify(at).slice(0, 80);
}

/** Returns the line of the value, or of its nearest existing ancestor. */
function lineOf(document: Document, lines: LineCounter, path: readonly string[]): number {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const steps = path.slice(0, depth).map((part, i) => (i === 0 ? Number(part) : part));
    const node = document.getIn(steps, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
