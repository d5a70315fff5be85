/**
 * What a share's policy lets browsers know: which pages of other origins may read its answers (CORS), that it is only used over HTTPS
 * (HSTS), and whether plain HTTP is redirected. The header lines have no line ends. ADR 0088.
 */
import { Part, type ShapeOf } from '#base/shapes';

const { closed, flag, number, oneOf, texts } = Part;

export const corsRulesSchema = closed({
  /** Canonical origins, or `*`. */
  origins: texts(),
  methods: texts(),
  headers: texts(),
  exposedHeaders: texts(),
  /** Whether requests may carry what identifies a person. Then pages of the origins may also act for that person. */
  credentials: flag(),
  maxAgeS: number(),
});
export type CorsRules = ShapeOf<typeof corsRulesSchema>;

export const hstsRulesSchema = closed({ maxAgeS: number(), includeSubdomains: flag(), preload: flag() });
export type HstsRules = ShapeOf<typeof hstsRulesSchema>;

/** `auto`: where the gateway has a certificate for the name. */
export const HTTPS_REDIRECTS = ['auto', 'always', 'never'] as const;
export type HttpsRedirect = (typeof HTTPS_REDIRECTS)[number];
export const httpsRedirectSchema = oneOf(...HTTPS_REDIRECTS);

export function hstsLine({ maxAgeS, includeSubdomains, preload }: HstsRules): string {
  const subdomains = includeSubdomains ? '; includeSubDomains' : '';
  return `Strict-Transport-Security: max-age=${maxAgeS}${subdomains}${preload ? '; preload' : ''}`;
}

/** Returns the lines with which a page of this origin may read an answer, if the policy names the origin. Caches keep answers apart. */
export function corsLines(cors: CorsRules, origin: string): readonly string[] {
  if (!namesOrigin(cors, origin)) return ['Vary: Origin'];
  const isAny = !cors.origins.includes(origin.toLowerCase());
  const lines = [`Access-Control-Allow-Origin: ${isAny ? '*' : origin.toLowerCase()}`, 'Vary: Origin'];
  if (cors.credentials) lines.push('Access-Control-Allow-Credentials: true');
  if (cors.exposedHeaders.length > 0)
    lines.push(`Access-Control-Expose-Headers: ${cors.exposedHeaders.join(', ')}`);
  return lines;
}

/** `origin` is the header as received. */
export function namesOrigin({ origins }: CorsRules, origin: string): boolean {
  return origin !== '' && (origins.includes(origin.toLowerCase()) || origins.includes('*'));
}

/** The lines of the answer to a preflight, beside `corsLines`. */
export function preflightLines({ methods, headers, maxAgeS }: CorsRules): readonly string[] {
  return [
    `Access-Control-Allow-Methods: ${methods.join(', ')}`,
    ...(headers.length === 0 ? [] : [`Access-Control-Allow-Headers: ${headers.join(', ')}`]),
    `Access-Control-Max-Age: ${maxAgeS}`,
    'Vary: Access-Control-Request-Method, Access-Control-Request-Headers',
  ];
}

/** Origins whose pages may act for callers that browsers identify by themselves. */
export function actingOrigins(allowedOrigins: readonly string[], cors: CorsRules | null): readonly string[] {
  return cors?.credentials === true ? [...allowedOrigins, ...cors.origins] : allowedOrigins;
}
