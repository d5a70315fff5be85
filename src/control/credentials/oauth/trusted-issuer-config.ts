/** The content of the trusted issuers' file: a list in YAML or JSON. */
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { FileProblem } from '#base';
import { isUuid, SCOPES } from '#domain';
import { PUBLIC_KEY_ALGORITHMS } from './public-key-algorithm-table.ts';
import { parseYamlFile, type YamlPath, type YamlRule } from '#net/yaml-file';

const MAX_FILE_BYTES = 1_048_576;
const MAX_ISSUERS = 100;

const text = (description: string) => Type.String({ minLength: 1, maxLength: 2_048, description });
const choice = (values: readonly string[], description: string) =>
  Type.Array(Type.Enum([...values]), { minItems: 1, uniqueItems: true, description });

const TrustedIssuerSchema = Type.Object(
  {
    issuer: text('The claim iss of its tokens, letter by letter'),
    audience: text('What their claim aud must hold'),
    jwksUri: text('Where its public keys are; http:// only where --allow-egress opens the address'),
    algorithms: Type.Optional(choice(PUBLIC_KEY_ALGORITHMS, 'How its tokens may be signed; RS256 and ES256')),
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

export type ParsedIssuers =
  | { readonly issuers: readonly TrustedIssuer[] }
  | { readonly problems: readonly FileProblem[] };

export function parseTrustedIssuers(content: string): ParsedIssuers {
  const parsed = parseYamlFile(content, {
    maxLength: MAX_FILE_BYTES,
    schema: validator,
    messageFor,
    rules: crossProblems,
    whenEmpty: 'must be a list of issuers',
  });
  if ('problems' in parsed) return parsed;
  return { issuers: parsed.value.map((entry) => ({ ...DEFAULTS, ...entry })) };
}

function messageFor(keyword: string, path: YamlPath): string | undefined {
  if (keyword === 'boolean')
    return `is not a field here; known fields are ${Object.keys(TrustedIssuerSchema.properties).join(', ')}`;
  if (keyword === 'type' && path.length === 0) return 'must be a list of issuers';
  if (keyword !== 'enum') return undefined;
  const isScope = path.at(-2) === 'scopes';
  return isScope
    ? `must be ${SCOPES.join(' or ')}`
    : `must be an asymmetric algorithm: ${PUBLIC_KEY_ALGORITHMS.join(', ')}`;
}

function crossProblems(entries: readonly Entry[]): readonly YamlRule[] {
  const problems: YamlRule[] = [];
  const seen = new Map<string, number>();
  for (const [index, { issuer, jwksUri, organizations }] of entries.entries()) {
    const at = (...path: string[]): string[] => [String(index), ...path];
    if (!/^https?:$/.test(URL.canParse(jwksUri) ? new URL(jwksUri).protocol : ''))
      problems.push([at('jwksUri'), 'must be an https:// address']);
    // With a `#`, `<issuer>#<sub>` would be ambiguous.
    if (issuer.includes('#')) problems.push([at('issuer'), 'must not hold #']);
    const first = seen.get(issuer);
    if (first !== undefined) problems.push([at('issuer'), `is also the issuer of [${first}]`]);
    seen.set(issuer, first ?? index);
    for (const [value, id] of Object.entries(organizations ?? {}))
      if (!isUuid(id)) problems.push([at('organizations', value), 'must be the id of an organization']);
  }
  return problems;
}
