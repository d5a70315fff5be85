/** The content of the trusted issuers' file: a list in YAML or JSON. */
import { Part, Type, type FileProblem, type PlacedProblem, type ShapeOf } from '#base/shapes';
import { isUuid, SCOPES } from '#domain';
import { PUBLIC_KEY_ALGORITHMS } from './public-key-algorithm-table.ts';
import { parseYamlFile } from '#net/yaml-file';

const MAX_FILE_BYTES = 1_048_576;
const MAX_ISSUERS = 100;

const text = () => Type.String({ minLength: 1, maxLength: 2_048 });

/** A list of some of these words, each once. `rule` completes "must be …" for an item. */
const choice = (words: readonly string[], rule: string) =>
  Part.refined(
    Type.Array(Part.refined(Part.text(), { rule, check: (word) => words.includes(word as string) }), {
      minItems: 1,
    }),
    {
      rule: 'a list without repeated entries',
      check: (list) => new Set(list as unknown[]).size === (list as unknown[]).length,
    },
  );

const TrustedIssuerSchema = Part.closed({
  /** The claim `iss` of its tokens, letter by letter. */
  issuer: text(),
  /** What their claim `aud` must hold. */
  audience: text(),
  /** Where its public keys are; http:// only where `--allow-egress` opens the address. */
  jwksUri: text(),
  /** How its tokens may be signed. */
  algorithms: Type.Optional(
    choice(PUBLIC_KEY_ALGORITHMS, `an asymmetric algorithm: ${PUBLIC_KEY_ALGORITHMS.join(', ')}`),
  ),
  /** The claim that names the organization of the caller. */
  organizationClaim: text(),
  /** Ids of organizations by values of that claim; without it the value is the id. */
  organizations: Type.Optional(Part.mapOf(Part.text())),
  /** The claim with the scopes, a text or a list. */
  scopeClaim: Type.Optional(text()),
  /** All scopes that its tokens can give. */
  scopes: Type.Optional(choice(SCOPES, SCOPES.join(' or '))),
});
const FileSchema = Type.Array(TrustedIssuerSchema, { maxItems: MAX_ISSUERS });

type Entry = ShapeOf<typeof TrustedIssuerSchema>;
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
    schema: FileSchema,
    rules: crossProblems,
    whenEmpty: 'must be a list of issuers',
  });
  if ('problems' in parsed) return parsed;
  return { issuers: parsed.value.map((entry) => ({ ...DEFAULTS, ...entry })) };
}

function crossProblems(entries: readonly Entry[]): readonly PlacedProblem[] {
  const problems: PlacedProblem[] = [];
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
