/** Answers that gateways give for paths of a share without asking its service: a text or a redirect. ADR 0092. */
import { Part, Type, type ShapeOf } from '#base/shapes';
import { parsePathPattern } from '../access/path-rules.ts';

const MAX_ANSWERS = 50;
/** The limit for all answers of a share, because every gateway holds them. */
const MAX_ANSWERS_CHARS = 8_192;
const MAX_TEXT = 4_096;
const MAX_ADDRESS = 1_000;
const MAX_PATH = 1_024;
const MAX_TYPE = 100;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** These have no body, or a meaning for the connection. */
const BODILESS: ReadonlySet<number> = new Set([204, 205]);
const USUAL_REDIRECT = 302;
/** A web address without user information, or a path that cannot be read as an address. Visible ASCII. */
const ADDRESS = /^(?:https?:\/\/[A-Za-z0-9._[\]:-]+(?:[/?#][!-[\]-~]*)?|\/(?![/\\])[!-[\]-~]*|\/)$/;
const CONTENT_TYPE = /^[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+(?:; ?charset=[A-Za-z0-9-]+)?$/;
const PLAIN = 'text/plain; charset=utf-8';
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  xml: 'application/xml',
};

const ownAnswerSchema = Part.closed({
  path: Type.String({
    minLength: 1,
    maxLength: MAX_PATH,
    description: 'A path such as `/robots.txt`, or all below one: `/old/*`',
  }),
  text: Type.Optional(Type.String({ maxLength: MAX_TEXT, description: 'Body of the answer' })),
  contentType: Type.Optional(
    Type.String({
      maxLength: MAX_TYPE,
      description:
        'Type of the text; by default that of the extension of the path (html, css, js, json, xml), otherwise plain text',
    }),
  ),
  redirectTo: Type.Optional(
    Type.String({
      maxLength: MAX_ADDRESS,
      description:
        'Web address or path that the answer redirects to, instead of a text. `/*` at its end stands for the rest of the requested path, with the query',
    }),
  ),
  status: Type.Optional(
    Type.Integer({
      minimum: 200,
      maximum: 599,
      description:
        '301, 302, 303, 307 or 308 for a redirect, 302 by default; 2xx, 4xx or 5xx for a text, 200 by default',
    }),
  ),
});
export type PathAnswer = ShapeOf<typeof ownAnswerSchema>;

export const ownAnswers = Type.Array(ownAnswerSchema, {
  maxItems: MAX_ANSWERS,
  description:
    'Paths that the gateway answers itself, instead of the service. Who may not see the share does not see these answers either',
});

/** As gateways give them. */
export const gatewayAnswerSchema = Type.Object({
  path: Part.someText(),
  status: Type.Integer(),
  /** Address of a redirect; absent for a text. */
  location: Type.Optional(Part.someText()),
  text: Type.Optional(Part.text()),
  contentType: Type.Optional(Part.someText()),
});
export type GatewayAnswer = ShapeOf<typeof gatewayAnswerSchema>;

export function gatewayAnswerOf({ path, text, contentType, redirectTo, status }: PathAnswer): GatewayAnswer {
  if (redirectTo !== undefined) return { path, status: status ?? USUAL_REDIRECT, location: redirectTo };
  return { path, status: status ?? 200, text: text ?? '', contentType: contentType ?? typeOf(path) };
}

function typeOf(path: string): string {
  return TYPES[/\.([a-z]+)$/.exec(path)?.[1] ?? ''] ?? PLAIN;
}

/** Returns the place in the list and the rule that it breaks, of the first answer that is wrong. */
export function ownAnswerProblem(
  answers: readonly PathAnswer[],
): { readonly place: string; readonly rule: string } | undefined {
  const seen = new Set<string>();
  let chars = 0;
  for (const [at, answer] of answers.entries()) {
    const path = parsePathPattern(answer.path);
    if (path === undefined) return { place: `${at}.path`, rule: 'path such as /robots.txt or /old/*' };
    if (seen.has(path)) return { place: `${at}.path`, rule: 'path that is given once' };
    seen.add(path);
    const wrong = fieldProblem(answer);
    if (wrong !== undefined) return { place: `${at}.${wrong.place}`, rule: wrong.rule };
    chars += answer.path.length + (answer.text?.length ?? 0) + (answer.redirectTo?.length ?? 0);
  }
  return chars > MAX_ANSWERS_CHARS
    ? { place: '', rule: `list of at most ${MAX_ANSWERS_CHARS} characters` }
    : undefined;
}

function fieldProblem({ path, text, contentType, redirectTo, status }: PathAnswer) {
  if ((text === undefined) === (redirectTo === undefined))
    return { place: 'text', rule: 'a text if there is no redirectTo, and absent otherwise' };
  if (redirectTo === undefined) {
    const isRight = status === undefined || (Math.trunc(status / 100) !== 3 && !BODILESS.has(status));
    if (!isRight) return { place: 'status', rule: 'status of 2xx, 4xx or 5xx with a body' };
    if (contentType !== undefined && !CONTENT_TYPE.test(contentType))
      return { place: 'contentType', rule: 'media type such as text/html; charset=utf-8' };
    return text!.isWellFormed() ? undefined : { place: 'text', rule: 'well-formed Unicode' };
  }
  if (!ADDRESS.test(redirectTo))
    return { place: 'redirectTo', rule: 'web address or path of visible ASCII characters' };
  if (redirectTo.endsWith('/*') && !path.endsWith('/*'))
    return { place: 'redirectTo', rule: 'address without /* at its end, because the path has none' };
  if (contentType !== undefined) return { place: 'contentType', rule: 'absent (a redirect has no text)' };
  return status === undefined || REDIRECT_STATUSES.has(status)
    ? undefined
    : { place: 'status', rule: '301, 302, 303, 307 or 308 (of a redirect)' };
}

/** Reads `/path=text` for a text, and `/path=>address` for a redirect. */
export function parsePathAnswer(text: string): PathAnswer | undefined {
  const [, path, arrow, rest = ''] = /^(\/[^=]*)=(>?)(.*)$/s.exec(text) ?? [];
  if (path === undefined) return undefined;
  return arrow === '>' ? { path, redirectTo: rest } : { path, text: rest };
}
